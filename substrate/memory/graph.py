"""Walk from memory to memory along their links.

A walk reads one frontier of links at a time by SQL and drops what the caller may not see before it goes on, so a hidden
memory neither appears nor joins two visible ones. Only what can lie on an answer is handed to networkx, which is loaded
when paths are asked for and not before.

Source: DESIGN §6 (Graph); docs/spec/requirements.md S3-11, S3-18.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from substrate import limits
from substrate.errors import Refused
from substrate.escape import quote
from substrate.identifiers import check_limit
from substrate.memory.links import check_relation
from substrate.memory.references import AMONG, Sight, find
from substrate.scopes.caller import Caller
from substrate.store.model import LinkRow, MemoryRow
from substrate.store.transaction import Reader

if TYPE_CHECKING:
    import networkx


class Edge(NamedTuple):
    """One link as the walk sees it: its two ends and its relation."""

    source: str
    target: str
    relation: str


Way = Literal["out", "in"]


class Step(NamedTuple):
    """One memory on a path, and the link that led to it: `out` was followed as it points, `in` against it.

    The first step has neither.
    """

    id: str
    relation: str | None = None
    direction: Way | None = None


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The memories around one, nearest first, and the links between them; `left_out` when there were more."""

    rows: tuple[MemoryRow, ...]
    links: tuple[LinkRow, ...]
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths between two memories, shortest first; `left_out` when there were more than `limits.GRAPH_PATHS`."""

    paths: tuple[tuple[Step, ...], ...]
    left_out: bool = False

    def wire(self) -> dict[str, Any]:
        """Return the paths as JSON, each step with its id, relation and direction."""
        return {"paths": [[step._asdict() for step in path] for path in self.paths], "left_out": self.left_out}


def neighbourhood(
    r: Reader,
    caller: Caller,
    ref: str,
    *,
    relation: str | None = None,
    reverse: bool = False,
    depth: int | None = None,
) -> Neighbourhood:
    """Return what a memory leads to within `depth` links, or with `reverse` what leads to it.

    Rows stand by distance, then in the order they were written, at most `limits.GRAPH_NODES` of them. Links are those
    between the rows, of the relation asked for if any.
    """
    start = find(r, caller, ref)
    steps = check_limit(depth, field="depth", default=limits.GRAPH_DEPTH_DEFAULT, most=limits.GRAPH_DEPTH)
    reached = _reach(Sight(r, caller), [start.id], relation, reverse, steps, limits.GRAPH_NODES + 1)
    kept = reached[: limits.GRAPH_NODES]
    ids = [row.id for row in kept]
    where = f"source_id {AMONG} AND target_id {AMONG}"
    params: list[Any] = [ids, ids]
    if relation is not None:
        where, params = f"{where} AND relation = ?", [*params, relation]
    links = r.select(LinkRow, where, params, order="sequence, source_id, target_id, relation")
    return Neighbourhood(tuple(kept), tuple(links), len(reached) > len(kept))


def walk(
    r: Reader,
    caller: Caller,
    ids: Iterable[str],
    *,
    relation: str | None = "derived_from",
    reverse: bool = False,
    depth: int = limits.GRAPH_DEPTH,
) -> list[MemoryRow]:
    """Read the visible memories among `ids` and what they lead to along a relation, nearest first.

    With the defaults: a persona, the reflections it cites, down to the observations they rest on.
    """
    steps = check_limit(depth, field="depth", most=limits.GRAPH_DEPTH)
    return _reach(Sight(r, caller), ids, relation, reverse, steps, limits.GRAPH_NODES)


def paths(r: Reader, caller: Caller, source: str, target: str, *, depth: int | None = None) -> Paths:
    """Return every path from one memory to another of at most `depth` links, followed in both directions.

    No path visits a memory twice. Shorter ones come first, and paths of one length in the order of their steps, so the
    same store gives the same answer. From a memory to itself there is the path of one step.

    Raises NotFound for an end the caller may not read, Refused when over `limits.LINEAGE_NODES` memories lie between.
    """
    start, goal = find(r, caller, source).id, find(r, caller, target).id
    most = check_limit(depth, field="depth", default=limits.PATHS_DEPTH_DEFAULT, most=limits.GRAPH_DEPTH)
    if start == goal:
        return Paths(((Step(start),),))
    corridor = _corridor(Sight(r, caller), start, goal, most)
    near, far = _distances(corridor, start), _distances(corridor, goal)
    found: list[tuple[Step, ...]] = []
    for length in range(1, most + 1):
        room = limits.GRAPH_PATHS + 1 - len(found)
        found += islice(_paths_of_length(corridor, near, far, length), room)
    return Paths(tuple(found[: limits.GRAPH_PATHS]), len(found) > limits.GRAPH_PATHS)


def _reach(
    sight: Sight, ids: Iterable[str], relation: str | None, reverse: bool, depth: int, most: int
) -> list[MemoryRow]:
    """Read rows breadth first; rows of one distance in the order they were written."""
    if relation is not None:
        check_relation(relation)
    here, there = ("target_id", "source_id") if reverse else ("source_id", "target_id")
    found = sight.rows(ids)
    frontier = list(found)
    for _ in range(depth):
        if not frontier or len(found) >= most:
            break
        following = sight.r.query(
            f"SELECT DISTINCT {there} FROM memory_links WHERE {here} {AMONG}"
            + (" AND relation = ?" if relation else ""),
            (frontier, relation) if relation else (frontier,),
        )
        fresh = sorted(sight.ids({id for (id,) in following} - found.keys()))
        ordered = sight.r.query(
            f"SELECT id FROM memories WHERE id {AMONG} ORDER BY sequence, id LIMIT ?", (fresh, most - len(found))
        )
        frontier = [id for (id,) in ordered]
        found |= sight.rows(frontier)
    return list(found.values())[:most]


def _corridor(sight: Sight, start: str, goal: str, depth: int) -> list[Edge]:
    """Collect the links that paths of at most `depth` links can use, by growing the smaller of two frontiers; sorted.

    A path of that length has its first links within reach of one end and the rest within reach of the other.
    """
    seen = {start: {start}, goal: {goal}}
    frontiers = {start: {start}, goal: {goal}}
    edges: set[Edge] = set()
    for _ in range(depth):
        side = min((start, goal), key=lambda end: len(frontiers[end]))
        around = [Edge(*row) for row in _links_at(sight.r, frontiers[side])]
        near = {id for edge in around for id in edge[:2]}
        visible = sight.ids(near - seen[start] - seen[goal]) | seen[start] | seen[goal]
        edges |= {edge for edge in around if edge.source in visible and edge.target in visible}
        frontiers[side] = (near & visible) - seen[side]
        seen[side] |= frontiers[side]
        if len(seen[start]) + len(seen[goal]) > limits.LINEAGE_NODES:
            raise Refused(
                f"over {limits.LINEAGE_NODES:,} memories lie between {quote(start)} and {quote(goal)}",
                hint="ask for a smaller depth",
            )
    return sorted(edges, key=lambda edge: (*sorted(edge[:2]), edge.relation, edge.source))


def _links_at(r: Reader, ids: Iterable[str]) -> list[tuple[Any, ...]]:
    some = sorted(ids)
    return r.query(
        f"SELECT source_id, target_id, relation FROM memory_links WHERE source_id {AMONG}"
        f" UNION SELECT source_id, target_id, relation FROM memory_links WHERE target_id {AMONG}",
        (some, some),
    )


def _paths_of_length(
    edges: Iterable[Edge], near: Mapping[str, int], far: Mapping[str, int], length: int
) -> Iterator[tuple[Step, ...]]:
    """Yield the simple paths of exactly `length` links, ordered by their ids, then by relation and direction.

    `near` and `far` are the distances from the two ends; a link further away than `length` allows is left out.
    networkx walks neighbours in the order they were added, which is that of the sorted edges; parallel links come after
    that, so that they do not part paths over the same memories.
    """
    import networkx

    start, goal = next(iter(near)), next(iter(far))
    beyond = length + 1
    ties: dict[tuple[str, str], list[tuple[str, Way]]] = {}
    for edge in edges:
        ties.setdefault(edge[:2], []).append((edge.relation, "out"))
        ties.setdefault(edge[1::-1], []).append((edge.relation, "in"))
    graph: networkx.Graph[str] = networkx.Graph()
    graph.add_nodes_from((start, goal))
    for one, other in ties:
        if near.get(one, beyond) + 1 + far.get(other, beyond) <= length:
            graph.add_edge(*sorted((one, other)))
    for ids in networkx.all_simple_paths(graph, start, goal, cutoff=length):
        if len(ids) == length + 1:
            hops = list(pairwise(ids))
            for chosen in product(*(sorted(ties[hop]) for hop in hops)):
                steps = (Step(there, *tie) for (_, there), tie in zip(hops, chosen, strict=True))
                yield (Step(start), *steps)


def _distances(edges: Iterable[Edge], start: str) -> dict[str, int]:
    """Map each memory that links lead to, in either direction, to its distance from `start`, which comes first."""
    beside: dict[str, list[str]] = {}
    for edge in edges:
        beside.setdefault(edge.source, []).append(edge.target)
        beside.setdefault(edge.target, []).append(edge.source)
    found, frontier, steps = {start: 0}, [start], 0
    while frontier:
        frontier = list(dict.fromkeys(id for one in frontier for id in beside.get(one, ()) if id not in found))
        steps += 1
        found |= dict.fromkeys(frontier, steps)
    return found
