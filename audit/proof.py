"""Prove to somebody without the store that an event is in its log.

A proof is a JSON object: the event's body and signature, the path to the root, the checkpoint with that root, and
the public keys that signed event and checkpoint. Source: docs/spec/audit.md §2.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from audit import attestation, canonical, checkpoint, keys, merkle
from audit.checkpoint import Checkpoint
from audit.errors import AiMemoryError, Invalid
from audit.event import Event, parse

VERSION = 1
MAX_BYTES = 1024 * 1024
_FIELDS = {"v", "body", "signature", "public_key", "path", "checkpoint", "checkpoint_key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Say whether a proof holds and, when it does not, why.

    `event` and `checkpoint` are what the proof is about, as far as they could be read. `attest_level` is `unsigned`,
    `self_signed` or `peer_attested`: then `attester` is who vouches for the event and by which public key; that the key
    is theirs, the proof cannot tell. `pinned` says that the checkpoint's key was compared with one known from
    elsewhere: a proof that holds without that only shows that whoever owns `checkpoint_key` stated it.
    """

    ok: bool
    reasons: tuple[str, ...]
    event: Event | None = None
    checkpoint: Checkpoint | None = None
    checkpoint_key: str | None = None
    attest_level: Literal["unsigned", "self_signed", "peer_attested"] = "unsigned"
    attester: tuple[str, str] | None = None
    pinned: bool = False


def make(
    body: bytes,
    signature: bytes | None,
    path: Sequence[bytes],
    note: str,
    public_key: str | None,
    checkpoint_key: str | None = None,
) -> str:
    """Return the proof of an event as JSON text.

    `path` is its inclusion path in the tree of the checkpoint `note`. `public_key` signed the event, `checkpoint_key`
    the note; leave that out when no rotation lies between them. Both are None in a store without a key.
    """
    document = {
        "v": VERSION,
        "body": canonical.to_base64(body),
        "signature": None if signature is None else canonical.to_base64(signature),
        "public_key": public_key,
        "path": [canonical.to_base64(item) for item in path],
        "checkpoint": note,
        "checkpoint_key": checkpoint_key or public_key,
    }
    return canonical.encode(document).decode()


def check(proof: str | bytes, *, pinned_key: str | None = None) -> Verdict:
    """Verify a proof by itself, without a database; anything malformed is a verdict too, not an error.

    `pinned_key` is the public key the checkpoint has to be signed by, known from elsewhere.
    """
    try:
        document = _read(proof)
        body = canonical.from_base64(document["body"])
        event = parse(body)
        claim = checkpoint.parse(document["checkpoint"], None)
    except AiMemoryError as error:
        return Verdict(ok=False, reasons=(f"the proof cannot be read: {error}",))
    key, signer = document["checkpoint_key"], document["public_key"]
    attester = attestation.attester(event)
    reasons = [
        *([] if attester or attestation.FIELD not in event.payload else ["the event's attestation is bad"]),
        *_check_event(event, body, document["signature"], signer),
        *_check_checkpoint(document["checkpoint"], claim, key, signer),
        *_check_path(body, event.seq, document["path"], claim),
    ]
    if pinned_key is not None and key != pinned_key:
        reasons.append("the checkpoint is signed by another key than the one expected")
    return Verdict(
        ok=not reasons,
        reasons=tuple(reasons),
        event=event,
        checkpoint=claim,
        checkpoint_key=key,
        attest_level="peer_attested" if attester else "self_signed" if signer else "unsigned",
        attester=attester,
        pinned=pinned_key is not None,
    )


def _read(proof: str | bytes) -> dict[str, Any]:
    """Return the document of a proof; a trailing newline, as an editor leaves it, is allowed."""
    try:
        data = proof.encode() if isinstance(proof, str) else proof
    except UnicodeEncodeError as error:
        raise Invalid("not UTF-8") from error
    document = canonical.decode(data.rstrip(b"\r\n"), limit=MAX_BYTES)
    if not isinstance(document, dict) or document.keys() != _FIELDS:
        raise Invalid("unknown or missing fields")
    if type(document["v"]) is not int or document["v"] != VERSION:
        raise Invalid("unknown version")
    if not isinstance(document["checkpoint"], str) or not isinstance(document["path"], list):
        raise Invalid("checkpoint is text, path is a list")
    for name in ("public_key", "checkpoint_key"):
        if not (document[name] is None or keys.is_public(document[name])):
            raise Invalid(f"{name} is not a public key")
    return document


def _check_event(event: Event, body: bytes, signature: object, public: str | None) -> list[str]:
    if event.key_id != (keys.key_id(public) if public else None):
        return ["the event names another key"]
    if public is None:
        return [] if signature is None else ["the event is signed, and no key is given"]
    try:
        holds = keys.verify(public, "event", body, canonical.from_base64(signature))
    except Invalid:
        holds = False
    return [] if holds else ["the event's signature is bad"]


def _check_checkpoint(note: str, claim: Checkpoint, public: str | None, signer: str | None) -> list[str]:
    if public is None and signer is not None:
        return ["the event is signed, and no key is given for the checkpoint"]
    try:
        # the origin may be another than the event's store: a fork keeps the events from before it
        checkpoint.parse(note, {claim.origin: public} if public else None)
    except AiMemoryError as error:
        return [str(error)]
    return []


def _check_path(body: bytes, sequence: int, path: list[object], claim: Checkpoint) -> list[str]:
    try:
        hashes = [canonical.from_base64(item) for item in path]
    except Invalid:
        return ["the path is not a list of hashes"]
    leaf = merkle.leaf_hash(body)
    if merkle.verify_inclusion(leaf, sequence - 1, claim.size, hashes, claim.root):
        return []
    return [f"the path does not lead from event {sequence} to the checkpoint's root"]
