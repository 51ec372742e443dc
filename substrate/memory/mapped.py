"""Walk along links in memory, over the numbers of an `Adjacency`; what is answered is read from the store and verified.

The walks are those of `frontiers`, step by step: the same memories are dropped, the same answer is given.

Source: DESIGN §6 (Graph); docs/spec/requirements.md S3-11, S3-18.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from substrate.memory.adjacency import Adjacency, Numbers, Ties
from substrate.memory.frontiers import Astray, Edge, check_size
from substrate.memory.links import RELATIONS
from substrate.memory.references import ID, Sight
from substrate.store.model import LinkRow, MemoryRow

Distances = NDArray[np.int8]
_FAR = 50  # beyond any depth; two of them still fit their type


class Mapped:
    """Walks of one caller over the links of a store as they are in memory."""

    def __init__(self, sight: Sight, held: Adjacency) -> None:
        self.sight, self.held, self.seen = sight, held, held.seen(sight)
        self._unread: list[str] = []

    def find(self, refs: Sequence[str]) -> list[str]:
        """Give the ids of what these stand for. Those the map shows to the caller are read with the answer."""
        ids = [ref for ref in refs if isinstance(ref, str) and ID.fullmatch(ref)]
        numbers = self.held.numbers(ids)
        if len(ids) < len(refs) or numbers.min() < 0 or len(self.held.pick(numbers, self.seen)) < len(refs):
            return [row.id for row in self.sight.find(refs)]
        self._unread = ids
        return ids

    def reach(self, ids: Iterable[str], relation: str | None, reverse: bool, depth: int, most: int) -> list[MemoryRow]:
        """Read the visible memories among `ids` and what they lead to, by distance, then in the order of writing.

        Raises Astray.
        """
        rank = None if relation is None else RELATIONS.index(relation)
        known = self.held.numbers(dict.fromkeys(ids))
        frontier = found = self.held.pick(known[known >= 0], self.seen)
        for _ in range(depth):
            if not len(frontier) or len(found) >= most:
                break
            ties, there = self.held.at(frontier, "in" if reverse else "out")
            fresh = np.setdiff1d(there if rank is None else there[ties.relation == rank], found)
            frontier = self.held.pick(fresh, self.seen)[: most - len(found)]
            found = np.concatenate((found, frontier))
        return self.rows(self.held.ids(found[:most]))

    def rows(self, ids: Sequence[str]) -> list[MemoryRow]:
        """Read memories that the map says are there and visible. Raises Astray where one is not."""
        wanted = list(dict.fromkeys((*ids, *self._unread)))
        rows = self.sight.rows(wanted)
        if len(rows) < len(wanted):
            raise Astray
        return [rows[id] for id in ids]

    def named(self, edges: Sequence[Edge]) -> list[LinkRow]:
        """Read links that the map says are there. Raises Astray where one is not."""
        rows = self.sight.r.get_many(LinkRow, edges)
        if len(rows) < len(edges):
            raise Astray
        return list(rows.values())

    def links(self, ids: Sequence[str], relation: str | None) -> list[LinkRow]:
        """Read the links between these memories, of one relation or of all. Raises Astray."""
        edges = self._edges(self.held.between(self.held.numbers(ids)))
        return self.named([edge for edge in edges if relation in (None, edge.relation)])

    def corridor(self, start: str, goal: str, depth: int) -> list[Edge]:
        """Collect the links that lie on a walk of at most `depth` from one end to the other."""
        ends = self.held.numbers([start, goal])
        if ends.min() < 0:
            raise Astray
        size = len(self.held)
        near, far = (np.full(size, _FAR, np.int8) for _ in ends)
        near[ends[0]] = far[ends[1]] = 0
        frontiers, steps, seen = [ends[:1], ends[1:]], [0, 0], [1, 1]
        found: list[Ties] = []
        for _ in range(depth):
            side = int(len(frontiers[1]) < len(frontiers[0]))
            own = (near, far)[side]
            ties = self._visible_at(frontiers[side], near, far)
            found.append(ties)
            beside = np.unique(np.concatenate((ties.source, ties.target)))
            frontiers[side] = beside[own[beside] == _FAR]
            steps[side] += 1
            own[frontiers[side]] = steps[side]
            seen[side] += len(frontiers[side])
            check_size(sum(seen), start, goal)
        if not (near + far <= depth).any():
            return []
        ties = Ties(*map(np.concatenate, zip(*found, strict=True)))
        for own, first in ((near, steps[0]), (far, steps[1])):
            _spread(own, ties, first, depth)
        between = np.minimum(near[ties.source] + far[ties.target], near[ties.target] + far[ties.source]) < depth
        return self._edges(ties.take(between))

    def _visible_at(self, frontier: Numbers, near: Distances, far: Distances) -> Ties:
        """Give the links at a frontier that lead to memories seen before or visible."""
        (out, to), (into, of) = self.held.at(frontier, "out"), self.held.at(frontier, "in")
        ties, there = out.then(into), np.concatenate((to, of))
        fresh = np.unique(there[(near[there] == _FAR) & (far[there] == _FAR)])
        hidden = self.held.mask(np.setdiff1d(fresh, self.held.pick(fresh, self.seen)))
        return ties.take(~hidden[there])

    def _edges(self, ties: Ties) -> list[Edge]:
        """Name links, each once."""
        numbers, places = np.unique(np.concatenate((ties.source, ties.target)), return_inverse=True)
        ids = self.held.ids(numbers)
        once = {*zip(*places.reshape(2, -1).tolist(), ties.relation.tolist(), strict=True)}
        return [Edge(ids[source], ids[target], RELATIONS[rank]) for source, target, rank in once]


def _spread(distances: Distances, ties: Ties, first: int, depth: int) -> None:
    """Go on from the distance `first`, along these links in both directions, as far as `depth`."""
    here, there = np.concatenate((ties.source, ties.target)), np.concatenate((ties.target, ties.source))
    for step in range(first, depth):
        reached = there[distances[here] == step]
        reached = reached[distances[reached] == _FAR]
        if not len(reached):
            break
        distances[reached] = step + 1
