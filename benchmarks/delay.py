"""Measure how long a reflection takes while a worker waits for a slow model, against the same without a model.

Both stores have a cadence. In one the persona's model is behind a server that takes its time and a worker is started
after each answer that makes a persona due; in the other no model is configured and no worker is started. Reflections
are written in turns, a block here and a block there, so that both meet the same machine.
"""

from __future__ import annotations

import fcntl
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cli import background
from curator import actions, shift
from curator.persona import cadence
from substrate.actions import memory as observed
from substrate.home import Memory
from substrate.scopes import namespaces

EVERY = 5
BLOCK = 5
LIMIT = 1.1
_HEAD = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
_TAGS = b'{"models": [{"name": "slow:latest", "model": "slow:latest", "size": 1000, "details": {"family": "llama"}}]}'


def measure(folder: Path, count: int, seconds: float, seed: int) -> dict[str, Any]:
    """Give both 95th percentiles in milliseconds, their ratio, and how many workers were started."""
    with slow_server(seconds) as (address, asked):
        os.environ |= {"AI_MEMORY_WORKER": "on", "AI_MEMORY_MODEL": "ollama/slow", "OLLAMA_HOST": address}
        stores = {name: opened(folder / name) for name in ("without", "with")}
        times: dict[str, list[float]] = {name: [] for name in stores}
        started = 0
        for block in range(-1, -(-count // BLOCK)):  # the first block warms up
            names = ("without", "with") if (block + seed) % 2 else ("with", "without")
            for name in names:
                for number in range(BLOCK):
                    taken, began = reflect(stores[name], f"{name} {block} {number}", start=name == "with")
                    started += began
                    if block >= 0:
                        times[name].append(taken)
        waiting = actions.waiting(stores["with"])["jobs"]
        for memory in stores.values():
            memory.close()
        found = {name: sorted(taken[:count]) for name, taken in times.items()}
        p95 = {name: taken[int(0.95 * (len(taken) - 1))] for name, taken in found.items()}
        ratio = p95["with"] / p95["without"]
        result: dict[str, Any] = {
            "reflections_each_way": count,
            "model_takes_s": seconds,
            "median_ms_without": round(1000 * found["without"][count // 2], 2),
            "median_ms_with": round(1000 * found["with"][count // 2], 2),
            "p95_ms_without": round(1000 * p95["without"], 2),
            "p95_ms_with": round(1000 * p95["with"], 2),
            "ratio_of_p95": round(ratio, 3),
            "workers_started": started,
            "model_asked": len(asked),
            "jobs": [f"{job['entity_id']} {job['state']}" for job in waiting],
        }
    with open(folder / "with" / "home" / shift.FILE, "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the worker has ended
    faults = [f"the ratio is over {LIMIT}"] if ratio > LIMIT else []
    faults += [] if asked else ["the model was never asked, so nothing was measured"]
    return result | {"faults": faults}


def opened(home: Path) -> Memory:
    """Make a store with a cadence and something to reflect on."""
    memory = Memory.open(home / "home", state_dir=home / "state", human="ann")
    with memory.write() as tx:
        namespaces.set_policy(tx, memory.caller, "global", cadence.POLICY, EVERY)
    observed.remember(memory, text="A walk through the villages.", name="walk")
    return memory


def reflect(memory: Memory, mark: str, *, start: bool) -> tuple[float, bool]:
    """Reflect once as a door in this process does; give the seconds until the answer, and whether a worker began."""
    text = f"Ada restored the organ of village {mark} in May."
    began = time.perf_counter()
    done = actions.reflect(memory, title="Noted", text=text, sources=["walk"], entity_id="Ada")
    taken = time.perf_counter() - began
    return taken, bool(start and done["persona_due"] and background.start(memory))


@contextmanager
def slow_server(seconds: float) -> Iterator[tuple[str, list[bytes]]]:
    """Be an Ollama that lists its model at once and answers nothing else before so many seconds are over."""
    ended, asked = threading.Event(), list[bytes]()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while not ended.is_set():
                connection, _ = server.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        def answer(connection: socket.socket) -> None:
            with connection:
                head = connection.recv(65_536)
                if not head.startswith(b"GET /api/tags"):
                    asked.append(head.partition(b"\r\n")[0])
                    ended.wait(seconds)
                body = _TAGS if head.startswith(b"GET /api/tags") else b'{"error": "too slow"}'
                status = b"200 OK" if body is _TAGS else b"500 Internal Server Error"
                form = (
                    b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
                )
                connection.sendall(form % (status, len(body)) + body)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}", asked
        finally:
            ended.set()
