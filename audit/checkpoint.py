"""State a log's size and root in a note that can be mailed, printed and kept elsewhere.

The format is the C2SP signed note with the tlog-checkpoint text: https://c2sp.org/signed-note and
https://c2sp.org/tlog-checkpoint. The signature is over the text itself. That text starts with the origin
`ai-memory/…`, a pre-authentication encoding with `DSSEv1 `: neither can pass for the other.
Source: docs/spec/audit.md §2.2.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from audit.canonical import from_base64, to_base64
from audit.errors import Integrity, Invalid
from audit.keys import Key, is_public, verify_raw

MAX_NOTE_BYTES = 128 * 1024  # room for sixteen signatures of any kind
_ED25519 = b"\x01"
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII).fullmatch
_KEY_NAME = re.compile(r"[^\s+]+").fullmatch
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]").search


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Hold the size of a log and the root of its tree; `origin` says whose log."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Return the three lines that are signed."""
        return f"{self.origin}\n{self.size}\n{to_base64(self.root)}\n"


def origin(store_id: str) -> str:
    """Return the name under which a store publishes its checkpoints."""
    return f"ai-memory/{store_id}"


def sign(checkpoint: Checkpoint, key: Key) -> str:
    """Return the signed note; the key's name is the checkpoint's origin."""
    unsigned = unsigned_note(checkpoint)
    signature = _key_hash(checkpoint.origin, key.public) + key.sign_raw(checkpoint.text().encode())
    return f"{unsigned}— {checkpoint.origin} {to_base64(signature)}\n"


def unsigned_note(checkpoint: Checkpoint) -> str:
    """Return the note of a store without a key: the text, the blank line, no signature."""
    note = checkpoint.text() + "\n"
    if not _KEY_NAME(checkpoint.origin) or parse(note, None) != checkpoint:
        raise Invalid(f"checkpoint of {checkpoint.origin!r:.80} at {checkpoint.size} cannot be written")
    return note


def parse(note: str, keys: Mapping[str, str] | None) -> Checkpoint:
    """Return the checkpoint of a note after verifying its signatures against `keys`, public keys in hex by name.

    Signatures by other keys are ignored. Raises `Invalid` for a malformed note, and `Integrity` when a signature by
    a known key is bad, or when none is by the known key named like the origin. With `keys` None nothing is
    verified: for a store without a key, or to look before the key is known.
    """
    text, signatures = _split(note)
    checkpoint = _parse_text(text)
    if keys is None:
        return checkpoint
    signers = set()
    for name, blob in signatures:
        public = keys.get(name)
        if public is None or not is_public(public) or blob[:4] != _key_hash(name, public):
            continue
        if not verify_raw(public, text.encode(), blob[4:]):
            raise Integrity(f"the checkpoint's signature by {name} is bad", hint="the note was changed")
        signers.add(name)
    if checkpoint.origin not in signers:
        raise Integrity(
            f"the checkpoint of {checkpoint.origin} is not signed by the key expected here",
            hint="it belongs to another store, or the store's key was replaced",
        )
    return checkpoint


def _split(note: str) -> tuple[str, list[tuple[str, bytes]]]:
    """Return a note's text and its signatures as (key name, key hash + signature)."""
    if len(note) > MAX_NOTE_BYTES or _CONTROL(note) or not _is_unicode(note):
        raise Invalid("not a checkpoint: too long, or with control characters")
    text, blank, lines = note.rpartition("\n\n")
    if not blank or (lines and not lines.endswith("\n")):
        raise Invalid("not a checkpoint: no blank line before the signatures", hint="copy the note whole")
    return text + "\n", [_parse_signature(line) for line in lines.split("\n")[:-1]]


def _parse_signature(line: str) -> tuple[str, bytes]:
    parts = line.split(" ")
    raw = from_base64(parts[-1])
    if len(parts) != 3 or parts[0] != "—" or not _KEY_NAME(parts[1]) or len(raw) < 5:
        raise Invalid(f"not a signature line: {line!r:.80}")
    return parts[1], raw


def _parse_text(text: str) -> Checkpoint:
    """Read the three lines of a checkpoint; further lines are for others and are passed over."""
    lines = text.split("\n")[:-1]
    if len(lines) < 3 or not all(lines):
        raise Invalid("not a checkpoint: three lines are expected before the blank one")
    root = from_base64(lines[2])
    if not _SIZE(lines[1]) or len(root) != 32:
        raise Invalid("not a checkpoint: its size or its root is malformed")
    return Checkpoint(lines[0], int(lines[1]), root)


def _key_hash(name: str, public_hex: str) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + bytes.fromhex(public_hex)).digest()[:4]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
