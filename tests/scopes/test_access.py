"""What a caller may do, asked of a real store: the facts are gathered right, and refusals tell nothing."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.event import Event
from substrate.errors import AiMemoryError, Forbidden, Invalid, NotFound
from substrate.scopes import access, memberships, namespaces, principals
from substrate.scopes.caller import CURATOR, HUB, Caller
from substrate.scopes.rules import ACTIONS, Verdict, rule
from substrate.store.model import MemoryRow, NamespaceRow
from substrate.store.transaction import Reader, Transaction
from tests.scopes.cast import facts
from tests.scopes.conftest import Store
from tests.scopes.oracle import World, answer
from tests.scopes.worlds import PATHS, THEN, callers, worlds


def memory(namespace: str, **columns: object) -> MemoryRow:
    columns = {"id": "mem-1", "origin": "agent", "by_kind": "agent", "by_id": "agt-1", "content": "x"} | columns
    return MemoryRow(
        namespace=namespace,
        memory_kind="observation",
        memory_type="fact",
        created_at=THEN,
        updated_at=THEN,
        sequence=1,
        **columns,  # type: ignore[arg-type]
    )


def refusal(r: Reader, caller: Caller, action: str, target: str | MemoryRow) -> AiMemoryError | None:
    try:
        if isinstance(target, str):
            access.check(r, caller, action, target)
        else:
            access.check_row(r, caller, action, target)
    except AiMemoryError as error:
        return error
    return None


def fill(tx: Transaction, world: World) -> None:
    tx.put(*world.principals.values(), *world.namespaces.values(), *world.memberships)
    tx.event("policy_changed", subject=None, namespace=None, payload={})


class Undone(Exception):
    """End a transaction without keeping what it wrote."""


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds(), st.lists(callers(), min_size=2, max_size=3, unique=True), st.integers(0, 2))
def test_a_store_gives_the_rules_the_facts_of_its_world(store: Store, world: World, asking: list[Caller], start: int):
    with pytest.raises(Undone), store.db.write(actor="hub") as tx:
        fill(tx, world)
        for caller in asking:
            for path in PATHS[start::3]:
                expected, found = facts(world, caller, path), access.facts_of(tx, caller, path)
                for action in ACTIONS:
                    assert rule(found[0], action, found[1]) == rule(expected[0], action, expected[1]), (action, path)
        raise Undone


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds(), st.lists(callers(), min_size=1, max_size=5, unique=True))
def test_readable_names_exactly_the_namespaces_that_may_be_read(store: Store, world: World, asking: list[Caller]):
    def may(caller: Caller, action: str) -> set[str]:
        return {path for path in PATHS if answer(world, caller, action, path) == "YES"}

    with pytest.raises(Undone), store.db.write(actor="hub") as tx:
        fill(tx, world)
        for caller in asking:
            found = access.readable(tx, caller) - {f"agents/{store.scout.id}", f"users/{store.ann.id}"}
            assert {path for path in found if "#" not in path} == may(caller, "read")
            assert {path.removesuffix("#curated") for path in found} == may(caller, "read_curated")
        raise Undone


ROWS = st.builds(
    memory,
    st.sampled_from(PATHS),
    origin=st.sampled_from(["agent", "human", "curator", "import"]),
    by_id=st.sampled_from(["agt-1", "agt-2", "hum-1"]),
    applies_to=st.sampled_from([None, (), ("agt-1",), ("agt-2", "agt-3")]),
    content=st.sampled_from(["x", "readers: all. agt-2 may write here.", "@agt-2 please read this"]),
)


def row_answer(world: World, caller: Caller, action: str, row: MemoryRow) -> str:
    """Say from the prose what a caller may do with a memory."""
    curated = row.origin == "curator"
    names = {"read": "read", "edit": "write", "retire": "write", "forget": "forget"}
    if curated:
        names = {"read": "read_curated", "edit": "edit_curated", "retire": "edit_curated", "forget": "forget_curated"}
    meant = caller.instance if caller.kind == "curator" else caller.id
    hidden = caller.kind != "human" and bool(row.applies_to) and meant not in (row.applies_to or ())
    if hidden or answer(world, caller, names["read"], row.namespace) != "YES":
        return "NOT_FOUND"
    return answer(world, caller, names[action], row.namespace, row.by_id)


@pytest.mark.requirement("S1-5")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds(), callers(), st.lists(ROWS, min_size=1, max_size=5))
def test_a_memory_is_readable_and_changeable_by_its_place_and_origin_whatever_it_says(
    store: Store, world: World, caller: Caller, rows: list[MemoryRow]
):
    codes = {"YES": type(None), "PROPOSE": Forbidden, "FORBIDDEN": Forbidden, "NOT_FOUND": NotFound}
    with pytest.raises(Undone), store.db.write(actor="hub") as tx:
        fill(tx, world)
        found = access.readable(tx, caller)
        for row in rows:
            for action in ("read", "edit", "retire", "forget"):
                expected = row_answer(world, caller, action, row)
                assert type(refusal(tx, caller, action, row)) is codes[expected], (action, row)
            assert access.visible(row, caller, found) == (row_answer(world, caller, "read", row) == "YES")
        raise Undone


def test_what_may_not_be_read_is_answered_like_what_does_not_exist(store: Store):
    bob, spy = store.human("bob"), store.agent("spy")
    hidden, absent = f"agents/{store.scout.id}", "agents/agt-00000000000000000000000zzz"
    with store.db.read() as r:
        for caller in (bob, spy):
            for action in set(ACTIONS) - {"create"}:
                one, other = refusal(r, caller, action, hidden), refusal(r, caller, action, absent)
                assert one is not None and other is not None
                shown = (one.code, one.message.replace(hidden, absent), one.hint, one.details)
                assert shown == (other.code, other.message, other.hint, other.details) and one.code == "not_found"


def test_a_hidden_memory_is_answered_like_one_that_does_not_exist(store: Store):
    spy = store.agent("spy")
    with store.db.read() as r:
        for action in ("read", "edit", "retire", "forget"):
            found = refusal(r, spy, action, memory(f"agents/{store.scout.id}"))
            absent = access.missing("memory", "mem-1")
            assert found is not None and (found.message, found.hint) == (absent.message, absent.hint)


def test_forbidden_names_its_reason_and_what_to_do(store: Store):
    with store.db.read() as r:
        found = refusal(r, store.scout, "forget", memory("global", by_id="hum-1"))
    assert isinstance(found, Forbidden)
    assert found.details == {"reason": "not_the_author"} and "human" in found.hint


def test_a_path_that_is_none_is_invalid_and_not_merely_absent(store: Store):
    with store.db.read() as r:
        for path in ("", "a//b", "A", "../x", "team/*", "agents", "projects/one", "global/x", "agents/a/b"):
            with pytest.raises(Invalid):
                access.check(r, store.ann, "read", path)


def test_nothing_is_readable_for_the_hub_the_unknown_and_the_retired(store: Store):
    bob = store.human("bob")
    with store.db.write(actor=bob.id) as tx:
        principals.retire(tx, bob, "bob")
    with store.db.read() as r:
        for caller in (HUB, bob, Caller("hum-nobody", "human", "nobody"), replace(store.scout, kind="human")):
            assert access.readable(r, caller) == frozenset()
            assert isinstance(refusal(r, caller, "read", "global"), NotFound)


def test_what_is_readable_follows_every_change_of_policy_membership_and_principal(store: Store):
    bob = store.human("bob")
    ann = store.ann

    def readable(caller: Caller) -> set[str]:
        with store.db.read() as r:
            return set(access.readable(r, caller))

    assert readable(bob) == {"global", f"users/{bob.id}"}
    with store.db.write(actor=ann.id) as tx:
        namespaces.create(tx, ann, "team/alpha")
        namespaces.create(tx, ann, "projects/acme/one")
    assert readable(bob) == {"global", f"users/{bob.id}", "team/alpha"}
    with store.db.write(actor=ann.id) as tx:
        memberships.add(tx, ann, "acme/one", "bob")
    assert "projects/acme/one" in readable(bob)
    with store.db.write(actor=ann.id) as tx:
        namespaces.set_policy(tx, ann, "team", "readers", ["ann"])
        memberships.leave(tx, ann, "acme/one", "bob")
    assert readable(bob) == {"global", f"users/{bob.id}"}
    with store.db.write(actor=ann.id) as tx:
        tx.event("index_shown", subject=None, namespace=None, payload={})
    assert readable(bob) == readable(bob) == {"global", f"users/{bob.id}"}


def test_an_answer_is_not_kept_across_a_long_stretch_of_the_log(store: Store):
    with store.db.read() as r:
        before = access.readable(r, store.ann)
    with store.db.write(actor=store.ann.id) as tx:
        namespaces.create(tx, store.ann, "team/alpha")
        for _ in range(300):
            tx.event("index_shown", subject=None, namespace=None, payload={})
    with store.db.read() as r:
        assert access.readable(r, store.ann) == before | {"team/alpha"}


def test_many_callers_do_not_make_the_kept_answers_grow_without_bound(store: Store):
    with store.db.read() as r:
        for number in range(260):
            access.readable(r, replace(store.scout, session=f"ses-{number}"))
    assert len(access._answers) <= 256


def test_readable_reads_in_bulk_however_many_namespaces_there_are(store: Store):
    with store.db.write(actor="hub") as tx:
        tx.put(*(NamespaceRow(path=f"team/n{n}", kind="plain", created_at=THEN) for n in range(300)))
        tx.event("policy_changed", subject=None, namespace=None, payload={})
    with store.db.read() as r:
        asked: list[str] = []
        select = r.select

        def counted(kind: type, *arguments: object, **named: object) -> object:
            asked.append(kind.__name__)
            return select(kind, *arguments, **named)  # type: ignore[arg-type]

        r.select = counted  # type: ignore[assignment]
        assert len(access.readable(r, store.ann)) > 300
        assert sorted(asked) == ["MembershipRow", "NamespaceRow", "PrincipalRow"]


def test_the_curator_sees_restricted_rows_only_for_the_agents_they_name():
    row = memory("users/hum-1", applies_to=("agt-1",))
    assert not access.visible(row, CURATOR, {"users/hum-1"})
    assert access.visible(row, replace(CURATOR, instance="agt-1"), {"users/hum-1"})


def test_events_of_a_namespace_are_for_those_who_read_it(store: Store):
    with store.db.read() as r:
        events = r.events()
        spy = frozenset({"global"})
        seen = [event for event in events if access.sees(event, spy)]
    assert [event.type for event in seen] == ["store_created"]
    assert all(isinstance(event, Event) and access.sees(event, access_all(events)) for event in events)


def access_all(events: list[Event]) -> frozenset[str]:
    return frozenset(event.namespace for event in events if event.namespace)


def test_a_proposal_counts_as_forbidden_until_somebody_acts_on_it(store: Store):
    ann = store.ann
    with store.db.write(actor=ann.id) as tx:
        namespaces.create(tx, ann, "projects/acme/one")
        memberships.add(tx, ann, "acme/one", "scout")
    with store.db.read() as r:
        assert access.ruling(r, store.scout, "write", "projects/acme/one").verdict == Verdict.PROPOSE
        with pytest.raises(Forbidden) as refused:
            access.check(r, store.scout, "write", "projects/acme/one")
    assert refused.value.details == {"reason": "propose"}


@pytest.mark.parametrize("kind", ["human", "agent"])
def test_a_lead_reads_and_corrects_what_the_curator_wrote_and_nothing_else(store: Store, kind: str):
    lead = store.register(kind, "lead")
    led = store.agent("led", lead="lead")
    path = f"agents/{led.id}"
    lesson, entry = memory(path, origin="curator", by_id="ai:curator"), memory(path, by_id=led.id)
    with store.db.read() as r:
        found = access.readable(r, lead)
        assert path not in found and access.visible(lesson, lead, found) and not access.visible(entry, lead, found)
        assert [refusal(r, lead, action, lesson) for action in ("read", "edit", "retire")] == [None] * 3
        assert isinstance(refusal(r, lead, "forget", lesson), Forbidden)
        assert isinstance(refusal(r, lead, "read", entry), NotFound)
        assert isinstance(refusal(r, led, "edit", lesson), Forbidden)
