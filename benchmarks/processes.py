"""Have several processes write to one store while others read it, and count what was lost, refused and waited for.

Every write is a transaction of one row and one event, acknowledged only when `write` has returned. Afterwards every
acknowledged row has to be there, no other, the events have to be numbered and chained without a gap, and the store has
to match its signed state. A wait is the time from asking for the file until having it.

    python benchmarks/processes.py [--writers 8] [--writes 200] [--readers 4] [--most-wait 2] [--broken] [--json]

With --broken no process heeds the lock: the run must fail, or the counting is worth nothing. Exit status 1 when
anything was lost or refused, or a wait was longer than --most-wait seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from substrate.errors import AiMemoryError
from substrate.store import baton
from substrate.store.database import Database
from substrate.store.model import MemoryRow

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run the workers and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    arguments.add_argument("--writers", type=int, default=8)
    arguments.add_argument("--writes", type=int, default=200, help="writes of each writer")
    arguments.add_argument("--readers", type=int, default=4)
    arguments.add_argument("--most-wait", type=float, default=2.0, help="longest wait allowed, in seconds")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--broken", action="store_true", help="let no process heed the lock")
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--work", nargs=3, metavar=("ROLE", "HOME", "STATE"), help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.broken:
        baton._try_lock = lambda fd: True
    if options.work:
        return work(options)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, Path(folder))
    found["failed"] = bool(found["lost"] or found["phantoms"] or found["errors"] or found["faults"])
    found["failed"] |= found["longest_wait_s"] > options.most_wait
    print(json.dumps(found) if options.json else table(found, options))
    return int(found["failed"])


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Start the workers together, wait for the writers, stop the readers, and look at the store."""
    home, state = folder / "home", folder / "state"
    Database.create(home, state_dir=state).close()
    writers = [start(options, "write", home, state, index) for index in range(options.writers)]
    readers = [start(options, "read", home, state, index) for index in range(options.readers)]
    workers = writers + readers
    for worker in workers:
        line(worker)  # it has imported everything
    began = time.perf_counter()
    for worker in workers:
        tell(worker)
    written = [json.loads(line(worker)) for worker in writers]
    seconds = time.perf_counter() - began
    for worker in readers:
        tell(worker)
    read = [json.loads(line(worker)) for worker in readers]
    for worker in workers:
        worker.wait()
    acknowledged = {id for result in written for id in result["ids"]}
    stored, faults = look(home, state)
    waits = sorted(wait for result in written + read for wait in result["waits"]) or [0.0]
    return {
        "writes": options.writers * options.writes,
        "acknowledged": len(acknowledged),
        "lost": len(acknowledged - stored),
        "phantoms": len(stored - acknowledged),
        "errors": [error for result in written + read for error in result["errors"]],
        "faults": faults,
        "reads": sum(result["reads"] for result in read),
        "writes_per_s": round(len(acknowledged) / seconds, 1),
        "median_wait_s": round(waits[len(waits) // 2], 4),
        "p99_wait_s": round(waits[int(len(waits) * 0.99)], 4),
        "longest_wait_s": round(waits[-1], 4),
    }


def start(options: argparse.Namespace, role: str, home: Path, state: Path, index: int) -> subprocess.Popen[str]:
    """Start one worker; it waits for a line before it begins."""
    command = [sys.executable, __file__, "--work", role, str(home), str(state), "--writes", str(options.writes)]
    command += ["--seed", str(options.seed * 1000 + index), *(["--broken"] if options.broken else [])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(worker: subprocess.Popen[str]) -> str:
    """Read a line that a worker has to print."""
    assert worker.stdout
    found = worker.stdout.readline()
    if not found:
        raise SystemExit(f"a worker ended without a word: {' '.join(map(str, worker.args))}")
    return found


def tell(worker: subprocess.Popen[str]) -> None:
    """Give a worker its line: to begin, or to end; one that has ended needs none."""
    assert worker.stdin
    with suppress(BrokenPipeError):
        worker.stdin.write("\n")
        worker.stdin.flush()


def look(home: Path, state: Path) -> tuple[set[str], list[str]]:
    """Answer the ids in the store, and what is wrong with its log or its signed state."""
    db = Database.open(home, state_dir=state)
    try:
        with db.read() as r:
            events = r.events()
            stored = {row.id for row in r.select(MemoryRow)}
            ordered = [row.id for row in r.select(MemoryRow, order="sequence")]
        gaps = [event.seq for number, event in enumerate(events, 1) if event.seq != number]
        moved = [event.subject for event, id in zip(events[1:], ordered, strict=True) if event.subject != id]
        return stored, [*(f"gap before {seq}" for seq in gaps), *(f"{id} out of order" for id in moved)]
    except AiMemoryError as error:
        return set(), [error.message]
    finally:
        db.close()


def work(options: argparse.Namespace) -> int:
    """Be one worker: write so many rows, or read until told to stop; print one line of figures."""
    role, home, state = options.work
    seen: dict[str, Any] = {"ids": [], "waits": [], "errors": [], "reads": 0}
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        db = Database.open(Path(home), state_dir=Path(state), wait_s=60.0)
    except AiMemoryError as error:
        seen["errors"].append(f"{error.code}: {error.message}")
    else:
        if role == "write":
            for number in range(options.writes):
                counted(seen, partial(write, db, seen, f"mem-{options.seed:08}-{number:06}"))
        else:
            chance = random.Random(options.seed)
            while not select.select([sys.stdin], [], [], 0)[0]:
                counted(seen, partial(read, db, seen, chance))
        db.close()
    print(json.dumps(seen), flush=True)
    return 0


def counted(seen: dict[str, Any], act: Callable[[], None]) -> None:
    """Do one operation; an error is written down and the next one begins."""
    try:
        act()
    except AiMemoryError as error:
        seen["errors"].append(f"{error.code}: {error.message}")


def write(db: Database, seen: dict[str, Any], id: str) -> None:
    """Write one row and its event; the row counts once this has returned."""
    asked = time.perf_counter()
    with db.write(actor="hum-1") as tx:
        seen["waits"].append(time.perf_counter() - asked)
        shape = {"namespace": "global", "memory_kind": "observation", "memory_type": "fact", "origin": "agent"}
        by = {"by_kind": "agent", "by_id": "agt-1", "created_at": tx.now, "updated_at": tx.now}
        tx.put(MemoryRow(id=id, content=f"what {id} says", sequence=tx.sequence, **shape, **by))
        tx.event("memory_added", subject=id, namespace="global", payload={"id": id})
    seen["ids"].append(id)


def read(db: Database, seen: dict[str, Any], chance: random.Random) -> None:
    """Read one row by its id, checked against the signed state."""
    asked = time.perf_counter()
    with db.read() as r:
        seen["waits"].append(time.perf_counter() - asked)
        known = r.query("SELECT id FROM memories")
        if known:
            r.require(MemoryRow, chance.choice(known)[0])
    seen["reads"] += 1


def table(found: dict[str, Any], options: argparse.Namespace) -> str:
    """Render the figures, with what is needed to run them again."""
    errors = found.pop("errors")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    lines = [
        f"command  python {' '.join(sys.argv)}",
        f"version  ai-memory {version}, duckdb {metadata.version('duckdb')}",
        f"seed     {options.seed}",
        f"n        {options.writers} writers x {options.writes} writes, {options.readers} readers",
        *(f"{name.replace('_', ' '):<16} {value}" for name, value in found.items()),
        f"{'errors':<16} {len(errors)}",
        *(f"  {error[:160]}" for error in sorted(set(errors))[:5]),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
