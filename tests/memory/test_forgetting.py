"""Forgetting: what falls with a memory, what is left of it, and that no text is left at all."""

import json
from collections.abc import Iterator

import pytest

from audit.canonical import encode
from substrate import limits
from substrate.errors import Forbidden, NotFound, Refused
from substrate.memory import forgetting, graph, links, memories
from substrate.memory.wire import wire
from substrate.scopes import namespaces
from substrate.scopes.caller import CURATOR
from substrate.store import schema
from substrate.store.model import ClaimRow, IdempotencyRow, MemoryRow, PersonaHeadRow
from tests.memory.house import ABSENT, House

SECRET = "Dr Quill treats her for narcolepsy"


@pytest.mark.requirement("S1-36")
def test_a_tombstone_keeps_who_where_and_when_and_no_word(house: House):
    row = house.remember(
        SECRET,
        house.scout,
        title="About her",
        name="health",
        description="What the doctor said",
        tags=("health",),
        metadata={"clinic": "North"},
        sources=[{"kind": "thread", "ref": "t-9"}],
        valid_from="2026-01-02",
    )
    done = house.forget(row, why="She asked for it.")
    stone = house.get(row.id)
    kept = {name for name in row.columns() if getattr(stone, name) == getattr(row, name) is not None}
    assert kept == {
        *("id", "namespace", "memory_kind", "memory_type", "origin", "by_kind", "by_id", "by_handle", "created_at"),
        *("sequence", "reflection_depth", "times_seen"),
    }
    assert wire(stone)["deleted"] == {"by": house.ann.id, "reason": "She asked for it.", "at": house.clock()}
    assert [stone.content, stone.title, stone.name, stone.description, stone.tags, stone.metadata, stone.sources] == (
        [None] * 7
    )
    assert (stone.size_bytes, stone.valid_from, stone.status) == (0, None, "deleted")
    assert done.ids == (row.id,)
    assert house.read(memories.list_, house.ann) == ([], 0)
    assert house.read(memories.list_, house.ann, include_closed=True) == ([stone], 1)


def test_what_fell_is_named_by_one_event_that_binds_it_and_then_one_for_each(house: House):
    seen = house.remember(SECRET)
    made = house.reflect("She sleeps.", seen, entity_id="alice").row
    persona = house.persona("alice", [made])
    house.forget(seen, cascade=True)
    erased, *deleted = house.events()[-4:]
    assert (erased.type, erased.payload) == ("erased", {"ids": [seen.id, made.id, persona.id]})
    assert {commit[1] for commit in erased.commits if commit[0] == "memories"} == {seen.id, made.id, persona.id}
    assert [(event.type, event.subject) for event in deleted] == [
        ("memory_deleted", id) for id in (seen.id, made.id, persona.id)
    ]
    assert deleted[0].payload.keys() == {"id", "store", "member_id", "role", "by"}


def test_superseded_wordings_are_forgotten_with_the_memory(house: House):
    first = house.remember(SECRET, name="health")
    second = house.remember("Dr Quill treats her.", name="health")
    third = house.write(memories.edit, house.ann, second.id, "She is treated.")
    assert house.forget(third).ids == (third.id, second.id, first.id)
    assert [house.get(row.id).content for row in (first, second, third)] == [None] * 3


def test_an_earlier_wording_can_be_forgotten_alone(house: House):
    first = house.remember(SECRET, name="health")
    second = house.remember("She is treated.", name="health")
    assert house.forget(first).ids == (first.id,)
    assert house.get(second.id) == second


@pytest.mark.requirement("S3-5", "S3-4")
def test_a_cascade_takes_what_was_derived_and_every_version_that_cites_it(house: House):
    seen, other = house.remember(SECRET), house.remember("She sails on Sundays.")
    made = house.reflect("She sleeps in class.", seen, entity_id="alice").row
    deeper = house.reflect("She needs patience.", made, other, entity_id="alice").row
    sails = house.reflect("She sails.", other, entity_id="alice").row
    versions = [house.persona("alice", cited) for cited in ([sails], [sails, made], [sails, deeper])]
    foreseen = house.read(forgetting.impact, house.ann, seen.id)
    assert [row.id for row in foreseen.memories] == [made.id, deeper.id]
    assert [row.id for row in foreseen.personas] == [versions[1].id, versions[2].id]
    assert [(claim.persona_id, claim.sources) for claim in foreseen.claims] == [
        (versions[1].id, (made.id,)),
        (versions[2].id, (deeper.id,)),
    ]
    assert (foreseen.entities, foreseen.kept, foreseen.barred) == ((("alice", "global"),), (), ())
    assert house.get(seen.id) == seen
    done = house.forget(seen, cascade=True)
    assert done.ids == (seen.id, made.id, deeper.id)
    assert done.personas == (versions[1].id, versions[2].id)
    assert done.entities == (("alice", "global"),)
    assert done.stale == ()
    assert house.get(sails.id) == sails
    assert house.get(versions[0].id).content == "A portrait."
    with house.db.read() as r:
        head = r.get(PersonaHeadRow, "global", "alice")
        assert head is not None
        assert (head.persona_id, head.version) == (None, 3)
        assert {claim.persona_id for claim in r.select(ClaimRow)} == {versions[0].id}
        stone = r.get(MemoryRow, versions[2].id)
    assert stone is not None
    assert (stone.entity_id, stone.persona_version, stone.content) == ("alice", 3, None)
    assert house.persona("alice", [sails]).persona_version == 4


