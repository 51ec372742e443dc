"""The tampering campaign finds nothing in the store as it is, and something in each build that lacks a check."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.campaigns import _flips, _matrix, _wrong, flips
from benchmarks.campaigns._matrix import READ, Trial
from benchmarks.campaigns.campaign import Work
from benchmarks.campaigns.tamper import CAMPAIGN
from tests.store import attacks
from tests.store.stores import Store


@pytest.mark.requirement("S3-15")
def test_every_attack_is_noticed_and_nothing_else(tmp_path: Path):
    outcome = CAMPAIGN.run(Work({"columns": 1, "opens": 5, "events": 2}, 1, None, tmp_path))
    assert list(outcome.faults) == []
    attacks_, flipped = outcome.figures["attacks"], outcome.figures["bytes of events and signatures flipped"]
    assert isinstance(attacks_, int) and attacks_ >= 40
    assert isinstance(flipped, int) and flipped > 2 * 500


THROUGH: dict[str, Trial] = {
    "rows": Trial("a row edited", "rows", attacks.ON_ONE_ROW["author edited"]),
    "anchor": Trial("put back", "rows and log", _matrix.FOLDERS["put back to an older copy"]),
    "signatures": Trial("forged at the end", "rows and log", _matrix.OF_THE_HEAD["a forged event at the end"]),
}


@pytest.mark.parametrize("broken", CAMPAIGN.broken)
def test_a_broken_build_is_caught(broken: str, tmp_path: Path):
    told, trial = _matrix.told(tmp_path), THROUGH[broken]
    assert "read" not in _matrix.unnoticed(trial, told, tmp_path / "sound")
    with _wrong.build(broken):
        assert "read" in _matrix.unnoticed(trial, told, tmp_path / "broken")


def test_an_attack_that_changes_nothing_is_noticed_by_nobody(tmp_path: Path):
    told = _matrix.told(tmp_path)
    idle: Callable[[Store], object] = lambda store: store.edit("SELECT 1")  # noqa: E731
    assert _matrix.unnoticed(Trial("none", "rows", idle, READ | {"log"}), told, tmp_path / "same") == [
        "log",
        "read",
        "verify",
    ]


@pytest.mark.requirement("S3-15")
def test_no_flipped_bit_changes_an_answer_and_a_build_that_believes_the_index_lets_one(tmp_path: Path):
    for broken in (None, "index"):
        outcome = flips.CAMPAIGN.run(Work({"flips": 30}, 1, broken, tmp_path / str(broken)))
        assert sum(int(outcome.figures[name]) for name in _flips.ENDINGS) == 30
        assert bool(outcome.faults) == (broken is not None)


def test_another_answer_without_an_error_is_silent(tmp_path: Path):
    store = _flips.lived_in(tmp_path)
    expected = _flips.answers(store)
    assert _flips._ending(store, expected) == ("nothing changed", "")
    assert _flips._ending(store, [*expected[:-1], "something else"])[0] == "silent"


def test_a_process_that_ends_over_a_flip_is_told_and_the_rest_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = _flips.lived_in(tmp_path)
    chosen = _flips.sampled(store, 3, 1)
    sound = _flips._look

    def look(store: Store, flip: _flips.Flip, *rest: object) -> tuple[str, str]:
        return _flips.os._exit(9) if flip == chosen[1] else sound(store, flip, *rest)

    monkeypatch.setattr(_flips, "_look", look)
    endings = [flip.ending for flip in _flips.followed(store, chosen, tmp_path)]
    assert endings[1] == "ended the process"
    assert len(endings) == 3 and endings.count("ended the process") == 1
