"""Bring a corpus from one state to the next without building it anew.

New documents are put behind all others and changed labels and times are written over, so the work is that of what
changed. Where text changed or went, where a conversation changed, or where a new document belongs between older ones,
there is no short way, and the answer is to build.
"""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import NDArray

from substrate.recall import neighbours
from substrate.recall.column import Column
from substrate.recall.corpus import CHAIN, Corpus, Parts, Placed, Places, derived
from substrate.recall.documents import LABELS, TIMES
from substrate.recall.segment import Segment

SHARE = 8  # of how many documents one may be new before building is the shorter way
_MANY = 1_000  # new documents of which there may always be so many
_FIXED = ("partition", "kind", "session", "sequence", "when")  # what places and neighbours rest on


def followed(old: Corpus, parts: Parts) -> Corpus | None:
    """Return the corpus of these parts, made of the one before; None where it has to be built."""
    known = {id(part.segment): part for part in old.parts}
    vacated = [part.places[part.live] for part in old.parts if all(part.segment is not s for s, _ in parts)]
    placed: list[Placed] = []
    found: list[tuple[Segment, NDArray[np.int64], Places]] = []
    for segment, live in parts:
        before = known.get(id(segment))
        if before is None:
            slots = np.flatnonzero(live)
            held = old.find(segment.arrays["ids"][slots])
            places = np.full(len(segment), -1, np.int32)
            places[slots] = held
            found.append((segment, slots, places))
        elif before.live is live or (before.live == live).all():
            places = before.places
        else:
            left = np.flatnonzero(before.live & ~live)
            if (live & ~before.live).any():
                return None
            vacated.append(before.places[left])
            places = before.places.copy()
            places[left] = -1
        placed.append(Placed(segment, live, places))
    taken = [places[slots][places[slots] >= 0] for _, slots, places in found]
    if not np.array_equal(_sorted(vacated), _sorted(taken)):
        return None  # some document went, or stands twice
    return _Step(old, placed, found).made()


def _sorted(parts: list[Places]) -> Places:
    return np.sort(np.concatenate([np.zeros(0, np.int32), *parts]))


class _Step:
    """Make the next corpus of one and of the segments that are new in it."""

    def __init__(
        self, old: Corpus, placed: list[Placed], found: list[tuple[Segment, NDArray[np.int64], Places]]
    ) -> None:
        self.old, self.placed, self.found = old, placed, found
        self.columns = dict(old.grown)
        self.changed: list[Places] = []

    def made(self) -> Corpus | None:
        old = self.old
        if not all(self._rewrite(*part) for part in self.found) or not self._append():
            return None
        new = copy.copy(old)
        new.grown, new.parts = self.columns, self.placed
        new.after, new.last = self._linked(new)
        if len(old.history) != old.version:  # another one has followed it already
            new.history = old.history[: old.version]
        changed = np.concatenate([np.zeros(0, np.int32), *self.changed])
        new.history.append(np.unique(changed))
        new.version = old.version + 1
        return new

    def _rewrite(self, segment: Segment, slots: NDArray[np.int64], places: Places) -> bool:
        """Write what changed of the documents that have a place; tell whether that was possible."""
        slots = slots[places[slots] >= 0]
        held = places[slots]
        if not len(slots):
            return True
        if (
            self.old.column("digests")[held]
            != derived({n: segment.arrays[n][slots] for n in ("when", "digests")})["digests"]
        ).any():
            return False
        for name in (*TIMES, *LABELS):
            fresh = self._column(segment, slots, name)
            other = self.columns[name].values[held] != fresh
            if other.any():
                if name in _FIXED:
                    return False
                column = self.columns[name].values.copy()
                column[held[other]] = fresh[other]
                self.columns[name] = Column(column)
                self.changed.append(held[other])
        return True

    def _append(self) -> bool:
        """Put the documents without a place behind the others; tell whether they belong there."""
        old, first = self.old, len(self.old)
        new = [(segment, slots[places[slots] < 0], places) for segment, slots, places in self.found]
        new = [(segment, slots, places) for segment, slots, places in new if len(slots)]
        count = sum(len(slots) for _, slots, _ in new)
        if count > _MANY and count * SHARE > first:
            return False
        if not count:
            return True
        names = ("ids", "digests", "lengths", *TIMES, *LABELS)
        fresh = {name: np.concatenate([self._column(s, slots, name) for s, slots, _ in new]) for name in names}
        rank = np.unique(fresh["ids"], return_inverse=True)[1]
        order = np.lexsort((-rank, fresh["sequence"]))
        if first and fresh["sequence"][order[0]] <= old.column("sequence")[-1]:
            return False
        place = np.empty(count, np.int32)
        place[order] = np.arange(first, first + count, dtype=np.int32)
        at = 0
        for _, slots, places in new:
            places[slots] = place[at : at + len(slots)]
            at += len(slots)
        fresh = {name: column[order] for name, column in fresh.items()}
        for name, column in (fresh | derived(fresh)).items():
            self.columns[name] = self.columns[name].grown(column)
        old.later.update(zip(fresh["ids"].tolist(), range(first, first + count), strict=True))
        self.changed.append(np.arange(first, first + count, dtype=np.int32))
        return True

    def _linked(self, new: Corpus) -> tuple[Places, dict[int, int]]:
        """Give the new documents their neighbours; return who stands after whom, and the last of each partition."""
        old, first = self.old, len(self.old)
        columns = new.columns
        if old.last is None:
            old.last = neighbours.lasts(old.columns, old.observations(old.column("kind")))
        last = dict(old.last)
        held = neighbours.Chain(*(old.column(name) for name in CHAIN))
        observed = new.observations(columns["kind"][first:])
        added = neighbours.linked(columns, held, observed, last, first)
        for name in CHAIN:
            self.columns[name] = self.columns[name].grown(getattr(added, name))
        after = np.concatenate([old.after, np.full(len(observed), -1, np.int32)])
        second = np.flatnonzero(added.before >= 0)
        after[added.before[second]] = second + first
        return after, last

    def _column(self, segment: Segment, slots: NDArray[np.int64], name: str) -> NDArray[np.generic]:
        """Return a column of some documents of a segment; a label by its number in the corpus."""
        column = segment.arrays[name][slots]
        if name not in LABELS:
            return column
        used, at = np.unique(column, return_inverse=True)
        numbers = [self.old.tables[name].number(segment.tables[name][number]) for number in used.tolist()]
        return np.array(numbers, np.int32)[at]