def test_a_persona_that_is_served_and_cites_nothing_forgotten_goes_on(house: House):
    seen, other = house.remember(SECRET), house.remember("She sails.")
    made, sails = (house.reflect("x", row, entity_id="alice").row for row in (seen, other))
    old, new = house.persona("alice", [made]), house.persona("alice", [sails])
    done = house.forget(seen, cascade=True)
    assert (done.personas, done.entities) == ((old.id,), ())
    with house.db.read() as r:
        head = r.get(PersonaHeadRow, "global", "alice")
    assert head is not None
    assert head.persona_id == new.id


def test_without_cascade_dependants_stay_and_are_named(house: House):
    seen = house.remember(SECRET)
    made = house.reflect("She sleeps.", seen, entity_id="alice").row
    persona = house.persona("alice", [made])
    done = house.forget(seen)
    assert (done.ids, done.personas, done.stale) == ((seen.id,), (), (made.id, persona.id))
    assert house.get(made.id) == made
    assert house.read(links.stale, [persona.id]) == frozenset()
    assert house.forget(made).stale == (persona.id,)
    assert house.read(links.stale, [persona.id]) == {persona.id}


def test_a_cascade_can_follow_a_plain_forget_through_the_tombstones(house: House):
    first = house.remember("Dr Quill treats her.", name="health")
    early = house.reflect("She is ill.", first, entity_id="alice").row
    seen = house.remember(SECRET, name="health")
    made = house.reflect("She sleeps.", seen, entity_id="alice").row
    persona = house.persona("alice", [made, early])
    assert house.forget(seen).ids == (seen.id, first.id)
    assert house.forget(made).ids == (made.id,)
    count = len(house.events())
    assert house.forget(seen).ids == ()
    assert len(house.events()) == count
    done = house.forget(seen, cascade=True, keep_supported=True)
    assert (done.ids, done.personas) == ((early.id,), (persona.id,))


def test_keep_supported_keeps_what_stands_on_something_else_and_shows_nothing(house: House):
    seen, other = house.remember(f"{SECRET} since 2024-07-11."), house.remember("She naps at noon.")
    derived = {
        "stands": house.reflect("She needs her rest.", seen, other),
        "alone": house.reflect("She rests.", seen),
        "quotes": house.reflect(f"It is said that {SECRET.lower()}.", seen, other),
        "dates": house.reflect("Something began on 2024-07-11.", seen, other),
    }
    derived["above"] = house.reflect("Let her rest.", derived["stands"].row)
    derived["below"] = house.reflect("Then she rests.", derived["alone"].row)
    rows = {name: made.row for name, made in derived.items()}
    persona = house.persona("alice", [rows["stands"]])
    foreseen = house.read(forgetting.impact, house.ann, seen.id, keep_supported=True)
    assert [row.id for row in foreseen.kept] == [rows["stands"].id]
    done = house.forget(seen, cascade=True, keep_supported=True)
    assert set(done.ids) == {seen.id, *(rows[name].id for name in ("alone", "quotes", "dates", "below"))}
    assert (done.personas, done.stale) == ((), (rows["stands"].id,))
    assert house.get(rows["above"].id) == rows["above"]
    assert house.get(persona.id) == persona


def test_what_stood_on_two_memories_falls_with_the_second(house: House):
    one, two = house.remember("One is so."), house.remember("Two is so.")
    both = house.reflect("Both agree.", one, two).row
    assert house.forget(one, cascade=True, keep_supported=True).stale == (both.id,)
    assert house.forget(two, cascade=True, keep_supported=True).ids == (two.id, both.id)


def test_what_cannot_be_compared_with_a_text_that_is_gone_already_falls(house: House):
    seen, other = house.remember(SECRET), house.remember("She naps at noon.")
    made = house.reflect("She needs her rest.", seen, other).row
    house.forget(seen)
    assert house.forget(seen, cascade=True, keep_supported=True).ids == (made.id,)


