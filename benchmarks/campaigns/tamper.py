"""Tampering: every attack of the specification, every byte of many events, and clean opens.

A broken build is tried on the attacks and on the bytes of events; the rest is asked of the build as it is.

Source: docs/spec/audit.md §4 and §6.
"""

from __future__ import annotations

from contextlib import closing

from benchmarks.campaigns import _flips, _matrix, _wrong
from benchmarks.campaigns.campaign import Campaign, Number, Outcome, Work
from substrate.errors import AiMemoryError
from substrate.store.model import MemoryRow
from tests.store import attacks

Part = tuple[dict[str, Number | str], list[str]]
WRITES_EVERY = 25  # opens of a clean store between two writes


def run(work: Work) -> Outcome:
    """Try everything; a fault is what nobody noticed, and what was noticed where nothing was wrong."""
    with _wrong.build(work.broken):
        parts = [_attacks(work), _events(work)]
        if work.broken is None:
            parts.append(_opens(work))
    figures: dict[str, Number | str] = {}
    for part, _ in parts:
        figures |= part
    return Outcome(figures, [fault for _, faults in parts for fault in faults])


def _attacks(work: Work) -> Part:
    told = _matrix.told(work.folder)
    names, tried, faults = set(), 0, []
    for trial in _matrix.trials(told, work.sizes["columns"]):
        names.add(trial.name)
        tried += 1
        if doors := _matrix.unnoticed(trial, told, work.folder / "attacked"):
            faults.append(f"{trial.name}, by a writer of {trial.writer}: not noticed by {', '.join(doors)}")
    figures: dict[str, Number | str] = {"attacks": len(names), "attacks by writers": tried}
    return {**figures, "attacks not noticed where they had to be": len(faults)}, faults


def _events(work: Work) -> Part:
    flipped, missed = _flips.bodies_and_signatures(work.folder, work.sizes["events"], work.seed)
    return {"bytes of events and signatures flipped": flipped, "of them not noticed": len(missed)}, missed


def _opens(work: Work) -> Part:
    """Open a store that nobody touched, again and again, now and then after a write, and read everything in it."""
    store, faults = _matrix.told(work.folder / "clean"), []
    for number in range(work.sizes["opens"]):
        try:
            with closing(store.open()) as db, db.read() as r:
                r.select(MemoryRow)
                r.events()
            if number % WRITES_EVERY == 0:
                with closing(store.open()) as db:
                    attacks.add(db, f"mem-clean-{number}")
        except AiMemoryError as error:
            faults.append(f"clean open {number}: {error.message}")
    return {"clean opens": work.sizes["opens"], "false alarms": len(faults)}, faults


CAMPAIGN = Campaign(
    name="tamper",
    title="Tampering",
    target="every attack and every flipped byte of an event is noticed, and no clean store is refused",
    small={"columns": 12, "opens": 200, "events": 20},
    full={"columns": 1000, "opens": 10_000, "events": 1_000},
    broken=_wrong.WRONG,
    run=run,
)
