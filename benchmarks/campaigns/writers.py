"""Have eight processes write to one store while four read it, run after run; see `benchmarks/processes.py`.

A write is a transaction of one row and one event, acknowledged when the product has returned. Afterwards each has to be
there, no other, and the events have to be one chain in which each follows the one before, which a whole verification
checks again. A wait is the time from asking for the file until having it; readers ask all the time.

Source: docs/spec/model.md §6.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks import processes
from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from substrate.store import recovery

WAIT_S = 2.0


def run(work: Work) -> Outcome:
    """Measure so many times, and add up."""
    measured, faults = [], []
    for turn in range(work.sizes["runs"]):
        options = argparse.Namespace(**work.sizes, seed=work.seed + turn, broken=work.broken == "no-lock")
        folder = work.folder / str(turn)
        folder.mkdir()
        found = processes.measure(options, folder)
        wrong = [*found["errors"], *found["faults"]]
        wrong += [f"{name}: {found[name]}" for name in ("lost", "phantoms") if found[name]]
        if not wrong:
            verified = recovery.verify(folder / "home", state_dir=folder / "state")
            wrong += [f"{fault.kind}: {fault.message}" for fault in verified.faults]
        if found["p99_wait_s"] >= WAIT_S:
            wrong.append(f"waited {found['p99_wait_s']} s at p99")
        faults += [f"run {turn + 1}: {fault}" for fault in wrong]
        measured.append(found)
    return Outcome(_figures(measured), faults)


def _figures(measured: list[dict[str, Any]]) -> dict[str, Any]:
    speeds = sorted(found["writes_per_s"] for found in measured)
    figures: dict[str, Any] = {
        name: sum(found[name] for found in measured) for name in ("acknowledged", "lost", "phantoms", "reads")
    }
    figures["lock errors and others"] = sum(len(found["errors"]) for found in measured)
    figures["forks and gaps"] = sum(len(found["faults"]) for found in measured)
    figures["writes a second, median run"] = speeds[len(speeds) // 2]
    figures["writes a second, slowest run"] = speeds[0]
    figures["wait, p99 s of the worst run"] = max(found["p99_wait_s"] for found in measured)
    figures["wait, longest s"] = max(found["longest_wait_s"] for found in measured)
    return figures


CAMPAIGN = Campaign(
    name="writers",
    title="Eight writers and four readers of one file",
    target=f"0 lost, 0 forks, 0 lock errors, p99 wait below {WAIT_S:g} s",
    small={"writers": 8, "readers": 4, "writes": 25, "runs": 1},
    full={"writers": 8, "readers": 4, "writes": 500, "runs": 10},
    broken={"no-lock": "no process heeds the lock"},
    run=run,
    parts=("runs", 10),
)
