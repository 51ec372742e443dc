"""When a persona is due: counted from rows and the log, under every name of the entity, and never twice."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curator import actions, jobs, worker
from curator.llm.scripted import Scripted
from curator.persona import cadence, sweep
from curator.persona.cadence import due, standing
from curator.persona.marks import marks
from substrate.errors import Refused
from substrate.memory import entities, forgetting, memories
from substrate.memory.reflections import reflect
from substrate.scopes import namespaces
from substrate.store.model import LinkRow, MemoryRow
from tests.curator.workshop import FACTS, Workshop, opened


def every(shop: Workshop, count: int | None, place: str = "global") -> None:
    with shop.memory.write() as tx:
        namespaces.set_policy(tx, shop.memory.caller, place, cadence.POLICY, count)


def said(shop: Workshop, text: str, entity: str = "Ada", place: str = "global") -> dict[str, Any]:
    """Reflect through the action, as doors do, over an observation of its own."""
    seen = shop.observe(f"Seen: {text}", namespace=place)
    shop.clock.advance(days=1)
    return actions.reflect(shop.memory, title="Noted", text=text, sources=[seen.id], entity_id=entity, namespace=place)


def is_due(shop: Workshop, entity: str = "ada", place: str = "global") -> bool:
    with shop.memory.read() as r:
        return due(r, entity, place)


def waiting(shop: Workshop) -> list[tuple[str, str, str]]:
    found = actions.waiting(shop.memory)["jobs"]
    return [(job["namespace"], job["entity_id"], job["state"]) for job in found]


def versions(shop: Workshop, place: str = "global") -> list[tuple[str | None, int | None]]:
    with shop.memory.read() as r:
        rows = r.select(MemoryRow, "memory_kind = 'persona' AND namespace = ?", (place,), order="sequence")
    return [(row.entity_id, row.persona_version) for row in rows]


@pytest.fixture
def three(shop: Workshop) -> Iterator[Workshop]:
    """A workshop in which every third reflection makes a persona due."""
    every(shop, 3)
    yield shop


@pytest.mark.requirement("S3-23")
def test_a_persona_is_due_at_every_nth_reflection_and_never_earlier(three: Workshop):
    heard = []
    for fact in (*FACTS, *(f"Ada restored organ number {n} in May." for n in range(3, 9))):
        heard.append(said(three, fact)["persona_due"])
        worker.tick(three.memory)
    assert heard == [False, False, True] * 4
    assert versions(three) == [("ada", n) for n in (1, 2, 3, 4)]


@pytest.mark.requirement("S3-23")
def test_a_due_persona_is_one_job_written_with_the_reflection(three: Workshop):
    for fact in FACTS:
        said(three, fact)
    assert waiting(three) == [("global", "ada", "pending")]
    assert versions(three) == []


@pytest.mark.requirement("S3-23")
def test_a_reflection_that_is_not_written_leaves_no_job(three: Workshop):
    for fact in FACTS[:2]:
        said(three, fact)
    seen = three.observe("Seen: something")
    with pytest.raises(RuntimeError, match="stop"):
        with three.memory.write() as tx:
            done = reflect(tx, three.memory.caller, "Noted", "Ada left.", sources=[seen.id], entity_id="Ada")
            assert cadence.note(tx, str(done.entity_id), "global")
            raise RuntimeError("stop")
    assert waiting(three) == [] and not is_due(three)


@pytest.mark.requirement("S3-23")
def test_forgotten_and_superseded_reflections_count_as_written(three: Workshop):
    first, second = said(three, FACTS[0]), said(three, FACTS[1])
    with three.memory.write() as tx:
        forgetting.forget(tx, three.memory.caller, first["id"])
        memories.retire(tx, three.memory.caller, second["id"], "no longer so")
    assert said(three, FACTS[2])["persona_due"]


@pytest.mark.requirement("S3-23")
def test_a_forgotten_persona_still_counts_as_made(three: Workshop):
    for fact in FACTS[:3]:
        said(three, fact)
    worker.tick(three.memory)
    found = three.persona()
    assert found is not None
    with three.memory.write() as tx:
        forgetting.forget(tx, three.memory.caller, found.row.id)
    assert [said(three, fact)["persona_due"] for fact in FACTS[3:]] == [False, False, True]


@pytest.mark.requirement("S3-26")
def test_without_a_cadence_or_with_zero_nothing_is_due(shop: Workshop):
    assert not any(said(shop, fact)["persona_due"] for fact in FACTS)
    every(shop, 0)
    assert not is_due(shop) and worker.tick(shop.memory)["ran"] == []
    assert waiting(shop) == [] and versions(shop) == []


@pytest.mark.requirement("S3-26")
def test_the_nearest_namespace_that_sets_a_cadence_decides(shop: Workshop):
    every(shop, 2)
    every(shop, 4, "team/organs")
    every(shop, 0, "team/quiet")
    heard = {
        place: [said(shop, fact, place=place)["persona_due"] for fact in FACTS[:4]]
        for place in ("team", "team/organs", "team/organs/pipes", "team/quiet")
    }
    assert heard["team"] == [False, True, True, True]
    assert heard["team/organs"] == heard["team/organs/pipes"] == [False, False, False, True]
    assert heard["team/quiet"] == [False] * 4


@pytest.mark.requirement("S3-26")
def test_a_policy_set_later_finds_what_was_written_before(shop: Workshop):
    for fact in FACTS:
        said(shop, fact)
    every(shop, 5)
    ran = worker.tick(shop.memory)["ran"]
    assert [(one["entity_id"], one["outcome"], one["version"]) for one in ran] == [("ada", "done", 1)]


@pytest.mark.requirement("S3-23")
def test_jobs_that_were_lost_are_found_again_from_rows(three: Workshop):
    for fact in FACTS[:3]:
        said(three, fact)
    with three.memory.write() as tx:
        tx.derived("DELETE FROM jobs")
        tx.derived("DELETE FROM cursors")
    assert waiting(three) == []
    worker.tick(three.memory)
    assert versions(three) == [("ada", 1)]


@pytest.mark.requirement("S3-27")
def test_reflections_under_every_name_of_an_entity_count_together(three: Workshop):
    with three.memory.write() as tx:
        entities.alias(tx, three.memory.caller, "The organ builder", "Ada")
    assert not said(three, FACTS[0], "ADA")["persona_due"]
    assert not said(three, FACTS[1], "the organ builder")["persona_due"]
    assert not said(three, FACTS[2], "Berta")["persona_due"]
    assert said(three, FACTS[3], " ada ")["persona_due"]
    worker.tick(three.memory)
    assert versions(three) == [("ada", 1)]


@pytest.mark.requirement("S3-27")
def test_a_name_registered_later_brings_its_reflections_along(three: Workshop):
    for fact, name in zip(FACTS, ("Ada", "AB", "AB"), strict=False):
        said(three, fact, name)
    assert not is_due(three) and not is_due(three, "ab")
    with three.memory.write() as tx:
        entities.alias(tx, three.memory.caller, "AB", "Ada")
    assert is_due(three) and is_due(three, "AB")
    worker.tick(three.memory)
    assert versions(three) == [("ada", 1)]


@pytest.mark.requirement("S3-23")
def test_a_merge_makes_the_survivor_due_once_whatever_the_cadence(shop: Workshop):
    every(shop, 100)
    said(shop, FACTS[0], "Ada")
    said(shop, FACTS[1], "A. B.")
    with shop.memory.write() as tx:
        entities.merge(tx, shop.memory.caller, "A. B.", "Ada")
    assert is_due(shop)
    assert [one["outcome"] for one in worker.tick(shop.memory)["ran"]] == ["done"]
    assert versions(shop) == [("ada", 1)]
    assert not is_due(shop) and worker.tick(shop.memory)["ran"] == []
    assert not said(shop, FACTS[2])["persona_due"]


def test_a_merge_counts_in_a_namespace_under_it_where_the_id_that_went_is_spoken_of(shop: Workshop):
    every(shop, 100)
    for place in ("team", "club"):
        said(shop, FACTS[0], "Ada", place)
    said(shop, FACTS[1], "A. B.", "team")
    with shop.memory.write() as tx:
        entities.merge(tx, shop.memory.caller, "A. B.", "Ada")
    assert is_due(shop, place="team") and not is_due(shop, place="club") and not is_due(shop)
    worker.tick(shop.memory)
    assert versions(shop, "team") == [("ada", 1)] and versions(shop, "club") == []


def test_a_merge_is_remembered_without_the_derived_tables(tmp_path: Path):
    with opened(tmp_path) as shop:
        every(shop, 100)
        said(shop, FACTS[0], "Ada")
        said(shop, FACTS[1], "A. B.")
        with shop.memory.write() as tx:
            entities.merge(tx, shop.memory.caller, "A. B.", "Ada")
    with opened(tmp_path) as shop:
        with shop.memory.write() as tx:
            tx.derived("DELETE FROM cursors")
        assert is_due(shop)


def test_a_merge_of_ids_nobody_reflected_on_makes_nothing_due(shop: Workshop):
    every(shop, 1)
    with shop.memory.write() as tx:
        entities.merge(tx, shop.memory.caller, "A. B.", "Ada")
    assert not is_due(shop) and worker.tick(shop.memory)["ran"] == []


@pytest.mark.requirement("S3-23")
def test_after_a_refusal_as_many_newer_reflections_are_waited_for(three: Workshop):
    for fact in FACTS[:3]:
        written = said(three, fact)["id"]
        with three.memory.write() as tx:
            memories.retire(tx, three.memory.caller, written, "said in error")
    assert is_due(three)
    ran = worker.tick(three.memory)["ran"]
    assert [(one["outcome"], one["reason"]) for one in ran] == [("failed", "no_reflections")]
    assert [event.type for event in three.events("persona_refused", "persona_failed")] == ["persona_refused"]
    assert not is_due(three) and worker.tick(three.memory)["ran"] == []
    assert [said(three, fact)["persona_due"] for fact in FACTS[:3]] == [False, False, True]


def test_a_reflection_by_hand_in_between_makes_the_job_unneeded(three: Workshop):
    for fact in FACTS[:3]:
        said(three, fact)
    three.generate()
    assert not said(three, FACTS[3])["persona_due"]
    assert [one["outcome"] for one in worker.tick(three.memory)["ran"]] == ["not_needed"]
    assert versions(three) == [("ada", 1)]


def test_nothing_is_due_where_the_curator_may_not_write(three: Workshop):
    every(three, 1, "team")
    said(three, FACTS[0], place="team")
    with three.memory.write() as tx:
        namespaces.set_access(tx, three.memory.caller, "team", "ro")
    assert not is_due(three, place="team")
    with three.memory.write() as tx:
        tx.derived("DELETE FROM jobs")
    assert worker.tick(three.memory)["ran"] == []


@pytest.mark.requirement("S3-26")
def test_a_policy_taken_back_makes_the_job_unneeded(three: Workshop):
    for fact in FACTS[:3]:
        said(three, fact)
    every(three, None)
    assert [one["outcome"] for one in worker.tick(three.memory)["ran"]] == ["not_needed"]
    assert versions(three) == []


@pytest.mark.requirement("S3-22")
def test_a_persona_by_cadence_is_the_one_a_command_would_have_written(tmp_path: Path):
    made = {}
    for name in ("command", "cadence"):
        with opened(tmp_path / name) as shop:
            every(shop, 6)
            with shop.memory.write() as tx:
                export = "governance.auto_export_personas_to_filesystem"
                namespaces.set_policy(tx, shop.memory.caller, "global", export, True)
            for fact in FACTS:
                said(shop, fact)
            if name == "command":
                actions.persona_generate(shop.memory, entity="Ada")
            else:
                worker.tick(shop.memory, embed=actions.embedder())
            found = shop.persona()
            assert found is not None
            [event] = shop.events("persona_generated")
            with shop.memory.read() as r:
                links = r.select(LinkRow, "source_id = ?", (found.row.id,))
                files = r.query("SELECT kind, subject FROM projections")
            assert files == [("persona", found.row.id)]
            columns = [column for column in found.row.columns() if getattr(found.row, column) is not None]
            body = str(found.row.content).split("[^1]:")[0]
            made[name] = (event.actor, sorted(event.payload), columns, body, len(links))
    assert made["command"] == made["cadence"]


def test_a_failing_check_of_the_cadence_does_not_refuse_the_reflection(
    three: Workshop, caplog: pytest.LogCaptureFixture
):
    for fact in FACTS[:3]:
        said(three, fact)
    three.generate()
    with three.memory.write() as tx:
        with caplog.at_level("WARNING", logger="post_reflect.auto_persona"):
            assert not cadence.note(tx, "", "global")
    assert "could not be told" in caplog.text


def test_the_sweep_names_what_is_due_and_costs_nothing_without_a_cadence(shop: Workshop):
    for fact in FACTS:
        said(shop, fact)
        said(shop, fact.replace("Ada", "Ben"), "Ben", "team")
    said(shop, FACTS[0], "Cleo")
    with shop.memory.read() as r:
        assert sweep.candidates(r) == []
    every(shop, 6)
    with shop.memory.read() as r:
        assert sweep.candidates(r) == [("global", "ada"), ("team", "ben")]


def test_the_standing_of_an_entity_tells_written_from_untried(three: Workshop):
    for fact in FACTS[:4]:
        said(three, fact)
    with three.memory.write() as tx:
        tx.event(
            "persona_failed", subject="ada", namespace="global", payload={"entity_id": "ada", "reason": "no_model"}
        )
    with three.memory.read() as r:
        found = standing(r, "Ada", "global")
    assert (found.written, found.untried, found.warranted, found.due) == (4, 0, True, False)


def test_a_job_is_opened_once_and_again_when_it_is_done(three: Workshop):
    with three.memory.write() as tx:
        assert jobs.open_(tx, "persona", "global", "ada", entity_id="ada")
        assert not jobs.open_(tx, "persona", "global", "ada", entity_id="ada")
        assert jobs.open_(tx, "persona", "team", "ada", entity_id="ada")
        jobs.finish(tx, jobs.ready(tx, tx.now, ["persona"])[0])
        assert jobs.open_(tx, "persona", "global", "ada", entity_id="ada")


def test_below_the_tier_smart_nothing_is_done(three: Workshop):
    three.memory.config = replace(three.memory.config, tier="semantic")
    with pytest.raises(Refused, match="smart"):
        worker.tick(three.memory, model=Scripted([]))


def test_what_was_tried_in_vain_is_not_looked_at_again_and_outlives_the_derived_tables(three: Workshop):
    for fact in FACTS[:3]:
        written = said(three, fact)["id"]
        with three.memory.write() as tx:
            memories.retire(tx, three.memory.caller, written, "said in error")
    for _ in range(2):
        worker.tick(three.memory)
        with three.memory.read() as r:
            assert sweep.candidates(r) == []
            assert marks(r).attempts().keys() == {("global", "ada")}
        with three.memory.write() as tx:
            tx.derived("DELETE FROM cursors")
            tx.derived("DELETE FROM jobs")
    assert len(three.events("persona_refused")) == 1


def test_marks_of_a_log_that_goes_on_elsewhere_are_read_anew(three: Workshop):
    for fact in FACTS[:3]:
        said(three, fact)
    with three.memory.write() as tx:
        tx.derived("UPDATE cursors SET position = 1000000 WHERE name = 'cadence'")
        found = marks(tx)
    assert found.positions == {"cadence": tx.head.sequence}
