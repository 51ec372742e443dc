"""The measurement of the support check can fail, and says how sure its rates are."""

import json

import pytest

from benchmarks import support_check
from benchmarks.support_check import Rate

ROWS = [
    ("t-1", "faithful", "Ida paints boats.", ["Ida is a painter of boats."], True),
    ("t-2", "faithful", "Ida has two dogs.", ["There are 2 dogs that Ida has."], True),
    ("t-3", "wrong_number", "Ida has three dogs.", ["Ida has two dogs."], False),
    ("t-4", "negation", "Ida can swim.", ["Ida cannot swim."], False),
    ("t-5", "merged_sources", "Ida paints boats in Turku.", ["Ida paints boats.", "Ida was in Turku."], False),
]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Put a small set in the place of both."""
    lines = [
        {
            "id": id,
            "kind": kind,
            "name": "Ida",
            "claim": claim,
            "sources": [{"text": text, "date": "2026-05-14"} for text in texts],
            "supported": supported,
        }
        for id, kind, claim, texts, supported in ROWS
    ]
    for name in support_check.SETS.values():
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    monkeypatch.setattr(support_check, "FOLDER", tmp_path)
    return tmp_path


def test_a_check_that_is_right_meets_the_target(small, capsys):
    assert support_check.main(["--by-words", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["met"]
    assert shown["accepted"]["by words"]["faithful"] == [2, 2]
    assert shown["accepted"]["by words"]["false"] == [0, 3]


@pytest.mark.parametrize("broken", ["off", "shuffled"])
def test_a_broken_check_misses_it(small, capsys, broken: str):
    assert support_check.main(["--by-words", "--json", "--broken", broken]) == 1
    assert not json.loads(capsys.readouterr().out)["met"]


def test_held_out_pairs_are_never_printed(small, capsys):
    support_check.main(["--by-words", "--json", "--broken", "off", "--kind", "negation"])
    assert "swim" not in capsys.readouterr().out


def test_a_rate_has_wilsons_interval():
    low, high = Rate(9, 10).interval
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)
    assert Rate(0, 0).interval == (0.0, 1.0)
    low, high = Rate(0, 264).interval
    assert low == 0.0
    assert high < 0.02


def test_the_sets_share_no_pair_and_are_labelled():
    pairs = [pair for name in support_check.SETS.values() for pair in support_check.pairs(support_check.FOLDER / name)]
    assert len({pair.id for pair in pairs}) == len({pair.claim for pair in pairs}) == len(pairs)
    assert all(pair.supported == (pair.kind == "faithful") for pair in pairs)
