"""A process that writes and is killed among the steps of the engine."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from substrate.home import Memory
from substrate.memory import memories
from substrate.store.db import Connection

EARLY = False  # whether a write is acknowledged before it is committed, which a broken build does


def killed(root: Path, texts: Sequence[str], patience: int) -> int:
    """Write in a process that is killed after some steps of the engine; answer how many writes it acknowledged."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            memory = Memory.open(root / "home", state_dir=root / "state", create=False)
            _die_after(patience)
            for text in texts:
                with memory.write() as tx:
                    memories.remember(tx, memory.caller, text)
                    if EARLY:
                        os.write(writing, b".")
                if not EARLY:
                    os.write(writing, b".")
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.close(writing)
    with os.fdopen(reading, "rb") as acknowledged:
        count = len(acknowledged.read())
    os.waitpid(pid, 0)
    return count


def _die_after(statements: int) -> None:
    left, run = [statements], Connection.run

    def counted(self: Connection, *arguments: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        run(self, *arguments)

    Connection.run = counted  # type: ignore[method-assign]
