"""Measure the extractive personas: coverage, faithfulness, stability, readability, cost, beside two baselines.

    python benchmarks/persona_quality.py [--data FOLDER] [--only locomo|realmem] [--no-embedder] [--seed N] [--broken]

Coverage: share of a speaker's gold events that a claim of the document states (MiniLM cosine at least 0.65), on
personas made at once ("fresh") and grown by one regeneration a session ("grown"). Faithfulness: share of claims whose
words, numbers, names and denials the cited facts and their turns hold, by a judge that shares no code with the
product's checks; doubtful claims are written to a file. Stability: median share of claims kept word for word after one
more fact, over the last ten. Baselines of the same length, in the same run: the longest facts, and a plain summary
with a source list (the newest facts). `--broken` shuffles the citations and must fail.

Exit 1 when a target is missed. The data is not part of the project (AI_MEMORY_BENCH_DATA, else ../shared/data); tuned
on these files only. This measures the pure curator; with `load_real` the same figures are taken through the store.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.dialogues import Fact, Person, locomo, realmem  # noqa: E402
from benchmarks.judge import doubt, fragment, named  # noqa: E402
from curator.persona import markdown  # noqa: E402
from curator.persona.claims import Claim, Draft, Previous, Section  # noqa: E402
from curator.persona.extractive import compose  # noqa: E402
from curator.persona.source import Source  # noqa: E402
from substrate.recall import embedding  # noqa: E402

STATED = 0.65  # cosine at which a claim states a gold event
TARGETS = {
    "coverage fresh": 0.80,
    "coverage grown": 0.80,
    "faithful": 0.98,
    "kept": 0.90,
}
SECONDS = 3.0  # of one composition without its embedding
STEPS = {"locomo": 1, "realmem": 10}  # sessions between two regenerations of a grown persona
LAST = 10  # facts added one by one to measure stability

Rows = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Rows]


@dataclass
class Result:
    """Hold the figures of one person."""

    name: str
    facts: int
    words: int
    claims: int
    sections: int
    named: float
    fragments: int
    faithful: float
    doubtful: list[str]
    kept: float
    seconds: float
    coverage: dict[str, float] = field(default_factory=dict)


class Remembered:
    """Encode each text once; `seconds` is the time that took."""

    def __init__(self) -> None:
        self.rows: dict[str, Rows] = {}
        self.seconds = 0.0
        self.model = embedding.load()

    def __call__(self, texts: Sequence[str]) -> Rows:
        started = time.process_time()
        new = [text for text in dict.fromkeys(texts) if text not in self.rows]
        if new:
            self.rows.update(zip(new, self.model.encode(new), strict=True))
        found = np.stack([self.rows[text] for text in texts]) if texts else np.zeros((0, 384), np.float32)
        self.seconds += time.process_time() - started
        return found


def sources(facts: Sequence[Fact]) -> list[Source]:
    return [
        Source(
            id=f"mem-{number:05}",
            text=fact.text,
            title=fact.title,
            date=fact.date,
            sequence=number,
            times_seen=1,
            ancestors=frozenset(turn.id for turn in fact.turns),
            ancestor_texts=tuple(turn.text for turn in fact.turns),
            supersedes=frozenset(),
            contradicts=frozenset(),
        )
        for number, fact in enumerate(facts)
    ]


class Grown:
    """Hold a persona of one person and grow it by further sources."""

    def __init__(self, person: Person, embed: Embed | None, shuffle: random.Random) -> None:
        self.person, self.embed, self.shuffle = person, embed, shuffle
        self.previous: Previous | None = None
        self.count = 0

    def regenerate(self, read: Sequence[Source]) -> Draft:
        """Compose from these sources and what stood before; the order of the rows must not matter."""
        rows = list(read)
        self.shuffle.shuffle(rows)
        made = compose(
            self.person.name, rows, self.previous, embed=self.embed, new_id=self._new_id, other_names=self.person.others
        )
        self.previous = Previous(made.draft, frozenset(source.id for source in rows))
        return made.draft

    def _new_id(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}-{self.count:06}"


def measure(person: Person, embed: Remembered, *, embedded: bool, seed: int, broken: bool) -> Result:
    """Make all personas of one person and take the figures."""
    read = sources(person.facts)
    given = embed if embedded else None
    if given:
        given([fact.text for fact in person.facts])
    before, started = embed.seconds, time.process_time()
    fresh = Grown(person, given, random.Random(seed)).regenerate(read)
    seconds = time.process_time() - started - (embed.seconds - before)
    grown = grow(person, read, given, seed)
    by_id = {source.id: source for source in read}
    if broken:
        fresh = shuffled(fresh, random.Random(seed))
    body = markdown.render(person.name, fresh, by_id)
    said = markdown.parse(body)
    doubts = [line for claim in said.claims if (line := doubtful(claim, person, by_id, embed))]
    result = Result(
        name=f"{person.group} {person.name}"[:24],
        facts=len(read),
        words=markdown.word_count(body),
        claims=len(said.claims),
        sections=len(fresh.sections),
        named=statistics.mean(named(s.heading, [c.text for c in s.claims]) for s in fresh.sections),
        fragments=sum(map(fragment, (claim.text for claim in said.claims))),
        faithful=1 - len(doubts) / max(1, len(said.claims)),
        doubtful=doubts,
        kept=stability(person, read, given, seed),
        seconds=seconds,
    )
    if person.gold:
        texts = [claim.text for claim in said.claims]
        length = sum(len(text.split()) for text in texts)
        facts = [fact.text for fact in person.facts]
        bodies = {
            "fresh": texts,
            "grown": [claim.text for claim in markdown.parse(markdown.render(person.name, grown, by_id)).claims],
            "longest": cut(sorted(facts, key=lambda text: -len(text.split())), length),
            "newest": cut(facts[::-1], length),
        }
        result.coverage = {name: coverage(texts, person.gold, embed) for name, texts in bodies.items()}
    return result


def doubtful(claim: markdown.ParsedClaim, person: Person, by_id: dict[str, Source], embed: Embed) -> str | None:
    """Answer a line for the file of doubtful claims, or None."""
    cited = [by_id[id] for id in claim.sources]
    facts = [source.text for source in cited]
    turns = [text for source in cited for text in source.ancestor_texts]
    why = doubt(claim.text, person.name, facts, turns, [source.day for source in cited], embed)
    return None if why is None else "\t".join((person.name, why, claim.text, " | ".join(facts))).replace("\n", " ")


def grow(person: Person, read: Sequence[Source], embed: Embed | None, seed: int) -> Draft:
    """Regenerate after every session (RealMem: every tenth) from the facts known by then."""
    growing = Grown(person, embed, random.Random(seed))
    last = person.facts[-1].session
    draft = Draft()
    for session in [*range(1, last, STEPS[person.data]), last]:
        known = [source for source, fact in zip(read, person.facts, strict=True) if fact.session <= session]
        if known:
            draft = growing.regenerate(known)
    return draft


def stability(person: Person, read: Sequence[Source], embed: Embed | None, seed: int) -> float:
    """Answer the median share of claims kept word for word after one more fact, over the last ten."""
    growing = Grown(person, embed, random.Random(seed))
    before = growing.regenerate(read[:-LAST])
    shares = []
    for number in range(len(read) - LAST + 1, len(read) + 1):
        after = growing.regenerate(read[:number])
        texts = {claim.text for claim in before.claims()}
        shares.append(len(texts & {claim.text for claim in after.claims()}) / max(1, len(texts)))
        before = after
    return statistics.median(shares)


def coverage(texts: Sequence[str], gold: Sequence[str], embed: Embed) -> float:
    if not texts:
        return 0.0
    return float(((embed(list(gold)) @ embed(list(texts)).T).max(axis=1) >= STATED).mean())


def cut(texts: Sequence[str], length: int) -> list[str]:
    """Take texts from the front while they fit into so many words."""
    taken: list[str] = []
    for text in texts:
        if sum(len(other.split()) for other in taken) + len(text.split()) <= length:
            taken.append(text)
    return taken


def shuffled(draft: Draft, chance: random.Random) -> Draft:
    """Give every claim the citations of another."""
    cites = [claim.sources for claim in draft.claims()]
    chance.shuffle(cites)
    given = iter(cites)

    def swap(claims: Sequence[Claim]) -> tuple[Claim, ...]:
        return tuple(replace(claim, sources=next(given)) for claim in claims)

    return Draft(
        swap(draft.summary),
        tuple(Section(section.heading, swap(section.claims)) for section in draft.sections),
        swap(draft.changed),
    )


def missed(results: Sequence[Result], held: Sequence[int]) -> Iterator[str]:
    """Yield each target that is missed."""
    covered = [result for result in results if result.coverage]
    figures = {
        "faithful": statistics.mean(result.faithful for result in results),
        "kept": statistics.median(result.kept for result in results),
    }
    if covered:
        figures |= {
            f"coverage {name}": statistics.mean(r.coverage[name] for r in covered) for name in ("fresh", "grown")
        }
        longest = statistics.mean(result.coverage["longest"] for result in covered)
        if min(figures["coverage fresh"], figures["coverage grown"]) <= longest:
            yield f"coverage is not above the longest facts ({longest:.3f})"
    for name, figure in figures.items():
        if figure < TARGETS[name]:
            yield f"{name} {figure:.3f} is below {TARGETS[name]}"
    for result, words in zip(results, held, strict=True):
        if result.words > 500 or result.words < min(300, words):
            yield f"{result.name} has {result.words} words; its facts hold {words}"
        if result.fragments:
            yield f"{result.name} has {result.fragments} fragments"
        if result.seconds > SECONDS:
            yield f"{result.name} took {result.seconds:.2f} s"


COLUMNS = ("facts", "words", "claims", "sections", "named", "fragments", "faithful", "kept", "seconds")
BODIES = ("fresh", "grown", "longest", "newest")


def table(results: Sequence[Result]) -> None:
    """Print a row a person and the means; `kept` ends in its median, `fragments` in its sum."""
    print(" " * 24, *(f"{name:>9}" for name in (*COLUMNS, *BODIES)))
    for result in results:
        covered = (f"{result.coverage[name]:9.3f}" if result.coverage else f"{'-':>9}" for name in BODIES)
        print(f"{result.name:24}", *(_cell(getattr(result, name)) for name in COLUMNS), *covered)
    ends: dict[str, Callable[[list[float]], float]] = {"kept": statistics.median, "fragments": sum}
    last = [_cell(float(ends.get(name, statistics.mean)([getattr(r, name) for r in results]))) for name in COLUMNS]
    gold = [result.coverage for result in results if result.coverage]
    means = (f"{statistics.mean(one[name] for one in gold):9.3f}" if gold else f"{'-':>9}" for name in BODIES)
    print(f"{'all':24}", *last, *means)


def _cell(figure: float) -> str:
    return f"{figure:9}" if isinstance(figure, int) else f"{figure:9.3f}"


def main(argv: list[str] | None = None) -> int:
    """Print the tables and answer the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    usual = os.environ.get("AI_MEMORY_BENCH_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(usual))
    parser.add_argument("--only", choices=("locomo", "realmem"))
    parser.add_argument("--no-embedder", action="store_true", help="compose by overlap of words; MiniLM still judges")
    parser.add_argument("--seed", type=int, default=20260514)
    parser.add_argument("--broken", action="store_true", help="shuffle the citations; must fail")
    parser.add_argument("--doubtful", type=Path, default=ROOT / "build" / "persona_doubtful.tsv")
    options = parser.parse_args(argv)
    if not options.data.is_dir():
        print(f"development data not found in {options.data}; set AI_MEMORY_BENCH_DATA", file=sys.stderr)
        return 2
    people = [*locomo(options.data), *realmem(options.data)]
    people = [person for person in people if options.only in (None, person.data)]
    print("command:", "python benchmarks/persona_quality.py", *(argv if argv is not None else sys.argv[1:]))
    print(
        f"seed {options.seed}, n {len(people)} people, {sum(len(person.facts) for person in people)} facts; python "
        f"{platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cpus, {platform.machine()}; "
        f"model {embedding.DEFAULT_MODEL}, composing {'by words' if options.no_embedder else 'by meaning'}"
    )
    embed = Remembered()
    results = [
        measure(person, embed, embedded=not options.no_embedder, seed=options.seed, broken=options.broken)
        for person in people
    ]
    table(results)
    doubts = [line for result in results for line in result.doubtful]
    options.doubtful.parent.mkdir(parents=True, exist_ok=True)
    options.doubtful.write_text("".join(f"{line}\n" for line in doubts), encoding="utf-8")
    print(f"{len(doubts)} doubtful claims in {options.doubtful.name}")
    failures = list(missed(results, [sum(len(fact.text.split()) for fact in person.facts) for person in people]))
    for failure in failures:
        print("missed:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
