"""Keep a pinned claim while what it rests on stands, also where the version it stands in is erased.

A version falls with any one of its sources. Its pinned claims that rest on others stay in their rows, served to nobody,
until the next version takes them over or one of their own sources goes.

Source: docs/spec/persona.md §1a and §3.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from substrate.memory.references import AMONG
from substrate.store.model import ClaimRow, MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader, Transaction


def lasting(r: Reader, seed: MemoryRow, erased: Sequence[MemoryRow]) -> frozenset[tuple[str, int]]:
    """Find, as keys, the pinned claims of newest versions that none of what is erased supports.

    None of a persona that was itself named to be forgotten, and none with a source that no longer holds.
    """
    gone = {row.id for row in erased}
    newest = [row.id for row in erased if row.memory_kind == "persona" and row.id != seed.id and _newest(r, row)]
    if not newest:
        return frozenset()
    claims = r.select(ClaimRow, f"pinned AND persona_id {AMONG}", (newest,), order="persona_id, position")
    cited = r.get_many(MemoryRow, sorted({id for claim in claims for id in claim.sources} - gone))
    stands = {id for id, row in cited.items() if row.status == "active"}
    return frozenset((claim.persona_id, claim.position) for claim in claims if stands.issuperset(claim.sources))


def left(r: Reader) -> list[ClaimRow]:
    """Read the claims that outlived their version."""
    where = "persona_id IN (SELECT id FROM memories WHERE memory_kind = 'persona' AND status = 'deleted')"
    return r.select(ClaimRow, where, order="persona_id, position")


def drop(tx: Transaction, *, sources: Collection[str] = (), personas: Collection[str] = ()) -> None:
    """Erase those of them that rest on one of these sources or stood in one of these versions."""
    for claim in left(tx):
        if claim.persona_id in personas or not set(sources).isdisjoint(claim.sources):
            tx.delete(ClaimRow, claim.persona_id, claim.position)


def _newest(r: Reader, row: MemoryRow) -> bool:
    head = r.get(PersonaHeadRow, row.namespace, row.entity_id)
    return head is not None and head.version == row.persona_version
