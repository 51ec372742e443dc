"""Read what a persona is made from: the entity, its active reflections, the last version.

Source: docs/spec/persona.md §1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from curator.persona.claims import Claim, Draft, Previous, Section
from curator.persona.source import Source
from substrate.memory import entities
from substrate.memory.references import AMONG
from substrate.store.model import ClaimRow, EntityRow, LinkRow, MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader

SUMMARY, CHANGED = None, "What changed"


@dataclass(frozen=True)
class Gathered:
    """The input of one generation.

    ``withheld`` counts reflections whose readers are fewer than the persona's would be (``applies_to``): no sources.
    ``commitments`` maps each source to the commitment the signed state holds for it.
    """

    entity_id: str
    display: str
    namespace: str
    ids: frozenset[str]
    sources: tuple[Source, ...]
    withheld: int
    commitments: dict[str, str]
    head: PersonaHeadRow | None
    previous: Previous | None
    other_names: tuple[str, ...]

    @property
    def version(self) -> int:
        """The number the next version gets."""
        return self.head.version + 1 if self.head else 1


def gather(r: Reader, raw: str, namespace: str) -> Gathered:
    """Read everything one generation needs. Raises Invalid for an entity id out of form."""
    entity = entities.resolve(r, raw, namespace)
    ids = entities.ids_of(r, raw, namespace)
    rows = reflections(r, ids, namespace)
    open_rows = [row for row in rows if row.applies_to is None and row.content is not None]
    head = r.get(PersonaHeadRow, namespace, entity.entity_id)
    return Gathered(
        entity_id=entity.entity_id,
        display=_display(r, entity, namespace, open_rows),
        namespace=namespace,
        ids=ids,
        sources=tuple(_sources(r, open_rows)),
        withheld=len(rows) - len(open_rows),
        commitments=r.commitments(MemoryRow, [row.id for row in open_rows]),
        head=head,
        previous=_previous(r, head),
        other_names=_other_names(r, ids, namespace),
    )


def reflections(r: Reader, ids: Iterable[str], namespace: str) -> list[MemoryRow]:
    """Read the active reflections about an entity in one namespace, oldest write first."""
    where = f"memory_kind = 'reflection' AND status = 'active' AND namespace = ? AND mentioned_entity_id {AMONG}"
    return r.select(MemoryRow, where, (namespace, sorted(ids)), order="sequence, id")


def draft_of(claims: Sequence[ClaimRow]) -> Draft:
    """Put the claims of one version, in order of position, back into a draft."""
    sections: dict[str, list[Claim]] = {}
    summary: list[Claim] = []
    changed: list[Claim] = []
    for row in claims:
        claim = Claim(row.claim_id, row.text or "", row.sources)
        if row.section == CHANGED:
            changed.append(claim)
        else:
            (summary if row.section is SUMMARY else sections.setdefault(row.section, [])).append(claim)
    return Draft(
        summary=tuple(summary),
        sections=tuple(Section(heading, tuple(found)) for heading, found in sections.items()),
        changed=tuple(changed),
    )


def _display(r: Reader, entity: entities.Resolved, namespace: str, rows: Sequence[MemoryRow]) -> str:
    """Name the entity as it is registered, else as its newest reflection spells it."""
    shown = entities.resolve(r, entity.entity_id, namespace)
    if shown.display != entity.entity_id or not rows:
        return shown.display if shown.display != entity.entity_id else entity.display
    spelled = (rows[-1].metadata or {}).get("entity_id")
    return str(spelled) if spelled else entity.display


def _sources(r: Reader, rows: Sequence[MemoryRow]) -> list[Source]:
    ids = [row.id for row in rows]
    links: dict[tuple[str, str], set[str]] = defaultdict(set)
    where = f"source_id {AMONG} AND relation IN ('derived_from', 'supersedes', 'contradicts')"
    for link in r.select(LinkRow, where, (ids,)) if ids else []:
        links[link.source_id, link.relation].add(link.target_id)
    below = sorted({id for (_, relation), found in links.items() if relation == "derived_from" for id in found})
    texts = {id: row.content for id, row in r.get_many(MemoryRow, below).items() if row.content is not None}
    found = []
    for row in rows:
        ancestors = links[row.id, "derived_from"]
        found.append(
            Source(
                id=row.id,
                text=row.content or "",
                title=row.title,
                date=row.valid_from or row.created_at,
                sequence=row.sequence,
                times_seen=row.times_seen,
                ancestors=frozenset(ancestors),
                ancestor_texts=tuple(texts[id] for id in sorted(ancestors) if id in texts),
                supersedes=frozenset(links[row.id, "supersedes"]),
                contradicts=frozenset(links[row.id, "contradicts"]),
            )
        )
    return found


def _previous(r: Reader, head: PersonaHeadRow | None) -> Previous | None:
    if head is None or head.persona_id is None:
        return None
    row = r.require(MemoryRow, head.persona_id)
    claims = r.select(ClaimRow, "persona_id = ?", (head.persona_id,), order="position")
    envelope = (row.metadata or {}).get("persona", {})
    return Previous(draft_of(claims), frozenset(envelope.get("inputs", ())))


def _other_names(r: Reader, ids: frozenset[str], namespace: str) -> tuple[str, ...]:
    """Name the other entities registered where this namespace looks them up."""
    rows = r.select(EntityRow, f"namespace {AMONG} AND merged_into IS NULL", (entities.lookup_paths(namespace),))
    return tuple(sorted({row.canonical_name for row in rows if row.entity_id not in ids}))
