"""Find the entities whose persona may be due, in all namespaces with a cadence, in a few queries.

What it finds is looked at closely by ``cadence``: an entity it names need not be due, one that is due is named.

Source: docs/spec/persona.md §8.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

from curator import jobs
from curator.persona import cadence
from curator.persona.marks import Marks, marks
from substrate.config import Models
from substrate.memory.entity_names import lookup_paths, target
from substrate.memory.references import AMONG
from substrate.scopes import namespaces
from substrate.scopes.caller import CURATOR
from substrate.store.database import Database
from substrate.store.transaction import Reader

PAGE = 20  # entities looked at closely in one transaction
Entity = tuple[str, str]  # namespace, entity id

# The entities with enough reflections since the newest persona or vain attempt. Parameters, each a list: namespaces,
# their cadence; of ids that lead elsewhere the namespace they are seen from, the id, where it leads; of vain attempts
# namespace, entity, event number.
_COUNTED = """
WITH pace AS (SELECT unnest(?::TEXT[]) AS namespace, unnest(?::BIGINT[]) AS every),
led AS (SELECT unnest(?::TEXT[]) AS namespace, unnest(?::TEXT[]) AS id, unnest(?::TEXT[]) AS entity_id),
tried AS (SELECT unnest(?::TEXT[]) AS namespace, unnest(?::TEXT[]) AS entity_id, unnest(?::BIGINT[]) AS sequence),
made AS (SELECT namespace, entity_id, max(sequence) AS newest FROM (
    SELECT namespace, entity_id, sequence FROM memories WHERE memory_kind = 'persona' UNION ALL SELECT * FROM tried) t
  GROUP BY namespace, entity_id),
said AS (SELECT m.namespace, coalesce(led.entity_id, m.mentioned_entity_id) AS entity_id, m.sequence, pace.every
  FROM memories m JOIN pace ON pace.namespace = m.namespace
  LEFT JOIN led ON led.namespace = m.namespace AND led.id = m.mentioned_entity_id
  WHERE m.memory_kind = 'reflection' AND m.mentioned_entity_id IS NOT NULL)
SELECT said.namespace, said.entity_id FROM said
LEFT JOIN made ON made.namespace = said.namespace AND made.entity_id = said.entity_id
WHERE said.sequence > coalesce(made.newest, 0)
GROUP BY said.namespace, said.entity_id, said.every HAVING count(*) >= said.every
"""


def note(db: Database, models: Models) -> None:
    """Open a job for each entity that is due, a few in one transaction, so that others come to their turn."""
    with db.write(CURATOR.id) as tx:  # what was read of the log is kept
        found = candidates(tx)
    for start in range(0, len(found), PAGE):
        with db.write(CURATOR.id) as tx:
            for namespace, entity_id in found[start : start + PAGE]:
                cadence.note(tx, entity_id, namespace)


def unnoted(r: Reader, readable: Collection[str], most: int) -> list[Entity]:
    """List the first entities that are due now and have no job yet, in the namespaces given."""
    known = marks(r)
    found = (
        (place, entity)
        for place, entity in candidates(r, known)
        if place in readable
        and not jobs.is_open(r, cadence.KIND, place, entity)
        and cadence.due(r, entity, place, known)
    )
    return list(islice(found, most))


def candidates(r: Reader, known: Marks | None = None) -> list[Entity]:
    """List the entities that may be due, by namespace and id."""
    if not r.query("SELECT 1 FROM namespaces WHERE policy LIKE '%auto_persona_trigger%' LIMIT 1"):
        return []
    bound = "memory_kind = 'reflection' AND mentioned_entity_id IS NOT NULL"
    spoken = [place for (place,) in r.query(f"SELECT DISTINCT namespace FROM memories WHERE {bound}")]
    pace = {place: int(namespaces.policy(r, place, cadence.POLICY, 0)) for place in spoken}
    pace = {place: every for place, every in pace.items() if every}
    if not pace:
        return []
    known = known or marks(r)
    led, tried = _led(r, list(pace), bound), known.attempts()
    lists = (pace, pace.values(), *_columns(led), led.values(), *_columns(tried), tried.values())
    counted = r.query(_COUNTED, [list(column) for column in lists])
    return sorted({(place, entity) for place, entity in counted} | _merged(r, set(pace), led, known))


def _columns(named: Iterable[Entity]) -> tuple[list[str], list[str]]:
    pairs = list(named)
    return [place for place, _ in pairs], [id for _, id in pairs]


def _led(r: Reader, places: list[str], bound: str) -> dict[Entity, str]:
    """Map each id that reflections were bound to and that leads elsewhere, seen from its namespace, to where."""
    found = r.query(
        f"SELECT DISTINCT namespace, mentioned_entity_id FROM memories WHERE {bound} AND namespace {AMONG}"
        " AND mentioned_entity_id IN (SELECT alias_folded FROM entity_aliases"
        " UNION SELECT entity_id FROM entities WHERE merged_into IS NOT NULL)",
        (places,),
    )
    led = {(place, id): target(r, id, lookup_paths(place)) for place, id in found}
    return {(place, id): entity for (place, id), entity in led.items() if entity != id}


def _merged(r: Reader, places: set[str], led: dict[Entity, str], known: Marks) -> set[Entity]:
    """Name the survivors of merges newer than their newest persona or vain attempt, where they are spoken of."""
    gone = r.query("SELECT namespace, entity_id FROM entities WHERE merged_into IS NOT NULL")
    if not gone:
        return set()
    newest, tried = _newest(r), known.attempts()
    spoken = {(place, entity) for (place, _), entity in led.items()}
    near = {place for place, _ in spoken}
    asked: dict[Entity, int] = {}
    for registered, id in gone:
        for place in places:
            if place == registered or (place in near and registered in lookup_paths(place)):
                entity = (place, target(r, id, lookup_paths(place)))
                if place == registered or entity in spoken:
                    asked[entity] = max(known.merged(registered, id), asked.get(entity, 0))
    return {entity for entity, merged in asked.items() if merged > max(newest.get(entity, 0), tried.get(entity, 0))}


def _newest(r: Reader) -> dict[Entity, int]:
    rows = r.query(
        "SELECT namespace, entity_id, max(sequence) FROM memories WHERE memory_kind = 'persona'"
        " GROUP BY namespace, entity_id"
    )
    return {(place, entity): sequence for place, entity, sequence in rows}
