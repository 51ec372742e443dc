"""Tell whether what a claim puts together in one clause belongs together in its source.

A source may say of two events when, where and with whom each was; a claim that swaps them says nothing but words of
the source. What is looked at is where the verb of the claim's clause stands in the source, its anchor.

Source: docs/spec/persona.md §4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from curator.persona import values
from curator.persona.alignment import Match
from curator.persona.grammar import lexicon
from curator.persona.grammar.clauses import Word, light
from curator.persona.grammar.tokens import CALENDAR, NOUNY, Sort
from curator.persona.grammar.vocabulary import REPORTED

WITHIN: Final = 5  # words between a noun and what is said of it

_PLACES: Final = frozenset({"at", "in", "on", "near", "during"})
_DATED: Final = frozenset({"calendar", "year"})
_WHEN: Final = _DATED | {"time"}
_POINTING: Final = frozenset({"it", "its", "them", "this", "that", "these", "those", "there", "one", "which", "where"})
_FROM: Final = frozenset({"from", "since", "after"})
_UNTIL: Final = frozenset({"until", "till", "before", "by"})


@dataclass(frozen=True, slots=True)
class Anchor:
    """Hold a clause of a claim beside its source: its words, where each is found, and the clauses with its verb."""

    words: tuple[Word, ...]
    found: dict[int, tuple[Word, ...]]
    told: Sequence[Word]
    clauses: frozenset[int]
    matched: frozenset[int]


def misplaced(statement: Sequence[Word], matched: Sequence[Match], told: Sequence[Word]) -> str | None:
    """Answer the first circumstance that the source ties to something else."""
    for anchor in _anchors(statement, matched, told):
        for word in anchor.words:
            reason = _turned(word, told) or _modified(word, anchor)
            if reason is None and anchor.clauses and _astray(word, anchor, statement):
                reason = f"ties “{word.token.text}” to what its sources do not"
            if reason is not None:
                return reason
    return None


def _anchors(statement: Sequence[Word], matched: Sequence[Match], told: Sequence[Word]) -> Iterator[Anchor]:
    found = {one.word.place: tuple(other for other, _ in one.found) for one in matched}
    everywhere = frozenset(other.place for places in found.values() for other in places)
    for clause in sorted({word.clause for word in statement}):
        verbs = [one for one in matched if one.word.clause == clause and one.word.sort is Sort.VERB]
        there = frozenset(
            other.clause for one in verbs for other, opposite in one.found if other.sort is Sort.VERB and not opposite
        )
        if not any(word.clause == clause and word.sort is Sort.VERB for word in statement):  # "was late on Friday"
            said = [one for one in matched if one.word.clause == clause and _predicate(one.word)]
            there = frozenset(other.clause for one in said for other, _ in one.found if _predicate(other))
            if not said:  # "was at the port"
                at = [one for one in matched if one.word.clause == clause and _kind(one.word) == "place"]
                there = frozenset(other.clause for one in at for other, _ in one.found if other.led_by)
        yield Anchor(tuple(word for word in statement if word.clause == clause), found, told, there, everywhere)


def _predicate(word: Word) -> bool:
    """Tell whether a word is what somebody is said to be or have, and no circumstance of it."""
    return word.sort is Sort.OTHER and not word.led_by and bool(word.agents) and _kind(word) is None


def _astray(word: Word, anchor: Anchor, statement: Sequence[Word]) -> bool:
    """Tell whether the source has the word only where it speaks of another event."""
    kind = _kind(word)
    at = [other for other in anchor.told if kind is not None and _kind(other) == kind and _same(word, other)]
    if at and not any(other.clause in anchor.clauses for other in at):
        sentences = _sentences(anchor)
        apart = all(other.sentence not in sentences for other in at) and _eventful(at, anchor)
        if kind == "place" or (kind in _WHEN and apart and not _points(at, anchor)):
            return apart
        if any(_rival(word, kind or "", anchor.told, one, statement) for one in anchor.clauses):
            return True
    found = anchor.found.get(word.place, ())
    if word.sort is Sort.VERB or not found or any(other.clause in anchor.clauses for other in found):
        return False
    if word.sort is Sort.NAME and all(_acts(other, anchor) or _suffers(other, anchor) for other in found):
        return True
    if _object(word, anchor.words) and any(_other_object(one, anchor) for one in anchor.clauses):
        return True
    return all(other.sentence not in _sentences(anchor) and _foreign(other, anchor) for other in found)


def _sentences(anchor: Anchor) -> set[int]:
    return {other.sentence for other in anchor.told if other.clause in anchor.clauses}


def _kind(word: Word) -> str | None:
    """Answer what sort of circumstance a word is: a name, a day or month, a year, another number, a place."""
    if word.sort is Sort.NAME:
        return "name"
    if word.plain.removesuffix("s") in CALENDAR:
        return "calendar"
    if word.sort is Sort.NUMBER:
        return "year" if word.plain.isdigit() and len(word.plain) == 4 else "number"
    if word.sort is Sort.OTHER and word.led_by in _PLACES and lexicon.timely(word.plain):
        return "time"
    if word.sort is Sort.OTHER and word.led_by in _PLACES:
        return "place"
    return None


def _eventful(at: Sequence[Word], anchor: Anchor) -> bool:
    """Tell whether the clause of each word tells of an event, or of what somebody is, by itself."""
    acting = {other.clause for other in anchor.told if other.sort is Sort.VERB}
    being = {other.clause for other in anchor.told if other.sort is Sort.AUXILIARY}
    return all(word.clause in acting or (word.clause in being and _named(word)) for word in at)


def _points(at: Sequence[Word], anchor: Anchor) -> bool:
    """Tell whether the clause of one of the words speaks of "it", which may be the event of the claim."""
    pointing = {other.clause for other in anchor.told if other.plain in _POINTING}
    return any(word.clause in pointing for word in at)


def _named(word: Word) -> bool:
    return any(one.name for one in word.agents or ())


def _foreign(word: Word, anchor: Anchor) -> bool:
    """Tell whether the clause of a word is about an event that the claim does not speak of.

    A pronoun for a thing may tie the one to the other: "She paid 60 euros for it."
    """
    later = max(word.sentence, *_sentences(anchor))
    if any(other.sentence == later and other.plain in _POINTING for other in anchor.told):
        return False
    clause = [other for other in anchor.told if other.clause == word.clause]
    if not any(other.sort is Sort.VERB for other in clause):  # "she has been a pilot at the port"
        return any(_predicate(other) and _named(other) and other.place not in anchor.matched for other in clause)
    return any(_event(other, anchor) for other in clause)


def _event(word: Word, anchor: Anchor) -> bool:
    """Tell whether a word is the verb of an event that the claim does not speak of."""
    other = word.sort is Sort.VERB and word.place not in anchor.matched and not light(word)
    return other and REPORTED.isdisjoint(lexicon.bases(word.plain))


def _suffers(word: Word, anchor: Anchor) -> bool:
    """Tell whether something else is done to somebody: "refused Eve"."""
    return any(other.place == word.place - 1 and _event(other, anchor) for other in anchor.told)


def _acts(word: Word, anchor: Anchor) -> bool:
    """Tell whether somebody does something else in a clause of its own: no companion in what the anchor tells."""
    return any(
        other.clause == word.clause
        and other.sort is Sort.VERB
        and other.place not in anchor.matched
        and any(word.plain in one.words for one in other.agents or ())
        for other in anchor.told
    )


def _object(word: Word, clause: Sequence[Word]) -> bool:
    """Tell whether a noun is what the verb right before it is done to: "left the choir"."""
    if word.sort is not Sort.OTHER or word.led_by:
        return False
    if any(other.place == word.place + 1 and other.sort in NOUNY for other in clause):
        return False
    before = [other for other in clause if other.place < word.place and other.sort is not Sort.DETERMINER]
    return bool(before) and before[-1].sort is Sort.VERB


def _other_object(clause: int, anchor: Anchor) -> bool:
    """Tell whether the anchor's verb has an object that the claim does not name."""
    part = [other for other in anchor.told if other.clause == clause]
    return any(_object(other, part) and other.place not in anchor.matched for other in part)


