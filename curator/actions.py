"""Actions that the curator composes: reflect, forget and everything about personas.

What writes is imported where it is used: reading a persona, which should feel instant, needs none of it.

Source: docs/spec/model.md §5; docs/spec/persona.md §1a and §7.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from curator.persona import reading
from substrate.actions.registry import Json, action
from substrate.errors import AiMemoryError, NotFound, Refused
from substrate.escape import quote
from substrate.home import Memory

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

Progress = Callable[[str, int, int], None]  # what is done, how much of it, of how much


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
    """Write a reflection that rests on other memories and say whether a persona is due by the namespace's cadence."""
    from curator.persona.cadence import due
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
        return done.wire(done.entity_id is not None and due(tx, done.entity_id, done.row.namespace))


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

    with memory.write() as tx:
        gone = forgetting.forget(
            tx, memory.caller, id, why, namespace=namespace, cascade=cascade, keep_supported=keep_supported
        )
    answer = gone.wire()
    answer["regenerated"] = [
        again for entity, place in gone.entities if cascade for again in _again(memory, entity, place)
    ]
    return answer


def _again(memory: Memory, entity: str, place: str) -> list[Json]:
    """Draw a persona anew after a cascade; say what came of it. The erasure stands whatever happens here."""
    from curator.persona.persona import generate

    try:
        made = generate(memory.db, memory.caller, entity, namespace=place, embed=embedder())
        return [{"entity_id": entity, "namespace": place, "persona_id": made.row.id, "why_not": None}]
    except NotFound:
        return []  # a persona where the caller does not read
    except AiMemoryError as error:
        return [{"entity_id": entity, "namespace": place, "persona_id": None, "why_not": error.message}]


@action("persona", writes=False)
def persona(memory: Memory, *, entity: str, namespace: str = "global", version: int | None = None) -> Json:
    """Read the newest persona of an entity, or one version of it; null where there is none."""
    with memory.read() as r:
        if version is not None:
            return {"persona": reading.version(r, memory.caller, entity, namespace, version).wire()}
        found = reading.newest(r, memory.caller, entity, namespace)
    return {"persona": found.wire() if found else None}


@action("persona_generate", writes=True)
def persona_generate(
    memory: Memory, *, entity: str, namespace: str = "global", full: bool = False, progress: Progress | None = None
) -> Json:
    """Write the next version of an entity's persona from its reflections, and read it back."""
    from curator.persona.persona import generate

    made = generate(memory.db, memory.caller, entity, namespace=namespace, full=full, embed=embedder(progress))
    return persona(memory, entity=entity, namespace=namespace, version=made.row.persona_version)


@action("persona_history", writes=False)
def persona_history(memory: Memory, *, entity: str, namespace: str = "global") -> Json:
    """List the versions of a persona, newest first."""
    with memory.read() as r:
        rows = reading.history(r, memory.caller, entity, namespace)
    return {
        "versions": [_version(row.metadata, row.id, row.persona_version, row.status, row.created_at) for row in rows]
    }


def _version(metadata: Mapping[str, Any] | None, id: str, number: int | None, status: str, created_at: str) -> Json:
    envelope = (metadata or {}).get("persona", {})
    shown = {name: envelope.get(name) for name in ("model", "words", "short", "sources_total", "sources_used")}
    return {"id": id, "version": number, "status": status, "created_at": created_at, **shown}


@action("persona_diff", writes=False)
def persona_diff(
    memory: Memory, *, entity: str, namespace: str = "global", before: int | None = None, after: int | None = None
) -> Json:
    """Compare two versions claim by claim; the last two unless told."""
    with memory.read() as r:
        newest = _require(reading.newest(r, memory.caller, entity, namespace), entity, namespace)
        last = newest.row.persona_version or 1
        after = last if after is None else after
        before = after - 1 if before is None else before
        if before < 1:
            raise Refused(f"the persona of {quote(entity)} has one version only", hint="compare after a regeneration")
        old, new = (reading.version(r, memory.caller, entity, namespace, n) for n in (before, after))
    return reading.diff(old, new).wire()


@action("persona_why", writes=False)
def persona_why(memory: Memory, *, entity: str, footnote: int, namespace: str = "global") -> Json:
    """Follow a footnote of the newest persona down to the observations it rests on."""
    from curator.persona import tracing

    with memory.read() as r:
        found = _require(reading.newest(r, memory.caller, entity, namespace), entity, namespace)
        return tracing.why(r, memory.caller, found, footnote).wire()


@action("persona_verify", writes=False)
def persona_verify(memory: Memory, *, entity: str, namespace: str = "global") -> Json:
    """Hold the newest persona against its claims, its edges, its event, and that event's place in the log."""
    from audit import proof
    from curator.persona import tracing
    from substrate.actions.audit import prove

    with memory.read() as r:
        found = _require(reading.newest(r, memory.caller, entity, namespace), entity, namespace)
        faults = tracing.check(r, memory.caller, found)
    faults += proof.check(prove(memory, id=found.row.id)["proof"]).reasons
    return {
        "ok": not faults,
        "id": found.row.id,
        "version": found.row.persona_version,
        "stale": found.stale,
        "faults": faults,
    }


def _require(found: reading.Read | None, entity: str, namespace: str) -> reading.Read:
    if found is None:
        raise no_persona(entity, namespace)
    return found


def no_persona(entity: str, namespace: str) -> NotFound:
    """Make the error for an entity without a persona; it names the command that makes one."""
    place = "" if namespace == "global" else f" --namespace {shlex.quote(namespace)}"
    return NotFound(
        f"no persona of {quote(entity)} in {quote(namespace)} yet",
        hint=f"make one: ai-memory persona {shlex.quote(entity)}{place} --regenerate",
    )


def embedder(progress: Progress | None = None) -> Embed | None:
    """Give the installed embedding model, or None: then closeness is told by words."""
    from substrate.recall import embedding

    if not embedding.available()[0]:
        return None
    model = embedding.load()
    if progress is None:
        return model.encode
    return lambda texts: model.encode(texts, lambda done, total: progress("encoding", done, total))
