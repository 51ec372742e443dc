"""Walking from memory to memory: neighbourhoods, paths, and the way down from a persona."""

import json
import subprocess
import sys
from pathlib import Path

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate import limits
from substrate.errors import Invalid, NotFound, Refused
from substrate.memory import graph, links, memories
from substrate.memory.graph import Step
from substrate.store.model import MemoryRow
from tests.memory.house import ABSENT, House

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["by SQL", "in memory"], autouse=True)
def ground(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Ask everything of both: the store, and the links in memory."""
    monkeypatch.setattr(graph, "ASKED", 0 if request.param == "in memory" else 10**9)
    return str(request.param)


def story(house: House) -> dict[str, MemoryRow]:
    """Two observations under two reflections under one persona, and a stray."""
    rows = {"seen": house.remember("Seen."), "heard": house.remember("Heard.")}
    rows["first"] = house.reflect("First.", rows["seen"], entity_id="alice").row
    rows["second"] = house.reflect("Second.", rows["seen"], rows["heard"], entity_id="alice").row
    rows["persona"] = house.persona("alice", [rows["first"], rows["second"]])
    rows["stray"] = house.remember("Stray.")
    return rows


@pytest.mark.requirement("S3-10", "S3-11", "S3-2")
def test_a_walk_leads_from_a_persona_to_its_reflections_and_on_to_their_observations(house: House):
    rows = story(house)
    walked = house.read(graph.walk, house.ann, [rows["persona"].id])
    assert walked == [rows[name] for name in ("persona", "first", "second", "seen", "heard")]
    near = house.read(graph.neighbourhood, house.ann, rows["persona"].id, relation="derived_from")
    assert list(near.rows) == walked
    assert {(link.source_id, link.target_id) for link in near.links} == {
        (rows[one].id, rows[other].id)
        for one, other in [
            ("persona", "first"),
            ("persona", "second"),
            ("first", "seen"),
            ("second", "seen"),
            ("second", "heard"),
        ]
    }
    assert not near.left_out


@pytest.mark.requirement("S3-18", "S3-11")
def test_backwards_from_an_observation_stand_the_personas_that_rest_on_it(house: House):
    rows = story(house)
    back = house.read(graph.neighbourhood, house.ann, rows["heard"].id, relation="derived_from", reverse=True)
    assert list(back.rows) == [rows[name] for name in ("heard", "second", "persona")]
    assert list(house.read(graph.neighbourhood, house.ann, rows["heard"].id).rows) == [rows["heard"]]
    one = house.read(graph.neighbourhood, house.ann, rows["seen"].id, reverse=True, depth=1)
    assert list(one.rows) == [rows[name] for name in ("seen", "first", "second")]


def test_a_relation_that_was_asked_for_is_the_only_one_walked(house: House):
    rows = story(house)
    house.link(rows["first"], rows["stray"], "contradicts")
    assert rows["stray"] in house.read(graph.neighbourhood, house.ann, rows["persona"].id).rows
    only = house.read(graph.neighbourhood, house.ann, rows["persona"].id, relation="derived_from")
    assert rows["stray"] not in only.rows
    assert {link.relation for link in only.links} == {"derived_from"}
    with pytest.raises(Invalid, match="no relation"):
        house.read(graph.neighbourhood, house.ann, rows["persona"].id, relation="likes")


def test_a_neighbourhood_is_cut_to_its_bound_and_says_so(house: House, monkeypatch: pytest.MonkeyPatch):
    rows = story(house)
    monkeypatch.setattr(limits, "GRAPH_NODES", 4)
    near = house.read(graph.neighbourhood, house.ann, rows["persona"].id)
    assert list(near.rows) == [rows[name] for name in ("persona", "first", "second", "seen")]
    assert near.left_out
    assert all(link.target_id != rows["heard"].id for link in near.links)


@pytest.mark.requirement("S3-11")
def test_a_path_names_each_link_and_the_direction_it_was_walked(house: House):
    rows = story(house)
    found = house.read(graph.paths, house.ann, rows["persona"].id, rows["heard"].id)
    assert found.paths[0] == (
        Step(rows["persona"].id),
        Step(rows["second"].id, "derived_from", "out"),
        Step(rows["heard"].id, "derived_from", "out"),
    )
    assert [len(path) - 1 for path in found.paths] == [2, 4]
    assert [step.direction for step in found.paths[1]] == [None, "out", "out", "in", "out"]
    assert found.wire()["paths"][0][0] == {"id": rows["persona"].id, "relation": None, "direction": None}
    assert json.loads(json.dumps(found.wire()))["left_out"] is False


def test_two_links_between_the_same_memories_are_two_paths(house: House):
    rows = story(house)
    house.link(rows["heard"], rows["seen"], "contradicts")
    house.link(rows["seen"], rows["heard"], "contradicts")
    found = house.read(graph.paths, house.ann, rows["seen"].id, rows["heard"].id, depth=1)
    ways = [(path[1].relation, path[1].direction) for path in found.paths]
    assert sorted(ways) == [("contradicts", "in"), ("contradicts", "out")]


def test_from_a_memory_to_itself_there_is_one_step_and_to_a_stray_no_path(house: House):
    rows = story(house)
    assert house.read(graph.paths, house.ann, rows["seen"].id, rows["seen"].id).paths == ((Step(rows["seen"].id),),)
    assert house.read(graph.paths, house.ann, rows["seen"].id, rows["stray"].id, depth=10).paths == ()


def test_more_paths_than_an_answer_holds_are_cut_shortest_first(house: House, monkeypatch: pytest.MonkeyPatch):
    rows = story(house)
    monkeypatch.setattr(limits, "GRAPH_PATHS", 1)
    found = house.read(graph.paths, house.ann, rows["persona"].id, rows["heard"].id)
    assert [len(path) for path in found.paths] == [3]
    assert found.left_out


def test_a_corridor_too_large_to_search_is_refused(house: House, monkeypatch: pytest.MonkeyPatch):
    rows = story(house)
    monkeypatch.setattr(limits, "LINEAGE_NODES", 3)
    with pytest.raises(Refused, match="smaller depth"):
        try:
            house.read(graph.paths, house.ann, rows["persona"].id, rows["heard"].id)
        except Refused as error:
            raise Refused(error.hint) from error


@pytest.mark.parametrize("depth", [0, 11, -1, "x", 1.5, True])
def test_a_depth_out_of_bounds_is_refused(house: House, depth: object):
    one = house.remember("One.")
    for ask in (
        lambda: house.read(graph.neighbourhood, house.ann, one.id, depth=depth),
        lambda: house.read(graph.paths, house.ann, one.id, one.id, depth=depth),
        lambda: house.read(graph.walk, house.ann, [one.id], depth=depth),
    ):
        with pytest.raises(Invalid):
            ask()


def test_a_hidden_memory_neither_appears_nor_joins_two_visible_ones(house: House):
    one, two = house.remember("One."), house.remember("Two.")
    private = house.remember("Mine.", namespace=f"users/{house.ann.id}")
    restricted = house.remember("For Scout.", applies_to=[house.scout.id])
    for hidden in (private, restricted):
        house.link(one, hidden)
        house.link(hidden, two)
    assert len(house.read(graph.paths, house.ann, one.id, two.id).paths) == 2
    assert house.read(graph.paths, house.rook, one.id, two.id).paths == ()
    assert [len(path) for path in house.read(graph.paths, house.scout, one.id, two.id).paths] == [3]
    near = house.read(graph.neighbourhood, house.rook, one.id)
    assert (near.rows, near.links) == ((one,), ())
    assert house.read(graph.walk, house.rook, [private.id, one.id], relation=None) == [one]


def test_an_end_that_the_caller_may_not_read_is_answered_like_an_absent_one(house: House):
    one = house.remember("One.")
    private = house.remember("Mine.", namespace=f"users/{house.ann.id}")
    answers = []
    for id in (private.id, ABSENT):
        for ask in (
            lambda id=id: house.read(graph.paths, house.ben, one.id, id),
            lambda id=id: house.read(graph.paths, house.ben, id, one.id),
            lambda id=id: house.read(graph.neighbourhood, house.ben, id),
        ):
            with pytest.raises(NotFound) as failed:
                ask()
            answers.append(str(failed.value.as_json()).replace(id, "…"))
    assert len(set(answers)) == 1


def test_reading_without_paths_loads_no_networkx_and_no_numpy():
    loaded = "import sys, substrate.memory.graph; print({'networkx', 'numpy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


EDGES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from(["related_to", "contradicts", "mentions"])).filter(
        lambda edge: edge[0] != edge[1]
    ),
    max_size=16,
    unique=True,
)


def whole_graph_paths(ids: list[str], edges: list[tuple[int, int, str]], ends: tuple[str, str], depth: int) -> list:
    """Find the paths with networkx on the whole graph, to hold the corridor against."""
    whole: networkx.MultiGraph = networkx.MultiGraph()
    whole.add_nodes_from(ids)
    for source, target, relation in edges:
        whole.add_edge(ids[source], ids[target], key=(relation, ids[source]))
    found = [
        (Step(ends[0]), *(Step(there, key[0], "out" if key[1] == here else "in") for here, there, key in path))
        for path in networkx.all_simple_edge_paths(whole, *ends, cutoff=depth)
    ]
    return sorted(found, key=in_order)


def in_order(path: tuple[Step, ...]) -> tuple[object, ...]:
    return len(path), [step.id for step in path], path


@settings(max_examples=40, deadline=None)
@given(
    edges=EDGES, ends=st.tuples(st.integers(0, 6), st.integers(0, 6)), depth=st.integers(1, 5), hidden=st.integers(0, 9)
)
def test_paths_are_those_of_networkx_on_the_whole_visible_graph(
    shared: House, edges: list[tuple[int, int, str]], ends: tuple[int, int], depth: int, hidden: int
):
    with shared.db.write(actor=shared.ann.id) as tx:
        ids = []
        for n in range(7):
            readers = [shared.scout.id] if n == hidden and n not in ends else None
            ids.append(memories.remember(tx, shared.ann, f"Number {n}.", applies_to=readers).id)
        for source, target, relation in edges:
            links.link(tx, shared.ann, ids[source], ids[target], relation)
    found = shared.read(graph.paths, shared.rook, ids[ends[0]], ids[ends[1]], depth=depth).paths
    if ends[0] == ends[1]:
        assert found == ((Step(ids[ends[0]]),),)
        return
    seen = [edge for edge in edges if hidden in ends or hidden not in edge[:2]]
    expected = whole_graph_paths(ids, seen, (ids[ends[0]], ids[ends[1]]), depth)
    assert list(found) == expected
