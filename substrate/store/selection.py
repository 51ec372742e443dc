"""Reading rows of one kind: the SQL for all their columns, by a predicate or by keys, and what holds them to the log.

Source: docs/spec/audit.md §1.4; docs/adr/0032-links-are-kept-in-memory-by-who-keeps-asking.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from audit.errors import Integrity
from substrate.store.commitments import HINT, commitment_of
from substrate.store.db import row_id_sql
from substrate.store.model import Row, row_id

R = TypeVar("R", bound=Row)
_LISTED = 500  # keys named one by one; more of them take the engine longer to read than a list does


def columns(kind: type[Row]) -> tuple[str, ...]:
    """Name the columns in the order they are read in, the salt last."""
    return (*kind.columns(), "salt")


def selection(kind: type[Row], tail: str) -> str:
    """Give a query for rows of this kind; ``tail`` says which and in what order."""
    return f"SELECT {', '.join(columns(kind))} FROM {kind.TABLE} {tail}"


def by_keys(kind: type[Row], keys: Sequence[tuple[Any, ...]]) -> tuple[str, list[Any]]:
    """Give a query for the rows of these keys, and its parameters.

    Where it can, the engine is asked for one column alone, with constants: only then does it look into an index.
    """
    names = [row_id(*key) for key in keys]
    if len(kind.KEY) == 1:
        where, parameters = _among(kind.KEY[0], names)
        return selection(kind, f"WHERE {where}"), parameters
    if len(keys) == 1 and kind.INDEX is None:
        return selection(kind, f"WHERE {by_key(kind)}"), list(keys[0])
    column = kind.INDEX or kind.KEY[0]
    first, parameters = _among(column, list(dict.fromkeys(key[kind.KEY.index(column)] for key in keys)))
    wanted, more = _among(row_id_sql(kind.TABLE), names)
    found = f"WITH found AS MATERIALIZED (SELECT * FROM {kind.TABLE} WHERE {first})"
    return f"{found} SELECT {', '.join(columns(kind))} FROM found WHERE {wanted}", [*parameters, *more]


def _among(expression: str, values: Sequence[str]) -> tuple[str, list[Any]]:
    """Give SQL that holds where an expression is one of these values, and its parameters."""
    if len(values) > _LISTED:
        return f"{expression} IN (SELECT unnest(?::TEXT[]))", [list(values)]
    return f"{expression} IN ({', '.join('?' * len(values))})", list(values)


def by_key(kind: type[Row]) -> str:
    """Give a predicate that holds for the row of one key, whose parts are its parameters."""
    return " AND ".join(f"{column} = ?" for column in kind.KEY)


def keys_of(kind: type[Row], rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Give the key of each row that was read."""
    places = [kind.columns().index(column) for column in kind.KEY]
    return [tuple(values[place] for place in places) for values in rows]


def commit(kind: type[Row], values: Sequence[Any], salt: object) -> str:
    """Compute the commitment of a row's column values under its salt; empty when the salt is none."""
    return commitment_of(kind.TABLE, kind.columns(), values, salt)


def verified(kind: type[R], rows: Sequence[Sequence[Any]], expected: Mapping[str, str]) -> list[R]:
    """Build rows whose commitments are the expected ones; raises Integrity naming the first that is not."""
    found = []
    for values, key in zip(rows, keys_of(kind, rows), strict=True):
        name = row_id(*key)
        if name not in expected or commit(kind, values[:-1], values[-1]) != expected[name]:
            message = f"{kind.TABLE} {name} is not what the log committed to"
            raise Integrity(message, hint=HINT, table=kind.TABLE, id=name)
        found.append(kind.from_values(values[:-1]))
    return found
