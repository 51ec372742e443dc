"""The development data is read once, in one place, odd spots included."""

from pathlib import Path

import pytest

from benchmarks import corpora
from benchmarks.corpora import Absent, Fact, Question, Turn
from tests.benchmarks import made_up

FIRST, SECOND = "2025-03-03T09:05:00.000000Z", "2025-03-14T12:30:00.000000Z"
DAY, LATER = "2025-11-02T00:00:00.000000Z", "2025-11-09T00:00:00.000000Z"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return made_up.write(tmp_path / "data")


def test_a_dialogue_gives_dated_turns_with_captions(data: Path):
    (sample,) = corpora.locomo(data)
    assert (sample.namespace, sample.people) == ("locomo/talk-1", ("Ida", "Bram"))
    assert [turn.id for turn in sample.turns] == ["D1:1", "D1:2", "D2:1", "D2:2"]
    boat = Turn("D1:2", 1, FIRST, "Bram", "Look at my boat! [shared image: a red rowing boat]")
    assert sample.turns[1] == boat
    assert sample.content(boat) == "Bram: Look at my boat! [shared image: a red rowing boat]"


def test_a_fact_carries_the_turns_that_exist_and_is_left_out_without_any(data: Path):
    (sample,) = corpora.locomo(data)
    assert [(fact.text, fact.turns) for fact in sample.about("Bram")] == [
        ("Bram owns a red rowing boat and rows it on Sundays.", ("D1:2", "D2:1")),
        ("Bram rows to the lighthouse every Sunday.", ("D2:1",)),
    ]
    assert sample.about("Ida")[1] == Fact(
        "Ida/2/1", "Ida", 2, SECOND, "Ida teaches two apprentices on Fridays.", ("D2:2",)
    )


def test_gold_events_and_questions_with_evidence_come_along(data: Path):
    (sample,) = corpora.locomo(data)
    assert sample.events == {"Ida": ("Ida moves to Bergen.",), "Bram": ("Bram rows to the lighthouse.",)}
    assert sample.questions == (
        Question("What does Bram row?", "1", frozenset({"D1:2", "D2:1"})),
        Question("What does Ida fly?", corpora.ADVERSARIAL, frozenset({"D2:2"})),
    )


def test_a_person_gives_verbatim_turns_and_labelled_memories_on_them(data: Path):
    (sample,) = corpora.realmem(data)
    assert (sample.namespace, sample.people) == ("realmem/nora-vik", ("Nora Vik",))
    said, planned = sample.turns
    assert (said.id, said.speaker, said.date, said.session) == ("aa11/1", "User", DAY, 1)
    assert sample.content(said) == "I want to tune the piano in the village hall before June. I have 300 euros."
    assert [(fact.title, fact.text, fact.turns) for fact in sample.facts] == [
        ("Goals", "User wants to tune the piano in the village hall before June.", (said.id,)),
        (None, "User can spend 300 euros on strings.", (said.id,)),
        (None, "Order strings by April 12", (planned.id,)),
    ]


def test_a_memory_of_no_turn_rests_on_the_last_of_its_session(data: Path):
    (sample,) = corpora.realmem(data)
    assert sample.turns[1] == Turn("aa11/last", 1, DAY, "Assistant", "Then order strings by April 12.")


def test_a_query_names_the_facts_its_answer_used(data: Path):
    (sample,) = corpora.realmem(data)
    assert sample.questions == (Question("What can I spend?", "query", frozenset({sample.facts[1].id}), LATER, 2),)


def test_samples_are_cut_and_chosen(data: Path):
    assert [sample.data for sample in corpora.samples(data)] == ["locomo", "realmem"]
    assert [sample.data for sample in corpora.samples(data, only="realmem")] == ["realmem"]
    assert corpora.samples(data, limit=0) == []


def test_absent_data_is_said_to_be_absent(tmp_path: Path):
    for only in ("locomo", "realmem"):
        with pytest.raises(Absent, match="AI_MEMORY_BENCH_DATA"):
            corpora.samples(tmp_path, only=only)


def test_the_real_dialogues_hold_the_questions_that_figures_are_given_for(bench_data):
    folder = bench_data("locomo/locomo_dev.json").parents[1]
    kinds = [question.kind for sample in corpora.locomo(folder) for question in sample.questions]
    assert len(kinds) - kinds.count(corpora.ADVERSARIAL) == 760
    assert kinds.count(corpora.ADVERSARIAL) == 237
