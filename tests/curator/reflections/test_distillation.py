"""Distilling writes reflections with their sources, each observation once, and nothing where it only looks."""

from threading import Thread

import pytest

from audit import keys
from curator import actions
from curator.reflections import distillation, gathering
from curator.reflections.distillation import Distilled, distil
from substrate.errors import Forbidden, Refused
from substrate.home import Memory, key_path
from substrate.memory import entities, memories
from substrate.scopes import access, namespaces, principals
from substrate.store.model import LinkRow, MemoryRow
from tests.curator.workshop import Workshop

TEXTS = (
    "Ines repairs church organs in three valleys.",
    "Ines learned tuning from her grandmother in Graz.",
    "Ines keeps a notebook of every pipe she has replaced.",
    "Bob sells bread in Porto.",
)


def again(shop: Workshop, entity: str = "ines", **options: object) -> Distilled:
    shop.clock.advance(hours=1)
    return distil(shop.memory.db, shop.memory.caller, entity, **options)


def rows(shop: Workshop, done: Distilled) -> list[MemoryRow]:
    with shop.memory.read() as r:
        return [r.require(MemoryRow, id) for id in done.ids]


def written(shop: Workshop) -> int:
    with shop.memory.read() as r:
        return r.count(MemoryRow, "memory_kind = 'reflection'")


def test_a_reflection_is_the_curators_bound_to_the_entity_and_linked_to_all_it_rests_on(town: Workshop):
    seen = {town.observe(text).id: text for text in TEXTS}
    done = again(town)
    made = rows(town, done)
    assert {id for one in done.sketches for id in one.sources} == {id for id, text in seen.items() if "Ines" in text}
    for row, one in zip(made, done.sketches, strict=True):
        assert (row.origin, row.by_id, row.mentioned_entity_id) == ("curator", "ai:curator", "ines")
        assert (
            row.content == one.text and row.metadata is not None and row.metadata["distilled"]["model"] == "extractive"
        )
        with town.memory.read() as r:
            below = r.select(LinkRow, "source_id = ? AND relation = 'derived_from'", (row.id,))
        assert {link.target_id for link in below} == set(one.sources)


def test_a_reflection_holds_since_the_day_its_sources_are_of(town: Workshop):
    town.observe("Ines lives in Porto.", valid_from="2026-03-02")
    done = again(town)
    assert [row.valid_from for row in rows(town, done)] == ["2026-03-02T00:00:00.000000Z"]


def test_what_was_said_on_several_days_is_one_reflection_without_a_day_and_rests_on_all(town: Workshop):
    ids = [town.observe("Ines repairs church organs in three valleys.").id for _ in range(3)]
    done = again(town)
    assert [one.sources for one in done.sketches] == [tuple(ids)] and rows(town, done)[0].valid_from is None


def test_what_takes_something_back_has_the_date_of_its_own_source(town: Workshop):
    town.observe("Ines lives in Porto.", valid_from="2026-01-02")
    town.observe("Ines lives in Braga now.", valid_from="2026-03-02")
    done = again(town)
    assert sorted((row.content, row.valid_from) for row in rows(town, done)) == [
        ("Ines lives in Braga now.", "2026-03-02T00:00:00.000000Z"),
        ("Ines lives in Porto.", "2026-01-02T00:00:00.000000Z"),
    ]
    assert "## What changed" in (town.generate("ines").row.content or "")


def test_an_observation_is_reflected_on_once(town: Workshop):
    town.observe(TEXTS[0])
    assert len(again(town).ids) == 1
    assert again(town).considered == 0 and again(town, again=True).considered == 0 and written(town) == 1


def test_what_was_dropped_is_not_chewed_again_unless_asked(town: Workshop):
    town.observe("What does Ines want?")
    assert again(town).considered == 1
    assert again(town).considered == 0
    assert again(town, again=True).considered == 1


def test_a_new_name_makes_what_was_passed_over_fresh(town: Workshop):
    town.observe("The old master teaches two apprentices.")
    town.observe(TEXTS[0])
    assert again(town).considered == 1
    with town.memory.write() as tx:
        entities.alias(tx, town.memory.caller, "The old master", "ines")
    assert [one.text for one in again(town).sketches] == ["The old master teaches two apprentices."]


def test_looking_writes_nothing_at_all(town: Workshop):
    town.observe(TEXTS[0])
    before = town.columns()
    done = again(town, dry_run=True)
    assert done.sketches and done.ids == () and town.columns() == before
    assert len(again(town).ids) == len(done.sketches)


