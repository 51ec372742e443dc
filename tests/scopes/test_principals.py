from pathlib import Path

import pytest

from audit import keys
from substrate.errors import Conflict, Forbidden, Invalid, NotFound, Refused
from substrate.scopes import access, credentials, namespaces, principals
from substrate.scopes.caller import CURATOR, Caller
from substrate.store.database import Database
from substrate.store.model import CredentialRow, NamespaceRow, PrincipalRow
from tests.clock import Clock, Ids
from tests.scopes.conftest import Store


@pytest.fixture
def empty(tmp_path: Path) -> Database:
    return Database.create(tmp_path / "home", state_dir=tmp_path / "state", clock=Clock(), new_id=Ids())


def test_the_first_human_needs_nobodys_leave_and_gets_a_scope_and_a_key(empty: Database, tmp_path: Path):
    id = empty.new_id("hum")
    key = keys.create(tmp_path / "home" / "keys" / f"{id}.key")
    with empty.write(actor=id) as tx:
        row = principals.first_human(tx, "ann", key, id=id)
    with empty.read() as r:
        assert row == principals.by_handle_or_id(r, "ann") == principals.by_handle_or_id(r, id)
        assert (row.id, row.kind, row.owner_id) == (id, "human", None)
        assert r.get(NamespaceRow, f"users/{id}") and r.get(NamespaceRow, "global")
        assert principals.authenticate(r, "ann", key) == Caller(id, "human", "ann")
        event = r.events()[-1]
    assert (event.type, event.actor, event.subject, event.namespace) == ("key_added", id, id, f"users/{id}")


def test_there_is_one_first_human(store: Store):
    with pytest.raises(Conflict), store.db.write(actor="hub") as tx:
        principals.first_human(tx, "bob", None)


def test_the_first_human_finds_a_store_the_curator_has_used(empty: Database):
    with empty.write(actor="hub") as tx:
        namespaces.ensure(tx, CURATOR, "global")
        row = principals.first_human(tx, "ann", None)
        access.check(tx, principals.caller_for(tx, row.id), "write", "global")
        assert row.handle == "ann"


def test_the_first_human_of_an_unsigned_store_has_no_key(empty: Database, tmp_path: Path):
    with empty.write(actor="hub") as tx:
        principals.first_human(tx, "ann", None)
    with empty.read() as r, pytest.raises(Forbidden):
        principals.authenticate(r, "ann", keys.create(tmp_path / "k" / "other.key"))


def test_a_human_registers_agents_it_owns_and_other_humans(store: Store):
    with store.db.write(actor=store.ann.id) as tx:
        bob = principals.register(tx, store.ann, "human", "bob")
        builder = principals.register(tx, store.ann, "agent", "builder", lead="bob", public_page=True)
        other = principals.register(tx, store.ann, "agent", "other", owner="bob")
    assert (bob.owner_id, builder.owner_id, other.owner_id) == (None, store.ann.id, bob.id)
    assert builder.lead_id == bob.id and builder.public_page
    with store.db.read() as r:
        assert [row.handle for row in principals.everyone(r)] == ["ann", "bob", "builder", "other", "scout"]
        assert r.get(NamespaceRow, f"agents/{builder.id}") is not None
        event = r.events()[-1]
    assert event.payload == {"principal_id": other.id, "namespace": f"agents/{other.id}"}


def test_a_key_can_be_registered_with_its_principal(store: Store, tmp_path: Path):
    id = store.db.new_id("agt")
    key = keys.create(tmp_path / "home" / "keys" / f"{id}.key")
    with store.db.write(actor=store.ann.id) as tx:
        principals.register(tx, store.ann, "agent", "builder", id=id, public_key=key.public)
    with store.db.read() as r:
        assert principals.authenticate(r, "builder#w1", key) == Caller(id, "agent", "builder", instance="w1")


def test_an_agent_registers_nobody(store: Store):
    for kind in ("human", "agent"):
        with pytest.raises(Forbidden) as refused, store.db.write(actor=store.scout.id) as tx:
            principals.register(tx, store.scout, kind, "another")
        assert refused.value.details == {"reason": "humans_only"}


@pytest.mark.parametrize(
    ("kind", "handle", "terms", "error"),
    [
        ("robot", "bob", {}, Invalid),
        ("human", "ann", {}, Conflict),
        ("human", "bob", {"owner": "ann"}, Invalid),
        ("human", "bob", {"lead": "ann"}, Invalid),
        ("agent", "bob", {"owner": "scout"}, Invalid),
        ("agent", "bob", {"owner": "nobody"}, NotFound),
        ("agent", "bob", {"lead": "nobody"}, NotFound),
        ("agent", "bob", {"public_key": "abc"}, Invalid),
        ("agent", "bob", {"id": "hum-1"}, Invalid),
        ("agent", "bob", {"id": "agt-../x"}, Invalid),
    ],
)
def test_a_registration_that_makes_no_sense_is_refused_and_writes_nothing(
    store: Store, kind: str, handle: str, terms: dict[str, str], error: type[Exception]
):
    with store.db.read() as r:
        before = r.head
    with pytest.raises(error), store.db.write(actor=store.ann.id) as tx:
        principals.register(tx, store.ann, kind, handle, **terms)
    with store.db.read() as r:
        assert r.head == before


