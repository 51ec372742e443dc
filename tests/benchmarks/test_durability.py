"""The campaigns on durability, small: the product passes, and builds that are wrong on purpose do not."""

from pathlib import Path

import pytest

from benchmarks.campaigns import kills, media, syscalls, writers
from benchmarks.campaigns.campaign import Campaign, Outcome, Work

SLOW = ("recovery took", "waited")  # what a machine with other work to do may say


def outcome(campaign: Campaign, folder: Path, broken: str | None = None, seed: int = 1, **sizes: int) -> Outcome:
    """Run a campaign at sizes of its own; what is only slow is left out."""
    if reason := campaign.unable():
        pytest.skip(reason)
    folder.mkdir(exist_ok=True)
    found = campaign.run(Work({**campaign.small, **sizes}, seed, broken, folder.resolve()))
    return Outcome(found.figures, [fault for fault in found.faults if not any(word in fault for word in SLOW)])


def test_kills_and_power_cuts_lose_nothing(tmp_path: Path):
    found = outcome(kills.CAMPAIGN, tmp_path, kills=8, writes=8)
    assert found.faults == []
    assert found.figures["processes killed"] == 6 + 2 * kills.PROCESSES
    assert found.figures["acknowledged operations"] > 8
    assert found.figures["writes lost in the caches at power cuts"] > 0


@pytest.mark.parametrize("broken", kills.CAMPAIGN.broken)
def test_a_build_that_acknowledges_too_early_loses_something(tmp_path: Path, broken: str):
    seeds = range(1, 6)  # whether a kill falls between the answer and the commit is chance
    assert any(outcome(kills.CAMPAIGN, tmp_path / str(seed), broken, seed, kills=8, writes=3).faults for seed in seeds)


def test_a_process_may_die_at_any_call(tmp_path: Path):
    found = outcome(syscalls.CAMPAIGN, tmp_path, percent=1)
    assert found.faults == []
    assert sum(number for name, number in found.figures.items() if name.startswith(("kills", "power"))) > 5


def test_a_disk_may_fail_at_any_call_or_be_full(tmp_path: Path):
    found = outcome(media.CAMPAIGN, tmp_path, percent=1, disks=1)
    assert found.faults == []
    assert found.figures["typed errors"] > 5


def test_writers_and_readers_meet_without_an_error(tmp_path: Path):
    found = outcome(writers.CAMPAIGN, tmp_path, writers=3, readers=1, writes=10)
    assert found.faults == []
    assert found.figures["acknowledged"] == 30
