"""Small runs of the campaigns that take little find nothing, and their broken builds are caught."""

from pathlib import Path

import pytest

from benchmarks.campaigns import clock, determinism, indexing, models
from benchmarks.campaigns.campaign import Campaign, Work

CAMPAIGNS = (clock.CAMPAIGN, determinism.CAMPAIGN, indexing.CAMPAIGN, models.CAMPAIGN)


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda campaign: campaign.name)
def test_a_small_run_finds_nothing(campaign: Campaign, tmp_path: Path) -> None:
    _able(campaign)
    assert campaign.run(Work(campaign.small, 1, None, tmp_path)).faults == []


@pytest.mark.parametrize(
    ("campaign", "broken"), [(campaign, broken) for campaign in CAMPAIGNS for broken in campaign.broken]
)
def test_a_broken_build_is_caught(campaign: Campaign, broken: str, tmp_path: Path) -> None:
    _able(campaign)
    assert campaign.run(Work(campaign.small, 1, broken, tmp_path)).faults


def _able(campaign: Campaign) -> None:
    if reason := campaign.unable():
        pytest.skip(reason)
