"""Measure how long recall takes, the encoding of the question apart, from a thousand memories to a million.

    python -m benchmarks.latency [--rows N ...] [--questions 200] [--seed 0] [--broken]

The memories are made up: words as rare as in a text, dates, names, conversations and eight namespaces of ten that the
caller may read; their vectors stand in clusters, those of the questions near that of some memory. They are put into a
segment directly, without a store; names and links are looked up in an empty one. `after` are questions asked after one
more memory was taken in each time, and includes taking it in. `nearest` is the share of the ten memories with the
greatest cosine, found by an exact scan in the same run, that the vector arm brings; `same` the share of the first ten
hits that come where all memories are ranked.

Judged are times of the processor, which other work disturbs less; those on the wall are printed too. Exit 1 when a
limit is passed. ``--broken`` makes the view anew for every question, and must fail.
"""

from __future__ import annotations

import argparse
import copy
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import kept
from benchmarks.startup import machine, version
from substrate.home import Memory
from substrate.recall import index, vectors
from substrate.recall.candidates import NEAREST as NEAREST_CODES
from substrate.recall.candidates import nearest
from substrate.recall.question import Question, Readership
from substrate.recall.search import Search
from substrate.recall.state import Part, State, VectorPart
from substrate.recall.view import View, Views
from tests.recall.crowd import Crowd

LIMITS: Final = {1_000: 10.0, 10_000: 10.0, 100_000: 10.0}  # milliseconds of the processor at p95, and
MOST: Final = 40.0  # at any other size
NEAREST: Final = 0.98
MEMORY: Final = 4.0  # GiB at most
MODEL: Final = "crowd/1"
HITS: Final = 10
WARM, COMPARED = 10, 40  # questions asked beforehand, and those compared with what is exact


@dataclass(frozen=True)
class Times:
    """Hold milliseconds of some questions, of the processor and on the wall."""

    processor: Sequence[float]
    wall: Sequence[float]

    def line(self) -> str:
        """Return the quantiles as they are printed."""
        return (
            " ".join(f"{float(np.quantile(self.processor, q)):7.2f}" for q in (0.5, 0.95, 0.99))
            + "  "
            + " ".join(f"{float(np.quantile(self.wall, q)):7.2f}" for q in (0.5, 0.95))
        )

    def wire(self) -> dict[str, float]:
        """Return the quantiles as they are kept: milliseconds of the processor, and on the wall."""
        columns = (("", self.processor), ("wall_", self.wall))
        return {f"{name}p{q}": round(float(np.quantile(c, q / 100)), 2) for name, c in columns for q in (50, 95, 99)}

    @property
    def judged(self) -> float:
        """The quantile that has a limit."""
        return float(np.quantile(self.processor, 0.95))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the rows of each size and answer the exit code."""
    options = _options(argv)
    print("           memories     processor, ms            wall, ms       n  nearest  same   memory")
    print("                        p50     p95     p99     p50     p95")
    found = [measured(rows, options) for rows in options.rows]
    failures = [failure for size in found for failure in missed(size)]
    print(f"command    {kept.command('benchmarks.latency', argv)}")
    print(f"seed       {options.seed}")
    print(f"machine    {machine()}")
    print(f"version    {version()}")
    for failure in failures:
        print("missed:", failure)
    figures = {"n": options.questions, "seed": options.seed, "sizes": [size.wire() for size in found]}
    kept.keep(options.keep, "benchmarks.latency", argv, {**figures, "missed": failures})
    return int(bool(failures))


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--broken", action="store_true", help="make the view anew for every question, and fail")
    kept.add_argument(parser)
    return parser.parse_args(argv)


@dataclass(frozen=True)
class Found:
    """Hold what was measured at one size."""

    rows: int
    warm: Times
    after: Times
    nearest: float
    same: float
    gib: float

    def wire(self) -> dict[str, Any]:
        """Return it as it is kept."""
        plain = {"rows": self.rows, "nearest": self.nearest, "same": self.same, "gib": round(self.gib, 3)}
        return {**plain, "warm": self.warm.wire(), "after": self.after.wire()}


def measured(rows: int, options: argparse.Namespace) -> Found:
    """Measure one size and print its rows."""
    crowd = Crowd(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.open(Path(folder, "home"), state_dir=Path(folder, "state"))
        shelf = Shelf(memory, crowd, rows, options.broken)
        for question in crowd.questions(WARM):
            shelf.ask(*question)
        asked = crowd.questions(options.questions)
        warm = timed([partial(shelf.ask, *question) for question in asked])
        nearest = float(np.mean([shelf.nearest(*question) for question in asked[:COMPARED]]))
        same = float(np.mean([shelf.same(*question) for question in asked[:COMPARED]]))
        gib = resident()
        print(f"warm   {rows:12,} {warm.line()} {len(asked):7}  {nearest:7.4f} {same:5.3f} {gib:5.2f} GiB", flush=True)
        after = timed([partial(shelf.ask_after_a_write, *question) for question in asked])
        print(f"after  {rows:12,} {after.line()} {len(asked):7}", flush=True)
        memory.close()
    return Found(rows, warm, after, nearest, same, gib)


def missed(found: Found) -> Iterator[str]:
    """Yield each limit that is passed."""
    for name, times in (("warm", found.warm), ("after a write", found.after)):
        if times.judged > LIMITS.get(found.rows, MOST):
            most = LIMITS.get(found.rows, MOST)
            yield f"{name}, {found.rows:,} memories: p95 is {times.judged:.1f} ms, at most {most:g}"
    if found.nearest < NEAREST:
        yield f"{found.rows:,} memories: {found.nearest:.3f} of the nearest are found, at least {NEAREST:g}"
    if found.gib > MEMORY:
        yield f"{found.rows:,} memories: {found.gib:.1f} GiB, at most {MEMORY:g}"


def resident() -> float:
    """Return the memory this process holds, in GiB; what it held at most, where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return pages * resource.getpagesize() / 2**30


