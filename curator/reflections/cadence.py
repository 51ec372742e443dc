"""Say about whom there is enough to reflect on, have that written down as jobs, and do them.

Source: docs/spec/reflections.md §6.
"""

from __future__ import annotations

from curator import jobs
from curator.jobs import Job, Means
from curator.reflections import positions
from curator.reflections.distillation import by_choice, distil
from curator.reflections.gathering import Survey, fresh, survey
from curator.reflections.names import read as read_names
from substrate.config import Models
from substrate.errors import Refused
from substrate.scopes import access, namespaces
from substrate.scopes.caller import CURATOR
from substrate.scopes.rules import Verdict
from substrate.store.database import Database
from substrate.store.model import Json
from substrate.store.transaction import Reader

POLICY = "governance.auto_reflect_every_n_observations"
KIND = "reflections"


def places(r: Reader) -> dict[str, int]:
    """Map the namespaces whose policy asks for reflections, and where the curator may write them, to how many."""
    if not r.query("SELECT 1 FROM namespaces WHERE policy LIKE '%auto_reflect%' LIMIT 1"):
        return {}
    held = r.query("SELECT DISTINCT namespace FROM memories WHERE memory_kind = 'observation' ORDER BY 1")
    found = {place: _every(r, place) for (place,) in held}
    return {place: every for place, every in found.items() if every}


def due(r: Reader, namespace: str) -> list[str]:
    """List the entities of a namespace about whom there are as many fresh observations as its policy says.

    Computed from rows. An attempt that came to nothing counts: then as many that are newer are waited for.
    """
    every = _every(r, namespace)
    if not every:
        return []
    found = survey(r, namespace)
    near = sorted(entity for entity, notes in found.about.items() if len(notes) >= every)
    return [entity for entity in near if _untried(r, found, entity) >= every]


def note(db: Database, models: Models) -> None:
    """Open a job for each entity that is due, one namespace at a time; none where `reflect` is off."""
    if models.reflect == "off":
        return
    with db.read() as r:
        asked = places(r)
    for namespace in asked:
        with db.read() as r:
            found = due(r, namespace)
        if found:
            with db.write(CURATOR.id) as tx:
                for entity in found:
                    jobs.open_(tx, KIND, namespace, entity, entity_id=entity)


def run(means: Means, job: Job) -> Json | None:
    """Reflect on what is fresh about the entity of a job, as the curator, unless too little is."""
    entity, namespace = str(job.plan["entity_id"]), job.namespace
    with means.db.read() as r:
        every, up_to = _every(r, namespace), r.head.sequence
    if not every:
        return None
    try:
        if means.model is not None:
            done = distil(
                means.db,
                CURATOR,
                entity,
                namespace=namespace,
                least=every,
                embed=means.embed,
                model=means.model,
                models=means.models,
            )
        else:
            done = by_choice(
                means.db, CURATOR, entity, models=means.models, namespace=namespace, least=every, embed=means.embed
            )
    except Refused:
        with means.db.write(CURATOR.id) as tx:
            names = read_names(tx, namespace).names_of(entity)
            positions.move(tx, namespace, entity, names, up_to, positions.TRIED)
        raise
    if not done.considered:
        return None
    return {"considered": done.considered, "reflections": list(done.ids), "dropped": len(done.dropped)}


def _every(r: Reader, namespace: str) -> int:
    every = int(namespaces.policy(r, namespace, POLICY, 0))
    may = every and access.ruling(r, CURATOR, "write_curated", namespace).verdict == Verdict.YES
    return every if may else 0


def _untried(r: Reader, found: Survey, entity: str) -> int:
    tried = positions.read(r, found.namespace, entity, found.names.names_of(entity), positions.TRIED).event
    written = {id: sequence for sequence, id in found.about[entity]}
    return sum(written[id] > tried for id in fresh(r, found, entity))
