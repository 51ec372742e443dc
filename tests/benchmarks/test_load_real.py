"""The development data gets into a store exactly, once, and the same way every time."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import corpora, load_real
from benchmarks.corpora import Sample
from benchmarks.load_real import Loaded, Replay
from curator.persona import reading, tracing
from curator.persona.persona import generate
from substrate.errors import Conflict
from substrate.home import Memory
from substrate.memory import entities, memories
from substrate.store.model import MemoryRow
from tests.benchmarks import made_up


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up.write(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def samples(data: Path) -> list[Sample]:
    return corpora.samples(data)


def store(folder: Path) -> tuple[Memory, Replay]:
    replay = Replay()
    return load_real.opened(folder / "home", replay, folder / "state"), replay


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, samples: list[Sample]) -> Iterator[tuple[Memory, list[Loaded]]]:
    """Load once; the tests read."""
    memory, replay = store(tmp_path_factory.mktemp("loaded"))
    yield memory, load_real.load(memory, replay, samples)
    memory.close()


def rows(memory: Memory) -> list[MemoryRow]:
    with memory.read() as r:
        return r.select(MemoryRow, order="sequence")


def test_turns_are_observations_in_the_words_and_at_the_time_they_were_said(loaded: tuple[Memory, list[Loaded]]):
    memory, (talk, person) = loaded
    found = {row.id: row for row in rows(memory)}
    row = found[talk.turns["D1:2"]]
    assert row.content == "Bram: Look at my boat! [shared image: a red rowing boat]"
    assert (row.memory_kind, row.namespace, row.origin) == ("observation", "locomo/talk-1", "import")
    assert (row.valid_from, row.created_at) == ("2025-03-03T09:05:00.000000Z", "2025-03-03T09:05:00.000001Z")
    assert row.metadata == {"speaker": "Bram", "session_number": 1}
    assert row.sources == ({"kind": "turn", "ref": "talk-1/D1:2", "at": row.valid_from},)
    assert found[person.turns["aa11/last"]].content == "Then order strings by April 12."


def test_facts_are_reflections_bound_to_the_person_and_derived_from_their_turns(loaded: tuple[Memory, list[Loaded]]):
    memory, (talk, person) = loaded
    found = {row.id: row for row in rows(memory)}
    with memory.read() as r:
        below = memories.sources_of(r, [*talk.facts.values(), *person.facts.values()])
    boat = found[talk.facts["Bram/1/1"]]
    assert (boat.memory_kind, boat.mentioned_entity_id) == ("reflection", "bram")
    assert boat.title == "Bram owns a red rowing boat and rows"
    assert boat.valid_from == "2025-03-03T09:05:00.000000Z"
    assert set(below[boat.id]) == {talk.turns["D1:2"], talk.turns["D2:1"]}
    goal = found[person.facts["aa11/memory/1"]]
    assert (goal.title, goal.mentioned_entity_id, goal.namespace) == ("Goals", "nora vik", "realmem/nora-vik")
    assert below[goal.id] == [person.turns["aa11/1"]]


def test_a_fact_waits_until_all_its_turns_were_said(loaded: tuple[Memory, list[Loaded]]):
    memory, (talk, _) = loaded
    found = {row.id: row for row in rows(memory)}
    boat = found[talk.facts["Bram/1/1"]]
    assert boat.created_at == "2025-03-14T12:30:00.000002Z"  # in the second session
    assert boat.sequence > found[talk.turns["D2:1"]].sequence


def test_every_turn_and_fact_is_one_memory_and_the_people_are_registered(loaded: tuple[Memory, list[Loaded]]):
    memory, made = loaded
    kinds = Counter((row.namespace, row.memory_kind) for row in rows(memory))
    assert kinds == {
        (one.sample.namespace, kind): len(found)
        for one in made
        for kind, found in (("observation", one.turns), ("reflection", one.facts))
    }
    with memory.read() as r:
        shown = entities.show(r, memory.caller, "Ida", namespace="locomo/talk-1")
    assert (shown.registered, shown.kind, shown.display, shown.reflections) == (True, "person", "Ida", 2)


def test_two_loads_write_the_same_rows(tmp_path: Path, samples: list[Sample], loaded: tuple[Memory, list[Loaded]]):
    again, replay = store(tmp_path / "again")
    load_real.load(again, replay, samples)
    assert rows(again) == rows(loaded[0])
    again.close()


def test_ids_of_one_place_do_not_depend_on_what_is_written_in_another():
    alone, beside = Replay(), Replay()
    alone.go("one", "2025-03-03T09:05:00.000000Z")
    beside.go("two", "2025-03-03T09:05:00.000000Z")
    taken = [beside.new_id("mem") for _ in range(3)]
    beside.go("one", "2025-03-03T09:05:00.000000Z")
    ids = [beside.new_id("mem") for _ in range(3)]
    assert ids == [alone.new_id("mem") for _ in range(3)] == sorted(ids)
    assert not set(ids) & set(taken)


def test_a_second_load_is_refused_and_leaves_what_is_there(samples: list[Sample], loaded: tuple[Memory, list[Loaded]]):
    memory, _ = loaded
    before = rows(memory)
    fresh = replace(samples[0], name="talk-2")
    with pytest.raises(Conflict, match="realmem/nora-vik holds 5 memories already"):
        load_real.load(memory, Replay(), [fresh, samples[1]])
    assert rows(memory) == before


def test_the_command_loads_once_says_how_fast_and_refuses_the_second_time(data: Path, tmp_path: Path, capsys):
    command = [f"--home={tmp_path / 'home'}", f"--state={tmp_path / 'state'}", f"--data={data}"]
    assert load_real.main([*command, "--only=locomo"]) == 0
    shown = capsys.readouterr()
    assert "locomo/talk-1" in shown.out and "rows a second" in shown.out
    assert shown.err == "locomo/talk-1 8\n"
    assert load_real.main(command) == Conflict.exit_code
    assert "error: namespace locomo/talk-1 holds 8 memories already" in capsys.readouterr().err


def test_the_command_says_that_the_data_is_absent(tmp_path: Path, capsys):
    assert load_real.main([f"--home={tmp_path / 'home'}", f"--data={tmp_path}"]) == 0
    assert capsys.readouterr().err.startswith("skipped: no development data at ")
    assert not (tmp_path / "home").exists()


def test_a_real_dialogue_gives_personas_whose_footnotes_lead_to_its_turns(bench_data, tmp_path: Path):
    sample = next(corpora.locomo(bench_data("locomo/locomo_dev.json").parents[1]))
    start = replace(
        sample,
        turns=tuple(turn for turn in sample.turns if turn.session <= 2),
        facts=tuple(fact for fact in sample.facts if fact.session <= 2),
    )
    memory, replay = store(tmp_path)
    (made,) = load_real.load(memory, replay, [start])
    assert (len(made.turns), len(made.facts)) == (len(start.turns), len(start.facts))
    turns = {id: sample.content(turn) for turn in start.turns for id in [made.turns[turn.id]]}
    for person in sample.people:
        generate(memory.db, memory.caller, person, namespace=sample.namespace)
        with memory.read() as r:
            found = reading.newest(r, memory.caller, person, sample.namespace)
            assert found is not None and found.claims
            assert tracing.check(r, memory.caller, found) == []
            assert all(claim.sources for claim in found.claims)
            why = tracing.why(r, memory.caller, found, random.Random(1).randint(1, len(found.sources)))
        observations = [row for row in why.chain if row.memory_kind == "observation"]
        assert observations and all(row.content == turns[row.id] for row in observations)
    memory.close()
