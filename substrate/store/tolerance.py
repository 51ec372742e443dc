"""Reading round the rows that are not what the log committed to: they are left out, and each is named.

Only what holds texts is read so. A row that says who may read or write is never passed over: without it more might be
allowed than was. Source: docs/spec/audit.md §2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from audit.errors import Integrity
from substrate import limits
from substrate.store.commitments import HINT, filled_tables, table_faults
from substrate.store.db import Connection
from substrate.store.ledger import Ledger
from substrate.store.model import Row, row_id
from substrate.store.selection import keys_of, selection
from substrate.store.state import Change
from substrate.store.transaction import Reader

R = TypeVar("R", bound=Row)
TOLERATED = frozenset({"memories", "memory_links", "claims", "entities", "entity_aliases"})


class LeftOut:
    """The rows that a process has left out: (table, row id) to what is wrong with each."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], str] = {}
        self.whole = False  # whether every row was looked at

    def __iter__(self) -> Any:
        return iter(sorted((table, row, message) for (table, row), message in self.rows.items()))


class TolerantReader(Reader):
    """A reader that leaves out what does not match and keeps a list of it."""

    def __init__(self, connection: Connection, ledger: Ledger, left_out: LeftOut) -> None:
        super().__init__(connection, ledger)
        self._left_out = left_out

    def get(self, kind: type[R], *key: Any) -> R | None:
        """Read one row by its key; None also for one that does not match, which is noted."""
        try:
            return super().get(kind, *key)
        except Integrity as error:
            if kind.TABLE not in TOLERATED:
                raise
            self._left_out.rows[kind.TABLE, row_id(*key)] = error.message
            return None

    def get_many(self, kind: type[R], keys: Sequence[Any]) -> dict[str, R]:
        """Read rows by their keys, without those that do not match."""
        try:
            return super().get_many(kind, keys)
        except Integrity:
            if kind.TABLE not in TOLERATED:
                raise
        rows = (self.get(kind, *(key if isinstance(key, tuple) else (key,))) for key in keys)
        return {row.row_id: row for row in rows if row is not None}

    def _picked(self, kind: type[R], tail: str, params: Sequence[Any]) -> list[R]:
        try:
            return super()._picked(kind, tail, params)
        except Integrity:
            if kind.TABLE not in TOLERATED:
                raise
        rows = self._connection.rows(selection(kind, tail), params)
        return [row for key in keys_of(kind, rows) if (row := self.get(kind, *key)) is not None]

    def verify_whole(self, pending: Sequence[Change] = ()) -> None:
        """Hold every row against the state, once; raise for what is not tolerated, note the rest."""
        if self._left_out.whole:
            return
        (count,) = self._connection.rows("SELECT count(*) FROM state_entries")[0]
        if count > limits.VERIFY_ROWS:
            return super().verify_whole(pending)
        for table in filled_tables(self._connection):
            for kind, row, message in table_faults(self._connection, table, limits.LIST_MAX):
                if table not in TOLERATED or row is None:
                    raise Integrity(message, hint=HINT, kind=kind, subject=row)
                self._left_out.rows[table, row] = message
        for kind, subject, message in self._ledger.state.bucket_faults(self._connection, 1):
            raise Integrity(message, hint=HINT, kind=kind, subject=subject)
        self._left_out.whole = True
