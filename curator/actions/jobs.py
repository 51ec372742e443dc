"""Actions on what the curator does by itself: run what is due, and say what waits.

Source: docs/spec/persona.md §8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.actions.personas import Progress
from substrate.actions.registry import Json, action
from substrate.home import Memory

if TYPE_CHECKING:
    from curator.shift import Shift
    from substrate.recall.embedding import Embedder


@action("tick", writes=True, tier="smart")
def tick(memory: Memory, *, now: bool = False, progress: Progress | None = None) -> Json:
    """Write what is due by cadence, and let files and recall catch up; one process at a time does it.

    With ``now`` what failed and waits for its next attempt is tried at once.
    """
    return work(memory, now=now, progress=progress)


@action("jobs", writes=False)
def waiting(memory: Memory) -> Json:
    """Show the jobs that wait, run or failed, whose persona is due now, and what was asked of models today.

    Of the personas that are due without a job, which the next tick notes, the first page is named.
    """
    from curator import jobs as rows
    from curator.llm import calls
    from curator.persona import sweep
    from substrate import limits
    from substrate.scopes import access

    with memory.read() as r:
        seen = access.readable(r, memory.caller)
        shown = [job for job in rows.unfinished(r) if job.namespace in seen]
        now = memory.db.clock()
        asked = calls.usage(r, now[:10], since=rows.later(now, -memory.config.models.timeout_s))
        found = sweep.unnoted(r, seen, limits.LIST_DEFAULT)
    return {
        "jobs": [
            {
                "kind": job.kind,
                **job.plan,
                "state": job.state,
                "attempts": job.attempts,
                "next_attempt_at": job.next_attempt_at,
                "reason": job.last_error["code"] if job.last_error else None,
                "message": rows.SAID.get(job.last_error["code"]) if job.last_error else None,
            }
            for job in shown
        ],
        "due": [{"namespace": place, "entity_id": entity} for place, entity in found],
        "model_calls": {"today": asked.calls, "failed": asked.failed, "running": asked.running}
        | {"most": memory.config.models.calls_per_day},
    }


def work(memory: Memory, *, now: bool = False, progress: Progress | None = None, taken: Shift | None = None) -> Json:
    """Tick with the embedding models that are installed; ``taken`` is a shift that was handed over."""
    from curator import worker
    from substrate.recall import embedding

    packaged, encoder = (_encoder(model) for model in (embedding.DEFAULT_MODEL, memory.config.search.model))
    embed = packaged.encode if packaged is not None else None
    return worker.tick(memory, now=now, embed=embed, encoder=encoder, progress=progress, taken=taken)


def _encoder(model: str) -> Embedder | None:
    """Give a model for vectors, which is loaded for the first text, or None where it cannot run."""
    from substrate.recall import embedding

    return embedding.Deferred(model) if embedding.available(model)[0] else None
