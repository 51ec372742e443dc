"""The measurement of growing personas can fail: at each target, and when the search is taken away."""

import json
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import growth, minds
from benchmarks.corpora import Fact, Sample, Turn
from benchmarks.growth import Grown
from benchmarks.judge import Remembered
from benchmarks.minds import Pair
from curator.persona import changes
from substrate.recall import embedding

possible, why_not = embedding.available()
pytestmark = pytest.mark.skipif(not possible, reason=str(why_not))

TOLD = (
    ("Nora teaches a pottery course for beginners.", "Nora owns a blue van.", "Nora plays the cello."),
    ("Nora paints her fence green.", "Nora keeps two goats.", "Nora sells bowls at the market."),
    ("The pottery course for beginners is paused.", "Nora bakes bread.", "Nora reads old maps."),
)


def grown_sample() -> Sample:
    turns, facts = [], []
    for session, texts in enumerate(TOLD, 1):
        date = f"2025-03-{session:02}T00:00:00.000000Z"
        for place, text in enumerate(texts, 1):
            turns.append(Turn(f"t{session}{place}", session, date, "User", text))
            facts.append(Fact(f"s{session}/memory/{place}", "Nora", session, date, text, (f"t{session}{place}",)))
    return Sample("realmem", "nora", ("Nora",), tuple(turns), tuple(facts), (), {"Nora": ("Nora keeps goats.",)})


PAIR = Pair("c-1", "Nora", "state", True, frozenset({"s1/memory/1"}), frozenset({"s3/memory/1"}))


@pytest.fixture(scope="module")
def encode() -> Remembered:
    return Remembered()


@pytest.fixture(scope="module")
def nora() -> Grown:
    (made,) = growth.grown_in(grown_sample(), Namespace(broken=None, no_embedder=False))
    return made


@pytest.fixture
def search() -> Iterator[None]:
    kept = changes.find
    yield
    changes.find = kept


def test_a_version_is_made_after_each_session_that_fills_up_five(nora: Grown):
    assert (nora.versions, growth.expected(nora.sample, "Nora")) == (1, 1)


def test_a_change_between_sessions_is_shown_with_both_ends(nora: Grown, encode: Remembered):
    sample = grown_sample()
    (made,) = growth.grown_in(replace(sample, facts=sample.facts), Namespace(broken=None, no_embedder=False))
    assert made.claims > 0 and made.uncited == 0 and made.faults == ()
    cited = {"x": ("s1/memory/1", "s3/memory/1")}
    found = growth.recall([replace(made, shown=cited)], [PAIR], encode)
    assert found["c-1"][1:] == (True, True)


def test_a_restated_end_counts_only_where_restatements_do(encode: Remembered):
    texts = {
        "s1/memory/1": "Nora teaches a pottery course for beginners.",
        "s2/memory/9": "Nora is teaching a pottery course for beginners.",
        "s3/memory/1": "The pottery course for beginners is paused.",
    }
    assert minds.shows(PAIR, ("s2/memory/9", "s3/memory/1"), texts, encode) == (False, True)
    assert minds.shows(PAIR, ("s2/memory/9",), texts, encode) == (False, False)


def test_either_of_two_memories_with_one_index_is_the_listed_end(tmp_path: Path):
    memories = [{"index": "a"}, {"index": "b"}, {"index": "a"}]
    person = {
        "_metadata": {"person_name": "Nora_Vik"},
        "dialogues": [{"session_uuid": "aa", "extracted_memory": memories}],
    }
    (tmp_path / "realmem").mkdir()
    (tmp_path / "realmem" / "Nora_Vik_dialogues_256k.json").write_text(json.dumps(person))
    ends = {side: {"session_uuid": "aa", "index": index} for side, index in (("older", "b"), ("newer", "a"))}
    entry = {"id": "c-1", "person": "Nora_Vik", "kind": "plan", "clear": True, **ends}
    (tmp_path / "list.json").write_text(json.dumps({"pairs": [entry]}))
    (pair,) = minds.listed(tmp_path, tmp_path / "list.json")
    assert (pair.person, pair.older, pair.newer) == ("Nora Vik", {"aa/memory/2"}, {"aa/memory/1", "aa/memory/3"})


@pytest.mark.parametrize(
    ("altered", "told"),
    [
        ({"coverage": {"grown": 0.80, "fresh": 0.84}}, "coverage of grown"),
        ({"versions": 2}, "the cadence asks for 1"),
        ({"shown": {"On 1 May 2026: Nora sings.": ()}}, "1 claims cite nothing"),
        ({"doubtful": ["x"] * 9, "claims": 30}, "are faithful"),
    ],
)
def test_each_target_can_be_missed(nora: Grown, altered: dict[str, object], told: str):
    assert list(growth.missed([nora], {})) == []
    assert any(told in line for line in growth.missed([replace(nora, **altered)], {}))


def test_changes_that_no_version_shows_are_missed(nora: Grown):
    assert list(growth.missed([nora], {"c-1": (PAIR, False, True)})) == []
    assert any("changes of mind" in line for line in growth.missed([nora], {"c-1": (PAIR, False, False)}))


def test_without_the_search_nothing_is_shown(search: None):
    sample = grown_sample()
    (made,) = growth.grown_in(sample, Namespace(broken="search", no_embedder=False))
    assert made.shown == {}
