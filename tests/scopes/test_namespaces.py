import pytest

from substrate.errors import AiMemoryError, Conflict, Forbidden, Invalid, NotFound, Refused
from substrate.scopes import access, memberships, namespaces, principals
from substrate.scopes.caller import CURATOR, Caller
from substrate.store.model import MembershipRow, MemoryRow, NamespaceRow
from tests.scopes.conftest import Store
from tests.scopes.test_access import memory, refusal

CADENCE = "governance.auto_persona_trigger_every_n_memories"


def project(store: Store, path: str = "projects/acme/one", **members: dict[str, object]) -> None:
    """Make a project of Ann's and let members join it."""
    with store.db.write(actor=store.ann.id) as tx:
        namespaces.create(tx, store.ann, path)
        for handle, terms in members.items():
            memberships.add(tx, store.ann, path, handle, **terms)


def put(store: Store, *rows: MemoryRow) -> None:
    with store.db.write(actor="hub") as tx:
        tx.put(*rows)
        tx.event("memory_added", subject=rows[0].id, namespace=rows[0].namespace, payload={})


def test_an_open_namespace_is_made_by_the_first_write_and_bound_by_its_event(store: Store):
    with store.db.write(actor=store.scout.id) as tx:
        row = namespaces.ensure(tx, store.scout, "team/alpha")
        assert namespaces.ensure(tx, store.scout, "team/alpha") == row and tx.unbound == 1
        tx.event("memory_added", subject="mem-1", namespace="team/alpha", payload={})
    with store.db.read() as r:
        assert r.get(NamespaceRow, "team/alpha") == row
        assert (row.kind, row.access, row.policy) == ("plain", "rw", {})


@pytest.mark.parametrize("path", ["agents/agt-nobody", "users/hum-nobody", "projects/acme/none"])
def test_no_write_makes_an_agent_a_user_or_a_project(store: Store, path: str):
    with pytest.raises(NotFound), store.db.write(actor=store.ann.id) as tx:
        namespaces.ensure(tx, store.ann, path)


def test_a_role_gets_its_namespace_with_its_first_holder_or_writer(store: Store):
    project(store, scout={"role": "builder"})
    with store.db.write(actor=store.ann.id) as tx:
        assert tx.get(NamespaceRow, "projects/acme/one/roles/builder") is not None
        assert namespaces.ensure(tx, store.ann, "projects/acme/one/roles/reviewer").kind == "role"
        with pytest.raises(NotFound):
            namespaces.ensure(tx, store.scout, "projects/acme/one/roles/tester")
        tx.event("policy_changed", subject=None, namespace=None, payload={})


def test_whoever_may_not_write_makes_no_namespace(store: Store):
    with store.db.write(actor=store.ann.id) as tx:
        namespaces.set_policy(tx, store.ann, "team", "write", ["ann"])
    with pytest.raises(Forbidden), store.db.write(actor=store.scout.id) as tx:
        namespaces.ensure(tx, store.scout, "team/alpha")


def test_the_human_who_makes_a_project_gets_both_scopes(store: Store):
    project(store)
    with store.db.read() as r:
        mine = r.get(MembershipRow, "projects/acme/one", store.ann.id)
        assert mine is not None
        assert (mine.trust, mine.scopes, mine.paused) == ("owner", ("members:admin", "project:admin"), False)
        assert r.events()[-1].type == "membership_changed"
        for action in ("write", "forget", "policy", "members"):
            access.check(r, store.ann, action, "projects/acme/one")


def test_an_agent_makes_no_project(store: Store):
    with pytest.raises(Forbidden) as refused, store.db.write(actor=store.scout.id) as tx:
        namespaces.create(tx, store.scout, "projects/acme/one")
    assert refused.value.details == {"reason": "humans_only"}


def test_a_namespace_is_made_once(store: Store):
    with store.db.write(actor=store.ann.id) as tx:
        assert namespaces.create(tx, store.ann, "team/alpha").kind == "plain"
    for path in ("team/alpha", "global"):
        with pytest.raises(Conflict), store.db.write(actor=store.ann.id) as tx:
            namespaces.create(tx, store.ann, path)
    with pytest.raises(Invalid), store.db.write(actor=store.ann.id) as tx:
        namespaces.create(tx, store.ann, "agents/agt-1")


def test_the_list_holds_what_the_caller_may_read(store: Store):
    project(store)
    with store.db.read() as r:
        mine = [row.path for row in namespaces.list_(r, store.ann)]
        agents = [row.path for row in namespaces.list_(r, store.scout)]
    assert mine == [f"agents/{store.scout.id}", "global", "projects/acme/one", f"users/{store.ann.id}"]
    assert agents == [f"agents/{store.scout.id}", "global"]


def test_a_handle_in_a_path_stands_for_its_id(store: Store):
    with store.db.read() as r:
        assert namespaces.resolve(r, "agents/scout") == f"agents/{store.scout.id}"
        assert namespaces.resolve(r, f"users/{store.ann.id}") == f"users/{store.ann.id}"
        assert namespaces.resolve(r, "users/nobody") == "users/nobody"
        assert namespaces.resolve(r, "team/scout") == "team/scout"


