"""Tell what happened to a memory or around an entity, in the order of time.

Source: docs/spec/model.md §5 (timeline); DESIGN §3 (two clocks).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from substrate import limits
from substrate.errors import NotFound
from substrate.memory import entities
from substrate.memory.references import AMONG, ID, Sight, find
from substrate.scopes import namespaces, paths
from substrate.scopes.caller import Caller
from substrate.store.model import AliasRow, EntityRow, LinkRow, MemoryRow
from substrate.store.transaction import Reader

_CLOSED = {"superseded": "superseded", "retired": "retired", "deleted": "forgotten"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One thing that happened: when it held or was done (`at`), when the store learned of it, what, to which memory.

    `what` is the memory's kind when it was written; superseded, retired, forgotten; linked; registered, aliased.
    `other` is the second memory or name it involves. `title` is as stored; escape it where it is shown.
    """

    at: str
    known_at: str
    what: str
    id: str
    other: str | None = None
    by: str | None = None
    title: str | None = None
    sequence: int = 0

    def wire(self) -> dict[str, Any]:
        """Return the moment as JSON."""
        return asdict(self)


def timeline(r: Reader, caller: Caller, ref: str, *, namespace: str | None = None) -> list[Moment]:
    """List the moments of a memory, all its wordings and links included, or of an entity, oldest first.

    `ref` is an id, else a name in use, else an entity. A fact stands at the time it held in the world, or when it was
    written if nobody said. At most the newest `limits.GRAPH_NODES` memories are looked at. Ties go by event number.
    Raises NotFound when it is none of these to the caller.
    """
    sight = Sight(r, caller)
    try:
        row = find(r, caller, ref, namespace)
    except NotFound:
        moments = [] if ID.fullmatch(ref) else _of_entity(sight, ref, namespace)
        if not moments:
            raise
    else:
        rows = _wordings(sight, row)
        moments = [*_of_rows(rows), *_of_links(sight, [row.id for row in rows])]
    return sorted(moments, key=lambda moment: (moment.at, moment.sequence, moment.id, moment.what))


def _of_rows(rows: Iterable[MemoryRow]) -> list[Moment]:
    found = []
    for row in rows:
        what = f"{row.memory_kind} {row.persona_version}" if row.memory_kind == "persona" else row.memory_kind
        written = Moment(
            at=row.valid_from or row.created_at,
            known_at=row.created_at,
            what=what,
            id=row.id,
            by=row.by_id,
            title=row.title,
            sequence=row.sequence,
        )
        found.append(written)
        if row.status_at is not None and row.status in _CLOSED:
            found.append(
                Moment(
                    at=row.status_at,
                    known_at=row.status_at,
                    what=_CLOSED[row.status],
                    id=row.id,
                    other=row.superseded_by,
                    by=row.status_by,
                    title=row.title,
                    sequence=row.sequence,
                )
            )
    return found


def _of_links(sight: Sight, ids: list[str]) -> list[Moment]:
    where = f"(source_id {AMONG} OR target_id {AMONG}) AND relation <> 'supersedes'"
    links = sight.r.select(LinkRow, where, (ids, ids), order="sequence, source_id, target_id, relation")
    seen = sight.ids(end for link in links for end in (link.source_id, link.target_id))
    return [
        Moment(
            at=link.valid_from or link.created_at,
            known_at=link.created_at,
            what=f"linked: {link.relation}",
            id=link.source_id,
            other=link.target_id,
            by=link.observed_by,
            sequence=link.sequence,
        )
        for link in links
        if link.source_id in seen and link.target_id in seen
    ]


def _wordings(sight: Sight, row: MemoryRow) -> list[MemoryRow]:
    """Read every wording of a memory, those before it and those after."""
    known = fresh = {row.id: row}
    while fresh and len(known) < limits.GRAPH_NODES:
        earlier = sight.r.query(f"SELECT id FROM memories WHERE superseded_by {AMONG}", (sorted(fresh),))
        near = {id for (id,) in earlier} | {row.superseded_by for row in fresh.values() if row.superseded_by}
        fresh = sight.rows(sorted(near - known.keys()))
        known = known | fresh
    return list(known.values())


def _of_entity(sight: Sight, ref: str, namespace: str | None) -> list[Moment]:
    place = namespaces.resolve(sight.r, namespace) if namespace is not None else paths.GLOBAL
    names = sorted(entities.ids_of(sight.r, ref, place))
    where, params = sight.where()
    where += f" AND (mentioned_entity_id {AMONG} OR entity_id {AMONG})"
    params = [*params, names, names]
    if namespace is not None:
        where, params = f"{where} AND namespace = ?", [*params, place]
    rows = sight.r.select(MemoryRow, where, params, order="sequence DESC, id DESC", limit=limits.GRAPH_NODES)
    return [*_of_rows(rows), *_registered(sight, names, place)]


def _registered(sight: Sight, names: list[str], place: str) -> list[Moment]:
    """Tell when names were registered, in the namespace asked and those around it that the caller reads."""
    around = sorted({*paths.chain(place), paths.GLOBAL} & sight.paths)
    entities_ = sight.r.select(EntityRow, f"namespace {AMONG} AND entity_id {AMONG}", (around, names))
    aliases = sight.r.select(AliasRow, f"namespace {AMONG} AND alias_folded {AMONG}", (around, names))
    dated: list[tuple[str, str, str, str | None]] = [
        *((row.created_at, "registered", row.entity_id, row.merged_into) for row in entities_),
        *((row.created_at, "aliased", row.entity_id, row.alias_folded) for row in aliases),
    ]
    return [Moment(at=at, known_at=at, what=what, id=id, other=other) for at, what, id, other in dated]
