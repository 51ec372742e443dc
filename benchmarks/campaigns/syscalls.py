"""Interrupt every operation at every call that changes a file: kill, kill in the middle of a write, cut the power.

A process does the operation and dies before its N-th changing call (or within it, half written); then another opens
what is left. It has to verify whole and to be exactly one of the states between two of the operation's transactions,
the last one if the operation had said that it was done. The operation is then done again and comes to its end.

A restore begins with a store that is lost or damaged: that is left as it was, or what is there is whole, and a restore
done again leaves the memories that an undisturbed one leaves.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.campaigns import _medium
from benchmarks.campaigns._apart import Child, Say, apart, timed
from benchmarks.campaigns._medium import Among, Disk, Way
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
from substrate.errors import AiMemoryError, NotFound
from substrate.store.db import FILE, Connection
from substrate.store.inspection import inspect
from substrate.store.ledger import Ledger

WAYS = {"kill": (Way.DIE, Among.ANY), "tear": (Way.TEAR, Among.WRITE), "cut": (Way.DIE, Among.ANY)}


@dataclass
class Run:
    """What is known of an operation: the store it starts with, the states it passes from there, its calls.

    ``left`` are the memories that a restore leaves.
    """

    operation: Operation
    template: Path
    passed: list[State]
    calls: int
    writes: int = 0
    left: list[Any] = field(default_factory=list)


def run(work: Work) -> Outcome:
    """Run the campaign in a process that the medium is loaded into."""
    return _medium.driven(__name__, work)


def drive(work: Work) -> Outcome:
    """Interrupt each operation; see ``run``."""
    chance = random.Random(work.seed)
    found: list[str] = []
    points: Counter[str] = Counter()
    calls: dict[str, int] = {}
    opening: list[float] = []
    start = made(work.folder / "story")
    for operation in (*OPERATIONS, *RESTORES):
        known = _whole(work.folder, operation, start, work.broken)
        calls[operation.name] = known.calls
        for way in WAYS:
            for number in range(1, (known.writes if way == "tear" else known.calls) + 1):
                if chance.random() * 100 < work.sizes["percent"]:
                    points[way] += 1
                    found += (
                        f"{operation.name}, {way} at number {number}: {fault}"
                        for fault in _interrupted(work, known, way, number, opening)
                    )
    opening.sort()
    figures: dict[str, Any] = {f"changing calls of {name}": number for name, number in calls.items()}
    figures |= {"kills before a call": points["kill"], "kills within a write": points["tear"]}
    figures |= {"power cuts at a call": points["cut"], "did not open, or not as it was": len(found)}
    figures["seconds to open again, p99"] = round(opening[int(len(opening) * 0.99)], 3) if opening else 0
    return Outcome(figures, found)


def _whole(folder: Path, operation: Operation, start: State, broken: str | None) -> Run:
    """Do the operation twice without interrupting it: it has to make the same calls and pass the same states."""
    runs, template = [], laid(folder, operation)
    for among in (Among.ANY, Among.WRITE):
        root = fresh(folder / operation.name, template, operation)

        def act(say: Say, root: Path = root, among: Among = among) -> None:
            _break(broken)
            _do(operation, root, say, 0, Way.COUNT, among)
            say(_medium.end())

        child = apart(act)
        assert child.status == 0, f"{operation.name} fails undisturbed"
        passed = [told for told in child.said if isinstance(told, list)]
        begun = [] if operation.new else [start]
        runs.append(Run(operation, template, begun + passed, child.said[-1]))
        if isinstance(operation, Restore):
            runs[-1].left = apart(lambda say, root=root: say(rows(root))).said
        shutil.rmtree(root)
    assert not operation.exact or runs[0].passed == runs[1].passed, f"{operation.name} is not the same twice"
    return replace(runs[0], writes=runs[1].calls)


def _do(
    operation: Operation,
    root: Path,
    say: Say,
    number: int,
    way: Way,
    among: Among = Among.ANY,
    journal: Path | None = None,
) -> None:
    """Be the process that does the operation; say the states it passes, and ``done``."""
    operation.before()
    counted_salts()
    states(say)
    _medium.begin(root, number, way, among=among, journal=journal)
    operation.do(root, lambda: say("done"))


def _interrupted(work: Work, known: Run, way: str, number: int, opening: list[float]) -> Iterator[str]:
    """Interrupt the operation at one call and look at what is left."""
    operation = known.operation
    root = fresh(work.folder / "run", known.template, operation)
    journal = work.folder / "journal" if way == "cut" else None
    disk = Disk(root) if journal else None

    def act(say: Say) -> None:
        _break(work.broken)
        _do(operation, root, say, number, *WAYS[way], journal=journal)

    child = apart(act)
    if disk and journal:
        disk.cut(journal, random.Random(number))
        journal.unlink(missing_ok=True)
    after = apart(lambda say: _look(say, known, root, child, work.broken))
    if after.status != 0:
        yield f"the process that looked at it ended with {after.status}"
    opening += [told for told in after.said if isinstance(told, float)]
    yield from (told for told in after.said if isinstance(told, str))
    shutil.rmtree(root)


def _look(say: Say, known: Run, root: Path, child: Child, broken: str | None) -> None:
    """Open what is left; say how long it took, and every fault."""
    _break(broken)
    operation = known.operation
    operation.before()
    done = "done" in child.said
    try:
        seconds, memory = timed(lambda: opened(root))
    except AiMemoryError as error:
        new = operation.new and isinstance(error, NotFound)
        if done or not (new or (isinstance(operation, Restore) and _as_before_or_whole(known.template, root))):
            say(f"it does not open: {error.message}")
            return
    else:
        say(seconds)
        with memory.read() as r:
            state = [r.head.sequence, r.head.state_root]
        memory.close()
        if operation.exact and state not in known.passed:
            say(f"it is at event {state[0]}, which is between two transactions")
        elif operation.exact and done and state != known.passed[-1]:
            say(f"it was done and is back at event {state[0]}")
    try:
        operation.do(root, times=2)
        if isinstance(operation, Restore) and [rows(root)] != known.left:
            say("its memories are not those that it has when nothing interrupts")
    except AiMemoryError as error:
        say(f"it cannot be done again: {error.message}")
    for fault in faults(root):
        say(fault)


def _as_before_or_whole(template: Path, root: Path) -> bool:
    """Say whether a store that does not open is as it was, or whole and restored but for the anchor."""
    file, before = (folder / "home" / FILE for folder in (root, template))
    if not file.exists():
        return not before.exists()
    if before.exists() and file.read_bytes() == before.read_bytes():
        return True
    report = inspect(file.parent, state_dir=root / "state")
    return all(fault.kind in ("anchor", "checkpoint") for fault in report.faults)


# --- builds that are wrong on purpose ------------------------------------------------------------------------------


def _break(broken: str | None) -> None:
    """Make this process a broken build."""
    if broken == "anchor-first":
        commit = Connection.commit

        def anchored(self: Connection) -> None:
            ledger = _ledgers.get(str(self.path))
            if ledger is not None:
                ledger.settle(self)
            commit(self)

        Connection.commit = anchored  # type: ignore[method-assign]
        refresh = Ledger.refresh

        def known(self: Any, connection: Connection, **named: Any) -> None:
            _ledgers[str(connection.path)] = self
            refresh(self, connection, **named)

        Ledger.refresh = known  # type: ignore[method-assign]
    if broken == "in-place":
        Path.replace = lambda self, target: shutil.copyfile(self, target)  # type: ignore[method-assign,assignment,return-value]
    if broken == "unsynced":
        os.fsync = lambda fd: None


_ledgers: dict[str, Any] = {}


def unable() -> str | None:
    """Say why it cannot run here."""
    return _medium.unable()


CAMPAIGN = Campaign(
    name="syscalls",
    title="Kills and power cuts at every system call",
    target="0 lost, 0 that do not open",
    small={"percent": 5},
    full={"percent": 100},
    broken={
        "anchor-first": "the anchor is written before the commit",
        "in-place": "a rewritten file is copied over the old one instead of renamed",
        "unsynced": "the program's own files are renamed into place without a sync",
    },
    run=run,
    unable=unable,
)
