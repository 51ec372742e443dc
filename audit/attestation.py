"""Let a principal vouch for an event with a key of its own, beside the store's.

The attestation stands in the event's payload: who, by which public key, and that key's signature, for a purpose of its
own, over the event without it. So it holds for this event in this place of this log, and the store's key signs it too.
Who was registered with which key, and whose key is sealed, is read from the log. Source: docs/spec/audit.md §1.6, §3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from audit import keys
from audit.errors import Forbidden
from audit.event import Event, body
from audit.keys import Key

FIELD = "attestation"
PURPOSE = "attestation"
_KEYS = {"by", "public_key", "signature"}
_SIGNATURE = re.compile(r"[0-9a-f]{128}").fullmatch
# What a human decides: once its key is sealed, its own signature has to stand under each of these.
_DECISIONS = """
    membership_changed policy_changed claim_pinned key_added key_revoked key_rotated checkpoint_adopted
    rollback_accepted store_forked restored
"""
DECISIONS = frozenset(_DECISIONS.split())


@dataclass(frozen=True, slots=True)
class Witness:
    """A principal with a key of its own at hand."""

    principal_id: str
    key: Key


def attested(event: Event, witness: Witness) -> Event:
    """Return the event with the witness's signature over it in its payload."""
    signature = keys.sign(witness.key, PURPOSE, body(event)).hex()
    said = {"by": witness.principal_id, "public_key": witness.key.public, "signature": signature}
    return replace(event, payload={**event.payload, FIELD: said})


def attester(event: Event) -> tuple[str, str] | None:
    """Return who vouches for the event, as (principal id, public key); None when there is no valid signature.

    Whether the key is that principal's is for `Registry` to say.
    """
    said = event.payload.get(FIELD)
    if not isinstance(said, dict) or said.keys() != _KEYS or not all(isinstance(value, str) for value in said.values()):
        return None
    bare = replace(event, payload={name: value for name, value in event.payload.items() if name != FIELD})
    if not _SIGNATURE(said["signature"]):
        return None
    good = keys.verify(said["public_key"], PURPOSE, body(bare), bytes.fromhex(said["signature"]))
    return (said["by"], said["public_key"]) if good else None


def locked(principal_id: str) -> Forbidden:
    """Make the error of a decision that lacks the signature of somebody whose key is sealed."""
    return Forbidden(
        f"this decides for {principal_id}, whose key is sealed",
        hint="give the passphrase: on a terminal, `ai-memory --passphrase-file FILE …`, or AI_MEMORY_PASSPHRASE_FILE",
        reason="sealed",
        principal_id=principal_id,
    )


def deciders(type: str, actor: str, payload: Mapping[str, Any]) -> set[str]:
    """Return the ids of those whose decision an event is: who acts, and whose own keys or seal it changes."""
    if type not in DECISIONS:
        return set()
    return {actor} | ({payload["principal_id"]} if isinstance(payload.get("principal_id"), str) else set())


@dataclass
class Registry:
    """Know, event by event, which key is whose and whose key is sealed."""

    holders: dict[str, str] = field(default_factory=dict)  # key id to principal id
    sealed: set[str] = field(default_factory=set)

    def holds(self, witness: Witness) -> bool:
        """Tell whether the log knows the witness's key as theirs."""
        return self.holders.get(witness.key.key_id) == witness.principal_id

    def fault(self, event: Event) -> str:
        """Take in the next event; return what is wrong with its attestation, or with the want of one."""
        by = None
        if FIELD in event.payload:
            found = attester(event)
            if found is None:
                return f"the attestation of event {event.seq} is bad"
            by, public = found
            if self.holders.get(keys.key_id(public)) != by:
                return f"event {event.seq} is attested by a key that is not {by[:80]}'s"
        missing = sorted((deciders(event.type, event.actor, event.payload) & self.sealed) - {by})
        self._follow(event)
        return f"event {event.seq} decides for {missing[0]}, whose key is sealed, without it" if missing else ""

    def _follow(self, event: Event) -> None:
        principal, key = event.payload.get("principal_id"), event.payload.get("key_id")
        if not isinstance(principal, str):
            return
        if event.type == "key_added" and isinstance(key, str):
            self.holders.setdefault(key, principal)
        elif event.type == "key_revoked" and isinstance(key, str):
            self.holders.pop(key, None)
        elif event.type == "policy_changed" and event.payload.get("sealed") is True:
            self.sealed.add(principal)
        elif event.type == "policy_changed" and event.payload.get("sealed") is False:
            self.sealed.discard(principal)
