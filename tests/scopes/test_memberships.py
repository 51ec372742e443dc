import pytest

from substrate.errors import Forbidden, Invalid, NotFound, Refused
from substrate.scopes import access, memberships, namespaces, principals
from substrate.store.model import MembershipRow
from tests.scopes.conftest import Store
from tests.scopes.test_access import refusal

ONE = "projects/acme/one"


@pytest.fixture
def project(store: Store) -> str:
    with store.db.write(actor=store.ann.id) as tx:
        namespaces.create(tx, store.ann, ONE)
    return ONE


def test_a_member_joins_on_terms_and_changes_them(store: Store, project: str):
    with store.db.write(actor=store.ann.id) as tx:
        first = memberships.add(tx, store.ann, "acme/one", "scout", trust="guest", role="builder", isolated=True)
        second = memberships.add(tx, store.ann, "acme/one", store.scout.id, role="reviewer", proxy_for="ann")
    assert (first.trust, first.role, first.isolated, first.paused) == ("guest", "builder", True, False)
    assert (second.trust, second.role, second.isolated, second.proxy_for) == ("member", "reviewer", False, store.ann.id)
    with store.db.read() as r:
        assert memberships.of(r, store.scout, "acme/one") == [second, r.get(MembershipRow, ONE, store.ann.id)]
        event = r.events()[-1]
    assert event.type == "membership_changed" and event.audience == ((ONE, "all"),)
    assert event.payload == {
        "project": ONE,
        "member_id": store.scout.id,
        "trust": "member",
        "role": "reviewer",
        "scopes": [],
        "paused": False,
        "left": False,
    }


def test_a_change_of_role_changes_what_is_read_and_moves_nothing(store: Store, project: str):
    for role in ("builder", "reviewer"):
        with store.db.write(actor=store.ann.id) as tx:
            memberships.add(tx, store.ann, ONE, "scout", role=role)
    with store.db.read() as r:
        assert isinstance(refusal(r, store.scout, "read", f"{ONE}/roles/builder"), NotFound)
        assert refusal(r, store.scout, "write", f"{ONE}/roles/reviewer") is None
        assert refusal(r, store.ann, "read", f"{ONE}/roles/builder") is None


@pytest.mark.parametrize(
    ("who", "terms", "error"),
    [
        ("scout", {"trust": "boss"}, Invalid),
        ("scout", {"scopes": ["members:admin"]}, Invalid),
        ("bob", {"scopes": ["everything"]}, Invalid),
        ("bob", {"isolated": True}, Invalid),
        ("bob", {"role": "../x"}, Invalid),
        ("bob", {"role": "A"}, Invalid),
        ("bob", {"proxy_for": "scout"}, Invalid),
        ("bob", {"proxy_for": "nobody"}, NotFound),
        ("nobody", {}, NotFound),
        ("gone", {}, Invalid),
    ],
)
def test_terms_that_make_no_sense_are_refused_and_write_nothing(
    store: Store, project: str, who: str, terms: dict[str, object], error: type[Exception]
):
    store.human("bob")
    gone = store.human("gone")
    with store.db.write(actor=gone.id) as tx:
        principals.retire(tx, gone, "gone")
    with store.db.read() as r:
        before = r.head
    with pytest.raises(error), store.db.write(actor=store.ann.id) as tx:
        memberships.add(tx, store.ann, ONE, who, **terms)
    with store.db.read() as r:
        assert r.head == before


def test_only_a_human_with_members_admin_adds_members(store: Store, project: str):
    bob = store.human("bob")
    with pytest.raises(NotFound), store.db.write(actor=bob.id) as tx:
        memberships.add(tx, bob, ONE, "bob")
    with store.db.write(actor=store.ann.id) as tx:
        memberships.add(tx, store.ann, ONE, "bob", trust="owner", scopes=["project:admin"])
        memberships.add(tx, store.ann, ONE, "scout", trust="admin")
    for caller in (bob, store.scout):
        with pytest.raises(Forbidden) as refused, store.db.write(actor=caller.id) as tx:
            memberships.add(tx, caller, ONE, caller.id, trust="owner")
        assert refused.value.details == {"reason": "members_admin_only"}


