"""No two edits land together, and the campaign can see some land."""

from pathlib import Path

from benchmarks.campaigns.campaign import Work
from benchmarks.campaigns.compositions import CAMPAIGN


def test_no_two_edits_land_together(tmp_path: Path):
    outcome = CAMPAIGN.run(Work(CAMPAIGN.small, 1, None, tmp_path))
    assert list(outcome.faults) == []
    assert outcome.figures["sequences of 2"] == 121
    assert outcome.figures["landed"] == outcome.figures["not tried"] == 0
    assert outcome.figures["refused when read"] > 80


def test_a_build_without_an_anchor_lets_some_land(tmp_path: Path):
    outcome = CAMPAIGN.run(Work({"length": 1, "writers": 2}, 1, "anchor", tmp_path))
    assert [fault.split(": ")[1] for fault in outcome.faults] == ["rollback", "rollback", "edit:truncate"]
    assert outcome.figures["not tried"] == 0
