"""Load the development data into a store, as it would have come in: session by session, at the time it was said.

    python -m benchmarks.load_real --home DIR [--state DIR] [--data DIR] [--only locomo|realmem] [--limit N]

One namespace a dialogue or person. A turn becomes an observation, what was learnt from it a reflection bound to the
person, derived from its turns; the people are registered, so that each is known by name. One transaction a session, one
event a memory. Clock and ids follow the data: two loads of the same samples in the same order write the same rows. A
namespace that holds anything is refused before anything is written.

The data is not part of the project; where it is absent this says so and exits 0. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

from benchmarks import corpora
from benchmarks.corpora import Fact, Sample, Turn
from substrate.errors import AiMemoryError, Conflict
from substrate.home import Memory
from substrate.memory import entities, memories
from substrate.store.ids import encode_id
from substrate.store.model import MemoryRow
from substrate.store.transaction import Transaction

TITLE_WORDS = 8  # words of a fact that head it where the data has no label
FIRST = "2020-01-01T00:00:00.000000Z"  # when the store is made: before everything in the data
Progress = Callable[[str, int, int], None]


class Replay:
    """The clock and the ids of a load: the time of what is being written, and a count for each place."""

    def __init__(self) -> None:
        self.place, self.time = "store", FIRST
        self.counts: Counter[str] = Counter()

    def go(self, place: str, time: str) -> None:
        """Be at a time in a place, such as a namespace; its ids do not depend on what is written in others."""
        self.place, self.time = place, time

    def clock(self) -> str:
        """Give the time."""
        return self.time

    def new_id(self, prefix: str) -> str:
        """Give the next id: milliseconds, the namespace, the count."""
        self.counts[self.place] += 1
        moment = datetime.strptime(self.time, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
        milliseconds = int(moment.timestamp() * 1000)
        return f"{prefix}-{encode_id(milliseconds << 80 | crc32(self.place.encode()) << 48 | self.counts[self.place])}"


@dataclass
class Loaded:
    """What became of a sample: the memory's id of each turn and fact, and the seconds it took."""

    sample: Sample
    turns: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    links: int = 0
    seconds: float = 0.0

    @property
    def memories(self) -> int:
        """How many memories were written."""
        return len(self.turns) + len(self.facts)

    def write(self, memory: Memory, replay: Replay, date: str, turns: Sequence[Turn], facts: Sequence[Fact]) -> None:
        """Write what a session brought in one transaction; the first also registers the people."""
        started = time.perf_counter()
        replay.go(self.sample.namespace, date)
        with memory.write() as tx:
            if not self.turns:
                for person in self.sample.people:
                    entities.add(tx, memory.caller, person, namespace=self.sample.namespace, name=person, kind="person")
            for turn in turns:
                self.turns[turn.id] = observe(tx, memory, self.sample, turn)
            for fact in facts:
                self.facts[fact.id] = reflect(tx, memory, self.sample, fact, [self.turns[id] for id in fact.turns])
                self.links += len(fact.turns)
        self.seconds += time.perf_counter() - started


def opened(home: Path, replay: Replay, state: Path | None = None) -> Memory:
    """Open or make a store that lives in the time of the data."""
    return Memory.open(home, state_dir=state, clock=replay.clock, new_id=replay.new_id, human="bench")


def load(memory: Memory, replay: Replay, samples: Iterable[Sample], progress: Progress | None = None) -> list[Loaded]:
    """Write the samples into the store, each into its namespace. Raises Conflict, with nothing written, if one is used.

    `progress` is told the namespace, the memories written there and how many there will be.
    """
    found = list(samples)
    refuse_used(memory, found)
    return [_load(memory, replay, sample, progress or (lambda what, done, of: None)) for sample in found]


def refuse_used(memory: Memory, samples: Iterable[Sample]) -> None:
    """Raise Conflict when a namespace of the samples holds anything."""
    with memory.read() as r:
        for sample in samples:
            if held := r.count(MemoryRow, "namespace = ?", (sample.namespace,)):
                raise Conflict(
                    f"namespace {sample.namespace} holds {held:,} memories already",
                    hint="load into another home; what is there is left as it is",
                )


def _load(memory: Memory, replay: Replay, sample: Sample, progress: Progress) -> Loaded:
    made = Loaded(sample)
    for date, turns, facts in sessions(sample):
        made.write(memory, replay, date, turns, facts)
        progress(sample.namespace, made.memories, len(sample.turns) + len(sample.facts))
    return made


