"""Hold the numbers and dates of a claim against those of one source: the value, what it counts, and when that was.

Source: docs/spec/persona.md §4.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from curator.persona import values
from curator.persona.grammar import lexicon
from curator.persona.grammar.clauses import Word
from curator.persona.grammar.lexicon import Relation
from curator.persona.grammar.tokens import NOUNY, Sort
from curator.persona.grammar.vocabulary import SINGLE, SWEEPING, UNITS
from curator.persona.source import MONTHS

_LIMITS: Final = frozenset({Sort.MARK, Sort.VERB, Sort.AUXILIARY, Sort.RELATIVE, Sort.SUBORDINATOR, Sort.PREPOSITION})
_TIMES: Final = {"once": {"1"}, "twice": {"2"}, "thrice": {"3"}}
_MORE: Final = frozenset({"over", "above", "more", "least", "beyond"})
_FEWER: Final = frozenset({"under", "below", "less", "fewer"})
_ALL: Final = frozenset({"always", "only", "all", "solely", "exclusively", "entirely"})
_EXCLUSIVE: Final = {
    "few": frozenset({"many"}),
    "many": frozenset({"few"}),
    "first": frozenset({"last"}),
    "last": frozenset({"first", "next"}),
    "next": frozenset({"last"}),
    "early": frozenset({"late"}),
    "late": frozenset({"early"}),
    "for": frozenset({"against"}),
    "favour": frozenset({"against"}),
    "against": frozenset({"for", "favour", "favor"}),
}
_EVERY: Final = frozenset({"every", "each"})
_ADVERBS: Final = {"day": "daily"}
_BEGINNING: Final = frozenset(
    {"begin", "start", "become", "join", "move", "found", "take_up", "learn", "marry", "open", "quit", "stop"}
)
_YEARS: Final = range(1000, 2200)
_MONTHS: Final = {name.casefold(): number for number, name in enumerate(MONTHS, 1)}


@dataclass(frozen=True, slots=True)
class Quantity:
    """Hold a number, and the words it counts."""

    value: str
    counts: tuple[str, ...]
    bound: str = ""  # "more" or "fewer" than that


def quantities(told: Sequence[Word]) -> tuple[Quantity, ...]:
    """List the numbers of a text with what follows them in their phrase: "two small dogs", "three of the dogs"."""
    found = []
    at = 0
    while at < len(told):
        if told[at].sort is not Sort.NUMBER:
            at += 1
            continue
        end = at
        while end < len(told) and (told[end].sort is Sort.NUMBER or (told[end].plain == "and" and _goes_on(told, end))):
            end += 1
        if _dated(told, at, end):
            at = end
            continue
        spelled = _TIMES.get(told[at].plain) or values.numbers(" ".join(word.token.text for word in told[at:end]))
        counted = tuple(_counted(told, end))
        found += [Quantity(value, counted, _bound(told, at)) for value in sorted(spelled)]
        at = end
    return tuple(found)


def _bound(told: Sequence[Word], at: int) -> str:
    near = {word.plain for word in told[max(0, at - 2) : at]}
    return "more" if near & _MORE else "fewer" if near & _FEWER else ""


def _each(told: Sequence[Word]) -> Iterable[Quantity]:
    """Yield what stands behind "a" or "an" as one of it."""
    for at, word in enumerate(told):
        if word.plain in {"a", "an"} and (counted := tuple(_counted(told, at + 1))) and not _units(counted):
            yield Quantity("1", counted)


def _units(counts: Sequence[str]) -> frozenset[str]:
    return UNITS & {base for word in counts for base in (*lexicon.bases(word), word, word.removesuffix("s"))}


def unsteady(claim: Sequence[Word], told: Sequence[Word]) -> str | None:
    """Answer what the claim says of every one, where the source gives a number: "every day", "two days a week"."""
    for skipped in {each.plain.removesuffix("s") for each in _alternate(told)} if not any(_alternate(claim)) else ():
        often = {skipped, _ADVERBS.get(skipped, f"{skipped}ly")}
        if found := next((word for word in claim if word.plain.removesuffix("s") in often), None):
            return f"says “{found.token.text}”, and leaves out that it is every other one"
    for at, word in enumerate(claim[:-1]):
        counted = claim[at + 1].plain
        if word.plain in _EVERY:
            there = [place for place, other in enumerate(told) if place and lexicon.same(counted, other.plain)]
            if there and all(told[place - 1].sort is Sort.NUMBER and _many(told[place - 1]) for place in there):
                return f"says {word.plain} {counted}, which its sources do not"
    return None


def _alternate(told: Sequence[Word]) -> Iterable[Word]:
    """Yield what comes only every second time: "every other week", "alternate Fridays"."""
    for before, word, behind in zip(("", *(each.plain for each in told)), told, told[1:], strict=False):
        if word.plain == "alternate" or (before in _EVERY and word.plain in {"other", "second"}):
            yield behind


def sweeping(claim: Sequence[Word], told: Sequence[Word]) -> str | None:
    """Answer a word that makes the claim hold always or of all, where nothing in the source does."""
    if any(word.plain in SWEEPING or lexicon.same("constant", word.plain) for word in told):
        return None
    found = next((word for word in claim if word.plain in _ALL), None)
    return f"says “{found.token.text}”, which its sources do not" if found else None


def _lasting(claim: Sequence[Word], told: Sequence[Word]) -> bool:
    """Tell whether the claim makes a duration of what was at one time: "for ten years", "ten years ago"."""
    spans = {word.plain for word in claim if word.led_by == "for" and _units((word.plain,))}
    if not spans or any(word.plain == "ago" for word in claim):
        return False
    there = [at for at, word in enumerate(told[:-1]) if word.plain in spans]
    return bool(there) and all(told[at + 1].plain == "ago" and not _started(told, at) for at in there)


def _started(told: Sequence[Word], at: int) -> bool:
    """Tell whether what was so long ago is a beginning: "began ten years ago"."""
    return any(word.clause == told[at].clause and not _BEGINNING.isdisjoint(lexicon.bases(word.plain)) for word in told)


def almost(claim: Sequence[Word], told: Sequence[Word]) -> str | None:
    """Answer a verb of the claim that the source has only nearly done."""
    hedges = {"almost", "nearly"}
    if any(word.plain in hedges for word in claim):
        return None
    for at, word in enumerate(told[1:], 1):
        if word.sort is Sort.VERB and told[at - 1].plain in hedges:
            return next(
                (
                    f"says “{one.token.text}”, which its sources say almost happened"
                    for one in claim
                    if one.sort is Sort.VERB and lexicon.same(one.plain, word.plain)
                ),
                None,
            )
    return None


def exchanged(claim: Sequence[Word], told: Sequence[Word]) -> str | None:
    """Answer a small word of the claim in whose place the source has its opposite: "few friends", "many friends"."""
    for at, word in enumerate(claim):
        opposites = _EXCLUSIVE.get(word.plain, frozenset())
        if not opposites or any(other.plain == word.plain for other in told):
            continue
        behind = {each.plain for each in claim[at + 1 : at + 4] if each.sort is Sort.OTHER}
        for there, other in enumerate(told):
            if other.plain in opposites and any(each.plain in behind for each in told[there + 1 : there + 4]):
                return f"says “{word.token.text}” where its sources say “{other.token.text}”"
    return None


def _many(word: Word) -> bool:
    return word.plain not in {"one", "once", "1"}


def _dated(told: Sequence[Word], start: int, end: int) -> bool:
    """Tell whether a number is part of a date: it stands beside the name of a month."""
    return (start > 0 and told[start - 1].plain in _MONTHS) or (
        any(
            word.plain in _MONTHS
            for word in told[end : end + (2 if end < len(told) and told[end].plain == "of" else 1)]
        )
    )


def _goes_on(told: Sequence[Word], at: int) -> bool:
    return at + 1 < len(told) and told[at + 1].sort is Sort.NUMBER and told[at - 1].plain in {"hundred", "thousand"}


def _counted(told: Sequence[Word], start: int) -> Iterable[str]:
    for at, word in enumerate(told[start : start + 4], start):
        if word.plain == "of" and at == start:
            continue
        if word.sort is Sort.DETERMINER and told[at - 1].plain == "of":
            continue
        if word.sort not in NOUNY or word.sort is Sort.NUMBER:
            return
        yield word.plain


def wrong(claim: Sequence[Word], told: Sequence[Word], known: frozenset[values.Day]) -> str | None:
    """Answer the first number of the claim that the source does not hold, or holds of something else."""
    theirs = quantities(told)
    single_things = tuple(_each(told))
    held = {one.value for one in theirs} | {str(day.year) for day in known if day.year}
    single = any(word.plain in SINGLE for word in told)
    if _lasting(claim, told):
        return "gives a duration to what its sources say was at one time"
    for one in quantities(claim):
        if one.value not in held and not (one.value == "1" and single and not _counted_otherwise(one, theirs, set())):
            return f"says {one.value}, which its sources do not"
        if _counted_otherwise(one, (*theirs, *single_things), {each.value for each in quantities(claim)}):
            return f"says {one.value} of what its sources count otherwise"
        alike = [other for other in theirs if other.value == one.value]
        if one.bound and alike and all(other.bound and other.bound != one.bound for other in alike):
            return f"says {one.bound} than {one.value}, which its sources do not"
        if _elsewhere(one, alike, claim, told):
            return f"says {one.value} of what its sources count otherwise"
        units = _units(one.counts)
        theirs_of = [_units(other.counts) for other in alike]
        if one.counts and theirs_of and all(each and not units & each for each in theirs_of):
            return f"says {one.value} of what its sources count otherwise"
    return None


def _elsewhere(one: Quantity, alike: Sequence[Quantity], claim: Sequence[Word], told: Sequence[Word]) -> bool:
    """Tell whether the number moved from one noun of the claim to another: "three organs in valleys"."""
    if not one.counts or not alike or not all(other.counts for other in alike):
        return False
    last = [other.counts[-1] for other in alike]
    if any(lexicon.relation(ours, each) is not None for ours in one.counts for other in alike for each in other.counts):
        return False
    held = any(lexicon.same(one.counts[-1], word.plain) for word in told)
    return held and all(any(lexicon.same(each, word.plain) for word in claim) for each in last)


def _counted_otherwise(one: Quantity, theirs: Sequence[Quantity], said: set[str]) -> bool:
    """Tell whether the source gives another number of the same, and this one of something else.

    In "from 20 to 6 minutes" one unit is for both: `said` are all numbers of the claim.
    """
    same = [other for other in theirs if _alike(one.counts, other.counts)]
    if not same or any(other.value == one.value for other in same):
        return False
    loose = any(other.value == one.value and not other.counts for other in theirs)
    both = all(other.value in said for other in same)
    return not loose or (bool(_units(one.counts)) and not both)


def _alike(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Tell whether two numbers count the same: the last word of a phrase says what."""
    return bool(ours and theirs) and any(lexicon.relation(word, theirs[-1]) is Relation.SAME for word in ours)


def misdated(text: str, known: frozenset[values.Day]) -> str | None:
    """Answer the first date of a text that is none of the known."""
    for day in sorted(values.days(text), key=repr):
        if not any(one.covers(day) for one in known):
            said = "-".join(f"{part:02}" for part in (day.year, day.month, day.day) if part)
            return f"gives a date ({said}) that its sources do not"
    return None


def calendar(word: str, known: frozenset[values.Day]) -> bool:
    """Tell whether a month or year of a claim is one of the dates that the source means."""
    month = _MONTHS.get(word)
    if month:
        return any(day.month == month for day in known)
    return word.isdigit() and int(word) in _YEARS and any(str(day.year) == word for day in known)
