"""Measure `paths` and `graph` in a large store, beside networkx on a graph that is loaded already, and beside peers.

    python -m benchmarks.graph_speed [--nodes 100000] [--links 300000] [--questions 200] [--seed 7] [--store DIR]
                                     [--peer NAME=PYTHON ...] [--broken slow|blind]

The store is filled through its log, 500 rows a transaction, and kept in ``--store`` for the next run if that is given.
One memory in ten is the caller's own, one in ten for one agent; the questions are a stranger's, who sees neither. Half
of the pairs asked about are joined by a walk, half are drawn by chance; depths are 2 to 4. Rows printed:

    by SQL           a process that asks once: nothing is loaded
    loading          the links are read into memory, as a process does after many questions
    in memory        the same questions as by SQL, asked for the first time
    again            once more: the commitments of what is answered are in memory too, as in a process that lives long
    after a write    each question after a link was written
    networkx         every simple path on the neighbourhood of the two ends, preloaded; its time alone
    NAME             a peer (kuzu, ladybug, falkordblite), run by a Python that has it, the same visible graph in it

Targets, for those asked again: the 95th percentile of paths and graph is at most ``LIMIT`` ms, that of paths ``TIMES``
that of networkx, and its median less than each peer's; every answer is the one networkx gives. Compared is the
processor's time of the process, threads included, which other work on the machine disturbs less than the time on the
wall; that is printed too and is what a peer is compared by, since the work of one is done in another process.

Exit 1 when a target is missed. ``--broken slow`` loads the links for every question, ``--broken blind`` does not follow
the log; both must fail.

Source: DESIGN §6 (Graph); docs/concepts/graph.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import networkx

from benchmarks.startup import machine, version
from substrate.home import Memory
from substrate.memory import graph
from substrate.memory.adjacency import Adjacency
from substrate.memory.links import RELATIONS
from substrate.memory.writing import new_link, written_by
from substrate.scopes import principals
from substrate.scopes.caller import Caller
from substrate.store.model import LinkRow, MemoryRow

LIMIT = 20.0  # milliseconds, 95th percentile
TIMES = 3.0  # networkx on the preloaded neighbourhood
BATCH = 500
DEPTHS = (2, 3, 4)
AT_ONCE, NEVER = 0, 10**9

Question = tuple[str, str, int]
Taken = tuple[float, float]  # seconds of the processor, seconds on the wall
Network = Any  # networkx.Graph[str]


@dataclass(frozen=True)
class World:
    """The store as `stranger` sees it, and the same as a graph: what is visible, links both ways."""

    memory: Memory
    stranger: Caller
    visible: Network
    directed: Network

    def paths(self, start: str, goal: str, depth: int) -> graph.Paths:
        """Ask as the action does."""
        with self.memory.read() as r:
            return graph.paths(r, self.stranger, start, goal, depth=depth)

    def around(self, start: str, _: str, depth: int) -> graph.Neighbourhood:
        """Ask as the action does."""
        with self.memory.read() as r:
            return graph.neighbourhood(r, self.stranger, start, depth=depth)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures and answer the exit code."""
    options = _arguments().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        world = opened(Path(options.store or folder), options.nodes, options.links, options.seed)
        try:
            failures = measure(world, options)
        finally:
            world.memory.close()
    print(f"command   python -m benchmarks.graph_speed {' '.join(sys.argv[1:] if argv is None else argv)}".rstrip())
    print(f"n         {options.questions} questions, {options.nodes:,} memories, {options.links:,} links")
    print(f"seed      {options.seed}")
    print(f"machine   {machine()}")
    print(f"version   {version()}")
    for failure in failures:
        print("missed:", failure)
    return int(bool(failures))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=300_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--store", help="a folder in which the store is kept")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--broken", choices=("slow", "blind"), help="take something away; must fail")
    return parser