def test_an_id_is_registered_once(store: Store):
    with pytest.raises(Conflict), store.db.write(actor=store.ann.id) as tx:
        principals.register(tx, store.ann, "agent", "another", id=store.scout.id)


@pytest.mark.parametrize(
    "handle",
    ["", " ", "Ann", "a b", "-a", "a/b", "a#b", "é", "a\n", "a" * 65, "hum-1", "agt-x", "hub", "curator", "all", None],
)
def test_what_is_no_handle_is_refused_with_a_hint(handle: str):
    with pytest.raises(Invalid) as refused:
        principals.check_handle(handle)
    assert refused.value.hint


def test_the_hint_for_a_bad_handle_proposes_a_good_one():
    with pytest.raises(Invalid) as refused:
        principals.check_handle("Ann Smith")
    assert refused.value.hint.endswith("try 'ann-smith'")


def test_a_retired_principal_stays_known_and_may_nothing(store: Store, tmp_path: Path):
    with store.db.write(actor=store.ann.id) as tx:
        row = principals.retire(tx, store.ann, "scout")
        assert principals.retire(tx, store.ann, "scout") == row
    with store.db.read() as r:
        assert principals.by_handle_or_id(r, "scout").retired_at is not None
        with pytest.raises(Forbidden) as refused:
            principals.caller_for(r, "scout")
        assert refused.value.details == {"reason": "retired"}
        with pytest.raises(NotFound):
            access.check(r, store.scout, "read", "global")
    with pytest.raises(Invalid), store.db.write(actor=store.ann.id) as tx:
        principals.register(tx, store.ann, "agent", "builder", lead="scout")


def test_the_last_human_who_can_act_is_not_retired(store: Store, tmp_path: Path):
    store.human("bob")  # without a key, so nobody can act as Bob
    with pytest.raises(Refused, match="last human") as refused, store.db.write(actor=store.ann.id) as tx:
        principals.retire(tx, store.ann, "ann")
    assert refused.value.details["reason"] == "last_human" and "who add human" in refused.value.hint
    eve = store.register("human", "eve", public_key=keys.create(tmp_path / "eve.key").public)
    with store.db.write(actor=store.ann.id) as tx:
        assert principals.retire(tx, store.ann, "ann").retired_at is not None
    with pytest.raises(Refused, match="last human"), store.db.write(actor=eve.id) as tx:
        principals.retire(tx, eve, "eve")


def test_nobody_is_retired_by_a_stranger(store: Store):
    bob = store.human("bob")
    for ref, error in (("scout", NotFound), ("ann", NotFound)):
        with pytest.raises(error), store.db.write(actor=bob.id) as tx:
            principals.retire(tx, bob, ref)


@pytest.mark.parametrize("ref", ["", "nobody", "hum-nobody", "x" * 5000, "a\x00b", "%", "' OR 1=1 --", None])
def test_an_unknown_principal_is_not_found(store: Store, ref: str):
    with store.db.read() as r, pytest.raises(NotFound):
        principals.by_handle_or_id(r, ref)


def test_a_caller_names_its_instance_and_project(store: Store):
    with store.db.read() as r:
        caller = principals.caller_for(r, "scout#wqe2", project="acme/one", session="ses-4")
    assert caller == Caller(store.scout.id, "agent", "scout", "wqe2", "projects/acme/one", "ses-4")


@pytest.mark.parametrize("ref", ["ann#1", "scout#", "scout#a b", "scout#a#b", "scout#../x"])
def test_only_an_agent_has_instances_with_plain_names(store: Store, ref: str):
    with store.db.read() as r, pytest.raises(Invalid):
        principals.caller_for(r, ref)


def test_another_key_does_not_authenticate(store: Store, tmp_path: Path):
    other = keys.create(tmp_path / "other" / "x.key")
    with store.db.read() as r:
        for ref, key in (("ann", other), ("scout", store.key), (store.scout.id, other)):
            with pytest.raises(Forbidden) as refused:
                principals.authenticate(r, ref, key)
            assert refused.value.details == {"reason": "key"}


