"""Reading rows that match the signed state, and writing rows that cannot be written without their event.

Source: docs/spec/audit.md §1.4-1.5, docs/spec/model.md §4.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from audit.errors import Conflict, Integrity, NotFound
from audit.event import Event, Target
from substrate import limits
from substrate.identifiers import check_line
from substrate.secrets import refuse
from substrate.store import schema
from substrate.store.commitments import HINT, commitment_of
from substrate.store.db import Connection, row_id_sql
from substrate.store.ledger import Head, Ledger
from substrate.store.model import IdempotencyRow, Row, row_id, to_json
from substrate.store.state import Change

R = TypeVar("R", bound=Row)
_CHANGE = re.compile(r"\s*(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+(\w+)", re.IGNORECASE).match


class Reader:
    """A view of the store for one operation; every row it returns was held against the signed state."""

    def __init__(self, connection: Connection, ledger: Ledger) -> None:
        self._connection, self._ledger = connection, ledger

    @property
    def head(self) -> Head:
        """The newest event."""
        if self._ledger.head is None:
            raise RuntimeError("the log was not read yet")
        return self._ledger.head

    @property
    def store_id(self) -> str:
        """The identity of this store."""
        return self._ledger.store_id

    @property
    def signed(self) -> bool:
        """Whether events of this store carry signatures."""
        return self._ledger.genesis_key is not None

    @property
    def key_id(self) -> str | None:
        """The id of the key that signs, if there is one here."""
        return self._ledger.key.key_id if self._ledger.key else None

    def get(self, kind: type[R], *key: Any) -> R | None:
        """Read one row by its key; None when there is none, and the signed state says so too.

        Raises Integrity when the row was edited, replaced, added or deleted outside the log.
        """
        name = row_id(*key)
        expected = self._expected(kind, [name])
        rows = self._connection.rows(_select(kind, f"WHERE {_by_key(kind)}"), list(key))
        if not rows and name in expected:
            raise Integrity(f"{kind.TABLE} {name} was deleted outside the log", hint=HINT, table=kind.TABLE, id=name)
        return _verified(kind, rows, expected)[0] if rows else None

    def get_many(self, kind: type[R], keys: Sequence[Any]) -> dict[str, R]:
        """Read rows by their keys (a tuple where a key has parts), by row id, in the order asked; absent ones left out.

        Checked like ``get``, absence included, and as cheap: nothing but these rows and their buckets is read.
        """
        parts = [key if isinstance(key, tuple) else (key,) for key in keys]
        wanted = list(dict.fromkeys(row_id(*key) for key in parts))
        if not wanted:
            return {}
        within = "(SELECT unnest(?::TEXT[]))"
        tail = f"WHERE {kind.KEY[0]} IN {within} AND {row_id_sql(kind.TABLE)} IN {within}"
        rows = self._connection.rows(_select(kind, tail), [list(dict.fromkeys(key[0] for key in parts)), wanted])
        expected = self._expected(kind, wanted)
        found = {row.row_id: row for row in _verified(kind, rows, expected)}
        missing = [name for name in expected if name not in found]
        if missing:
            name = missing[0]
            raise Integrity(f"{kind.TABLE} {name} was deleted outside the log", hint=HINT, table=kind.TABLE, id=name)
        return {name: found[name] for name in wanted if name in found}

    def commitments(self, kind: type[Row], ids: Sequence[str]) -> dict[str, str]:
        """Give the commitment the signed state holds for each of these rows; absent rows are left out."""
        return self._expected(kind, list(dict.fromkeys(ids)))

    def require(self, kind: type[R], *key: Any) -> R:
        """Read one row that must be there. Raises NotFound otherwise."""
        row = self.get(kind, *key)
        if row is None:
            raise NotFound(f"no {kind.TABLE} row {row_id(*key)}", hint="check the id")
        return row

    def select(
        self,
        kind: type[R],
        where: str = "",
        params: Sequence[Any] = (),
        *,
        order: str = "",
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[R]:
        """Read the rows a predicate picks, in ``order``.

        The first such read of a process holds every row of the store against the signed state, so that a row hidden by
        an edit shows; above ``limits.VERIFY_ROWS`` rows only the rows returned are checked.
        Raises Integrity naming the first row that differs.
        """
        self._verify_whole()
        tail = f"WHERE {where}" if where else ""
        tail += f" ORDER BY {order}" if order else ""
        tail += f" LIMIT {int(limit)}" if limit is not None else ""
        tail += f" OFFSET {int(offset)}" if offset else ""
        return self._picked(kind, tail, params)

    def matching(self, kind: type[R], where: str, params: Sequence[Any] = ()) -> list[R]:
        """Read the rows a predicate picks, each checked, without looking for one that an edit hides from it.

        As cheap as ``get``. Only for searches in which a hidden row can do no more than deny, such as the one for the
        key of who calls: they spare a short command the check of the whole store.
        """
        return self._picked(kind, f"WHERE {where}", params)

    def _picked(self, kind: type[R], tail: str, params: Sequence[Any]) -> list[R]:
        rows = self._connection.rows(_select(kind, tail), params)
        return _verified(kind, rows, self._expected(kind, [row_id(*key) for key in _keys(kind, rows)]))

    def count(self, kind: type[Row], where: str = "", params: Sequence[Any] = ()) -> int:
        """Count the rows a predicate picks."""
        tail = f" WHERE {where}" if where else ""
        return int(self.query(f"SELECT count(*) FROM {kind.TABLE}{tail}", params)[0][0])

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query for ids and aggregates; rows shown to anyone come from ``get`` or ``select``."""
        self._verify_whole()
        return self._connection.rows(sql, params)

    def events(
        self, after: int = 0, limit: int | None = None, *, subject: str | None = None, types: Sequence[str] = ()
    ) -> list[Event]:
        """Read events after a sequence number, in order.

        Raises Integrity when they are not a sound part of the log that ends in the head.
        """
        named = (to_json(subject) or "").encode() if subject is not None else b""
        kinds = [f'"type":"{name}"'.encode() for name in types] or [b""]

        def wanted(body: bytes) -> bool:  # spares the parsing of most; what passes is looked at again
            return named in body and any(kind in body for kind in kinds)

        found = (
            event
            for event in self._ledger.feed(self._connection, after, wanted, limit)
            if (subject is None or event.subject == subject) and (not types or event.type in types)
        )
        return list(islice(found, limit))

    def _expected(self, kind: type[Row], names: Sequence[str]) -> dict[str, str]:
        """Give the commitment each row must have; a row without one must not exist."""
        return self._ledger.state.expected(self._connection, kind.TABLE, names)

    def _verify_whole(self, pending: Sequence[Change] = ()) -> None:
        fault = self._ledger.state.first_fault(self._connection, limits.VERIFY_ROWS, pending)
        if fault is not None:
            kind, subject, message = fault
            raise Integrity(message, hint=HINT, kind=kind, subject=subject)


