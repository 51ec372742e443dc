"""What an attacker can do who may write every file, knows every algorithm, and lacks the key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
from nacl.signing import SigningKey

from audit import keys
from audit.event import Event, body, event_hash, parse
from audit.state import BUCKETS, bucket_digest, bucket_of, state_root
from substrate.store.model import Row
from substrate.store.transaction import commit
from tests.store.stores import Store

Connection = duckdb.DuckDBPyConnection
STRANGER = keys.Key(SigningKey(b"\x07" * 32))
COLUMNS = "bucket INTEGER, tbl TEXT, id TEXT, commitment TEXT"


def insert(raw: Connection, row: Row, salt: str = "ab" * 32) -> str:
    """Insert a row with its salt and answer the commitment it would have."""
    values = [*row.values(), salt]
    raw.execute(f"INSERT INTO {row.TABLE} VALUES ({', '.join('?' * len(values))})", values)
    return commit(type(row), row.values(), salt)


def overwrite(raw: Connection, row: Row, salt: str = "ab" * 32) -> str:
    """Put a row in the place of the one with its key and answer the commitment it would have."""
    where = " AND ".join(f"{column} = ?" for column in row.KEY)
    raw.execute(f"DELETE FROM {row.TABLE} WHERE {where}", [getattr(row, column) for column in row.KEY])
    return insert(raw, row, salt)


def mend_state(raw: Connection, table: str, id: str, commitment: str | None) -> str:
    """Make entries, digest and root say that the row has this commitment; answer the root."""
    bucket = bucket_of(table, id)
    raw.execute("DELETE FROM state_entries WHERE tbl = ? AND id = ?", [table, id])
    if commitment is not None:
        raw.execute("INSERT INTO state_entries VALUES (?, ?, ?, ?)", [bucket, table, id, commitment])
    entries = raw.execute("SELECT tbl, id, commitment FROM state_entries WHERE bucket = ?", [bucket]).fetchall()
    raw.execute("UPDATE state_buckets SET digest = ? WHERE bucket = ?", [bucket_digest(entries), bucket])
    digests = dict(raw.execute("SELECT bucket, digest FROM state_buckets").fetchall())
    return state_root([digests[number] for number in range(BUCKETS)])


def events(raw: Connection) -> list[Event]:
    return [parse(data) for (data,) in raw.execute("SELECT body FROM signed_events ORDER BY sequence").fetchall()]


def write_event(raw: Connection, event: Event, key: keys.Key | None) -> str:
    """Write an event under its number, in the place of one that is there; answer its hash."""
    event = replace(event, key_id=key.key_id if key else event.key_id)
    data = body(event)
    signature = keys.sign(key, "event", data) if key else b"\0" * 64
    raw.execute("DELETE FROM signed_events WHERE sequence = ?", [event.seq])
    raw.execute("INSERT INTO signed_events VALUES (?, ?, ?, ?)", [event.seq, data, signature, event.key_id])
    return event_hash(data)


def write_log_anew(raw: Connection, key: keys.Key, **last: Any) -> None:
    """Sign the whole log again with another key; `last` are fields of the newest event to change."""
    log = events(raw)
    log[0] = replace(log[0], payload={**log[0].payload, "public_key": key.public})
    log[-1] = replace(log[-1], **last)
    prev = log[0].prev
    for event in log:
        prev = write_event(raw, replace(event, prev=prev), key)


def swap_key_file(store: Store, key: keys.Key, seed: bytes) -> None:
    path = store.home / "keys" / "store.key"
    path.unlink()
    path.write_bytes(seed)
    path.chmod(0o600)
    assert keys.load(path).public == key.public
