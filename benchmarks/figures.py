"""Take the figures of personas, hold them against the targets, and print them.

Source: docs/spec/persona.md §9.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks import judge
from benchmarks.corpora import Sample
from benchmarks.judge import Embed
from benchmarks.portraits import Portraits, Version
from substrate.limits import PERSONA_WORDS_MAX, PERSONA_WORDS_MIN

COVERAGE = 0.80  # of gold events
FAITHFUL = 0.98  # of claims
KEPT = 0.90  # of claims, the median person
SECONDS = 5.0  # of the processor for one generation, without encoding
BODIES = ("fresh", "grown", "longest", "newest")


@dataclass
class Result:
    """The figures of one person; shares are from 0 to 1. `held` is how many words the facts have together."""

    name: str
    data: str
    facts: int
    held: int
    words: int
    claims: int
    sections: int
    uncited: int
    faults: tuple[str, ...]
    named: float
    fragments: int
    faithful: float
    grounded: float
    grounded_longest: float
    kept: float
    stated: bool
    seconds: float
    doubtful: list[str]
    same: bool | None = None  # None where it was not looked at
    coverage: dict[str, float] = field(default_factory=dict)


def result(sample: Sample, person: str, made: Portraits, embed: Embed, *, broken: int | None) -> Result:
    """Take the figures of one person; with a seed in `broken` the citations are shuffled first."""
    fresh = made.fresh if broken is None else made.fresh.shuffled(broken)
    facts = sample.about(person)
    turns = {turn.id: sample.content(turn) for turn in sample.turns}
    length = sum(len(text.split()) for text in fresh.texts)
    longest = judge.cut(sorted((fact.text for fact in facts), key=lambda text: -len(text.split())), length)
    behind = {fact.text: [turns[id] for id in fact.turns] for fact in facts}
    doubts = list(_doubts(fresh, person, embed))
    grounds = [
        judge.grounded(claim.text, [turn for told in fresh.cited(claim) for turn in told.turns], person, embed)
        for claim in fresh.claims
    ]
    grounds_longest = [judge.grounded(text, behind[text], person, embed) for text in longest]
    versions = [version for version in (made.fresh, made.grown, made.later) if version is not None]
    found = Result(
        name=f"{sample.name} {person}",
        data=sample.data,
        facts=len(facts),
        held=sum(len(fact.text.split()) for fact in facts),
        words=fresh.words,
        claims=len(fresh.claims),
        sections=len(judge.sections(fresh.claims)),
        uncited=sum(not claim.sources for claim in fresh.claims),
        faults=tuple(fault for version in versions for fault in version.faults),
        named=judge.naming(fresh.claims),
        fragments=sum(map(judge.fragment, fresh.texts)),
        faithful=1 - len(doubts) / max(1, len(fresh.claims)),
        grounded=sum(grounds) / max(1, len(grounds)),
        grounded_longest=sum(grounds_longest) / max(1, len(grounds_longest)),
        kept=len(set(fresh.texts) & set(made.later.texts)) / max(1, len(set(fresh.texts))),
        stated=made.news in made.later.texts,
        seconds=fresh.seconds,
        doubtful=[f"{sample.name}\t{person}\t{doubt}" for doubt in doubts],
    )
    if gold := sample.events.get(person):
        newest = judge.cut([fact.text for fact in facts][::-1], length)
        bodies = {"fresh": fresh.texts, "longest": longest, "newest": newest}
        bodies |= {"grown": made.grown.texts} if made.grown is not None else {}
        found.coverage = {name: judge.coverage(texts, gold, embed) for name, texts in bodies.items()}
    return found


def _doubts(version: Version, person: str, embed: Embed) -> Iterator[str]:
    for claim in version.claims:
        cited = version.cited(claim)
        if why := judge.doubt(claim.text, cited, person, embed):
            told = " | ".join(" ".join(one.text.split()) for one in cited)
            yield f"{why}\t{claim.text}\t{told}"


def missed(results: Sequence[Result]) -> Iterator[str]:
    """Yield each target that is missed."""
    for found in results:
        if found.uncited or found.faults:
            yield f"{found.name}: {found.uncited} claims cite nothing; {'; '.join(found.faults) or 'no faults'}"
        if not min(PERSONA_WORDS_MIN, found.held) <= found.words <= PERSONA_WORDS_MAX:
            yield f"{found.name} has {found.words} words; its facts hold {found.held}"
        if found.fragments:
            yield f"{found.name} has {found.fragments} fragments"
        if found.same is False:
            yield f"{found.name} has other bytes in a second process"
        if found.seconds > SECONDS:
            yield f"{found.name} took {found.seconds:.1f} s"
    if (faithful := mean(results, lambda found: found.faithful)) < FAITHFUL:
        yield f"{faithful:.3f} of the claims are faithful, wanted {FAITHFUL}"
    if (kept := statistics.median(found.kept for found in results)) < KEPT:
        yield f"{kept:.3f} of the claims are kept, wanted {KEPT}"
    if covered := [found for found in results if found.coverage]:
        yield from _missed_beside_the_longest(covered)


def _missed_beside_the_longest(covered: Sequence[Result]) -> Iterator[str]:
    """Yield the targets that are missed where there are gold events."""
    longest = mean(covered, lambda found: found.coverage["longest"])
    for body in ("fresh", "grown"):
        share = mean(covered, lambda found: found.coverage[body])  # noqa: B023  # called before the next turn
        if share < COVERAGE or share <= longest:
            yield f"coverage of {body} is {share:.3f}; wanted {COVERAGE}, and above the longest facts' {longest:.3f}"
    ours, theirs = mean(covered, lambda found: found.grounded), mean(covered, lambda found: found.grounded_longest)
    if ours < theirs:
        yield f"turns hold {ours:.3f} of the claims and {theirs:.3f} of the longest facts"


def mean(results: Sequence[Result], figure: Callable[[Result], float]) -> float:
    """Give the mean of a figure."""
    return statistics.mean(map(figure, results))


@dataclass(frozen=True)
class Column:
    """A column of the table: its head, what stands in a row, and how rows are put together at its foot."""

    head: str
    value: Callable[[Result], float | None]
    form: str
    foot: Callable[[list[float]], float] = statistics.mean


def _stated(body: str) -> Callable[[Result], float | None]:
    return lambda found: found.coverage.get(body)


COLUMNS = (
    Column("facts", lambda found: found.facts, ".0f"),
    Column("words", lambda found: found.words, ".0f"),
    Column("claims", lambda found: found.claims, ".0f"),
    Column("sect", lambda found: found.sections, ".0f"),
    Column("uncited", lambda found: found.uncited, ".0f", sum),
    Column("faults", lambda found: len(found.faults), ".0f", sum),
    Column("same", lambda found: found.same, ".0f", min),
    Column("named", lambda found: found.named, ".2f"),
    Column("frag", lambda found: found.fragments, ".0f", sum),
    Column("faith", lambda found: found.faithful, ".3f"),
    Column("ground", lambda found: found.grounded, ".3f"),
    Column("longest", lambda found: found.grounded_longest, ".3f"),
    Column("kept", lambda found: found.kept, ".3f", statistics.median),
    Column("new", lambda found: found.stated, ".2f"),
    Column("sec", lambda found: found.seconds, ".2f"),
    *(Column(body, _stated(body), ".3f") for body in BODIES),
)


def table(results: Sequence[Result]) -> None:
    """Print a row a person; at the foot means, the median of `kept`, sums of what must be 0, the least of `same`."""
    width = max(len(found.name) for found in results)
    groups = [("LoCoMo", "locomo"), ("RealMem", "realmem"), ("all", "")]
    print(" " * width, *(column.head.rjust(_wide(column)) for column in COLUMNS))
    for found in results:
        print(found.name.ljust(width), *(_cell(column, [found]) for column in COLUMNS))
    for title, data in groups:
        if among := [found for found in results if found.data.startswith(data)]:
            print(f"{title} ({len(among)})".ljust(width), *(_cell(column, among) for column in COLUMNS))


def _cell(column: Column, results: Sequence[Result]) -> str:
    values = [float(value) for found in results if (value := column.value(found)) is not None]
    return (format(column.foot(values), column.form) if values else "-").rjust(_wide(column))


def _wide(column: Column) -> int:
    return max(5, len(column.head))
