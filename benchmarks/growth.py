"""Grow personas as a store does in use, and measure what growing costs and what it shows of changes of mind.

    python -m benchmarks.growth [--data DIR] [--only locomo|realmem] [--limit N] [--processes N]
                                [--no-embedder] [--seed N] [--broken search|cadence]

The development data comes in session by session; after each the worker does what is due (`curator.worker.tick`), with
the cadence set to a new version every five reflections. Every version is kept; at the end one more is made from
everything at once. Four targets:

    coverage     grown personas state at most .03 less of the gold events (LoCoMo) than those made at the end
    changes      at least half of the listed clear changes of mind (RealMem, `minds`) are among what some version shows
                 as changed, both ends cited; an end counts where a cited memory restates it nearly word for word
    faithful     at least .98 of the claims of grown personas and of all changes shown are held by what they cite; no
                 claim cites nothing, nothing that `persona --verify` finds
    cadence      exactly as many versions as one for every five reflections, counted a session at a time

A change shown must also be a real one, which no code can tell: a sample of them is written out to be read. `--broken
search` takes the search for contradictions away, `--broken cadence` asks for a version every fifty; both must fail.

Exit 1 when a target is missed. The data is not part of the project (AI_MEMORY_BENCH_DATA names its folder); where it is
absent this says so and exits 0.

Source: docs/spec/persona.md §3, §8 and §9.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from benchmarks import corpora, judge, minds
from benchmarks.corpora import Fact, Sample
from benchmarks.judge import Embed, Remembered, Told
from benchmarks.load_real import Replay, add_arguments, opened, sessions, shown
from benchmarks.minds import Pair
from benchmarks.portraits import Stored, Version
from curator import worker
from curator.persona import changes
from curator.persona.cadence import POLICY
from curator.persona.gathering import CHANGED
from curator.persona.reading import newest
from substrate.config import Models
from substrate.home import Memory
from substrate.recall import embedding
from substrate.scopes import namespaces

EVERY = 5  # reflections between two versions
LESS = 0.03  # how much less of the gold events a grown persona may state
HALF = 0.5  # of the listed clear changes
FAITHFUL = 0.98  # of claims
SAMPLE = 40  # changes written out to be read
MODELS = Models(persona="extractive", reflect="off")


@dataclass(frozen=True)
class Grown:
    """One person: the last version that grew, one made at once, and every change that some version showed.

    `seconds` is the processor's time of a version, without encoding; `shown` maps the text of a change to the facts it
    cites; `claims` are those of the last version and all changes, `doubtful` those the judge does not find held.
    """

    sample: Sample
    person: str
    versions: int
    seconds: float
    grown: Version
    fresh: Version
    shown: Mapping[str, tuple[str, ...]]
    claims: int
    doubtful: Sequence[str]
    coverage: Mapping[str, float]

    @property
    def name(self) -> str:
        """Name the person in the table."""
        return f"{self.sample.name} {self.person}"

    @property
    def uncited(self) -> int:
        """Count the claims that cite nothing."""
        return sum(not claim.sources for claim in self.grown.claims) + sum(not cited for cited in self.shown.values())

    @property
    def faults(self) -> tuple[str, ...]:
        """List what the store finds wrong with the two versions."""
        return (*self.grown.faults, *self.fresh.faults)


def main(argv: list[str] | None = None) -> int:
    """Print the figures and answer the exit code."""
    options = arguments().parse_args(argv)
    usable, why_not = embedding.available()
    try:
        samples = corpora.samples(options.data, options.only, options.limit)
    except corpora.Absent as absent:
        usable, why_not = False, str(absent)
    if not usable:
        print(f"skipped: {why_not}", file=sys.stderr)
        return 0
    header(options, samples, sys.argv[1:] if argv is None else argv)
    started = time.perf_counter()
    people = list(grow(samples, options))
    found = recall(people, minds.listed(options.data), Remembered())
    table(people)
    kinds(found)
    write_sample(options.sample, people, options.seed)
    print(f"{time.perf_counter() - started:.0f} s")
    failures = list(missed(people, found))
    for failure in failures:
        print("missed:", failure)
    return 1 if failures else 0


def arguments() -> argparse.ArgumentParser:
    """Name the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=(__doc__ or "").splitlines()[0])
    add_arguments(parser)
    parser.add_argument("--no-embedder", action="store_true", help="compose by overlap of words; MiniLM still judges")
    parser.add_argument("--seed", type=int, default=20260514)
    parser.add_argument("--processes", type=int, default=1, help="samples that come in at the same time")
    parser.add_argument("--broken", choices=("search", "cadence"), help="take something away; must fail")
    parser.add_argument("--sample", type=Path, default=corpora.ROOT / "build" / "changes_sample.txt")
    return parser


