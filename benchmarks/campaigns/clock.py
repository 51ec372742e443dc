"""Clocks that jump: what was written in which order stays in that order, whatever the times say.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from substrate.memory import memories
from substrate.store import recovery
from substrate.store.transaction import Reader
from tests.clock import Clock, Ids
from tests.curator.workshop import Workshop, opened

FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
WRITES = 12


class Jumping(Clock):
    """A clock that answers another time each time it is asked: it stands, runs, goes back, is set to an end of time."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.chance = chance

    def __call__(self) -> str:
        move = self.chance.choice(("stand", "run", "back", "first", "last", "zone"))
        if move == "run":
            self.time = min(self.time, LAST - timedelta(days=400)) + timedelta(seconds=self.chance.randint(1, 10**7))
        elif move == "back":
            self.time = max(self.time, FIRST + timedelta(days=400)) - timedelta(seconds=self.chance.randint(1, 10**7))
        elif move in ("first", "last"):
            self.time = FIRST if move == "first" else LAST
        elif move == "zone":
            self.time = max(self.time, FIRST + timedelta(days=2)) - timedelta(hours=self.chance.randint(1, 14))
        return f"{self.time:%Y-%m-%dT%H:%M:%S.%f}Z".rjust(27, "0")

    def advance(self, **amount: float) -> str:
        """Move at every question instead."""
        return ""


def run(work: Work) -> Outcome:
    """Tell histories under such clocks and compare the order of writing with what is read back."""
    faults: list[str] = []
    with _ordered_by_time() if work.broken else ExitStack():
        for number in range(work.sizes["histories"]):
            chance = random.Random(f"{work.seed}-{number}")
            folder = work.folder / str(number)
            with opened(folder, clock=Jumping(chance), new_id=_Unordered(chance)) as shop:
                faults += [f"history {number}: {fault}" for fault in _told(shop, chance)]
            report = recovery.verify(folder / "home", state_dir=folder / "state", notes=[])
            faults += [f"history {number}: {fault.message}" for fault in report.faults]
    return Outcome({"histories": work.sizes["histories"], "writes in each": WRITES}, faults)


class _Unordered(Ids):
    """Ids that say nothing of the order they were made in."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.numbers = chance.sample(range(1, 10**6), 2_000)

    def __call__(self, prefix: str) -> str:
        self.count = self.numbers.pop()
        return super().__call__(prefix)


def _told(shop: Workshop, chance: random.Random) -> Iterator[str]:
    written: list[str] = []
    for number in range(WRITES):
        below = shop.observe(f"Ada was seen in room {number}.")
        written.append(below.id)
        written.append(shop.reflect(f"Ada works in room {number}.", below).id)
    old = chance.choice(written[1::2])
    shop.retire(_row(shop, old))
    personas = [shop.generate().row.id, shop.generate(full=True).row.id]
    with shop.memory.read() as r:
        rows, _ = memories.list_(r, shop.memory.caller, include_closed=True, limit=100)
        found = [row.id for row in rows if row.memory_kind != "persona"]
        numbers = [event.seq for event in r.events()]
    if found != written[::-1]:
        yield "memories are listed in another order than they were written in"
    if numbers != list(range(1, len(numbers) + 1)):
        yield "events are not in the order of their numbers"
    served = shop.persona()
    if served is None or served.row.id != personas[-1]:
        yield "the persona served is not the one written last"


def _row(shop: Workshop, id: str) -> Any:
    with shop.memory.read() as r:
        return memories.get(r, shop.memory.caller, id)


def _ordered_by_time() -> Any:
    """Have rows ordered by their times instead of by their numbers."""
    select: Callable[..., Any] = Reader.select

    def by_time(self: Reader, *arguments: Any, order: str = "", **options: Any) -> Any:
        return select(self, *arguments, order=order.replace("sequence DESC", "created_at DESC"), **options)

    return mock.patch.object(Reader, "select", by_time)


CAMPAIGN = Campaign(
    name="clock",
    title="Clocks that jump",
    target="nothing is read back in another order than it was written in",
    small={"histories": 3},
    full={"histories": 100},
    broken={"times": "rows are ordered by their times"},
    run=run,
)
