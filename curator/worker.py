"""Do in the background what was found to be due: reflections, personas, then what files and recall lag behind.

One worker works on a store at a time. Nothing is held while a model is asked; what goes wrong in a job stays with it.

Source: docs/spec/persona.md §8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from curator import encoding, export, jobs, shift
from curator.jobs import Job, Means, Run
from curator.persona import cadence, sweep
from curator.reflections import cadence as reflecting
from curator.shift import Shift
from substrate.actions.registry import check_tier
from substrate.config import Models
from substrate.errors import AiMemoryError, Busy, Conflict, NoModel, RateLimited, Unavailable
from substrate.escape import quote
from substrate.home import Memory
from substrate.scopes import access
from substrate.scopes.caller import CURATOR

if TYPE_CHECKING:
    from curator.llm.model import Model
    from curator.persona.similarity import Embed
    from substrate.recall.embedding import Embedder
    from substrate.recall.index import Progress

Find = Callable[[Means], None]
KINDS: dict[str, Run] = {reflecting.KIND: reflecting.run, cadence.KIND: cadence.run, encoding.KIND: encoding.run}
"""What is done for each kind of job; reflections first, for personas are drawn from them."""
FINDS: dict[str, Find] = {
    reflecting.KIND: lambda means: reflecting.note(means.db, means.models),
    cadence.KIND: lambda means: sweep.note(means.db, means.models),
    encoding.KIND: encoding.note,
}
"""What opens the jobs of a kind for all that is due."""

_TRANSIENT = (NoModel, Busy, Conflict, RateLimited, Unavailable)


def tick(
    memory: Memory,
    *,
    now: bool = False,
    models: Models | None = None,
    model: Model | None = None,
    embed: Embed | None = None,
    encoder: Embedder | None = None,
    progress: Progress | None = None,
    taken: Shift | None = None,
) -> dict[str, Any]:
    """Do everything that is due in a store, as the curator, and say what was done that the caller may know of.

    ``models`` are the home's own unless given, ``model`` is asked instead of choosing one; without ``embed`` closeness
    is told by words, without ``encoder`` no text is encoded for recall. ``taken`` is a shift that was handed over. With
    ``now`` jobs that wait for their next attempt have it at once.

    Answers ``{ran, waiting, held_by, exported, encoded}``, the last two in files and texts. Where another process works
    at it ``held_by`` names it and nothing is done. Afterwards nothing is due, and jobs that failed wait for their next
    attempt: ``waiting`` names them. Raises Refused below the tier `smart`, and what the store raises; a job that fails
    is in the answer.
    """
    check_tier("the curator's own work", "smart", memory.config.tier)
    means = Means(memory.db, models or memory.config.models, model, embed, encoder, progress)
    ran: list[dict[str, Any]] = []
    exported = 0
    busy = True
    while busy:  # again when a job came in between the last look and the end of the shift: nobody else was started
        mine, taken = taken or shift.take(memory.db.home), None
        if mine is None:
            return _answer(memory, ran, exported, shift.holder(memory.db.home))
        with mine:
            if now:
                with memory.db.write(CURATOR.id) as tx:
                    jobs.hasten(tx)
                now = False
            ran += _work(means)
            exported += export.catch_up(memory).written
        encoding.note(means)
        with memory.db.read() as r:
            busy = bool(jobs.ready(r, memory.db.clock(), KINDS))
    return _answer(memory, ran, exported, None)


def _answer(memory: Memory, ran: list[dict[str, Any]], exported: int, held_by: Any) -> dict[str, Any]:
    with memory.read() as r:
        seen = access.readable(r, memory.caller)
        left = [job for job in jobs.unfinished(r) if job.state == "pending" and job.namespace in seen]
    shown = [one for one in ran if one["namespace"] in seen and "encoded" not in one]
    encoded = sum(one.get("encoded", 0) for one in ran)
    waiting = [{"kind": job.kind, **job.plan, "next_attempt_at": job.next_attempt_at} for job in left]
    return {"ran": shown, "waiting": waiting, "held_by": held_by, "exported": exported, "encoded": encoded}


def _work(means: Means) -> Iterator[dict[str, Any]]:
    """Put back what a dead worker left, find what is due, and run every job that is ready."""
    db = means.db
    with db.write(CURATOR.id) as tx:
        jobs.sweep(tx)
        for spent in jobs.put_back(tx):
            if spent.kind == cadence.KIND:
                cadence.give_up(tx, spent)
    for find in (FINDS[kind] for kind in KINDS if kind in FINDS):
        find(means)
        yield from _run_ready(means)


def _run_ready(means: Means) -> Iterator[dict[str, Any]]:
    db = means.db
    while True:
        with db.read() as r:
            waiting = jobs.ready(r, db.clock(), KINDS)
        if not waiting:
            return
        for job in waiting:
            with db.write(CURATOR.id) as tx:
                begun = jobs.begin(tx, job)
            if begun is not None:
                yield _run(means, begun)


def _run(means: Means, job: Job) -> dict[str, Any]:
    """Run one job and settle it; whatever goes wrong in it is a warning, kept with the job, and the next one runs."""
    told: dict[str, Any] = {"kind": job.kind, **job.plan, "attempt": job.attempts}
    try:
        done = KINDS[job.kind](means, job)
    except Exception as error:
        code = error.code if isinstance(error, AiMemoryError) else "unforeseen"
        reason = str(error.details.get("reason", code)) if isinstance(error, AiMemoryError) else type(error).__name__
        message = error.message if isinstance(error, AiMemoryError) else f"{type(error).__name__} in a job"
        again = isinstance(error, _TRANSIENT) or not isinstance(error, AiMemoryError)
        about = f"{job.kind} of {quote(job.plan.get('entity_id'))} in {job.namespace}"
        cadence.LOG.warning("%s, attempt %d: %s", about, job.attempts, message)
        with means.db.write(CURATOR.id) as tx:
            state = jobs.fail(tx, job, reason, again=again)
        return told | {"outcome": "waiting" if state == "pending" else state, "reason": reason, "message": message}
    with means.db.write(CURATOR.id) as tx:
        jobs.finish(tx, job)
    return told | ({"outcome": "done", **done} if done else {"outcome": "not_needed"})
