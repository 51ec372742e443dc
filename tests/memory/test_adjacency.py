"""The links in memory: the same answers as by SQL and by networkx, after whatever happened to the store."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import duckdb
import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate import limits
from substrate.errors import Integrity, NotFound
from substrate.memory import adjacency, graph, links, memories
from substrate.memory.adjacency import Adjacency
from substrate.memory.graph import Neighbourhood
from substrate.scopes.caller import Caller
from substrate.store.db import FILE
from substrate.store.model import LinkRow, key_of, row_id
from tests.memory.house import ABSENT, House

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE, NEVER = 0, 10**9


@pytest.fixture(autouse=True)
def loading(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Load the links with the first question; what `by_sql` asks comes from the store."""
    monkeypatch.setattr(graph, "ASKED", AT_ONCE)
    return monkeypatch


def held(house: House) -> Adjacency | None:
    return graph._kept[house.db.ledger].held


def by_sql(house: House, ask: object, *args: object, **options: object) -> object:
    """Ask the store, and leave what is in memory as it was."""
    kept = graph._kept.pop(house.db.ledger, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "ASKED", NEVER)
        found = house.read(ask, *args, **options)
    if kept is not None:
        graph._kept[house.db.ledger] = kept
    return found


def same(house: House, caller: Caller, ids: list[str]) -> None:
    """Hold the answers to many questions against those by SQL."""
    for one in ids:
        for reverse in (False, True):
            asked = (graph.neighbourhood, caller, one)
            assert house.read(*asked, reverse=reverse, depth=3) == by_sql(house, *asked, reverse=reverse, depth=3)
        for other in ids:
            asked = (graph.paths, caller, one, other)
            assert house.read(*asked, depth=4) == by_sql(house, *asked, depth=4)


def chain(house: House, count: int = 5) -> list[str]:
    rows = [house.remember(f"Number {n}.") for n in range(count)]
    for one, other in pairwise(rows):
        house.link(one, other)
    return [row.id for row in rows]


def test_a_row_id_is_taken_apart_as_it_was_put_together():
    key = ("mem-1:2", "mém-😀", "related_to")
    assert key_of(LinkRow, row_id(*key)) == key


def drawn(house: House, seed: int, nodes: int, edges: int) -> tuple[list[str], dict[str, frozenset[Caller]], list]:
    """Write a graph in which some memories are Ann's own, and some are for Scout; tell who may see which."""
    rng, ids, readers = Random(seed), [], {}
    everybody = frozenset({house.ann, house.ben, house.scout, house.rook})
    kinds = [({}, everybody)] * 3 + [
        ({"namespace": f"users/{house.ann.id}"}, frozenset({house.ann})),
        ({"applies_to": [house.scout.id]}, everybody - {house.rook}),
    ]
    written = set()
    with house.db.write(actor=house.ann.id) as tx:
        for n in range(nodes):
            options, who = rng.choice(kinds)
            ids.append(memories.remember(tx, house.ann, f"Number {n}.", **options).id)
            readers[ids[-1]] = who
        for _ in range(edges):
            source, target = rng.sample(ids, 2)
            relation = rng.choice(["related_to", "contradicts", "mentions"])
            links.link(tx, house.ann, source, target, relation)
            written.add((source, target, relation))
    return ids, readers, sorted(written)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), edges=st.integers(5, 60), depth=st.integers(1, 4))
