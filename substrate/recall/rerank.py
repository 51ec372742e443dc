"""Let a model that reads question and memory together put the best hits in order. Only where a caller passes one.

Source: docs/concepts/recall.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from substrate.errors import Invalid, NoModel
from substrate.store.model import MemoryRow

RERANKED = 50  # best hits that are read with the question


class Reranker(Protocol):
    """Say how well texts answer a query."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score for each text, in order, higher for better; each depends on its own text alone."""


class CrossEncoder:
    """Score with a cross-encoder that sentence-transformers saved in a folder; importing it takes seconds."""

    def __init__(self, folder: Path) -> None:
        """Load the model. Raises `NoModel` without the library, `Invalid` for a folder that holds no such model."""
        if not (folder / "config.json").is_file():
            raise Invalid(f"there is no model in {folder}", hint="give a folder with a cross-encoder")
        try:
            import sentence_transformers as library
        except ImportError as error:
            raise NoModel("sentence-transformers is not installed", hint="pip install '.[semantic]'") from error
        try:
            self._model: Any = library.CrossEncoder(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise Invalid(f"{folder} does not load: {error}", hint="give a folder with a cross-encoder") from error

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Reranker`; one pair at a time, so that no text's score depends on the others."""
        return [float(self._model.predict([(query, text)], show_progress_bar=False)[0]) for text in texts]


def reranked(reranker: Reranker, query: str, rows: Sequence[MemoryRow]) -> tuple[list[MemoryRow], dict[str, float]]:
    """Return the rows in the order the model gives them, equal ones as they stood, and its scores by id."""
    texts = ["\n".join(part for part in (row.title, row.description, row.content) if part) for row in rows]
    scores = dict(zip((row.id for row in rows), map(float, reranker.scores(query, texts)), strict=True))
    return sorted(rows, key=lambda row: -scores[row.id]), scores
