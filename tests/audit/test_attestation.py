"""A principal vouches for an event with a key of its own; both verifiers say whether it holds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from audit import attestation, event, independent, keys, merkle, proof
from audit.attestation import DECISIONS, FIELD, Witness
from audit.event import Event
from audit.export import verify_export, write_export
from audit.verify import verify_log
from tests.audit.logs import Log, key

ANN, BOB = Witness("hum-ann", key(11)), Witness("hum-bob", key(12))


def cast() -> Log:
    """A log in which two humans are registered, each with a key."""
    log = Log(key(1)).fill(2)
    log.register(ANN.principal_id, ANN.key)
    log.register(BOB.principal_id, BOB.key)
    return log


def sealed() -> Log:
    """The same, with the key of one of them sealed."""
    log = cast()
    log.add("policy_changed", payload={"principal_id": "hum-ann", "sealed": True}, actor="hum-ann", witness=ANN)
    return log


def faults(log: Log) -> list[tuple[str, int | None]]:
    """What the first verifier finds, after seeing that the second says the same."""
    exported = list(write_export(log.rows, log.store_id, log.genesis_key, log.note()))
    found, _ = verify_export(exported)
    reason = independent.verify(exported)
    assert (found == []) == (reason == ""), (found, reason)
    return [(fault.kind, fault.sequence) for fault in found]


def test_an_attested_event_holds_and_says_who_vouches():
    log = cast()
    log.add("memory_linked", witness=ANN)
    assert faults(log) == []
    one = event.parse(log.rows[-1][1])
    assert attestation.attester(one) == ("hum-ann", ANN.key.public)
    assert attestation.attester(event.parse(log.rows[0][1])) is None


def test_a_key_that_is_not_theirs_does_not_vouch():
    for witness in (Witness("hum-ann", BOB.key), Witness("hum-ann", key(13)), Witness("hum-eve", key(13))):
        log = cast()
        log.add(witness=witness)
        assert faults(log) == [("attestation", 5)]


def test_a_key_vouches_from_its_registration_to_its_revocation():
    log = Log(key(1))
    log.add(witness=ANN)
    assert faults(log) == [("attestation", 2)]
    log = cast()
    log.add("key_revoked", payload={"principal_id": "hum-ann", "key_id": ANN.key.key_id})
    assert faults(log) == []
    log.add(witness=ANN)
    assert faults(log) == [("attestation", 6)]


def test_a_registered_key_does_not_change_hands():
    log = cast()
    log.register("hum-eve", ANN.key)
    log.add(witness=Witness("hum-eve", ANN.key))
    assert faults(log) == [("attestation", 6)]


CHANGES: dict[str, Callable[[Event], dict[str, Any]]] = {
    "actor": lambda one: {"actor": "hum-bob"},
    "type": lambda one: {"type": "memory_added"},
    "subject": lambda one: {"subject": "mem-other"},
    "namespace": lambda one: {"namespace": "users/hum-ann"},
    "audience": lambda one: {"audience": ("all",)},
    "time": lambda one: {"time": "2026-05-14T09:30:01.000000Z"},
    "payload": lambda one: {"payload": one.payload | {"id": "mem-other"}},
    "public key": lambda one: {"payload": one.payload | {FIELD: one.payload[FIELD] | {"public_key": BOB.key.public}}},
    "by": lambda one: {"payload": one.payload | {FIELD: one.payload[FIELD] | {"by": "hum-bob"}}},
    "signature": lambda one: {"payload": one.payload | {FIELD: one.payload[FIELD] | {"signature": "0" * 128}}},
    "form of the signature": lambda one: {"payload": one.payload | {FIELD: one.payload[FIELD] | {"signature": "x"}}},
    "capitals": lambda one: {
        "payload": one.payload | {FIELD: one.payload[FIELD] | {"signature": one.payload[FIELD]["signature"].upper()}}
    },
    "more": lambda one: {"payload": one.payload | {FIELD: one.payload[FIELD] | {"more": "x"}}},
    "no object": lambda one: {"payload": one.payload | {FIELD: "hum-ann"}},
    "null": lambda one: {"payload": one.payload | {FIELD: None}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_holder_of_the_stores_key_changes_nothing_under_an_attestation(change: Callable[[Event], dict[str, Any]]):
    log = cast()
    log.add("memory_linked", witness=ANN)
    assert faults(log.rewrite(5, lambda one: replace(one, **change(one)))) == [("attestation", 5)]


def test_an_attestation_is_good_for_one_place_in_one_log():
    log = cast()
    one = log.add("memory_linked", witness=ANN)
    said = one.payload[FIELD]
    log.add("memory_linked", payload=one.payload)
    assert faults(log) == [("attestation", 6)]
    other = Log(key(1), "sto-2").fill(2)
    other.register(ANN.principal_id, ANN.key)
    other.register(BOB.principal_id, BOB.key)
    other.add("memory_linked", subject=one.subject, payload=one.payload)
    assert faults(other) == [("attestation", 5)]
    assert said["by"] == "hum-ann"


@pytest.mark.parametrize("purpose", event.PURPOSES)
def test_a_signature_for_another_purpose_is_no_attestation(purpose: str):
    log = cast()
    bare = replace(event.parse(log.rows[-1][1]), seq=5, prev=event.event_hash(log.rows[-1][1]), type="memory_linked")
    signature = keys.sign(ANN.key, purpose, event.body(bare)).hex()
    said = {"by": "hum-ann", "public_key": ANN.key.public, "signature": signature}
    log.add("memory_linked", payload=bare.payload | {FIELD: said}, actor=bare.actor, subject=bare.subject)
    assert faults(log) == ([] if purpose == "attestation" else [("attestation", 5)])


def test_a_witness_does_not_sign_events_and_the_stores_key_vouches_for_nobody():
    log = cast()
    one = log.add(witness=ANN)
    sequence, body, _, key_id = log.rows[-1]
    log.rows[-1] = (sequence, body, keys.sign(ANN.key, "event", body), key_id)
    assert ("signature", one.seq) in faults(log)
    log = cast()
    log.add(witness=Witness("hum-ann", key(1)))
    assert faults(log) == [("attestation", 5)]


@pytest.mark.parametrize("type", sorted(DECISIONS - {"key_rotated", "store_forked"}))
def test_what_somebody_decides_whose_key_is_sealed_needs_their_signature(type: str):
    for witness, fault in ((ANN, []), (BOB, [("attestation", 6)]), (None, [("attestation", 6)])):
        log = sealed()
        log.add(type, actor="hum-ann", witness=witness)
        assert faults(log) == fault
    log = sealed()
    log.add(type, actor="hum-bob")
    log.add("memory_added", actor="hum-ann")
    assert faults(log) == []


def test_rotations_and_forks_of_somebody_whose_key_is_sealed_need_their_signature():
    for type in ("key_rotated", "store_forked"):
        for witness in (ANN, None):
            log = sealed()
            payload = {"store_id": "sto-9"}
            if type == "key_rotated":
                payload = keys.rotation("sto-1", 2, key(1).public, key(2))
            log.add(type, actor="hum-ann", payload=payload, witness=witness)
            log.signer, log.epoch = (key(2), 2) if type == "key_rotated" else (key(1), 1)
            log.store_id = "sto-9" if type == "store_forked" else "sto-1"
            assert faults(log) == ([] if witness else [("attestation", 6)])


@pytest.mark.parametrize("actor", ["hum-bob", "hub", "agt-1"])
def test_nobody_else_breaks_the_seal_or_adds_a_key(actor: str):
    for type, payload in (
        ("policy_changed", {"principal_id": "hum-ann", "sealed": False}),
        ("key_added", {"principal_id": "hum-ann", "key_id": key(13).key_id}),
        ("key_revoked", {"principal_id": "hum-ann", "key_id": ANN.key.key_id}),
    ):
        log = sealed()
        log.add(type, actor=actor, payload=payload)
        assert faults(log) == [("attestation", 6)]


def test_a_seal_that_its_holder_breaks_is_broken():
    log = sealed()
    _, summary = verify_log(log.rows, "sto-1", key(1).public)
    assert summary.registry.sealed == {"hum-ann"}
    log.add("policy_changed", payload={"principal_id": "hum-ann", "sealed": False}, actor="hum-ann", witness=ANN)
    log.add("membership_changed", actor="hum-ann")
    assert faults(log) == []
    _, summary = verify_log(log.rows, "sto-1", key(1).public)
    assert summary.registry.sealed == set()


@pytest.mark.parametrize("value", [None, 1, "true", "", [], {}])
def test_the_verifiers_agree_on_odd_registrations(value: Any):
    for type, payload in (
        ("policy_changed", {"principal_id": "hum-bob", "sealed": value}),
        ("policy_changed", {"principal_id": value, "sealed": True}),
        ("key_added", {"principal_id": value, "key_id": key(13).key_id}),
        ("key_revoked", {"principal_id": "hum-bob", "key_id": value}),
    ):
        log = sealed()
        log.add(type, actor="hum-bob", payload=payload)
        log.add("membership_changed", actor="hum-bob")
        log.add(witness=ANN)
        assert faults(log) == []


def test_a_proof_says_who_vouches_and_refuses_a_bad_attestation():
    log = cast()
    log.add(witness=ANN)
    path = merkle.inclusion_path(4, 5, log.get)
    _, body, signature, _ = log.rows[-1]
    verdict = proof.check(proof.make(body, signature, path, log.note(), key(1).public))
    assert (verdict.ok, verdict.attest_level, verdict.attester) == (True, "peer_attested", ("hum-ann", ANN.key.public))
    bad = log.rewrite(5, lambda one: replace(one, actor="hum-bob"))
    _, body, signature, _ = bad.rows[-1]
    path = merkle.inclusion_path(4, 5, bad.get)
    verdict = proof.check(proof.make(body, signature, path, bad.note(), key(1).public))
    assert verdict.reasons == ("the event's attestation is bad",)
    assert verdict.attest_level == "self_signed"
