"""Find the communities among the sources: the section candidates of a portrait.

Source: docs/spec/persona.md §2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curator.persona.source import Source

if TYPE_CHECKING:
    from curator.persona.similarity import Matrix

NEIGHBOURS: Final = 8  # closest sources each one is tied to
TIED: Final = 0.3  # similarity below which two sources are not tied
TIED_WORDS: Final = 0.1  # the same for overlap of words
KIN: Final = 0.2  # weight an ancestor in common adds
FINENESS: Final = 1.4  # resolution of the communities: above 1 they are more and smaller
SEED: Final = 1  # of the walk through the graph: any fixed number gives the same clusters for the same rows


@dataclass(frozen=True, slots=True)
class Cluster:
    """Hold sources that speak of the same, oldest first, and the days of the first and the last."""

    members: tuple[str, ...]
    first: str
    last: str


def communities(sources: Sequence[Source], close: Matrix, embedded: bool) -> list[Cluster]:
    """Group the sources, given oldest first with their n × n similarities; the largest group first, ties by age.

    Every source is in exactly one group. Sources that share a `derived_from` ancestor are drawn together.
    """
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(sources)))
    floor = TIED if embedded else TIED_WORDS
    for at in range(len(sources)):
        nearest = sorted(
            (-float(value), other) for other, value in enumerate(close[at]) if other != at and value >= floor
        )
        graph.add_weighted_edges_from((at, other, -value) for value, other in nearest[:NEIGHBOURS])
    holders: dict[str, list[int]] = {}
    for at, source in enumerate(sources):
        for ancestor in sorted(source.ancestors):
            for other in holders.setdefault(ancestor, [])[-NEIGHBOURS:]:
                weight = graph.get_edge_data(other, at, {"weight": 0.0})["weight"]
                graph.add_edge(other, at, weight=weight + KIN)
            holders[ancestor].append(at)
    if not graph:
        return []
    groups = nx.community.louvain_communities(graph, weight="weight", resolution=FINENESS, seed=SEED)
    ordered = sorted((sorted(group) for group in groups), key=lambda group: (-len(group), group[0]))
    return [
        Cluster(tuple(sources[at].id for at in group), sources[group[0]].day, sources[group[-1]].day)
        for group in ordered
    ]
