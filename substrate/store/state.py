"""The signed state: which commitment every row must have, bucket by bucket, bound to the newest event.

A process keeps the buckets it has verified; a write changes its rows' buckets and the root over all of them goes into
the event. Absence counts as content: a bucket is compared whole.

Source: docs/spec/audit.md §1.5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from audit.errors import Integrity, Invalid
from audit.state import BUCKETS, EMPTY_BUCKET, StateTree, bucket_digest, bucket_of
from substrate.store import schema
from substrate.store.db import Connection, bucket_digest_sql, commitment_sql, row_id_sql

Change = tuple[str, str, str | None]
_HINT = "run `ai-memory audit verify` to see everything that differs, then restore a backup"


class SignedState:
    """The buckets of one store as this process has verified them."""

    def __init__(self) -> None:
        self._tree: StateTree | None = None
        self._digests: list[str] = []
        self._buckets: dict[int, dict[tuple[str, str], str]] = {}
        self.whole = False

    def load(self, connection: Connection, root: str) -> None:
        """Read every bucket's digest and hold them against the root that the newest event signs.

        Raises Integrity when they differ. Buckets kept from before stay where their digest is the same.
        """
        found = connection.rows("SELECT bucket, digest FROM state_buckets ORDER BY bucket")
        if [bucket for bucket, _ in found] != list(range(BUCKETS)):
            raise Integrity("the table of row digests is incomplete", hint=_HINT)
        digests = [digest for _, digest in found]
        try:
            if self._tree is None:
                self._tree = StateTree(digests)
            else:
                changed = {b: d for b, (d, old) in enumerate(zip(digests, self._digests, strict=True)) if d != old}
                self._tree.update(changed)
                for bucket in changed:
                    self._buckets.pop(bucket, None)
        except Invalid as error:
            raise Integrity("the table of row digests is malformed", hint=_HINT) from error
        self._digests = digests
        if self._tree.root() != root:
            raise Integrity("the table of row digests does not match the newest signed event", hint=_HINT)

    @property
    def root(self) -> str:
        """Give the root over all buckets."""
        return self._loaded.root()

    @property
    def _loaded(self) -> StateTree:
        if self._tree is None:
            raise RuntimeError("the signed state is not loaded")
        return self._tree

    def expected(self, connection: Connection, table: str, ids: Sequence[str]) -> dict[str, str]:
        """Give the commitment each row must have; an id without one must not exist.

        Raises Integrity when a bucket does not match its digest.
        """
        if self.whole and len(ids) > 8:
            found = connection.rows(
                "SELECT id, commitment FROM state_entries WHERE tbl = ? AND id IN (SELECT unnest(?::TEXT[]))",
                [table, list(ids)],
            )
            return dict(found)
        self._ensure(connection, {bucket_of(table, i) for i in ids})
        pairs = ((i, self._buckets[bucket_of(table, i)].get((table, i))) for i in ids)
        return {i: commitment for i, commitment in pairs if commitment is not None}

    def apply(self, connection: Connection, changes: Iterable[Change]) -> str:
        """Record the new commitments inside the open transaction; return the new root."""
        touched: dict[int, dict[tuple[str, str], str | None]] = defaultdict(dict)
        for table, row, commitment in changes:
            touched[bucket_of(table, row)][table, row] = commitment
        self._ensure(connection, touched)
        fresh, changed, gone = [], [], []
        digests: dict[int, str] = {}
        for bucket, entries in touched.items():
            kept = self._buckets[bucket]
            for (table, row), commitment in entries.items():
                if commitment is None:
                    kept.pop((table, row), None)
                    gone.append((table, row))
                elif (table, row) in kept:
                    changed.append((commitment, table, row))
                else:
                    fresh.append((bucket, table, row, commitment))
                if commitment is not None:
                    kept[table, row] = commitment
            digests[bucket] = bucket_digest((t, r, c) for (t, r), c in kept.items())
        self._write(connection, fresh, changed, gone, digests)
        self._loaded.update(digests)
        for bucket, digest in digests.items():
            self._digests[bucket] = digest
        return self._loaded.root()

    def _write(
        self,
        connection: Connection,
        fresh: list[tuple[int, str, str, str]],
        changed: list[tuple[str, str, str]],
        gone: list[tuple[str, str]],
        digests: dict[int, str],
    ) -> None:
        connection.insert("state_entries", ("bucket", "tbl", "id", "commitment"), fresh, {"bucket": "INTEGER"})
        if changed:
            connection.run(
                "UPDATE state_entries SET commitment = n.c FROM (SELECT unnest(?::TEXT[]) AS c, unnest(?::TEXT[]) AS t,"
                " unnest(?::TEXT[]) AS i) n WHERE tbl = n.t AND id = n.i",
                [list(column) for column in zip(*changed, strict=True)],
            )
        for table, row in gone:
            connection.run("DELETE FROM state_entries WHERE tbl = ? AND id = ?", [table, row])
        connection.run(
            "UPDATE state_buckets SET digest = n.d FROM (SELECT unnest(?::INTEGER[]) AS b, unnest(?::TEXT[]) AS d) n"
            " WHERE bucket = n.b",
            [list(digests), list(digests.values())],
        )

    def _ensure(self, connection: Connection, buckets: Iterable[int]) -> None:
        missing = [b for b in buckets if b not in self._buckets]
        if not missing:
            return
        loaded: dict[int, dict[tuple[str, str], str]] = {b: {} for b in missing}
        for bucket, table, row, commitment in connection.rows(
            "SELECT bucket, tbl, id, commitment FROM state_entries WHERE bucket IN (SELECT unnest(?::INTEGER[]))",
            [missing],
        ):
            loaded[bucket][table, row] = commitment
        for bucket, entries in loaded.items():
            if bucket_digest((t, r, c) for (t, r), c in entries.items()) != self._loaded[bucket]:
                raise Integrity(
                    f"the commitments of bucket {bucket} were changed outside the log", hint=_HINT, bucket=bucket
                )
        self._buckets.update(loaded)

    def faults(self, connection: Connection, limit: int = 100) -> list[tuple[str, str | None, str]]:
        """Hold every row and bucket against the signed state; (kind, subject, message), at most ``limit`` a table.

        Kinds: row_edited, row_deleted, row_forged, bucket_changed.
        """
        found: list[tuple[str, str | None, str]] = []
        for table, columns in _filled_tables(connection).items():
            found += _table_faults(connection, table, columns, limit)
        tree = self._loaded
        seen = dict.fromkeys(range(BUCKETS), EMPTY_BUCKET)
        seen.update(dict(connection.rows(f"SELECT bucket, {bucket_digest_sql()} FROM state_entries GROUP BY bucket")))
        wrong = [b for b in range(BUCKETS) if seen[b] != tree[b]]
        found += [
            ("bucket_changed", str(b), f"the commitments of bucket {b} were changed outside the log")
            for b in wrong[:limit]
        ]
        self.whole = not found
        return found


def _filled_tables(connection: Connection) -> dict[str, list[str]]:
    """Name the committed tables that hold rows or should, with their columns but the salt, in table order."""
    some = " UNION ALL ".join(f"(SELECT '{table}' AS tbl FROM {table} LIMIT 1)" for table in schema.COMMITTED)
    filled = {t for (t,) in connection.rows(f"{some} UNION SELECT DISTINCT tbl FROM state_entries")}
    unknown = filled - schema.COMMITTED.keys()
    if unknown:
        raise Integrity(f"the signed state names unknown tables: {', '.join(sorted(unknown))}", hint=_HINT)
    columns: dict[str, list[str]] = {table: [] for table in schema.COMMITTED if table in filled}
    for table, name in connection.rows(
        "SELECT table_name, column_name FROM information_schema.columns ORDER BY table_name, ordinal_position"
    ):
        if table in columns and name != "salt":
            columns[table].append(name)
    return columns


def _table_faults(
    connection: Connection, table: str, columns: list[str], limit: int
) -> list[tuple[str, str | None, str]]:
    sql = (
        f"SELECT coalesce(r.i, e.id), r.c, e.commitment FROM (SELECT {row_id_sql(table)} AS i,"
        f" {commitment_sql(table, columns)} AS c FROM {table}) r FULL OUTER JOIN"
        " (SELECT id, commitment FROM state_entries WHERE tbl = ?) e ON r.i = e.id"
        f" WHERE r.c IS DISTINCT FROM e.commitment ORDER BY 1 LIMIT {limit}"
    )
    named = []
    for row, actual, expected in connection.rows(sql, [table]):
        if actual is None:
            named.append(("row_deleted", row, f"{table} {row} was deleted outside the log"))
        elif expected is None:
            named.append(("row_forged", row, f"{table} {row} was added outside the log"))
        else:
            named.append(("row_edited", row, f"{table} {row} is not what the log committed to"))
    return named
