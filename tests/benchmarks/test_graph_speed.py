"""The measurement of paths can fail: at a wrong answer, at one that is too slow, and beside a faster peer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import graph_speed
from benchmarks.graph_speed import World
from substrate.memory import graph


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(graph, "ASKED", graph_speed.AT_ONCE)
    made = graph_speed.opened(tmp_path, 40, 80, 1)
    yield made
    made.memory.close()


def test_answers_are_held_against_networkx_and_a_map_that_does_not_follow_the_log_is_missed(world: World):
    asked = list(graph_speed.questions(world.visible, 6, 1))
    assert {depth for _, _, depth in asked} == set(graph_speed.DEPTHS)
    assert list(graph_speed.wrong(world, asked)) == []
    with graph_speed.broken("blind"):
        assert graph_speed.after_writes(world, asked, 1)[1]


def test_the_figures_are_percentiles_of_the_processors_time():
    taken = [(at / 100, at) for at in range(101)]
    assert graph_speed.p95(taken) == 0.95
    assert graph_speed.mean(taken) == pytest.approx(0.5)