class Transaction(Reader):
    """A write: rows first, then the event that binds them; without an event it cannot commit."""

    def __init__(
        self, connection: Connection, ledger: Ledger, *, now: str, new_id: Callable[[str], str], actor: str
    ) -> None:
        super().__init__(connection, ledger)
        self.now, self.new_id, self.actor = now, new_id, actor
        self._changes: dict[tuple[str, str], Change] = {}
        self._read: dict[tuple[type[Row], str], Row | None] = {}
        self._once: IdempotencyRow | None = None

    @property
    def sequence(self) -> int:
        """The number the next event of this transaction will get."""
        return (self._ledger.head.sequence if self._ledger.head else 0) + 1

    def get(self, kind: type[R], *key: Any) -> R | None:
        """Read one row as a reader does, but once: inside a transaction only ``put`` and ``delete`` change it."""
        name = row_id(*key)
        if (kind, name) not in self._read:
            self._read[kind, name] = super().get(kind, *key)
        return self._read[kind, name]  # type: ignore[return-value]  # the kind is in the key

    def put(self, *rows: Row) -> None:
        """Insert rows, or change the ones whose key exists; each gets a new salt and commitment.

        Raises Integrity when a row to be changed is not what the log committed to.
        """
        by_kind: dict[type[Row], dict[str, Row]] = {}
        for row in rows:
            by_kind.setdefault(type(row), {})[row.row_id] = row
            self._read.pop((type(row), row.row_id), None)
        for kind, named in by_kind.items():
            known = self._expected(kind, list(named))
            fresh = []
            for name, row in named.items():
                values, salt = row.values(), secrets.token_hex(32)
                change = (kind.TABLE, name, commit(kind, values, salt))
                if name in known:
                    self._update(kind, row, [*values, salt], known)
                else:
                    fresh.append([*values, salt])
                self._changes[change[:2]] = change
            columns = _columns(kind)
            for start in range(0, len(fresh), limits.INSERT_ROWS):
                self._connection.insert(kind.TABLE, columns, fresh[start : start + limits.INSERT_ROWS], _types(kind))

    def once(self, key: str, request: Mapping[str, Any]) -> str | None:
        """Give the id that an earlier write with this idempotency key made; None when there was none.

        Then the first event of this transaction keeps the key with its subject. The request is kept as a salted hash.
        Raises Conflict when the key came with another request before, Invalid for a key that is no line of text or
        holds a credential: keys stand in the log for good.
        """
        key = check_line("idempotency_key", key, limits.REF_BYTES)
        refuse("idempotency_key", key)
        known = self.get(IdempotencyRow, self.actor, key)
        if known is None:
            self._once = IdempotencyRow(
                principal_id=self.actor,
                key=key,
                fingerprint=_fingerprint(secrets.token_hex(32), request),
                subject_id="",
                created_at=self.now,
            )
            return None
        if known.fingerprint is None or known.fingerprint != _fingerprint(known.fingerprint[:64], request):
            raise Conflict(
                f"idempotency key {key!r} was used for another request", hint="use a new key", subject=known.subject_id
            )
        return known.subject_id

    def delete(self, kind: type[Row], *key: Any) -> None:
        """Remove a row and its place in the signed state; the next event binds the removal."""
        self._connection.run(f"DELETE FROM {kind.TABLE} WHERE {_by_key(kind)}", list(key))
        self._read.pop((kind, row_id(*key)), None)
        self._changes[kind.TABLE, row_id(*key)] = (kind.TABLE, row_id(*key), None)

    def derived(self, sql: str, params: Sequence[Any] = ()) -> None:
        """Change a derived table (``schema.DERIVED``): nothing signs those, they can be rebuilt."""
        found = _CHANGE(sql)
        if found is None or found[1] not in schema.DERIVED:
            raise RuntimeError("rows of this table are put, so that an event binds them")
        self._connection.run(sql, params)

    def event(
        self,
        type: str,
        *,
        subject: str | None,
        namespace: str | None,
        payload: Mapping[str, Any],
        audience: Sequence[Target] = (),
        actor: str | None = None,
    ) -> int:
        """Record what was done, binding every row put since the last event; return the event's number.

        ``payload`` holds ids and the keys the specification names, never text. Rows that do not fit one event are
        spread over several of the same type.
        """
        if self._once is not None and subject is not None:
            kept, self._once = replace(self._once, subject_id=subject), None
            self.put(kept)
        changes, self._changes = list(self._changes.values()), {}
        sequence = 0
        for part in _portions(changes):
            sequence = self._ledger.append(
                self._connection,
                time=self.now,
                actor=actor or self.actor,
                type=type,
                namespace=namespace,
                subject=subject,
                payload=payload,
                audience=audience,
                changes=part,
            )
        return sequence

    @property
    def unbound(self) -> int:
        """How many rows wait for an event."""
        return len(self._changes)

    def _update(self, kind: type[Row], row: Row, values: Sequence[Any], known: Mapping[str, str]) -> None:
        """Set only the columns that differ: the engine replaces a row whose indexed column is named, changed or not."""
        key = [getattr(row, column) for column in kind.KEY]
        before = self._connection.rows(_select(kind, f"WHERE {_by_key(kind)}"), key)
        if not before:
            message = f"{kind.TABLE} {row.row_id} was deleted outside the log"
            raise Integrity(message, hint=HINT, table=kind.TABLE, id=row.row_id)
        _verified(kind, before, known)
        pairs = [(c, v) for c, v, old in zip(_columns(kind), values, before[0], strict=True) if v != old]
        sets = ", ".join(f"{column} = ?" for column, _ in pairs)
        self._connection.run(f"UPDATE {kind.TABLE} SET {sets} WHERE {_by_key(kind)}", [*(v for _, v in pairs), *key])

    def _expected(self, kind: type[Row], names: Sequence[str]) -> dict[str, str]:
        expected = super()._expected(kind, names)
        own = {name: self._changes[kind.TABLE, name][2] for name in names if (kind.TABLE, name) in self._changes}
        return {name: c for name, c in {**expected, **own}.items() if c is not None}

    def _verify_whole(self, pending: Sequence[Change] = ()) -> None:
        super()._verify_whole(list(self._changes.values()))


