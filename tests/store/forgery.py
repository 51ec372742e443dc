"""What an attacker can do who may write every file, knows every algorithm, and lacks the key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
from nacl.signing import SigningKey

from audit import keys
from audit.event import Event, body, event_hash, parse
from audit.merkle import Frontier, leaf_hash
from audit.state import BUCKETS, State, bucket_digest, bucket_of, state_root
from substrate.store import schema
from substrate.store.commitments import commitment_of
from substrate.store.log import completed
from substrate.store.model import Row, row_id
from substrate.store.selection import commit
from tests.store.stores import Store

Connection = duckdb.DuckDBPyConnection
STRANGER = keys.Key(SigningKey(b"\x07" * 32))
EVENT = "signed_events (sequence, body, signature, key_id)"
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
    kept = raw.execute("SELECT nodes FROM signed_events WHERE sequence = ?", [event.seq]).fetchone() or (None,)
    raw.execute("DELETE FROM signed_events WHERE sequence = ?", [event.seq])
    raw.execute("INSERT INTO signed_events VALUES (?, ?, ?, ?, ?)", [event.seq, data, signature, event.key_id, *kept])
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


def mend(raw: Connection) -> None:
    """Make commitments, digests, log and tree agree with the rows as they lie there, as far as that goes without a key.

    Where the rows are those of an earlier event, the log is cut back to it: every byte is genuine then. Otherwise an
    event is appended that commits to what changed, under the signature of the one before.
    """
    rows, state, log = _commitments(raw), State(), events(raw)
    kept = 0
    for event in log:
        state.apply(event.commits)
        if state.commits == rows:
            kept = event.seq
    if kept:
        raw.execute("DELETE FROM signed_events WHERE sequence > ?", [kept])
        state = State()
        for event in log[:kept]:
            state.apply(event.commits)
    else:
        signed = state.commits
        names = sorted(signed.keys() | rows.keys())
        changes = tuple((t, i, rows.get((t, i))) for t, i in names if signed.get((t, i)) != rows.get((t, i)))
        state.apply(changes)
        append(raw, commits=changes, state_root=state.root())
    _write_state(raw, state)
    write_tree(raw)


def append(raw: Connection, **fields: Any) -> None:
    """Append an event that follows on the newest and carries its signature."""
    ((data, signature, key_id),) = raw.execute(
        "SELECT body, signature, key_id FROM signed_events ORDER BY sequence DESC LIMIT 1"
    ).fetchall()
    head = parse(data)
    event = replace(head, seq=head.seq + 1, prev=event_hash(data), **fields)
    raw.execute(f"INSERT INTO {EVENT} VALUES (?, ?, ?, ?)", [event.seq, body(event), signature, key_id])


def write_tree(raw: Connection) -> None:
    """Build the tree anew over the bodies as they are."""
    tree = Frontier()
    for number, data in raw.execute("SELECT sequence, body FROM signed_events ORDER BY sequence").fetchall():
        nodes = completed(tree.append(leaf_hash(data)))
        raw.execute("UPDATE signed_events SET nodes = ? WHERE sequence = ?", [nodes, number])


def _commitments(raw: Connection) -> dict[tuple[str, str], str]:
    """Compute the commitment of every row as it is; one without a salt has none that could be right."""
    found = {}
    for table, key in schema.COMMITTED.items():
        rows = raw.execute(f"SELECT * FROM {table}")
        columns = [column[0] for column in rows.description or ()][:-1]
        places = [columns.index(name) for name in key]
        for values in rows.fetchall():
            name = row_id(*(values[place] for place in places))
            found[table, name] = commitment_of(table, columns, values[:-1], values[-1]) or "0" * 64
    return found


def _write_state(raw: Connection, state: State) -> None:
    """Write entries and digests where they differ from this state."""
    wanted = {(bucket_of(table, id), table, id, commitment) for (table, id), commitment in state.commits.items()}
    known = set(raw.execute("SELECT bucket, tbl, id, commitment FROM state_entries").fetchall())
    for _, table, id, _ in known - wanted:
        raw.execute("DELETE FROM state_entries WHERE tbl = ? AND id = ?", [table, id])
    for entry in sorted(wanted - known):
        raw.execute("INSERT INTO state_entries VALUES (?, ?, ?, ?)", entry)
    for bucket, digest in raw.execute("SELECT bucket, digest FROM state_buckets").fetchall():
        if digest != state.tree[bucket]:
            raw.execute("UPDATE state_buckets SET digest = ? WHERE bucket = ?", [state.tree[bucket], bucket])
