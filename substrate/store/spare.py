"""A spare copy of what the engine overwrites in place, kept beside the file until the engine is through.

When the engine moves its write-ahead log into the file it writes to free blocks and then switches to them with one
small header. But its table of contents shares blocks with the one before, and these it writes again as a whole: a
process killed within that write, or a power cut, leaves a block whose check sum is wrong, and a file that no engine
opens, although nothing in use was changed. With the spare the blocks are put back as they were, and the write-ahead
log, which is still there, is played again.

Source: docs/spec/audit.md §5, docs/adr/0029-blocks-written-in-place-are-spared.md.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Sequence
from pathlib import Path

from audit.files import sync

END = ".spare"
_HEADERS = 3 * 4096  # bytes before the first block of the file: three headers
_LEAD = struct.Struct(">QQ")  # size of a block, count of blocks
_ID = struct.Struct(">Q")


def keep(file: Path, blocks: Sequence[int], size: int) -> None:
    """Copy the headers and some blocks of ``size`` bytes, given by number, and have the disk take the copy."""
    with open(file, "rb") as source:
        parts = [_LEAD.pack(size, len(blocks)), source.read(_HEADERS)]
        for block in blocks:
            source.seek(_HEADERS + block * size)
            parts += [_ID.pack(block), source.read(size)]
    data = b"".join(parts)
    drop(file)
    descriptor = os.open(_place(file), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as target:
        target.write(hashlib.sha256(data).digest() + data)
        target.flush()
        os.fsync(descriptor)
    sync(file.parent)


def drop(file: Path) -> None:
    """Remove the copy."""
    _place(file).unlink(missing_ok=True)


def put_back(file: Path) -> None:
    """Put the blocks back if the engine did not get as far as its header; nobody may have the file open."""
    try:
        descriptor = os.open(_place(file), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    with open(descriptor, "rb") as source:
        data = source.read()
    size, blocks = _LEAD.unpack_from(data, 32) if len(data) > 32 + _LEAD.size + _HEADERS else (0, 0)
    if size and hashlib.sha256(data[32:]).digest() == data[:32]:
        at = 32 + _LEAD.size
        with open(file, "r+b") as target:
            if target.read(_HEADERS) == data[at : at + _HEADERS]:
                at += _HEADERS
                for _ in range(blocks):
                    target.seek(_HEADERS + _ID.unpack_from(data, at)[0] * size)
                    target.write(data[at + _ID.size : at + _ID.size + size])
                    at += _ID.size + size
                target.flush()
                os.fsync(target.fileno())
    drop(file)


def _place(file: Path) -> Path:
    return file.with_name(file.name + END)
