"""Rows held against the commitments kept for them: in Python where there are few, by the engine where there are many.

Source: docs/spec/audit.md §1.4 and §1.5.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from audit.commitment import commitment
from audit.errors import Integrity
from substrate.store import schema
from substrate.store.db import Connection, commitment_sql, row_id_sql
from substrate.store.model import row_id

Fault = tuple[str, str | None, str]  # kind, subject, message
HINT = "`ai-memory doctor` names what differs and the command that mends it; `--tolerate` reads the rest"
_FEW = 500  # rows of a table whose commitments Python computes faster than the engine
_SALT = re.compile(r"[0-9a-f]{64}").fullmatch


def filled_tables(connection: Connection) -> list[str]:
    """Name the committed tables that hold rows or should."""
    some = " UNION ALL ".join(f"(SELECT '{table}' AS tbl FROM {table} LIMIT 1)" for table in schema.COMMITTED)
    filled = {t for (t,) in connection.rows(f"{some} UNION SELECT DISTINCT tbl FROM state_entries")}
    unknown = filled - schema.COMMITTED.keys()
    if unknown:
        raise Integrity(f"the signed state names unknown tables: {', '.join(sorted(unknown))}", hint=HINT)
    return sorted(filled)


def table_faults(
    connection: Connection, table: str, limit: int, pending: Mapping[tuple[str, str], str | None] | None = None
) -> list[Fault]:
    """Hold every row of one table against the commitments kept for it; ``pending`` commitments count before those.

    Raises Integrity when the table is not there or has other columns.
    """
    if table not in schema.COMMITTED:
        return [("row_forged", None, f"the signed state names a table {table!r:.80}, which is none")]
    own = pending or {}
    names, some = connection.table(f"SELECT * FROM {table} LIMIT {_FEW + 1}")
    columns = names[:-1]
    if names[-1:] != ["salt"] or not {*schema.COMMITTED[table]} <= {*columns}:
        raise Integrity(f"the columns of {table} are not what they should be", hint=HINT)
    if len(some) <= _FEW:
        rows = _differences(connection, table, columns, some)
    else:
        rows = connection.rows(_differences_sql(table, columns, limit + len(own)), [table])
    named: list[Fault] = []
    for row, actual, signed in rows:
        expected = own.get((table, row), signed)
        if actual == expected:
            continue
        if actual is None:
            named.append(("row_deleted", row, f"{table} {row} was deleted outside the log"))
        elif expected is None:
            named.append(("row_forged", row, f"{table} {row} was added outside the log"))
        else:
            named.append(("row_edited", row, f"{table} {row} is not what the log committed to"))
    return named[:limit]


def _differences(
    connection: Connection, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> list[tuple[str, str | None, str | None]]:
    """Give id, actual and signed commitment of the rows where these differ, in the order of the ids.

    For few rows: the engine takes longer to plan the hashing than Python takes to do it.
    """
    places = [columns.index(column) for column in schema.COMMITTED[table]]
    actual = {
        row_id(*(row[place] for place in places)): commitment_of(table, columns, row[:-1], row[-1]) for row in rows
    }
    signed = dict(connection.rows("SELECT id, commitment FROM state_entries WHERE tbl = ?", [table]))
    ids = sorted(actual.keys() | signed.keys())
    return [(i, actual.get(i), signed.get(i)) for i in ids if actual.get(i) != signed.get(i)]


def _differences_sql(table: str, columns: Sequence[str], limit: int) -> str:
    return (
        f"SELECT coalesce(r.i, e.id), r.c, e.commitment FROM (SELECT {row_id_sql(table)} AS i,"
        f" {commitment_sql(table, columns)} AS c FROM {table}) r FULL OUTER JOIN"
        " (SELECT id, commitment FROM state_entries WHERE tbl = ?) e ON r.i = e.id"
        f" WHERE r.c IS DISTINCT FROM e.commitment ORDER BY 1 LIMIT {limit}"
    )


def commitment_of(table: str, columns: Sequence[str], values: Sequence[Any], salt: object) -> str:
    """Compute the commitment of a row's column values under its salt; empty when the salt is none."""
    if not (isinstance(salt, str) and _SALT(salt)):
        return ""
    return commitment(salt, table, list(zip(columns, map(_text, values), strict=True)))


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def fingerprint(salt: str, request: Mapping[str, Any]) -> str:
    """Hash a request under a salt and keep both; forgetting the subject erases them together.

    The request was not checked yet: a number or text that no row could hold is hashed too, and refused later.
    """
    text = json.dumps(request, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return salt + hashlib.sha256(f"request/v1{salt}{text}".encode(errors="surrogatepass")).hexdigest()
