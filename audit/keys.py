"""Make, keep and use Ed25519 keys.

A key file is the 32 bytes of the seed and nothing else. Source: docs/spec/audit.md §1.2 and §3.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from nacl import bindings
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey

from audit import canonical, files
from audit.errors import Integrity, NotFound
from audit.event import PURPOSES, pre_authentication

SEED_BYTES = 32
SIGNATURE_BYTES = 64
_SIGNATURE = re.compile(r"[0-9a-f]{128}").fullmatch
_PUBLIC = re.compile(r"[0-9a-f]{64}").fullmatch


class Key:
    """Hold a signing key; `public` is its public half in hex, `key_id` the short name of that."""

    __slots__ = ("_signing", "key_id", "public")

    def __init__(self, signing: SigningKey) -> None:
        self._signing = signing
        self.public = bytes(signing.verify_key).hex()
        self.key_id = key_id(self.public)

    def __repr__(self) -> str:
        return f"Key({self.key_id})"

    def __reduce__(self) -> str:
        raise TypeError("a signing key is not copied or pickled")

    def seed(self) -> bytes:
        """Return the 32 bytes a key file holds, for whoever writes one."""
        return bytes(self._signing)

    def sign_raw(self, message: bytes) -> bytes:
        """Return the 64-byte signature over bare bytes; only a format that separates its own purposes may use it."""
        return self._signing.sign(message).signature


def key_id(public_hex: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of a public key."""
    return hashlib.sha256(bytes.fromhex(public_hex)).hexdigest()[:16]


def is_public(text: object) -> bool:
    """Tell whether `text` has the form of a public key: 64 lower-case hex digits."""
    return isinstance(text, str) and _PUBLIC(text) is not None


def create(path: Path) -> Key:
    """Make a key and keep its seed at `path`: a 0600 file in a 0700 folder, complete or absent after a crash.

    Raises `Conflict` when something is there already, `Integrity` when the folder is not private.
    """
    signing = SigningKey.generate()
    files.create(path, bytes(signing))
    return Key(signing)


def load(path: Path) -> Key:
    """Return the key kept at `path`.

    Raises `NotFound` when there is none, and `Integrity` for a loose mode, a symlink, another owner, a wrong size.
    """
    try:
        seed = files.read(path, SEED_BYTES)
    except NotFound as error:
        raise NotFound(f"no key at {path}", hint="restore it from a backup of the keys folder") from error
    if len(seed) != SEED_BYTES:
        raise Integrity(f"{path} holds {len(seed)} bytes, a key has {SEED_BYTES}", hint="restore it from a backup")
    return Key(SigningKey(seed))


def sign(key: Key, purpose: str, payload: bytes) -> bytes:
    """Return the 64-byte signature over `payload` for one purpose, good for no other."""
    return key.sign_raw(pre_authentication(purpose, payload))


def verify(public_hex: str, purpose: str, payload: bytes, signature: bytes) -> bool:
    """Tell whether `signature` is over `payload`, for `purpose`, by that key; malformed input is False."""
    return purpose in PURPOSES and verify_raw(public_hex, pre_authentication(purpose, payload), signature)


def verify_raw(public_hex: str, message: bytes, signature: bytes) -> bool:
    """Tell whether `signature` is over exactly `message`; malformed input is False.

    libsodium refuses small-order and non-canonical points and S ≥ L; a test runs the twelve speccheck vectors.
    """
    if not is_public(public_hex) or not isinstance(signature, bytes) or len(signature) != SIGNATURE_BYTES:
        return False
    try:
        bindings.crypto_sign_open(signature + message, bytes.fromhex(public_hex))
    except CryptoError:
        return False
    return True


def rotation(store_id: str, epoch: int, previous: str | None, new: Key) -> dict[str, object]:
    """Return the payload of the `key_rotated` event that puts `new` in the place of `previous` from `epoch` on.

    The event is signed by the previous key over the new one; the payload carries the new key's countersignature.
    Source: docs/spec/audit.md §3.
    """
    countersignature = sign(new, "key-manifest", _manifest(store_id, epoch, previous, new.public))
    return {"epoch": epoch, "public_key": new.public, "countersignature": countersignature.hex()}


def rotated(store_id: str, epoch: int, previous: str | None, payload: Mapping[str, object]) -> str | None:
    """Return the public key a `key_rotated` payload puts in place from `epoch` on, or None when it is not valid."""
    public, countersignature = payload.get("public_key"), payload.get("countersignature")
    if payload.get("epoch") != epoch or not isinstance(public, str) or not is_public(public):
        return None
    if not isinstance(countersignature, str) or not _SIGNATURE(countersignature):
        return None
    manifest = _manifest(store_id, epoch, previous, public)
    return public if verify(public, "key-manifest", manifest, bytes.fromhex(countersignature)) else None


def _manifest(store_id: str, epoch: int, previous: str | None, public: str) -> bytes:
    return canonical.encode({"epoch": epoch, "previous": previous, "public_key": public, "store_id": store_id})