def measure(world: World, options: argparse.Namespace) -> list[str]:
    """Print a row for each way to ask; give the targets that are missed."""
    asked = list(questions(world.visible, options.questions, options.seed))
    print("way             what    processor p50       p95     wall p50       p95   ms")
    with broken(options.broken):
        graph.ASKED = NEVER
        few = asked[: max(10, len(asked) // 4)]
        slow = [timed(world.paths, few), timed(world.around, few)]
        show("by SQL", "paths", slow[0])
        show("by SQL", "graph", slow[1])
        graph.ASKED = AT_ONCE
        loading = timed(world.paths, asked[:1])
        show("loading", "", loading)
        for way in ("in memory", "again"):
            ours, around = timed(world.paths, asked), timed(world.around, asked)
            show(way, "paths", ours)
            show(way, "graph", around)
        failures = [*wrong(world, asked)]
        written, more = after_writes(world, few, options.seed)
        show("after a write", "paths", written)
        failures += more
    theirs = timed(*preloaded(world.visible, asked))
    show("networkx", "paths", theirs)
    print(f"loading costs as much as {loading[0][0] / mean(slow[0]):.1f} questions about paths by SQL")
    failures += [
        f"{what} take {1000 * p95(taken):.1f} ms at the 95th percentile, at most {LIMIT:g}"
        for what, taken in (("paths", ours), ("graph", around))
        if 1000 * p95(taken) > LIMIT
    ]
    ratio = p95(ours) / p95(theirs)
    print(f"paths take {ratio:.2f} times as long as networkx on the preloaded neighbourhood, at most {TIMES:g}")
    if ratio > TIMES:
        failures.append(f"paths take {ratio:.2f} times as long as networkx, at most {TIMES:g}")
    for peer in options.peer:
        failures += beside(peer, world.visible, asked, ours)
    return failures


class broken:
    """Take away what is measured: the map itself, or that it follows the log."""

    def __init__(self, how: str | None) -> None:
        self.how, self.follow = how, Adjacency.follow

    def __enter__(self) -> None:
        if self.how == "slow":
            Adjacency.follow = lambda *_: False  # type: ignore[method-assign]
        elif self.how == "blind":
            Adjacency.follow = lambda *_: True  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None:
        Adjacency.follow = self.follow  # type: ignore[method-assign]


def timed(ask: Callable[..., object], asked: Sequence[Question]) -> list[Taken]:
    """Ask each question once; the first, which warms up, is asked twice."""
    found = []
    for question in asked[:1] + list(asked) if len(asked) > 1 else asked:
        wall, used = time.perf_counter(), time.process_time()
        ask(*question)
        found.append((time.process_time() - used, time.perf_counter() - wall))
    return found[-len(asked) :]


def preloaded(whole: Network, asked: Sequence[Question]) -> tuple[Callable[..., object], Sequence[Question]]:
    """Load the neighbourhood of both ends of each question; give what walks it."""
    near = {}
    for start, goal, depth in asked:
        ids = {id for end in (start, goal) for id in networkx.single_source_shortest_path_length(whole, end, depth)}
        near[start, goal, depth] = networkx.Graph(whole.subgraph(ids))

    def walk(start: str, goal: str, depth: int) -> list[list[str]]:
        return list(islice(networkx.all_simple_paths(near[start, goal, depth], start, goal, cutoff=depth), 1_000))

    return walk, asked


def wrong(world: World, asked: Sequence[Question]) -> Iterator[str]:
    """Yield each answer that is not the one networkx gives."""
    for start, goal, depth in asked:
        found = world.paths(start, goal, depth)
        expected = {*map(tuple, networkx.all_simple_paths(world.visible, start, goal, cutoff=depth))}
        if not found.left_out and {tuple(step.id for step in path) for path in found.paths} != expected:
            yield f"the paths from {start} to {goal} are {len(found.paths)}, those of networkx {len(expected)}"
        near = networkx.single_source_shortest_path_length(world.directed, start, depth)
        if {row.id for row in world.around(start, goal, depth).rows} != near.keys():
            yield f"around {start} there are not the memories that networkx finds"


def after_writes(world: World, asked: Sequence[Question], seed: int) -> tuple[list[Taken], list[str]]:
    """Write a link that joins two memories, and ask about them at once."""
    rng, taken, failures = Random(seed + 1), [], []
    ids = list(world.visible)
    for _ in asked:
        start, goal = rng.sample(ids, 2)
        with world.memory.write() as tx:
            row = new_link(tx, world.memory.caller, start, goal, "related_to")
            tx.put(row)
            tx.event("memory_linked", subject=start, namespace="global", payload={"id": start})
        world.visible.add_edge(start, goal)
        world.directed.add_edge(start, goal)
        taken += timed(world.paths, [(start, goal, 3)])
        failures += wrong(world, [(start, goal, 2)])
    return taken, failures


def questions(whole: Network, count: int, seed: int) -> Iterator[Question]:
    """Draw pairs: in turn the ends of a walk as long as the depth, and any two."""
    rng, ids = Random(seed), sorted(whole)
    for at in range(count):
        depth, start = DEPTHS[at // 2 % len(DEPTHS)], rng.choice(ids)
        goal = rng.choice(ids)
        for here in [start] if at % 2 else []:
            for _ in range(depth):
                here = rng.choice(sorted(whole[here])) if whole[here] else here
            goal = here
        yield start, goal, depth


def opened(folder: Path, nodes: int, links: int, seed: int) -> World:
    """Open the store in the folder, filled if it is new, and what a stranger sees of it as a graph."""
    memory = Memory.open(folder / "home", state_dir=folder / "state", human="ann")
    with memory.read() as r:
        filled = r.count(LinkRow)
    if not filled:
        fill(memory, nodes, links, seed)
    with memory.read() as r:
        stranger = principals.caller_for(r, "rook")
        seen = r.query("SELECT id FROM memories WHERE namespace = 'global' AND applies_to IS NULL")
        ties = r.query("SELECT source_id, target_id FROM memory_links")
    directed: Network = networkx.DiGraph()
    directed.add_nodes_from(id for (id,) in seen)
    directed.add_edges_from(tie for tie in ties if tie[0] in directed and tie[1] in directed)
    return World(memory, stranger, networkx.Graph(directed), directed)


def fill(memory: Memory, nodes: int, links: int, seed: int) -> None:
    """Write memories and links between any two of them, a batch a transaction."""
    rng, ids, began = Random(seed), list[str](), time.perf_counter()
    with memory.write() as tx:
        scout = principals.register(tx, memory.caller, "agent", "scout").id
        principals.register(tx, memory.caller, "agent", "rook")
    own = f"users/{memory.caller.id}"
    written, by = dict[tuple[int, int], str](), written_by(memory.caller)
    while len(written) < links:
        source, target = rng.randrange(nodes), rng.randrange(nodes)
        if source != target:
            written[source, target] = rng.choice(RELATIONS[2:])
    pairs = list(written.items())
    for start in range(0, nodes + links, BATCH):
        with memory.write() as tx:
            rows: list[MemoryRow | LinkRow] = []
            for at in range(start, min(start + BATCH, nodes + links)):
                if at < nodes:
                    ids.append(tx.new_id("mem"))
                    kind = rng.randrange(10)
                    row = MemoryRow(
                        id=ids[-1],
                        namespace=own if kind == 0 else "global",
                        applies_to=(scout,) if kind == 1 else None,
                        memory_kind="observation",
                        memory_type="fact",
                        content=f"Note number {at} of many.",
                        size_bytes=24,
                        origin="human",
                        created_at=tx.now,
                        updated_at=tx.now,
                        sequence=tx.sequence,
                        **by,
                    )
                    rows.append(row)
                else:
                    (source, target), relation = pairs[at - nodes]
                    rows.append(new_link(tx, memory.caller, ids[source], ids[target], relation))
            tx.put(*rows)
            tx.event("memory_added", subject=rows[0].row_id, namespace="global", payload={"id": rows[0].row_id})
    print(f"filled by {nodes + links:,} rows in {time.perf_counter() - began:.0f} s", flush=True)


def beside(peer: str, whole: Network, asked: Sequence[Question], ours: Sequence[Taken]) -> Iterator[str]:
    """Ask a peer the same; show its time on the wall beside ours, and yield what is missed."""
    name, _, python = peer.partition("=")
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.json"
        given.write_text(json.dumps({"nodes": sorted(whole), "links": list(whole.edges), "asked": list(asked)}))
        script = Path(__file__).with_name("graph_peer.py")
        done = subprocess.run([python, str(script), name, str(given)], capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"{name} did not run: {(done.stderr.strip().splitlines() or ['no word'])[-1]}"
        return
    told = json.loads(done.stdout.splitlines()[-1])
    wall = sorted(taken for _, taken in ours)
    for what, seconds in told["taken"].items():
        show(f"{name} {told['version']}", what, [(0.0, taken) for taken in seconds])
        print(f"{name}, {what}: {_at(sorted(seconds), 0.5) / _at(wall, 0.5):.1f} times ours at the median", end="")
        print(f", {_at(sorted(seconds), 0.95) / _at(wall, 0.95):.1f} at the 95th percentile")
        if _at(sorted(seconds), 0.5) < _at(wall, 0.5):
            yield f"{name} is faster than ours: {what}"


def show(way: str, what: str, taken: Sequence[Taken]) -> None:
    """Print one row."""
    used, wall = (sorted(each[at] for each in taken) for at in (0, 1))
    cells = [1000 * _at(values, share) for values in (used, wall) for share in (0.5, 0.95)]
    print(f"{way:15} {what:8} {cells[0]:12.2f} {cells[1]:9.2f} {cells[2]:12.2f} {cells[3]:9.2f}", flush=True)


def p95(taken: Sequence[Taken]) -> float:
    """Give the 95th percentile of the processor's seconds."""
    return _at(sorted(used for used, _ in taken), 0.95)


def mean(taken: Sequence[Taken]) -> float:
    """Give the mean of the processor's seconds."""
    return sum(used for used, _ in taken) / len(taken)


def _at(values: Sequence[float], share: float) -> float:
    return values[round(share * (len(values) - 1))]


if __name__ == "__main__":
    sys.exit(main())
