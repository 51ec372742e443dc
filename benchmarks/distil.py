"""Measure what becomes of observations alone: reflections the curator distils from them, and personas upon those.

    python -m benchmarks.distil [--data DIR] [--only locomo|realmem] [--limit N] [--person NAME] [--broken]

Each dialogue is loaded without the facts that the data itself draws from it: turns as observations, the two who talk as
registered entities. The policy asks for reflections; one tick writes them and the personas. For each person:

    obs      observations about the person         used    of these, how many a reflection rests on
    refl     reflections, and sentences in them    dated   reflections whose sources are all of one day
    faith    sentences of reflections that the turns they rest on hold, by `judge`; then claims of the persona, by the
             turns they lead to
    gold     gold events that the persona states, and that the reflections state all together (LoCoMo)
    sec      seconds of the processor for reflections and persona, without encoding

`--broken` gives each reflection the sources of another and must fail. Exit 1 when a target is missed. The data is not
part of the project; where it is absent this says so and exits 0.

Source: docs/spec/reflections.md §7.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import corpora
from benchmarks.corpora import Sample
from benchmarks.judge import Remembered, Told, coverage, doubt
from benchmarks.load_real import Replay, add_arguments, load, opened
from curator.persona import reading, tracing
from curator.persona.markdown import parse
from curator.persona.persona import generate
from curator.persona.sentences import sentences
from curator.reflections.distillation import Distilled, distil
from substrate.home import Memory
from substrate.recall import embedding
from substrate.store.model import MemoryRow

FAITHFUL = 0.95  # least share of sentences and of claims that stand
SEED = 20260514


@dataclass(frozen=True)
class Result:
    """What was measured of one person; shares are None where there is nothing to share."""

    name: str
    observed: int
    used: int
    reflections: int
    dated: int
    stated: int
    faithful: float
    claims: int
    held: float
    gold: tuple[float, float] | None
    seconds: float
    dropped: Counter[str]
    doubtful: tuple[str, ...]


def main(argv: list[str] | None = None) -> int:
    """Print the figures and answer the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distil", description=(__doc__ or "").splitlines()[0])
    add_arguments(parser)
    parser.add_argument("--person", help="this one only")
    parser.add_argument("--broken", action="store_true", help="shuffle the sources of reflections; must fail")
    options = parser.parse_args(argv)
    usable, why_not = embedding.available()
    try:
        samples = corpora.samples(options.data, options.only, options.limit)
    except corpora.Absent as absent:
        usable, why_not = False, str(absent)
    if not usable:
        print(f"skipped: {why_not}", file=sys.stderr)
        return 0
    print("command: python -m benchmarks.distil", *(sys.argv[1:] if argv is None else argv))
    results = list(measure(samples, options.person, broken=options.broken))
    table(results)
    taken = [found for found in results if found.reflections]
    return 1 if not taken or any(min(found.faithful, found.held) < FAITHFUL for found in taken) else 0


def measure(samples: Sequence[Sample], person: str | None, *, broken: bool) -> Iterator[Result]:
    """Load each sample without its facts, distil, and yield the figures of each person."""
    encode = Remembered()
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay()
        memory = opened(Path(folder, "home"), replay, Path(folder, "state"))
        try:
            load(memory, replay, [replace(sample, facts=()) for sample in samples])
            for sample in samples:
                for name in sample.people:
                    if person in (None, name):
                        yield _result(memory, sample, name, encode, broken)
        finally:
            memory.close()


def _result(memory: Memory, sample: Sample, person: str, encode: Remembered, broken: bool) -> Result:
    started, encoding = time.process_time(), encode.seconds
    done = distil(memory.db, memory.caller, person, namespace=sample.namespace, embed=encode)
    if done.ids:
        generate(memory.db, memory.caller, person, namespace=sample.namespace, embed=encode)
    seconds = time.process_time() - started - (encode.seconds - encoding)
    sources = [one.sources for one in done.sketches]
    if broken:
        random.Random(SEED).shuffle(sources)
    turns = _turns(memory, done)
    doubtful: list[str] = []
    stated = [
        (sentence, ids) for one, ids in zip(done.sketches, sources, strict=True) for sentence in sentences(one.text)
    ]
    faithful = [_held(text, [turns[id] for id in ids], person, encode, doubtful) for text, ids in stated]
    with memory.read() as r:
        read = reading.newest(r, memory.caller, person, sample.namespace)
        claims = parse(read.row.content or "").claims if read else ()
        told = {id: _told(r.require(MemoryRow, id), turns, sources, done) for claim in claims for id in claim.sources}
        faults = tracing.check(r, memory.caller, read) if read else ["no persona"]
    held = [_held(claim.text, [told[id] for id in claim.sources], person, encode, doubtful) for claim in claims]
    gold = sample.events.get(person)
    all_said = [text for text, _ in stated]
    return Result(
        f"{sample.name} {person}",
        done.considered,
        len({id for one in done.sketches for id in one.sources}),
        len(done.sketches),
        sum(one.valid_from is not None for one in done.sketches),
        len(stated),
        sum(faithful) / max(1, len(faithful)),
        len(claims),
        0.0 if faults else sum(held) / max(1, len(held)),
        (coverage([claim.text for claim in claims], gold, encode), coverage(all_said, gold, encode)) if gold else None,
        seconds,
        Counter(one.reason.partition(" (")[0] for one in done.dropped),
        tuple(doubtful),
    )


def _turns(memory: Memory, done: Distilled) -> dict[str, Told]:
    """Read what the reflections rest on, the speaker's label as what it means: that somebody said it."""
    ids = sorted({id for one in done.sketches for id in one.sources})
    with memory.read() as r:
        rows = r.get_many(MemoryRow, ids)
    said = {id: (row.content or "").replace(": ", " said: ", 1) for id, row in rows.items()}
    return {id: Told(said[id], (row.valid_from or row.created_at)[:10], ()) for id, row in rows.items()}


def _told(row: MemoryRow, turns: dict[str, Told], sources: Sequence[Sequence[str]], done: Distilled) -> Told:
    """Give the turns that a footnote leads to in the end, and nothing of what the curator wrote between."""
    said = [turns[id].text for id in sources[done.ids.index(row.id)]]
    return Told("\n".join(said), (row.valid_from or row.created_at)[:10], tuple(said))


def _held(text: str, cited: Sequence[Told], person: str, encode: Remembered, doubtful: list[str]) -> bool:
    why = doubt(text, cited, person, encode)
    if why is not None:
        doubtful.append(f"{why}: {text}")
    return why is None


def table(results: Sequence[Result]) -> None:
    """Print a line a person, what was dropped, and what is doubtful."""
    print(f"{'person':22}  obs used refl dated sent faith claims faith   gold        sec")
    for found in results:
        gold = f"{found.gold[0]:.2f} of {found.gold[1]:.2f}" if found.gold else "-"
        print(
            f"{found.name:22} {found.observed:4} {found.used:4} {found.reflections:4} {found.dated:5} {found.stated:4}"
            f" {found.faithful:5.2f} {found.claims:6} {found.held:5.2f}  {gold}  {found.seconds:5.1f}"
        )
    for reason, count in sum((found.dropped for found in results), Counter[str]()).most_common(12):
        print(f"{count:6} dropped: {reason}")
    for found in results:
        for line in found.doubtful[:10]:
            print(f"doubtful, {found.name}: {line}")


if __name__ == "__main__":
    sys.exit(main())
