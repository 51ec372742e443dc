"""Look at a whole store, also at one whose reads are refused, and name everything that does not hold.

Source: docs/spec/audit.md §2.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from audit import anchor as anchors
from audit.anchor import Anchor, Situation
from audit.attestation import Registry
from audit.errors import Integrity
from audit.merkle import Frontier, leaf_hash
from audit.state import BUCKETS, bucket_digest, bucket_of
from audit.verify import Fault, Summary, verify_log
from substrate import config
from substrate.store import schema, spare
from substrate.store.baton import Baton
from substrate.store.commitments import table_faults
from substrate.store.database import writable
from substrate.store.db import FILE, Connection
from substrate.store.file import check_tables
from substrate.store.ledger import state_folder
from substrate.store.log import completed, hash_at, iterate_events, newest, parsed, store_after

_LIMIT = 1_000


@dataclass(frozen=True)
class Report:
    """What a whole verification found. ``ok`` means no fault; ``anchored`` that this machine's anchor agrees too.

    ``public_key`` is the one in force at the end, ``situation`` how the head stands to the anchor: unanchored also
    where there is one that cannot be read.
    """

    store_id: str
    genesis_key: str | None
    events: int
    head: str
    anchored: bool
    public_key: str | None = None
    situation: Situation = Situation.UNANCHORED
    faults: tuple[Fault, ...] = field(default=())
    registry: Registry = field(default_factory=Registry)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.faults


@contextmanager
def unverified(home: Path, *, written: bool = False) -> Iterator[Connection]:
    """Hold the file and open it without asking whether anything in it holds; on a read-only medium without the lock.

    Nothing of it is changed unless it is to be ``written``, not even what lies in the write-ahead log; only a
    checkpoint that was broken off is undone, as at every opening.
    """
    settings = config.read(home).engine
    if not writable(home):
        connection = Connection(home / FILE, read_only=True, settings=settings)
        try:
            yield connection
        finally:
            connection.close()
        return
    found: list[Connection] = []

    def open_() -> None:
        spare.put_back(home / FILE)
        found.append(Connection(home / FILE, read_only=not written, settings=settings))

    baton = Baton(
        home,
        opened=open_,
        closing=lambda: found.pop().close() if found else None,
    )
    try:
        with baton.held():
            yield found[0]
    finally:
        baton.close()


def inspect(home: Path, *, state_dir: Path | None = None, notes: Sequence[str] = ()) -> Report:
    """Verify everything: every event, every row, every digest, the tree, the anchor, and checkpoints kept elsewhere.

    Raises Integrity only when the file itself cannot be read.
    """
    with unverified(home) as connection:
        return inspected(connection, state_dir or state_folder(home), notes)


def inspected(connection: Connection, state_dir: Path, notes: Sequence[str] = ()) -> Report:
    """Verify everything (see ``inspect``) in a file that is open."""
    store_id, genesis = _identity(connection)
    anchor, faults = _anchor(state_dir, store_id)
    log, summary = verify_log(
        iterate_events(connection), store_id, anchor.genesis_key if anchor else genesis, notes=notes, anchor=anchor
    )
    faults += log
    faults += _definition_faults(connection)
    faults += _state_faults(connection, summary)
    for table in sorted({*schema.COMMITTED, *(table for table, _ in summary.commits), *_entry_tables(connection)}):
        faults += _row_faults(connection, table)
    faults += _tree_faults(connection)
    situation = anchors.judge(anchor, summary.size, summary.head_hash, hash_at(connection))
    return Report(
        store_id=store_id,
        genesis_key=genesis,
        events=summary.size,
        head=summary.head_hash,
        anchored=summary.anchored and not any(fault.kind == "anchor" for fault in faults),
        public_key=summary.keys[-1] if summary.keys else None,
        situation=situation,
        faults=tuple(faults),
        registry=summary.registry,
    )


def _identity(connection: Connection) -> tuple[str, str | None]:
    """Read who the store says it is, as far as its first and its newest event can be read."""
    try:
        store_id = store_after(parsed(newest(connection)))
    except Integrity:
        store_id = ""
    genesis: str | None = None
    for row in iterate_events(connection, 1):
        try:
            first = parsed(row)
            genesis, store_id = first.payload.get("public_key"), store_id or first.store_id
        except Integrity:
            pass
        break
    return store_id, genesis


def _anchor(state_dir: Path, store_id: str) -> tuple[Anchor | None, list[Fault]]:
    try:
        return (anchors.read(anchors.path(state_dir, store_id)) if store_id else None), []
    except Integrity as error:
        return None, [Fault("anchor", None, None, error.message)]


def _entry_tables(connection: Connection) -> set[str]:
    return {table for (table,) in connection.rows("SELECT DISTINCT tbl FROM state_entries")}


def _definition_faults(connection: Connection) -> list[Fault]:
    try:
        check_tables(connection)
    except Integrity as error:
        return [Fault("tables", None, None, error.message)]
    return []


def _row_faults(connection: Connection, table: str) -> list[Fault]:
    try:
        return [Fault(kind, None, row, message) for kind, row, message in table_faults(connection, table, _LIMIT)]
    except Integrity as error:  # the table is not there, or not as it should be
        return [Fault("tables", None, table, error.message)]


def _state_faults(connection: Connection, summary: Summary) -> list[Fault]:
    """Hold the table of commitments and the table of digests against what the events say."""
    stored, faults = {}, []
    for bucket, table, row, commitment in connection.rows("SELECT bucket, tbl, id, commitment FROM state_entries"):
        stored[table, row] = commitment
        if bucket != bucket_of(table, row):
            faults.append(Fault("state", None, row, f"the commitment kept for {table} {row} lies in another's bucket"))
    faults += [
        Fault("state", None, row, f"the commitment kept for {table} {row} is not the one in the log")
        for table, row in sorted(stored.keys() | summary.commits.keys())
        if stored.get((table, row)) != summary.commits.get((table, row))
    ]
    buckets: list[list[tuple[str, str, str]]] = [[] for _ in range(BUCKETS)]
    for (table, row), commitment in summary.commits.items():
        buckets[bucket_of(table, row)].append((table, row, commitment))
    digests = dict(connection.rows("SELECT bucket, digest FROM state_buckets"))
    faults += [
        Fault("state", None, str(bucket), f"the digest of bucket {bucket} is not the one the log gives")
        for bucket in range(BUCKETS)
        if digests.get(bucket) != bucket_digest(buckets[bucket])
    ]
    return faults[:_LIMIT]


def _tree_faults(connection: Connection) -> list[Fault]:
    """Build the tree anew from the events and hold the stored nodes against it."""
    tree = Frontier()
    stored = dict(connection.rows("SELECT sequence, nodes FROM signed_events"))
    nodes = {number: completed(tree.append(leaf_hash(body))) for number, body, _, _ in iterate_events(connection)}
    return [
        Fault("tree", None, str(number), f"the nodes of the tree that event {number} completes are wrong")
        for number, wanted in nodes.items()
        if stored[number] != wanted
    ][:_LIMIT]