def test_what_is_found_is_what_networkx_finds_among_what_the_caller_sees(
    shared: House, seed: int, edges: int, depth: int
):
    ids, readers, written = drawn(shared, seed, 20, edges)
    for caller in (shared.ann, shared.ben, shared.scout, shared.rook):
        seen = [id for id in ids if caller in readers[id]]
        plain = networkx.MultiDiGraph()
        plain.add_nodes_from(seen)
        plain.add_edges_from((s, t, r) for s, t, r in written if s in plain and t in plain)
        for start in seen[:2]:
            found: Neighbourhood = shared.read(graph.neighbourhood, caller, start, depth=depth)
            near = networkx.single_source_shortest_path_length(plain, start, cutoff=depth)
            assert [row.id for row in found.rows] == sorted(near, key=lambda id: (near[id], ids.index(id)))
            between = plain.subgraph(near).edges(keys=True)
            assert {(row.source_id, row.target_id, row.relation) for row in found.links} == set(between)
        both = plain.to_undirected(as_view=True)
        for start, goal in zip(seen, seen[5:8], strict=False):
            paths = shared.read(graph.paths, caller, start, goal, depth=depth)
            nodes = {tuple(step.id for step in path) for path in paths.paths}
            assert paths.left_out or nodes == {*map(tuple, networkx.all_simple_paths(both, start, goal, cutoff=depth))}
            lengths = [len(path) for path in paths.paths]
            assert lengths == sorted(lengths)


@pytest.fixture
def drawing(house: House) -> list[str]:
    return drawn(house, 7, 14, 24)[0]


def test_the_map_follows_what_is_written_and_is_not_read_anew(house: House, drawing: list[str]):
    same(house, house.ann, drawing[:5])
    before = held(house)
    one = house.remember("One more.")
    house.link(one, house.get(drawing[0]), "contradicts")
    house.link(house.get(drawing[1]), one, "mentions")
    house.link(house.get(drawing[1]), one, "mentions", valid_until="2030-01-01")  # a link that is there gets its end
    same(house, house.ann, [one.id, *drawing[:4]])
    assert held(house) is before
    with house.db.read() as r:
        assert len(before.between(before.numbers([one.id, *drawing])).source) == r.count(LinkRow)


def test_what_came_since_is_sorted_in_when_it_is_much(house: House, drawing: list[str], loading: pytest.MonkeyPatch):
    loading.setattr(adjacency, "TAIL", 2)
    same(house, house.ann, drawing[:3])
    before = held(house)
    fresh = chain(house)
    same(house, house.ann, [fresh[0], fresh[-1], *drawing[:2]])
    house.link(house.get(fresh[0]), house.get(drawing[0]))
    same(house, house.ann, [fresh[0], fresh[-1], *drawing[:2]])
    assert held(house) is before


def test_a_log_too_far_ahead_is_read_anew(house: House, drawing: list[str], loading: pytest.MonkeyPatch):
    loading.setattr(adjacency, "AGAIN", 1)
    same(house, house.ann, drawing[:2])
    before = held(house)
    fresh = chain(house)
    same(house, house.ann, [fresh[0], fresh[-1], *drawing[:2]])
    assert held(house) is not before


WRITER = """
import sys
from pathlib import Path
from substrate.memory import links, memories
from substrate.scopes import principals
from substrate.store.database import Database
home, state, here, there = sys.argv[1:]
db = Database.open(Path(home), state_dir=Path(state))
with db.read() as r:
    ann = principals.caller_for(r, "ann")
with db.write(actor=ann.id) as tx:
    new = memories.remember(tx, ann, "From elsewhere.")
    links.link(tx, ann, here, new.id, "related_to")
    links.link(tx, ann, new.id, there, "related_to")
db.close()
print(new.id)
"""


