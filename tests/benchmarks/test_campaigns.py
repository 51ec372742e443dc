"""Campaigns say what they are, and the page about them says what they found."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.campaigns import page
from benchmarks.campaigns.campaign import RESULTS, Result, campaigns, results, together


def test_the_page_is_what_the_results_say() -> None:
    assert page.PATH.read_text(encoding="utf-8") == page.text(), "run `python -m benchmarks.campaigns --page`"


def test_a_result_belongs_to_a_campaign_as_it_is_now() -> None:
    known = campaigns()
    for result in results():
        campaign = known[result.campaign]
        sizes = campaign.share() if result.part else campaign.sizes(result.size)
        assert dict(result.sizes) == dict(sizes), f"{result.campaign} was recorded at other sizes"
        assert result.broken is None or result.broken in campaign.broken
        assert re.fullmatch(rf"python -m benchmarks.campaigns {campaign.name} --size (small|full) .*", result.command)


def test_small_and_full_name_the_same_sizes() -> None:
    for campaign in campaigns().values():
        assert campaign.small.keys() == campaign.full.keys(), campaign.name
        assert all(campaign.small[key] <= campaign.full[key] for key in campaign.small), campaign.name


def test_parts_make_up_the_full_size() -> None:
    for campaign in campaigns().values():
        if campaign.parts is not None:
            name, count = campaign.parts
            assert campaign.full[name] == count * campaign.share()[name]


def test_parts_are_added_up_and_what_went_wrong_names_its_part() -> None:
    parts = [_result(part=2, figures={"kills": 50, "p99": 0.5}), _result(part=1, figures={"kills": 50, "p99": 0.25})]
    whole = together(parts)
    assert whole.command.endswith("--part 1-2")
    assert (whole.figures, whole.seconds) == ({"kills": 100, "p99": "0.25 to 0.5"}, 3.0)
    assert whole.faults == ["part 1: seed 1: 1 lost", "part 2: seed 1: 1 lost"]


@pytest.mark.parametrize(("broken", "part"), [(None, None), ("no-fsync", None), (None, 3)])
def test_a_kept_result_reads_back(
    broken: str | None, part: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.campaigns.campaign.RESULTS", tmp_path)
    result = replace(_result(part=part), broken=broken)
    result.write()
    assert results() == [result]
    assert RESULTS.name == "results"


def _result(part: int | None, **fields: Any) -> Result:
    end = f" --part {part}" if part else ""
    told: dict[str, Any] = {
        "campaign": "kills",
        "command": f"python -m benchmarks.campaigns kills --size full --seed 1{end}",
        "size": "full",
        "sizes": {"kills": 50},
        "seed": 1,
        "broken": None,
        "date": "2026-12-01",
        "seconds": 1.5,
        "version": "0.1.0",
        "machine": "2 cores",
        "figures": {"lost": 0},
        "faults": ["seed 1: 1 lost"],
    }
    return Result(part=part, **{**told, **fields})
