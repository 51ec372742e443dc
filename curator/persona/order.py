"""Hold what a claim tells of two events against its source: which was first, and who only says that they were.

Source: docs/spec/persona.md §4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from curator.persona import words
from curator.persona.alignment import Match
from curator.persona.grammar import lexicon
from curator.persona.grammar.clauses import Word
from curator.persona.grammar.tokens import Sort

NEAR: Final = 30  # words on either side of "before" that are compared

_ORDER: Final = {"before": 1, "after": -1}
_HELD: Final = frozenset({Sort.VERB, Sort.OTHER})
_OPINION: Final = frozenset({"say", "claim", "think", "believe", "suspect", "allege", "guess", "assume", "suppose"})
_HEARSAY: Final = _OPINION | {"tell", "mention", "report", "note", "call", "accord", "hear", "describe", "consider"}


def turned(claim: Sequence[Word], told: Sequence[Word]) -> str | None:
    """Answer that the claim puts first what the source puts second."""
    theirs = list(_pairs(told))
    for early, late in _pairs(claim):
        reverse = any(early & second - first and late & first - second for first, second in theirs)
        if reverse and not any(early & first - second and late & second - first for first, second in theirs):
            return "turns round what its sources say came first"
    return None


def _pairs(told: Sequence[Word]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the words of what came first and of what came later, for each "before" and "after" of a sentence."""
    for at, word in enumerate(told):
        if word.plain not in _ORDER:
            continue
        before = [other for other in told[max(0, at - NEAR) : at] if other.sentence == word.sentence]
        behind = [other for other in told[at + 1 : at + 1 + NEAR] if other.sentence == word.sentence]
        comma = next((other.place for other in behind if other.sort is Sort.MARK), None)
        if not before and comma is not None:  # "After she reads, Ada sleeps."
            before = [other for other in behind if other.place > comma]
            behind = [other for other in behind if other.place < comma]
        way = _ORDER[word.plain] * (-1 if at + 1 < len(told) and told[at + 1].plain == "which" else 1)
        sides = (_stems(before), _stems(behind))[::way]
        if all(sides):
            yield sides[0], sides[1]


def _stems(part: Sequence[Word]) -> frozenset[str]:
    return frozenset(
        words.stem(next(iter(lexicon.bases(word.plain)), word.plain)) for word in part if word.sort in _HELD
    )


def opinion(claim: Sequence[Word], matched: Sequence[Match], told: Sequence[Word]) -> str | None:
    """Answer that the claim tells as a fact what somebody else only says or thinks in the source."""
    if claim[0].plain == "that" or any(not _HEARSAY.isdisjoint(lexicon.bases(word.plain)) for word in claim):
        return None
    ours = frozenset(part for word in claim for one in word.agents or () for part in one.words)
    found = [[other for other, _ in one.found] for one in matched if one.found]
    sayers = [word for word in told if word.sort is Sort.VERB and not _OPINION.isdisjoint(lexicon.bases(word.plain))]
    for word in sayers:
        others = bool(word.agents) and not any(one.words & ours for one in word.agents or ())
        behind = all(
            all(other.sentence == word.sentence and other.place > word.place for other in places) for places in found
        )
        if others and found and behind and not word.denied:
            return "tells as a fact what its sources say that somebody says"
    return None
