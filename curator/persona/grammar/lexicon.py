"""Tell which English words mean the same, the wider or the opposite, and bring them to their base form.

The data is drawn from WordNet 3.0 by `benchmarks/lexicon.py`; it is read when the first claim is judged that does not
repeat its source, and is no part of reading or recall.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import Final

from curator.persona import words
from curator.persona.grammar.alike import ALIKE, APART
from curator.persona.grammar.vocabulary import CONVERSE, ENDINGS, UNITS, VAST

_SUFFIXES: Final = (
    *(("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", "e"), ("ed", ""), ("t", "")),
    *(("ing", "e"), ("ing", ""), ("er", ""), ("est", ""), ("ly", "")),
)
_AMERICAN: Final = {"is": "iz", "ys": "yz", "our": "or", "tre": "ter", "ll": "l", "ogue": "og", "ence": "ense"}
_BRITISH: Final = re.compile(r"(?:[iy]s|ll)(?=(?:e|es|ed|er|ers|ing|ation|ations)$)|our(?=\w{0,5}$)|(?:tre|ogue|ence)$")
_NEGATIVE_PREFIXES: Final = ("un", "dis", "in", "im", "ir", "il", "non")
SHORTEST: Final = 4  # letters a part of a compound or a word behind a prefix needs to be compared


class Relation(Enum):
    """Say how one word stands to another."""

    SAME = "same"
    OPPOSITE = "opposite"


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold what is known of a word: its parts of speech with their senses counted, and its relatives."""

    parts: frozenset[str]
    synonyms: frozenset[str]
    broader: frozenset[str]
    derived: frozenset[str]
    opposites: frozenset[str]


