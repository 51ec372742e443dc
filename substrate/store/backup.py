"""A backup: one file with a compacted copy of the store, its checkpoint and, by choice, the keys.

It is a compressed tar of `backup.json`, its signature by the store's key, and the files that it lists by size and hash.
Source: docs/spec/audit.md §5.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import re
import secrets
import shutil
import stat
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from audit import canonical, keys
from audit.errors import Conflict, Integrity, Invalid, NotFound, Unavailable
from audit.files import sync, told
from substrate import config
from substrate.store.database import Database
from substrate.store.db import FILE
from substrate.store.file import rewrite_file
from substrate.store.inspection import inspect
from substrate.store.workshop import unlocked, workshop

MANIFEST, SIGNATURE = "backup.json", "backup.sig"
_MEMBER = re.compile(rf"{re.escape(FILE)}|{re.escape(config.FILE)}|keys/[A-Za-z0-9][A-Za-z0-9._-]{{0,127}}")
_SMALL = 1024 * 1024  # bytes of everything but the database file
_CHUNK = 1024 * 1024
_DRAFT = ".ai-memory-backup-"


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a backup says of itself. ``files`` maps a name to its size in bytes and its SHA-256."""

    store_id: str
    sequence: int
    event_hash: str
    checkpoint: str
    made_at: str
    files: dict[str, dict[str, Any]]
    v: int = 1

    @property
    def keys(self) -> list[str]:
        """Name the key files it holds."""
        return sorted(name for name in self.files if name.startswith("keys/"))


def make(db: Database, target: Path, *, with_keys: bool = False) -> tuple[Path, Manifest]:
    """Write a backup of an open store to a file that is not there yet, or under a name of its own into a folder.

    The store is held only while its file is copied; the copy is compacted, packed and verified whole afterwards, and
    only then gets its name. Raises Conflict when the name is taken, Invalid for a place inside the home, Unavailable
    without the key that has to sign it or when the medium is full.
    """
    if not db.ledger.signs:
        raise Unavailable("keys/store.key is missing, so no backup can be signed", hint="put the store's key file back")
    made_at = db.clock()
    place = _place(target, db, made_at)
    with workshop(None if db.read_only else db.home, "backup") as shop:
        raw = shop / "copy"
        raw.mkdir(mode=0o700)
        head, note = db.copy_to(raw)
        rewrite_file(raw / FILE, config.read(db.home).engine)
        sources = {FILE: raw / FILE} | _beside(db.home, with_keys)
        manifest = Manifest(
            store_id=db.store_id,
            sequence=head.sequence,
            event_hash=head.event_hash,
            checkpoint=note,
            made_at=made_at,
            files={
                name: {"size": path.stat().st_size, "sha256": _sha256(path)} for name, path in sorted(sources.items())
            },
        )
        with told(place), _draft(place) as draft:
            _pack(draft, manifest, db.ledger.key, sources)
            (shop / "check").mkdir(mode=0o700)
            with draft.open("rb") as file:
                check(shop / "check", *unpack(file, shop / "check"))
            _name(draft, place)
    return place, manifest


def unpack(source: IO[bytes], folder: Path) -> tuple[Manifest, bytes]:
    """Unpack a backup into an empty private folder, each file of the size and hash its manifest gives.

    Gives the manifest and its signature. Raises Integrity for anything else than what `make` writes.
    """
    try:
        with gzip.GzipFile(fileobj=source) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            data, signature = _member(archive, MANIFEST), _member(archive, SIGNATURE)
            manifest = _read_manifest(data)
            for name, told_of in manifest.files.items():
                _unpack_one(archive, name, told_of, folder)
            if archive.next() is not None:
                raise Integrity("the backup holds more than it lists", hint=_OTHER)
            while packed.read(_CHUNK):  # to the check sum at the end
                pass
    except (tarfile.TarError, zlib.error, EOFError, ValueError) as error:
        raise Integrity(f"this is no whole backup: {error}", hint=_OTHER) from error
    except OSError as error:
        if error.errno is not None:
            raise Unavailable(f"the backup cannot be unpacked: {error.strerror}", hint="check the disk") from error
        raise Integrity(f"this is no whole backup: {error}", hint=_OTHER) from error
    return manifest, signature


_OTHER = "take another backup"


def check(folder: Path, manifest: Manifest, signature: bytes) -> None:
    """Verify an unpacked backup wholly: its log, rows and tree, its checkpoint, and that the store's key signed it."""
    report = inspect(folder, state_dir=folder / "none", notes=[manifest.checkpoint])
    if report.faults:
        raise Integrity(f"the backup does not hold: {report.faults[0].message}", hint=_OTHER)
    if (report.store_id, report.events, report.head) != (manifest.store_id, manifest.sequence, manifest.event_hash):
        raise Integrity("the backup is not of the state it names", hint=_OTHER)
    public = report.public_key
    good = not signature if public is None else keys.verify(public, "export", _bytes(manifest), signature)
    if not good:
        raise Integrity("the backup is not signed by the key of its store: it was changed", hint=_OTHER)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a backup; a symbolic link is refused. Raises NotFound, Invalid, Unavailable."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist", hint="give the file that `ai-memory backup` named") from error
    except OSError as error:
        hint = "give the file itself, not a symbolic link" if path.is_symlink() else "check the path"
        raise Unavailable(f"{path} cannot be read: {error.strerror}", hint=hint) from error
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Invalid(f"{path} is not a file", hint="give the file that `ai-memory backup` named")
        yield file


