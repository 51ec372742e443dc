"""The action that finds memories. Source: docs/spec/model.md §5; docs/concepts/recall.md."""

from __future__ import annotations

from collections.abc import Callable

from substrate.actions.registry import Json, action
from substrate.home import Memory


@action("recall", writes=False)
def recall(
    memory: Memory,
    *,
    query: str,
    namespace: str | None = None,
    max: int | None = None,
    chars: int | None = None,
    kind: str | None = None,
    memory_type: str | None = None,
    as_of: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Json:
    """Find the memories that answer a question: with scores, arms and citations, cut to a budget."""
    from substrate.recall.recall import recall as find

    return find(
        memory.db,
        memory.caller,
        query,
        namespace=namespace,
        kinds=() if kind is None else [kind],
        types=() if memory_type is None else [memory_type],
        as_of=as_of,
        max_hits=max,
        chars=chars,
        progress=progress,
    ).wire()
