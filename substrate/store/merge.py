"""Carry a backup forward by the events that followed it, with the rows that are what those events committed to.

Source: docs/spec/audit.md §1.5 and §5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.errors import Integrity
from audit.merkle import Frontier, leaf_hash
from substrate import limits
from substrate.store.commitments import commitment_of, table_faults
from substrate.store.db import Connection, quoted, row_id_sql
from substrate.store.log import EventRow, completed, insert_events, newest, parsed, peaks
from substrate.store.model import ROWS
from substrate.store.salvage import genuine_rows
from substrate.store.state import Change, SignedState

_ALL = 2**31 - 1


@dataclass(frozen=True)
class Merged:
    """What the log wants and nobody has: ``older`` rows are as in the backup, ``missing`` ones not there at all.

    ``changes`` bind all of these as they are now.
    """

    changes: tuple[Change, ...] = ()
    older: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def bring_forward(connection: Connection, tail: Sequence[EventRow], damaged: Connection | None) -> Merged:
    """Append verified events to a backup's log and bring its rows to what they say, as far as a damaged file has them.

    ``connection`` is a copy of the backup that nobody else has open. Raises Integrity when an event's state root is not
    what its commitments give.
    """
    if not tail:
        return Merged()
    last = newest(connection)
    tree = Frontier.load(last[0], peaks(connection, last[0]))
    state = SignedState()
    state.load(connection, parsed(last).state_root)
    commits = {(table, name): commitment for row in tail for table, name, commitment in parsed(row).commits}
    connection.begin()
    for start in range(0, len(tail), limits.INSERT_ROWS):
        some = tail[start : start + limits.INSERT_ROWS]
        insert_events(connection, [(*row, completed(tree.append(leaf_hash(row[1])))) for row in some])
    root = state.apply(connection, [(table, name, commitment) for (table, name), commitment in commits.items()])
    if root != parsed(tail[-1]).state_root:
        raise Integrity("the log's commitments do not give its state root", hint="take another backup")
    connection.commit()
    changes: list[Change] = []
    older: list[str] = []
    missing: list[str] = []
    for table in sorted({table for table, _ in commits}):
        for kind, name in _mended(connection, table, damaged):
            if kind == "row_deleted":
                missing.append(name)
                changes.append((table, name, None))
            else:
                older.append(name)
                changes.append((table, name, _commitment(connection, table, name)))
    return Merged(tuple(changes), tuple(older), tuple(missing))


def _mended(connection: Connection, table: str, damaged: Connection | None) -> list[tuple[str, str]]:
    """Put in every row of a table that the damaged file has as the log wants it; name the ones that still differ."""
    faults = [(kind, name) for kind, name, _ in table_faults(connection, table, _ALL) if name is not None]
    named = [name for _, name in faults]
    wanted = dict(
        connection.rows(
            "SELECT id, commitment FROM state_entries WHERE tbl = ? AND id IN (SELECT unnest(?::TEXT[]))",
            [table, named],
        )
    )
    columns, rows = genuine_rows(damaged, table, wanted) if damaged is not None and wanted else ((), {})
    gone = [name for kind, name in faults if kind == "row_forged" or name in rows]
    # in two transactions: the engine's unique indexes still know a row that was deleted in the same one
    drop(connection, table, gone)
    _insert(connection, table, columns, rows)
    return [(kind, name) for kind, name in faults if kind != "row_forged" and name not in rows]


def drop(connection: Connection, table: str, names: Sequence[str]) -> None:
    """Take rows away by their ids; the state still has them."""
    connection.run(f"DELETE FROM {table} WHERE {row_id_sql(table)} IN (SELECT unnest(?::TEXT[]))", [list(names)])


def _insert(connection: Connection, table: str, columns: Sequence[str], rows: Mapping[str, Sequence[Any]]) -> None:
    types = next(kind for kind in ROWS if table == kind.TABLE).types()
    some = list(rows.values())
    for start in range(0, len(some), limits.INSERT_ROWS):
        connection.insert(table, columns, some[start : start + limits.INSERT_ROWS], types)


def _commitment(connection: Connection, table: str, name: str) -> str:
    columns, rows = connection.table(f"SELECT * FROM {table} WHERE {row_id_sql(table)} = {quoted(name)}")
    return commitment_of(table, columns[:-1], rows[0][:-1], rows[0][-1])
