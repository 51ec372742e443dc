"""What happened to a memory or around an entity, in the order of time."""

import pytest

from substrate.errors import Invalid, NotFound
from substrate.memory import entities, memories, timelines
from substrate.memory.timelines import timeline
from tests.memory.house import ABSENT, House


def told(house: House, ref: str, **options) -> list[tuple[str, str]]:
    return [
        (moment.what, moment.id) for moment in house.read(timeline, options.pop("caller", house.ann), ref, **options)
    ]


def test_a_memorys_wordings_its_links_and_its_end_stand_in_order(house: House):
    old = house.remember("Draft.", name="note")
    other = house.remember("Other.")
    house.link(old, other, "contradicts")
    new = house.write(memories.edit, house.ann, old.id, "Better.")
    house.write(memories.retire, house.ann, new.id, "Wrong.")
    expected = [
        ("observation", old.id),
        ("linked: contradicts", old.id),
        ("superseded", old.id),
        ("observation", new.id),
        ("retired", new.id),
    ]
    assert told(house, old.id) == told(house, new.id) == expected
    moments = house.read(timeline, house.ann, new.id)
    assert (moments[2].other, moments[1].other, moments[0].by) == (new.id, other.id, house.ann.id)
    assert moments[0].wire()["at"] == old.created_at


def test_a_fact_stands_where_it_held_and_says_when_it_was_learned(house: House):
    ground = house.remember("Seen.")
    late = house.reflect("Moved in 2020.", ground, entity_id="alice", valid_from="2020-01-01").row
    early = house.reflect("Born.", ground, entity_id="alice", valid_from="1990-01-01").row
    persona = house.persona("alice", [late, early])
    house.forget(late)
    assert told(house, "Alice") == [
        ("reflection", early.id),
        ("reflection", late.id),
        ("persona 1", persona.id),
        ("forgotten", late.id),
    ] or told(house, "Alice") == [
        ("reflection", early.id),
        ("persona 1", persona.id),
        ("reflection", late.id),
        ("forgotten", late.id),
    ]
    first = house.read(timeline, house.ann, "Alice")[0]
    assert (first.at, first.known_at) == ("1990-01-01T00:00:00.000000Z", early.created_at)


def test_an_entitys_names_are_part_of_its_story(house: House):
    ground = house.remember("Seen.", namespace="team/alpha")
    row = house.reflect("x", ground, entity_id="al", namespace="team/alpha").row
    house.write(entities.add, house.ann, "alice")
    house.write(entities.alias, house.ann, "al", "alice", namespace="team/alpha")
    assert told(house, "alice", namespace="team/alpha") == [
        ("reflection", row.id),
        ("registered", "alice"),
        ("aliased", "alice"),
    ]
    assert told(house, "alice") == [("registered", "alice")]


def test_a_name_in_use_goes_before_an_entity(house: House):
    row = house.remember("A note.", name="alice")
    house.write(entities.add, house.ann, "alice")
    assert told(house, "alice") == [("observation", row.id)]


def test_what_the_caller_may_not_see_is_no_part_of_any_story(house: House):
    private = house.remember("Mine.", namespace=f"users/{house.ann.id}")
    one = house.remember("One.")
    house.link(one, private)
    house.reflect("x", private, entity_id="alice", namespace=f"users/{house.ann.id}")
    assert told(house, one.id, caller=house.ben) == [("observation", one.id)]
    for ref, absent in ((private.id, ABSENT), ("alice", "nobody")):
        answers = []
        for asked in (ref, absent):
            with pytest.raises(NotFound) as failed:
                house.read(timeline, house.ben, asked)
            answers.append(str(failed.value.as_json()).replace(asked, "…"))
        assert answers[0] == answers[1]
    with pytest.raises(Invalid):
        told(house, "a\u200bb")


def test_a_long_chain_of_wordings_is_bounded(house: House, monkeypatch: pytest.MonkeyPatch):
    rows = [house.remember(f"Number {n}.", name="n") for n in range(6)]
    monkeypatch.setattr(timelines.limits, "GRAPH_NODES", 2)
    assert 2 <= len(told(house, rows[0].id)) < 11
