"""Write, find, reword and close memories.

A write is rows, links and events in one transaction, and knows no index. Everything a caller gives is checked first, so
a refusal leaves nothing behind.

Source: docs/spec/model.md §4 (Lifecycle), §3 C5, C9, C12; docs/spec/requirements.md S2-3, S3-31.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from substrate import secrets
from substrate.errors import Invalid, Refused
from substrate.escape import quote
from substrate.identifiers import check_limit, check_line, check_offset, check_tag, check_text
from substrate.memory import entities, feed, heads
from substrate.memory.draft import MEMORY_TYPES, check_reason, draft, most_bytes
from substrate.memory.references import AMONG, Sight, find, live_named, require_active
from substrate.memory.reflections import Reflected, reflect
from substrate.memory.writing import ORIGINS, closed, new_row, write, written_by
from substrate.scopes import access, namespaces
from substrate.scopes.caller import Caller
from substrate.store.model import LinkRow, MemoryRow
from substrate.store.transaction import Reader, Transaction

__all__ = ["Reflected", "by_ids", "edit", "get", "list_", "reflect", "remember", "retire", "sources_of"]

KINDS = ("observation", "reflection", "persona")


def remember(
    tx: Transaction,
    caller: Caller,
    content: str,
    *,
    namespace: str = "global",
    memory_type: str = "fact",
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    tags: Iterable[str] = (),
    metadata: Mapping[str, Any] | None = None,
    applies_to: Iterable[str] | None = None,
    sources: Iterable[Mapping[str, Any]] | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
    origin: str | None = None,
    entity_id: str | None = None,
) -> MemoryRow:
    """Write an observation and return its row.

    A live memory of the same `name` in the namespace is superseded; a write without a name always makes a new row.
    `applies_to` restricts it to these agents. `sources` say where it comes from outside the store: `{kind, ref, at}`.
    `entity_id` is not honoured: only reflections are bound to an entity (S3-31).

    Raises Invalid naming the field, NotFound and Forbidden for the namespace, MemoryFull; nothing is written then.
    """
    del entity_id
    given = draft(
        tx,
        caller,
        content,
        kind="observation",
        namespace=namespace,
        memory_type=memory_type,
        name=name,
        title=title,
        description=description,
        tags=tags,
        metadata=metadata,
        applies_to=applies_to,
        sources=sources,
        valid_from=valid_from,
        valid_until=valid_until,
    )
    old = live_named(tx, caller, given.namespace, given.name) if given.name else None
    if old is not None:
        access.check_row(tx, caller, "edit", old)
    return write(tx, caller, new_row(tx, caller, given, origin=origin), old=old)


def get(r: Reader, caller: Caller, ref: str, *, namespace: str | None = None) -> MemoryRow:
    """Read one memory by id, or by a name in use; `namespace` is where to look for a name, None for everywhere.

    A tombstone is returned as one. Raises NotFound, the same for what is absent and what the caller may not read.
    """
    return find(r, caller, ref, namespace)


def by_ids(r: Reader, caller: Caller, ids: Iterable[str]) -> dict[str, MemoryRow]:
    """Read the visible memories among these ids, in their order; what is absent or hidden is left out."""
    return Sight(r, caller).rows(ids)


def sources_of(r: Reader, ids: Iterable[str]) -> dict[str, list[str]]:
    """Map each memory to the ids it is derived from, in the order the links were made."""
    found: dict[str, list[str]] = {id: [] for id in ids}
    where = f"relation = 'derived_from' AND source_id {AMONG}"
    for row in r.select(LinkRow, where, (list(found),), order="sequence, target_id") if found else []:
        found[row.source_id].append(row.target_id)
    return found


def list_(
    r: Reader,
    caller: Caller,
    *,
    namespace: str | None = None,
    include_closed: bool = False,
    kind: str | None = None,
    type: str | None = None,
    tag: str | None = None,
    entity: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
) -> tuple[list[MemoryRow], int]:
    """Read a page of the memories the caller sees, newest first, and how many there are in all.

    `namespace` None is everything the caller may read. `entity` takes memories about it and its personas, under every
    name that leads to it. `include_closed` adds superseded and retired memories and tombstones.
    """
    limit, offset = check_limit(limit), check_offset(offset)
    where, params = Sight(r, caller).where()
    if namespace is not None:
        path = namespaces.resolve(r, namespace)
        access.check(r, caller, "read_curated", path)
        where, params = f"{where} AND namespace = ?", [*params, path]
    if not include_closed:
        where += " AND status = 'active'"
    for column, value, choices in (("memory_kind", kind, KINDS), ("memory_type", type, MEMORY_TYPES)):
        if value is not None:
            if value not in choices:
                raise Invalid(
                    f"{quote(value)} is no {column.replace('_', ' ')}",
                    hint=f"one of: {', '.join(choices)}",
                    fields={column: "choice"},
                )
            where, params = f"{where} AND {column} = ?", [*params, value]
    if tag is not None:
        where, params = f"{where} AND strpos(tags, ?) > 0", [*params, f'"{check_tag(tag)}"']
    if entity is not None:
        ids = sorted(entities.ids_of(r, entity, namespace or "global"))
        where += f" AND (mentioned_entity_id {AMONG} OR entity_id {AMONG})"
        params = [*params, ids, ids]
    rows = r.select(MemoryRow, where, params, order="sequence DESC, id DESC", limit=limit, offset=offset)
    return rows, r.count(MemoryRow, where, params)


def edit(
    tx: Transaction,
    caller: Caller,
    ref: str,
    content: str,
    title: str | None = None,
    *,
    namespace: str | None = None,
) -> MemoryRow:
    """Reword a memory: a new row takes its place and the old wording stays readable as superseded.

    The new row keeps everything but the wording: kind, type, name, tags, metadata, provenance, the entity it is bound
    to and the memories it is derived from. `title` None keeps the title. Raises Conflict when the memory is closed,
    Refused for a persona, which only regeneration changes.
    """
    old = find(tx, caller, ref, namespace)
    access.check_row(tx, caller, "edit", old)
    if old.memory_kind == "persona":
        raise Refused(
            f"{quote(old.id)} is a persona, which is not edited by hand",
            hint="correct the reflections it cites, then regenerate it",
        )
    require_active(old)
    words: dict[str, Any] = {
        "title": old.title if title is None else check_line("title", title),
        "content": check_text("content", content, most_bytes(old.namespace, old.memory_kind, old.memory_type)),
    }
    secrets.refuse_all(words)
    row = replace(
        old,
        **words,
        **written_by(caller),
        id=tx.new_id("mem"),
        size_bytes=len(content.encode()),
        origin=old.origin if old.origin == "curator" else ORIGINS[caller.kind],
        confirmed_by=None,
        request_id=None,
        promoted_at=None,
        promoted_seen=None,
        created_at=tx.now,
        updated_at=tx.now,
        sequence=tx.sequence,
    )
    return write(tx, caller, row, derived_from=sources_of(tx, [old.id])[old.id], old=old)


def retire(tx: Transaction, caller: Caller, ref: str, why: str, *, namespace: str | None = None) -> MemoryRow:
    """Close a memory with a reason and keep its text; return the row as it is now.

    A retired persona is served no more, and no older one in its place. Raises Conflict when it is closed already.
    """
    row = find(tx, caller, ref, namespace)
    access.check_row(tx, caller, "retire", row)
    reason = check_reason(why)
    require_active(row)
    row = closed(tx, caller, row, "retired", status_reason=reason)
    tx.put(row, *heads.emptied(heads.serving(tx, [row])))
    feed.retired(tx, caller, row)
    return row