def test_text_that_stands_elsewhere_is_pointed_out_and_not_touched(house: House):
    seen = house.remember(SECRET)
    copy = house.remember(f"Note: {SECRET}, says Ben.")
    titled = house.remember("See the title.", title=SECRET)
    house.remember(f"Private: {SECRET}.", house.ben, namespace=f"users/{house.ben.id}")
    assert house.forget(seen).repeated == (copy.id, titled.id)
    assert house.get(copy.id) == copy


def test_the_answer_tells_the_caller_no_more_than_it_may_read(house: House):
    seen = house.remember(SECRET, house.scout)
    private = house.reflect(
        "She sleeps.", seen, entity_id="alice", caller=house.ben, namespace=f"users/{house.ben.id}"
    ).row
    hidden = house.persona("alice", [private], namespace=f"users/{house.ben.id}")
    public = house.reflect("She dozes.", seen, entity_id="alice", caller=house.scout).row
    house.persona("alice", [public])
    foreseen = house.read(forgetting.impact, house.scout, seen.id)
    assert [row.id for row in foreseen.memories] == [public.id]
    done = house.forget(seen, house.scout, cascade=True)
    assert done.ids == (seen.id, public.id)
    assert hidden.id not in json.dumps(done.wire())
    assert house.get(private.id, house.ben) == private
    assert house.get(hidden.id, house.ben) == hidden


def test_a_persona_follows_its_sources_where_the_caller_does_not_read(house: House):
    seen = house.remember(SECRET, house.scout)
    public = house.reflect("She dozes.", seen, entity_id="alice", caller=house.scout).row
    place = f"users/{house.ben.id}"
    hidden = house.persona("alice", [public], namespace=place)
    foreseen = house.read(forgetting.impact, house.scout, seen.id)
    assert (foreseen.personas, foreseen.entities) == ((), ())
    done = house.forget(seen, house.scout, cascade=True)
    assert (done.personas, done.entities) == ((), (("alice", place),))
    assert house.get(hidden.id, house.ben).content is None
    places = [(event.namespace, event.payload["ids"]) for event in house.events("erased")]
    assert places == [("global", [seen.id, public.id]), (place, [hidden.id])]


def test_a_cascade_into_what_the_caller_may_not_erase_is_refused_and_names_it(house: House):
    seen = house.remember(SECRET, house.scout)
    theirs = house.reflect("She dozes.", seen, caller=house.rook).row
    assert house.read(forgetting.impact, house.scout, seen.id).barred == (theirs.id,)
    with pytest.raises(Forbidden) as failed:
        house.forget(seen, house.scout, cascade=True)
    assert failed.value.details == {"reason": "not_yours", "ids": [theirs.id]}
    assert house.get(seen.id) == seen
    assert house.forget(seen, cascade=True).ids == (seen.id, theirs.id)


def test_an_agent_does_not_erase_what_others_wrote_by_writing_over_it(house: House):
    theirs = house.remember("Ours to keep.", name="note")
    mine = house.remember("Mine now.", house.scout, name="note")
    assert house.read(forgetting.impact, house.scout, mine.id).barred == (theirs.id,)
    with pytest.raises(Forbidden) as failed:
        house.forget(mine, house.scout)
    assert failed.value.details["ids"] == [theirs.id]
    assert house.get(theirs.id).content == "Ours to keep."
    assert house.forget(mine).ids == (mine.id, theirs.id)


def test_only_those_forget_who_may(house: House):
    shared, private = house.remember("Ours."), house.remember("Mine.", namespace=f"users/{house.ann.id}")
    answers = []
    for id in (private.id, ABSENT):
        for ask in (
            lambda id=id: house.write(forgetting.forget, house.ben, id),
            lambda id=id: house.read(forgetting.impact, house.ben, id),
        ):
            with pytest.raises(NotFound) as failed:
                ask()
            answers.append(str(failed.value.as_json()).replace(id, "…"))
    assert len(set(answers)) == 1
    with pytest.raises(Forbidden):
        house.forget(shared, house.scout)
    assert house.forget(shared, house.ben).ids == (shared.id,)


def test_a_persona_can_be_forgotten_itself(house: House):
    cited = house.reflect("She sails.", house.remember("Seen."), entity_id="alice").row
    house.persona("alice", [cited], text="First.")
    second = house.persona("alice", [cited], text="Second.")
    done = house.forget(second)
    assert (done.ids, done.personas, done.entities) == ((), (second.id,), (("alice", "global"),))
    with house.db.read() as r:
        assert r.select(ClaimRow, "persona_id = ?", (second.id,)) == []
        assert r.count(ClaimRow) == 1