def _place(target: Path, db: Database, made_at: str) -> Path:
    """Choose the backup's name and refuse places that cannot hold one, before anything is copied."""
    if target.is_symlink():
        raise Invalid(f"{target} is a symbolic link", hint="give the place it leads to")
    if target.is_dir():
        target = target / f"{db.store_id}-{re.sub('[^0-9TZ]', '', made_at)}.backup"
    place = target.parent.resolve() / target.name
    if place.is_relative_to(db.home.resolve()):
        raise Invalid(f"{place} lies in the store's own folder", hint="a backup is lost there with the store")
    if not place.parent.is_dir():
        raise NotFound(f"{place.parent} is no folder", hint="make it first")
    if os.path.lexists(place):
        raise Conflict(f"{place} exists and is not overwritten", hint="choose another name, or move it away")
    return place


def _beside(home: Path, with_keys: bool) -> dict[str, Path]:
    """Give what is kept beside the database file, by its name in the backup; nothing but plain files of ours."""
    found = {config.FILE: home / config.FILE}
    if with_keys:
        found |= {f"keys/{path.name}": path for path in sorted((home / "keys").iterdir())}
    return {
        name: path
        for name, path in found.items()
        if _MEMBER.fullmatch(name) and path.is_file() and not path.is_symlink() and path.stat().st_size <= _SMALL
    }


@contextmanager
def _draft(place: Path) -> Iterator[Path]:
    """Give a new private file beside a place, locked while it is written; take away those of dead writers."""
    for stale in place.parent.glob(f"{_DRAFT}*.new"):
        if unlocked(stale):
            stale.unlink(missing_ok=True)
    draft = place.parent / f"{_DRAFT}{secrets.token_hex(8)}.new"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.fchmod(descriptor, 0o600)
        yield draft
    finally:
        os.close(descriptor)
        draft.unlink(missing_ok=True)


def _pack(draft: Path, manifest: Manifest, key: keys.Key | None, sources: dict[str, Path]) -> None:
    data = _bytes(manifest)
    signature = keys.sign(key, "export", data) if key else b""
    with tarfile.open(draft, "w:gz", compresslevel=1) as archive:
        for name, content in ((MANIFEST, data), (SIGNATURE, signature)):
            archive.addfile(_header(name, len(content)), BytesIO(content))
        for name in manifest.files:
            with sources[name].open("rb") as file:
                archive.addfile(_header(name, manifest.files[name]["size"]), file)
    sync(draft)


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, 0o600
    return header


def _name(draft: Path, place: Path) -> None:
    """Give the finished draft its name, unless that is taken."""
    try:
        os.link(draft, place, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # no hard links there
        with suppress(OSError):
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            draft.rename(place)
            sync(place.parent)
            return
        raise
    sync(place.parent)


def _bytes(manifest: Manifest) -> bytes:
    return canonical.encode(asdict(manifest), limit=_SMALL)


def _read_manifest(data: bytes) -> Manifest:
    try:
        found = canonical.decode(data)
        if not isinstance(found, dict):
            raise ValueError("not an object")
        manifest = Manifest(**found)
    except (Invalid, TypeError, ValueError) as error:
        raise Integrity(f"the backup's manifest cannot be read: {error}", hint=_OTHER) from error
    texts = (manifest.store_id, manifest.event_hash, manifest.checkpoint, manifest.made_at)
    fits = all(isinstance(text, str) for text in texts) and isinstance(manifest.files, dict) and FILE in manifest.files
    if manifest.v != 1 or type(manifest.sequence) is not int or not fits:
        raise Integrity("the backup's manifest is not one this program knows", hint="upgrade ai-memory")
    for name, file in manifest.files.items():
        if not _MEMBER.fullmatch(name) or not isinstance(file, dict) or file.keys() != {"size", "sha256"}:
            raise Integrity("the backup lists a file that is none of ours", hint=_OTHER)
    return manifest


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    """Read the next, small file of a backup."""
    with _next(archive, name, _SMALL) as file:
        return file.read()


def _next(archive: tarfile.TarFile, name: str, most: int | None = None) -> IO[bytes]:
    header = archive.next()
    file = archive.extractfile(header) if header and header.isreg() and header.name == name else None
    if header is None or file is None or (most is not None and header.size > most):
        raise Integrity(f"the backup lacks {name} in its place", hint=_OTHER)
    return file


def _unpack_one(archive: tarfile.TarFile, name: str, told_of: dict[str, Any], folder: Path) -> None:
    to = folder / name
    to.parent.mkdir(mode=0o700, exist_ok=True)
    with _next(archive, name) as file, open(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        shutil.copyfileobj(file, out, _CHUNK)
    if {"size": to.stat().st_size, "sha256": _sha256(to)} != told_of:
        raise Integrity(f"{name} in the backup is not what its manifest says", hint=_OTHER)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
