"""Forget a memory, so that nothing of its text is left, and say beforehand what that would take with it.

A tombstone stays: that there was a memory, where, whose, when, and who forgot it. What was derived from it can fall
with it as far as the caller may erase that too; what the curator only renders, personas and reflections on
observations, follows its sources wherever it is.

Source: docs/spec/persona.md §1a; docs/spec/audit.md §1.4; docs/spec/model.md §3 C6; docs/spec/requirements.md S1-36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any

from substrate import limits
from substrate.errors import Forbidden, Invalid, NotFound
from substrate.memory import feed, heads, pins
from substrate.memory.closure import Closure, closure, repeats, tells
from substrate.memory.draft import check_reason
from substrate.memory.references import AMONG, Sight, find
from substrate.memory.writing import closed
from substrate.scopes import access
from substrate.scopes.caller import Caller
from substrate.store.model import ClaimRow, IdempotencyRow, MemoryRow
from substrate.store.transaction import Reader, Transaction

# What a tombstone keeps. Whom a memory applied to is kept too: a tombstone has no more readers than the memory had.
_KEPT = """
    id namespace memory_kind memory_type entity_id persona_version mentioned_entity_id applies_to origin by_kind by_id
    by_instance by_handle by_project by_session superseded_by last_seen_at created_at updated_at sequence
