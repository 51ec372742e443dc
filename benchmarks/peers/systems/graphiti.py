"""graphiti on falkordblite, without a language model: a node and an edge a memory, found by words and vectors."""

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers.given import DIMENSION, Given, Vector
from benchmarks.peers.measure import HITS, Item

os.environ |= {"OPENAI_API_KEY": "none", "GRAPHITI_TELEMETRY_ENABLED": "false"}

from falkordb.asyncio import FalkorDB
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.nodes import EntityNode
from redislite.falkordb_client import FalkorDB as Server

GROUP, NOW = "ann", datetime(2026, 1, 1, tzinfo=UTC)


def _soon(value: Any) -> Any:
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    done.set_result(value)
    return done


class Known(EmbedderClient):  # type: ignore[misc]
    """Give each text the vector that is known for it."""

    def __init__(self, given: Given) -> None:
        self.vectors = {text.replace("\n", " "): vector for text, vector in given.vector_of.items()}

    def create(self, input_data: Any) -> Any:
        """Answer one vector."""
        text = input_data if isinstance(input_data, str) else input_data[0]
        return _soon(list(map(float, self.vectors[text])))

    def create_batch(self, input_data_list: list[str]) -> Any:
        """Answer several."""
        return _soon([list(map(float, self.vectors[text])) for text in input_data_list])


class Unranked(CrossEncoderClient):  # type: ignore[misc]
    """Leave hits in the order they came."""

    def rank(self, query: str, passages: list[str]) -> Any:
        """Answer each with the same score."""
        return _soon([(passage, 1.0) for passage in passages])


class Unasked(LLMClient):  # type: ignore[misc]
    """Have no language model."""

    def __init__(self) -> None:
        super().__init__(LLMConfig(api_key="none", model="none"))

    def _generate_response(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("there is no language model")


class System:
    """See `benchmarks.peers.measure.System`."""

    def __init__(self, home: Path, given: Given, place: str) -> None:
        self.version = f"graphiti-core {version('graphiti-core')} on falkordblite {version('falkordblite')}"
        self.loop = asyncio.new_event_loop()
        self.server = Server(str(home / "g.rdb"))
        self.driver = self._run(self._drive, self.server.client.socket_file)
        self.graph = Graphiti(
            graph_driver=self.driver, llm_client=Unasked(), embedder=Known(given), cross_encoder=Unranked()
        )
        self._run(self.graph.build_indices_and_constraints)
        self.hub = EntityNode(name="ann", group_id=GROUP, labels=["Entity"], summary="", created_at=NOW)
        self.hub.name_embedding = [0.0] * (DIMENSION - 1) + [1.0]
        self._run(self.hub.save, self.driver)

    def load(self, items: Sequence[Item]) -> None:
        """Save them one by one; without a language model it has no other way."""
        for item in items:
            self.store(item)

    def settle(self) -> None:
        """Nothing is left to do."""

    def store(self, item: Item) -> None:
        """Save a node and the edge that tells the memory."""
        id, text, vector = item
        node = EntityNode(name=id, group_id=GROUP, labels=["Entity"], summary=text, created_at=NOW)
        node.name_embedding = vector.tolist()
        self._run(node.save, self.driver)
        edge = EntityEdge(
            source_node_uuid=self.hub.uuid,
            target_node_uuid=node.uuid,
            group_id=GROUP,
            name=id,
            fact=text,
            created_at=NOW,
            episodes=[],
            valid_at=NOW,
        )
        edge.fact_embedding = vector.tolist()
        self._run(edge.save, self.driver)

    def recall(self, question: str, vector: Vector) -> list[str]:
        """Search as its users do: words and vectors, ranks fused."""
        found = self._run(lambda: self.graph.search(question, group_ids=[GROUP], num_results=HITS))
        return [edge.name for edge in found]

    def close(self) -> None:
        """Stop the server, which then writes its file."""
        self._run(self.graph.close)
        self.server.close()
        self.loop.close()

    def _drive(self, socket: str) -> Any:
        return _soon(FalkorDriver(falkor_db=FalkorDB(unix_socket_path=socket), database=GROUP))

    def _run(self, do: Any, *arguments: Any) -> Any:
        """Run what has to run in a loop, to its end."""
        asyncio.set_event_loop(self.loop)
        self.loop.call_soon(lambda: None)
        holder: list[Any] = []

        def begin() -> None:
            holder.append(asyncio.ensure_future(do(*arguments), loop=self.loop))
            holder[0].add_done_callback(lambda _: self.loop.stop())

        self.loop.call_soon(begin)
        self.loop.run_forever()
        return holder[0].result()
