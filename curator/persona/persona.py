"""Generate a persona: read, draft, check, write; nothing is held open while it is drafted.

Source: docs/spec/persona.md §1, §4.6 and §6.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit import canonical
from audit.event import payload_hash
from curator.persona import markdown
from curator.persona.claims import Claim, Composition, Draft
from curator.persona.extractive import compose
from curator.persona.gathering import CHANGED, SUMMARY, Gathered, gather
from substrate.errors import Conflict, Refused
from substrate.escape import quote
from substrate.memory import entities, feed
from substrate.memory.wire import principal
from substrate.memory.writing import closed, new_link
from substrate.scopes import access, namespaces
from substrate.scopes.caller import CURATOR, Caller
from substrate.store.database import Database
from substrate.store.model import ClaimRow, LinkRow, MemoryRow, PersonaHeadRow
from substrate.store.transaction import Transaction

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

MODEL = "extractive"
PROMPT_VERSION = 1
_TRIES = 3
_LEVELS = ("unsigned", "self_signed", "peer_attested")


@dataclass(frozen=True)
class Generated:
    """One new version: its row, and how its draft came about."""

    row: MemoryRow
    composition: Composition


def generate(
    db: Database,
    caller: Caller,
    entity: str,
    *,
    namespace: str = "global",
    full: bool = False,
    embed: Embed | None = None,
) -> Generated:
    """Write the next version of an entity's persona in a namespace, from its active reflections there.

    Claims of the last version stay word for word while their sources stand; ``full`` starts afresh. Whoever asks needs
    to be able to write there; the author is the curator. When a source or the last version changes meanwhile it is
    drafted again, then Conflict.

    Raises Refused with ``reason`` no_reflections or unsupported_draft: nothing is written then but one event, and the
    last good version keeps being served.
    """
    for attempt in range(_TRIES):
        with db.read() as r:
            path = namespaces.resolve(r, namespace)
            access.check(r, caller, "write", path)
            gathered = gather(r, entity, path)
        if not gathered.sources:
            raise _refuse(db, caller, gathered, entity)
        composition = compose(
            gathered.display,
            gathered.sources,
            None if full else gathered.previous,
            embed=embed,
            new_id=db.new_id,
            other_names=gathered.other_names,
            full=full,
        )
        if not any(True for _ in composition.draft.claims()):
            raise _fail(db, caller, gathered, composition)
        try:
            with db.write(caller.id) as tx:
                _check_unchanged(tx, gathered, composition.draft)
                row = _write(tx, caller, gathered, composition)
            return Generated(row, composition)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("the last try returns or raises")


def _check_unchanged(tx: Transaction, gathered: Gathered, draft: Draft) -> None:
    """Raise Conflict when what the draft rests on is no longer what was read."""
    head = tx.get(PersonaHeadRow, gathered.namespace, gathered.entity_id)
    cited = sorted({id for claim in draft.claims() for id in claim.sources})
    now = tx.commitments(MemoryRow, cited)
    if head != gathered.head or any(now.get(id) != gathered.commitments[id] for id in cited):
        raise Conflict(
            f"the sources of {quote(gathered.display)} changed while its persona was drafted", hint="try again"
        )


def _write(tx: Transaction, caller: Caller, gathered: Gathered, composition: Composition) -> MemoryRow:
    persona_id = tx.new_id("mem")
    by_id = {source.id: source for source in gathered.sources}
    body = markdown.render(gathered.display, composition.draft, by_id)
    cited = tuple(dict.fromkeys(id for claim in composition.draft.claims() for id in claim.sources))
    links = [new_link(tx, CURATOR, persona_id, id, "derived_from") for id in cited]
    parent = gathered.head.persona_id if gathered.head else None
    envelope = _envelope(tx, gathered, composition, cited, links, parent)
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
    tx.put(row, head, *links, *_claim_rows(persona_id, composition.draft))
    if parent is not None:
        old = tx.require(MemoryRow, parent)
        tx.put(new_link(tx, CURATOR, persona_id, parent, "supersedes"))
        tx.put(closed(tx, CURATOR, old, "superseded", superseded_by=persona_id))
    tx.event(
        "persona_generated",
        subject=persona_id,
        namespace=gathered.namespace,
        payload=_payload(caller, gathered, composition, row, cited, parent),
        audience=feed.audience(tx, gathered.namespace),
        actor=CURATOR.id,
    )
    return row


def _envelope(
    tx: Transaction,
    gathered: Gathered,
    composition: Composition,
    cited: Sequence[str],
    links: Sequence[LinkRow],
    parent: str | None,
) -> dict[str, Any]:
    levels = sorted((link.attest_level for link in links), key=_LEVELS.index)
    return {
        "entity_id": gathered.entity_id,
        "sources": list(cited),
        "version": gathered.version,
        "attest_level": levels[-1],
        "attest_weakest": levels[0],
        "generated_at": tx.now,
        "model": MODEL,
        "prompt_version": PROMPT_VERSION,
        "parent": parent,
        "clusters": composition.clusters,
        "words": composition.words,
        "short": composition.short,
        "sources_total": composition.sources_total,
        "sources_used": composition.sources_used,
        "sources_withheld": gathered.withheld,
        "dropped_claims": dict(sorted(Counter(reason for _, reason in composition.dropped).items())),
        "claims": sum(1 for _ in composition.draft.claims()),
        "inputs": sorted(gathered.commitments),
    }


def _payload(
    caller: Caller,
    gathered: Gathered,
    composition: Composition,
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
        "model": MODEL,
        "prompt_version": PROMPT_VERSION,
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
        )
        for position, (section, claim) in enumerate(placed, start=1)
    ]


def _refuse(db: Database, caller: Caller, gathered: Gathered, asked: str) -> Refused:
    """Record that there is nothing to make a persona from, and make the error that says so."""
    with db.write(caller.id) as tx:
        near = entities.nearest(tx, asked, gathered.namespace)
        _record(tx, caller, gathered, "persona_refused", "no_reflections")
    close = f"; near it: {', '.join(quote(name) for name in near)}" if near else ""
    return Refused(
        f"no reflection in {gathered.namespace} is about {quote(asked)}{close}",
        hint=f"bind one: ai-memory reflect TITLE TEXT --from ID --entity {quote(asked)}"
        + ("" if gathered.namespace == "global" else f" --namespace {gathered.namespace}"),
        reason="no_reflections",
        nearest=near,
    )


def _fail(db: Database, caller: Caller, gathered: Gathered, composition: Composition) -> Refused:
    """Record that no claim passed the checks, and make the error that says why."""
    with db.write(caller.id) as tx:
        _record(tx, caller, gathered, "persona_failed", "unsupported_draft")
    why = Counter(reason for _, reason in composition.dropped).most_common(3)
    return Refused(
        f"none of the {composition.sources_total} reflections about {quote(gathered.display)} gave a claim to state",
        hint="; ".join(f"{count}: {reason}" for reason, count in why) or "write reflections as full sentences",
        reason="unsupported_draft",
        dropped=dict(why),
    )


def _record(tx: Transaction, caller: Caller, gathered: Gathered, type: str, reason: str) -> None:
    tx.event(
        type,
        subject=gathered.entity_id,
        namespace=gathered.namespace,
        payload={
            "entity_id": gathered.entity_id,
            "reason": reason,
            "outcome": "failed",
            "up_to": tx.sequence - 1,
            "by": principal(caller),
        },
        audience=feed.audience(tx, gathered.namespace),
        actor=CURATOR.id,
    )