def test_policy_and_access_take_a_handle_in_the_path(store: Store):
    with store.db.write(actor=store.ann.id) as tx:
        namespaces.set_policy(tx, store.ann, "agents/scout", CADENCE, 4)
        namespaces.set_access(tx, store.ann, "agents/scout", "ro")
        assert namespaces.effective(tx, store.ann, "agents/scout")[CADENCE] == (4, f"agents/{store.scout.id}")
        row = tx.get(NamespaceRow, f"agents/{store.scout.id}")
    assert row is not None and (row.access, row.policy) == ("ro", {CADENCE: 4})


def test_a_policy_field_is_set_read_and_taken_back(store: Store):
    ann = store.ann
    with store.db.write(actor=ann.id) as tx:
        namespaces.set_policy(tx, ann, "team", CADENCE, 5)
        namespaces.set_policy(tx, ann, "global", CADENCE, 9)
    with store.db.read() as r:
        assert [namespaces.policy(r, path, CADENCE) for path in ("team/alpha", "team", "other", "global")] == [
            5,
            5,
            9,
            9,
        ]
        assert namespaces.policy(r, f"agents/{store.scout.id}", CADENCE) == 9
        assert namespaces.policy(r, "team", "language") is None
        assert namespaces.policy(r, "team", "language", "en") == "en"
        assert namespaces.effective(r, ann, "team")[CADENCE] == (5, "team")
        assert namespaces.effective(r, ann, "team")["readers"] == ("all", None)
        event = r.events()[-2]
    assert (event.type, event.payload) == ("policy_changed", {"namespace": "team", "field": CADENCE})
    with store.db.write(actor=ann.id) as tx:
        assert namespaces.set_policy(tx, ann, "team", CADENCE, None).policy == {}
    with store.db.read() as r:
        assert namespaces.policy(r, "team", CADENCE) == 9


def test_zero_and_false_are_not_mistaken_for_unset(store: Store):
    with store.db.write(actor=store.ann.id) as tx:
        namespaces.set_policy(tx, store.ann, "team", CADENCE, 0)
        assert namespaces.policy(tx, "team", CADENCE, 7) == 0


def test_setting_what_stands_already_records_nothing(store: Store):
    with store.db.write(actor=store.ann.id) as tx:
        namespaces.set_policy(tx, store.ann, "team", CADENCE, 5)
        before = tx.head
        namespaces.set_policy(tx, store.ann, "team", CADENCE, 5)
        namespaces.set_access(tx, store.ann, "team", "rw")
        assert tx.head == before


def test_an_unknown_field_or_a_wrong_value_changes_nothing(store: Store):
    with store.db.read() as r:
        before = r.head
    for field, value in (("governance.auto", 1), (CADENCE, "5"), ("agent_write", "direct")):
        with pytest.raises(Invalid), store.db.write(actor=store.ann.id) as tx:
            namespaces.set_policy(tx, store.ann, "team", field, value)
    with store.db.read() as r:
        assert r.head == before


def test_agents_set_no_policy(store: Store):
    for path in ("global", "team", f"agents/{store.scout.id}"):
        with pytest.raises(Forbidden), store.db.write(actor=store.scout.id) as tx:
            namespaces.set_policy(tx, store.scout, path, CADENCE, 1)
        with pytest.raises(Forbidden), store.db.write(actor=store.scout.id) as tx:
            namespaces.set_access(tx, store.scout, path, "off")


def test_readers_are_named_by_handle_kept_by_id_and_include_whoever_sets_them(store: Store):
    bob = store.human("bob")
    with store.db.write(actor=store.ann.id) as tx:
        row = namespaces.set_policy(tx, store.ann, "team", "readers", ["scout", "ann", store.ann.id])
    assert row.policy == {"readers": sorted([store.ann.id, store.scout.id])}
    with store.db.read() as r:
        access.check(r, store.scout, "write", "team/alpha")
        assert isinstance(refusal(r, bob, "read", "team"), NotFound)
    for listed, error in ((["scout"], Invalid), (["ann", "nobody"], NotFound)):
        with pytest.raises(error), store.db.write(actor=store.ann.id) as tx:
            namespaces.set_policy(tx, store.ann, "team", "readers", listed)


def test_the_roster_reads_an_agent_where_its_owner_says_so(store: Store):
    bob, path = store.human("bob"), f"agents/{store.scout.id}"
    with store.db.read() as r:
        assert isinstance(refusal(r, bob, "read", path), NotFound)
    with store.db.write(actor=store.ann.id) as tx:
        namespaces.set_policy(tx, store.ann, path, "readers", "roster")
    with store.db.read() as r:
        assert refusal(r, bob, "read", path) is None
        assert isinstance(refusal(r, bob, "write", path), Forbidden)
        assert isinstance(refusal(r, Caller("agt-x", "agent", "x"), "read", path), NotFound)


