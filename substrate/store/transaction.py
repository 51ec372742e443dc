"""Reading rows that match the signed state, and writing rows that cannot be written without their event.

Source: docs/spec/audit.md §1.4-1.5, docs/spec/model.md §4.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from audit.attestation import Witness, deciders, locked
from audit.errors import Conflict, Integrity, NotFound
from audit.event import Event, Target
from substrate import limits
from substrate.escape import quote
from substrate.identifiers import check_line
from substrate.secrets import refuse
from substrate.store import schema
from substrate.store.commitments import HINT, fingerprint
from substrate.store.db import Connection
from substrate.store.ledger import Head, Ledger
from substrate.store.model import IdempotencyRow, NamespaceRow, PrincipalRow, Row, row_id, to_json
from substrate.store.selection import by_key, by_keys, columns, commit, keys_of, selection, verified
from substrate.store.state import Change, portions

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
    def ledger(self) -> Ledger:
        """The log, one object for as long as the store is open."""
        return self._ledger

    @property
    def store_id(self) -> str:
        """The identity of this store."""
        return self._ledger.store_id

    @property
    def signed(self) -> bool:
        """Whether events of this store carry signatures."""
        return self._ledger.public_key is not None

    @property
    def key_id(self) -> str | None:
        """The id of the key that signs, if there is one here."""
        return self._ledger.key.key_id if self._ledger.key else None

    def sealed(self, principal_id: str) -> bool:
        """Tell whether a principal's key is sealed: then its own signature stands under what it decides."""
        row = self.get(PrincipalRow, principal_id)
        return row is not None and row.sealed

    def get(self, kind: type[R], *key: Any) -> R | None:
        """Read one row by its key; None when there is none, and the signed state says so too.

        A principal or a namespace, which every command asks for, is kept under its commitment: while the signed state
        holds that one, it is the row. Raises Integrity when the row was edited, replaced, added or deleted outside the
        log.
        """
        name = row_id(*key)
        expected = self._expected(kind, [name])
        familiar = self._ledger.familiar
        if expected.get(name) in familiar:
            return familiar[expected[name]]  # type: ignore[return-value]  # the commitment binds the table too
        row = self._fetch(kind, name, key, expected)
        if row is not None and kind in (NamespaceRow, PrincipalRow):
            if len(familiar) >= limits.FAMILIAR_ROWS:
                familiar.clear()
            familiar[expected[name]] = row
        return row

    def _fetch(self, kind: type[R], name: str, key: Sequence[Any], expected: Mapping[str, str]) -> R | None:
        rows = self._connection.rows(*by_keys(kind, [tuple(key)]))
        if not rows and name in expected:
            raise Integrity(f"{kind.TABLE} {name} was deleted outside the log", hint=HINT, table=kind.TABLE, id=name)
        return verified(kind, rows, expected)[0] if rows else None

    def get_many(self, kind: type[R], keys: Sequence[Any]) -> dict[str, R]:
        """Read rows by their keys (a tuple where a key has parts), by row id, in the order asked; absent ones left out.

        Checked like ``get``, absence included, and as cheap: nothing but these rows and their buckets is read.
        """
        parts = [key if isinstance(key, tuple) else (key,) for key in keys]
        wanted = list(dict.fromkeys(row_id(*key) for key in parts))
        if not wanted:
            return {}
        rows = self._connection.rows(*by_keys(kind, list(dict.fromkeys(parts))))
        expected = self._expected(kind, wanted)
        found = {row.row_id: row for row in verified(kind, rows, expected)}
        name = next((name for name in expected if name not in found), None)
        if name is not None:
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
        self.verify_whole()
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
        rows = self._connection.rows(selection(kind, tail), params)
        return verified(kind, rows, self._expected(kind, [row_id(*key) for key in keys_of(kind, rows)]))

    def count(self, kind: type[Row], where: str = "", params: Sequence[Any] = ()) -> int:
        """Count the rows a predicate picks."""
        tail = f" WHERE {where}" if where else ""
        return int(self.query(f"SELECT count(*) FROM {kind.TABLE}{tail}", params)[0][0])

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query for ids and aggregates; rows shown to anyone come from ``get`` or ``select``."""
        self.verify_whole()
        return self._connection.rows(sql, params)

    def columns(self, sql: str) -> list[Any]:
        """Run a query as ``query`` does, over many rows without a NULL; give each column as an array."""
        self.verify_whole()
        return self._connection.columns(sql)

    def events(
        self,
        after: int = 0,
        limit: int | None = None,
        *,
        subject: str | None = None,
        types: Sequence[str] = (),
        signed: bool = False,
    ) -> list[Event]:
        """Read events after a sequence number, in order; with ``signed``, as those shown are, each by its signature.

        Raises Integrity when they are not a sound part of the log that ends in the head.
        """
        named = (to_json(subject) or "").encode() if subject is not None else b""
        kinds = [f'"type":"{name}"'.encode() for name in types] or [b""]

        def wanted(body: bytes) -> bool:  # spares the parsing of most; what passes is looked at again
            return named in body and any(kind in body for kind in kinds)

        found = (
            event
            for event in self._ledger.feed(self._connection, after, wanted, limit, signed=signed)
            if (subject is None or event.subject == subject) and (not types or event.type in types)
        )
        return list(islice(found, limit))

    def _expected(self, kind: type[Row], names: Sequence[str]) -> dict[str, str]:
        """Give the commitment each row must have; a row without one must not exist."""
        return self._ledger.state.expected(self._connection, kind.TABLE, names)

    def verify_whole(self, pending: Sequence[Change] = ()) -> None:
        """Hold every row against the signed state, once in a process (see ``select``). Raises Integrity."""
        fault = self._ledger.state.first_fault(self._connection, limits.VERIFY_ROWS, pending)
        if fault is not None:
            kind, subject, message = fault
            raise Integrity(message, hint=HINT, kind=kind, subject=subject)


class Transaction(Reader):
    """A write: rows first, then the event that binds them; without an event it cannot commit."""

    def __init__(
        self,
        connection: Connection,
        ledger: Ledger,
        *,
        now: str,
        new_id: Callable[[str], str],
        actor: str,
        witness: Witness | None = None,
        attests: bool = False,
    ) -> None:
        super().__init__(connection, ledger)
        self.now, self.new_id, self.actor = now, new_id, actor
        self.witness, self.attests = witness, attests
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
            names = columns(kind)
            for start in range(0, len(fresh), limits.INSERT_ROWS):
                self._connection.insert(kind.TABLE, names, fresh[start : start + limits.INSERT_ROWS], kind.types())

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
                fingerprint=fingerprint(secrets.token_hex(32), request),
                subject_id="",
                created_at=self.now,
            )
            return None
        if known.fingerprint is None or known.fingerprint != fingerprint(known.fingerprint[:64], request):
            raise Conflict(
                f"idempotency key {quote(key)} was used for another request",
                hint="use a new key",
                subject=known.subject_id,
            )
        return known.subject_id

    def delete(self, kind: type[Row], *key: Any) -> None:
        """Remove a row and its place in the signed state; the next event binds the removal."""
        self._connection.run(f"DELETE FROM {kind.TABLE} WHERE {by_key(kind)}", list(key))
        self._read.pop((kind, row_id(*key)), None)
        self._changes[kind.TABLE, row_id(*key)] = (kind.TABLE, row_id(*key), None)

    def accept(self, changes: Sequence[Change]) -> None:
        """Bind rows as they lie in the file, or their absence, whatever the log has for them; the next event does."""
        self._changes.update({change[:2]: change for change in changes})

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
        spread over several of the same type. The witness vouches for it if the transaction ``attests``, and where it
        decides for somebody whose key is sealed; raises Forbidden where that somebody is not the witness.
        """
        by = self.witness if self._vouched(type, actor or self.actor, payload) else None
        if self._once is not None and subject is not None:
            kept, self._once = replace(self._once, subject_id=subject), None
            self.put(kept)
        changes, self._changes = list(self._changes.values()), {}
        sequence = 0
        for part in portions(changes):
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
                witness=by,
            )
        return sequence

    def _vouched(self, type: str, actor: str, payload: Mapping[str, Any]) -> bool:
        sealed = {id for id in deciders(type, actor, payload) if self.sealed(id)}
        if sealed - {self.witness.principal_id if self.witness else None}:
            raise locked(min(sealed))
        return bool(sealed) or (self.attests and self.witness is not None)

    def rotate_key(self) -> int:
        """Put a new key in force for what follows, and return the number of the event that does."""
        payload = self._ledger.prepare_rotation()
        return self.event("key_rotated", subject=self.store_id, namespace=None, payload=payload)

    @property
    def unbound(self) -> int:
        """How many rows wait for an event."""
        return len(self._changes)

    def _update(self, kind: type[Row], row: Row, values: Sequence[Any], known: Mapping[str, str]) -> None:
        """Set every column, so that the engine replaces the row.

        An update of some columns is not safe in a table with a second index: DuckDB 2.0.1 loses the change of a column
        from NULL to a value when it replays its log after a crash (docs/adr/0027-rows-are-replaced-whole.md).
        """
        name, key = row.row_id, [getattr(row, column) for column in kind.KEY]
        before = self._connection.rows(selection(kind, f"WHERE {by_key(kind)}"), key)
        if not before:
            raise Integrity(f"{kind.TABLE} {name} was deleted outside the log", hint=HINT, table=kind.TABLE, id=name)
        verified(kind, before, known)
        sets = ", ".join(f"{column} = ?" for column in columns(kind))
        self._connection.run(f"UPDATE {kind.TABLE} SET {sets} WHERE {by_key(kind)}", [*values, *key])

    def _expected(self, kind: type[Row], names: Sequence[str]) -> dict[str, str]:
        expected = super()._expected(kind, names)
        own = {name: self._changes[kind.TABLE, name][2] for name in names if (kind.TABLE, name) in self._changes}
        return {name: c for name, c in {**expected, **own}.items() if c is not None}

    def verify_whole(self, pending: Sequence[Change] = ()) -> None:
        """Hold every row against the signed state and what was put since the last event."""
        super().verify_whole(list(self._changes.values()))
