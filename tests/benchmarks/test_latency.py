"""The made-up memories are found by their words, and the benchmark that times recall can fail."""

from pathlib import Path

import pytest

from benchmarks import latency
from benchmarks.latency import Found, Shelf, Times
from substrate.home import Memory
from substrate.recall.words import terms
from tests.recall.crowd import Crowd

QUICK, SLOW = Times((1.0, 2.0), (1.0, 2.0)), Times((50.0, 60.0), (1.0, 1.0))


def test_memories_are_found_by_their_words_and_after_a_write_too(tmp_path: Path) -> None:
    memory, crowd = Memory.open(tmp_path / "home", state_dir=tmp_path / "state"), Crowd(0)
    shelf = Shelf(memory, crowd, 400, broken=False)
    for text, vector in crowd.questions(5):
        assert len(shelf.ask(text, vector).stands) == latency.HITS
        assert len(shelf.ask_after_a_write(text, vector).view.corpus) > 400
        assert shelf.nearest(text, vector) == shelf.same(text, vector) == 1
    held, vector = crowd.last[0]
    assert shelf.ask(" ".join(held), vector).stands
    assert terms(" ".join(held[:5])) == held[:5]
    memory.close()


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Found(100_000, QUICK, QUICK, 1.0, 1.0, 1.0), []),
        (Found(100_000, SLOW, QUICK, 1.0, 1.0, 1.0), ["warm, 100,000 memories: p95 is 59.5 ms, at most 10"]),
        (Found(10, QUICK, SLOW, 1.0, 1.0, 1.0), ["after a write, 10 memories: p95 is 59.5 ms, at most 40"]),
        (Found(10, QUICK, QUICK, 0.9, 1.0, 1.0), ["10 memories: 0.900 of the nearest are found, at least 0.98"]),
        (Found(10, QUICK, QUICK, 1.0, 1.0, 5.0), ["10 memories: 5.0 GiB, at most 4"]),
    ],
)  # fmt: skip
def test_each_limit_that_is_passed_is_told(found: Found, told: list[str]) -> None:
    assert list(latency.missed(found)) == told


def test_the_broken_build_makes_the_view_anew(tmp_path: Path) -> None:
    memory, crowd = Memory.open(tmp_path / "home", state_dir=tmp_path / "state"), Crowd(0)
    text, vector = "apple", crowd.topics[0]
    sound, broken = (Shelf(memory, crowd, 50, broken=broken) for broken in (False, True))
    assert sound.ask(text, vector).view is sound.ask(text, vector).view
    assert broken.ask(text, vector).view is not broken.ask(text, vector).view
    memory.close()
