"""Remember a store's head outside the store, so that an older copy of it is noticed.

The file lies in the user's state directory, `anchors/<store_id>.json`, 0600 in a 0700 folder.
Source: docs/spec/audit.md §2.3 and §2.4.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from enum import Enum
from pathlib import Path

from audit import canonical, files
from audit.checkpoint import MAX_NOTE_BYTES
from audit.errors import Integrity, Invalid, NotFound
from audit.event import is_time

_LIMIT = MAX_NOTE_BYTES + 4096
_HEX64 = re.compile(r"[0-9a-f]{64}").fullmatch
_STORE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}").fullmatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """Hold the head last seen here: its number, its hash, its checkpoint note, and the key the store began with.

    `genesis_key` is None for a store without a key, `verified_at` the time of the last whole verification.
    """

    store_id: str
    sequence: int
    event_hash: str
    checkpoint: str
    genesis_key: str | None
    written_at: str
    verified_at: str | None = None


class Situation(Enum):
    """Name how a store's head stands to its anchor."""

    OK = "ok"
    AHEAD = "ahead"
    UNANCHORED = "unanchored"
    BEHIND = "behind"
    DIVERGED = "diverged"


def path(state_dir: Path, store_id: str) -> Path:
    """Return where the anchor of a store lies."""
    if not _STORE_ID(store_id):
        raise Invalid(f"store id {store_id!r:.80} cannot name a file")
    return state_dir / "anchors" / f"{store_id}.json"


def read(path: Path) -> Anchor | None:
    """Return the anchor kept at `path`, or None when there is none.

    Raises `Integrity` for a malformed one, one of another store, and one that others could have changed.
    """
    if not os.path.lexists(path.parent):  # also where a file stands in the way of the state directory
        return None
    try:
        data = files.read(path, _LIMIT)
    except NotFound:
        return None
    try:
        anchor = from_document(canonical.decode(data))
    except Invalid as error:
        raise Integrity(
            f"the anchor {path} is damaged: {error}", hint="verify the store, then: ai-memory audit adopt"
        ) from error
    if anchor.store_id != path.stem:
        raise Integrity(f"the anchor {path} is of store {anchor.store_id}", hint="somebody moved it; put it back")
    return anchor


def from_document(document: object) -> Anchor:
    """Return the anchor a JSON object stands for; raises `Invalid` for anything else."""
    if not isinstance(document, dict) or document.keys() != {field.name for field in fields(Anchor)}:
        raise Invalid("unknown or missing fields")
    anchor = Anchor(**document)
    _check(anchor)
    return anchor


def write(path: Path, anchor: Anchor) -> None:
    """Replace the anchor at `path`, at once and durably; a failure leaves the old one."""
    _check(anchor)
    files.replace(path, canonical.encode(asdict(anchor), limit=_LIMIT))


def judge(anchor: Anchor | None, head_sequence: int, head_hash: str, hash_at: Callable[[int], str | None]) -> Situation:
    """Tell how the head stands to the anchor; `hash_at` gives the hash of an earlier event of the log, or None.

    AHEAD means that the anchored event is still in its place; that the events after it are validly signed is for
    the caller to verify before it anchors anew.
    """
    if anchor is None:
        return Situation.UNANCHORED
    if anchor.sequence > head_sequence:
        return Situation.BEHIND
    if anchor.sequence == head_sequence:
        return Situation.OK if anchor.event_hash == head_hash else Situation.DIVERGED
    return Situation.AHEAD if hash_at(anchor.sequence) == anchor.event_hash else Situation.DIVERGED


def _check(anchor: Anchor) -> None:
    """Refuse an anchor with a field out of form, naming the field."""
    texts = (anchor.store_id, anchor.event_hash, anchor.checkpoint)
    if not all(isinstance(text, str) for text in texts) or not _STORE_ID(anchor.store_id):
        raise Invalid("store_id, event_hash and checkpoint are text")
    if type(anchor.sequence) is not int or anchor.sequence < 1:
        raise Invalid("sequence is not a whole number from 1")
    keys = (anchor.event_hash,) if anchor.genesis_key is None else (anchor.event_hash, anchor.genesis_key)
    if not all(isinstance(text, str) and _HEX64(text) for text in keys):
        raise Invalid("event_hash or genesis_key is not 64 hex digits")
    times = (anchor.written_at,) if anchor.verified_at is None else (anchor.written_at, anchor.verified_at)
    if not all(is_time(time) for time in times):
        raise Invalid("written_at or verified_at is not a time")
