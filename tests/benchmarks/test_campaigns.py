"""Campaigns say what they are, and the page about them says what they found."""

import re

import pytest

from benchmarks.campaigns import page
from benchmarks.campaigns.campaign import RESULTS, Result, campaigns, results


def test_the_page_is_what_the_results_say() -> None:
    assert page.PATH.read_text(encoding="utf-8") == page.text(), "run `python -m benchmarks.campaigns --page`"


def test_a_result_belongs_to_a_campaign_as_it_is_now() -> None:
    known = campaigns()
    for result in results():
        campaign = known[result.campaign]
        assert dict(result.sizes) == dict(campaign.sizes(result.size)), f"{result.campaign} was recorded at other sizes"
        assert result.broken is None or result.broken in campaign.broken
        assert re.fullmatch(rf"python -m benchmarks.campaigns {campaign.name} --size (small|full) .*", result.command)


def test_small_and_full_name_the_same_sizes() -> None:
    for campaign in campaigns().values():
        assert campaign.small.keys() == campaign.full.keys(), campaign.name
        assert all(campaign.small[key] <= campaign.full[key] for key in campaign.small), campaign.name


@pytest.mark.parametrize("broken", [None, "no-fsync"])
def test_a_kept_result_reads_back(broken: str | None, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.campaigns.campaign.RESULTS", tmp_path)
    result = Result(
        campaign="kills",
        command="python -m benchmarks.campaigns kills --size small --seed 1",
        size="small",
        sizes={"kills": 2},
        seed=1,
        broken=broken,
        date="2026-12-01",
        seconds=1.5,
        version="0.1.0",
        machine="2 cores",
        figures={"lost": 0},
        faults=["seed 1: 1 lost"],
    )
    result.write()
    assert results() == [result]
    assert RESULTS.name == "results"
