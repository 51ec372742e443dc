"""Random histories go well beside the plain model, and a store that forgets to check is found out."""

from pathlib import Path

import pytest

from benchmarks.campaigns.campaign import Work
from benchmarks.campaigns.histories import CAMPAIGN


def test_the_store_and_the_model_say_the_same(tmp_path: Path) -> None:
    outcome = CAMPAIGN.run(Work({"histories": 10, "steps": 20}, 3, None, tmp_path))
    assert outcome.faults == []
    assert {"remember", "reflect", "forget"} <= outcome.figures.keys()


@pytest.mark.parametrize("broken", ["early", "cascade"])
def test_a_broken_build_is_caught(broken: str, tmp_path: Path) -> None:
    assert CAMPAIGN.run(Work({"histories": 60, "steps": 30}, 1, broken, tmp_path)).faults
