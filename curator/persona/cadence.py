"""Say when a persona is due to be written again, have that written down as a job, and do the job.

Source: docs/spec/persona.md §8.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass

from curator import jobs
from curator.jobs import Job, Means
from curator.persona.marks import Marks, marks
from substrate.errors import AiMemoryError
from substrate.memory import entities, feed
from substrate.memory.references import AMONG
from substrate.memory.wire import principal
from substrate.scopes import access, namespaces
from substrate.scopes.caller import CURATOR
from substrate.scopes.rules import Verdict
from substrate.store.model import Json, MemoryRow
from substrate.store.transaction import Reader, Transaction

POLICY = "governance.auto_persona_trigger_every_n_memories"
KIND = "persona"
LOG = logging.getLogger("post_reflect.auto_persona")


@dataclass(frozen=True, slots=True)
class Standing:
    """How an entity stands to the cadence of a namespace.

    ``every`` is the policy, 0 for none. ``written`` counts the reflections since the newest version, ``untried`` those
    since that or the last attempt that came to nothing; ``merged`` and ``retry`` say the same of a merge.
    """

    entity_id: str
    namespace: str
    every: int = 0
    written: int = 0
    untried: int = 0
    merged: bool = False
    retry: bool = False

    @property
    def warranted(self) -> bool:
        """Whether a new version may be written: enough was written since the newest, or entities were merged since."""
        return self.every > 0 and (self.written >= self.every or self.merged)

    @property
    def due(self) -> bool:
        """Whether one is asked for: the same, since the last attempt too."""
        return self.every > 0 and (self.untried >= self.every or self.retry)


def due(r: Reader, entity_id: str, namespace: str, known: Marks | None = None) -> bool:
    """Say whether the namespace's cadence asks for a new version of this entity's persona.

    Due: as many reflections of the entity, under any name that leads to it, were written since its newest version, or
    since the last attempt that was refused or failed, as the policy says; tombstones count. Or an entity with
    reflections was merged into this one since. Never due where no cadence is set or the curator may not write.
    Source: docs/spec/persona.md §8.
    """
    return standing(r, entity_id, namespace, known).due


def standing(r: Reader, entity_id: str, namespace: str, known: Marks | None = None) -> Standing:
    """Work out from rows how an entity stands; the log, or what is ``known`` of it, where they leave it open."""
    entity = entities.resolve(r, entity_id, namespace).entity_id
    every = int(namespaces.policy(r, namespace, POLICY, 0))
    if not every or access.ruling(r, CURATOR, "write", namespace).verdict != Verdict.YES:
        return Standing(entity, namespace)
    ids = sorted(entities.ids_of(r, entity, namespace))
    made = newest(r, entity, namespace)
    written = _written(r, ids, namespace, made)
    gone = _merged_into(r, ids, namespace) if len(ids) > 1 else []
    if written < every and not gone:
        return Standing(entity, namespace, every, written, written)
    found = known or marks(r)
    tried = max(made, found.tried(namespace, entity))
    named = _names(r, ids, namespace) if gone else set()
    merged = max((found.merged(place, id) for place, id in gone if named - {entity} or place == namespace), default=0)
    return Standing(
        entity,
        namespace,
        every,
        written,
        written if tried == made else _written(r, ids, namespace, tried),
        merged=bool(named) and merged > made,
        retry=bool(named) and merged > tried,
    )


def newest(r: Reader, entity_id: str, namespace: str) -> int:
    """Give the event number of an entity's newest persona, erased or retired ones included; 0 for none."""
    where = "memory_kind = 'persona' AND entity_id = ? AND namespace = ?"
    return int(r.query(f"SELECT coalesce(max(sequence), 0) FROM memories WHERE {where}", (entity_id, namespace))[0][0])


