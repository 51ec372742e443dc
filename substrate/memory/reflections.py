"""Write reflections: what follows from other memories, bound to the entity it speaks of.

Source: docs/spec/requirements.md S3-27 to S3-32, S3-44; docs/spec/model.md §4.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from substrate import limits, secrets
from substrate.errors import Conflict, Invalid
from substrate.escape import quote
from substrate.identifiers import check_entity_id, check_line, fold
from substrate.memory import entities
from substrate.memory.draft import draft
from substrate.memory.references import find_all
from substrate.memory.writing import new_row, write
from substrate.scopes.caller import Caller
from substrate.store.model import Json, MemoryRow
from substrate.store.transaction import Transaction

_LOG = logging.getLogger("substrate.memory")
_MARKER = re.compile(r"\[entity:([^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class Reflected:
    """A reflection as written: its row, the ids it rests on in the order given, the entity it was bound to, if any."""

    row: MemoryRow
    sources: tuple[str, ...]
    entity_id: str | None
    depth: int

    def wire(self, persona_due: bool) -> dict[str, Any]:
        """Return the answer of `reflect` as JSON; whether a persona is due is for the curator to say."""
        return {
            "id": self.row.id,
            "reflection_depth": self.depth,
            "sources": list(self.sources),
            "entity_id": self.entity_id,
            "namespace": self.row.namespace,
            "persona_due": persona_due,
        }


def reflect(
    tx: Transaction,
    caller: Caller,
    title: str,
    content: str,
    *,
    sources: Iterable[str],
    entity_id: str | None = None,
    namespace: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    memory_type: str = "fact",
    tags: Iterable[str] = (),
    applies_to: Iterable[str] | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
    origin: str | None = None,
) -> Reflected:
    """Write a reflection that rests on `sources`, ids or names of memories, and link it to each of them.

    It speaks of the entity named by `metadata.entity_id`, else by `entity_id`, else by `[entity:<id>]` in the title;
    blank ones fall through. Where metadata and parameter name different entities metadata wins and a warning is logged.
    `mentioned_entity_id` is the entity these lead to now; `metadata.entity_id` keeps the spelling. The depth is one
    more than the deepest source's. The namespace is `global` unless given; a source may have fewer readers than the
    reflection, which is the caller's own statement.

    Raises NotFound for a source that is absent or not visible, Conflict for a forgotten one, Invalid for none.
    """
    title = check_line("title", title)
    spelling, metadata = bind(title, metadata, entity_id)
    secrets.refuse_all({"entity_id": spelling})
    given = draft(
        tx,
        caller,
        content,
        kind="reflection",
        namespace=namespace if namespace is not None else "global",
        memory_type=memory_type,
        title=title,
        tags=tags,
        metadata=metadata,
        applies_to=applies_to,
        valid_from=valid_from,
        valid_until=valid_until,
    )
    rows = _sources(tx, caller, sources)
    entity = entities.resolve(tx, spelling, given.namespace).entity_id if spelling is not None else None
    depth = 1 + max(row.reflection_depth for row in rows)
    row = new_row(tx, caller, given, origin=origin, mentioned_entity_id=entity, reflection_depth=depth)
    ids = tuple(source.id for source in rows)
    return Reflected(write(tx, caller, row, derived_from=ids), ids, entity, depth)


def bind(title: str | None, metadata: Json | None, entity_id: str | None = None) -> tuple[str | None, Json | None]:
    """Return the spelling of the entity a reflection names, None for none, and its metadata with that spelling in it.

    Pure, and the same at write time and when personas are due. Raises Invalid for an id out of form.
    Source: S3-28, S3-29, S3-30.
    """
    stated = metadata.get("entity_id") if isinstance(metadata, Mapping) else None
    asked = [_spelling(stated), _spelling(entity_id)]
    if asked[0] is not None and asked[1] is not None and fold(asked[0]) != fold(asked[1]):
        _LOG.warning("metadata names entity %s and the parameter %s; metadata wins", quote(asked[0]), quote(asked[1]))
    marked = (_spelling(found[1]) for found in _MARKER.finditer(title or ""))
    spelling = next((found for found in chain(asked, marked) if found is not None), None)
    if spelling is None or not isinstance(metadata, Mapping | None):
        return spelling, metadata
    return spelling, {**(metadata or {}), "entity_id": spelling}


def _spelling(raw: object) -> str | None:
    """Return an id trimmed, None for a blank one."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return None
    return check_entity_id(raw)  # type: ignore[arg-type]  # it refuses what is no text


def _sources(tx: Transaction, caller: Caller, refs: Iterable[str]) -> list[MemoryRow]:
    if isinstance(refs, str) or not isinstance(refs, Iterable):
        raise Invalid(f"sources {quote(refs)} is not a list of ids", hint="pass ids", fields={"sources": "type"})
    given = list(refs)
    if not given:
        raise Invalid(
            "a reflection rests on at least one memory",
            hint="name the memories it follows from, or remember it as an observation",
            fields={"sources": "blank"},
        )
    if len(given) > limits.REFLECT_SOURCES:
        raise Invalid(
            f"{len(given)} sources, at most {limits.REFLECT_SOURCES}",
            hint="reflect in steps: first over parts, then over these reflections",
            fields={"sources": "too_many"},
        )
    rows = find_all(tx, caller, given)
    for row in rows:
        if row.status == "deleted":
            raise Conflict(f"memory {quote(row.id)} was forgotten", hint="leave it out", status="deleted")
    return rows
