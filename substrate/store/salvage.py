"""What a damaged store still tells: the longest part of its write-ahead log that the engine replays, the rows that are
what the log committed to, and events whose bytes lie somewhere in its files.

Works on a copy; nothing is believed that a hash or a signature does not prove. Source: docs/spec/audit.md §5.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.errors import AiMemoryError, Integrity, Invalid
from audit.event import Event, event_hash, parse
from substrate.store import schema
from substrate.store.commitments import commitment_of
from substrate.store.db import COMPANIONS, FILE, Connection
from substrate.store.log import newest
from substrate.store.model import row_id

_BODY_BYTES = 64 * 1024
_START, _END = b'{"actor":"', b',"v":1}'
_STORE = re.compile(rb'"store_id":"([A-Za-z0-9][A-Za-z0-9_-]{0,127})","subject":')


@dataclass(frozen=True)
class Cut:
    """How a damaged file could be opened: ``log_bytes`` of its write-ahead log were kept, of ``log_size``."""

    log_bytes: int
    log_size: int

    @property
    def whole(self) -> bool:
        """Whether nothing had to be cut away."""
        return self.log_bytes == self.log_size


def openable(folder: Path) -> Cut | None:
    """Make a copied store openable by cutting its write-ahead log where the damage begins; None when nothing helps.

    A log cut at any place opens, and what was whole before the cut is replayed; one that is damaged before it does
    not. So the longest part that opens is found by halving.
    """
    log = folder / f"{FILE}{COMPANIONS[0]}"
    data = log.read_bytes() if log.exists() else b""
    if _opens(folder):
        return Cut(len(data), len(data))
    for end in COMPANIONS[1:]:
        (folder / f"{FILE}{end}").unlink(missing_ok=True)

    def opens_with(length: int) -> bool:
        log.write_bytes(data[:length]) if length else log.unlink(missing_ok=True)
        return _opens(folder)

    if not opens_with(0):
        return None
    good, bad = 0, len(data)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if opens_with(middle) else (good, middle)
    opens_with(good)
    return Cut(good, len(data))


def _opens(folder: Path) -> bool:
    try:
        connection = Connection(folder / FILE, read_only=True)
    except AiMemoryError:
        return False
    try:
        newest(connection)
    except AiMemoryError:
        return False
    finally:
        connection.close()
    return True


def genuine_rows(
    connection: Connection, table: str, wanted: Mapping[str, str]
) -> tuple[Sequence[str], dict[str, Sequence[Any]]]:
    """Read the rows of a table whose commitment is the wanted one, by row id, with the names of their columns.

    A table that cannot be read has none.
    """
    try:
        names, rows = connection.table(f"SELECT * FROM {table}")
    except AiMemoryError:
        return (), {}
    if names[-1:] != ["salt"] or not {*schema.COMMITTED[table]} <= {*names}:
        return (), {}
    places = [names.index(column) for column in schema.COMMITTED[table]]
    found: dict[str, Sequence[Any]] = {}
    for row in rows:
        name = row_id(*(row[place] for place in places))
        if name in wanted and commitment_of(table, names[:-1], row[:-1], row[-1]) == wanted[name]:
            found[name] = row
    return names, found


def proven_events(files: Sequence[Path], newest_hash: str, until: Callable[[str], bool]) -> list[Event]:
    """Find events in the bytes of files, from the one with a known hash back as far as each names the one before.

    Ends before the event whose hash ``until`` knows. Oldest first; empty when the newest is not found.
    """
    bodies = {event_hash(body): body for path in files for body in _bodies(path)}
    found: list[Event] = []
    wanted = newest_hash
    while not until(wanted) and wanted in bodies:
        found.append(parse(bodies[wanted]))
        wanted = found[-1].prev
    return found[::-1]


def named_stores(files: Sequence[Path]) -> set[str]:
    """Read from the bytes of files which stores their events name."""
    return {name.decode() for path in files for data in _mapped(path) for name in set(_STORE.findall(data))}


def _bodies(path: Path) -> Iterator[bytes]:
    """Give every run of bytes that parses as the body of an event."""
    for data in _mapped(path):
        start = data.find(_START)
        while start >= 0:
            end = data.find(_END, start, start + _BODY_BYTES)
            while end >= 0:
                body = data[start : end + len(_END)]
                try:
                    parse(body)
                except (Invalid, Integrity):
                    end = data.find(_END, end + 1, start + _BODY_BYTES)
                    continue
                yield body
                break
            start = data.find(_START, start + 1)


def _mapped(path: Path) -> Iterator[mmap.mmap]:
    if path.exists() and path.stat().st_size:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data
