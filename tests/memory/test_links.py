"""Links between memories, and lineage that never leads back to itself."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate import limits
from substrate.errors import Conflict, Forbidden, Invalid, NotFound, Refused
from substrate.memory import links, memories
from substrate.scopes import namespaces
from substrate.scopes.caller import CURATOR
from substrate.store.model import LinkRow
from tests.memory.house import ABSENT, House


def test_a_link_says_who_saw_it_when_it_held_and_which_key_vouches_for_it(house: House):
    one, two = house.remember("One."), house.remember("Two.")
    made = house.link(one, two, "contradicts", valid_from="2026-05-01", caller=house.ben)
    with house.db.read() as r:
        assert r.get(LinkRow, one.id, two.id, "contradicts") == made
        assert (made.attest_level, made.key_id) == ("self_signed", r.key_id)
    assert (made.observed_by, made.valid_from) == (house.ben.id, "2026-05-01T00:00:00.000000Z")
    event = house.events("memory_linked")[-1]
    assert event.payload.keys() == {"id", "target_id", "relation", "by"}
    assert (event.seq, event.subject, event.payload["target_id"]) == (made.sequence, one.id, two.id)


def test_a_link_that_is_there_records_nothing_unless_its_times_change(house: House):
    one, two = house.remember("One."), house.remember("Two.")
    first = house.link(one, two)
    count = len(house.events())
    assert house.link(one, two, caller=house.ben) == first
    assert len(house.events()) == count
    later = house.link(one, two, valid_until="2026-06-01")
    assert (later.valid_until, later.observed_by) == ("2026-06-01T00:00:00.000000Z", house.ann.id)
    assert house.link(one, two) == later


def test_a_memory_is_not_linked_to_itself_by_whatever_name(house: House):
    one = house.remember("One.", name="one")
    for relation in links.RELATIONS:
        with pytest.raises(Invalid, match="itself"):
            house.write(links.link, house.ann, one.id, "one", relation)


@pytest.mark.parametrize("relation", ["likes", "", "DERIVED_FROM", None])
def test_an_unknown_relation_is_refused_with_those_there_are(house: House, relation: str):
    one, two = house.remember("One."), house.remember("Two.")
    with pytest.raises(Invalid) as failed:
        house.link(one, two, relation)
    assert "derived_from" in failed.value.hint


def test_both_ends_are_read_and_the_source_is_written_by_the_caller(house: House):
    one = house.remember("One.")
    private = house.remember("Mine.", namespace=f"users/{house.ann.id}")
    answers = []
    for id in (private.id, ABSENT):
        for ends in ((one.id, id), (id, one.id)):
            with pytest.raises(NotFound) as failed:
                house.write(links.link, house.ben, *ends, "related_to")
            answers.append(str(failed.value.as_json()).replace(id, "…"))
    assert len(set(answers)) == 1
    house.remember("Two.", namespace="team/alpha")
    house.write(namespaces.set_policy, house.ann, "team/alpha", "write", [house.ann.id])
    two = house.remember("Three.", namespace="team/alpha")
    with pytest.raises(Forbidden):
        house.link(two, one, caller=house.ben)
    assert house.link(one, two, caller=house.ben).source_id == one.id


def test_a_forgotten_memory_is_linked_no_more(house: House):
    one, two = house.remember("One."), house.remember("Two.")
    house.forget(two)
    for ends in ((one, two), (two, one)):
        with pytest.raises(Conflict, match="forgotten"):
            house.link(*ends)


def test_lineage_that_would_lead_back_to_its_beginning_is_refused(house: House):
    one, two = house.remember("One."), house.remember("Two.")
    made = house.reflect("Both.", one, two).row
    with pytest.raises(Refused, match="already rests on"):
        house.link(one, made, "derived_from")
    house.link(two, one, "supersedes")
    with pytest.raises(Refused):
        house.link(one, two, "derived_from")
    assert house.link(one, made, "related_to").relation == "related_to"
    with house.db.read() as r:
        assert r.count(LinkRow) == 4


def test_a_lineage_too_large_to_check_is_not_written(house: House, monkeypatch: pytest.MonkeyPatch):
    rows = [house.remember(f"Number {n}.") for n in range(4)]
    for later, earlier in zip(rows[1:], rows, strict=False):
        house.link(later, earlier, "derived_from")
    fresh = house.remember("Fresh.")
    monkeypatch.setattr(limits, "LINEAGE_NODES", 2)
    with pytest.raises(Refused, match="too large"):
        house.link(fresh, rows[3], "derived_from")


def test_a_personas_lineage_is_written_with_it_and_not_by_hand(house: House):
    cited = house.reflect("x", house.remember("Seen."), entity_id="alice").row
    other = house.reflect("y", cited).row
    persona = house.persona("alice", [cited])
    with pytest.raises(Refused, match="persona"):
        house.link(persona, other, "derived_from")
    with pytest.raises(Forbidden):
        house.link(persona, other, "related_to", caller=house.scout)
    assert house.link(persona, other, "related_to").source_id == persona.id


@pytest.mark.requirement("S3-43")
def test_a_persona_is_stale_when_what_it_cites_is_superseded_retired_or_forgotten(house: House):
    ground = house.remember("Seen.")
    cited = [house.reflect(f"Fact {n}.", ground, entity_id="alice").row for n in range(4)]
    personas = [house.persona(f"alice-{n}", [row]) for n, row in enumerate(cited)]
    ids = [row.id for row in personas]
    assert house.read(links.stale, ids) == frozenset()
    house.write(memories.edit, house.ann, cited[0].id, "Better.")
    house.write(memories.retire, house.ann, cited[1].id, "Wrong.")
    house.forget(cited[2])
    assert house.read(links.stale, ids) == frozenset(ids[:3])


Pairs = list[tuple[int, int, str]]
LINKS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["derived_from", "supersedes", "related_to"])),
    max_size=14,
)


def reachable(pairs: Pairs, start: int) -> Iterator[int]:
    """Walk lineage in plain Python, to hold the check in SQL against."""
    waiting, seen = [start], set()
    while waiting:
        here = waiting.pop()
        yield here
        for source, target, relation in pairs:
            if source == here and relation != "related_to" and target not in seen:
                seen.add(target)
                waiting.append(target)


@settings(max_examples=25, deadline=None)
@given(asked=LINKS)
def test_exactly_the_links_that_close_no_circle_of_lineage_are_accepted(shared: House, asked: Pairs):
    written: Pairs = []
    with shared.db.write(actor=shared.ann.id) as tx:
        before = tx.count(LinkRow)
        ids = [memories.remember(tx, shared.ann, f"Number {n}.").id for n in range(6)]
        for source, target, relation in asked:
            closes = relation != "related_to" and source in set(reachable(written, target))
            try:
                links.link(tx, shared.ann, ids[source], ids[target], relation)
            except (Refused, Invalid):
                assert closes or source == target
            else:
                assert not closes and source != target
                written.append((source, target, relation))
        assert tx.count(LinkRow) - before == len(set(written))


def test_the_curator_links_what_it_wrote(house: House):
    one = house.reflect("x", house.remember("Seen."), caller=CURATOR).row
    two = house.reflect("y", house.remember("Seen too."), caller=CURATOR).row
    assert house.link(one, two, "contradicts", caller=CURATOR).observed_by == CURATOR.id
