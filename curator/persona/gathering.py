"""Read what a persona is made from: the entity, its active reflections, the last version.

Source: docs/spec/persona.md §1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from curator.persona.claims import Claim, Draft, Previous, Section
from curator.persona.source import Source
from substrate.memory import entities
from substrate.memory.references import AMONG
from substrate.scopes import namespaces
from substrate.store.model import ClaimRow, EntityRow, LinkRow, MemoryRow, PersonaHeadRow, row_id
from substrate.store.transaction import Reader

SUMMARY, CHANGED = None, "What changed"


@dataclass(frozen=True)
class Gathered:
    """The input of one generation.

    ``withheld`` counts reflections whose readers are fewer than the persona's would be (``applies_to``): no sources.
    ``commitments`` maps each source to the commitment the signed state holds for it, ``claims`` each claim of the last
    version; ``up_to`` is the number of the newest event when they were read.
    """

    entity_id: str
    display: str
    namespace: str
    ids: frozenset[str]
    sources: tuple[Source, ...]
    withheld: int
    commitments: dict[str, str]
    claims: dict[str, str]
    head: PersonaHeadRow | None
    previous: Previous | None
    other_names: tuple[str, ...]
    language: str | None
    up_to: int

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
        claims=claims_of(r, head),
        head=head,
        previous=_previous(r, head, entity.entity_id, ids, namespace),
        other_names=_other_names(r, ids, namespace),
        language=namespaces.policy(r, namespace, "language", None),
        up_to=r.head.sequence,
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
        claim = Claim(row.claim_id, row.text or "", row.sources, row.pinned)
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
    found = []
    for row in rows:
        found.append(
            Source(
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
        )
    return found


def _previous(
    r: Reader, head: PersonaHeadRow | None, entity_id: str, ids: frozenset[str], namespace: str
) -> Previous | None:
    """Read the last version; of one that is served no more only its pins, and those of entities merged in since."""
    last = newest(r, head)
    read: frozenset[str] = frozenset()
    claims: list[ClaimRow] = []
    if last is not None:
        served = head is not None and head.persona_id is not None
        claims = _claims(r, last) if served else _pins(r, last)
        envelope = (last.metadata or {}).get("persona", {}) if served else {}
        read = frozenset(envelope.get("inputs", ())) - frozenset(envelope.get("unseen", ()))
    for id in sorted(ids - {entity_id}):
        merged = newest(r, r.get(PersonaHeadRow, namespace, id))
        if merged is not None and (last is None or (merged.status_at or "") >= last.created_at):
            pinned = {claim.text: claim for claim in _pins(r, merged)}
            claims = [replace(claim, pinned=claim.pinned or claim.text in pinned) for claim in claims]
            held = {claim.text for claim in claims}
            claims += [claim for text, claim in pinned.items() if text not in held]
    return Previous(draft_of(claims), read) if claims or read else None


def newest(r: Reader, head: PersonaHeadRow | None) -> MemoryRow | None:
    """Read the newest version a head counted, also where it is retired or only its tombstone is left."""
    if head is None:
        return None
    where = "memory_kind = 'persona' AND namespace = ? AND entity_id = ? AND persona_version = ?"
    rows = r.select(MemoryRow, where, (head.namespace, head.entity_id, head.version), order="sequence DESC, id")
    return rows[0] if rows else None


def _claims(r: Reader, row: MemoryRow) -> list[ClaimRow]:
    return r.select(ClaimRow, "persona_id = ?", (row.id,), order="position")


def _pins(r: Reader, row: MemoryRow) -> list[ClaimRow]:
    return [claim for claim in _claims(r, row) if claim.pinned]


def claims_of(r: Reader, head: PersonaHeadRow | None) -> dict[str, str]:
    """Give the commitment to each claim of the newest version: a pin set or taken away changes one."""
    if head is None or head.persona_id is None:
        return {}
    envelope = (r.require(MemoryRow, head.persona_id).metadata or {}).get("persona", {})
    names = [row_id(head.persona_id, position + 1) for position in range(int(envelope.get("claims", 0)))]
    return r.commitments(ClaimRow, names)


def _other_names(r: Reader, ids: frozenset[str], namespace: str) -> tuple[str, ...]:
    """Name the other entities registered where this namespace looks them up."""
    rows = r.select(EntityRow, f"namespace {AMONG} AND merged_into IS NULL", (entities.lookup_paths(namespace),))
    return tuple(sorted({row.canonical_name for row in rows if row.entity_id not in ids}))
