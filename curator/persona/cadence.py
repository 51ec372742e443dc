"""Say when a persona is due to be written again. Source: docs/spec/persona.md §8."""

from __future__ import annotations

from substrate.memory import entities
from substrate.scopes import namespaces
from substrate.store.model import MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader


def due(r: Reader, entity_id: str, namespace: str) -> bool:
    """Say whether the namespace's cadence asks for a new version of this entity's persona.

    Due: as many reflections of the entity were written since its newest version, or since the last attempt that was
    refused or failed, as the policy says; tombstones count. Never due where no cadence is set.
    Source: docs/spec/persona.md §8.
    """
    every = namespaces.policy(r, namespace, "governance.auto_persona_trigger_every_n_memories", 0)
    if not every:
        return False
    ids = entities.ids_of(r, entity_id, namespace)
    head = r.get(PersonaHeadRow, namespace, entity_id)
    newest = r.require(MemoryRow, head.persona_id) if head and head.persona_id else None
    since = newest.sequence if newest else 0
    for event in r.events(after=since, subject=entity_id, types=("persona_failed", "persona_refused")):
        since = event.seq if event.namespace == namespace else since
    written = r.count(
        MemoryRow,
        "memory_kind = 'reflection' AND namespace = ? AND sequence > ?"
        " AND mentioned_entity_id IN (SELECT unnest(?::TEXT[]))",
        (namespace, since, sorted(ids)),
    )
    return written >= int(every)