def test_a_lineage_too_large_to_follow_is_refused(house: House, monkeypatch: pytest.MonkeyPatch):
    seen = house.remember(SECRET)
    for n in range(4):
        house.reflect(f"Number {n}.", seen)
    monkeypatch.setattr(limits, "LINEAGE_NODES", 3)
    with pytest.raises(Refused, match="rest on"):
        house.forget(seen, cascade=True)


def test_a_large_cascade_is_spread_over_events_that_name_what_they_bind(house: House):
    seen = house.remember(SECRET)
    with house.db.write(actor=house.ann.id) as tx:
        for n in range(210):
            memories.reflect(tx, house.ann, "Title", f"Number {n}.", sources=[seen.id])
    assert len(house.forget(seen, cascade=True).ids) == 211
    batches = house.events("erased")
    assert [len(event.payload["ids"]) for event in batches] == [200, 11]
    for event in batches:
        assert {commit[1] for commit in event.commits} == set(event.payload["ids"])


def test_the_fingerprint_of_a_retried_write_goes_with_the_memory(house: House):
    row = house.remember(SECRET)
    with house.db.write(actor=house.ann.id) as tx:
        key = IdempotencyRow(
            principal_id=house.ann.id, key="k", fingerprint="f" * 64, subject_id=row.id, created_at=tx.now
        )
        tx.put(key)
        tx.event("plan_applied", subject=row.id, namespace=None, payload={})
    house.forget(row)
    with house.db.read() as r:
        kept = r.get(IdempotencyRow, house.ann.id, "k")
    assert kept is not None
    assert (kept.fingerprint, kept.subject_id) == (None, row.id)


def texts(house: House) -> Iterator[str]:
    """Give every text value of every table, and every event body."""
    with house.db.read() as r:
        for table in (*schema.COMMITTED, *schema.DERIVED):
            for row in r.query(f"SELECT * FROM {table}"):
                yield from (value for value in row if isinstance(value, str))


@pytest.mark.requirement("S1-73")
def test_no_event_carries_text_and_forgotten_text_is_in_no_column(house: House):
    words = {
        name: f"{name}-Xyzzy-{at}"
        for at, name in enumerate(("content", "title", "description", "meta", "source", "edit", "reflection", "why"))
    }
    row = house.remember(
        words["content"],
        title=words["title"],
        description=words["description"],
        metadata={"k": words["meta"]},
        sources=[{"kind": "url", "ref": words["source"]}],
    )
    edited = house.write(memories.edit, house.ann, row.id, words["edit"])
    made = house.reflect(words["reflection"], edited, entity_id="alice", metadata={"k": words["meta"]}).row
    house.persona("alice", [made], text=words["reflection"])
    house.link(house.remember("Another."), edited)
    found = "\n".join(texts(house))
    assert all(word in found for word in words.values() if not word.startswith("why"))
    house.write(memories.retire, house.ann, house.remember("Third.").id, words["why"])
    house.forget(edited, cascade=True)
    left = "\n".join(texts(house))
    bodies = "\n".join(encode(event.payload).decode() + str(event) for event in house.events())
    assert [word for word in words.values() if word in bodies] == []
    assert [word for word in words.values() if word in left] == [words["why"]]


@pytest.mark.requirement("S3-43")
def test_a_walk_from_a_persona_still_shows_that_something_was_forgotten(house: House):
    seen = house.remember(SECRET)
    made = house.reflect("She sleeps.", seen, entity_id="alice").row
    persona = house.persona("alice", [made])
    house.forget(seen)
    walked = house.read(graph.walk, house.ann, [persona.id])
    assert [(row.id, row.status, row.content) for row in walked] == [
        (persona.id, "active", "A portrait."),
        (made.id, "active", "She sleeps."),
        (seen.id, "deleted", None),
    ]


def test_the_curator_forgets_nothing(house: House):
    row = house.remember("x", namespace="team/alpha")
    with pytest.raises(Forbidden):
        house.forget(row, CURATOR)


def test_a_read_only_namespace_keeps_its_memories(house: House):
    row = house.remember("x", namespace="team/alpha")
    house.write(namespaces.set_access, house.ann, "team/alpha", "ro")
    for change in (
        lambda: house.forget(row),
        lambda: house.write(memories.edit, house.ann, row.id, "y"),
        lambda: house.remember("z", namespace="team/alpha"),
    ):
        with pytest.raises(Forbidden):
            change()
    assert house.get(row.id) == row