def test_access_holds_beneath_the_path_and_can_be_given_back(store: Store):
    ann = store.ann
    with store.db.write(actor=ann.id) as tx:
        namespaces.create(tx, ann, "team/alpha")
        namespaces.set_access(tx, ann, "team", "ro")
    with store.db.read() as r:
        refused = refusal(r, ann, "write", "team/alpha")
        assert isinstance(refused, Forbidden) and refused.details == {"reason": "read_only"}
        assert refusal(r, ann, "read", "team/alpha") is None
    with store.db.write(actor=ann.id) as tx:
        namespaces.set_access(tx, ann, "team", "off")
    with store.db.read() as r:
        assert isinstance(refusal(r, ann, "read", "team/alpha"), NotFound)
        assert "team/alpha" not in access.readable(r, ann)
    with store.db.write(actor=ann.id) as tx:
        namespaces.set_access(tx, ann, "team", "rw")
        access.check(tx, ann, "write", "team/alpha")
    with pytest.raises(Invalid), store.db.write(actor=ann.id) as tx:
        namespaces.set_access(tx, ann, "team", "open")


@pytest.mark.requirement("S4-41")
def test_write_targets_are_the_users_the_workspaces_and_the_agents_memory(store: Store):
    project(store, scout={})
    with store.db.read() as r:
        ann = principals.caller_for(r, "ann", project="acme/one")
        scout = principals.caller_for(r, "scout", project="acme/one")
        targets = {
            (ann, "user"): f"users/{ann.id}",
            (ann, "current_workspace"): "projects/acme/one",
            (scout, "current_workspace"): "projects/acme/one",
            (scout, "agent"): f"agents/{scout.id}",
        }
        for (caller, target), path in targets.items():
            assert namespaces.target_namespace(caller, target) == path
            access.check(r, caller, "read", path)


@pytest.mark.requirement("S4-41")
def test_a_target_nobody_vouches_for_is_refused(store: Store):
    for caller, target, error in (
        (store.scout, "user", Refused),  # no resolver says which user
        (CURATOR, "user", Refused),
        (store.scout, "current_workspace", Invalid),
        (store.ann, "agent", Invalid),
        (store.ann, "everybody", Invalid),
    ):
        with pytest.raises(error) as refused:
            namespaces.target_namespace(caller, target)
        assert isinstance(refused.value, AiMemoryError) and refused.value.hint


@pytest.mark.requirement("S4-42")
def test_a_user_or_workspace_record_is_one_row_that_every_entitled_agent_reads(store: Store):
    builder = store.agent("builder")
    project(store, scout={}, builder={})
    rows = [
        memory(f"users/{store.ann.id}", id="mem-1", by_kind="human", by_id=store.ann.id),
        memory("projects/acme/one", id="mem-2", by_id=builder.id),
    ]
    put(store, *rows)
    outsider = store.agent("outsider")
    with store.db.read() as r:
        assert r.count(MemoryRow) == 2
        for row in rows:
            for caller in (store.scout, builder):
                assert refusal(r, caller, "read", row) is None
                assert access.visible(row, caller, access.readable(r, caller))
            assert isinstance(refusal(r, outsider, "read", row), NotFound)


@pytest.mark.requirement("S4-43")
def test_a_users_wish_for_one_agent_stays_a_user_record_that_only_this_agent_reads(store: Store):
    builder = store.agent("builder")
    project(store, scout={}, builder={})
    wish = memory(f"users/{store.ann.id}", by_kind="human", by_id=store.ann.id, applies_to=(store.scout.id,))
    put(store, wish)
    with store.db.read() as r:
        assert wish.namespace == namespaces.target_namespace(store.ann, "user")
        for caller, reads in ((store.ann, True), (store.scout, True), (builder, False), (CURATOR, False)):
            assert access.visible(wish, caller, access.readable(r, caller)) is reads
            assert isinstance(refusal(r, caller, "read", wish), type(None) if reads else NotFound)


@pytest.mark.requirement("S4-44")
def test_workspaces_do_not_see_each_other(store: Store):
    bob, builder = store.human("bob"), store.agent("builder")
    project(store, "projects/acme/one", scout={"role": "maker"})
    with store.db.write(actor=bob.id) as tx:
        namespaces.create(tx, bob, "projects/acme/two")
        memberships.add(tx, bob, "acme/two", "builder", role="maker")
    rows = {name: memory(f"projects/acme/{name}", id=f"mem-{name}") for name in ("one", "two")}
    roles = {name: memory(f"projects/acme/{name}/roles/maker", id=f"mem-r{name}") for name in ("one", "two")}
    with store.db.read() as r:
        for caller, own, other in ((store.scout, "one", "two"), (builder, "two", "one")):
            found = access.readable(r, caller)
            for kept in (rows, roles):
                assert access.visible(kept[own], caller, found) and not access.visible(kept[other], caller, found)
                assert isinstance(refusal(r, caller, "read", kept[other]), NotFound)
            assert isinstance(refusal(r, caller, "write", f"projects/acme/{other}"), NotFound)