def test_being_added_by_another_opens_nobodys_memory_before_they_agree(store: Store):
    eve = store.human("eve")
    with store.db.write(actor=eve.id) as tx:
        spy = principals.caller_for(tx, principals.register(tx, eve, "agent", "spy").id)
        namespaces.create(tx, eve, "projects/eve/trap")
        assert memberships.add(tx, eve, "eve/trap", "spy", trust="admin").paused is False
        for handle in ("ann", "scout"):
            assert memberships.add(tx, eve, "eve/trap", handle).paused is True
    with store.db.read() as r:
        for caller in (eve, spy):
            for path in (f"users/{store.ann.id}", f"agents/{store.scout.id}"):
                assert isinstance(refusal(r, caller, "read", path), NotFound)
        assert isinstance(refusal(r, spy, "propose_preferences", f"users/{store.ann.id}"), NotFound)
        assert refusal(r, store.ann, "read", "projects/eve/trap") is None
    for caller in (eve, store.scout):
        with pytest.raises((NotFound, Forbidden)), store.db.write(actor=caller.id) as tx:
            memberships.accept(tx, caller, "eve/trap", "scout")
    with store.db.write(actor=store.ann.id) as tx:
        memberships.accept(tx, store.ann, "eve/trap", "ann")
        row = memberships.accept(tx, store.ann, "eve/trap", "scout")
        assert memberships.accept(tx, store.ann, "eve/trap", "scout") == row and not row.paused
    with store.db.read() as r:
        assert refusal(r, spy, "read", f"users/{store.ann.id}") is None
        assert refusal(r, eve, "read", f"agents/{store.scout.id}") is None


def test_a_change_of_terms_does_not_pause_or_resume_a_member(store: Store, project: str):
    bob = store.human("bob")
    with store.db.write(actor=store.ann.id) as tx:
        assert memberships.add(tx, store.ann, ONE, "bob").paused
        assert memberships.add(tx, store.ann, ONE, "bob", trust="admin").paused
    with store.db.write(actor=bob.id) as tx:
        memberships.accept(tx, bob, ONE, "bob")
    with store.db.write(actor=store.ann.id) as tx:
        assert not memberships.add(tx, store.ann, ONE, "bob", trust="guest").paused


def test_there_is_nothing_to_accept_without_a_membership(store: Store, project: str):
    with pytest.raises(NotFound), store.db.write(actor=store.ann.id) as tx:
        memberships.accept(tx, store.ann, ONE, "scout")


def test_a_member_leaves_by_itself_through_its_owner_or_by_members_admin(store: Store, project: str):
    bob, eve = store.human("bob"), store.human("eve")
    with store.db.write(actor=store.ann.id) as tx:
        for handle in ("bob", "eve", "scout"):
            memberships.add(tx, store.ann, ONE, handle)
    with pytest.raises(Forbidden), store.db.write(actor=eve.id) as tx:
        memberships.leave(tx, eve, ONE, "bob")
    with pytest.raises(Forbidden), store.db.write(actor=store.scout.id) as tx:
        memberships.leave(tx, store.scout, ONE, "scout")
    for caller, handle in ((bob, "bob"), (store.ann, "eve"), (store.ann, "scout")):
        with store.db.write(actor=caller.id) as tx:
            assert memberships.leave(tx, caller, ONE, handle).left_at is not None
    with store.db.read() as r:
        assert [row.principal_id for row in memberships.of(r, store.ann, ONE)] == [store.ann.id]
        for caller in (bob, eve, store.scout):
            assert isinstance(refusal(r, caller, "read", ONE), NotFound)


def test_whoever_left_can_join_again_on_new_terms(store: Store, project: str):
    for _ in range(2):
        with store.db.write(actor=store.ann.id) as tx:
            row = memberships.add(tx, store.ann, ONE, "scout")
        assert row.left_at is None
        with store.db.write(actor=store.ann.id) as tx:
            memberships.leave(tx, store.ann, ONE, "scout")
    with pytest.raises(NotFound), store.db.write(actor=store.ann.id) as tx:
        memberships.leave(tx, store.ann, ONE, "scout")


def test_a_stranger_cannot_tell_a_member_from_nobody(store: Store, project: str):
    eve = store.human("eve")
    messages = []
    for handle in ("ann", "scout"):
        with pytest.raises(NotFound) as refused, store.db.write(actor=eve.id) as tx:
            memberships.leave(tx, eve, ONE, handle)
        messages.append(refused.value.message)
    assert messages[0] == messages[1]
    with store.db.read() as r, pytest.raises(NotFound):
        memberships.of(r, eve, ONE)


def test_a_project_keeps_one_human_with_members_admin(store: Store, project: str):
    bob = store.human("bob")
    with pytest.raises(Refused), store.db.write(actor=store.ann.id) as tx:
        memberships.leave(tx, store.ann, ONE, "ann")
    with pytest.raises(Refused), store.db.write(actor=store.ann.id) as tx:
        memberships.add(tx, store.ann, ONE, "ann", trust="owner", scopes=["project:admin"])
    with store.db.write(actor=store.ann.id) as tx:
        memberships.add(tx, store.ann, ONE, "bob", scopes=["members:admin"])
        memberships.leave(tx, store.ann, ONE, "ann")
    with store.db.read() as r:
        access.check(r, bob, "members", ONE)
