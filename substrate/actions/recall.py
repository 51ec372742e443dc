"""The action that finds memories. Source: docs/spec/model.md §5; docs/concepts/recall.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from substrate import config
from substrate.actions.registry import Json, action
from substrate.errors import Forbidden, Invalid
from substrate.escape import quote
from substrate.home import Memory


@action("recall", writes=False)
def recall(
    memory: Memory,
    *,
    query: str,
    namespace: str | None = None,
    max: int | None = None,
    chars: int | None = None,
    tokens: int | None = None,
    kind: str | None = None,
    memory_type: str | None = None,
    as_of: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Json:
    """Find the memories that answer a question: with scores, arms and citations, cut to a budget.

    With ``tokens`` in place of ``chars`` every memory is whole, and what had no room is named with what it takes.
    """
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
        tokens=tokens,
        tokenizer=memory.config.search.tokenizer,
        model=memory.config.search.model,
        progress=progress,
    ).wire()


@action("reindex", writes=True)
def reindex(
    memory: Memory,
    *,
    model: str | None = None,
    anew: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Json:
    """Make the recall index whole: take in what changed, and give every memory that has none its vector.

    With ``model``, the packaged one by its name or another of sentence-transformers by its folder, the home asks for
    that one from now on: the old vectors serve until the new are whole and are removed then. With ``anew`` the index is
    deleted first. Interrupted, it goes on where it stopped. For humans, since the index is everybody's.

    Answers ``{model, model_id, dimension, memories, encoded, why_not}``; without the means to encode, the reason.
    Raises NoModel and Invalid for a model that does not run here; nothing has changed then.
    """
    from substrate.recall import embedding, folder, index

    if memory.caller.kind != "human":
        raise Forbidden("only a human makes the index anew", hint="ask a human", reason="humans_only")
    db = memory.db
    if model is not None:
        _choose(memory, model)
    if anew:
        with db.read():
            folder.erase(db.home)
    follower, source = index.of(db), memory.config.search.model
    documents = len(follower.corpus(follower.catch_up(db, progress)))
    possible, why_not = embedding.available(source)
    told: Json = {"model": source, "model_id": None, "dimension": None, "memories": documents, "encoded": 0}
    if possible:
        encoder = embedding.load(source)
        told |= {"model_id": encoder.model_id, "dimension": encoder.dimension}
        told["encoded"] = follower.encode(db, encoder, limit=0)
        follower.encode(db, encoder, progress=progress)
    return told | {"why_not": why_not}


def _choose(memory: Memory, model: str) -> None:
    """Have the home ask for a model of vectors, once it has been loaded."""
    from substrate.recall import embedding

    here = model if model == config.EMBEDDING_MODEL or model.startswith("~/") else str(Path(model).absolute())
    if not config.is_embedding_model(here):
        raise Invalid(f"{quote(model)} names no model", hint="give a folder of a model", fields={"model": "form"})
    source = here if here == config.EMBEDDING_MODEL else str(Path(here).expanduser())
    embedding.load(source)
    with memory.db.read():  # so that no process takes another model's vectors for the ones asked for
        found = config.read(memory.db.home)
        config.write(memory.db.home, replace(found, search=replace(found.search, model=source)))
    memory.config = replace(memory.config, search=replace(memory.config.search, model=source))
