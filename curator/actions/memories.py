"""Actions on memories that the curator composes: reflect, and forget with what follows from it.

Source: docs/spec/model.md §5; docs/spec/persona.md §1a.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from curator.actions.personas import embedder
from substrate.actions.registry import Json, action, check_tier
from substrate.errors import AiMemoryError, NoModel, NotFound, Refused
from substrate.home import Memory

if TYPE_CHECKING:
    from curator.llm.model import Model


@action("reflect", writes=True)
def reflect(
    memory: Memory,
    *,
    title: str,
    text: str,
    sources: Sequence[str],
    entity_id: str | None = None,
    namespace: str = "global",
    metadata: Mapping[str, Any] | None = None,
    memory_type: str = "fact",
    tags: Sequence[str] = (),
    valid_from: str | None = None,
    valid_until: str | None = None,
    idempotency_key: str | None = None,
) -> Json:
    """Write a reflection that rests on other memories and say whether a persona is due by the namespace's cadence.

    A persona that is due is a job written in the same transaction; a worker does it later.
    """
    from curator import export
    from curator.persona import cadence
    from substrate.memory import memories, reflections

    given: dict[str, Any] = {
        "sources": list(sources),
        "entity_id": entity_id,
        "namespace": namespace,
        "metadata": metadata,
        "memory_type": memory_type,
        "tags": list(tags),
        "valid_from": valid_from,
        "valid_until": valid_until,
    }
    with memory.write() as tx:
        request = {"reflect": [title, text], **given}
        known = tx.once(idempotency_key, request) if idempotency_key is not None else None
        if known is None:
            done = reflections.reflect(tx, memory.caller, title, text, **given)
        else:
            row = memories.get(tx, memory.caller, known)
            below = tuple(memories.sources_of(tx, [row.id])[row.id])
            done = reflections.Reflected(row, below, row.mentioned_entity_id, row.reflection_depth)
        answer = done.wire(done.entity_id is not None and cadence.note(tx, done.entity_id, done.row.namespace))
    export.follow(memory.db, done.row)
    return answer


@action("forget", writes=True)
def forget(
    memory: Memory,
    *,
    id: str,
    why: str | None = None,
    namespace: str | None = None,
    cascade: bool = False,
    keep_supported: bool = False,
) -> Json:
    """Erase a memory's text; with ``cascade`` also what rests on it, then draw the personas anew from what is left."""
    from substrate.memory import forgetting
    from substrate.texts import projections

    with memory.write() as tx:
        gone = forgetting.forget(
            tx, memory.caller, id, why, namespace=namespace, cascade=cascade, keep_supported=keep_supported
        )
    answer = gone.wire()
    answer["files_left"] = [error.message for error in projections.tidy(memory.db).left]
    answer["regenerated"] = [
        again for entity, place in gone.entities if cascade for again in _again(memory, entity, place)
    ]
    return answer


def _again(memory: Memory, entity: str, place: str) -> list[Json]:
    """Draw a persona anew after a cascade, say what came of it. The erasure stands whatever happens here.

    Where no model can be had, or its draft is refused, the built-in curator draws: nobody is left without a persona
    because a server is down.
    """
    from curator.llm.choice import choose
    from curator.persona.persona import generate

    models = memory.config.models
    try:
        check_tier("drawing personas anew", "smart", memory.config.tier)
    except Refused as error:
        return [{"entity_id": entity, "namespace": place, "persona_id": None, "why_not": error.message}]

    def drawn(model: Model | None) -> str:
        made = generate(memory.db, memory.caller, entity, namespace=place, embed=embedder(), model=model, models=models)
        return made.row.id

    try:
        try:
            persona_id = drawn(choose(models, purpose="persona").model)
        except (NoModel, Refused) as error:
            if error.details.get("reason") == "no_reflections":
                raise
            persona_id = drawn(None)
    except NotFound:
        return []  # a persona where the caller does not read
    except AiMemoryError as error:
        return [{"entity_id": entity, "namespace": place, "persona_id": None, "why_not": error.message}]
    return [{"entity_id": entity, "namespace": place, "persona_id": persona_id, "why_not": None}]
