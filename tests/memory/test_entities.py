"""Entities under all their names: registering, aliases, merges."""

import pytest

from substrate.errors import Conflict, Forbidden, Invalid, NotFound
from substrate.memory import entities, memories
from substrate.scopes import namespaces
from substrate.store.model import PersonaHeadRow
from tests.memory.house import House

ALPHA = "team/alpha"


def resolved(house: House, raw: str, namespace: str = "global") -> str:
    found: str = house.read(entities.resolve, raw, namespace).entity_id
    return found


def test_an_unregistered_id_is_its_own_entity_after_folding(house: House):
    for spelling in ("Alice", " alice ", "ＡＬＩＣＥ", "aLiCe"):
        assert resolved(house, spelling) == "alice"
    assert house.read(entities.resolve, " Alice ", "global").display == "Alice"
    assert house.read(entities.ids_of, "Alice", "global") == {"alice"}


@pytest.mark.requirement("S3-44")
@pytest.mark.parametrize("raw", ["", "  ", "a\u200bb", "x" * 129, "a\x1b[2Jb", "\ud800"])
def test_an_id_out_of_form_is_refused_everywhere(house: House, raw: str):
    for refused in (
        lambda: house.read(entities.resolve, raw, "global"),
        lambda: house.read(entities.ids_of, raw, "global"),
        lambda: house.write(entities.add, house.ann, raw),
        lambda: house.write(entities.alias, house.ann, raw, "alice"),
        lambda: house.write(entities.alias, house.ann, "alice", raw),
        lambda: house.write(entities.merge, house.ann, raw, "alice"),
        lambda: house.read(entities.show, house.ann, raw),
    ):
        with pytest.raises(Invalid):
            refused()
    assert house.events("entity_changed") == []


def test_an_alias_leads_one_hop_and_shows_the_registered_name(house: House):
    house.write(entities.add, house.ann, "alice", name="Alice Liddell", kind="person")
    house.write(entities.alias, house.ann, "Al", "alice")
    assert house.read(entities.resolve, "AL", "global") == entities.Resolved("alice", "Alice Liddell")
    event = house.events("entity_changed")[-1]
    assert (event.subject, event.payload["change"], event.payload["alias"]) == ("alice", "aliased", "al")
    shown = house.read(entities.show, house.ann, "al")
    assert (shown.entity_id, shown.display, shown.kind) == ("alice", "Alice Liddell", "person")
    assert shown.names == ("al", "alice liddell")


def test_the_name_an_entity_is_shown_by_leads_to_it_as_an_alias_does(house: House):
    house.write(entities.add, house.ann, "alice", name="Alice Liddell")
    event = house.events("entity_changed")[-1]
    assert (event.payload["change"], event.payload["alias"]) == ("registered", "alice liddell")
    assert house.read(entities.resolve, "ALICE LIDDELL", "global") == entities.Resolved("alice", "Alice Liddell")
    cited = house.reflect("Alice rows.", house.remember("Seen."), entity_id="Alice Liddell").row
    assert cited.mentioned_entity_id == "alice"
    assert house.read(memories.list_, house.ann, entity="Alice Liddell")[0] == [cited]
    house.write(entities.add, house.ann, "alice", name="Alice Hargreaves")
    assert {resolved(house, name) for name in ("Alice Liddell", "Alice Hargreaves")} == {"alice"}


def test_a_name_that_leads_to_another_is_refused_and_changes_nothing(house: House):
    house.write(entities.add, house.ann, "alice", name="Alice Liddell")
    house.write(entities.add, house.ann, "bob")
    house.write(entities.merge, house.ann, "rob", "bob")
    count = len(house.events())
    for id, name in (("alice-2", "alice LIDDELL"), ("alice-2", "Bob"), ("alice-2", "Rob"), ("bob", "Alice")):
        with pytest.raises(Conflict, match="leads to") as error:
            house.write(entities.add, house.ann, id, name=name)
        assert "tells the two apart" in error.value.hint
    assert len(house.events()) == count
    house.write(entities.add, house.ann, "bob", name="Rob")
    assert house.read(entities.show, house.ann, "rob").display == "Rob"


def test_a_name_too_long_to_be_asked_by_is_shown_all_the_same(house: House):
    assert house.write(entities.add, house.ann, "alice", name="Alice " * 30).canonical_name.startswith("Alice Alice")
    assert house.read(entities.show, house.ann, "alice").names == ()


