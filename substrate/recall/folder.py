"""Keep an index in a folder beside the database: derived, never the only copy of anything, rebuilt when in doubt.

`manifest` names the other files and their authentication codes; it is written last and replaced whole, so a crash
leaves the index before or after, and files nobody names, which the next writer removes. Everything here runs while the
caller holds the store's file, so that one process at a time writes.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from audit import files
from substrate.errors import NotFound, Unavailable
from substrate.recall import container, vectors
from substrate.recall.container import Damaged
from substrate.recall.segment import Segment
from substrate.recall.state import Part, State, VectorPart
from substrate.recall.vectors import Vectors

NAME = "index"
MANIFEST = "manifest"
KEY = "key"
_KEY_BYTES = 32


def index_key(home: Path) -> bytes:
    """Return the key that index files are authenticated with: drawn from the store's, else kept in the folder.

    Where there is neither and none can be written, a key for this process alone.
    """
    with suppress(NotFound):
        seed = files.read(home / "keys" / "store.key", _KEY_BYTES)
        return hashlib.blake2b(seed, digest_size=_KEY_BYTES, person=b"recall key").digest()
    path = home / NAME / KEY
    with suppress(NotFound):
        return files.read(path, _KEY_BYTES)
    key = secrets.token_bytes(_KEY_BYTES)
    with suppress(Unavailable):
        files.create(path, key)
    return key


def code(folder: Path) -> str:
    """Return the authentication code the manifest ends with, unverified, to see whether it was replaced; "" if none."""
    with suppress(OSError), open(folder / MANIFEST, "rb", opener=files.unblocked) as file:
        file.seek(-container.MAC_BYTES, os.SEEK_END)
        return file.read().hex()
    return ""


def load(folder: Path, key: bytes, known: State) -> State:
    """Return what the folder holds; parts of `known` that it still names are taken over and not read again.

    A folder that is missing or does not verify holds nothing, so that everything is indexed again.
    """
    parts = {part.code: part for part in known.parts if part.file}
    encoded = {part.code: part for part in known.vectors if part.file}
    try:
        meta, arrays, manifest_code = container.read(folder / MANIFEST, key, MANIFEST)
        return State(
            cursor=meta["cursor"],
            event_hash=meta["event_hash"],
            published=meta["cursor"],
            code=manifest_code,
            parts=tuple(
                replace(
                    parts.get(entry["code"]) or _read_segment(folder, key, entry),
                    live=np.unpackbits(arrays[f"live_{number}"], count=entry["count"]).astype(np.bool_),
                )
                for number, entry in enumerate(meta["segments"])
            ),
            model=meta.get("model", ""),
            vectors=tuple(encoded.get(entry["code"]) or _read_vectors(folder, key, entry) for entry in meta["vectors"]),
        )
    except Damaged:
        return State()


def save(folder: Path, key: bytes, state: State) -> State:
    """Write what of the state is in no file, then the manifest, then remove what it no longer names; return the state.

    Raises `Unavailable` when the medium refuses; the folder then holds what it held.
    """
    parts = tuple(part if part.file else _write_segment(folder, key, part) for part in state.parts)
    encoded = tuple(part if part.file else _write_vectors(folder, key, part) for part in state.vectors)
    meta = {
        "cursor": state.cursor,
        "event_hash": state.event_hash,
        "model": state.model,
        "segments": [{"file": part.file, "code": part.code, "count": len(part.segment)} for part in parts],
        "vectors": [{"file": part.file, "code": part.code} for part in encoded],
    }
    live = {f"live_{number}": np.packbits(part.live) for number, part in enumerate(parts)}
    manifest_code = container.write(folder / MANIFEST, key, MANIFEST, meta, live)
    sweep(folder, {part.file for part in parts} | {part.file for part in encoded})
    return replace(state, parts=parts, vectors=encoded, code=manifest_code, published=state.cursor)


def sweep(folder: Path, named: set[str]) -> None:
    """Remove what a crash or an earlier state left in the folder."""
    for path in folder.iterdir():
        if path.name not in {MANIFEST, KEY, *named} and not path.is_dir():
            path.unlink(missing_ok=True)


def erase(home: Path) -> None:
    """Delete the whole index; the next recall builds it again. Raises `Unavailable` when it cannot be deleted."""
    path = home / NAME
    try:
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)
    except OSError as error:
        raise Unavailable(f"{path} cannot be deleted: {error.strerror}", hint="delete the folder by hand") from error


def _read_segment(folder: Path, key: bytes, entry: dict[str, str]) -> Part:
    meta, arrays, found = container.read(folder / entry["file"], key, "segment")
    _expect(entry, found)
    return Part(Segment(arrays, meta["tables"]), np.zeros(0, np.bool_), entry["file"], found)


def _read_vectors(folder: Path, key: bytes, entry: dict[str, str]) -> VectorPart:
    meta, arrays, found = container.read(folder / entry["file"], key, "vectors")
    _expect(entry, found)
    if "codes" in arrays:
        rows = Vectors(meta["model_id"], *(arrays[name] for name in ("ids", "digests", "matrix", "codes")))
    else:  # written before there were codes
        rows = vectors.of(meta["model_id"], arrays["ids"], arrays["digests"], arrays["matrix"])
    return VectorPart(rows, entry["file"], found)


def _expect(entry: dict[str, str], found: str) -> None:
    if entry["code"] != found:
        raise Damaged(f"{entry['file']} is another file than the manifest names")


def _write_segment(folder: Path, key: bytes, part: Part) -> Part:
    name = f"segment-{secrets.token_hex(8)}"
    written = container.write(folder / name, key, "segment", {"tables": part.segment.tables}, part.segment.arrays)
    return replace(part, file=name, code=written)


def _write_vectors(folder: Path, key: bytes, part: VectorPart) -> VectorPart:
    name, rows = f"vectors-{secrets.token_hex(8)}", part.vectors
    arrays = {name: getattr(rows, name) for name in ("ids", "digests", "matrix", "codes")}
    written = container.write(folder / name, key, "vectors", {"model_id": rows.model_id}, arrays)
    return VectorPart(rows, name, written)
