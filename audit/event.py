"""Describe one event of the log: its fields, its bytes, its hash.

Source: docs/spec/audit.md §1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NoReturn

from audit import canonical
from audit.errors import Invalid

VERSION = 1
GENESIS_PREV = "0" * 64
FIRST_EPOCH = 1
PURPOSES = ("event", "checkpoint", "edge", "key-manifest", "export", "request", "attestation")

_TYPES = """
    memory_added memory_deleted memory_superseded memory_retired soul_changed preferences_changed profile_changed
    rules_changed request_filed request_answered request_withdrawn session_opened session_closed index_shown
    persona_generated plan_applied pass_ended membership_changed key_added key_revoked store_rewritten
    store_created persona_failed persona_refused erased key_rotated checkpoint_adopted rollback_accepted restored
    store_forked entity_changed policy_changed session_redone decision_recorded memory_linked claim_pinned
"""
TYPES = frozenset(_TYPES.split())

Commit = tuple[str, str, str | None]  # table, row id, commitment; None: the row was removed
Target = str | tuple[str, str]  # `all`, `member:<id>`, `role:<role>`, `owner`; or (project, one of these)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Hold what one change says about itself; `payload` holds ids, never text.

    `prev` is the hash of the event before; `commits` binds the rows this change touched, each at most once;
    `state_root` is the root over all rows after it. `key_id` is None in a store without a key.
    """

    v: int = VERSION
    store_id: str
    seq: int
    prev: str
    epoch: int
    key_id: str | None
    time: str
    actor: str
    namespace: str | None
    type: str
    subject: str | None
    payload: dict[str, Any]
    audience: tuple[Target, ...] = ()
    commits: tuple[Commit, ...] = ()
    state_root: str


FIELDS = tuple(field.name for field in fields(Event))
_FIELDS = frozenset(FIELDS)
_OPTIONAL = (str, type(None))
_HEX64 = re.compile(r"[0-9a-f]{64}").fullmatch
_HEX16 = re.compile(r"[0-9a-f]{16}").fullmatch
_TIME = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z", re.ASCII).fullmatch


def body(event: Event) -> bytes:
    """Return the canonical bytes that are hashed, signed and stored, at most 64 KiB.

    Raises `Invalid` for an event that `parse` would not read back.
    """
    _check(event)
    document = {name: getattr(event, name) for name in FIELDS}
    return canonical.encode(document, limit=canonical.MAX_EVENT_BYTES)


def parse(data: bytes) -> Event:
    """Return the event whose body is exactly `data`.

    Fails closed: an unknown version, type or field, a missing field and a value out of form are all `Invalid`.
    """
    document = canonical.decode(data, limit=canonical.MAX_EVENT_BYTES)
    if not isinstance(document, dict):
        _refuse("body", "an object")
    if document.get("v") != VERSION:
        raise Invalid(
            f"event version {document.get('v')!r:.40} is unknown",
            hint="a newer release wrote this store; install it to read the store",
        )
    if document.keys() != _FIELDS:
        odd = sorted(document.keys() ^ _FIELDS)
        raise Invalid(f"event has unknown or missing fields: {', '.join(odd)[:200]}")
    for name in ("audience", "commits"):
        if not isinstance(document[name], list):
            _refuse(name, "a list")
        document[name] = tuple(tuple(item) if isinstance(item, list) else item for item in document[name])
    event = Event(**document)
    _check(event)
    return event


def event_hash(data: bytes) -> str:
    """Return the SHA-256 of a body, in hex."""
    return hashlib.sha256(data).hexdigest()


def pre_authentication(purpose: str, payload: bytes) -> bytes:
    """Return the DSSE pre-authentication encoding: what a signature for `purpose` is made over.

    Raises `Invalid` for a purpose that is not in PURPOSES. Source: docs/spec/audit.md §1.2.
    """
    if purpose not in PURPOSES:
        raise Invalid(f"unknown signature purpose {purpose!r:.40}", hint="one of: " + ", ".join(PURPOSES))
    kind = f"application/vnd.ai-memory.{purpose}+json".encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def payload_hash(event_type: str, payload: Mapping[str, Any], persona: tuple[str, Sequence[str]] | None = None) -> str:
    """Return the hash of what an event is about, in hex.

    A `persona_generated` event is about a persona: give `persona` as (persona id, source ids in footnote order);
    the hash is SHA-256 over these ids, each prefixed with its length in bytes as 8 bytes, big end first. For every
    other type it is SHA-256 over the canonical payload, and `persona` is None. Source: docs/spec/audit.md §1.3.
    """
    if (event_type == "persona_generated") != (persona is not None):
        raise Invalid(f"{event_type}: a persona id and its sources belong to persona_generated, and only there")
    if persona is None:
        return hashlib.sha256(canonical.encode(dict(payload))).hexdigest()
    persona_id, sources = persona
    digest = hashlib.sha256()
    for item in (persona_id, *sources):
        data = item.encode("utf-8")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _check(event: Event) -> None:
    """Refuse an event with a field out of form, naming the field."""
    if type(event.v) is not int or event.v != VERSION:
        _refuse("v", str(VERSION))
    if not isinstance(event.type, str) or event.type not in TYPES:
        raise Invalid(f"unknown event type {event.type!r:.60}", hint="a newer release may have written it")
    if not (_is_count(event.seq) and _is_count(event.epoch)):
        _refuse("seq or epoch", "a whole number from 1")
    if not (_is_hash(event.prev) and _is_hash(event.state_root)):
        _refuse("prev or state_root", "64 hex digits")
    if not (_is_name(event.store_id) and _is_name(event.actor)):
        _refuse("store_id or actor", "text")
    if not (isinstance(event.namespace, _OPTIONAL) and isinstance(event.subject, _OPTIONAL)):
        _refuse("namespace or subject", "text or null")
    if event.key_id is not None and not (isinstance(event.key_id, str) and _HEX16(event.key_id)):
        _refuse("key_id", "16 hex digits or null")
    if not is_time(event.time):
        _refuse("time", "YYYY-MM-DDThh:mm:ss.ffffffZ")
    if not isinstance(event.payload, dict):
        _refuse("payload", "an object")
    if not all(map(_is_target, event.audience)):
        _refuse("audience", "targets, or pairs of project and target")
    if not all(map(_is_commit, event.commits)):
        _refuse("commits", "triples of table, row id and commitment")
    if len({commit[:2] for commit in event.commits}) != len(event.commits):
        _refuse("commits", "one per row")


def is_time(text: object) -> bool:
    """Tell whether `text` is a time of the log's fixed width, in UTC, that exists in the calendar."""
    if not (isinstance(text, str) and _TIME(text)):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HEX64(value) is not None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_target(target: object) -> bool:
    if isinstance(target, tuple):
        return len(target) == 2 and _is_name(target[0]) and _is_name(target[1])
    return _is_name(target)


def _is_commit(commit: object) -> bool:
    if not (isinstance(commit, tuple) and len(commit) == 3):
        return False
    table, row_id, commitment = commit
    return _is_name(table) and isinstance(row_id, str) and (commitment is None or _is_hash(commitment))


def _refuse(field: str, expected: str) -> NoReturn:
    raise Invalid(f"event field {field} is not {expected}", field=field)
