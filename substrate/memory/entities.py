"""Know entities under all their names.

An id is compared folded. Unregistered, it is its own entity. Registered names lead on: an alias one hop to its entity,
a merged entity to the survivor. Names are looked up in the namespace first, then in those around it, then in `global`;
the nearest namespace that knows a name decides, so an entity registered locally is shielded from names given further
out.

Source: DESIGN §3; docs/spec/requirements.md S3-27, S3-44.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from substrate import limits, secrets
from substrate.errors import Conflict, Invalid
from substrate.escape import quote
from substrate.identifiers import check_entity_id, check_line, check_name, fold
from substrate.memory import feed, heads
from substrate.memory.entity_names import Resolved, ids_of, lookup_paths, registered, resolve, target
from substrate.memory.references import AMONG, Sight
from substrate.memory.wire import principal
from substrate.memory.writing import closed
from substrate.scopes import access, namespaces
from substrate.scopes.caller import Caller
from substrate.scopes.rules import Verdict
from substrate.store.model import AliasRow, EntityRow, MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader, Transaction

__all__ = [
    "Merged",
    "Resolved",
    "Shown",
    "add",
    "alias",
    "ids_of",
    "lookup_paths",
    "merge",
    "nearest",
    "resolve",
    "show",
]


@dataclass(frozen=True, slots=True)
class Shown:
    """What is registered and known of an entity: its other names, how many active reflections, its persona."""

    entity_id: str
    display: str
    namespace: str
    kind: str | None
    registered: bool
    names: tuple[str, ...]
    reflections: int
    persona_id: str | None
    persona_version: int | None


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge: the id that went, the survivor, the former's personas that were retired, and whose persona is due."""

    entity_id: str
    survivor: str
    retired: tuple[str, ...]
    due: tuple[tuple[str, str], ...]


def add(
    tx: Transaction,
    caller: Caller,
    raw: str,
    *,
    namespace: str = "global",
    name: str | None = None,
    kind: str | None = None,
) -> EntityRow:
    """Register an entity in a namespace, or change the name and kind it is registered with there.

    The name leads to it from then on, as an alias does, when it has the form of an id. Raises Conflict when the id is
    an alias there or was merged into another, or when the name leads to another there.
    """
    path = _writable(tx, caller, namespace)
    spelling = check_entity_id(raw)
    id = fold(spelling)
    shown = check_line("name", name) if name is not None else None
    sort = check_name(kind, field="kind") if kind is not None else None
    secrets.refuse_all({"entity_id": spelling, "name": shown, "kind": sort})
    if alias := tx.get(AliasRow, path, id):
        raise Conflict(f"{quote(id)} is an alias of {quote(alias.entity_id)}", hint="choose another id", entity_id=id)
    before = tx.get(EntityRow, path, id)
    if before is not None and before.merged_into:
        raise Conflict(
            f"{quote(id)} was merged into {quote(before.merged_into)}", hint="register that one", entity_id=id
        )
    row = before or EntityRow(namespace=path, entity_id=id, canonical_name=spelling, created_at=tx.now)
    row = replace(row, canonical_name=shown or row.canonical_name, kind=sort or row.kind)
    named = _leading(tx, path, id, shown)
    if row != before or named:
        namespaces.ensure(tx, caller, path)
        tx.put(row, *named)
        _record(tx, caller, path, id, "registered", **({"alias": named[0].alias_folded} if named else {}))
    return row


def alias(tx: Transaction, caller: Caller, raw: str, entity: str, *, namespace: str = "global") -> AliasRow:
    """Let another name stand for an entity in a namespace; the entity is registered there if nowhere around.

    Raises Conflict when the name is registered there itself, which a merge is for, or is another entity's alias there.
    """
    path = _writable(tx, caller, namespace)
    spelling, target = check_entity_id(raw, field="alias"), resolve(tx, entity, path)
    folded = fold(spelling)
    secrets.refuse_all({"alias": spelling, "entity_id": entity})
    if folded == target.entity_id:
        raise Invalid(f"{quote(folded)} is the entity's own id", hint="give another name", fields={"alias": "same"})
    if tx.get(EntityRow, path, folded):
        raise Conflict(
            f"{quote(folded)} is registered in {path}", hint="merge the two: `ai-memory entity merge`", entity_id=folded
        )
    before = tx.get(AliasRow, path, folded)
    if before is not None and before.entity_id != target.entity_id:
        raise Conflict(
            f"{quote(folded)} is an alias of {quote(before.entity_id)}", hint="choose another name", entity_id=folded
        )
    if before is not None:
        return before
    row = AliasRow(namespace=path, alias_folded=folded, entity_id=target.entity_id, created_at=tx.now)
    namespaces.ensure(tx, caller, path)
    tx.put(row, *_registration(tx, target, path))
    _record(tx, caller, path, target.entity_id, "aliased", alias=folded)
    return row


