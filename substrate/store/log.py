"""The log's tables as they lie in the file: events in order, the nodes of their tree. Nothing here is verified.

Source: docs/spec/audit.md §1.1 and §2.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from audit.errors import Integrity, Invalid
from audit.event import Event, event_hash, parse
from audit.merkle import NODE_BYTES, leaf_hash
from substrate.store.db import Connection

EventRow = tuple[int, bytes, bytes | None, str | None]
Nodes = bytes | None  # of the log's tree, as `completed` gives them
VERIFY = "run `ai-memory audit verify` to see what differs"
_COLUMNS = ("sequence", "body", "signature", "key_id", "nodes")
_TYPES = {"sequence": "BIGINT", "body": "BLOB", "signature": "BLOB", "nodes": "BLOB"}
_PREV = re.compile(rb'"prev":"([0-9a-f]{64})","seq":')


def store_after(event: Event) -> str:
    """Give the store's identity after an event: its own, unless it is the one that gives a copy a new one."""
    return str(event.payload["store_id"]) if event.type == "store_forked" else event.store_id


def parsed(row: EventRow) -> Event:
    """Parse a stored event; one that does not parse is a damaged log, not bad input. Raises Integrity."""
    try:
        return parse(row[1])
    except Invalid as error:
        raise Integrity(f"event {row[0]} cannot be read: {error.message}", hint=VERIFY, sequence=row[0]) from error


def newest(connection: Connection) -> EventRow:
    """Read the newest event. Raises Integrity when there is none."""
    rows = connection.rows("SELECT sequence, body, signature, key_id FROM signed_events ORDER BY sequence DESC LIMIT 1")
    if not rows:
        raise Integrity("the log is empty", hint="restore a backup; `ai-memory audit recover` lists what is missing")
    return _event_row(rows[0])


def event_rows(connection: Connection, after: int, limit: int | None = None) -> list[EventRow]:
    """Read raw events after a sequence, in order."""
    stop = f" LIMIT {int(limit)}" if limit is not None else ""
    sql = f"SELECT sequence, body, signature, key_id FROM signed_events WHERE sequence > ? ORDER BY sequence{stop}"
    return [_event_row(row) for row in connection.rows(sql, [after])]


def iterate_events(connection: Connection, page: int = 2_000) -> Iterator[EventRow]:
    """Walk the whole log in pages, in order of sequence."""
    after = -(2**62)
    while rows := event_rows(connection, after, page):
        yield from rows
        after = rows[-1][0]


def _event_row(row: Sequence[Any]) -> EventRow:
    sequence, data, signature, key_id = row
    return int(sequence), bytes(data), None if signature is None else bytes(signature), key_id


def hash_at(connection: Connection) -> Callable[[int], str | None]:
    """Give a function from an event's number to the hash of its body, None where there is none."""

    def look(sequence: int) -> str | None:
        rows = connection.rows("SELECT body FROM signed_events WHERE sequence = ?", [sequence])
        return event_hash(bytes(rows[0][0])) if rows else None

    return look


def insert_events(connection: Connection, rows: Sequence[tuple[int, bytes, bytes | None, str | None, Nodes]]) -> None:
    """Write events with the nodes of the log's tree that each completes."""
    connection.insert("signed_events", _COLUMNS, rows, _TYPES)


def completed(nodes: Iterable[tuple[int, int, bytes]]) -> Nodes:
    """Give the nodes an event completed as its row keeps them: one behind the other from level 1 up, None for none.

    The node at (level, position) is completed by event (position + 1) · 2^level, so that its place needs no index.
    """
    return b"".join(digest for level, _, digest in nodes if level) or None


def node_reader(connection: Connection) -> Callable[[int, int], bytes]:
    """Give a function from (level, position) to the hash of a complete subtree of the log's tree."""
    return lambda level, position: _nodes(connection, [(level, position)])[level, position]


def peaks(connection: Connection, size: int) -> Callable[[int, int], bytes]:
    """Read the peaks of a tree of ``size`` leaves in one query; the function given answers from them."""
    places, start = [], 0
    for level in range(size.bit_length() - 1, -1, -1):
        if size >> level & 1:
            places.append((level, start >> level))
            start += 1 << level
    found = _nodes(connection, places)
    return lambda level, position: found[level, position]


def _nodes(connection: Connection, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], bytes]:
    """Read nodes by level and position. Raises Integrity for one that is not there."""
    numbers = {(level, position): (position + 1) << level for level, position in places}
    sql = "SELECT sequence, body, nodes FROM signed_events WHERE sequence IN (SELECT unnest(?::BIGINT[]))"
    rows = {
        sequence: leaf_hash(bytes(data)) + bytes(nodes or b"")
        for sequence, data, nodes in connection.rows(sql, [[*numbers.values()]])
    }
    found = {
        (level, position): rows.get(number, b"")[NODE_BYTES * level :][:NODE_BYTES]
        for (level, position), number in numbers.items()
    }
    for (level, position), digest in found.items():
        if len(digest) != NODE_BYTES:
            raise Integrity(f"the log's tree lacks node {level}/{position}", hint=VERIFY)
    return found


def prev_of(data: bytes) -> str | None:
    """Give the hash of the event before, from a body that was not parsed; None where there is none.

    In canonical JSON a quote inside text is escaped and ``seq`` follows ``prev`` only among the event's own fields: of
    a genuine body the last place is the right one.
    """
    found = _PREV.findall(data)
    return found[-1].decode() if found else None
