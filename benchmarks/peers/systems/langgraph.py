"""LangGraph's store in memory, which LangMem writes to: it keeps nothing."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from benchmarks.peers.given import DIMENSION, Given, Vector
from benchmarks.peers.measure import HITS, Item

PLACE = ("memories", "ann")


class System:
    """See `benchmarks.peers.measure.System`."""

    def __init__(self, home: Path, given: Given, place: str) -> None:
        self.version = f"langgraph {version('langgraph')}, in memory"
        known = given.vector_of

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return [list(map(float, known[text])) for text in texts]

        index: Any = {"dims": DIMENSION, "embed": embed, "fields": ["text"]}
        self.store_ = InMemoryStore(index=index)

    def load(self, items: Sequence[Item]) -> None:
        """Put them at once."""
        self.store_.batch([PutOp(PLACE, id, {"text": text}) for id, text, _ in items])

    def settle(self) -> None:
        """Nothing is left to do."""

    def store(self, item: Item) -> None:
        """Put one."""
        self.store_.put(PLACE, item[0], {"text": item[1]})

    def recall(self, question: str, vector: Vector) -> list[str]:
        """Search by vector, which is all it has."""
        return [item.key for item in self.store_.search(PLACE, query=question, limit=HITS)]

    def close(self) -> None:
        """Nothing is open."""
