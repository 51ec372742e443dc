"""Read the observations about an entity that nobody has reflected on yet.

Source: docs/spec/reflections.md §1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from curator.persona import words
from curator.persona.source import Source
from curator.reflections import names, positions
from curator.reflections.names import Names
from curator.reflections.speech import Note, lines, subjects
from curator.reflections.statements import About, Observed
from substrate.memory import entities
from substrate.memory.entity_names import lookup_paths, target
from substrate.memory.references import AMONG
from substrate.store.model import LinkRow, MemoryRow, from_json
from substrate.store.transaction import Reader

MOST: Final = 400  # observations reflected on at once, the oldest first
_OPEN: Final = (
    "memory_kind = 'observation' AND memory_type NOT IN ('episode', 'document') AND status = 'active'"
    " AND applies_to IS NULL AND content IS NOT NULL AND namespace = ?"
)


@dataclass(frozen=True)
class Survey:
    """What the observations of a namespace are about: for each entity (event number, id), oldest write first."""

    namespace: str
    names: Names
    about: Mapping[str, Sequence[tuple[int, str]]]


@dataclass(frozen=True)
class Gathered:
    """What is known before anything is drafted: whom it is about, and the fresh observations, oldest first.

    ``left`` counts those beyond MOST, which wait. ``up_to`` is the number of the last event looked at; ``commitments``
    are those the signed state holds for the observations.
    """

    about: About
    namespace: str
    ids: frozenset[str]
    observed: tuple[Observed, ...]
    left: int
    up_to: int
    commitments: Mapping[str, str]

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names by which its observations were found."""
        return self.about.names.names_of(self.about.entity_id)


def survey(r: Reader, namespace: str) -> Survey:
    """Find out what each observation of a namespace is about that is open to all its readers.

    It is about the entities that its title or text names, about who speaks of itself in it, and about those that it is
    linked to by `mentions`: by a link to a reflection on the entity or to its persona, in the same namespace.
    """
    known = names.read(r, namespace)
    linked = _linked(r, namespace)
    about: dict[str, list[tuple[int, str]]] = defaultdict(list)
    columns = "id, sequence, title, content, metadata, by_handle, origin"
    try:
        for id, sequence, title, content, metadata, handle, origin in r.query(
            f"SELECT {columns} FROM memories WHERE {_OPEN} ORDER BY sequence, id", (namespace,)
        ):
            note = Note(id, sequence, title, content, from_json(metadata), handle, origin)
            for entity in subjects(note, known) | linked.get(id, frozenset()):
                about[entity].append((sequence, id))
    finally:
        words.forget()
    return Survey(namespace, known, about)


def fresh(r: Reader, found: Survey, entity_id: str, *, again: bool = False) -> list[str]:
    """List the observations about an entity that are to be reflected on, oldest write first.

    Not those that an active reflection on it rests on, and, unless ``again``, not those looked at before; but where a
    reflection fell because something it rested on was forgotten, its other sources are fresh once more.
    """
    ids = sorted(entities.ids_of(r, entity_id, found.namespace))
    since = positions.read(r, found.namespace, entity_id, found.names.names_of(entity_id))
    fell = _fell(r, found.namespace, ids, since.time)
    rested = covered(r, found.namespace, ids)
    return [
        id
        for sequence, id in found.about.get(entity_id, ())
        if id not in rested and (again or sequence > since.event or id in fell)
    ]


def gather(r: Reader, found: Survey, entity_id: str, *, again: bool = False) -> Gathered:
    """Read the fresh observations about an entity, at most MOST of them."""
    wanted = fresh(r, found, entity_id, again=again)
    taken = wanted[:MOST]
    rows = r.select(MemoryRow, f"id {AMONG}", (taken,), order="sequence, id") if taken else []
    shown = entities.resolve(r, entity_id, found.namespace).display
    other = {name for id, name in found.names.shown.items() if id != entity_id}
    observed = sorted(_observed(r, found, rows), key=lambda one: one.source.order)
    return Gathered(
        about=About(entity_id, shown, found.names, tuple(sorted(other))),
        namespace=found.namespace,
        ids=entities.ids_of(r, entity_id, found.namespace),
        observed=tuple(observed),
        left=len(wanted) - len(taken),
        up_to=rows[-1].sequence if len(wanted) > len(taken) else r.head.sequence,
        commitments=r.commitments(MemoryRow, taken),
    )