def sessions(sample: Sample) -> Iterator[tuple[str, Sequence[Turn], Sequence[Fact]]]:
    """Yield each session's time, turns and facts, oldest first; a fact waits until all its turns were said."""
    dates = {fact.session: fact.date for fact in sample.facts} | {turn.session: turn.date for turn in sample.turns}
    order = sorted(dates, key=lambda session: (dates[session], session))
    place = {session: at for at, session in enumerate(order)}
    said = {turn.id: turn.session for turn in sample.turns}
    ready = {
        fact.id: max((fact.session, *(said[id] for id in fact.turns)), key=lambda session: place[session])
        for fact in sample.facts
    }
    for session in order:
        turns = [turn for turn in sample.turns if turn.session == session]
        yield moment(dates[session], session), turns, [fact for fact in sample.facts if ready[fact.id] == session]


def moment(date: str, session: int) -> str:
    """Return when a session is written: sessions of one time follow each other by their number, a microsecond each."""
    return f"{date[:-7]}{session:06d}Z"


def observe(tx: Transaction, memory: Memory, sample: Sample, turn: Turn) -> str:
    """Write a turn as an observation; return its id."""
    row = memories.remember(
        tx,
        memory.caller,
        sample.content(turn),
        namespace=sample.namespace,
        metadata={"speaker": turn.speaker, "session_number": turn.session},
        sources=[{"kind": "turn", "ref": f"{sample.name}/{turn.id}", "at": turn.date}],
        valid_from=turn.date,
        origin="import",
    )
    return row.id


def reflect(tx: Transaction, memory: Memory, sample: Sample, fact: Fact, sources: Sequence[str]) -> str:
    """Write a fact as a reflection on its turns, bound to the person; return its id."""
    made = memories.reflect(
        tx,
        memory.caller,
        fact.title or " ".join(fact.text.split()[:TITLE_WORDS]),
        fact.text,
        sources=sources,
        entity_id=fact.about,
        namespace=sample.namespace,
        metadata={"fact": fact.id},
        valid_from=fact.date,
        origin="import",
    )
    return made.row.id


def shown(what: str, done: int, of: int) -> None:
    """Show progress on standard error: a line that grows on a terminal, the last state elsewhere."""
    if sys.stderr.isatty():
        print(f"\r{what} {done:,} of {of:,}", end="" if done < of else "\n", file=sys.stderr, flush=True)
    elif done >= of:
        print(f"{what} {of:,}", file=sys.stderr, flush=True)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the options that choose the data."""
    parser.add_argument("--data", type=Path, default=corpora.default_folder(), help="folder of the development data")
    parser.add_argument("--only", choices=("locomo", "realmem"))
    parser.add_argument("--limit", type=int, metavar="N", help="dialogues and people, each, at most")


def main(argv: list[str] | None = None) -> int:
    """Print a row a namespace and the rate; answer the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load_real", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", type=Path, required=True, help="folder of the store, made if it is not there")
    parser.add_argument("--state", type=Path, help="folder of the anchor; the user's state folder otherwise")
    add_arguments(parser)
    options = parser.parse_args(argv)
    replay = Replay()
    try:
        found = corpora.samples(options.data, options.only, options.limit)
        memory = opened(options.home, replay, options.state)
        try:
            loaded = load(memory, replay, found, shown)
        finally:
            memory.close()
    except corpora.Absent as absent:
        print(f"skipped: {absent}", file=sys.stderr)
        return 0
    except AiMemoryError as error:
        print(f"error: {error.message}\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code
    table(loaded)
    return 0


def table(loaded: Sequence[Loaded]) -> None:
    """Print what was written where, and how fast."""
    for made in loaded:
        print(
            f"{made.sample.namespace:24} {len(made.turns):5} observations {len(made.facts):5} reflections"
            f" {made.links:5} links  {made.seconds:6.1f} s"
        )
    memories, links = sum(made.memories for made in loaded), sum(made.links for made in loaded)
    seconds = sum(made.seconds for made in loaded)
    print(
        f"{memories:,} memories and {links:,} links in {seconds:.1f} s:"
        f" {memories / seconds:.0f} memories, {(memories + links) / seconds:.0f} rows a second"
    )


if __name__ == "__main__":
    sys.exit(main())
