"""Edits of the public suite one after another, with genuine writes, restarts and rollbacks between them.

The moves are those of `agent-memory-integrity`: a write through the product, a restart, a rollback of the whole folder,
and its eight edits of storage. A sequence lands when the product still answers although what it answers is not what
was written. Each is tried by a writer of rows and by one of rows and log; with `writers` 1 by the two in turn.

Source: docs/spec/audit.md §4 and §6.
"""

from __future__ import annotations

from collections import Counter
from itertools import cycle, islice, product

from agmi.agent.compose import _candidate_moves, _lands

from benchmarks.campaigns import _wrong
from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from tests.conformance.at_rest import RowsAndLog, RowsOnly

WRITERS = {"rows": RowsOnly, "rows and log": RowsAndLog}
SPENT = ("need at least", "no records", "need records")  # what the suite says when edits before left too few records


def run(work: Work) -> Outcome:
    """Try every sequence of up to so many moves in a store of its own."""
    figures: Counter[str] = Counter()
    faults = []
    turns = cycle(WRITERS)
    with _wrong.build(work.broken):
        for length in range(1, work.sizes["length"] + 1):
            for moves in product(_candidate_moves(), repeat=length):
                figures[f"sequences of {length}"] += 1
                for writer in islice(turns, work.sizes["writers"]):
                    ending, detail = _ending(*_lands(WRITERS[writer], list(moves)))
                    figures[ending] += 1
                    if ending in ("landed", "not tried"):
                        faults.append(f"{writer}: {' -> '.join(moves)}: {ending}: {detail}")
    return Outcome({"landed": 0, "not tried": 0, **figures}, faults)


def _ending(landed: bool, detail: str) -> tuple[str, str]:
    """Name what became of a sequence; the detail is the suite's."""
    if landed:
        return "landed", detail
    if detail == "refused or reported":
        return "refused when read", detail
    if detail.startswith("served"):
        return "nothing was altered", detail
    refused, _, why = detail.partition("tool refused the move: ")
    if refused or not why:
        return "not tried", detail
    if why.startswith(SPENT):
        return "too few records left", detail
    return "refused when written", detail


CAMPAIGN = Campaign(
    name="compositions",
    title="Edits of storage, one after another",
    target="no sequence lands",
    small={"length": 2, "writers": 1},
    full={"length": 3, "writers": 2},
    broken=_wrong.WRONG,
    run=run,
)
