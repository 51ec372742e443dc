"""Walk from memory to memory along their links.

A walk takes one frontier of links at a time and drops what the caller may not see before it goes on, so a hidden memory
neither appears nor joins two visible ones. A process that asks once does so by SQL (`frontiers`); one that goes on
asking keeps the links in memory (`mapped`). Only what can lie on an answer is handed to networkx, which is loaded when
there are paths and not before, and every row and link on an answer is read from the store and verified.

Source: DESIGN §6 (Graph); docs/spec/requirements.md S3-11, S3-18.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from substrate import limits
from substrate.identifiers import check_limit
from substrate.memory.frontiers import Astray, Edge, Frontiers
from substrate.memory.links import check_relation
from substrate.memory.references import Sight
from substrate.scopes.caller import Caller
from substrate.store.ledger import Ledger
from substrate.store.model import LinkRow, MemoryRow
from substrate.store.transaction import Reader

if TYPE_CHECKING:
    import networkx

    from substrate.memory.adjacency import Adjacency
    from substrate.memory.mapped import Mapped

A = TypeVar("A")
Way = Literal["out", "in"]

ASKED = 5  # questions by SQL that cost about what loading does; both grow with the links (benchmarks.graph_speed)


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
    steps = check_limit(depth, field="depth", default=limits.GRAPH_DEPTH_DEFAULT, most=limits.GRAPH_DEPTH)
    if relation is not None:
        check_relation(relation)

    def ask(ground: Frontiers | Mapped) -> Neighbourhood:
        reached = ground.reach(ground.find([ref]), relation, reverse, steps, limits.GRAPH_NODES + 1)
        kept = reached[: limits.GRAPH_NODES]
        links = ground.links([row.id for row in kept], relation)
        links.sort(key=lambda link: (link.sequence, link.source_id, link.target_id, link.relation))
        return Neighbourhood(tuple(kept), tuple(links), len(reached) > len(kept))

    return _answer(Sight(r, caller), ask)


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
    if relation is not None:
        check_relation(relation)
    from_ = list(ids)
    return _answer(Sight(r, caller), lambda ground: ground.reach(from_, relation, reverse, steps, limits.GRAPH_NODES))


def paths(r: Reader, caller: Caller, source: str, target: str, *, depth: int | None = None) -> Paths:
    """Return every path from one memory to another of at most `depth` links, followed in both directions.

    No path visits a memory twice. Shorter ones come first, and paths of one length in the order of their steps, so the
    same store gives the same answer. From a memory to itself there is the path of one step.

    Raises NotFound for an end the caller may not read, Refused when over `limits.LINEAGE_NODES` memories lie between.
    """
    most = check_limit(depth, field="depth", default=limits.PATHS_DEPTH_DEFAULT, most=limits.GRAPH_DEPTH)

    def ask(ground: Frontiers | Mapped) -> Paths:
        start, goal = ground.find([source, target])
        if start == goal:
            return _confirmed(ground, Paths(((Step(start),),)))
        corridor = sorted(
            ground.corridor(start, goal, most), key=lambda edge: (*sorted(edge[:2]), edge.relation, edge.source)
        )
        return _confirmed(ground, _paths(corridor, start, goal, most) if corridor else Paths(()))

    return _answer(Sight(r, caller), ask)


class _Kept:
    """What a process keeps of one open store: the number of its questions by SQL, and the links, once loaded.

    Loading waits until the questions have cost as much as loading does. So a command that asks once loads nothing, and
    one that asks often pays at most twice, however often it will turn out to be.
    """

    def __init__(self) -> None:
        self.asked = 0
        self.held: Adjacency | None = None


_kept: WeakKeyDictionary[Ledger, _Kept] = WeakKeyDictionary()
_guard = threading.Lock()


def _answer(sight: Sight, ask: Callable[[Frontiers | Mapped], A]) -> A:
    """Put a question to the links in memory where they are loaded, or worth loading, and to the store otherwise.

    Whoever reads holds the store, so what is kept of it is used by one thread at a time.
    """
    r = sight.r
    if type(r) is not Reader:  # a transaction sees what the log does not have; a tolerant reader leaves rows out
        return ask(Frontiers(sight))
    with _guard:
        kept = _kept.setdefault(r.ledger, _Kept())
    if kept.held is not None and not kept.held.follow(r):
        kept.held = None
    if kept.held is None and kept.asked >= ASKED and r.count(LinkRow) <= limits.GRAPH_LINKS:
        from substrate.memory.adjacency import Adjacency

        kept.held, kept.asked = Adjacency(r), 0
    if kept.held is not None:
        from substrate.memory.mapped import Mapped

        try:
            return ask(Mapped(sight, kept.held))
        except Astray:
            kept.held = None
    kept.asked += 1
    return ask(Frontiers(sight))


def _confirmed(ground: Frontiers | Mapped, found: Paths) -> Paths:
    """Read every memory and link on the paths, each verified; what a tolerant reader leaves out is on no path."""
    ends = {path[at].id for path in found.paths[:1] for at in (0, -1)}  # read when they were asked for
    ids = {step.id for path in found.paths for step in path} - ends
    edges = {hop: _edge(*hop) for path in found.paths for hop in pairwise(path)}
    rows = {row.id for row in ground.rows(sorted(ids))} | ends
    links = {Edge(row.source_id, row.target_id, row.relation) for row in ground.named(sorted({*edges.values()}))}
    kept = [
        path
        for path in found.paths
        if all(step.id in rows for step in path) and all(edges[hop] in links for hop in pairwise(path))
    ]
    return Paths(tuple(kept), found.left_out)


def _edge(here: Step, there: Step) -> Edge:
    """Give the link that a step was made along."""
    ends = (here.id, there.id) if there.direction == "out" else (there.id, here.id)
    return Edge(*ends, there.relation or "")


def _paths(corridor: Sequence[Edge], start: str, goal: str, most: int) -> Paths:
    """Find the paths among sorted links, shortest first."""
    near, far = _distances(corridor, start), _distances(corridor, goal)
    found: list[tuple[Step, ...]] = []
    for length in range(1, most + 1):
        room = limits.GRAPH_PATHS + 1 - len(found)
        found += islice(_paths_of_length(corridor, near, far, length), room)
    return Paths(tuple(found[: limits.GRAPH_PATHS]), len(found) > limits.GRAPH_PATHS)


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
