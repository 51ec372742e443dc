"""txtai: words and vectors in one index, which is written whole when it is saved."""

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

os.environ["ALLOW_RESOLVE_TRANSFORM"] = "True"  # it is asked to call a function of ours

from txtai import Embeddings

from benchmarks.peers.given import Given, Vector
from benchmarks.peers.measure import HITS, Item


class System:
    """See `benchmarks.peers.measure.System`."""

    def __init__(self, home: Path, given: Given, place: str) -> None:
        self.version, self.place, known = f"txtai {version('txtai')}", str(home / "index"), given.vector_of

        def encode(texts: Sequence[str]) -> Any:
            return np.array([known[text] for text in texts], np.float32)

        self.index = Embeddings(method="external", transform=encode, content=True, hybrid=True)
        if self.index.exists(self.place):
            self.index.load(self.place, config={"transform": encode})
        self.waiting: list[tuple[str, str]] = []

    def load(self, items: Sequence[Item]) -> None:
        """Keep them for `settle`: its index is trained on all at once."""
        self.waiting += [(id, text) for id, text, _ in items]

    def settle(self) -> None:
        """Index what was given."""
        self.index.index(self.waiting)

    def store(self, item: Item) -> None:
        """Add one."""
        self.index.upsert([(item[0], item[1])])

    def recall(self, question: str, vector: Vector) -> list[str]:
        """Search by words and vectors."""
        return [hit["id"] for hit in self.index.search(question, HITS)]

    def close(self) -> None:
        """Save the index."""
        self.index.save(self.place)
        self.index.close()
