"""Find out which observation follows which in a conversation.

Two observations follow each other when the same callers may read them, they come from the same session, if any, they
are at most an hour apart, and no other observation those callers may read was written between them. So who stands
beside whom does not depend on who asks, and nothing that a caller may not read stands between two that it may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from substrate.recall.segment import Bools, Ints

EPISODE_GAP = 3_600_000_000  # microseconds between two observations that still belong to one conversation
BLOCK = 16  # observations in a row that are drawn into a sample together
Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Chain:
    """Hold for each document, by place, its neighbours and what it is part of.

    `before`: the place of the observation just before, -1 for none; `episode`: the place of the first of the
    conversation; `position`: how many stand before it there; `draw`: a number drawn from the id of the first of its
    block, the same for the whole block.
    """

    before: NDArray[np.int32]
    episode: NDArray[np.int32]
    position: NDArray[np.int32]
    draw: NDArray[np.uint32]

    @property
    def after(self) -> NDArray[np.int32]:
        """The place of the observation just after each; -1 for none."""
        after = np.full(len(self.before), -1, np.int32)
        second = np.flatnonzero(self.before >= 0)
        after[self.before[second]] = second
        return after


def chained(columns: Columns, observed: Bools) -> Chain:
    """Return who stands beside whom among all documents, given in order; `observed` tells which are observations."""
    count, places = len(observed), np.flatnonzero(observed)
    order = places[np.argsort(columns["partition"][places], kind="stable")]
    follows = _follow(columns, order[:-1], order[1:])
    starts = np.flatnonzero(np.r_[True, ~follows]) if len(order) else np.zeros(0, np.int64)
    sizes = np.diff(np.r_[starts, len(order)])
    nth = np.arange(len(order)) - np.repeat(starts, sizes)
    alone = np.arange(count, dtype=np.int32)
    chain = Chain(np.full(count, -1, np.int32), alone, np.zeros(count, np.int32), drawn(columns["ids"]))
    chain.before[order[1:][follows]] = order[:-1][follows]
    block = chain.draw[order[np.arange(len(order)) - nth % BLOCK]]
    chain.episode[order], chain.position[order], chain.draw[order] = np.repeat(order[starts], sizes), nth, block
    return chain


def linked(columns: Columns, chain: Chain, observed: Bools, last: dict[int, int], first: int) -> Chain:
    """Return the chain of the documents from place `first` on, which come after all of `chain`.

    `columns` are those of all documents, `observed` tells of the new ones; `last` holds the place of the last
    observation of each partition and is brought up to date.
    """
    count = len(observed)
    draws = drawn(columns["ids"][first:])
    added = Chain(
        np.full(count, -1, np.int32), np.arange(first, first + count, dtype=np.int32), np.zeros(count, np.int32), draws
    )
    for number in np.flatnonzero(observed).tolist():
        place, partition = first + number, int(columns["partition"][first + number])
        before = last.get(partition, -1)
        last[partition] = place
        if before < 0 or not _follow(columns, np.array([before]), np.array([place]))[0]:
            continue
        side, at = (chain, before) if before < first else (added, before - first)
        added.before[number] = before
        added.episode[number], added.position[number] = side.episode[at], side.position[at] + 1
        if added.position[number] % BLOCK:
            added.draw[number] = side.draw[at]
    return added


def lasts(columns: Columns, observed: Bools) -> dict[int, int]:
    """Return the place of the last observation of each partition."""
    places = np.flatnonzero(observed)
    partitions, back = np.unique(columns["partition"][places[::-1]], return_index=True)
    return dict(zip(partitions.tolist(), places[::-1][back].tolist(), strict=True))


def drawn(ids: NDArray[np.bytes_]) -> NDArray[np.uint32]:
    """Return a number for each id that depends on it alone and is spread evenly."""
    width = -(-max(ids.dtype.itemsize, 1) // 8) * 8
    words = ids.astype(f"S{width}").view(np.uint64).reshape(len(ids), width // 8)
    found = np.zeros(len(ids), np.uint64)
    for column in words.T:
        mixed = (found ^ column) * np.uint64(0x9E3779B97F4A7C15)
        found = np.where(column == 0, found, mixed ^ (mixed >> np.uint64(29)))
    found = found * np.uint64(0xBF58476D1CE4E5B9)
    return (found >> np.uint64(32)).astype(np.uint32)


def _follow(columns: Columns, first: Ints, second: Ints) -> Bools:
    partition, session, when = columns["partition"], columns["session"], columns["when"]
    follows = (partition[first] == partition[second]) & (session[first] == session[second])
    return np.asarray(follows & (np.abs(when[second] - when[first]) <= EPISODE_GAP))
