"""Let two processes write to one store and recall from it at once, and hold it open without a word afterwards.

    python -m benchmarks.together [--seconds 60] [--idle 20] [--seed 0] [--keep FILE] [--broken blind|busy]

Each writes a memory with a word of its own, tells the other the word, and asks for every word it is told: it has to
find the memory in that one call. No error of any kind may reach either. Afterwards both keep the store open for
`--idle` seconds, in which they may use `IDLE` of the processor's time. Recall is by words, entities, times and links;
vectors follow by a job. Exit 1 for a memory that was not found, an error, or a process that is busy when idle;
``--broken blind`` has an index that does not follow, ``--broken busy`` a process that keeps asking, and both must fail.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks import kept
from benchmarks.startup import machine, version
from substrate.errors import AiMemoryError
from substrate.home import Memory
from substrate.memory import memories
from substrate.recall.index import Index
from substrate.recall.question import ARMS
from substrate.recall.recall import recall

IDLE = 0.005  # share of the processor's time
THINGS = ("lantern", "ladder", "kettle", "anchor", "mirror", "basket", "hammer", "pillow", "bottle", "wagon")
BY_WORDS = [arm for arm in ARMS if arm != "vector"]


@dataclass
class Done:
    """Hold what one process did: seconds of each write and each question, what was not found, what went wrong."""

    writes: list[float] = field(default_factory=list)
    questions: list[float] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    idle: float = 0.0  # share of the processor's time
    over: bool = False  # the other has written all it will


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures and answer the exit code."""
    options = _options(argv)
    done = run(options)
    failures = list(missed(done))
    figures = {
        "writes": sum(len(one.writes) for one in done),
        "a write, p50 / p95 / p99": quantiles([second for one in done for second in one.writes]),
        "questions": sum(len(one.questions) for one in done),
        "a question, p50 / p95 / p99": quantiles([second for one in done for second in one.questions]),
        "not found by the next call": sum(len(one.missing) for one in done),
        "errors": sum(len(one.errors) for one in done),
        "idle, share of the processor": round(max(one.idle for one in done), 5),
    }
    for name, figure in figures.items():
        print(f"{name:30} {figure}")
    print(f"command                        {kept.command('benchmarks.together', argv)}")
    print(f"machine                        {machine()}")
    print(f"version                        {version()}")
    for failure in failures:
        print("missed:", failure)
    kept.keep(options.keep, "benchmarks.together", argv, {"seed": options.seed, "figures": figures, "missed": failures})
    return int(bool(failures))


def run(options: argparse.Namespace) -> list[Done]:
    """Have both do their work; answer what each did."""
    context = get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        Memory.open(Path(folder, "home"), state_dir=Path(folder, "state"), human="ann").close()
        between, back, workers = context.Pipe(), [context.Pipe() for _ in range(2)], []
        for number in range(2):
            given = (number, between[number], back[number][1], folder, options)
            workers.append(context.Process(target=work, args=given))
            workers[-1].start()
        done: list[Done] = [back[number][0].recv() for number in range(2)]
        for worker in workers:
            worker.join()
    return done


def work(number: int, other: Any, parent: Any, folder: str, options: argparse.Namespace) -> None:
    """Be one of the two: write, tell, ask for what is told, until both have ended; then hold still."""
    done, chance = Done(), Random(f"{options.seed}-{number}")
    memory = Memory.open(Path(folder, "home"), state_dir=Path(folder, "state"), create=False)
    if options.broken == "blind":
        blinded()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        word = f"w{number}q{len(done.writes)}z"
        if attempted(done, done.writes, lambda: _write(memory, f"The {chance.choice(THINGS)} {word} is here.")):  # noqa: B023
            other.send(word)
        while other.poll():
            _ask(memory, other.recv(), done)
    other.send("")
    while not done.over:
        _ask(memory, other.recv(), done)
    started, used = time.monotonic(), time.process_time()
    while (left := started + options.idle - time.monotonic()) > 0:
        if options.broken == "busy":
            _ask(memory, "w0q0z", Done())
        else:
            parent.poll(left)  # nothing comes: it waits
    done.idle = (time.process_time() - used) / options.idle
    memory.close()
    parent.send(done)


def attempted(done: Done, seconds: list[float], do: Callable[[], Any]) -> Any:
    """Do something, note what it took or what it raised, and answer what it gave."""
    began = time.perf_counter()
    try:
        found = do()
    except AiMemoryError as error:
        done.errors.append(f"{type(error).__name__}: {error}")
        return None
    seconds.append(time.perf_counter() - began)
    return found


def _write(memory: Memory, text: str) -> str:
    with memory.write() as tx:
        return memories.remember(tx, memory.caller, text).id


def _ask(memory: Memory, word: str, done: Done) -> None:
    """Ask for a word once; note it unless the memory that holds it comes."""
    if not word:
        done.over = True
        return
    found = attempted(done, done.questions, lambda: recall(memory.db, memory.caller, word, arms=BY_WORDS))
    if found is not None and not any(word in hit.text for hit in found.hits):
        done.missing.append(word)


def blinded() -> None:
    """Have every index stay as it was when it was first read."""
    follow, held = Index.catch_up, list[Any]()

    def once(self: Index, *given: Any) -> Any:
        if not held:
            held.append(follow(self, *given))
        return held[0]

    Index.catch_up = once  # type: ignore[method-assign]


def missed(done: Sequence[Done]) -> Iterator[str]:
    """Yield what must not be."""
    for number, one in enumerate(done):
        if not one.questions:
            yield f"process {number} was never told anything"
        if one.missing:
            yield f"process {number} did not find {len(one.missing)} memories at once, {one.missing[0]} first"
        if one.errors:
            yield f"process {number} met {len(one.errors)} errors, first {one.errors[0]}"
        if one.idle > IDLE:
            yield f"process {number} uses {one.idle:.2%} of the processor when idle, at most {IDLE:.1%}"


def quantiles(seconds: Sequence[float]) -> str:
    """Return the quantiles of some seconds, in milliseconds."""
    return " / ".join(f"{1000 * float(np.quantile(seconds, q)):.1f}" for q in (0.5, 0.95, 0.99)) + " ms"


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.together")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--idle", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--broken", choices=["blind", "busy"], help="a build that must fail")
    kept.add_argument(parser)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
