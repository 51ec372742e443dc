"""The links of a store as numbers, kept by a process that asks more than once; it follows the log.

It is a map and no more: it says where to look, and what it leads to is read from the store and verified before anybody
sees it (`graph`). It lives in memory only, holds no text, and goes with the process.

Source: DESIGN §6 (Graph); docs/spec/requirements.md S3-11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from substrate.memory.links import RELATIONS
from substrate.memory.references import Sight
from substrate.store.model import LinkRow, MemoryRow, key_of
from substrate.store.transaction import Reader

Numbers = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
Way = Literal["out", "in"]

TAIL = 4_096  # links and memories that came since, before they are sorted in
AGAIN = 2_000  # events behind which all is read again: that is then cheaper than reading them

_FACTS = ("namespace", "applies_to", "origin", "memory_kind", "memory_type")  # what decides who sees a memory
_AT = [MemoryRow.columns().index(fact) for fact in _FACTS]
_NODES = f"""
    SELECT id, sequence, {", ".join(f"coalesce({fact}, '') AS {fact}" for fact in _FACTS)}
    FROM memories ORDER BY sequence, id
"""
_LINKS = """
    WITH numbered AS (SELECT id, row_number() OVER (ORDER BY sequence, id) - 1 AS number FROM memories)
    SELECT s.number AS source, t.number AS target, l.relation FROM memory_links l
    JOIN numbered s ON s.id = l.source_id JOIN numbered t ON t.id = l.target_id
