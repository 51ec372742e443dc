"""A long log: what opening, verifying and proving cost, and what hashing and signing add to a bare commit.

The bare commit is a write's own statements, from BEGIN to COMMIT, on a copy of the same file; writes and replays take
turns. Hashing, signing and the state root are timed where the product does them: commitments, the event's body, hash
and signature, the tree, and the state root with what it reads for it. What else a write costs is shown beside it: the
whole of it over its statements (access rules, reading, checks of the text), the statements of the log over those of the
rows alone, and the anchor.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from audit import keys, proof
from audit.merkle import Frontier
from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from substrate.actions import audit as actions
from substrate.home import Memory
from substrate.memory import memories
from substrate.store import ledger, transaction
from substrate.store.db import FILE, Connection
from substrate.store.ledger import Ledger
from substrate.store.state import SignedState

OPEN_MS, VERIFY_S, PROOF_MS, OVER = 100.0, 15.0, 50.0, 0.25
_BATCH = 500
_LOG = ("signed_events", "state_entries", "state_buckets", "cursors")
_SEALING: tuple[tuple[Any, str], ...] = (
    (transaction, "commit"),
    (transaction, "fingerprint"),
    (SignedState, "expected"),
    (SignedState, "apply"),
    (ledger, "body"),
    (ledger, "event_hash"),
    (ledger, "leaf_hash"),
    (Frontier, "append"),
    (keys, "sign"),
)
_OPEN = """
import json, sys, time
from substrate.store.database import Database
from pathlib import Path
begun = time.perf_counter()
store = Database.open(Path(sys.argv[1]), state_dir=Path(sys.argv[2]))
print(json.dumps(1000 * (time.perf_counter() - begun)))
store.close()
"""


def run(work: Work) -> Outcome:
    """Fill a store, then measure."""
    home, state = work.folder / "home", work.folder / "state"
    memory = Memory.open(home, state_dir=state, human="ann")
    _fill(memory, work.sizes["events"])
    with memory.read() as r:
        events = r.head.sequence
    memory.close()
    opened = statistics.median(_opening(home, state) for _ in range(work.sizes["openings"]))
    memory = Memory.open(home, state_dir=state)
    verified, report = _timed(lambda: actions.verify(memory))
    proved, told = _timed(lambda: actions.prove(memory, id=str(events // 2)))
    checked = statistics.median(_timed(lambda: proof.check(told["proof"]))[0] for _ in range(50))
    write, sealing, anchor, all_, rows = _writes(memory, work.folder / "twin", work.sizes["writes"], work.broken)
    memory.close()
    figures = {
        "events": events,
        "opening in a new process, ms (median)": round(opened, 1),
        "whole verification, s": round(verified, 2),
        "making a proof, ms": round(1_000 * proved, 1),
        "checking a proof, ms (median)": round(1_000 * checked, 2),
        "one write without its anchor, ms (median)": round(1_000 * write, 2),
        "its statements alone, the bare commit, ms (median)": round(1_000 * all_, 2),
        "hashing, signing and state root in it, ms (median)": round(1_000 * sealing, 2),
        "hashing, signing and state root over the bare commit": f"{sealing / all_:.0%}",
        "the whole write over the bare commit": f"{write / all_ - 1:+.0%}",
        "the statements of its rows alone, ms (median)": round(1_000 * rows, 2),
        "all statements over those of its rows": f"{all_ / rows - 1:+.0%}",
        "writing the anchor, ms (median)": round(1_000 * anchor, 2),
    }
    limits = (
        (opened <= OPEN_MS, f"opening takes {opened:.0f} ms, at most {OPEN_MS:.0f}"),
        (verified <= VERIFY_S, f"verifying takes {verified:.1f} s, at most {VERIFY_S:.0f}"),
        (1_000 * checked <= PROOF_MS, f"checking a proof takes {1_000 * checked:.0f} ms, at most {PROOF_MS:.0f}"),
        (
            sealing / all_ <= OVER,
            f"hashing, signing and state root take {sealing / all_:.0%} of the bare commit, at most {OVER:.0%}",
        ),
        (bool(report["ok"]), "the store does not verify"),
        (proof.check(told["proof"]).ok, "a proof does not hold"),
    )
    return Outcome(figures, [told for held, told in limits if not held])


def _fill(memory: Memory, events: int) -> None:
    with memory.read() as r:
        left = events - r.head.sequence
    while left > 0:
        with memory.write() as tx:
            for number in range(min(left, _BATCH)):
                memories.remember(tx, memory.caller, f"Ada tuned pipe {left - number} of the organ in Graz today.")
        left -= _BATCH


def _opening(home: Path, state: Path) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, str(home), str(state)], capture_output=True, text=True, check=True
    )
    return float(json.loads(done.stdout))


def _timed(do: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = do()
    return time.perf_counter() - begun, found


def _writes(memory: Memory, twin: Path, count: int, broken: str | None) -> tuple[float, ...]:
    """Give the medians of a write without its anchor, its hashing, the anchor, its statements, those of its rows."""
    home = memory.db.home
    memory.close()
    twin.mkdir()
    for name in ("all", "rows"):
        shutil.copy(home / FILE, twin / name)
    copies = [Connection(twin / name) for name in ("all", "rows")]
    times: list[list[float]] = [[], [], [], [], []]
    settle = Ledger.settle
    with mock.patch.object(Ledger, "settle", lambda self, connection: None), _signing(100 if broken else 1):
        for number in range(count):
            said: list[tuple[str, Sequence[Any]]] = []
            sealing = Stopwatch()
            with _overheard(said), _timing(sealing):
                begun = time.perf_counter()
                with memory.write() as tx:
                    memories.remember(tx, memory.caller, f"Ada played hymn {number} in Graz this morning.")
                times[0].append(time.perf_counter() - begun)
            times[1].append(sealing.taken)
            with memory.db.connection() as connection:
                times[2].append(_timed(lambda: settle(memory.db.ledger, connection))[0])  # called here
            times[3].append(_timed(lambda: _replay(copies[0], said))[0])  # noqa: B023
            own = [(sql, values) for sql, values in said if not any(table in sql for table in _LOG)]
            times[4].append(_timed(lambda: _replay(copies[1], own))[0])  # noqa: B023
    for copy in copies:
        copy.close()
    return tuple(statistics.median(taken[len(taken) // 10 :]) for taken in times)


class Stopwatch:
    """Add up the time spent inside some functions, without that of others that they call."""

    def __init__(self) -> None:
        self.taken, self._inside = 0.0, 0

    def over(self, do: Callable[..., Any]) -> Callable[..., Any]:
        """Give the function with its time counted; what is counted already is not counted twice."""
        return self._wrapped(do, 1)

    def without(self, do: Callable[..., Any]) -> Callable[..., Any]:
        """Give the function with its time left out of that of its caller."""
        return self._wrapped(do, -1)

    def _wrapped(self, do: Callable[..., Any], step: int) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            begun, counted = time.perf_counter(), self._inside == (0 if step > 0 else 1)
            self._inside += step
            try:
                return do(*given, **named)
            finally:
                self._inside -= step
                if counted:
                    self.taken += step * (time.perf_counter() - begun)

        return timed


@contextmanager
def _timing(watch: Stopwatch) -> Iterator[None]:
    """Time everything a write hashes and signs; the statements that keep it are those of the bare commit."""
    with ExitStack() as patches:
        for place, name in _SEALING:
            patches.enter_context(mock.patch.object(place, name, watch.over(getattr(place, name))))
        patches.enter_context(mock.patch.object(SignedState, "_write", watch.without(SignedState._write)))
        yield


@contextmanager
def _overheard(said: list[tuple[str, Sequence[Any]]]) -> Iterator[None]:
    """Note every statement of the product's connection that changes something, while the block runs."""
    run_ = Connection.run

    def noted(self: Connection, sql: str, parameters: Sequence[Any] = ()) -> None:
        said.append((sql, parameters))
        run_(self, sql, parameters)

    with mock.patch.object(Connection, "run", noted):
        yield


def _signing(times: int) -> Any:
    sign = keys.sign

    def often(*arguments: Any) -> bytes:
        for _ in range(times - 1):
            sign(*arguments)
        return sign(*arguments)

    return mock.patch.object(keys, "sign", often)


def _replay(connection: Connection, said: Sequence[tuple[str, Sequence[Any]]]) -> None:
    for sql, parameters in said:
        connection.run(sql, parameters)


CAMPAIGN = Campaign(
    name="scale",
    title="A long log",
    target=(
        f"opening {OPEN_MS:.0f} ms, whole verification {VERIFY_S:.0f} s, checking a proof {PROOF_MS:.0f} ms; hashing,"
        f" signing and state root {OVER:.0%} over the bare commit"
    ),
    small={"events": 1_000, "openings": 3, "writes": 40},
    full={"events": 100_000, "openings": 9, "writes": 300},
    broken={"slow": "every event is signed a hundred times"},
    run=run,
)
