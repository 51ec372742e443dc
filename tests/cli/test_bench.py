"""`bench` measures in a store of its own, leaves nothing, and fails where a limit is passed."""

import json

import pytest

from cli import bench
from tests.cli.terminal import Terminal

LITTLE = ("bench", "--memories", "60", "--times", "3", "--words")
WIDE = [word for what in bench.LIMITS for word in ("--limit", f"{what}=600000")]  # so that no test is a timed one


def test_it_measures_each_operation_and_leaves_nothing(empty: Terminal):
    before = sorted(empty.home.parent.rglob("*"))
    found = empty(*LITTLE, *WIDE, "--json").json
    rows = {row["operation"]: row for row in found["operations"]}
    assert rows.keys() == bench.LIMITS.keys()
    assert all(row["n"] == 3 and 0 < row["p50_ms"] <= row["p95_ms"] <= row["p99_ms"] for row in rows.values())
    assert (found["memories"], found["vectors"]) == (60, False)
    assert sorted(empty.home.parent.rglob("*")) == before


def test_a_limit_that_is_passed_ends_it_with_one(empty: Terminal):
    done = empty(*LITTLE, *WIDE, "--limit", "recall=0.001", "--json")
    rows = {row["operation"]: row for row in json.loads(done.out)["operations"]}
    assert done.code == 1 and not json.loads(done.out)["within"]
    assert (rows["recall"]["within"], rows["get"]["within"]) == (False, True)
    assert (rows["recall"]["limit_ms"], rows["get"]["limit_ms"]) == (0.001, 600000)


def test_the_table_names_what_is_above_its_limit(empty: Terminal):
    done = empty(*LITTLE, *WIDE, "--limit", "paths=0.001")
    assert done.code == 1
    assert "above its limit" in next(line for line in done.out.splitlines() if line.startswith("paths"))


@pytest.mark.parametrize(
    "line",
    [
        ("--memories", "49"),
        ("--memories", "1000001"),
        ("--times", "0"),
        ("--limit", "recall"),
        ("--limit", "sleep=5"),
        ("--limit", "get=-1"),
        ("--limit", "get=nan"),
        ("--limit", "get=inf"),
    ],
)
def test_a_wrong_size_or_limit_is_refused(line: tuple[str, ...], empty: Terminal):
    done = empty("bench", *line, "--json")
    assert done.error["code"] == "invalid" and done.error["details"]["hint"]