def merge(tx: Transaction, caller: Caller, gone: str, survivor: str, *, namespace: str = "global") -> Merged:
    """Make two entities one: the id that goes leads to the survivor, its persona is retired, the survivor's is due.

    Personas are retired wherever the merge changes what the id leads to and the caller may write. Raises Invalid when
    both lead to the same entity already, Conflict when the id that goes is an alias there.
    """
    path = _writable(tx, caller, namespace)
    old, new = resolve(tx, gone, path), resolve(tx, survivor, path)
    id = fold(check_entity_id(gone))
    secrets.refuse_all({"entity_id": gone, "survivor": survivor})
    if old.entity_id == new.entity_id:
        raise Invalid(
            f"{quote(gone)} and {quote(survivor)} are one entity already",
            hint="nothing to merge",
            fields={"into": "same"},
        )
    if old.entity_id != id:
        raise Conflict(
            f"{quote(id)} already leads to {quote(old.entity_id)}",
            hint=f"merge {quote(old.entity_id)} instead",
            entity_id=id,
        )
    namespaces.ensure(tx, caller, path)
    before = tx.get(EntityRow, path, id) or EntityRow(
        namespace=path, entity_id=id, canonical_name=old.display, created_at=tx.now
    )
    tx.put(replace(before, merged_into=new.entity_id), *_registration(tx, new, path))
    served = _served_under(tx, caller, id, path)
    personas = tx.select(MemoryRow, f"id {AMONG}", ([head.persona_id for head in served],), order="namespace, id")
    retired = [closed(tx, caller, row, "retired", status_reason=f"merged into {new.entity_id}") for row in personas]
    tx.put(*retired, *heads.emptied(served))
    _record(tx, caller, path, id, "merged", merged_into=new.entity_id)
    for row in retired:
        feed.retired(tx, caller, row)
    due = dict.fromkeys([(new.entity_id, path), *((new.entity_id, row.namespace) for row in retired)])
    return Merged(id, new.entity_id, tuple(row.id for row in retired), tuple(due))


def show(r: Reader, caller: Caller, raw: str, *, namespace: str = "global") -> Shown:
    """Tell what is known of an entity in a namespace, whatever name it is asked by."""
    path = namespaces.resolve(r, namespace)
    access.check(r, caller, "read_curated", path)
    found = resolve(r, raw, path)
    names = ids_of(r, raw, path)
    row = registered(r, found.entity_id, lookup_paths(path))
    visible, params = Sight(r, caller).where()
    where = f"namespace = ? AND memory_kind = 'reflection' AND status = 'active' AND mentioned_entity_id {AMONG}"
    head = r.get(PersonaHeadRow, path, found.entity_id)
    return Shown(
        entity_id=found.entity_id,
        display=found.display,
        namespace=path,
        kind=row.kind if row else None,
        registered=row is not None,
        names=tuple(sorted(names - {found.entity_id})),
        reflections=r.count(MemoryRow, f"{where} AND {visible}", [path, sorted(names), *params]),
        persona_id=head.persona_id if head else None,
        persona_version=head.version if head else None,
    )


def nearest(r: Reader, raw: str, namespace: str, n: int = 3) -> list[str]:
    """Return up to `n` ids that are registered or spoken of here and spelled most like the one asked, likest first."""
    asked, around = fold(raw)[: limits.ENTITY_ID_BYTES], lookup_paths(namespace)
    known = r.query(
        f"SELECT entity_id FROM entities WHERE namespace {AMONG} AND merged_into IS NULL"
        f" UNION SELECT alias_folded FROM entity_aliases WHERE namespace {AMONG}"
        " UNION SELECT mentioned_entity_id FROM memories WHERE namespace = ? AND status = 'active'"
        " AND applies_to IS NULL AND mentioned_entity_id IS NOT NULL ORDER BY 1",
        (around, around, namespace),
    )
    return get_close_matches(asked, [id for (id,) in known if id != asked], n)


def _leading(tx: Transaction, path: str, id: str, name: str | None) -> list[AliasRow]:
    """Give the alias by which the name that an entity is shown by leads to it, nothing where it does or cannot."""
    try:
        folded = fold(check_entity_id(name or id))
    except Invalid:
        return []  # too long for a name to be asked by; it is shown all the same
    taken, there = tx.get(AliasRow, path, folded), tx.get(EntityRow, path, folded)
    holder = taken.entity_id if taken else (there.merged_into or folded) if there else id
    if folded != id and holder != id:
        raise Conflict(
            f"the name {quote(name or id)} leads to {quote(holder)} in {path}",
            hint="choose a name that tells the two apart, or merge them: `ai-memory entity merge`",
            entity_id=folded,
        )
    if folded == id or taken or there:
        return []
    return [AliasRow(namespace=path, alias_folded=folded, entity_id=id, created_at=tx.now)]


def _registration(tx: Transaction, entity: Resolved, path: str) -> list[EntityRow]:
    """Give the row that registers an entity here, nothing when it is registered here or around."""
    if registered(tx, entity.entity_id, lookup_paths(path)):
        return []
    return [EntityRow(namespace=path, entity_id=entity.entity_id, canonical_name=entity.display, created_at=tx.now)]


def _served_under(tx: Transaction, caller: Caller, id: str, path: str) -> list[PersonaHeadRow]:
    """Read the heads of an id that now leads elsewhere, in the namespaces under `path` that the caller may write."""
    found = tx.select(PersonaHeadRow, "entity_id = ? AND persona_id IS NOT NULL", (id,), order="namespace")
    return [
        head
        for head in found
        if path in lookup_paths(head.namespace)
        and target(tx, id, lookup_paths(head.namespace)) != id
        and access.ruling(tx, caller, "write", head.namespace).verdict == Verdict.YES
    ]


def _writable(tx: Transaction, caller: Caller, namespace: str) -> str:
    path = namespaces.resolve(tx, namespace)
    access.check(tx, caller, "write", path)
    return path


def _record(tx: Transaction, caller: Caller, path: str, id: str, change: str, **more: Any) -> None:
    payload = {"entity_id": id, "change": change, "by": principal(caller), **more}
    told = feed.audience(tx, path)
    tx.event("entity_changed", subject=id, namespace=path, payload=payload, audience=told, actor=caller.id)