def test_what_another_process_writes_is_walked(house: House):
    one, two = house.remember("One."), house.remember("Two.")
    assert house.read(graph.paths, house.ann, one.id, two.id).paths == ()
    before = held(house)
    folders = [str(house.db.home), str(house.db.state_dir)]
    house.db.close()
    done = subprocess.run(
        [sys.executable, "-c", WRITER, *folders, one.id, two.id], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (path,) = house.read(graph.paths, house.ann, one.id, two.id).paths
    assert [step.id for step in path] == [one.id, done.stdout.strip(), two.id]
    assert held(house) is before


def test_a_memory_that_was_forgotten_stays_a_tombstone_on_the_way_and_nothing_is_kept_on_disk(house: House):
    ids = chain(house)
    files = sorted(path.name for path in house.db.home.iterdir())
    same(house, house.ann, ids)
    assert sorted(path.name for path in house.db.home.iterdir()) == files
    house.forget(house.get(ids[2]))
    same(house, house.ann, ids)
    house.db.rewrite()
    same(house, house.ann, ids)
    near = house.read(graph.neighbourhood, house.ann, ids[0], depth=4)
    assert [(row.id, row.content is None) for row in near.rows] == [(id, id == ids[2]) for id in ids]


@pytest.fixture
def edit(house: House) -> Iterator[object]:
    """Change the file behind the store's back."""

    def run(sql: str, *parameters: object) -> None:
        house.db.close()
        with duckdb.connect(str(house.db.home / FILE)) as raw:
            raw.execute(sql, list(parameters))

    yield run


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE memories SET content = 'Something else.' WHERE id = ?",
        "UPDATE memories SET salt = NULL WHERE id = ?",
        "UPDATE memory_links SET valid_until = '2020-01-01T00:00:00.000000Z' WHERE source_id = ?",
        "DELETE FROM memory_links WHERE source_id = ?",
        "DELETE FROM memories WHERE id = ?",
    ],
)
@pytest.mark.parametrize("ground", [AT_ONCE, NEVER])
def test_a_row_or_link_on_the_way_that_was_tampered_with_is_refused(
    house: House, edit: object, loading: pytest.MonkeyPatch, sql: str, ground: int
):
    loading.setattr(graph, "ASKED", ground)
    loading.setattr(limits, "VERIFY_ROWS", 0)  # as in a large store: only what is answered is held against the log
    ids = chain(house)
    ask = (graph.paths, house.ann, ids[0], ids[-1])
    assert len(house.read(*ask).paths) == 1
    edit(sql, ids[2])
    if ground == NEVER and sql.startswith("DELETE"):
        return  # what is not there is not found: the check of the whole store is what tells
    with pytest.raises(Integrity):
        house.read(*ask)


def test_a_map_of_a_file_that_was_edited_and_put_right_leads_nobody_astray(
    house: House, edit: object, loading: pytest.MonkeyPatch
):
    loading.setattr(limits, "VERIFY_ROWS", 0)
    ids = chain(house)
    own = house.remember("Mine.", namespace=f"users/{house.ann.id}")
    house.link(house.get(ids[0]), own)
    house.link(own, house.get(ids[4]))
    edit("UPDATE memories SET namespace = 'global' WHERE id = ?", own.id)
    house.read(graph.paths, house.ben, ids[1], ids[2])
    edit(f"UPDATE memories SET namespace = 'users/{house.ann.id}' WHERE id = ?", own.id)
    found = house.read(graph.paths, house.ben, ids[0], ids[4])
    assert [[step.id for step in path] for path in found.paths] == [ids]
    assert held(house) is None
    same(house, house.ben, ids)


def test_links_are_loaded_once_questions_have_cost_as_much(
    house: House, drawing: list[str], loading: pytest.MonkeyPatch
):
    loading.setattr(graph, "ASKED", 3)
    for asked in range(4):
        house.read(graph.neighbourhood, house.ann, drawing[0])
        assert (held(house) is not None) is (asked > 2)


def test_a_store_with_too_many_links_is_asked_by_sql(house: House, drawing: list[str], loading: pytest.MonkeyPatch):
    loading.setattr(limits, "GRAPH_LINKS", 5)
    same(house, house.ann, drawing[:2])
    assert held(house) is None


def test_a_question_that_is_refused_leaves_the_links_loaded(house: House, drawing: list[str]):
    house.read(graph.neighbourhood, house.ann, drawing[0])
    before = held(house)
    assert before is not None
    with pytest.raises(NotFound):
        house.read(graph.paths, house.ann, drawing[0], ABSENT)
    assert held(house) is before


def test_a_transaction_walks_what_it_has_put_itself(house: House, drawing: list[str]):
    house.read(graph.neighbourhood, house.ann, drawing[0])
    with house.db.write(actor=house.ann.id) as tx:
        fresh = memories.remember(tx, house.ann, "Just now.")
        links.link(tx, house.ann, drawing[0], fresh.id, "related_to")
        assert fresh in graph.neighbourhood(tx, house.ann, drawing[0], depth=1).rows
