"""Keep arrays in one file that shows whether anybody touched it.

Layout: magic, length of the header, header as JSON (kind, meta, the arrays' names, types, shapes and places), the
arrays at multiples of 64 bytes, a keyed BLAKE2b over everything before. A file that does not verify is `Damaged`; what
it held is derived, so the answer is to build it again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import files

Arrays = Mapping[str, NDArray[Any]]
Contents = tuple[dict[str, Any], dict[str, NDArray[Any]], str]  # meta, arrays, authentication code in hex

_MAGIC = b"aimemix1"  # the format's version is its last byte: another version is Damaged, hence rebuilt
_ALIGN = 64
MAC_BYTES = 32
_LENGTH_BYTES = 8


class Damaged(Exception):
    """An index file is missing, cut, edited, of another format or made under another key."""


def write(path: Path, key: bytes, kind: str, meta: Mapping[str, Any], arrays: Arrays) -> str:
    """Write a file whole or not at all, 0600, synced; return its authentication code in hex.

    Raises `Unavailable` when the medium refuses, and `Integrity` when others can reach the folder.
    """
    data = encode(key, kind, meta, arrays)
    files.replace(path, data)
    return data[-MAC_BYTES:].hex()


def encode(key: bytes, kind: str, meta: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Return the bytes of a file; the last 32 are its authentication code."""
    places: list[tuple[str, str, list[int], int]] = []
    parts: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        padding = -len(data) % _ALIGN
        places.append((name, array.dtype.str, list(array.shape), offset))
        parts += [data, bytes(padding)]
        offset += len(data) + padding
    header = json.dumps({"kind": kind, "meta": meta, "arrays": places}, ensure_ascii=False).encode()
    start = len(_MAGIC) + _LENGTH_BYTES + len(header)
    head = _MAGIC + len(header).to_bytes(_LENGTH_BYTES, "big") + header + bytes(-start % _ALIGN)
    body = b"".join([head, *parts])
    return body + _code(key, body)


def read(path: Path, key: bytes, kind: str) -> Contents:
    """Return a file's meta, its arrays (mapped, read-only) and its authentication code in hex.

    Raises `Damaged` for anything but a file `write` made under this key for this kind.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            data = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
        raise Damaged(f"{path.name}: {error}") from error
    return decode(data, key, kind, path.name)


def decode(data: bytes | mmap.mmap, key: bytes, kind: str, name: str) -> Contents:
    """Return what `encode` put into these bytes; see `read`."""
    view = memoryview(data)
    body, code = view[:-MAC_BYTES], bytes(view[-MAC_BYTES:])
    if bytes(body[: len(_MAGIC)]) != _MAGIC or not hmac.compare_digest(_code(key, body), code):
        raise Damaged(f"{name} is not what was written")
    start = len(_MAGIC) + _LENGTH_BYTES
    length = int.from_bytes(body[len(_MAGIC) : start], "big")
    header = json.loads(bytes(body[start : start + length]))
    if header["kind"] != kind:
        raise Damaged(f"{name} holds a {header['kind']}, not a {kind}")
    first = start + length + -(start + length) % _ALIGN
    arrays = {}
    for array, dtype, shape, offset in header["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        arrays[array] = np.frombuffer(body, dtype, count, first + offset).reshape(shape)
    return header["meta"], arrays, code.hex()


def _code(key: bytes, body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, key=key, digest_size=MAC_BYTES, person=b"recall index").digest()
