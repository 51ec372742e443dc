"""Bytes that nobody chose, into every parser: each is taken or refused with a typed error, and nothing else happens."""

from dataclasses import replace

import pytest

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import TARGETS, Target, canonical_json

COUNT, SEED = 120, 1


def broken(target: Target, count: int, seed: int) -> list[tuple[bytes, str]]:
    """List the inputs that a target does not stand, with what went wrong."""
    found = []
    for data in mutated(target.seeds, seed, count):
        try:
            target.run(data)
        except Exception as error:
            found.append((data, f"{type(error).__name__}: {error}"))
    return found


@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_stands_what_nobody_chose(name: str):
    assert broken(TARGETS[name], COUNT, SEED) == []


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_takes_what_it_starts_from(name: str):
    target = TARGETS[name]
    assert any(target.run(data) for data in target.seeds)


def test_a_parser_that_falls_over_is_found():
    def careless(data: bytes) -> bool:
        return canonical_json(data) and data[0] >= 0 and int(data.decode()) > 0

    assert broken(replace(TARGETS["canonical"], run=careless), 50, SEED) != []


def test_the_same_seed_makes_the_same_bytes():
    seeds = TARGETS["note"].seeds
    assert [*mutated(seeds, 3, 20)] == [*mutated(seeds, 3, 20)] != [*mutated(seeds, 4, 20)]