def test_registering_again_changes_the_name_and_nothing_else(house: House):
    first = house.write(entities.add, house.ann, "Alice")
    again = house.write(entities.add, house.ann, "ALICE", name="Alice Liddell")
    assert (first.canonical_name, again.canonical_name) == ("Alice", "Alice Liddell")
    assert again.created_at == first.created_at
    count = len(house.events())
    house.write(entities.add, house.ann, "alice")
    assert len(house.events()) == count


def test_registering_the_same_alias_again_records_nothing(house: House):
    first = house.write(entities.alias, house.ann, "al", "alice")
    count = len(house.events())
    assert house.write(entities.alias, house.ann, "Al", "ALICE") == first
    assert len(house.events()) == count


def test_names_that_are_taken_are_conflicts(house: House):
    house.write(entities.alias, house.ann, "al", "alice")
    house.write(entities.add, house.ann, "bob")
    with pytest.raises(Conflict, match="alias of 'alice'"):
        house.write(entities.alias, house.ann, "al", "bob")
    with pytest.raises(Conflict, match="merge"):
        try:
            house.write(entities.alias, house.ann, "bob", "alice")
        except Conflict as error:
            raise Conflict(error.hint) from error
    with pytest.raises(Conflict, match="alias of 'alice'"):
        house.write(entities.add, house.ann, "al")
    with pytest.raises(Invalid, match="own id"):
        house.write(entities.alias, house.ann, "Bob", "bob")


def test_the_leaf_namespace_is_asked_first_then_those_around_it_then_global(house: House):
    house.write(entities.alias, house.ann, "al", "albert")
    house.write(entities.alias, house.ann, "al", "alan", namespace="team")
    house.write(entities.alias, house.ann, "al", "alice", namespace=ALPHA)
    assert [resolved(house, "al", place) for place in (ALPHA, "team", "team/beta", "other", "global")] == [
        "alice",
        "alan",
        "alan",
        "albert",
        "albert",
    ]
    assert house.read(entities.ids_of, "albert", ALPHA) == {"albert"}
    assert house.read(entities.ids_of, "alice", ALPHA) == {"al", "alice"}


def test_an_entity_registered_locally_is_shielded_from_names_given_further_out(house: House):
    house.write(entities.add, house.ann, "al", namespace=ALPHA)
    house.write(entities.alias, house.ann, "al", "albert")
    assert resolved(house, "al", ALPHA) == "al"
    assert resolved(house, "al") == "albert"
    house.write(entities.merge, house.ann, "albert", "alfred")
    assert (resolved(house, "al"), resolved(house, "al", ALPHA)) == ("alfred", "al")


def test_an_alias_does_not_shield_its_entity_from_a_merge_further_out(house: House):
    house.write(entities.add, house.ann, "alice")
    house.write(entities.alias, house.ann, "ally", "alice", namespace=ALPHA)
    house.write(entities.merge, house.ann, "alice", "alicia")
    assert resolved(house, "ally", ALPHA) == "alicia"
    assert house.read(entities.ids_of, "alicia", ALPHA) == {"alice", "alicia", "ally"}


def test_merges_that_go_round_through_two_namespaces_still_end(house: House):
    house.write(entities.merge, house.ann, "b", "a")
    house.write(entities.alias, house.ann, "a", "b-team", namespace=ALPHA)
    house.write(entities.merge, house.ann, "b-team", "b", namespace=ALPHA)
    assert resolved(house, "a", ALPHA) in {"a", "b", "b-team"}
    assert resolved(house, "b") == "a"


def test_a_merge_retires_the_persona_of_the_id_that_goes_and_the_survivor_is_due(house: House):
    ground = house.remember("Seen.")
    cited = house.reflect("Ally sails.", ground, entity_id="ally").row
    persona = house.persona("ally", [cited])
    merged = house.write(entities.merge, house.ann, "Ally", "Alice")
    assert merged == entities.Merged("ally", "alice", (persona.id,), (("alice", "global"),))
    gone = house.get(persona.id)
    assert (gone.status, gone.status_reason, gone.content) == ("retired", "merged into alice", "A portrait.")
    with house.db.read() as r:
        head = r.get(PersonaHeadRow, "global", "ally")
    assert head is not None
    assert (head.persona_id, head.version) == (None, 1)
    assert [event.type for event in house.events()[-2:]] == ["entity_changed", "memory_retired"]
    event = house.events("entity_changed")[-1]
    assert (event.payload["change"], event.payload["merged_into"]) == ("merged", "alice")
    assert resolved(house, "ally") == "alice"
    assert house.read(memories.list_, house.ann, entity="alice", kind="reflection")[0] == [cited]