def covered(r: Reader, namespace: str, ids: Sequence[str]) -> frozenset[str]:
    """Collect what active reflections on an entity rest on."""
    rows = r.query(
        "SELECT DISTINCT l.target_id FROM memory_links l JOIN memories s ON s.id = l.source_id"
        " WHERE l.relation = 'derived_from' AND s.status = 'active' AND s.memory_kind = 'reflection'"
        f" AND s.namespace = ? AND s.mentioned_entity_id {AMONG}",
        (namespace, list(ids)),
    )
    return frozenset(id for (id,) in rows)


def _fell(r: Reader, namespace: str, ids: Sequence[str], since: str) -> frozenset[str]:
    """Collect the sources of the curator's reflections that fell with one of their sources at this time or later."""
    rows = r.query(
        "SELECT DISTINCT l.target_id FROM memory_links l JOIN memories s ON s.id = l.source_id"
        " WHERE l.relation = 'derived_from' AND s.status = 'deleted' AND s.origin = 'curator' AND s.namespace = ?"
        f" AND s.mentioned_entity_id {AMONG} AND s.status_at >= ? AND EXISTS (SELECT 1 FROM memory_links g"
        " JOIN memories o ON o.id = g.target_id WHERE g.source_id = s.id AND g.relation = 'derived_from'"
        " AND o.status = 'deleted')",
        (namespace, list(ids), since),
    )
    return frozenset(id for (id,) in rows)


def _linked(r: Reader, namespace: str) -> dict[str, frozenset[str]]:
    """Map observations to the entities whose reflections or personas they are linked to by `mentions`."""
    rows = r.query(
        "SELECT DISTINCT l.source_id, coalesce(t.mentioned_entity_id, t.entity_id) FROM memory_links l"
        " JOIN memories t ON t.id = l.target_id WHERE l.relation = 'mentions' AND l.valid_until IS NULL"
        " AND t.status = 'active' AND t.namespace = ? AND coalesce(t.mentioned_entity_id, t.entity_id) IS NOT NULL",
        (namespace,),
    )
    around = lookup_paths(namespace)
    leads = {entity: target(r, entity, around) for entity in {entity for _, entity in rows}}
    found: dict[str, set[str]] = defaultdict(set)
    for id, entity in rows:
        found[id].add(leads[entity])
    return {id: frozenset(leading) for id, leading in found.items()}


def _observed(r: Reader, found: Survey, rows: Sequence[MemoryRow]) -> list[Observed]:
    links: dict[tuple[str, str], set[str]] = defaultdict(set)
    where = f"source_id {AMONG} AND relation IN ('derived_from', 'supersedes', 'contradicts')"
    for link in r.select(LinkRow, where, ([row.id for row in rows],)) if rows else []:
        links[link.source_id, link.relation].add(link.target_id)
    linked = _linked(r, found.namespace) if rows else {}
    observed = []
    for row in rows:
        note = Note.of(row)
        alone = linked.get(row.id, frozenset()) | found.names.among(row.title or "")
        source = Source(
            id=row.id,
            text=row.content or "",
            title=row.title,
            date=row.valid_from or row.created_at,
            sequence=row.sequence,
            times_seen=row.times_seen,
            ancestors=frozenset(links[row.id, "derived_from"]),
            supersedes=frozenset(links[row.id, "supersedes"]),
            contradicts=frozenset(links[row.id, "contradicts"]),
        )
        read = tuple(lines(note, found.names))
        observed.append(Observed(source, read, min(alone) if len(alone) == 1 else None))
    return observed
