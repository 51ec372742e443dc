"""Write one version of a persona: its row with the envelope, its links, its claims, its event.

Source: docs/spec/persona.md §6.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit import canonical
from audit.event import payload_hash
from curator.persona import markdown
from curator.persona.claims import Claim, Composition, Draft
from curator.persona.gathering import CHANGED, SUMMARY, Gathered, newest
from curator.persona.reasons import code
from substrate.memory import feed, pins
from substrate.memory.wire import principal
from substrate.memory.writing import closed, new_link
from substrate.scopes.caller import CURATOR, Caller
from substrate.store.model import ClaimRow, LinkRow, MemoryRow, PersonaHeadRow
from substrate.store.transaction import Transaction

_LEVELS = ("unsigned", "self_signed", "peer_attested")


@dataclass(frozen=True, slots=True)
class Author:
    """What wrote the claims, by which prompt, and what that cost.

    ``cut`` counts the sources of which a model was shown only the beginning.
    """

    model: str = "extractive"
    prompt_version: int = 1
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cut: int = 0


def write(tx: Transaction, caller: Caller, gathered: Gathered, composition: Composition, author: Author) -> MemoryRow:
    """Write a draft as the next version, close the one before it, and record who asked for it."""
    persona_id = tx.new_id("mem")
    by_id = {source.id: source for source in gathered.sources}
    body = markdown.render(gathered.display, composition.draft, by_id)
    cited = tuple(dict.fromkeys(id for claim in composition.draft.claims() for id in claim.sources))
    links = [new_link(tx, CURATOR, persona_id, id, "derived_from") for id in cited]
    parent = gathered.head.persona_id if gathered.head else None
    envelope = _envelope(tx, gathered, composition, author, cited, links, parent)
    depth = max(row.reflection_depth for row in tx.get_many(MemoryRow, cited).values())
    row = MemoryRow(
        id=persona_id,
        namespace=gathered.namespace,
        memory_kind="persona",
        memory_type="document",
        title=f"Persona of {gathered.display}",
        content=body,
        size_bytes=len(body.encode()),
        metadata={"agent_id": CURATOR.id, "persona": envelope},
        entity_id=gathered.entity_id,
        persona_version=gathered.version,
        reflection_depth=depth + 1,
        origin="curator",
        by_kind=CURATOR.kind,
        by_id=CURATOR.id,
        by_handle=CURATOR.handle,
        created_at=tx.now,
        updated_at=tx.now,
        sequence=tx.sequence,
    )
    head = PersonaHeadRow(
        namespace=gathered.namespace,
        entity_id=gathered.entity_id,
        persona_id=persona_id,
        version=gathered.version,
    )
    last = (newest(tx, tx.get(PersonaHeadRow, gathered.namespace, id)) for id in gathered.ids)
    pins.drop(tx, personas={row.id for row in last if row is not None})
    tx.put(row, head, *links, *_claim_rows(persona_id, composition.draft))
    if parent is not None:
        old = tx.require(MemoryRow, parent)
        tx.put(new_link(tx, CURATOR, persona_id, parent, "supersedes"))
        tx.put(closed(tx, CURATOR, old, "superseded", superseded_by=persona_id))
    tx.event(
        "persona_generated",
        subject=persona_id,
        namespace=gathered.namespace,
        payload=_payload(caller, gathered, author, row, cited, parent),
        audience=feed.audience(tx, gathered.namespace),
        actor=CURATOR.id,
    )
    return row


def extremes(levels: Sequence[str]) -> tuple[str, str]:
    """Give the weakest and the strongest of the attestations of some links, at least one."""
    ordered = sorted(levels, key=_LEVELS.index)
    return ordered[0], ordered[-1]


def _envelope(
    tx: Transaction,
    gathered: Gathered,
    composition: Composition,
    author: Author,
    cited: Sequence[str],
    links: Sequence[LinkRow],
    parent: str | None,
) -> dict[str, Any]:
    weakest, strongest = extremes([link.attest_level for link in links])
    return {
        "entity_id": gathered.entity_id,
        "sources": list(cited),
        "version": gathered.version,
        "attest_level": strongest,
        "attest_weakest": weakest,
        "generated_at": tx.now,
        "model": author.model,
        "prompt_version": author.prompt_version,
        "calls": author.calls,
        "input_tokens": author.input_tokens,
        "output_tokens": author.output_tokens,
        "parent": parent,
        "clusters": composition.clusters,
        "words": composition.words,
        "short": composition.short,
        "sources_total": composition.sources_total,
        "sources_used": composition.sources_used,
        "sources_cut": author.cut,
        "sources_withheld": gathered.withheld,
        "dropped_claims": dict(sorted(Counter(code(reason) for _, reason in composition.dropped).items())),
        "claims": sum(1 for _ in composition.draft.claims()),
        "inputs": sorted(gathered.commitments),
        "unseen": sorted(composition.unseen),
        "up_to": gathered.up_to,
    }


def _payload(
    caller: Caller,
    gathered: Gathered,
    author: Author,
    row: MemoryRow,
    cited: Sequence[str],
    parent: str | None,
) -> dict[str, Any]:
    """Say what the generation rested on, in ids and hashes; the rows it wrote are committed to beside it.

    Source: docs/spec/persona.md §6.
    """
    inputs = sorted(gathered.commitments.items())
    return {
        "persona_id": row.id,
        "entity_id": gathered.entity_id,
        "version": gathered.version,
        "parent": parent,
        "inputs": len(inputs),
        "inputs_sha256": hashlib.sha256(canonical.encode([list(pair) for pair in inputs])).hexdigest(),
        "sources": len(cited),
        "model": author.model,
        "prompt_version": author.prompt_version,
        "up_to": gathered.up_to,
        "outcome": "generated",
        "payload_hash": payload_hash("persona_generated", {}, (row.id, list(cited))),
        "by": principal(caller),
    }


def _claim_rows(persona_id: str, draft: Draft) -> list[ClaimRow]:
    placed: list[tuple[str | None, Claim]] = [(SUMMARY, claim) for claim in draft.summary]
    placed += [(section.heading, claim) for section in draft.sections for claim in section.claims]
    placed += [(CHANGED, claim) for claim in draft.changed]
    return [
        ClaimRow(
            persona_id=persona_id,
            position=position,
            claim_id=claim.id,
            section=section,
            text=claim.text,
            sources=claim.sources,
            pinned=claim.pinned,
        )
        for position, (section, claim) in enumerate(placed, start=1)
    ]