def _portions(changes: Sequence[Change]) -> list[list[Change]]:
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


def _fingerprint(salt: str, request: Mapping[str, Any]) -> str:
    """Hash a request under a salt and keep both; forgetting the subject erases them together.

    The request was not checked yet: a number or text that no row could hold is hashed too, and refused later.
    """
    text = json.dumps(request, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return salt + hashlib.sha256(f"request/v1{salt}{text}".encode(errors="surrogatepass")).hexdigest()


def commit(kind: type[Row], values: Sequence[Any], salt: object) -> str:
    """Compute the commitment of a row's column values under its salt; empty when the salt is none."""
    return commitment_of(kind.TABLE, kind.columns(), values, salt)


def _verified(kind: type[R], rows: Sequence[Sequence[Any]], expected: Mapping[str, str]) -> list[R]:
    """Build rows whose commitments are the expected ones; raises Integrity naming the first that is not."""
    found = []
    for values, key in zip(rows, _keys(kind, rows), strict=True):
        name = row_id(*key)
        if name not in expected or commit(kind, values[:-1], values[-1]) != expected[name]:
            message = f"{kind.TABLE} {name} is not what the log committed to"
            raise Integrity(message, hint=HINT, table=kind.TABLE, id=name)
        found.append(kind.from_values(values[:-1]))
    return found


def _columns(kind: type[Row]) -> tuple[str, ...]:
    return (*kind.columns(), "salt")


def _select(kind: type[Row], tail: str) -> str:
    return f"SELECT {', '.join(_columns(kind))} FROM {kind.TABLE} {tail}"


def _by_key(kind: type[Row]) -> str:
    return " AND ".join(f"{column} = ?" for column in kind.KEY)


def _keys(kind: type[Row], rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    places = [kind.columns().index(column) for column in kind.KEY]
    return [tuple(values[place] for place in places) for values in rows]


def _types(kind: type[Row]) -> dict[str, str]:
    """Name the engine's types of the columns that are not text, from the row's annotations."""
    types: dict[str, str] = {}
    for column in kind.columns():
        annotation = str(kind.__annotations__[column])
        if annotation.startswith("int"):
            types[column] = "BIGINT"
        elif annotation.startswith("bool"):
            types[column] = "BOOLEAN"
    return types