def header(options: argparse.Namespace, samples: Sequence[Sample], argv: Sequence[str]) -> None:
    """Say what is measured, by which command, of which version, where."""
    people, facts = sum(len(sample.people) for sample in samples), sum(len(sample.facts) for sample in samples)
    version = tomllib.loads((corpora.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    print("command:", "python -m benchmarks.growth", *argv)
    print(f"ai-memory {version}, seed {options.seed}; {people} people, {facts:,} reflections, a version every {EVERY}")
    print(
        f"python {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()};"
        f" {embedding.DEFAULT_MODEL}, composed {'by words' if options.no_embedder else 'by meaning'}; model calls 0"
    )


def grow(samples: Sequence[Sample], options: argparse.Namespace) -> Iterator[Grown]:
    """Let each sample come in, `--processes` at a time, and yield its people in order."""
    with ProcessPoolExecutor(options.processes) as pool:
        for done, people in enumerate(pool.map(grown_in, samples, repeat(options)), 1):
            yield from people
            shown("samples", done, len(samples))


def grown_in(sample: Sample, options: argparse.Namespace) -> list[Grown]:
    """Let a sample come into a store of its own."""
    if options.broken == "search":
        changes.find = lambda *_: []  # what is measured here must be missed without it
    every, encode = 10 * EVERY if options.broken == "cadence" else EVERY, Remembered()
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay()
        memory = opened(Path(folder, "home"), replay, Path(folder, "state"))
        try:
            return list(come_in(memory, replay, sample, encode, None if options.no_embedder else encode, every))
        finally:
            memory.close()


def come_in(
    memory: Memory, replay: Replay, sample: Sample, judged: Remembered, embed: Embed | None, every: int
) -> Iterator[Grown]:
    """Write a sample session by session, with the worker's tick after each; then make each person at once."""
    way = Stored(memory, replay, sample, judged, embed)
    seen: dict[str, dict[str, tuple[str, ...]]] = {person: {} for person in sample.people}
    seconds, versions = 0.0, dict.fromkeys(sample.people, 0)
    for at, (date, turns, facts) in enumerate(sessions(sample)):
        way.learn(date, turns, facts)
        if at == 0:
            with memory.write() as tx:
                namespaces.set_policy(tx, memory.caller, sample.namespace, POLICY, every)
        replay.go(f"{sample.namespace} personas", date)
        encoding, started = judged.seconds, time.process_time()
        ran = worker.tick(memory, models=MODELS, embed=embed)["ran"]
        seconds += time.process_time() - started - (judged.seconds - encoding)
        for person in sample.people if ran else ():
            with memory.read() as r:
                found = newest(r, memory.caller, person, sample.namespace)
            if found is not None:
                versions[person] = found.row.persona_version or 0
                seen[person] |= {one.text or "": one.sources for one in found.claims if one.section == CHANGED}
    facts_of = {id: fact for fact, id in way.loaded.facts.items()}
    for person in filter(versions.get, sample.people):
        cited = {text: tuple(facts_of[id] for id in ids) for text, ids in seen[person].items()}
        yield judged_by(way, person, versions[person], seconds / sum(versions.values()), cited)


def judged_by(way: Stored, person: str, versions: int, seconds: float, cited: Mapping[str, tuple[str, ...]]) -> Grown:
    """Read the version that grew, make one at once, and hold what they claim against what they cite."""
    sample, embed = way.sample, way.judge
    grown, facts = way.read(person, seconds), {fact.id: fact for fact in sample.facts}
    told = {claim.text: grown.cited(claim) for claim in grown.claims}
    told |= {text: [_told(facts[id], sample) for id in ids] for text, ids in cited.items()}
    found = ((text, judge.doubt(text, sources, person, embed)) for text, sources in told.items())
    doubtful = [f"{sample.name}\t{person}\t{why}\t{text}" for text, why in found if why]
    fresh, gold, coverage = way.draw(person, full=True), sample.events.get(person), {}
    if gold:
        bodies = {"grown": grown, "fresh": fresh}
        coverage = {name: judge.coverage(body.texts, gold, embed) for name, body in bodies.items()}
    return Grown(sample, person, versions, seconds, grown, fresh, cited, len(told), doubtful, coverage)


def _told(fact: Fact, sample: Sample) -> Told:
    turns = {turn.id: turn for turn in sample.turns}
    return Told(fact.text, fact.date[:10], tuple(sample.content(turns[id]) for id in fact.turns))


def expected(sample: Sample, person: str) -> int:
    """Count the versions the cadence asks for: one after each session that fills up five."""
    made = waiting = 0
    for _, _, facts in sessions(sample):
        waiting += sum(fact.about == person for fact in facts)
        if waiting >= EVERY:
            made, waiting = made + 1, 0
    return made


def recall(people: Sequence[Grown], pairs: Sequence[Pair], embed: Embed) -> dict[str, tuple[Pair, bool, bool]]:
    """Tell for each listed pair of the people measured whether it was shown: strictly, and with restatements."""
    found = {}
    for one in people:
        texts = {fact.id: fact.text for fact in one.sample.facts}
        for pair in (pair for pair in pairs if pair.person == one.person and one.sample.data == "realmem"):
            shows = [minds.shows(pair, cited, texts, embed) for cited in one.shown.values()]
            found[pair.id] = (pair, any(strict for strict, _ in shows), any(lenient for _, lenient in shows))
    return found


def missed(people: Sequence[Grown], found: Mapping[str, tuple[Pair, bool, bool]]) -> Iterator[str]:
    """Yield each target that is missed."""
    if covered := [one.coverage for one in people if one.coverage]:
        grown, fresh = (statistics.mean(each[body] for each in covered) for body in ("grown", "fresh"))
        if grown < fresh - LESS:
            yield f"coverage of grown personas is {grown:.3f}, {fresh - grown:.3f} less than {fresh:.3f} at once"
    clear = [shows for pair, _, shows in found.values() if pair.clear]
    if clear and sum(clear) < HALF * len(clear):
        yield f"{sum(clear)} of {len(clear)} clear changes of mind were shown, wanted {HALF:.0%}"
    faithful = 1 - sum(len(one.doubtful) for one in people) / max(1, sum(one.claims for one in people))
    if faithful < FAITHFUL:
        yield f"{faithful:.3f} of the claims are faithful, wanted {FAITHFUL}"
    for one in people:
        if one.uncited or one.faults:
            yield f"{one.name}: {one.uncited} claims cite nothing; {'; '.join(one.faults) or 'no faults'}"
        if one.versions != (wanted := expected(one.sample, one.person)):
            yield f"{one.name} has {one.versions} versions, the cadence asks for {wanted}"


def table(people: Sequence[Grown]) -> None:
    """Print a row a person, then means of each data set; `changes` are all that some version showed."""
    width = max(len(one.name) for one in people)
    heads = "facts versions changes words claims faithful uncited faults grown fresh   less    sec"
    print(" " * width, heads)
    groups = [(one.name, [one]) for one in people]
    groups += [(data, [one for one in people if one.sample.data == data]) for data in ("locomo", "realmem")]
    for name, among in groups:
        if among:
            print(name.ljust(width), _row(among))


def _row(among: Sequence[Grown]) -> str:
    doubts, claims = sum(len(one.doubtful) for one in among), sum(one.claims for one in among)
    cells = [
        f"{sum(len(one.sample.about(one.person)) for one in among):5}",
        f"{sum(one.versions for one in among):8}",
        f"{sum(len(one.shown) for one in among):7}",
        f"{statistics.mean(one.grown.words for one in among):5.0f}",
        f"{claims:6}",
        f"{1 - doubts / max(1, claims):8.3f}",
        f"{sum(one.uncited for one in among):7}",
        f"{sum(len(one.faults) for one in among):6}",
    ]
    covered = [one.coverage for one in among if one.coverage]
    if covered:
        grown, fresh = (statistics.mean(each[body] for each in covered) for body in ("grown", "fresh"))
        cells += [f"{grown:5.3f}", f"{fresh:5.3f}", f"{fresh - grown:+6.3f}"]
    else:
        cells += ["    -", "    -", "     -"]
    return " ".join([*cells, f"{statistics.mean(one.seconds for one in among):6.2f}"])


def kinds(found: Mapping[str, tuple[Pair, bool, bool]]) -> None:
    """Print how many of the listed pairs were shown, by kind, of the clear ones and of the others."""
    if not found:
        return
    print("changes of mind: kind, listed, shown with both listed ends cited, shown with restatements of an end")
    for clear in (True, False):
        among = [each for each in found.values() if each[0].clear is clear]
        for kind in (*sorted({pair.kind for pair, _, _ in among}), None):
            chosen = [each for each in among if kind in (None, each[0].kind)]
            strict, lenient = sum(each[1] for each in chosen), sum(each[2] for each in chosen)
            title = kind or ("clear" if clear else "not clear")
            print(f"  {title:12} {len(chosen):4} {strict:4} {lenient:4}")


def write_sample(path: Path, people: Sequence[Grown], seed: int) -> None:
    """Write some of the changes out, to be read: is each a real change? And every doubtful claim."""
    texts = [f"{one.name}\t{text}" for one in people for text in one.shown]
    chosen = random.Random(seed).sample(texts, min(SAMPLE, len(texts)))
    doubtful = [line for one in people for line in one.doubtful]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in (*chosen, "", "doubtful:", *doubtful)), encoding="utf-8")
    print(f"{len(texts)} changes shown; {len(chosen)} of them, and {len(doubtful)} doubtful claims, in {path}")


if __name__ == "__main__":
    sys.exit(main())
