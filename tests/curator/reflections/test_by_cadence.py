"""Where policy asks for it, a store fed with nothing but observations grows reflections and personas by itself."""

from typing import Any

import pytest

from curator import actions, jobs, worker
from curator.llm.scripted import Scripted
from curator.reflections import cadence
from substrate.config import Models
from substrate.memory import memories
from substrate.scopes import namespaces
from substrate.store.model import MemoryRow
from tests.curator.workshop import Workshop

EXTRACTIVE = Models(persona="extractive", reflect="extractive")
TEXTS = (
    "Ines repairs church organs in three valleys.",
    "Ines: I learned tuning from my grandmother in Graz.",
    "Ines keeps a notebook of every pipe she has replaced.",
)


def ask_for(shop: Workshop, every: int, namespace: str = "global", persona: int = 0) -> None:
    with shop.memory.write() as tx:
        namespaces.set_policy(tx, shop.memory.caller, namespace, cadence.POLICY, every)
        if persona:
            field = "governance.auto_persona_trigger_every_n_memories"
            namespaces.set_policy(tx, shop.memory.caller, namespace, field, persona)


def tick(shop: Workshop, **options: Any) -> list[dict[str, Any]]:
    shop.clock.advance(hours=1)
    return list(worker.tick(shop.memory, **{"models": EXTRACTIVE, **options})["ran"])


def count(shop: Workshop, kind: str = "reflection") -> int:
    with shop.memory.read() as r:
        return r.count(MemoryRow, "memory_kind = ?", (kind,))


@pytest.mark.requirement("S3-1", "S3-11")
def test_from_nothing_but_observations_a_tick_makes_reflections_and_a_persona_that_leads_back_to_them(town: Workshop):
    ask_for(town, 3, persona=1)
    seen = {town.observe(text).id for text in TEXTS}
    ran = tick(town)
    assert [(one["kind"], one["entity_id"], one["outcome"]) for one in ran] == [
        ("reflections", "ines", "done"),
        ("persona", "ines", "done"),
    ]
    read = actions.persona(town.memory, entity="The organ builder")["persona"]
    assert "Ines repairs church organs in three valleys." in read["body_md"]
    assert "Ines Duarte said, “I learned tuning from my grandmother in Graz.”" in read["body_md"]
    reached = set()
    for footnote in range(1, len(read["sources"]) + 1):
        chain = actions.persona_why(town.memory, entity="ines", footnote=footnote)["chain"]
        reached |= {row["id"] for row in chain if row["memory_kind"] == "observation"}
    assert reached == seen and actions.persona_verify(town.memory, entity="ines")["ok"]
    assert tick(town) == []


def test_nothing_is_reflected_on_where_nobody_asked_for_it(town: Workshop):
    for text in TEXTS:
        town.observe(text)
    assert tick(town) == [] and count(town) == 0
    ask_for(town, 0)
    assert tick(town) == [] and count(town) == 0


def test_as_many_as_the_policy_says_are_waited_for(town: Workshop):
    ask_for(town, 2)
    town.observe(TEXTS[0])
    town.observe("Bob sells bread in Porto.")
    assert tick(town) == []
    town.observe(TEXTS[1])
    assert [one["entity_id"] for one in tick(town)] == ["ines"]
    town.observe(TEXTS[2])
    assert tick(town) == [], "those that were reflected on do not count again"


def test_only_the_namespace_whose_policy_asks_is_looked_at(town: Workshop):
    ask_for(town, 1, "team/alpha")
    town.observe(TEXTS[0])
    town.observe(TEXTS[1], namespace="team/alpha")
    [done] = tick(town)
    assert done["namespace"] == "team/alpha" and len(done["reflections"]) == 1


def test_what_nothing_could_be_taken_from_does_not_make_an_entity_due_for_ever(town: Workshop):
    ask_for(town, 1)
    town.observe("What does Ines want?")
    [done] = tick(town)
    assert done["outcome"] == "done" and done["reflections"] == [] and done["dropped"] == 1
    assert tick(town) == []


def test_an_observation_that_is_written_while_one_is_due_is_not_lost(town: Workshop):
    ask_for(town, 1)

    class Late(Scripted):
        def complete(self, messages: Any, **options: Any) -> Any:
            if not self.asked:
                with town.memory.write() as tx:
                    memories.remember(tx, town.memory.caller, TEXTS[2])
            return super().complete(messages, **options)

    def answer(messages: Any) -> Any:
        return {"reflections": []}

    town.observe(TEXTS[0])
    assert [one["considered"] for one in tick(town, model=Late(answer))] == [1]
    assert [one["considered"] for one in tick(town, model=Scripted(answer))] == [1]
    assert tick(town, model=Scripted(answer)) == []


def test_a_model_whose_draft_does_not_stand_is_asked_again_only_when_there_is_more(town: Workshop):
    ask_for(town, 1)
    town.observe(TEXTS[0])
    bad = Scripted(
        lambda messages: {"reflections": [{"title": "Gold", "text": "Ines owns nine gold mines.", "sources": [1]}]}
    )
    assert [(one["outcome"], one["reason"]) for one in tick(town, model=bad)] == [("failed", "unsupported_draft")]
    assert tick(town, model=bad) == [] and len(bad.asked) == 1 and count(town) == 0
    town.observe(TEXTS[1])
    assert len(tick(town)) == 1 and count(town) == 2, "what the model failed at is taken too"


def test_without_models_nothing_runs_by_itself(town: Workshop):
    ask_for(town, 1)
    town.observe(TEXTS[0])
    assert tick(town, models=Models(reflect="off")) == [] and count(town) == 0


def test_due_is_told_from_rows_and_a_second_look_opens_no_second_job(town: Workshop):
    ask_for(town, 2)
    for text in TEXTS:
        town.observe(text)
    with town.memory.read() as r:
        assert cadence.places(r) == {"global": 2} and cadence.due(r, "global") == ["ines"]
    cadence.note(town.memory.db, EXTRACTIVE)
    cadence.note(town.memory.db, EXTRACTIVE)
    with town.memory.read() as r:
        assert [(job.kind, job.plan["entity_id"]) for job in jobs.unfinished(r)] == [("reflections", "ines")]
