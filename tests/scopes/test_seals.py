"""A human whose key is sealed: every day as before, and no decision without the passphrase."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit import independent, keys
from audit.attestation import Witness, attester
from audit.errors import AiMemoryError, Forbidden, Invalid
from audit.export import write_export
from substrate.actions import audit, memory, registry, scopes, seals
from substrate.home import Memory, key_path
from substrate.store import recovery
from substrate.store.log import iterate_events
from tests.clock import Clock

WORD = "four words of Ann's"


@pytest.fixture
def ann(tmp_path: Path):
    """The first human of a store, with an agent."""
    opened = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="ann")
    scopes.who_add(opened, kind="agent", handle="scout")
    scopes.space_add(opened, path="projects/acme/web")
    yield opened
    opened.close()


def seal(human: Memory, word: str = WORD) -> None:
    seals.seal(human, word, ops=1, mem=8192)


def again(human: Memory) -> Memory:
    """The same human in a process that has seen nothing yet."""
    human.close()
    return Memory.open(human.db.home, state_dir=human.db.ledger.state_dir, human="ann")


def faults(human: Memory) -> list[str]:
    human.db.close()
    with human.db.connection() as connection:  # the command refuses a log that does not hold
        log, rows = human.db.ledger, list(iterate_events(connection))
        lines = list(write_export(rows, log.store_id, log.genesis_key, log.checkpoint(connection)))
    human.db.close()
    found = recovery.verify(human.db.home, state_dir=human.db.ledger.state_dir).faults
    assert (found == ()) == (independent.verify(lines) == "")
    return [fault.kind for fault in found]


DECISIONS: dict[str, Callable[[Memory], Any]] = {
    "policy": lambda m: scopes.space_policy(m, path="global", field="caps.entry_bytes", value=9_000),
    "access": lambda m: scopes.space_access(m, path="projects/acme/web", access="ro"),
    "membership": lambda m: scopes.space_member(m, project="acme/web", principal="scout"),
    "token": lambda m: scopes.who_token(m, principal="ann"),
    "key": lambda m: scopes.who_key(m, principal="ann", public_key="ab" * 32),
    "agent": lambda m: scopes.who_add(m, kind="agent", handle="other"),
    "human": lambda m: scopes.who_add(m, kind="human", handle="ben"),
    "retire": lambda m: scopes.who_retire(m, principal="scout"),
    "rotation": audit.rotate,
    "unseal": seals.unseal,
    "seal anew": seal,
}


@pytest.mark.parametrize("decide", DECISIONS)
def test_a_decision_needs_the_passphrase_and_carries_the_signature(ann: Memory, decide: str):
    seal(ann)
    later = again(ann)
    assert later.witness is None
    with pytest.raises(Forbidden) as caught:
        DECISIONS[decide](later)
    assert (caught.value.details["reason"], caught.value.details["principal_id"]) == ("sealed", ann.caller.id)
    with pytest.raises(Forbidden) as caught:
        later.unlock("not the four words")
    assert caught.value.details["reason"] == "passphrase"
    with later.read() as r:
        before = r.head.sequence
    later.unlock(WORD)
    DECISIONS[decide](later)
    with later.read() as r:
        made = r.events(before)
        vouched = [attester(event) for event in made]
    assert all(found == (ann.caller.id, later.witness.key.public) for found in vouched)
    assert made or decide == "seal anew"
    assert faults(later) == []


def test_what_is_done_every_day_does_not_need_it(ann: Memory):
    seal(ann)
    later = again(ann)
    id = memory.remember(later, text="The ferry runs again.")["id"]
    assert memory.get(later, id=id)["content"] == "The ferry runs again."
    registry.call(later, "entity_add", {"entity": "ferry", "name": "The ferry"})
    registry.call(later, "status")
    with later.read() as r:
        assert [event.payload.get("attestation") for event in r.events()[-2:]] == [None, None]
    assert faults(later) == []


def test_an_agent_with_a_shell_cannot_answer_for_its_owner(ann: Memory):
    """It has the store's key, the folder and the command; it lacks the passphrase."""
    seal(ann)
    path = key_path(ann.db.home, ann.caller.id)
    kept = path.read_bytes()
    path.unlink()
    stranger = keys.create(path)
    with pytest.raises(Forbidden):
        again(ann)
    with pytest.raises(Forbidden), ann.db.write(ann.caller.id) as tx:
        tx.event("policy_changed", subject="global", namespace="global", payload={"namespace": "global"})
    with ann.db.write(ann.caller.id, Witness(ann.caller.id, stranger)) as tx:  # past every check of the program
        tx.event("policy_changed", subject="global", namespace="global", payload={"namespace": "global"})
    path.write_bytes(kept)
    assert faults(ann) == ["attestation"]


def test_an_agent_or_a_weak_word_seals_nothing(ann: Memory):
    with pytest.raises(Invalid):
        seal(ann, "short")
    with pytest.raises(Forbidden):
        seal(ann.as_("scout"))
    with ann.read() as r:
        assert not r.sealed(ann.caller.id)
    assert isinstance(again(ann).witness, Witness)


def test_a_seal_that_died_between_log_and_file_still_signs_and_is_finished_later(
    ann: Memory, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr("audit.sealing.seal", lambda *_, **__: 1 / 0)
        seal(ann)
    later = again(ann)
    scopes.space_access(later, path="projects/acme/web", access="ro")
    with later.read() as r:
        assert attester(r.events()[-1]) is not None
    seal(later)
    assert again(later).witness is None
    assert faults(later) == []


def test_a_key_is_sealed_anew_and_unsealed_by_who_can_open_it(ann: Memory):
    seal(ann)
    later = again(ann)
    later.unlock(WORD)
    seal(later, "four other words")
    later = again(later)
    with pytest.raises(Forbidden):
        later.unlock(WORD)
    later.unlock("four other words")
    seals.unseal(later)
    later = again(later)
    scopes.space_access(later, path="projects/acme/web", access="ro")
    with later.read() as r:
        assert attester(r.events()[-1]) is None
    assert faults(later) == []


def test_a_rollback_is_accepted_with_the_passphrase_alone(ann: Memory, tmp_path: Path):
    seal(ann)
    ann.close()
    home, state = ann.db.home, ann.db.ledger.state_dir
    shutil.copytree(home, tmp_path / "old")
    later = again(ann)
    memory.remember(later, text="What is given up.")
    later.close()
    witness = ann.witness
    assert witness is not None
    for wrong in (None, Witness(ann.caller.id, keys.create(tmp_path / "k" / "x.key")), Witness("hum-x", witness.key)):
        with pytest.raises(Forbidden) as caught:
            recovery.accept_rollback(
                tmp_path / "old", ann.caller.id, Clock(), state_dir=state, witness=lambda wrong=wrong: wrong
            )
        assert caught.value.details["reason"] == "sealed"
    recovery.accept_rollback(tmp_path / "old", ann.caller.id, Clock(), state_dir=state, witness=lambda: witness)
    assert recovery.verify(tmp_path / "old", state_dir=state).ok


def test_a_missing_sealed_key_is_told_as_any_other(ann: Memory):
    seal(ann)
    key_path(ann.db.home, ann.caller.id).unlink()
    with pytest.raises(AiMemoryError, match="is not here"):
        again(ann)
