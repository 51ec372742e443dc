"""Writing, finding, rewording and closing memories."""

import pytest

from substrate.errors import Conflict, Forbidden, Invalid, NotFound, Refused
from substrate.memory import memories
from substrate.memory.wire import wire
from substrate.scopes import memberships, namespaces
from substrate.scopes.caller import CURATOR, HUB, Caller
from substrate.store.model import LinkRow, MemoryRow, PrincipalRow
from tests.memory.house import ABSENT, House


def test_a_memory_is_a_row_with_its_author_its_time_and_the_number_of_its_event(house: House):
    caller = Caller(house.scout.id, "agent", "scout", instance="a1", session="ses-1")
    row = house.remember("The probe needs the head of the branch.", caller, title="Probe", tags=("probe", "ci"))
    assert house.get(row.id) == row
    assert (row.memory_kind, row.memory_type, row.status, row.origin) == ("observation", "fact", "active", "agent")
    assert (row.by_id, row.by_instance, row.by_session) == (house.scout.id, "a1", "ses-1")
    assert row.created_at == row.updated_at == house.clock()
    assert row.size_bytes == len(row.content or "")
    event = house.events("memory_added")[-1]
    assert (event.seq, event.subject, event.actor) == (row.sequence, row.id, house.scout.id)
    assert [commit[:2] for commit in event.commits] == [("memories", row.id)]


def test_the_wire_shape_holds_every_column_and_the_author_as_one_object(house: House):
    row = house.remember("Tea is at four.", name="tea", sources=[{"kind": "url", "ref": "https://a.example/x"}])
    document = wire(row, derived_from=())
    assert document["by"] == {
        "kind": "human",
        "id": house.ann.id,
        "handle": "ann",
        "instance": None,
        "project": None,
        "session": None,
    }
    assert {"id", "namespace", "memory_kind", "memory_type", "name", "title", "content", "tags", "metadata"} <= set(
        document
    )
    assert (document["tags"], document["deleted"], document["derived_from"]) == ([], None, [])
    assert document["sources"] == [{"kind": "url", "ref": "https://a.example/x"}]
    assert not [key for key in document if key.startswith("by_")]
    assert "derived_from" not in wire(row)


@pytest.mark.requirement("S2-3")
def test_the_same_name_replaces_the_memory_and_keeps_the_old_wording_as_superseded(house: House):
    first = house.remember("Tea is at four.", name="tea")
    second = house.remember("Tea is at five.", name="tea")
    old = house.get(first.id)
    assert (old.status, old.superseded_by, old.content) == ("superseded", second.id, "Tea is at four.")
    assert house.read(memories.get, house.ann, "tea") == second
    with house.db.read() as r:
        assert r.get(LinkRow, second.id, first.id, "supersedes") is not None
    assert [event.type for event in house.events()[-2:]] == ["memory_added", "memory_superseded"]
    assert house.events()[-1].payload["superseded_by"] == second.id


def test_writes_without_a_name_always_make_a_row(house: House):
    assert house.remember("Same words.").id != house.remember("Same words.").id


def test_a_name_in_another_namespace_is_another_memory(house: House):
    here, there = house.remember("Here.", name="x"), house.remember("There.", name="x", namespace="team/alpha")
    assert house.get(here.id).status == "active"
    assert house.read(memories.get, house.ann, "x", namespace="team/alpha") == there
    with pytest.raises(Invalid, match="several namespaces: global, team/alpha"):
        house.read(memories.get, house.ann, "x")


def test_a_handle_in_a_path_stands_for_its_principal(house: House):
    row = house.remember("I like short reviews.", house.scout, namespace="agents/scout", name="reviews")
    assert row.namespace == f"agents/{house.scout.id}"
    assert house.read(memories.get, house.ann, "reviews", namespace="agents/scout") == row


@pytest.mark.requirement("S3-31")
def test_a_plain_write_binds_no_entity(house: House):
    row = house.remember(
        "Alice moved.", entity_id="alice", metadata={"entity_id": "alice"}, title="[entity:alice] moved"
    )
    assert (row.entity_id, row.mentioned_entity_id) == (None, None)
    assert row.metadata == {"entity_id": "alice"}


def test_a_memory_restricted_to_agents_is_for_them_and_for_humans_only(house: House):
    row = house.remember("For Scout.", applies_to=[house.scout.id], name="note")
    assert house.get(row.id, house.scout) == row
    assert house.read(memories.get, house.ben, "note") == row
    for ref in (row.id, "note"):
        with pytest.raises(NotFound, match=f"no memory '{ref}'"):
            house.read(memories.get, house.rook, ref)
    assert house.read(memories.list_, house.rook) == ([], 0)
    with pytest.raises(NotFound, match="no agent"):
        house.remember("For nobody.", applies_to=[house.ann.id])


def test_a_hidden_memory_of_the_same_name_is_not_replaced(house: House):
    hidden = house.remember("For Scout.", applies_to=[house.scout.id], name="note")
    own = house.remember("For everybody.", house.rook, name="note")
    assert house.get(hidden.id).status == "active"
    assert house.read(memories.get, house.rook, "note", namespace="global") == own


