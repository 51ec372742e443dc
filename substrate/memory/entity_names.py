"""Lead the names of an entity to the entity: an alias one hop, a merged id to its survivor.

Names are looked up in the namespace first, then in those around it, then in `global`. Apart from what changes entities
because every reader of a persona needs this and nothing else of them.

Source: DESIGN §3; docs/spec/requirements.md S3-27, S3-44.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from substrate.identifiers import check_entity_id, fold
from substrate.memory.references import AMONG
from substrate.scopes import paths
from substrate.store.model import AliasRow, EntityRow
from substrate.store.transaction import Reader


@dataclass(frozen=True, slots=True)
class Resolved:
    """An entity: its folded id, and the name to show for it."""

    entity_id: str
    display: str


def resolve(r: Reader, raw: str, namespace: str) -> Resolved:
    """Return the entity a spelling leads to, seen from a namespace; the same at write time and when personas are due.

    The name to show is the registered one, else the spelling given. Raises Invalid for an id out of form.
    """
    spelling = check_entity_id(raw)
    around = lookup_paths(namespace)
    id = target(r, fold(spelling), around)
    row = registered(r, id, around)
    return Resolved(id, row.canonical_name if row else spelling)


def ids_of(r: Reader, entity_id: str, namespace: str) -> frozenset[str]:
    """Return every folded id that leads to the entity from this namespace, its own included."""
    around = lookup_paths(namespace)
    entity = target(r, fold(check_entity_id(entity_id)), around)
    known = fresh = {entity}
    while fresh:
        leading = r.query(
            f"SELECT alias_folded FROM entity_aliases WHERE namespace {AMONG} AND entity_id {AMONG}"
            f" UNION SELECT entity_id FROM entities WHERE namespace {AMONG} AND merged_into {AMONG}",
            (around, sorted(fresh), around, sorted(fresh)),
        )
        fresh = {id for (id,) in leading} - known
        known = known | fresh
    return frozenset(id for id in known if id == entity or target(r, id, around) == entity)


def lookup_paths(namespace: str) -> list[str]:
    """List where names are looked up: the namespace, those it lies in, then `global`."""
    return list(dict.fromkeys((*paths.chain(namespace), paths.GLOBAL)))


def target(r: Reader, id: str, around: Collection[str]) -> str:
    """Follow a folded id: one alias, then merges, until the nearest namespace that knows it lets it stand."""
    hopped = False
    seen = {id}
    while True:
        following = _step(r, id, around, hopped)
        if following is None or following in seen:
            return id
        hopped = True
        seen.add(following)
        id = following


def _step(r: Reader, id: str, around: Collection[str], hopped: bool) -> str | None:
    for place in around:
        if not hopped and (alias := r.get(AliasRow, place, id)):
            return alias.entity_id
        if entity := r.get(EntityRow, place, id):
            return entity.merged_into
    return None


def registered(r: Reader, id: str, around: Collection[str]) -> EntityRow | None:
    """Return the row that registers a folded id, from the nearest namespace that has one."""
    return next((row for place in around if (row := r.get(EntityRow, place, id))), None)
