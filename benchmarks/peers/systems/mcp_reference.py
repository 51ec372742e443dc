"""The reference memory server of MCP (npm), spoken to over its standard input: it finds parts of words only."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.given import Given, Vector
from benchmarks.peers.measure import Item

PACKAGE = "@modelcontextprotocol/server-memory"


class System:
    """See `benchmarks.peers.measure.System`; `place` is the folder of node_modules."""

    def __init__(self, home: Path, given: Given, place: str) -> None:
        package = Path(place) / PACKAGE
        self.version = f"MCP reference server {json.loads((package / 'package.json').read_text())['version']}"
        self.process = subprocess.Popen(
            ["node", str(package / "dist" / "index.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "MEMORY_FILE_PATH": str(home / "memory.jsonl")},
            text=True,
            bufsize=1,
        )
        self.asked = 0
        client = {"name": "measure", "version": "1"}
        self._call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized", "params": {}})

    def load(self, items: Sequence[Item]) -> None:
        """Create them at once."""
        entities = [{"name": id, "entityType": "memory", "observations": [text]} for id, text, _ in items]
        self._tool("create_entities", {"entities": entities})

    def settle(self) -> None:
        """Nothing is left to do."""

    def store(self, item: Item) -> None:
        """Create one."""
        self.load([item])

    def recall(self, question: str, vector: Vector) -> list[str]:
        """Search for the question as it stands, which is what it can do."""
        found = self._tool("search_nodes", {"query": question.rstrip("?")})
        return [node["name"] for node in json.loads(found["content"][0]["text"])["entities"]]

    def close(self) -> None:
        """End the server."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()

    def _tool(self, name: str, arguments: Any) -> Any:
        return self._call("tools/call", {"name": name, "arguments": arguments})

    def _call(self, method: str, params: Any) -> Any:
        self.asked += 1
        self._send({"method": method, "params": params, "id": self.asked})
        assert self.process.stdout
        while True:
            told = json.loads(self.process.stdout.readline())
            if told.get("id") == self.asked:
                return told["result"]

    def _send(self, message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()
