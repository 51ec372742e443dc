"""A server in a process of its own, spoken to line by line."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from tests.cli.terminal import ROOT, SCRIPT, Terminal

NOISY = """
import os, subprocess
from cli import mcp_tools
quiet = mcp_tools.Tool.call
def call(*arguments):
    print("noise", flush=True)
    os.write(1, b"noise\\n")
    subprocess.run(["echo", "noise"], check=True)
    return quiet(*arguments)
mcp_tools.Tool.call = call
"""
"""A library that prints while a tool is at work."""

BROKEN = "from cli import mcp_wire\nmcp_wire.claim = lambda: (0, 1)\n" + NOISY
"""The same, in a server that does not keep standard output for itself."""

Json = dict[str, Any]


class Server:
    """Write messages to a server and read what it answers; every line is kept, in order."""

    def __init__(
        self, shell: Terminal, *arguments: str, before: str = "", env: Mapping[str, str] = {}, patience_s: float = 60
    ) -> None:
        shared = {"PYTHONPATH": str(ROOT), "AI_MEMORY_HOME": str(shell.home), "AI_MEMORY_STATE": str(shell.state)}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed at the end)
        self.process = subprocess.Popen(
            [sys.executable, "-c", before + SCRIPT, *(arguments or ("mcp",))],
            env={**os.environ, **shared, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._patience_s = patience_s
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self.lines: list[bytes] = []
        self._early: list[Json] = []
        self._asked = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self._errors):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._lines.put(line)
        self._lines.put(None)

    @property
    def stderr(self) -> bytes:
        """What it said on standard error so far."""
        return os.pread(self._errors.fileno(), 1_000_000, 0)

    def send(self, message: Json | bytes) -> None:
        """Write one line."""
        assert self.process.stdin is not None
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> Json:
        """Read the next answer; raises EOFError when there is none any more, queue.Empty when it takes too long."""
        line = self._lines.get(timeout=self._patience_s)
        if line is None:
            raise EOFError(self.stderr.decode())
        found: Json = json.loads(line)
        return found

    def answer(self, id: object) -> Json:
        """Read until the answer with this id comes; others are kept for later."""
        for message in self._early:
            if message.get("id") == id and "method" not in message:
                self._early.remove(message)
                return message
        while (message := self.read()).get("id") != id or "method" in message:
            self._early.append(message)
        return message

    def ask(self, method: str, params: Json | None = None) -> Json:
        """Send a request and wait for its answer."""
        self._asked += 1
        id = f"ask-{self._asked}"
        self.send({"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": params}))
        return self.answer(id)

    def call(self, tool: str, **arguments: Any) -> Json:
        """Call a tool and give its result."""
        result: Json = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def shake_hands(self) -> Json:
        """Initialize as clients do."""
        client = {"name": "test", "version": "1"}
        told = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        result: Json = told["result"]
        return result

    def close_stdin(self) -> None:
        """Say that nothing follows."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> int:
        """Say that nothing follows, and give the exit code."""
        self.close_stdin()
        return self.process.wait(timeout=self._patience_s)
