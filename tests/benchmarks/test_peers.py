"""Peers are measured over the same corpus, and the table says where one of them is faster."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.peers.__main__ import KNOWN, driven, line, lost
from benchmarks.peers.given import Given, made


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    made(80, 4, 10, seed=5).save(folder)
    return folder


def test_the_same_seed_gives_the_same_corpus(given: Path):
    again, other = Given.load(given), made(80, 4, 10, seed=6)
    assert again.texts == made(80, 4, 10, seed=5).texts != other.texts
    assert len(set(again.texts + again.more)) == 84
    assert np.allclose(np.linalg.norm(again.vectors, axis=1), 1)
    assert all(
        again.texts[number].startswith(text[:-1]) for number, text in zip(again.about, again.questions, strict=True)
    )


@pytest.mark.parametrize("name", ["ours", "sqlite"])
def test_a_system_finds_what_it_was_given_at_once_and_after_it_was_opened_anew(name: str, given: Path):
    found = driven(name, sys.executable, given, broken=False)
    assert "failed" not in found, found
    assert found["found"] == 1.0 and found["at once"] and found["kept"] and found["lasts"]
    assert found["bytes"] > 0 and 0 < found["recall"]["p50"] <= found["recall"]["p95"]
    assert found["version"] in line(name, found)


def test_a_peer_that_is_not_there_is_named_and_counts_as_missed(given: Path):
    found = driven("chroma", sys.executable, given, broken=False)
    assert "chromadb" in found["failed"]
    assert list(lost({"ours": system(1), "chroma": found})) == [f"chroma did not run: {found['failed']}"]


def system(ms: float, *, kept: bool = True, lasts: bool = True) -> dict[str, Any]:
    return {
        "version": f"one of {ms}",
        "kept": kept,
        "lasts": lasts,
        "recall": {"p50": ms, "p95": 2 * ms},
        "store": {"p50": ms, "p95": ms},
    }


def test_a_faster_peer_is_named_unless_it_keeps_nothing():
    assert list(lost({"ours": system(2), "a": system(3)})) == []
    assert list(lost({"ours": system(2), "a": system(1, kept=False)})) == []
    assert len(list(lost({"ours": system(2), "a": system(1, lasts=False)}))) == 2  # its writes are not compared
    told = list(lost({"ours": system(2), "a": system(1)}))
    assert [text.partition(": ")[2] for text in told] == [
        "recall p50 1.00 ms, ours 2.00 ms",
        "recall p95 2.00 ms, ours 4.00 ms",
        "store p50 1.00 ms, ours 2.00 ms",
    ]


def test_every_peer_has_a_driver():
    assert {"ours", "sqlite", "chroma", "mem0", "langgraph", "txtai", "graphiti", "mcp_reference"} == {*KNOWN}
