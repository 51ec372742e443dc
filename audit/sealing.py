"""Lock a principal's key with a passphrase: the seed in a secretbox, under a key that Argon2id makes of the passphrase.

A sealed key file is one canonical JSON object with `v` 1, `public_key`, `ops` and `mem` (Argon2id's limits, passes and
bytes), `salt` and `box` in base64. It takes the place of the bare seed in the same file. A change in it cannot be told
from a wrong passphrase. Source: docs/spec/audit.md §3.
"""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacl.exceptions import CryptoError
from nacl.exceptions import RuntimeError as NaclError
from nacl.signing import SigningKey

from audit import canonical, files, keys
from audit.canonical import from_base64, to_base64
from audit.errors import Forbidden, Integrity, Invalid, NotFound, Unavailable
from audit.keys import SEED_BYTES, Key, is_public

if TYPE_CHECKING:
    from nacl.secret import SecretBox

VERSION = 1
OPS, MEM = 3, 256 << 20  # libsodium's "moderate"
LEAST_MEM, MOST_OPS, MOST_MEM = 8 << 10, 16, 1 << 30
_SALT, _BOX = 16, SEED_BYTES + 40  # bytes; a box holds a nonce and a tag as well
MIN_CHARS, MAX_BYTES = 12, 1024
_FIELDS = {"v", "public_key", "ops", "mem", "salt", "box"}
_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Sealed:
    """A key of which only the public half can be read."""

    public: str
    ops: int
    mem: int
    salt: bytes
    box: bytes


def load(path: Path) -> Key | Sealed:
    """Return the key kept at `path`, sealed or not.

    Raises `NotFound` when there is none, `Integrity` for a file that others could have changed or that is no key.
    """
    try:
        data = files.read(path, _LIMIT)
    except NotFound:
        return keys.load(path)  # says what to do
    if not data.startswith(b"{") or len(data) == SEED_BYTES:
        return keys.load(path)
    try:
        return _parsed(canonical.decode(data))
    except Invalid as error:
        raise Integrity(f"{path} is no sealed key: {error.message}", hint="restore it from a backup") from error


def seal(path: Path, key: Key, passphrase: str, *, ops: int = OPS, mem: int = MEM) -> None:
    """Put the sealed key in the place of what is at `path`, at once; the bytes there before are erased.

    Raises `Invalid` for a passphrase that is too short, too long or all of one character.
    """
    salt = secrets.token_bytes(_SALT)
    box = _box(check(passphrase), salt, ops, mem).encrypt(key.seed())
    document = {
        "v": VERSION,
        "public_key": key.public,
        "ops": ops,
        "mem": mem,
        "salt": to_base64(salt),
        "box": to_base64(bytes(box)),
    }
    files.replace(path, canonical.encode(document), erasing=True)


def unseal(path: Path, key: Key) -> None:
    """Put the bare seed in the place of the sealed key at `path`, at once."""
    files.replace(path, key.seed())


def opened(sealed: Sealed, passphrase: str) -> Key:
    """Return the key that a passphrase opens. Raises `Forbidden`, the same for a wrong one and for a changed file."""
    wrong = Forbidden(
        "the passphrase does not open this key",
        hint="check the passphrase; if it is right, the file was changed: restore it from a backup",
        reason="passphrase",
    )
    try:
        box = _box(check(passphrase), sealed.salt, sealed.ops, sealed.mem)
        key = Key(SigningKey(box.decrypt(sealed.box)))
    except (Invalid, CryptoError, ValueError) as error:
        raise wrong from error
    if key.public != sealed.public:
        raise wrong
    return key


def check(passphrase: str) -> bytes:
    """Return the bytes of a passphrase, composed the same whatever keyboard it came from. Raises `Invalid`."""
    word = unicodedata.normalize("NFC", passphrase)
    try:
        data = word.encode()
    except UnicodeEncodeError as error:
        raise Invalid("the passphrase is not text", fields={"passphrase": "encoding"}) from error
    if len(word) < MIN_CHARS or len(set(word)) < 4 or word.isspace() or len(data) > MAX_BYTES:
        raise Invalid(
            f"a passphrase has {MIN_CHARS} characters or more, of at least four kinds, and at most {MAX_BYTES} bytes",
            hint="a few words that only you put together",
            fields={"passphrase": "weak"},
        )
    return data


def _box(word: bytes, salt: bytes, ops: int, mem: int) -> SecretBox:
    from nacl.pwhash import argon2id  # takes time to import, and few commands need it
    from nacl.secret import SecretBox

    try:
        return SecretBox(argon2id.kdf(SecretBox.KEY_SIZE, word, salt, opslimit=ops, memlimit=mem))
    except (NaclError, MemoryError) as error:
        raise Unavailable(f"opening a key takes {mem >> 20} MiB of memory", hint="close something and retry") from error


def _parsed(document: Any) -> Sealed:
    if not isinstance(document, dict) or document.keys() != _FIELDS:
        raise Invalid("unknown or missing fields")
    if type(document["v"]) is not int or document["v"] != VERSION:
        raise Invalid("unknown version", hint="a newer release may have written it")
    if not is_public(document["public_key"]):
        raise Invalid("public_key is not a public key")
    ops, mem = document["ops"], document["mem"]
    if type(ops) is not int or type(mem) is not int:
        raise Invalid("ops or mem is no whole number")
    if not (1 <= ops <= MOST_OPS and LEAST_MEM <= mem <= MOST_MEM):
        raise Invalid("ops or mem is out of bounds")
    salt, box = from_base64(document["salt"]), from_base64(document["box"])
    if len(salt) != _SALT or len(box) != _BOX:
        raise Invalid("salt or box has the wrong size")
    return Sealed(document["public_key"], ops, mem, salt, box)
