"""Actions on single memories: write, find, reword, close.

Source: docs/spec/model.md §5; docs/spec/requirements.md S3-8, S3-31.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from substrate.actions.registry import Json, action
from substrate.home import Memory
from substrate.memory import memories
from substrate.memory.wire import wire


@action("remember", writes=True)
def remember(
    memory: Memory,
    *,
    text: str,
    namespace: str = "global",
    memory_type: str = "fact",
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    tags: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
    applies_to: Sequence[str] | None = None,
    sources: Sequence[Mapping[str, Any]] | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
    idempotency_key: str | None = None,
) -> Json:
    """Store an observation and answer with its row; with a ``name`` it takes the place of the note of that name."""
    given: dict[str, Any] = {
        "namespace": namespace,
        "memory_type": memory_type,
        "name": name,
        "title": title,
        "description": description,
        "tags": tags,
        "metadata": metadata,
        "applies_to": applies_to,
        "sources": sources,
        "valid_from": valid_from,
        "valid_until": valid_until,
    }
    with memory.write() as tx:
        known = tx.once(idempotency_key, {"remember": text, **given}) if idempotency_key is not None else None
        if known is not None:
            return wire(memories.get(tx, memory.caller, known))
        return wire(memories.remember(tx, memory.caller, text, **given))


@action("get", writes=False)
def get(memory: Memory, *, id: str, namespace: str | None = None) -> Json:
    """Read one memory by id or name, with the ids it is derived from."""
    with memory.read() as r:
        row = memories.get(r, memory.caller, id, namespace=namespace)
        return wire(row, memories.sources_of(r, [row.id])[row.id])


@action("list", writes=False)
def list_(
    memory: Memory,
    *,
    namespace: str | None = None,
    all: bool = False,
    kind: str | None = None,
    memory_type: str | None = None,
    tag: str | None = None,
    entity: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
) -> Json:
    """List the memories the caller may read, newest first; ``all`` adds closed ones and tombstones."""
    with memory.read() as r:
        rows, total = memories.list_(
            r,
            memory.caller,
            namespace=namespace,
            include_closed=all,
            kind=kind,
            type=memory_type,
            tag=tag,
            entity=entity,
            limit=limit,
            offset=offset,
        )
    return {"items": [wire(row) for row in rows], "total": total}


@action("edit", writes=True)
def edit(memory: Memory, *, id: str, text: str, title: str | None = None, namespace: str | None = None) -> Json:
    """Reword a memory: a new row takes its place, the old wording stays readable as superseded."""
    with memory.write() as tx:
        row = memories.edit(tx, memory.caller, id, text, title, namespace=namespace)
        return wire(row, memories.sources_of(tx, [row.id])[row.id])


@action("retire", writes=True)
def retire(memory: Memory, *, id: str, why: str, namespace: str | None = None) -> Json:
    """Close a memory with a reason; its text stays readable."""
    with memory.write() as tx:
        return wire(memories.retire(tx, memory.caller, id, why, namespace=namespace))
