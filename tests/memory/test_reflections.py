"""Reflections: what they rest on, and the entity they speak of."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate import limits
from substrate.errors import Conflict, Forbidden, Invalid, NotFound
from substrate.memory import entities, memories
from substrate.memory.reflections import bind
from substrate.scopes import namespaces
from substrate.scopes.caller import CURATOR
from substrate.store.model import LinkRow
from tests.memory.house import ABSENT, House


@pytest.mark.requirement("S3-32")
def test_a_reflection_is_linked_to_each_memory_it_rests_on(house: House):
    one, two = house.remember("One."), house.remember("Two.", name="two")
    made = house.reflect("Both.", one, "two", one, entity_id="Alice")
    assert made.sources == (one.id, two.id)
    assert house.read(memories.sources_of, [made.row.id])[made.row.id] == [one.id, two.id]
    with house.db.read() as r:
        link = r.get(LinkRow, made.row.id, one.id, "derived_from")
        assert link is not None
        assert (link.attest_level, link.key_id, link.sequence) == ("self_signed", r.key_id, made.row.sequence)
    assert made.wire(persona_due=True) == {
        "id": made.row.id,
        "reflection_depth": 1,
        "sources": [one.id, two.id],
        "entity_id": "alice",
        "namespace": "global",
        "persona_due": True,
    }


def test_a_reflection_is_one_deeper_than_its_deepest_source(house: House):
    ground = house.remember("Seen.")
    first = house.reflect("First.", ground)
    assert house.reflect("Second.", ground, first.row).depth == 2
    assert (first.row.memory_kind, first.row.reflection_depth, first.row.memory_type) == ("reflection", 1, "fact")


@pytest.mark.parametrize(
    ("sources", "error"),
    [
        ([], Invalid),
        ("mem-1", Invalid),
        (None, Invalid),
        ([7], Invalid),
        ([ABSENT], NotFound),
        (["nothing"], NotFound),
        ([ABSENT] * (limits.REFLECT_SOURCES + 1), Invalid),
    ],
)
def test_a_reflection_over_nothing_is_refused(house: House, sources: object, error: type[Exception]):
    with house.db.read() as r:
        head = r.head
    with pytest.raises(error):
        house.write(memories.reflect, house.ann, "Title", "Text.", sources=sources)
    with house.db.read() as r:
        assert r.head == head


def test_a_source_that_the_caller_may_not_read_is_answered_like_an_absent_one(house: House):
    private = house.remember("Mine.", namespace=f"users/{house.ann.id}")
    answers = []
    for id in (private.id, ABSENT):
        with pytest.raises(NotFound) as failed:
            house.reflect("Hm.", id, caller=house.ben)
        answers.append(str(failed.value.as_json()).replace(id, "…"))
    assert answers[0] == answers[1]


def test_a_forgotten_memory_is_no_source_and_a_superseded_one_is(house: House):
    gone, old = house.remember("Gone."), house.remember("Old.", name="x")
    house.remember("New.", name="x")
    house.forget(gone)
    with pytest.raises(Conflict, match="forgotten"):
        house.reflect("Hm.", gone, old)
    assert house.reflect("Hm.", old).sources == (old.id,)


def test_what_is_reflected_in_a_wider_place_is_the_callers_own_statement(house: House):
    private = house.remember("Mine.", namespace=f"users/{house.ann.id}")
    made = house.reflect("Ours.", private)
    assert made.row.namespace == "global"
    assert house.get(made.row.id, house.ben).content == "Ours."


def test_types_of_lessons_are_the_curators(house: House):
    ground = house.remember("Seen.")
    with pytest.raises(Invalid, match="no type of reflection"):
        house.reflect("I tire.", ground, memory_type="lesson")
    made = house.reflect("I tire.", ground, memory_type="lesson", caller=CURATOR)
    assert made.row.origin == "curator"


def test_the_curator_reflects_in_a_project_that_agents_only_propose_to(house: House):
    project = "projects/acme/site"
    house.write(namespaces.create, house.ann, project)
    ground = house.remember("Seen.", namespace=project)
    assert house.reflect("So.", ground, caller=CURATOR, namespace=project).row.namespace == project
    with pytest.raises(Forbidden):
        house.remember("Seen.", CURATOR, namespace=project)


@pytest.mark.requirement("S3-28")
def test_metadata_comes_before_the_parameter_and_the_parameter_before_the_title(house: House):
    ground = house.remember("Seen.")
    title = "On [entity:carol] and [entity:dan]"
    bound = [
        house.reflect("x", ground, title=title, metadata={"entity_id": "alice"}, entity_id="bob").row,
        house.reflect("x", ground, title=title, metadata={"k": 1}, entity_id="bob").row,
        house.reflect("x", ground, title=title, metadata={"k": 1}).row,
        house.reflect("x", ground, title="On nobody").row,
    ]
    assert [row.mentioned_entity_id for row in bound] == ["alice", "bob", "carol", None]
    assert [row.metadata for row in bound] == [
        {"entity_id": "alice"},
        {"k": 1, "entity_id": "bob"},
        {"k": 1, "entity_id": "carol"},
        None,
    ]


@pytest.mark.requirement("S3-29")
def test_metadata_wins_with_a_warning_where_both_name_different_entities(
    house: House, caplog: pytest.LogCaptureFixture
):
    ground = house.remember("Seen.")
    with caplog.at_level(logging.WARNING, "substrate.memory"):
        same = house.reflect("x", ground, metadata={"entity_id": "Alice"}, entity_id="alice")
        assert (same.entity_id, caplog.messages) == ("alice", [])
        other = house.reflect("x", ground, metadata={"entity_id": "Alice"}, entity_id="b\u0301ob")
    assert (other.entity_id, other.row.metadata) == ("alice", {"entity_id": "Alice"})
    (warning,) = caplog.messages
    assert "'Alice'" in warning and "metadata wins" in warning


@pytest.mark.requirement("S3-30")
@given(blank=st.sampled_from(["", " ", "\t\r\n", "\u3000", "\u00a0 ", None]), spelling=st.sampled_from(["Al", " Al "]))
def test_values_are_trimmed_and_blank_ones_fall_through(blank: str | None, spelling: str):
    for metadata, entity_id, title in (
        ({"entity_id": blank}, spelling, "x"),
        ({"entity_id": blank}, blank, f"[entity:{spelling}]"),
        ({"entity_id": spelling}, blank, "[entity:]"),
        (None, blank, f"[entity: ] then [entity:{spelling}]"),
    ):
        found, stated = bind(title, metadata, entity_id)
        assert found == "Al"
        assert stated is not None
        assert stated["entity_id"] == "Al"
        assert bind(title, stated) == (found, stated)


def test_the_binding_changes_no_metadata_it_was_given():
    given_ = {"entity_id": " Al ", "k": [1]}
    assert bind("x", given_) == ("Al", {"entity_id": "Al", "k": [1]})
    assert given_ == {"entity_id": " Al ", "k": [1]}
    assert bind("[entity:Al]", ["no object"]) == ("Al", ["no object"])  # type: ignore[arg-type]
    assert bind(None, {"entity_id": ""}) == (None, {"entity_id": ""})


@pytest.mark.requirement("S3-44")
@pytest.mark.parametrize("id", ["a\u200bb", "a\nb", "x" * 129, "é" * 65, "al\u0456ce", 7, ["alice"]])
@pytest.mark.parametrize("place", ["metadata", "parameter"])
def test_an_entity_id_out_of_form_is_refused_wherever_it_stands(house: House, id: object, place: str):
    ground = house.remember("Seen.")
    options = {"metadata": {"entity_id": id}} if place == "metadata" else {"entity_id": id}
    with pytest.raises(Invalid) as failed:
        house.reflect("x", ground, **options)
    assert failed.value.details["fields"].keys() == {"entity_id"}


@pytest.mark.requirement("S3-44")
def test_an_entity_id_out_of_form_in_the_title_is_refused(house: House):
    ground = house.remember("Seen.")
    with pytest.raises(Invalid, match="129 bytes"):
        house.reflect("x", ground, title=f"[entity:{'x' * 129}]")
    assert house.reflect("x", ground, title=f"[entity:{'x' * 129}]", entity_id="alice").entity_id == "alice"


@pytest.mark.requirement("S3-27")
def test_the_entity_is_resolved_when_written_and_again_by_the_same_resolver(house: House):
    ground = house.remember("Seen.")
    before = house.reflect("x", ground, entity_id="Ally").row
    house.write(entities.alias, house.ann, "ally", "Alice")
    after = house.reflect("x", ground, entity_id="ＡＬＬＹ").row
    assert (before.mentioned_entity_id, after.mentioned_entity_id) == ("ally", "alice")
    assert after.metadata == {"entity_id": "ＡＬＬＹ"}
    with house.db.read() as r:
        spelling, _ = bind(before.title, before.metadata)
        assert entities.resolve(r, spelling or "", "global").entity_id == "alice"
        assert entities.ids_of(r, "alice", "global") == {"alice", "ally"}
        assert r.query("SELECT 1 FROM duckdb_indexes() WHERE index_name = 'idx_memories_mentioned_entity'")
    assert house.read(memories.list_, house.ann, entity="ally") == ([after, before], 2)


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({"trust": "verified", "source": "user"}, "reserved"),
        ({"By": "ann"}, "reserved"),
        ({"persona": {}}, "reserved"),
        ({"confirmed_by": "ann"}, "reserved"),
        ({" k": 1}, "pattern"),
        ({"a\nb": 1}, "control_character"),
        ({"": 1}, "blank"),
        ({7: 1}, "type"),
        ({"k": float("nan")}, "number"),
        ({"k": float("inf")}, "number"),
        ({"k": 2**53}, "number"),
        ({"k": {1, 2}}, "type"),
        ({"k": "a\x00b"}, "nul"),
        ({"k": ["\ud800"]}, "surrogate"),
        ({"k": "x" * limits.METADATA_BYTES}, "too_long"),
        (["k"], "type"),
    ],
)
def test_metadata_that_vouches_for_itself_or_has_no_one_form_is_refused(house: House, metadata: object, code: str):
    ground = house.remember("Seen.")
    with pytest.raises(Invalid) as failed:
        house.reflect("x", ground, metadata=metadata)
    assert failed.value.details["fields"] == {"metadata": code}


def test_metadata_nested_deep_is_refused_and_what_is_given_comes_back(house: House):
    deep: object = "x"
    for _ in range(limits.METADATA_DEPTH):
        deep = {"k": deep}
    with pytest.raises(Invalid, match="nested"):
        house.remember("x", metadata={"k": deep})
    kept = {"n": -0.5, "i": 2**53 - 1, "t": True, "l": [{"b": None}, "", " "], "name": "a column of one's own"}
    row = house.remember("x", metadata=kept)
    assert house.get(row.id).metadata == kept