"""


class Ties(NamedTuple):
    """Links as three columns: number of the source, number of the target, place of the relation in `RELATIONS`."""

    source: Numbers
    target: Numbers
    relation: Numbers

    @classmethod
    def of(cls, source: Any, target: Any, relations: Sequence[str]) -> Self:
        """Make columns of two lists of numbers and one of relations."""
        ranks = {name: rank for rank, name in enumerate(RELATIONS)}
        ranked = np.fromiter((ranks[name] for name in relations), np.int8, len(relations))
        return cls(np.asarray(source, np.int32), np.asarray(target, np.int32), ranked)

    def take(self, which: Any) -> Ties:
        """Pick links by a mask or by their places."""
        return Ties(*(column[which] for column in self))

    def then(self, others: Ties) -> Ties:
        """Put other links behind these."""
        return Ties(*map(np.concatenate, zip(self, others, strict=True))) if len(others.source) else self


class Sorted:
    """Links in the order of one end: those at number `n` lie from `start[n]` to `start[n + 1]`."""

    def __init__(self, ties: Ties, end: Numbers, size: int) -> None:
        self.start = np.concatenate(([0], np.cumsum(np.bincount(end, minlength=size))))
        self.ties = ties.take(np.argsort(end, kind="stable"))

    def at(self, numbers: Numbers) -> Ties:
        """Give the links at these numbers; those that came later have none here."""
        known = numbers[numbers < len(self.start) - 1]
        first, count = self.start[known], self.start[known + 1] - self.start[known]
        return self.ties.take(np.arange(count.sum()) + np.repeat(first - np.cumsum(count) + count, count))


class Adjacency:
    """The memories of one store, numbered in the order they were written, and the links between them, at one event."""

    def __init__(self, r: Reader) -> None:
        """Read all of it: seven columns of each memory, three of each link."""
        self._head = r.head
        ids, sequences, *facts = r.columns(_NODES)
        self._kinds: dict[tuple[str, ...], int] = {}
        self._fresh: dict[str, int] = {}
        self._kind_of = self._kinds_of(zip(*facts, strict=True))
        self._ids = _encoded(ids)
        self._newest = int(sequences[-1]) if len(sequences) else 0
        self._tail = Ties.of(*r.columns(_LINKS))
        self._sort_in(self._tail)

    def __len__(self) -> int:
        return len(self._ids)

    def follow(self, r: Reader) -> bool:
        """Come to the newest event; False when all has to be read anew: events are gone or too many, or a row is."""
        behind = r.head.sequence - self._head.sequence
        if not behind:
            return r.head == self._head
        events = r.events(after=self._head.sequence) if 0 < behind <= AGAIN else []
        if not events or events[0].prev != self._head.event_hash:
            return False
        commits = [commit for event in events for commit in event.commits]
        ids = {name for table, name, _ in commits if table == MemoryRow.TABLE}
        keys = {key_of(LinkRow, name) for table, name, _ in commits if table == LinkRow.TABLE}
        rows, links = r.get_many(MemoryRow, sorted(ids)), r.get_many(LinkRow, sorted(keys))
        if len(rows) < len(ids) or len(links) < len(keys) or not self._add_memories(rows):
            return False
        self._add_links(list(links.values()))
        self._head = r.head
        if len(self._tail.source) > TAIL or len(self._fresh) > TAIL:
            self._sort_in(self._out.ties.then(self._tail))
        return True

    def numbers(self, ids: Iterable[str]) -> Numbers:
        """Give the numbers of these ids, in their order; -1 for one that is not known."""
        wanted = list(ids)
        found: Numbers = np.array([self._fresh.get(id, -1) for id in wanted], np.int32)
        if len(self._order):
            names = _encoded(wanted)
            places = np.searchsorted(self._ids[: len(self._order)], names, sorter=self._order) % len(self._order)
            known = self._order[places]
            same = self._ids[known] == names
            found[same] = known[same]
        return found

    def ids(self, numbers: Numbers) -> list[str]:
        """Give the ids of these numbers, in their order."""
        return [id.decode() for id in self._ids[numbers].tolist()]

    def at(self, numbers: Numbers, way: Way) -> tuple[Ties, Numbers]:
        """Give the links out of these memories or into them, and the number at the other end of each."""
        found = (self._out if way == "out" else self._in).at(numbers)
        if len(self._tail.source):
            here = self._tail.source if way == "out" else self._tail.target
            found = found.then(self._tail.take(self.mask(numbers)[here]))
        return found, found.target if way == "out" else found.source

    def between(self, numbers: Numbers) -> Ties:
        """Give the links whose ends are both among these memories."""
        found, there = self.at(numbers, "out")
        return found.take(self.mask(numbers)[there])

    def mask(self, numbers: Numbers) -> Bools:
        """Mark these numbers among all."""
        among = np.zeros(len(self._ids), bool)
        among[numbers] = True
        return among

    def seen(self, sight: Sight) -> Bools:
        """Tell for each kind of memory, by its place, whether it can be seen: the access function decides."""
        return np.array([sight.sees(_kept(facts)) for facts in self._kinds], bool)

    def pick(self, numbers: Numbers, seen: Bools) -> Numbers:
        """Pick the memories of the kinds that can be seen."""
        return numbers[seen[self._kind_of[numbers]]]

    def _add_memories(self, rows: Mapping[str, MemoryRow]) -> bool:
        """Take in memories as they are now; False when one was written before those that are known."""
        numbers = dict(zip(rows, self.numbers(rows).tolist(), strict=True))
        fresh = sorted((row for id, row in rows.items() if numbers[id] < 0), key=lambda row: (row.sequence, row.id))
        if fresh and fresh[0].sequence <= self._newest:
            return False
        if fresh:
            self._newest = fresh[-1].sequence
            self._fresh |= {row.id: len(self._ids) + at for at, row in enumerate(fresh)}
            self._ids = np.concatenate((self._ids, _encoded([row.id for row in fresh])))
            self._kind_of = np.concatenate((self._kind_of, np.zeros(len(fresh), np.int32)))
        values = [[row.values()[at] or "" for at in _AT] for row in rows.values()]
        self._kind_of[self.numbers(rows)] = self._kinds_of(values)
        return True

    def _add_links(self, rows: Sequence[LinkRow]) -> None:
        source, target = self.numbers(r.source_id for r in rows), self.numbers(r.target_id for r in rows)
        found = Ties.of(source, target, [r.relation for r in rows])
        found = found.take((source >= 0) & (target >= 0))
        known = set(zip(*(column.tolist() for column in self.at(np.unique(found.source), "out")[0]), strict=True))
        fresh = [tie not in known for tie in zip(*(column.tolist() for column in found), strict=True)]
        self._tail = self._tail.then(found.take(np.array(fresh, bool)))

    def _kinds_of(self, facts: Iterable[Iterable[str]]) -> Numbers:
        return np.array([self._kinds.setdefault(tuple(some), len(self._kinds)) for some in facts], np.int32)

    def _sort_in(self, ties: Ties) -> None:
        """Sort all ids and all links, so that nothing is left that came since."""
        size = len(self._ids)
        self._order = np.argsort(self._ids, kind="stable").astype(np.int32)
        self._out, self._in = Sorted(ties, ties.source, size), Sorted(ties, ties.target, size)
        self._tail = ties.take(slice(0))
        self._fresh.clear()


def _kept(facts: Sequence[str]) -> MemoryRow:
    """Give a row that holds what decides who sees it, and nothing else."""
    values = dict.fromkeys(MemoryRow.columns()) | {"times_seen": 0, "size_bytes": 0, "reflection_depth": 0}
    values |= {name: fact or None for name, fact in zip(_FACTS, facts, strict=True)}
    return MemoryRow.from_values(list(values.values()))


def _encoded(ids: Iterable[str]) -> NDArray[np.bytes_]:
    return np.array([id.encode() for id in ids], dtype="S")
