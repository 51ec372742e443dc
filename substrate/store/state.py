"""The signed state: which commitment every row must have, bucket by bucket, bound to the newest event.

A process keeps the buckets it has verified; a write changes its rows' buckets and the root over all of them goes into
the event. Absence counts as content: a bucket is compared whole.

Source: docs/spec/audit.md §1.5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from audit.errors import Integrity, Invalid
from audit.state import BUCKETS, StateTree, bucket_digest, bucket_of
from substrate import limits
from substrate.store.commitments import HINT, Fault, filled_tables, table_faults
from substrate.store.db import Connection, bucket_digest_sql

Change = tuple[str, str, str | None]
_HEX = 64
_MANY = 100  # rows whose commitments are looked up in the table, not in the buckets, once everything was verified


class SignedState:
    """The buckets of one store as this process has verified them."""

    def __init__(self) -> None:
        self._tree: StateTree | None = None
        self._buckets: dict[int, dict[tuple[str, str], str]] = {}
        self.whole = False
        self._entries_hold = False

    def load(self, connection: Connection, root: str, touched: Collection[int] | None = None) -> None:
        """Read the buckets' digests and hold them against the root that the newest event signs.

        ``touched`` are the buckets changed since they were last read, None for any of them. Buckets kept from before
        stay where their digest is the same. Raises Integrity when the root differs.
        """
        if self._tree is None:
            touched = None
        if touched is not None and not touched:
            found = []
        else:
            found = _digests(connection, touched)
        if [bucket for bucket, _ in found] != (list(range(BUCKETS)) if touched is None else sorted(touched)):
            raise Integrity("the table of row digests is incomplete", hint=HINT)
        try:
            if self._tree is None:
                self._tree = StateTree([digest for _, digest in found])
            else:
                changed = {bucket: digest for bucket, digest in found if digest != self._tree[bucket]}
                self._tree.update(changed)
                for bucket in changed:
                    self._buckets.pop(bucket, None)
        except Invalid as error:
            raise Integrity("the table of row digests is malformed", hint=HINT) from error
        if self._tree.root() != root:
            self._tree, self.whole, self._entries_hold = None, False, False
            self._buckets.clear()
            raise Integrity("the table of row digests does not match the newest signed event", hint=HINT)

    @property
    def partly(self) -> bool:
        """Whether the store was too large to hold every row against the state: only rows returned were checked."""
        return self._entries_hold and not self.whole

    @property
    def loaded(self) -> bool:
        """Whether the digests were read and matched."""
        return self._tree is not None

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
        if self.whole and len(ids) > _MANY:
            found = connection.rows(
                "SELECT id, commitment FROM state_entries WHERE tbl = ? AND id IN (SELECT unnest(?::TEXT[]))",
                [table, list(ids)],
            )
            return dict(found)
        self._ensure(connection, {bucket_of(table, i) for i in ids})
        pairs = ((i, self._buckets[bucket_of(table, i)].get((table, i))) for i in ids)
        return {i: commitment for i, commitment in pairs if commitment is not None}

    def apply(self, connection: Connection, changes: Iterable[Change]) -> str:
        """Record the new commitments inside the open transaction; return the new root.

        What this process keeps changes only after the engine has taken everything.
        """
        touched: dict[int, dict[tuple[str, str], str | None]] = defaultdict(dict)
        for table, row, commitment in changes:
            touched[bucket_of(table, row)][table, row] = commitment
        self._ensure(connection, touched)
        added, changed, gone = [], [], []
        buckets: dict[int, dict[tuple[str, str], str]] = {}
        for bucket, entries in touched.items():
            fresh = buckets[bucket] = dict(self._buckets[bucket])
            for (table, row), commitment in entries.items():
                if commitment is None:
                    if fresh.pop((table, row), None) is not None:
                        gone.append((table, row))
                    continue
                if (table, row) in fresh:
                    changed.append((commitment, table, row))
                else:
                    added.append((bucket, table, row, commitment))
                fresh[table, row] = commitment
        digests = {b: bucket_digest((t, r, c) for (t, r), c in entries.items()) for b, entries in buckets.items()}
        self._write(connection, added, changed, gone, digests)
        self._loaded.update(digests)  # first: a digest that differs from the file's makes `load` read the bucket again
        self._buckets.update(buckets)
        return self._loaded.root()

    def _write(
        self,
        connection: Connection,
        added: list[tuple[int, str, str, str]],
        changed: list[tuple[str, str, str]],
        gone: list[tuple[str, str]],
        digests: dict[int, str],
    ) -> None:
        connection.insert("state_entries", ("bucket", "tbl", "id", "commitment"), added, {"bucket": "INTEGER"})
        if changed:
            connection.run(
                "UPDATE state_entries SET commitment = n.c FROM (SELECT unnest(?::TEXT[]) AS c, unnest(?::TEXT[]) AS t,"
                " unnest(?::TEXT[]) AS i) n WHERE tbl = n.t AND id = n.i",
                [list(column) for column in zip(*changed, strict=True)],
            )
        for table, row in gone:
            connection.run("DELETE FROM state_entries WHERE tbl = ? AND id = ?", [table, row])
        if len(digests) == 1:  # one row a write is common, and a join costs the engine twice as much
            connection.run("UPDATE state_buckets SET digest = ? WHERE bucket = ?", [*digests.values(), *digests])
            return
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
        if len(missing) == 1:  # as for every row read by its key; each column more costs the engine a tenth more here
            found = connection.rows("SELECT tbl, id, commitment FROM state_entries WHERE bucket = ?", missing)
            loaded[missing[0]] = {(table, row): commitment for table, row, commitment in found}
        else:
            for bucket, table, row, commitment in connection.rows(
                "SELECT bucket, tbl, id, commitment FROM state_entries WHERE bucket IN (SELECT unnest(?::INTEGER[]))",
                [missing],
            ):
                loaded[bucket][table, row] = commitment
        for bucket, entries in loaded.items():
            # a longer commitment could hide the entry behind it inside the same digest
            whole = all(len(commitment) == _HEX for commitment in entries.values())
            if not whole or bucket_digest((t, r, c) for (t, r), c in entries.items()) != self._loaded[bucket]:
                raise Integrity(
                    f"the commitments of bucket {bucket} were changed outside the log", hint=HINT, bucket=bucket
                )
        self._buckets.update(loaded)

    def faults(self, connection: Connection, limit: int = 100, pending: Sequence[Change] = ()) -> list[Fault]:
        """Hold every row and bucket against the signed state; (kind, subject, message), at most ``limit`` a table.

        Kinds: row_edited, row_deleted, row_forged, bucket_changed. ``pending`` are changes that wait for their event.
        """
        own = {(table, row): commitment for table, row, commitment in pending}
        found: list[Fault] = []
        for table in filled_tables(connection):
            found += table_faults(connection, table, limit, own)
        found += self.bucket_faults(connection, limit)
        self.whole = not found
        return found

    def first_fault(self, connection: Connection, rows: int, pending: Sequence[Change] = ()) -> Fault | None:
        """Hold the whole store against the signed state, once; above so many ``rows`` only the commitments themselves.

        What can be hidden above that bound is a row that a predicate should have picked, never a change of one it did.
        """
        if self.whole or self._entries_hold:
            return None
        (count,) = connection.rows("SELECT count(*) FROM state_entries")[0]
        if count <= rows:
            found = self.faults(connection, 1, pending)
        else:
            found = self.bucket_faults(connection, 1)
            self._entries_hold = not found
        return found[0] if found else None

    def bucket_faults(self, connection: Connection, limit: int = 100) -> list[Fault]:
        """Hold the commitments against the buckets' digests, without looking at the rows."""
        seen = dict(connection.rows(f"SELECT bucket, {bucket_digest_sql()} FROM state_entries GROUP BY bucket"))
        strange = sorted(bucket for bucket in seen if not 0 <= bucket < BUCKETS)
        wrong = strange or self._loaded.differing(seen)
        return [
            ("bucket_changed", str(b), f"the commitments of bucket {b} were changed outside the log")
            for b in wrong[:limit]
        ]


def portions(changes: Sequence[Change]) -> list[list[Change]]:
    """Cut changes so that each part fits one event; no changes are one empty part."""
    parts: list[list[Change]] = [[]]
    size = 0
    for change in changes:
        weight = 2 * len(change[1].encode()) + 100  # quotes, the commitment, and an id that JSON escapes
        if parts[-1] and (size + weight > limits.EVENT_COMMIT_BYTES or len(parts[-1]) >= limits.EVENT_ROWS):
            parts.append([])
            size = 0
        parts[-1].append(change)
        size += weight
    return parts


def _digests(connection: Connection, buckets: Collection[int] | None) -> list[tuple[int, str]]:
    """Read the digests of some buckets, or of all, in their order."""
    if buckets is None:
        return connection.rows("SELECT bucket, digest FROM state_buckets ORDER BY bucket")
    return connection.rows(
        "SELECT bucket, digest FROM state_buckets WHERE bucket IN (SELECT unnest(?::INTEGER[])) ORDER BY bucket",
        [list(buckets)],
    )