"""
_BLANK: dict[str, Any] = {
    field.name: None if field.name == "tags" else field.default
    for field in fields(MemoryRow)
    if field.name not in _KEPT.split()
}
_BATCH = 200  # tombstones one event names


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What would fall with a memory, as far as the caller sees it.

    `memories` are what was derived from it, `claims` those of falling personas that cite something that falls,
    `entities` (entity id, namespace) whose persona would be drawn again. `kept` stays by --keep-supported, and `barred`
    (ids) the caller may not erase, so a cascade would be refused.
    """

    wordings: tuple[MemoryRow, ...]
    memories: tuple[MemoryRow, ...]
    personas: tuple[MemoryRow, ...]
    claims: tuple[ClaimRow, ...]
    entities: tuple[tuple[str, str], ...]
    kept: tuple[MemoryRow, ...]
    barred: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was erased and what is left, by id.

    `ids` and `personas` are tombstones now, `stale` rests on what was forgotten and is still there, `repeated` holds
    the same text elsewhere and was not touched. `entities` (entity id, namespace) lost the persona they were served:
    they are for the curator and may lie where the caller does not read.
    """

    id: str
    ids: tuple[str, ...]
    personas: tuple[str, ...]
    entities: tuple[tuple[str, str], ...]
    stale: tuple[str, ...]
    repeated: tuple[str, ...]

    def wire(self) -> dict[str, Any]:
        """Return what the caller may be told as JSON."""
        names = ("ids", "personas", "stale", "repeated")
        return {"id": self.id} | {name: list(getattr(self, name)) for name in names}


def impact(
    r: Reader, caller: Caller, ref: str, *, namespace: str | None = None, keep_supported: bool = False
) -> Impact:
    """Tell what `forget` with cascade would erase, without erasing it. Raises NotFound."""
    row = find(r, caller, ref, namespace)
    falling, barred = _falling(r, caller, row, keep_supported)
    sight = Sight(r, caller)
    seen = sight.ids(persona.id for persona in falling.personas)
    personas = tuple(persona for persona in falling.personas if persona.id in seen)
    gone = {memory.id for memory in (*falling.wordings, *falling.memories)}
    claims = r.select(ClaimRow, f"persona_id {AMONG}", (sorted(seen),), order="persona_id, position") if seen else []
    served = heads.serving(r, [*personas, row])
    return Impact(
        wordings=falling.wordings,
        memories=falling.memories,
        personas=personas,
        claims=tuple(claim for claim in claims if gone & set(claim.sources)),
        entities=tuple((head.entity_id, head.namespace) for head in served),
        kept=falling.kept,
        barred=tuple(memory.id for memory in (*falling.wordings, *falling.memories) if memory.id in barred),
    )


def forget(
    tx: Transaction,
    caller: Caller,
    ref: str,
    why: str | None = None,
    *,
    namespace: str | None = None,
    cascade: bool = False,
    keep_supported: bool = False,
) -> Forgotten:
    """Erase a memory with its earlier wordings; with `cascade` also what was derived from them and personas citing it.

    `keep_supported` leaves a derived memory that has another source and shows nothing of the text. Without `cascade`
    dependants stay and are named. A memory forgotten before is no error, so that a cascade can follow.

    Raises NotFound, Forbidden (details.ids: wordings and derived memories that the caller may not erase), Invalid for a
    reason that repeats part of the text; nothing is erased then. The old text leaves the file with `Database.rewrite`.
    """
    row = find(tx, caller, ref, namespace)
    access.check_row(tx, caller, "forget", row)
    reason = check_reason(why)
    falling, barred = _falling(tx, caller, row, keep_supported)
    erased = [*falling.wordings, *(falling.memories if cascade else ()), *(falling.personas if cascade else ())]
    if others := [gone.id for gone in erased if gone.id in barred]:
        raise Forbidden(
            f"this would erase {len(others)} memories that are not yours to erase",
            hint="ask a human who may, or retire it; its dependants stay without --cascade",
            reason="not_yours",
            ids=others,
        )
    if reason is not None and any(_told(reason, gone) for gone in erased):
        raise Invalid(
            "the reason repeats part of what is to be forgotten, and a reason stays for good",
            hint="say why without its words, names and numbers, such as 'said in confidence', or give no reason",
            fields={"reason": "repeats"},
        )
    served = heads.serving(tx, erased)
    _erase(tx, caller, row, erased, reason)
    sight = Sight(tx, caller)
    left = falling.kept if cascade else (*falling.memories, *falling.personas)
    personas = sight.ids(gone.id for gone in erased if gone.memory_kind == "persona")
    return Forgotten(
        id=row.id,
        ids=tuple(gone.id for gone in erased if gone.memory_kind != "persona"),
        personas=tuple(gone.id for gone in erased if gone.id in personas),
        entities=tuple((head.entity_id, head.namespace) for head in served),
        stale=tuple(sight.rows(one.id for one in left)),
        repeated=_repeated(sight, erased),
    )


def _told(reason: str, row: MemoryRow) -> bool:
    """Tell whether a reason says something of what is erased; of a persona, which names its entity, five words."""
    if row.memory_kind == "persona":
        return repeats(reason, row.content or "")
    return any(tells(reason, text) for text in (row.title, row.description, row.content) if text)


def erase_again(tx: Transaction, ids: Iterable[str]) -> tuple[str, ...]:
    """Erase memories that a signed event says were forgotten and a restored backup brought back; give their ids."""
    named = sorted(set(ids))
    rows = [row for row in tx.get_many(MemoryRow, named).values() if row.status != "deleted"]
    closing = {"status": "deleted", "status_by": tx.actor, "status_at": tx.now, "updated_at": tx.now}
    closing["status_reason"] = "forgotten after the backup that was restored"
    for place, group in groupby(sorted(rows, key=lambda row: row.namespace), key=lambda row: row.namespace):
        here = list(group)
        for start in range(0, len(here), _BATCH):
            part = here[start : start + _BATCH]
            _bury(tx, part, [replace(row, **(_BLANK | closing)) for row in part])
            tx.event("erased", subject=part[0].id, namespace=place, payload={"ids": [row.id for row in part]})
    return tuple(row.id for row in rows)


def _falling(r: Reader, caller: Caller, row: MemoryRow, keep_supported: bool) -> tuple[Closure, frozenset[str]]:
    """Work out what falls as far as the caller sees it, and the ids among it that it may not erase."""
    barred: set[str] = set()

    def spared(resting: MemoryRow) -> bool:
        if access.renders(resting) or resting.memory_kind == "persona" or resting.status == "deleted":
            return False
        try:
            access.check_row(r, caller, "forget", resting)
        except NotFound:
            return True
        except Forbidden:
            barred.add(resting.id)
        return False

    return closure(r, row, keep_supported=keep_supported, spared=spared), frozenset(barred)


def _erase(tx: Transaction, caller: Caller, seed: MemoryRow, rows: Sequence[MemoryRow], reason: str | None) -> None:
    """Put tombstones in the place of rows, by namespace, each `erased` event naming exactly those it binds."""
    stones: list[MemoryRow] = []
    pinned = pins.lasting(tx, seed, rows)
    ordered = sorted(rows, key=lambda row: (row.namespace != seed.namespace, row.namespace))
    for place, group in groupby(ordered, key=lambda row: row.namespace):
        here = list(group)
        for start in range(0, len(here), _BATCH):
            part = here[start : start + _BATCH]
            ids = [row.id for row in part]
            made = [_tombstone(tx, caller, row, seed, reason) for row in part]
            _bury(tx, part, made, pinned)
            tx.event("erased", subject=seed.id, namespace=place, payload={"ids": ids}, actor=caller.id)
            stones += made
    for stone in stones:
        feed.deleted(tx, caller, stone)


def _bury(
    tx: Transaction,
    rows: Sequence[MemoryRow],
    stones: Sequence[MemoryRow],
    pinned: frozenset[tuple[str, int]] = frozenset(),
) -> None:
    """Put tombstones in the place of rows, and take away what else holds or serves their text.

    The `pinned` claims, as keys, stay.
    """
    ids = [row.id for row in rows]
    pins.drop(tx, sources=ids)
    keys = tx.select(IdempotencyRow, f"subject_id {AMONG} AND fingerprint IS NOT NULL", (ids,))
    for claim in tx.select(ClaimRow, f"persona_id {AMONG}", (ids,), order="persona_id, position"):
        if (claim.persona_id, claim.position) not in pinned:
            tx.delete(ClaimRow, claim.persona_id, claim.position)
    tx.put(*stones, *heads.emptied(heads.serving(tx, rows)), *(replace(key, fingerprint=None) for key in keys))


def _tombstone(tx: Transaction, caller: Caller, row: MemoryRow, seed: MemoryRow, reason: str | None) -> MemoryRow:
    """Give the row with nothing but what a tombstone keeps; only the memory that was named keeps the reason."""
    why = reason if row.id == seed.id else "fell with another memory"
    return closed(tx, caller, replace(row, **_BLANK), "deleted", status_reason=why)


def _repeated(sight: Sight, erased: Iterable[MemoryRow]) -> tuple[str, ...]:
    """List visible memories that hold one of the erased texts word for word."""
    texts = [row.content.strip() for row in erased if row.content and row.memory_kind != "persona"]
    if not texts:
        return ()
    held = " OR ".join(f"strpos(m.{column}, e.text) > 0" for column in ("content", "title", "description"))
    found = sight.r.query(
        "SELECT DISTINCT m.id FROM memories m CROSS JOIN (SELECT unnest(?::TEXT[]) AS text) e"
        f" WHERE m.status <> 'deleted' AND ({held}) ORDER BY 1",
        (texts[: limits.LIST_MAX],),
    )
    return tuple(sight.rows(id for (id,) in found))
