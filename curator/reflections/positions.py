"""Keep up to where the observations of a namespace were looked at for an entity, so that none is chewed twice.

A position is derived: losing it costs another look, and what was reflected on is known from links in any case.

Source: docs/spec/reflections.md §1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from substrate.store.model import row_id
from substrate.store.transaction import Reader, Transaction


@dataclass(frozen=True, slots=True)
class Position:
    """The number of the last event looked at, and when; 0 and empty for never."""

    event: int = 0
    time: str = ""


SEEN: Final = "reflections"  # looked at, and reflected on or dropped
TRIED: Final = "reflections-tried"  # an attempt by cadence came to nothing


def read(r: Reader, namespace: str, entity_id: str, names: Iterable[str], kind: str = SEEN) -> Position:
    """Read the position for an entity under these names: under other names everything is looked at again."""
    name = _name(kind, namespace, entity_id, names)
    rows = r.query("SELECT position, updated_at FROM cursors WHERE name = ?", (name,))
    return Position(*rows[0]) if rows else Position()


def move(tx: Transaction, namespace: str, entity_id: str, names: Iterable[str], event: int, kind: str = SEEN) -> None:
    """Set the position, never backwards, and drop those under other names."""
    told = list(names)
    name = _name(kind, namespace, entity_id, told)
    event = max(event, read(tx, namespace, entity_id, told, kind).event)
    tx.derived("DELETE FROM cursors WHERE starts_with(name, ?)", (_stem(kind, namespace, entity_id),))
    tx.derived("INSERT INTO cursors (name, position, updated_at) VALUES (?, ?, ?)", (name, event, tx.now))


def _stem(kind: str, namespace: str, entity_id: str) -> str:
    return f"{kind}:{row_id(namespace, entity_id)}:"


def _name(kind: str, namespace: str, entity_id: str, names: Iterable[str]) -> str:
    told = hashlib.sha256("\0".join(sorted(names)).encode()).hexdigest()[:16]
    return _stem(kind, namespace, entity_id) + told
