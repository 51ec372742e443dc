"""chromadb: a collection in a folder, with given vectors."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import chromadb
from chromadb.config import Settings

from benchmarks.peers.given import Given, Vector
from benchmarks.peers.measure import HITS, Item


class System:
    """See `benchmarks.peers.measure.System`."""

    def __init__(self, home: Path, given: Given, place: str) -> None:
        self.version = f"chromadb {version('chromadb')}"
        self.client = chromadb.PersistentClient(str(home), Settings(anonymized_telemetry=False))
        self.all = self.client.get_or_create_collection(
            "memories", metadata={"hnsw:space": "cosine"}, embedding_function=None
        )

    def load(self, items: Sequence[Item]) -> None:
        """Add them at once."""
        ids, texts, vectors = zip(*items, strict=True)
        self.all.add(ids=list(ids), documents=list(texts), embeddings=[vector.tolist() for vector in vectors])

    def settle(self) -> None:
        """Nothing is left to do."""

    def store(self, item: Item) -> None:
        """Add one."""
        self.load([item])

    def recall(self, question: str, vector: Vector) -> list[str]:
        """Ask by vector, which is all it has."""
        return list(self.all.query(query_embeddings=[vector.tolist()], n_results=HITS)["ids"][0])

    def close(self) -> None:
        """Stop what works in the background."""
        chromadb.api.client.SharedSystemClient.clear_system_cache()
