"""ai-memory: each write one signed transaction; vectors follow by a job, here after loading."""

import os
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.given import Given, Vector
from benchmarks.peers.measure import HITS, Item
from substrate.home import Memory
from substrate.memory import memories
from substrate.recall import index
from substrate.recall.recall import recall
from substrate.recall.view import Views

_DATE = re.compile(r"^\[[^\]]*\] ")  # that an encoder reads before the text


class Known:
    """Give each text the vector that is known for it, as if a model took no time."""

    source = model_id = "given"

    def __init__(self, given: Given) -> None:
        self.vectors = given.vector_of
        self.dimension = len(given.vectors[0])

    def encode(self, texts: Sequence[str], progress: Any = None) -> Any:
        """See `substrate.recall.embedding.Embedder`."""
        return np.array([self.vectors[_DATE.sub("", text)] for text in texts], np.float32)


class System:
    """See `benchmarks.peers.measure.System`."""

    def __init__(self, home: Path, given: Given, place: str) -> None:
        self.version = f"ai-memory {version('ai-memory')}"
        self.memory = Memory.open(home / "home", state_dir=home / "state")
        self.known = Known(given)

    def load(self, items: Sequence[Item]) -> None:
        """Write them in one transaction."""
        with self.memory.write() as tx:
            for id, text, _ in items:
                memories.remember(tx, self.memory.caller, text, name=id)

    def settle(self) -> None:
        """Encode what was loaded."""
        index.of(self.memory.db).encode(self.memory.db, self.known)

    def store(self, item: Item) -> None:
        """Write one."""
        with self.memory.write() as tx:
            memories.remember(tx, self.memory.caller, item[1], name=item[0])

    def recall(self, question: str, vector: Vector) -> list[str]:
        """Ask by words, meaning, time, names and links."""
        if "BROKEN" in os.environ:
            index.of(self.memory.db)._views = Views()
        found = recall(self.memory.db, self.memory.caller, question, max_hits=HITS, embedder=self.known)
        return [hit.memory.name or "" for hit in found.hits]

    def close(self) -> None:
        """Close the store."""
        self.memory.close()
