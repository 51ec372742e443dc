"""One event proved to somebody without the store."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import canonical, checkpoint, event, merkle, proof
from tests.audit.logs import Log, key

LOG = Log(key(1)).fill(9)


def prove(log, sequence, public_key=None, **options):
    path = merkle.inclusion_path(sequence - 1, len(log.rows), log.get)
    _, body, signature, _ = log.rows[sequence - 1]
    return proof.make(body, signature, path, log.note(), public_key or log.genesis_key, **options)


PROOF = prove(LOG, 4)


def changed(**fields):
    return canonical.encode(json.loads(PROOF) | fields)


@pytest.mark.parametrize("sequence", range(1, 10))
def test_every_event_can_be_proved(sequence):
    verdict = proof.check(prove(LOG, sequence))
    assert verdict.ok and verdict.reasons == ()
    assert verdict.event == event.parse(LOG.rows[sequence - 1][1])
    assert verdict.checkpoint == LOG.checkpoint()
    assert verdict.attest_level == "self_signed" and not verdict.pinned


def test_a_proof_survives_an_editor_and_a_mail():
    assert proof.check(PROOF.encode() + b"\n").ok and proof.check(PROOF + "\r\n").ok


def test_a_key_known_from_elsewhere_is_compared():
    assert proof.check(PROOF, pinned_key=key(1).public).pinned
    verdict = proof.check(PROOF, pinned_key=key(2).public)
    assert not verdict.ok and "another key" in verdict.reasons[0]


def test_a_store_without_a_key_proves_the_place_and_says_unsigned():
    log = Log(None).fill(5)
    verdict = proof.check(prove(log, 3))
    assert verdict.ok and verdict.attest_level == "unsigned" and verdict.checkpoint_key is None
    assert not proof.check(prove(log, 3), pinned_key=key(1).public).ok


def test_an_event_from_before_a_rotation_or_a_fork_can_be_proved():
    log = Log(key(1)).fill(4)
    log.rotate(key(2))
    log.fork("sto-9")
    log.fill(8)
    old = prove(log, 3, key(1).public, checkpoint_key=key(2).public)
    assert proof.check(old, pinned_key=key(2).public).ok
    assert proof.check(prove(log, 7, key(2).public)).ok


@settings(max_examples=200)
@given(st.integers(0, len(PROOF) - 1), st.integers(1, 127))
def test_a_proof_with_one_byte_changed_does_not_hold(position, mask):
    data = bytearray(PROOF.encode())
    data[position] ^= mask
    assert not proof.check(bytes(data)).ok


@given(st.binary(max_size=80))
def test_random_bytes_are_no_proof(data):
    assert not proof.check(data).ok


FORGED_LOG = Log(key(2)).fill(9)


@pytest.mark.parametrize(
    "forged",
    {
        "another event": changed(body=canonical.to_base64(LOG.rows[4][1])),
        "another event with its signature": changed(
            body=canonical.to_base64(LOG.rows[4][1]), signature=canonical.to_base64(LOG.rows[4][2])
        ),
        "no signature": changed(signature=None),
        "a signature that is no base64": changed(signature="!"),
        "another key": changed(public_key=key(2).public),
        "no key": changed(public_key=None),
        "no key at all": changed(public_key=None, signature=None, checkpoint_key=None),
        "no key for the checkpoint": changed(
            checkpoint_key=None, checkpoint=checkpoint.unsigned_note(LOG.checkpoint())
        ),
        "another checkpoint key": changed(checkpoint_key=key(2).public),
        "a checkpoint by another key": changed(checkpoint=checkpoint.sign(LOG.checkpoint(), key(2))),
        "the checkpoint of another log": changed(checkpoint=FORGED_LOG.note(), checkpoint_key=key(2).public),
        "a path one short": changed(path=json.loads(PROOF)["path"][1:]),
        "a path that is no base64": changed(path=["x"]),
        "a path of numbers": changed(path=[1]),
        "a path that is no list": changed(path="x"),
        "a checkpoint that is no text": changed(checkpoint=7),
        "a malformed checkpoint": changed(checkpoint="x"),
        "a malformed key": changed(public_key="x"),
        "a malformed body": changed(body="x"),
        "a body that is no event": changed(body=canonical.to_base64(b"{}")),
        "an unknown version": changed(v=2),
        "true for a version": changed(v=True),
        "an unknown field": changed(extra=1),
        "a list": b"[]",
        "a surrogate": "\ud800",
        "too long": b" " * (proof.MAX_BYTES + 1),
    }.items(),
    ids=lambda item: item[0],
)
def test_a_forged_proof_does_not_hold_and_says_why(forged):
    verdict = proof.check(forged[1])
    assert not verdict.ok and verdict.reasons


def test_the_event_of_an_unsigned_store_with_a_signature_beside_it_does_not_hold():
    log = Log(None).fill(3)
    document = json.loads(prove(log, 2)) | {"signature": canonical.to_base64(bytes(64))}
    assert proof.check(canonical.encode(document)).reasons == ("the event is signed, and no key is given",)