def test_two_at_once_write_no_twins(town: Workshop):
    for text in TEXTS:
        town.observe(text)
    made: list[Distilled] = []
    both = [Thread(target=lambda: made.append(distil(town.memory.db, town.memory.caller, "ines"))) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(made) == 2 and written(town) == sum(len(done.ids) for done in made)
    sources = [id for done in made for one in done.sketches if done.ids for id in one.sources]
    assert len(sources) == len(set(sources))


def test_what_changes_while_it_is_drafted_is_drafted_again(town: Workshop):
    first = town.observe(TEXTS[0])
    town.observe(TEXTS[1])
    retired: list[str] = []

    def embed(texts):
        import numpy as np

        if not retired:
            retired.append(first.id)
            town.retire(first)
        return np.eye(len(texts), 384, dtype=np.float32)

    done = again(town, embed=embed)
    assert retired and all(first.id not in one.sources for one in done.sketches)
    assert [row.content for row in rows(town, done)] == [TEXTS[1]]


def test_a_forgotten_observation_takes_the_reflection_with_it_and_its_other_sources_are_fresh_again(town: Workshop):
    same = "Ines repairs church organs in three valleys."
    first, second = town.observe(same), town.observe(same)
    [made] = again(town).ids
    gone = actions.forget(town.memory, id=first.id, cascade=True)
    assert set(gone["ids"]) == {first.id, made}
    done = again(town)
    assert [one.sources for one in done.sketches] == [(second.id,)]
    assert again(town).considered == 0


def test_a_reflection_that_somebody_forgets_or_retires_is_not_written_again(town: Workshop):
    town.observe(TEXTS[0])
    town.observe(TEXTS[1])
    first, second = again(town).ids
    actions.forget(town.memory, id=first)
    with town.memory.write() as tx:
        memories.retire(tx, town.memory.caller, second, "not so")
    assert again(town).considered == 0


def test_an_agent_takes_back_its_own_words_with_what_the_curator_made_of_them(town: Workshop):
    helper = agent(town)
    with helper.write() as tx:
        seen = memories.remember(tx, helper.caller, TEXTS[0])
    [made] = again(town).ids
    gone = actions.forget(helper, id=seen.id, cascade=True)
    assert set(gone["ids"]) == {seen.id, made}


def test_a_reflection_has_no_more_readers_than_what_it_rests_on(town: Workshop):
    lead = agent(town, "lead")
    helper = agent(town, lead="lead")
    own = f"agents/{helper.caller.id}"
    with helper.write() as tx:
        seen = memories.remember(tx, helper.caller, TEXTS[0], namespace=own)
    done = distil(town.memory.db, helper.caller, "ines", namespace=own)
    with town.memory.read() as r:
        held = [r.require(MemoryRow, id) for id in (seen.id, *done.ids)]
        seen_by = {
            reader.handle: {access.visible(row, reader, access.readable(r, reader)) for row in held}
            for reader in (town.memory.caller, helper.caller, lead.caller)
        }
    assert len(held) == 2 and seen_by == {"ann": {True}, "helper": {True}, "lead": {False}}


def agent(shop: Workshop, handle: str = "helper", lead: str | None = None) -> Memory:
    """Register an agent with a key, and see the store as it does."""
    home = shop.memory.db.home
    id = shop.memory.db.new_id("agt")
    key = keys.create(key_path(home, id))
    with shop.memory.write() as tx:
        principals.register(tx, shop.memory.caller, "agent", handle, public_key=key.public, id=id, lead=lead)
    return shop.memory.as_(handle)


def test_who_may_not_write_there_may_not_distil(town: Workshop):
    town.observe(TEXTS[0], namespace="team/alpha")
    with town.memory.write() as tx:
        namespaces.set_policy(tx, town.memory.caller, "team/alpha", "write", [town.memory.caller.id])
    helper = agent(town)
    with pytest.raises(Forbidden):
        distil(town.memory.db, helper.caller, "ines", namespace="team/alpha")
    with town.memory.write() as tx:
        namespaces.set_access(tx, town.memory.caller, "team/alpha", "ro")
    with pytest.raises(Forbidden):
        distil(town.memory.db, town.memory.caller, "ines", namespace="team/alpha")
    assert written(town) == 0


def test_who_loses_the_right_while_it_is_drafted_writes_nothing(town: Workshop):
    town.observe(TEXTS[0])

    def embed(texts):
        import numpy as np

        with town.memory.write() as tx:
            namespaces.set_access(tx, town.memory.caller, "global", "ro")
        return np.eye(len(texts), 384, dtype=np.float32)

    with pytest.raises(Forbidden):
        again(town, embed=embed)
    assert written(town) == 0


def test_an_entity_nobody_registered_is_refused_with_the_nearest(town: Workshop):
    with pytest.raises(Refused) as refused:
        again(town, entity="ins")
    assert refused.value.details["reason"] == "not_registered" and refused.value.details["nearest"] == ["ines"]


def test_more_than_is_taken_at_once_waits_for_the_next_time(town: Workshop):
    count = gathering.MOST + 3
    with town.memory.write() as tx:
        for n in range(count):
            memories.remember(tx, town.memory.caller, f"What does Ines want with pipe number {n}?")
    first = again(town)
    assert (first.considered, first.left) == (gathering.MOST, 3)
    assert again(town).considered == 3 and again(town).considered == 0


def test_without_a_name_every_registered_entity_is_distilled(town: Workshop):
    for text in TEXTS:
        town.observe(text)
    found = actions.distil(town.memory, model="extractive")
    assert [one["entity_id"] for one in found["entities"]] == ["bob", "ines"]
    assert actions.distil(town.memory, model="extractive")["entities"] == []
    assert found["entities"][0]["model"] == distillation.EXTRACTIVE