def test_a_merge_retires_personas_only_where_the_caller_may_write(house: House):
    private = f"users/{house.ben.id}"
    for place, caller in ((private, house.ben), (ALPHA, house.ann)):
        cited = house.reflect("x", house.remember("Seen."), entity_id="ally", namespace=place, caller=caller).row
        house.persona("ally", [cited], namespace=place)
    house.write(entities.add, house.ann, "ally", namespace="team/beta")
    merged = house.write(entities.merge, house.ann, "ally", "alice")
    assert merged.due == (("alice", "global"), ("alice", ALPHA))
    with house.db.read() as r:
        heads = dict(r.query("SELECT namespace, persona_id IS NOT NULL FROM persona_heads"))
    assert heads == {private: True, ALPHA: False}


def test_merges_that_say_nothing_new_are_refused(house: House):
    house.write(entities.merge, house.ann, "ally", "alice")
    for gone, survivor, error in (
        ("ally", "alice", Invalid),
        ("alice", "ally", Invalid),
        ("alice", "ALICE", Invalid),
        ("ally", "bob", Conflict),
    ):
        with pytest.raises(error):
            house.write(entities.merge, house.ann, gone, survivor)
    with pytest.raises(Conflict, match="merged into"):
        house.write(entities.add, house.ann, "ally")
    house.write(entities.merge, house.ann, "alice", "alicia")
    assert resolved(house, "ally") == "alicia"


def test_only_writers_of_the_namespace_name_entities_there(house: House):
    house.write(namespaces.set_policy, house.ann, ALPHA, "write", [house.ann.id])
    for change in (
        lambda place: house.write(entities.add, house.ben, "x", namespace=place),
        lambda place: house.write(entities.alias, house.ben, "x", "y", namespace=place),
        lambda place: house.write(entities.merge, house.ben, "x", "y", namespace=place),
    ):
        with pytest.raises(Forbidden):
            change(ALPHA)
        with pytest.raises(NotFound):
            change(f"users/{house.ann.id}")
    with pytest.raises(NotFound):
        house.read(entities.show, house.ben, "x", namespace=f"users/{house.ann.id}")
    assert house.events("entity_changed") == []


@pytest.mark.requirement("S1-8")
def test_no_name_of_an_entity_is_a_credential(house: House):
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
    for refused in (
        lambda: house.write(entities.add, house.ann, secret),
        lambda: house.write(entities.add, house.ann, "x", name=secret),
        lambda: house.write(entities.alias, house.ann, secret, "x"),
        lambda: house.write(entities.merge, house.ann, secret, "x"),
    ):
        with pytest.raises(Invalid, match="credential"):
            refused()


@pytest.mark.requirement("S3-18", "S3-3")
def test_what_is_known_of_an_entity_is_counted_as_far_as_the_caller_sees_it(house: House):
    ground = house.remember("Seen.")
    cited = house.reflect("x", ground, entity_id="alice").row
    house.reflect("y", ground, entity_id="alice", applies_to=[house.scout.id])
    persona = house.persona("alice", [cited])
    shown = house.read(entities.show, house.rook, "Alice")
    assert (shown.reflections, shown.persona_id, shown.persona_version) == (1, persona.id, 1)
    assert (shown.registered, shown.kind, persona.entity_id) == (False, None, "alice")
    assert house.read(entities.show, house.ann, "Alice").reflections == 2
    with house.db.read() as r:
        assert r.query("SELECT 1 FROM duckdb_indexes() WHERE index_name = 'idx_personas_by_entity'")
        assert r.query("SELECT id FROM memories WHERE entity_id = 'alice'") == [(persona.id,)]


def test_the_nearest_ids_are_those_registered_or_spoken_of_here(house: House):
    ground = house.remember("Seen.")
    house.reflect("x", ground, entity_id="alicia")
    house.reflect("x", ground, entity_id="alison", applies_to=[house.scout.id])
    house.reflect("x", ground, entity_id="alisa", namespace=ALPHA)
    house.write(entities.add, house.ann, "alice")
    house.write(entities.alias, house.ann, "alicea", "alice")
    assert house.read(entities.nearest, "ALICEE", "global") == ["alice", "alicea", "alicia"]
    assert house.read(entities.nearest, "alice", "global", 1) == ["alicea"]
    assert house.read(entities.nearest, "zzz", "global") == []
    assert "alisa" in house.read(entities.nearest, "alis", ALPHA)