def _modified(word: Word, anchor: Anchor) -> str | None:
    """Answer a word that the claim puts before a noun where the source puts another: "the right eye"."""
    behind = next((other for other in anchor.words if other.place == word.place + 1), None)
    if word.sort is not Sort.OTHER or behind is None or behind.sort is not Sort.OTHER:
        return None
    nouns, own = anchor.found.get(behind.place, ()), anchor.found.get(word.place, ())
    if not nouns or not own or any(_together(one, other, anchor.told) for one in nouns for other in own):
        return None
    before = [next((other for other in anchor.told if other.place == noun.place - 1), None) for noun in nouns]
    if all(
        one and one.sort is Sort.OTHER and not one.token.owner and one.place not in anchor.matched for one in before
    ):
        return f"says “{word.token.text} {behind.token.text}”, which its sources do not"
    return None


def _together(one: Word, other: Word, told: Sequence[Word]) -> bool:
    """Tell whether two words stand in one phrase."""
    first, last = sorted((one.place, other.place))
    between = [word for word in told if first < word.place < last and word.sentence == one.sentence]
    return last - first <= WITHIN and not any(word.sort is Sort.MARK for word in between)


def _same(word: Word, other: Word) -> bool:
    if word.sort is Sort.NUMBER:
        return bool(values.numbers(word.plain) & values.numbers(other.plain))
    return word.plain.removesuffix("s") == other.plain.removesuffix("s")


def _rival(word: Word, kind: str, told: Sequence[Word], clause: int, statement: Sequence[Word]) -> bool:
    """Tell whether the clause of the source has another such circumstance in the place of this one."""
    said = {other.plain.removesuffix("s") for other in statement}
    return any(
        other.clause == clause
        and (_kind(other) == kind or {_kind(other), kind} <= _DATED)
        and other.led_by == word.led_by
        and other.plain.removesuffix("s") not in said
        for other in told
    )


def _turned(word: Word, told: Sequence[Word]) -> str | None:
    """Answer a time that the claim begins with and the source ends with, or the other way round."""
    kind = _kind(word)
    at = [other for other in told if kind is not None and _kind(other) == kind and _same(word, other)]
    for ours, theirs in ((_FROM, _UNTIL), (_UNTIL, _FROM)):
        if at and word.led_by in ours and all(other.led_by in theirs for other in at):
            return f"turns round when ({word.token.text}) its sources say it was"
    return None