@cache
def _lines() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Read the file: the fields of each word, and the base of each irregular form."""
    fields: dict[str, list[str]] = {}
    irregular: dict[str, str] = {}
    for line in files(__package__).joinpath("english.tsv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        word, *rest = line.split("\t")
        if rest[0].startswith("="):
            irregular.setdefault(word, rest[0][1:])
        else:
            fields[word] = rest
    return fields, irregular


@words.remembered
def entry(word: str) -> Entry | None:
    """Answer what is known of a base form, or None."""
    found = _lines()[0].get(word)
    if found is None:
        return None
    parts, *sets = (frozenset(part.split()) for part in found)
    return Entry(frozenset(part[0] for part in parts), *sets)


def known(word: str) -> bool:
    """Tell whether a form, folded, is an English word of the lexicon."""
    return bool(bases(word))


@words.remembered
def bases(word: str) -> tuple[str, ...]:
    """List the base forms a folded word can have that the lexicon knows, the likeliest first."""
    fields, irregular = _lines()
    found = [irregular[word]] if word in irregular else []
    if word in fields:
        found.append(word)
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) > len(suffix) + 1:
            root = word[: -len(suffix)] + instead
            doubled = len(root) > 2 and root[-1] == root[-2] and not instead
            found += [each for each in (root, root[:-1] if doubled else "") if each in fields]
    if not found and (other := _BRITISH.sub(lambda match: _AMERICAN[match[0]], word)) != word:
        return bases(other)
    return tuple(dict.fromkeys(found))


def verbal(word: str) -> bool:
    """Tell whether a form can be one of a verb."""
    return any("v" in one.parts for base in bases(word) if (one := entry(base)))


def nominal(word: str) -> bool:
    """Tell whether a form can be one of a noun."""
    return any("n" in one.parts for base in bases(word) if (one := entry(base)))


@words.remembered
def animate(word: str) -> bool:
    """Tell whether a word can stand for a person or an animal."""
    if word in UNITS or word.removesuffix("s") in UNITS:
        return False
    seen = set(bases(word)) or _LIVING  # a word that is not known may be anybody
    front = set(seen)
    for _ in range(2):
        front = {wider for one in front if (found := entry(one)) for wider in found.broader} - seen
        seen |= front
    return not _LIVING.isdisjoint(seen)


_LIVING: Final = frozenset(
    [
        *("person", "individual", "relative", "parent", "mother", "adult", "child", "someone", "somebody", "people"),
        *("worker", "doctor", "physician", "surgeon", "dentist", "cook", "chef"),
        *("animal", "creature", "bird", "dog", "cat", "horse"),
    ]
)


@words.remembered
def timely(word: str) -> bool:
    """Tell whether a word says when or how often: "daily", "tomorrow", "evening"."""
    return any(
        base in UNITS or not UNITS.isdisjoint(one.broader | one.derived) or "period" in one.broader
        for base in bases(word)[:1]
        if (one := entry(base))
    )


@words.remembered
def acting(word: str) -> bool:
    """Tell whether a word can stand for whoever acts: somebody, or a body of people."""
    if animate(word):
        return True
    found = [one for base in bases(word) if (one := entry(base))]
    agentive = word.removesuffix("s").endswith(("er", "or", "ist")) and not any(one.broader for one in found)
    return agentive or any(not _BODIES.isdisjoint({word} | one.broader) for one in found)


_BODIES: Final = frozenset(
    [
        *("organization", "assemblage", "assembly", "institution", "body", "committee", "personnel", "ministry"),
        *("charity", "insurance", "museum"),
    ]
)


def irregular(word: str) -> bool:
    """Tell whether a form is an irregular one of a verb: "sold", "taught"."""
    return word in _lines()[1] and verbal(word)


def unchanging(word: str) -> bool:
    """Tell whether a form is a verb whose past looks like its base: "hurt", "put"."""
    return word in _UNCHANGING


_UNCHANGING: Final = frozenset(
    [
        "bet",
        "burst",
        "cast",
        "cost",
        "cut",
        "hit",
        "hurt",
        "let",
        "put",
        "quit",
        "read",
        "rid",
        "set",
        "shed",
        "shut",
        "split",
        "spread",
    ]
)


def phrase(verb: str, particle: str) -> str | None:
    """Answer the verb of two words that these are, if they are one: "gave", "up"."""
    for base in bases(verb):
        if f"{base}_{particle}" in _lines()[0]:
            return f"{base}_{particle}"
    return None


@words.remembered
def same(one: str, other: str) -> bool:
    """Tell whether two forms are of one word: "goes", "went"."""
    return one == other or words.stem(one) == words.stem(other) or not set(bases(one)).isdisjoint(bases(other))


@words.remembered
def relation(claimed: str, told: str) -> Relation | None:
    """Answer how a word of a claim stands to one of its source: the source may be narrower, the claim may not."""
    ours, theirs = bases(claimed) or (claimed,), bases(told) or (told,)
    if same(claimed, told):
        return Relation.SAME
    for one in ours:
        for other in theirs:
            found = _related(one, other)
            if found is not None:
                return found
    return Relation.SAME if _compound(claimed, told) or _root(claimed) == _root(told) else None


def _related(one: str, other: str) -> Relation | None:
    ours, theirs = entry(one), entry(other)
    if _prefixed(one, other) or _prefixed(other, one):
        return Relation.OPPOSITE
    if any(one in group and other in group for group in ALIKE) or converse(one, other):
        return Relation.SAME
    if ours is None or theirs is None or frozenset((one, other)) in APART:
        return None
    if other in ours.opposites or one in theirs.opposites:
        return Relation.OPPOSITE
    if not ours.opposites.isdisjoint(theirs.synonyms) or not theirs.opposites.isdisjoint(ours.synonyms):
        return None if other in ours.synonyms or one in theirs.synonyms else Relation.OPPOSITE
    if other in ours.synonyms or one in theirs.synonyms or other in ours.derived or one in theirs.derived:
        return Relation.SAME
    if one in theirs.broader or ours.derived & theirs.derived:
        return Relation.SAME
    return None


def converse(one: str, other: str) -> bool:
    """Tell whether two base forms tell the same from either end: "lend", "borrow"."""
    return (one, other) in CONVERSE or (other, one) in CONVERSE


def _prefixed(one: str, other: str) -> bool:
    return len(other) >= SHORTEST and any(one == prefix + other for prefix in _NEGATIVE_PREFIXES)


@words.remembered
def sisters(one: str, other: str) -> bool:
    """Tell whether two words are of one kind and so exclude each other: "morning" and "evening"."""
    ours, theirs = _kinds(one), _kinds(other)
    return relation(one, other) is None and not ours.isdisjoint(theirs)


@words.remembered
def _kinds(word: str) -> frozenset[str]:
    found = [entry(base) for base in bases(word)[:1]]
    return frozenset(wider for one in found if one for wider in one.broader) - VAST


def _root(word: str) -> str:
    """Take endings that make one part of speech of another off a long word: "asthmatic", "cellist"."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST - (ending in {"er", "ing"}):
            return word[: -len(ending)]
    return word


def _compound(one: str, other: str) -> bool:
    """Tell whether one word is the other with a word before or behind it: "filmmaker", "film"."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    for part in bases(shorter) or (shorter,):
        if len(part) >= SHORTEST and longer.startswith(part) and known(longer[len(part) :]):
            return True
        if len(part) >= SHORTEST and longer.endswith(part) and known(longer[: -len(part)]):
            return len(longer) - len(part) >= SHORTEST
    return False