def test_an_absent_and_an_unreadable_memory_are_answered_alike(house: House):
    private = house.remember("Mine.", namespace=f"users/{house.ann.id}", name="mine")
    for ref, other in ((private.id, ABSENT), ("mine", "none")):
        answers = []
        for asked in (ref, other):
            with pytest.raises(NotFound) as failed:
                house.read(memories.get, house.ben, asked)
            answers.append(str(failed.value.as_json()).replace(asked, "…"))
        assert answers[0] == answers[1]
    with pytest.raises(NotFound):
        house.read(memories.get, house.ben, "mine", namespace=f"users/{house.ann.id}")
    assert house.read(memories.by_ids, house.ben, [private.id, ABSENT]) == {}


@pytest.mark.parametrize("ref", ["", " ", "a\x00b", "x" * 600, "a\nb", 7])
def test_a_reference_out_of_form_is_refused(house: House, ref: object):
    with pytest.raises(Invalid) as failed:
        house.read(memories.get, house.ann, ref)
    assert failed.value.details["fields"].keys() == {"id"}


def test_what_nobody_may_write_is_refused_before_anything_is_put(house: House):
    with pytest.raises(NotFound):
        house.remember("Yours.", namespace=f"users/{house.ben.id}")
    with pytest.raises(NotFound):
        house.remember("Nowhere.", HUB)
    house.write(namespaces.set_policy, house.ann, "team/alpha", "write", [house.ann.id])
    with pytest.raises(Forbidden):
        house.remember("Mine too?", house.ben, namespace="team/alpha")


def test_listing_pages_newest_first_with_filters_and_a_total(house: House):
    one = house.remember("One.", tags=["a"], namespace="team/alpha")
    two = house.remember("Two.", tags=["a-b"], memory_type="decision")
    three = house.reflect("Three.", one, entity_id="Alice").row
    page = lambda **options: house.read(memories.list_, house.ann, **options)  # noqa: E731
    assert page() == ([three, two, one], 3)
    assert page(limit=1, offset=1) == ([two], 3)
    assert page(tag="a") == ([one], 1)
    assert page(kind="reflection") == ([three], 1)
    assert page(type="decision") == ([two], 1)
    assert page(namespace="team/alpha") == ([one], 1)
    assert page(entity="ALICE") == ([three], 1)
    house.write(memories.retire, house.ann, two.id, "Wrong.")
    assert page() == ([three, one], 2)
    assert [row.id for row in page(include_closed=True)[0]] == [three.id, two.id, one.id]


@pytest.mark.parametrize(
    "options",
    [{"limit": 0}, {"limit": 10**6}, {"offset": -1}, {"offset": 2**63}, {"kind": "note"}, {"type": "x"}, {"tag": "A"}],
)
def test_a_page_out_of_bounds_is_refused(house: House, options: dict[str, object]):
    with pytest.raises(Invalid):
        house.read(memories.list_, house.ann, **options)


def test_listing_an_unreadable_namespace_is_answered_like_an_absent_one(house: House):
    house.remember("Mine.", namespace=f"users/{house.ann.id}")
    answers = []
    for path in (f"users/{house.ann.id}", "users/hum-nobody"):
        with pytest.raises(NotFound) as failed:
            house.read(memories.list_, house.ben, namespace=path)
        answers.append(str(failed.value.as_json()).replace(path, "…"))
    assert answers[0] == answers[1]


def test_an_edit_takes_over_everything_but_the_wording(house: House):
    ground = house.remember("Seen.")
    old = house.reflect("Draft.", ground, entity_id="Alice", tags=("x",), metadata={"k": [1, {"d": None}]}).row
    new = house.write(memories.edit, house.ben, old.id, "Better.")
    assert (new.content, new.title, new.tags, new.metadata) == ("Better.", old.title, ("x",), old.metadata)
    assert (new.memory_kind, new.mentioned_entity_id, new.reflection_depth) == ("reflection", "alice", 1)
    assert new.by_id == house.ben.id
    assert house.read(memories.sources_of, [new.id]) == {new.id: [ground.id]}
    assert house.read(memories.sources_of, []) == {}
    assert house.get(old.id).superseded_by == new.id
    renamed = house.write(memories.edit, house.ann, new.id, "Better.", "Another title")
    assert renamed.title == "Another title"


def test_a_closed_memory_is_neither_edited_nor_retired_again(house: House):
    old = house.remember("Draft.", name="note")
    new = house.write(memories.edit, house.ann, "note", "Better.")
    with pytest.raises(Conflict, match="superseded") as failed:
        house.write(memories.edit, house.ann, old.id, "Other.")
    assert new.id in failed.value.hint
    retired = house.write(memories.retire, house.ann, new.id, "Wrong.")
    assert (retired.status, retired.status_reason, retired.status_by) == ("retired", "Wrong.", house.ann.id)
    assert retired.content == "Better."
    for again in (memories.retire, memories.edit):
        with pytest.raises(Conflict, match="retired"):
            house.write(again, house.ann, new.id, "Again.")
    with pytest.raises(NotFound):
        house.read(memories.get, house.ann, "note")


