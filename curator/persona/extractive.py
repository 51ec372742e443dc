"""Write a portrait from the reflections' own sentences, without a model. Source: docs/spec/persona.md §3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from curator.persona import composition, words
from curator.persona.claims import Composition, Previous
from curator.persona.source import Source

if TYPE_CHECKING:
    from curator.persona.similarity import Embed


def compose(
    name: str,
    sources: Sequence[Source],
    previous: Previous | None,
    *,
    embed: Embed | None,
    new_id: Callable[[str], str],
    other_names: Sequence[str] = (),
    full: bool = False,
) -> Composition:
    """Compose a draft about `name` from `sources`, keeping what still holds of `previous`.

    The same sources give the same draft in whatever order they come; nothing is remembered of them afterwards.
    Arguments as in `composition.survey`, the answer as of `composition.compose`.
    """
    try:
        ground = composition.survey(name, sources, previous, embed=embed, other_names=other_names, full=full)
        return composition.compose(ground, new_id)
    finally:
        words.forget()
