"""Actions on personas: read, write anew, compare, follow to the sources, verify.

What writes is imported where it is used: reading a persona, which should feel instant, needs none of it.

Source: docs/spec/model.md §5; docs/spec/persona.md §7.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from curator.persona import reading
from substrate.actions.registry import Json, action
from substrate.errors import Invalid, NotFound, Refused
from substrate.escape import quote
from substrate.home import Memory
from substrate.secrets import redact

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

Progress = Callable[[str, int, int], None]  # what is done, how much of it, of how much


@action("persona", writes=False, tier="semantic")
def persona(
    memory: Memory, *, entity: str, namespace: str = "global", version: int | None = None, as_of: str | None = None
) -> Json:
    """Read the newest persona of an entity, one version of it, or the one of a date; null where there is none."""
    if version is not None and as_of is not None:
        raise Invalid("a version and a date are two questions", hint="ask for one of them")
    with memory.read() as r:
        if version is not None:
            return {"persona": reading.version(r, memory.caller, entity, namespace, version).wire()}
        if as_of is not None:
            return {"persona": reading.as_of(r, memory.caller, entity, namespace, as_of).wire()}
        found = reading.newest(r, memory.caller, entity, namespace)
    return {"persona": found.wire() if found else None}


@action("persona_generate", writes=True, tier="smart")
def persona_generate(
    memory: Memory,
    *,
    entity: str,
    namespace: str = "global",
    full: bool = False,
    model: str | None = None,
    progress: Progress | None = None,
) -> Json:
    """Write the next version of an entity's persona from its reflections, and read it back.

    Refused where the sources say nothing new, unless ``full`` draws it afresh. ``model`` is cheap, extractive or
    ``<provider>/<model>``, what the settings say unless given; ``written_by`` names what wrote and says why.
    """
    from curator.llm.choice import choose
    from curator.persona.persona import generate

    models = memory.config.models
    choice = choose(models, model, purpose="persona")
    made = generate(
        memory.db,
        memory.caller,
        entity,
        namespace=namespace,
        full=full,
        only_new=not full,
        embed=embedder(progress),
        model=choice.model,
        models=models,
    )
    answer = persona(memory, entity=entity, namespace=namespace, version=made.row.persona_version)
    return answer | {"written_by": {"name": choice.name, "why": choice.why}}


@action("persona_pin", writes=True)
def persona_pin(memory: Memory, *, entity: str, claim: str, namespace: str = "global", pinned: bool = True) -> Json:
    """Pin a claim of the newest persona, by its id or number, so that every later version keeps it; or let it go."""
    from curator.persona import pinning

    with memory.write() as tx:
        found = _require(reading.newest(tx, memory.caller, entity, namespace), entity, namespace)
        row = pinning.pin(tx, memory.caller, found, claim, pinned=pinned)
    return {"persona_id": row.persona_id, "claim_id": row.claim_id, "text": row.text, "pinned": row.pinned}


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
        hint=f"make one: ai-memory persona {shlex.quote(redact(entity))}{place} --regenerate",
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
