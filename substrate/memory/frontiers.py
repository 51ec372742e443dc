"""Walk along links by SQL, one frontier at a time: nothing is loaded that the walk does not reach.

What the caller may not see is dropped before the walk goes on, so it neither appears nor joins two visible memories.

Source: DESIGN §6 (Graph); docs/spec/requirements.md S3-11, S3-18.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from substrate import limits
from substrate.errors import Refused
from substrate.escape import quote
from substrate.memory.references import AMONG, Sight
from substrate.store.model import LinkRow, MemoryRow


class Edge(NamedTuple):
    """One link as a walk sees it: its two ends and its relation."""

    source: str
    target: str
    relation: str


class Astray(Exception):
    """A walk in memory led to what is not in the store, or not for the caller: rows were changed outside the log."""


class Frontiers:
    """Walks of one caller by SQL."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight

    def find(self, refs: Sequence[str]) -> list[str]:
        """Give the ids of the memories that these stand for. Raises what `references.find` raises."""
        return [row.id for row in self.sight.find(refs)]

    def reach(self, ids: Iterable[str], relation: str | None, reverse: bool, depth: int, most: int) -> list[MemoryRow]:
        """Read the visible memories among `ids` and what they lead to, by distance, then in the order of writing."""
        here, there = ("target_id", "source_id") if reverse else ("source_id", "target_id")
        found = self.sight.rows(ids)
        frontier = list(found)
        for _ in range(depth):
            if not frontier or len(found) >= most:
                break
            following = self.sight.r.query(
                f"SELECT DISTINCT {there} FROM memory_links WHERE {here} {AMONG}"
                + (" AND relation = ?" if relation else ""),
                (frontier, relation) if relation else (frontier,),
            )
            fresh = sorted(self.sight.ids({id for (id,) in following} - found.keys()))
            ordered = self.sight.r.query(
                f"SELECT id FROM memories WHERE id {AMONG} ORDER BY sequence, id LIMIT ?", (fresh, most - len(found))
            )
            frontier = [id for (id,) in ordered]
            found |= self.sight.rows(frontier)
        return list(found.values())[:most]

    def rows(self, ids: Sequence[str]) -> list[MemoryRow]:
        """Read the visible memories among these."""
        return list(self.sight.rows(ids).values())

    def named(self, edges: Sequence[Edge]) -> list[LinkRow]:
        """Read these links."""
        return list(self.sight.r.get_many(LinkRow, edges).values())

    def links(self, ids: Sequence[str], relation: str | None) -> list[LinkRow]:
        """Read the links between these memories, of one relation or of all."""
        where, params = f"source_id {AMONG} AND target_id {AMONG}", [ids, ids]
        if relation is not None:
            where, params = f"{where} AND relation = ?", [*params, relation]
        return self.sight.r.select(LinkRow, where, params)

    def corridor(self, start: str, goal: str, depth: int) -> list[Edge]:
        """Collect links, among them all that paths of at most `depth` can use, by growing the smaller of two frontiers.

        A path of that length has its first links within reach of one end and the rest within reach of the other.
        """
        seen = {start: {start}, goal: {goal}}
        frontiers = {start: {start}, goal: {goal}}
        edges: set[Edge] = set()
        for _ in range(depth):
            side = min((start, goal), key=lambda end: len(frontiers[end]))
            around = [Edge(*row) for row in self._links_at(frontiers[side])]
            near = {id for edge in around for id in edge[:2]}
            visible = self.sight.ids(near - seen[start] - seen[goal]) | seen[start] | seen[goal]
            edges |= {edge for edge in around if edge.source in visible and edge.target in visible}
            frontiers[side] = (near & visible) - seen[side]
            seen[side] |= frontiers[side]
            check_size(len(seen[start]) + len(seen[goal]), start, goal)
        return list(edges)

    def _links_at(self, ids: Iterable[str]) -> list[tuple[Any, ...]]:
        some = sorted(ids)
        return self.sight.r.query(
            f"SELECT source_id, target_id, relation FROM memory_links WHERE source_id {AMONG}"
            f" UNION SELECT source_id, target_id, relation FROM memory_links WHERE target_id {AMONG}",
            (some, some),
        )


def check_size(seen: int, start: str, goal: str) -> None:
    """Raise Refused when so many memories were seen between two that the search has to end."""
    if seen > limits.LINEAGE_NODES:
        raise Refused(
            f"over {limits.LINEAGE_NODES:,} memories lie between {quote(start)} and {quote(goal)}",
            hint="ask for a smaller depth",
        )