def test_a_persona_is_not_edited_and_a_retired_one_is_served_no_more(house: House):
    ground = house.reflect("Alice sails.", house.remember("Seen."), entity_id="alice").row
    persona = house.persona("alice", [ground])
    with pytest.raises(Refused, match="persona"):
        house.write(memories.edit, house.ann, persona.id, "Mine.")
    house.write(memories.retire, house.ann, persona.id, "Wrong.")
    with house.db.read() as r:
        (head,) = r.query("SELECT persona_id, version FROM persona_heads")
    assert head == (None, 1)


def test_agents_change_nothing_that_the_curator_wrote(house: House):
    place = f"agents/{house.scout.id}"
    lesson = house.remember("Finished a run.", CURATOR, namespace=place, memory_type="episode", name="run")
    assert lesson.origin == "curator"
    for change in (
        lambda: house.write(memories.edit, house.scout, lesson.id, "Other."),
        lambda: house.write(memories.retire, house.scout, lesson.id, "No."),
        lambda: house.remember("Other.", house.scout, namespace=place, name="run"),
        lambda: house.forget(lesson, house.scout),
    ):
        with pytest.raises(Forbidden):
            change()
    corrected = house.write(memories.edit, house.ann, lesson.id, "Finished a run, badly.")
    assert (corrected.origin, corrected.by_id) == ("curator", house.ann.id)


def test_a_lead_sees_what_the_curator_wrote_about_an_agent_and_nothing_else(house: House):
    led = house.agent("finch", lead=house.ben.id)
    place = f"agents/{led.id}"
    own = house.remember("My own note.", led, namespace=place)
    episode = house.remember("Finished a run.", CURATOR, namespace=place, memory_type="episode")
    assert house.read(memories.list_, house.ben, namespace=place) == ([episode], 1)
    assert list(house.read(memories.by_ids, house.ben, [own.id, episode.id])) == [episode.id]
    assert house.get(episode.id, house.ben) == episode


@pytest.mark.requirement("S1-69", "S1-70")
def test_events_carry_five_keys_and_reach_those_whom_the_place_concerns(house: House):
    project = "projects/acme/site"
    house.write(namespaces.create, house.ann, project)
    for agent in (house.scout, house.rook):
        house.write(memberships.add, house.ann, project, agent.id, role="reviewer")
    house.write(memberships.accept, house.ben, project, house.rook.id)
    places = {
        f"agents/{house.scout.id}": ("agent", house.scout.id, None, house.scout),
        f"{project}/roles/reviewer": ("role", None, "reviewer", house.scout),
        project: ("community", None, None, house.ann),
        f"users/{house.ann.id}": ("user", None, None, house.ann),
        "team/alpha": ("plain", None, None, house.ann),
    }
    told = []
    for place, (store, member, role, caller) in places.items():
        row = house.remember("Something.", caller, namespace=place)
        house.forget(row, caller)
        for event in house.events("memory_added", "memory_deleted")[-2:]:
            assert event.payload.keys() == {"id", "store", "member_id", "role", "by"}
            assert event.payload["by"]["id"] == caller.id
            seen = {key: event.payload[key] for key in ("id", "store", "member_id", "role")}
            assert seen == {"id": row.id, "store": store, "member_id": member, "role": role}
        told.append(house.events("memory_deleted")[-1].audience)
    agent = f"member:{house.scout.id}"
    assert told == [
        (agent, (project, agent), (project, f"member:{house.ann.id}")),
        ((project, "role:reviewer"),),
        ((project, "all"),),
        (f"member:{house.ann.id}",),
        ("all",),
    ]
    house.remember("Mine.", house.rook, namespace=f"agents/{house.rook.id}")
    rook = f"member:{house.rook.id}"
    assert house.events("memory_added")[-1].audience == (rook, (project, rook))


def test_an_unsigned_store_writes_links_nobody_vouches_for(tmp_path):
    from substrate.scopes import principals
    from substrate.store.database import Database

    db = Database.create(tmp_path / "home", state_dir=tmp_path / "state", signed=False)
    with db.write(actor="hub") as tx:
        ann = principals.caller_for(tx, principals.first_human(tx, "ann", None).id)
    with db.write(actor=ann.id) as tx:
        row = memories.remember(tx, ann, "One.")
        made = memories.reflect(tx, ann, "Two", "Two.", sources=[row.id])
        link = tx.get(LinkRow, made.row.id, row.id, "derived_from")
    db.close()
    assert link is not None
    assert (link.attest_level, link.key_id, link.observed_by) == ("unsigned", None, ann.id)


def test_rows_of_one_transaction_see_each_other(house: House):
    with house.db.write(actor=house.ann.id) as tx:
        first = memories.remember(tx, house.ann, "One.", namespace="team/new", name="one")
        second = memories.reflect(tx, house.ann, "Two", "Two.", sources=["one"], namespace="team/new")
        assert memories.list_(tx, house.ann, namespace="team/new") == ([second.row, first], 2)
    with house.db.read() as r:
        assert r.count(MemoryRow) == 2
        assert r.count(PrincipalRow) == 4
