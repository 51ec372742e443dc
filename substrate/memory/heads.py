"""Keep the newest persona of an entity findable, and never an older one in its place.

A head names the persona that is served. When that persona is closed or erased the head stays, empty, with its version:
an older version is not served for it, and the next one still counts on.

Source: docs/spec/audit.md §1.5; docs/spec/persona.md §6.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from substrate.memory.references import AMONG
from substrate.store.model import MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader


def serving(r: Reader, personas: Iterable[MemoryRow]) -> list[PersonaHeadRow]:
    """Read the heads that serve one of these persona versions, by namespace and entity."""
    ids = [row.id for row in personas if row.memory_kind == "persona"]
    return r.select(PersonaHeadRow, f"persona_id {AMONG}", (ids,), order="namespace, entity_id") if ids else []


def emptied(heads: Iterable[PersonaHeadRow]) -> list[PersonaHeadRow]:
    """Give the same heads serving nothing, their version kept."""
    return [replace(head, persona_id=None) for head in heads]
