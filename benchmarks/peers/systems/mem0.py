"""mem0 without a language model (`infer=False`), on qdrant in a folder."""

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers.given import DIMENSION, Given, Vector
from benchmarks.peers.measure import HITS, Item

os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:9"}


class Known:
    """Give each text the vector that is known for it."""

    def __init__(self, config: Any, given: Given) -> None:
        self.config, self.vectors = config, given.vector_of

    def embed(self, text: str, *_: Any, **__: Any) -> list[float]:
        """Answer one vector."""
        return list(map(float, self.vectors[text]))

    def embed_batch(self, texts: Sequence[str], *_: Any, **__: Any) -> list[list[float]]:
        """Answer several."""
        return [self.embed(text) for text in texts]


class System:
    """See `benchmarks.peers.measure.System`."""

    def __init__(self, home: Path, given: Given, place: str) -> None:
        os.environ["MEM0_DIR"] = str(home)
        from mem0 import Memory

        self.version = f"mem0ai {version('mem0ai')} on qdrant"
        store = {"path": str(home / "q"), "collection_name": "m", "embedding_model_dims": DIMENSION, "on_disk": True}
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(home / "history.db"),
                "embedder": {"provider": "openai", "config": {"embedding_dims": DIMENSION}},
                "llm": {"provider": "openai", "config": {"model": "none"}},
            }
        )
        self.memory.embedding_model = Known(self.memory.embedding_model.config, given)

    def load(self, items: Sequence[Item]) -> None:
        """Add them one by one; it has no other way."""
        for item in items:
            self.store(item)

    def settle(self) -> None:
        """Nothing is left to do."""

    def store(self, item: Item) -> None:
        """Add one, with its id as a name beside it."""
        self.memory.add(item[1], user_id="ann", infer=False, metadata={"name": item[0]})

    def recall(self, question: str, vector: Vector) -> list[str]:
        """Search as its users do."""
        found = self.memory.search(question, filters={"user_id": "ann"}, top_k=HITS)
        return [hit["metadata"]["name"] for hit in found["results"]]

    def close(self) -> None:
        """Close the folder."""
        self.memory.vector_store.client.close()