def note(tx: Transaction, entity_id: str, namespace: str) -> bool:
    """Say whether a persona is due, and have its job written in this transaction; one open job an entity.

    What goes wrong here is a warning and no reason to refuse the write it follows.
    """
    try:
        opened = jobs.untried_since(tx, KIND, namespace, entity_id)
        if opened and opened > newest(tx, entity_id, namespace):  # it was due then, and nothing was written since
            return int(namespaces.policy(tx, namespace, POLICY, 0)) > 0
        found = standing(tx, entity_id, namespace)
    except AiMemoryError as error:
        LOG.warning("whether a persona is due could not be told: %s", error.message)
        return False
    if found.due:
        jobs.open_(tx, KIND, namespace, found.entity_id, entity_id=found.entity_id)
    return found.due


def run(means: Means, job: Job) -> Json | None:
    """Write the persona a job is for, as the curator, unless it is not warranted any more.

    The model is the one given, else the one the settings name for personas. Each attempt that fails leaves exactly one
    event, whatever made it fail.
    """
    from curator.llm.choice import choose
    from curator.persona.persona import generate

    entity, namespace = str(job.plan["entity_id"]), job.namespace
    with means.db.read() as r:
        before = r.head.sequence
        if not standing(r, entity, namespace).warranted:
            return None
    try:
        model = means.model or choose(means.models, purpose="persona").model
        made = generate(
            means.db,
            CURATOR,
            entity,
            namespace=namespace,
            embed=means.embed,
            model=model,
            models=means.models,
            only_if=lambda r: standing(r, entity, namespace).warranted,
        )
    except Exception as error:
        with suppress(AiMemoryError):
            _record(means, entity, namespace, before, error)
        raise
    return {"persona_id": made.row.id, "version": made.row.persona_version} if made else None


def give_up(tx: Transaction, job: Job) -> None:
    """Record that a job whose worker ended each time is not tried again until as much is written once more."""
    _failed(tx, entities.resolve(tx, str(job.plan["entity_id"]), job.namespace).entity_id, job.namespace, "interrupted")


def _record(means: Means, entity_id: str, namespace: str, before: int, error: Exception) -> None:
    """Record a failed attempt where the generation has not: then the count begins again after it."""
    with means.db.write(CURATOR.id) as tx:
        entity = entities.resolve(tx, entity_id, namespace).entity_id
        if not tx.events(after=before, subject=entity, types=("persona_failed", "persona_refused")):
            told = error.details.get("reason", error.code) if isinstance(error, AiMemoryError) else "unforeseen"
            _failed(tx, entity, namespace, str(told))


def _failed(tx: Transaction, entity: str, namespace: str, reason: str) -> None:
    tx.event(
        "persona_failed",
        subject=entity,
        namespace=namespace,
        payload={
            "entity_id": entity,
            "reason": reason,
            "outcome": "failed",
            "up_to": tx.sequence - 1,
            "by": principal(CURATOR),
        },
        audience=feed.audience(tx, namespace),
        actor=CURATOR.id,
    )


def _written(r: Reader, ids: list[str], namespace: str, after: int) -> int:
    where = f"memory_kind = 'reflection' AND namespace = ? AND sequence > ? AND mentioned_entity_id {AMONG}"
    return r.count(MemoryRow, where, (namespace, after, ids))


def _merged_into(r: Reader, ids: list[str], namespace: str) -> list[tuple[str, str]]:
    """Give those of an entity's ids that were merged, with the namespaces around this one where they were."""
    sql = f"SELECT namespace, entity_id FROM entities WHERE merged_into IS NOT NULL AND namespace {AMONG}"
    found = r.query(f"{sql} AND entity_id {AMONG}", (entities.lookup_paths(namespace), ids))
    return [(place, id) for place, id in found]


def _names(r: Reader, ids: list[str], namespace: str) -> set[str]:
    """Give those of an entity's names that active reflections in a namespace were bound to."""
    where = f"memory_kind = 'reflection' AND status = 'active' AND namespace = ? AND mentioned_entity_id {AMONG}"
    return {
        id for (id,) in r.query(f"SELECT DISTINCT mentioned_entity_id FROM memories WHERE {where}", (namespace, ids))
    }