def timed(works: Sequence[Callable[[], Any]]) -> Times:
    """Measure each of some works once, in milliseconds."""
    processor, wall = [], []
    for work in works:
        started, begun = time.process_time(), time.perf_counter()
        work()
        processor.append(1000 * (time.process_time() - started))
        wall.append(1000 * (time.perf_counter() - begun))
    return Times(processor, wall)


class Shelf:
    """Hold the index of a crowd in memory, as a process does that has caught up."""

    def __init__(self, memory: Memory, crowd: Crowd, rows: int, broken: bool) -> None:
        self.memory, self.crowd, self.broken = memory, crowd, broken
        self.follower = index.of(memory.db)
        segment, matrix = crowd.segment(rows)
        part = Part(segment, np.ones(len(segment), np.bool_), "segment")
        rows_ = vectors.of(MODEL, segment.arrays["ids"], segment.arrays["digests"], matrix)
        self.state = State(cursor=rows, parts=(part,), vectors=(VectorPart(rows_, "vectors"),))
        self.now = memory.db.clock()

    def readers(self, text: str) -> Readership:
        """Return who asks: a caller that may read eight namespaces of ten."""
        return Readership(self.memory.caller, self.crowd.readable, Question(query=text, max_hits=HITS))

    def ask(self, text: str, vector: Any, view: View | None = None) -> Search:
        """Ask one question and rank what is found, as `recall` does; nothing is read from the store but names."""
        if self.broken:
            self.follower._views = Views()
        readers = self.readers(text)
        search = Search(readers, view or self.follower.seen(self.state, readers, MODEL))
        search.by_words()
        search.by_meaning(vector, 0)
        search.by_time(self.now)
        with self.memory.db.read() as r:
            search.by_name(r)
            search.fuse(HITS)
            search.by_links(r, self.now)
            search.best(HITS)
        return search

    def ask_after_a_write(self, text: str, vector: Any) -> Search:
        """Take in one more memory with its vector, then ask."""
        self.state = self.crowd.written(self.state, MODEL)
        return self.ask(text, vector)

    def nearest(self, text: str, vector: Any) -> float:
        """Return which share of the memories with the greatest cosine the vector arm brings."""
        view = self.follower.seen(self.state, self.readers(text), MODEL)
        best, places = np.full(HITS, -2.0), np.full(HITS, -1)
        for number, part in view.space.parts.items():
            here = np.flatnonzero(view.known[:-1] & (view.space.part == number))
            scores = np.concatenate([best, (part.matrix @ vector)[view.space.row[here]]])
            order = np.argsort(-scores, kind="stable")[:HITS]
            best, places = scores[order], np.concatenate([places, here])[order]
        wanted = view.known[:-1] & view.space.encoded
        near = view.places if view.small else nearest(wanted, view.space.distances(vector), NEAREST_CODES)
        return float(np.isin(places, near).mean())

    def same(self, text: str, vector: Any) -> float:
        """Return which share of the first hits is the same where every memory is ranked."""
        search = self.ask(text, vector)
        every = copy.copy(search.view)
        every.most = len(every)
        every.__dict__.pop("sample", None)
        exact = self.ask(text, vector, every)
        return len(search.stands.keys() & exact.stands.keys()) / max(len(exact.stands), 1)


if __name__ == "__main__":
    sys.exit(main())
