"""Make a sound store of what a damaged one still holds, where there is no backup to begin from.

The log has to verify as far as it goes; what it says of rows is built anew from it, and rows that do not match it are
given up. Source: docs/spec/audit.md §5.
"""

from __future__ import annotations

from pathlib import Path

from audit.errors import Integrity, Invalid
from audit.merkle import Frontier, leaf_hash
from audit.state import BUCKETS, EMPTY_BUCKET, StateTree
from audit.verify import verify_log
from substrate.store import schema
from substrate.store.backup import Manifest
from substrate.store.commitments import table_faults
from substrate.store.db import FILE, Connection
from substrate.store.file import check_tables, copy_file
from substrate.store.log import completed, event_rows, iterate_events, newest, parsed, store_after
from substrate.store.merge import Merged, drop
from substrate.store.state import SignedState

_NEEDED = "only a backup helps: `ai-memory restore FILE`"


def rebuild(damaged: Path, new: Path) -> tuple[Manifest, Merged]:
    """Copy a store that opens into ``new``, without the rows that its log does not have; name those and missing ones.

    Raises Integrity when the log or the tables do not hold: a backup is needed then.
    """
    copy_file(damaged / FILE, new)
    connection = Connection(new / FILE)
    try:
        try:
            check_tables(connection)
            last = newest(connection)
            store_id = store_after(parsed(last))
            genesis = parsed(event_rows(connection, 0, 1)[0]).payload.get("public_key")
        except (Integrity, Invalid, IndexError) as error:
            raise Integrity(f"what is left is no store: {error}", hint=_NEEDED) from error
        faults, summary = verify_log(iterate_events(connection), store_id, genesis)
        if faults:
            raise Integrity(f"the log does not hold: {faults[0].message}", hint=_NEEDED)
        _derive_again(connection, summary.commits)
        missing = []
        for table in schema.COMMITTED:
            wrong = [(kind, name) for kind, name, _ in table_faults(connection, table, 2**31 - 1) if name is not None]
            drop(connection, table, [name for kind, name in wrong if kind != "row_deleted"])
            missing += [(table, name) for kind, name in wrong if kind != "row_forged"]
    finally:
        connection.close()
    changes = tuple((table, name, None) for table, name in missing)
    base = Manifest(
        store_id=store_id, sequence=last[0], event_hash=summary.head_hash, checkpoint="", made_at="", files={}
    )
    return base, Merged(changes, (), tuple(name for _, name in missing))


def _derive_again(connection: Connection, commits: dict[tuple[str, str], str]) -> None:
    """Write the commitments, their digests and the tree anew from a log that was verified."""
    for table in ("state_entries", "state_buckets"):
        connection.run(f"DELETE FROM {table}")
    tree, state = Frontier(), SignedState()
    nodes = [(number, completed(tree.append(leaf_hash(body)))) for number, body, _, _ in iterate_events(connection)]
    connection.run(
        "UPDATE signed_events SET nodes = n.nodes FROM"
        " (SELECT unnest(?::BIGINT[]) AS number, unnest(?::BLOB[]) AS nodes) n WHERE sequence = n.number",
        [list(column) for column in zip(*nodes, strict=True)],
    )
    empty = [(bucket, EMPTY_BUCKET) for bucket in range(BUCKETS)]
    connection.insert("state_buckets", ("bucket", "digest"), empty, {"bucket": "INTEGER"})
    state.load(connection, StateTree().root())
    state.apply(connection, [(table, name, commitment) for (table, name), commitment in commits.items()])
