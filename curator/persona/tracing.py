"""Follow a persona's claims to what they rest on, and hold a version against its rows, edges and event.

Nothing here loads numpy, networkx or a model. Source: docs/spec/persona.md §7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.event import payload_hash
from curator.persona import markdown
from curator.persona.reading import Read
from substrate.errors import Invalid
from substrate.escape import one_line
from substrate.memory.wire import author
from substrate.scopes import access
from substrate.scopes.caller import Caller
from substrate.store.model import ClaimRow, LinkRow, MemoryRow
from substrate.store.transaction import Reader


@dataclass(frozen=True)
class Why:
    """The claims a footnote stands behind, and the memories below it: the reflection first, observations last.

    ``below`` maps each of them to the ids it is derived from, ``hidden`` counts those the caller may not see.
    """

    claims: tuple[ClaimRow, ...]
    footnote: int
    chain: tuple[MemoryRow, ...]
    hidden: int
    below: Mapping[str, tuple[str, ...]]

    def wire(self) -> dict[str, Any]:
        """Give the answer as JSON; ``claim`` is the first sentence the footnote stands behind."""
        return {
            "claim": self.claims[0].text if self.claims else None,
            "claims": [claim.text for claim in self.claims],
            "footnote": self.footnote,
            "chain": [
                {
                    "id": row.id,
                    "memory_kind": row.memory_kind,
                    "content": row.content,
                    "by": author(row),
                    "created_at": row.created_at,
                    "valid_from": row.valid_from,
                    "status": row.status,
                    "derived_from": list(self.below.get(row.id, ())),
                }
                for row in self.chain
            ],
            "hidden": self.hidden,
        }


def why(r: Reader, caller: Caller, persona: Read, footnote: int) -> Why:
    """Walk footnote N of a persona down to the observations it rests on, nearest first.

    Raises Invalid for a footnote the persona does not have. Memories the caller may not see are counted, not shown.
    """
    if not 1 <= footnote <= len(persona.sources):
        raise Invalid(
            f"this persona has no footnote {footnote}",
            hint=f"its footnotes are 1 to {len(persona.sources)}" if persona.sources else "it cites nothing",
        )
    start = persona.sources[footnote - 1]
    paths = access.readable(r, caller)
    chain: list[MemoryRow] = []
    below: dict[str, tuple[str, ...]] = {}
    hidden, seen, level = 0, {start}, [start]
    while level:
        rows = r.get_many(MemoryRow, level)
        shown = [row for row in rows.values() if access.visible(row, caller, paths)]
        hidden += len(rows) - len(shown)
        chain += shown
        edges = r.select(
            LinkRow,
            "relation = 'derived_from' AND source_id IN (SELECT unnest(?::TEXT[]))",
            ([row.id for row in shown],),
            order="sequence, source_id, target_id",
        )
        for row in shown:
            below[row.id] = tuple(edge.target_id for edge in edges if edge.source_id == row.id)
        level = [id for id in dict.fromkeys(edge.target_id for edge in edges) if id not in seen]
        seen.update(level)
    claims = tuple(claim for claim in persona.claims if start in claim.sources)
    return Why(claims=claims, footnote=footnote, chain=tuple(chain), hidden=hidden, below=below)


def check(r: Reader, caller: Caller, persona: Read) -> list[str]:
    """Hold a version against its claims, its edges and its event; return what does not agree, nothing when all does.

    Every footnote resolves to a reflection whose text is there (one that was reworded or retired makes the persona
    stale, not wrong), the Markdown says exactly what the claim rows say, the
    ``derived_from`` edges are exactly the cited ids, and the event that made the version commits to them.
    """
    row, found = persona.row, []
    rows = r.get_many(MemoryRow, persona.sources)
    for id in persona.sources:
        if id not in rows:
            found.append(f"footnote {persona.sources.index(id) + 1} cites {id}, which does not exist")
        elif rows[id].status == "deleted":
            found.append(f"footnote {persona.sources.index(id) + 1} cites {id}, which is {rows[id].status}")
    parsed = markdown.parse(row.content or "")
    said = [(claim.section, claim.text, claim.sources) for claim in parsed.claims]
    if said != [(claim.section, one_line(claim.text or ""), claim.sources) for claim in persona.claims]:
        found.append("the Markdown does not say what the claims say")
    edges = r.select(LinkRow, "source_id = ? AND relation = 'derived_from'", (row.id,))
    if {edge.target_id for edge in edges} != set(persona.sources):
        found.append("the derived_from edges are not the cited reflections")
    made = [e for e in r.events(after=row.sequence - 1, limit=1, types=("persona_generated",)) if e.subject == row.id]
    if not made:
        found.append(f"event {row.sequence} did not make this version")
    elif made[0].payload.get("payload_hash") != payload_hash("persona_generated", {}, (row.id, persona.sources)):
        found.append(f"event {row.sequence} commits to other sources")
    return found
