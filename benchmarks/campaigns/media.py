"""Let the disk fail or be full at every call of every operation: a typed error, nothing half done, and work goes on.

Four ways, at each call that changes a file: an input/output error once; from then on; no space from then on; a write of
which only half found space. What the operation raises has to be a typed error with a hint. Then the medium is whole
again, and the same process, without opening anything anew by hand, has to find one of the states between two of the
operation's transactions, do the operation to its end, and write. A second process verifies the whole store. A restore
begins with a store that is lost or damaged; done again, it leaves the memories that an undisturbed one leaves.

Besides, a small disk is filled up for good, at different moments: what was acknowledged before is there, the same
process writes again once there is space.

Source: docs/spec/audit.md §5 and §6.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.campaigns import _medium
from benchmarks.campaigns._apart import Say, apart
from benchmarks.campaigns._medium import Among, Way
from benchmarks.campaigns._work import (
    OPERATIONS,
    RESTORES,
    Operation,
    Restore,
    State,
    counted_salts,
    faults,
    fresh,
    laid,
    made,
    opened,
    rows,
    states,
)
from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from substrate.errors import AiMemoryError
from substrate.home import Memory
from substrate.memory import memories
from substrate.store import db
from substrate.store.database import Database
from substrate.store.db import Connection
from substrate.store.model import MemoryRow

WAYS = {
    "an error once": (Way.FAIL_ONCE, errno.EIO, Among.ANY),
    "errors from then on": (Way.FAIL_ON, errno.EIO, Among.ANY),
    "no space from then on": (Way.FAIL_ON, errno.ENOSPC, Among.ROOM),
    "space for half a write": (Way.SHORT, errno.ENOSPC, Among.ROOM),
}
DISK_KIB = 20 * 1024
ROW_KIB = 60


def run(work: Work) -> Outcome:
    """Run the campaign in a process that the medium is loaded into, with mounts of its own."""
    return _medium.driven(__name__, work, mounts=True)


def drive(work: Work) -> Outcome:
    """Fail each operation at its calls, then fill disks; see ``run``."""
    chance, points = random.Random(work.seed), Counter[str]()
    found: list[str] = []
    start = made(work.folder / "story")
    for operation in (*OPERATIONS, *RESTORES):
        known = _whole(work, operation, start)
        for way, (_, _, among) in WAYS.items():
            for number in range(1, known.calls[among] + 1):
                if chance.random() * 100 < work.sizes["percent"]:
                    points[way] += 1
                    at = f"{operation.name}, {way}, at call {number} of {known.calls[among]}"
                    found += (f"{at}: {fault}" for fault in _failed(work, known, way, number, points))
    for number in range(work.sizes["disks"]):
        found += (f"full disk {number}: {fault}" for fault in _filled(work, number, chance.random(), points))
    figures: dict[str, Any] = {way: points[way] for way in WAYS}
    figures |= {"disks filled": work.sizes["disks"], "writes acknowledged before they were full": points["written"]}
    figures |= {"typed errors": points["error"], "done in spite of it": points["done"]}
    figures |= {"untyped, half done, or not working again": len(found)}
    return Outcome(figures, found)


@dataclass(frozen=True)
class Run:
    """An operation, the store it starts with, its calls by kind, its states, the memories a restore leaves."""

    operation: Operation
    template: Path
    calls: dict[Among, int]
    passed: list[State]
    left: list[Any]


def _whole(work: Work, operation: Operation, start: State) -> Run:
    """Do the operation undisturbed, once for each kind of call, and note what it does."""
    template, calls = laid(work.folder, operation), {}
    passed: list[State] = []
    left: list[Any] = []
    for among in (Among.ANY, Among.ROOM):
        root = fresh(work.folder / "run", template, operation)

        def act(say: Say, root: Path = root, among: Among = among) -> None:
            operation.before()
            counted_salts()
            states(say)
            _medium.begin(root, among=among)
            operation.do(root)
            say(_medium.end())

        child = apart(act)
        assert child.status == 0, f"{operation.name} fails undisturbed"
        *passed, calls[among] = child.said
        if isinstance(operation, Restore):
            left = apart(lambda say, root=root: say(rows(root))).said
        shutil.rmtree(root)
    return Run(operation, template, calls, [start, *passed], left)


def _failed(work: Work, known: Run, way: str, number: int, points: Counter[str]) -> Iterator[str]:
    """Let one call fail; tell what was wrong with what followed."""
    root = fresh(work.folder / "run", known.template, known.operation)
    child = apart(lambda say: _suffer(say, work, known, root, way, number))
    if child.status != 0:
        yield f"the process ended with {child.status}"
    for told in child.said:
        if told in ("error", "done"):
            points[told] += 1
        else:
            yield told
    after = apart(lambda say: _verify(say, known.operation, root))
    yield from after.said if after.status == 0 else [*after.said, f"the verifying process ended with {after.status}"]
    shutil.rmtree(root)


def _suffer(say: Say, work: Work, known: Run, root: Path, way: str, number: int) -> None:
    """Be the process whose medium fails, and that goes on when it is whole again."""
    operation = known.operation
    _break(work.broken)
    operation.before()
    counted_salts()
    kind, error, among = WAYS[way]
    memory: Memory | None = None
    _medium.begin(root, number, kind, error=error, among=among)
    try:
        if isinstance(operation, Restore):
            operation.do(root)
            say("done")
        else:
            memory = opened(root, create=operation.new)
            operation.act(memory)
            say("done")
            memory.close()
    except AiMemoryError as told:
        say("error" if told.hint else f"no hint: {told.message}")
    except Exception as told:
        say(f"untyped: {type(told).__name__}: {told}")
    _medium.end()
    try:
        if isinstance(operation, Restore):
            operation.do(root)
            if [rows(root)] != known.left:
                say("its memories are not those that it has when nothing fails")
            memory = opened(root)
        else:
            memory = memory or opened(root, create=operation.new)
            with memory.read() as r:
                state = [r.head.sequence, r.head.state_root]
            if operation.exact and state not in known.passed:
                say(f"it is at event {state[0]}, which is between two transactions")
            operation.act(memory)
        with memory.write() as tx:
            memories.remember(tx, memory.caller, "It works again.")
        memory.close()
    except AiMemoryError as told:
        say(f"the same process does not work again: {told.message}")


def _verify(say: Say, operation: Operation, root: Path) -> None:
    operation.before()
    try:
        memory = opened(root)
        with memory.read() as r:
            if r.count(MemoryRow, "content = 'It works again.'") != 1:
                say("what was written afterwards is not there once")
        memory.close()
        for fault in faults(root):
            say(fault)
    except AiMemoryError as error:
        say(f"it does not open: {error.message}")


# --- a disk that is full --------------------------------------------------------------------------------------------


def _filled(work: Work, number: int, share: float, points: Counter[str]) -> Iterator[str]:
    """Fill a small disk while a process writes, free it, and go on in the same process."""
    disk = work.folder / f"disk-{number}"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_KIB}k,mode=700", "tmpfs", str(disk)], check=True)
    try:
        shutil.copytree(work.folder / "story", disk / "store")
        child = apart(lambda say: _fill(say, work, disk, number, share))
        if child.status != 0:
            yield f"the process ended with {child.status}"
        written = [told["written"] for told in child.said if isinstance(told, dict)]
        points["written"] += len(written)
        points["error"] += child.said.count("error")
        yield from (told for told in child.said if isinstance(told, str) and told != "error")
        after = apart(lambda say: _kept(say, disk / "store", written))
        yield from after.said if after.status == 0 else [f"the verifying process ended with {after.status}"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def _fill(say: Say, work: Work, disk: Path, number: int, share: float) -> None:
    """Write until the disk is full; ``share`` of what is free is taken away first, to be full at another moment."""
    _break(work.broken)
    memory = opened(disk / "store")
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
    (disk / "ballast").write_bytes(b"\0" * int(free * (0.5 + share / 2)))
    chance = random.Random(f"{work.seed}-{number}")
    for turn in range(10_000):
        text = f"Written {turn}: {chance.randbytes(chance.randint(1, ROW_KIB * 1024) // 2).hex()}"
        try:
            with memory.write() as tx:
                memories.remember(tx, memory.caller, text)
        except AiMemoryError as error:
            say("error" if error.hint else f"no hint: {error.message}")
            if error.details.get("committed"):
                say({"written": text})
            break
        say({"written": text})
        if chance.random() < 0.2:
            memory.db.close()  # as when others want the file
    else:
        say("the disk was never full")
    with suppress(AiMemoryError):
        memory.db.rewrite()
    (disk / "ballast").unlink()
    try:
        with memory.write() as tx:
            memories.remember(tx, memory.caller, "It works again.")
        say({"written": "It works again."})
        memory.close()
    except AiMemoryError as error:
        say(f"the same process does not work again: {error.message}")


def _kept(say: Say, root: Path, written: list[str]) -> None:
    memory = opened(root)
    with memory.read() as r:
        held = Counter(row.content for row in r.select(MemoryRow))
    memory.close()
    for text in written:
        if held[text] != 1:
            say(f"acknowledged and there {held[text]} times: {text[:40]}")
    for text in map(str, held):
        if text.startswith("Written") and text not in written:
            say(f"refused and there: {text[:40]}")
    for fault in faults(root):
        say(fault)


# --- builds that are wrong on purpose ------------------------------------------------------------------------------


def _break(broken: str | None) -> None:
    """Make this process a broken build."""
    if broken == "swallow":
        commit = Connection.commit

        def swallowed(self: Connection) -> None:
            with suppress(AiMemoryError):
                commit(self)

        Connection.commit = swallowed  # type: ignore[method-assign]
    if broken == "stuck":
        Database._abandon = lambda self, connection, before: None  # type: ignore[method-assign]
    if broken == "untyped":
        db.translated = _untranslated


@contextmanager
def _untranslated(*, opening: bool = False) -> Iterator[None]:
    yield


def unable() -> str | None:
    """Say why it cannot run here."""
    return _medium.unable() or _medium.unable_to_mount()


CAMPAIGN = Campaign(
    name="media",
    title="Failing and full disks",
    target="only typed errors, 0 half done, the same process works again",
    small={"percent": 2, "disks": 10},
    full={"percent": 100, "disks": 200},
    broken={
        "swallow": "a commit that fails is taken for done",
        "stuck": "a transaction that fails is not abandoned",
        "untyped": "what the engine says is passed on as it is",
    },
    run=run,
    unable=unable,
)
