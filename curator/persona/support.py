"""Decide whether a claim says only what its sources say.

Values are compared in a normal form, denials clause by clause, the rest by the share of content words that the
sources hold. Each function answers what is unsupported, in words, or None.

Source: docs/spec/persona.md §4.2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from curator.persona import values, words
from curator.persona.sentences import sentences
from curator.persona.source import MONTHS, Source
from curator.persona.vocabulary import AUXILIARIES, ENDINGS, NUMBERS, ORDINALS, PAST, SCALES

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

SHARED: Final = 0.6  # content words of a claim its sources must hold
SHARED_CLOSE: Final = 0.4  # the same where the meaning is close; never for claims of fewer than four content words
CLOSE: Final = 0.8  # cosine of a claim and a source that counts as close
DENIED: Final = 0.5  # content words of a denying clause that one denying clause of a source must hold

_CLAUSE = re.compile(
    r"[.,;:!?()—–]+\s|\s[—–-]+\s|[。，；]|\b(?:but|and|or|because|although|though|while|which|who|that|so|however)\b",
    re.IGNORECASE,
)


def unsupported(claim: str, cited: Sequence[Source], known: frozenset[str], embed: Embed | None) -> str | None:
    """Answer the first thing the cited sources do not say; `known` are words that need no support, folded.

    A claim made of whole sentences of its sources says what they say.
    """
    whole = {sentence for source in cited for sentence in _sentences(source.text)}
    if whole.issuperset(_sentences(claim)):
        return None
    texts = [part for source in cited for part in (source.text, source.title or "", *source.ancestor_texts)]
    return (
        _value(claim, cited, texts)
        or _quotation(claim, texts)
        or _name(claim, texts, known)
        or _denial(claim, texts, frozenset(map(words.stem, known)))
        or _content(claim, texts, frozenset(map(words.stem, known)), embed)
    )


def _value(claim: str, cited: Sequence[Source], texts: Sequence[str]) -> str | None:
    told = values.told(cited, texts)
    held = {number for text in texts for number in values.numbers(text)}
    years = {str(day.year) for day in told if day.year}
    for number in sorted(values.numbers(claim) - held - years):
        return f"says {number}, which its sources do not"
    for day in sorted(values.days(claim), key=repr):
        if not any(known.covers(day) for known in told):
            said = "-".join(f"{part:02}" for part in (day.year, day.month, day.day) if part)
            return f"gives a date ({said}) that its sources do not"
    return None


def _quotation(claim: str, texts: Sequence[str]) -> str | None:
    for quoted in map(_folded, words.quotations(claim)):
        if not any(quoted in _folded(text) for text in texts):
            return "quotes what its sources do not say"
    return None


def _folded(text: str) -> str:
    return " ".join(words.folded(text))


def _name(claim: str, texts: Sequence[str], known: frozenset[str]) -> str | None:
    held = known.union(*map(_stems, texts))
    for name in (*words.names(claim), *_subject(claim)):
        if name not in known and words.stem(name) not in held and not values.days(f"in {name.title()}"):
            return f"names {name.title()}, whom or which its sources do not"
    return None


def _subject(claim: str) -> list[str]:
    """Answer the first word where a verb follows it: it may be a name, whose capital proves nothing."""
    found = words.folded(claim)
    verb = len(found) > 1 and (found[1] in AUXILIARIES or found[1] in PAST or found[1].endswith(("s", "ed")))
    return [found[0]] if verb and words.stems(found[0]) else []


@words.remembered
def _stems(text: str) -> frozenset[str]:
    return frozenset(map(words.stem, words.folded(text)))


@words.remembered
def _sentences(text: str) -> frozenset[str]:
    return frozenset(sentences(text))


@words.remembered
def clauses(text: str) -> tuple[tuple[frozenset[str], bool], ...]:
    """List the content stems of each clause, and whether it denies them."""
    parts = [part for part in _CLAUSE.split(text) if part.strip()]
    return tuple(
        (words.stems(part), words.negated(part) or not ENDINGS.isdisjoint(words.folded(part))) for part in parts
    )


def _denial(claim: str, texts: Sequence[str], known: frozenset[str]) -> str | None:
    held = [clause for text in texts for clause in clauses(text)]
    affirmed = {stem for stems, denies in held if not denies for stem in stems} | known
    denied = {stem for stems, denies in held if denies for stem in stems}
    for stems, denies in clauses(claim):
        wanted = stems - known
        if denies and not any(denying and words.overlap(wanted, said) >= DENIED for said, denying in held):
            return "denies what its sources do not deny"
        if not denies and wanted & (denied - affirmed):
            return "affirms what its sources deny"
    return None


_COUNTED = frozenset(map(words.stem, (*NUMBERS, *ORDINALS, *SCALES, *map(str.casefold, MONTHS))))


def _content(claim: str, texts: Sequence[str], known: frozenset[str], embed: Embed | None) -> str | None:
    wanted = frozenset(stem for stem in words.stems(claim) - known - _COUNTED if not stem[0].isdigit())
    shared = words.overlap(wanted, frozenset(stem for text in texts for stem in words.stems(text)))
    if shared >= SHARED:
        return None
    if embed and shared >= SHARED_CLOSE and len(wanted) > 3:
        rows = embed([claim, *filter(None, texts)])
        if float((rows[1:] @ rows[0]).max()) >= CLOSE:
            return None
    return "says more than its sources"