def test_a_key_of_one_instance_makes_that_instance_and_no_other(store: Store, tmp_path: Path):
    key = keys.create(tmp_path / "w1" / "x.key")
    with store.db.write(actor=store.ann.id) as tx:
        credentials.add_key(tx, store.ann, store.scout.id, key.public, instance="w1")
    with store.db.read() as r:
        assert principals.authenticate(r, "scout", key).instance == "w1"
        assert principals.authenticate(r, "scout#w1", key).instance == "w1"
        with pytest.raises(Forbidden):
            principals.authenticate(r, "scout#w2", key)


def test_a_revoked_key_no_longer_authenticates(store: Store, tmp_path: Path):
    key = keys.create(tmp_path / "second" / "x.key")
    with store.db.write(actor=store.ann.id) as tx:
        row = credentials.add_key(tx, store.ann, store.ann.id, key.public)
    with store.db.write(actor=store.ann.id) as tx:
        assert principals.authenticate(tx, "ann", key) == store.ann
        revoked = credentials.revoke(tx, store.ann, row.id)
        assert credentials.revoke(tx, store.ann, row.id) == revoked
    with store.db.read() as r:
        with pytest.raises(Forbidden):
            principals.authenticate(r, "ann", key)
        assert r.events()[-1].type == "key_revoked"


def test_a_token_authenticates_and_only_its_hash_is_stored(store: Store):
    with store.db.write(actor=store.ann.id) as tx:
        row, token = credentials.add_token(tx, store.ann, store.scout.id, instance="w1")
    with store.db.read() as r:
        caller = principals.authenticate_token(r, token, project="acme/one")
        assert caller == Caller(store.scout.id, "agent", "scout", "w1", "projects/acme/one")
        assert r.get(CredentialRow, row.id) == row and row.token_sha256 == credentials.digest(token)
        assert all(token not in str(event) for event in r.events())
        for wrong in ("", token + "x", token[:-1], row.token_sha256 or "", "\ud800"):
            with pytest.raises(Forbidden):
                principals.authenticate_token(r, wrong)
    store.db.close()
    assert all(token.encode() not in path.read_bytes() for path in store.folder.rglob("*") if path.is_file())


def test_a_token_without_an_instance_leaves_it_open(store: Store):
    with store.db.write(actor=store.ann.id) as tx:
        _, token = credentials.add_token(tx, store.ann, store.ann.id)
        assert principals.authenticate_token(tx, token) == store.ann


def test_credentials_are_kept_by_the_human_itself_and_the_owner_of_an_agent(store: Store, tmp_path: Path):
    bob = store.human("bob")
    public = keys.create(tmp_path / "k" / "x.key").public
    for caller, id, error in (
        (bob, store.ann.id, NotFound),
        (bob, store.scout.id, NotFound),
        (store.ann, bob.id, NotFound),
        (store.scout, store.scout.id, Forbidden),
        (store.scout, store.ann.id, NotFound),
    ):
        with pytest.raises(error), store.db.write(actor=caller.id) as tx:
            credentials.add_key(tx, caller, id, public)
        with pytest.raises(error), store.db.write(actor=caller.id) as tx:
            credentials.add_token(tx, caller, id)
        with store.db.read() as r, pytest.raises(error):
            credentials.of(r, caller, id)
    with store.db.read() as r:
        assert [row.kind for row in credentials.of(r, store.ann, store.ann.id)] == ["ed25519"]
        assert credentials.of(r, bob, bob.id) == []


def test_a_strangers_credential_looks_absent(store: Store):
    bob = store.human("bob")
    with store.db.read() as r:
        (row,) = credentials.of(r, store.ann, store.ann.id)
    messages = []
    for id in (row.id, "cred-nothing"):
        with pytest.raises(NotFound) as refused, store.db.write(actor=bob.id) as tx:
            credentials.revoke(tx, bob, id)
        messages.append(refused.value.message.replace(id, "…"))
    assert messages[0] == messages[1]


def test_the_last_key_of_a_human_stays(store: Store):
    with store.db.write(actor=store.ann.id) as tx:
        (row,) = credentials.of(tx, store.ann, store.ann.id)
        token, _ = credentials.add_token(tx, store.ann, store.ann.id)
        credentials.revoke(tx, store.ann, token.id)
        with pytest.raises(Refused):
            credentials.revoke(tx, store.ann, row.id)


def test_a_key_belongs_to_one_principal_for_good(store: Store):
    with pytest.raises(Conflict), store.db.write(actor=store.ann.id) as tx:
        credentials.add_key(tx, store.ann, store.scout.id, store.key.public)


def test_credentials_of_nobody_are_not_found(store: Store):
    with pytest.raises(NotFound), store.db.write(actor=store.ann.id) as tx:
        credentials.add_key(tx, store.ann, "agt-nobody", store.key.public)


def test_principals_stand_in_the_signed_log_by_id_only(store: Store):
    with store.db.read() as r:
        rows = r.select(PrincipalRow)
        assert all(row.handle not in str(event.payload) for event in r.events() for row in rows)
