"""Actions on the curator's reflections: let it reflect on observations.

Source: docs/spec/model.md §5; docs/spec/reflections.md §5.
"""

from __future__ import annotations

from curator.actions.personas import Progress, embedder
from substrate.actions.registry import Json, action
from substrate.home import Memory


@action("distil", writes=True, tier="smart")
def distil(
    memory: Memory,
    *,
    entity: str | None = None,
    namespace: str = "global",
    again: bool = False,
    dry_run: bool = False,
    model: str | None = None,
    progress: Progress | None = None,
) -> Json:
    """Write reflections on what was observed of an entity, or of every registered one, and say what was dropped."""
    from curator import export
    from curator.reflections import distillation, gathering

    wanted = [entity] if entity is not None else []
    if entity is None:
        with memory.read() as r:
            found = distillation.surveyed(r, memory.caller, namespace)
            wanted = [one for one in sorted(found.about) if gathering.fresh(r, found, one, again=again)]
    embed = embedder(progress) if wanted else None
    made = [
        distillation.by_choice(
            memory.db,
            memory.caller,
            one,
            models=memory.config.models,
            wanted=model,
            namespace=namespace,
            again=again,
            dry_run=dry_run,
            embed=embed,
        )
        for one in wanted
    ]
    if any(one.ids for one in made):
        export.catch_up(memory)
    told = [one.wire() for one in made]
    return {"namespace": namespace, "dry_run": dry_run, "entities": told}
