"""Name a section after what its claims speak of and the others do not.

A heading is made of noun phrases of the claims. What a noun is, the sources show themselves: a word that ends a
phrase opened by "a", "her" or "of" is one; a word that follows the entity's name or "to" is a verb.

Source: docs/spec/persona.md §9 (readability).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from curator.persona import words
from curator.persona.source import MONTHS
from curator.persona.values import WEEKDAYS
from curator.persona.vocabulary import AUXILIARIES, NEGATIONS, PALE, PAST, SPEAKER, STOP, TALK, VAGUE
from curator.persona.words import RUN

FALLBACK: Final = "Further facts"
FITS: Final = 1 / 3  # share of a section's claims that must hold a word of its heading for it to stay
PHRASES: Final = 2  # phrases of a heading; a third only where two name less than a third of the claims
BEHIND: Final = 0.3  # what a sentence that is no claim counts beside one that is
HEAVY: Final = 3  # such sentences that make a phrase of a single claim worth a second place
FEW: Final = 3  # claims of a section up to which a phrase that names one of them is no heading for the others
SMALL: Final = 220  # words of all claims up to which such a section has a second phrase: there is room for it
PAIR: Final = 1.6  # how much more a phrase of two words is worth than a word

_OPENERS = frozenset(
    {
        "a",
        "an",
        "the",
        "his",
        "her",
        "their",
        "its",
        "my",
        "our",
        "of",
        "in",
        "at",
        "on",
        "for",
        "with",
        "about",
        "from",
    }
)
_CALENDAR = frozenset(map(str.casefold, MONTHS)) | {*WEEKDAYS, "last", "next", "today", "yesterday", "tomorrow"}
_TOKEN = re.compile(r"[^\W\d_](?:[^\W_]|['’-](?=\w))*|\S")
_LETTERS = re.compile(f"[{RUN}]{{2,}}")


@dataclass(frozen=True, slots=True)
class Grammar:
    """Hold what the sources show about words: those that are nouns, those that are verbs, those never to name."""

    nouns: frozenset[str]
    verbs: frozenset[str]
    never: frozenset[str]


def learn(texts: Sequence[str], name: str) -> Grammar:
    """Learn nouns and verbs from the sources; words of the entity's name never make a heading."""
    never = {words.plain(word) for word in words.words(name)} | {"user"}
    nouns: Counter[str] = Counter()
    verbs: Counter[str] = Counter()
    for text in texts:
        tokens = _TOKEN.findall(text)
        for before, token in pairwise(tokens):
            follows = words.plain(before) in never and words.bare(before) == before
            if token[0].islower() and (follows or before == "to"):
                verbs.update((words.plain(token), f"{words.plain(token)}s"))
        for run, opened in _runs(tokens):
            if opened and run:
                nouns[words.plain(run[-1])] += 1
    certain = frozenset(word for word, count in verbs.items() if count >= nouns[word])
    return Grammar(frozenset(nouns) - certain, certain, frozenset(never))


def _runs(tokens: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Yield runs of content words, and whether each follows a word that opens a noun phrase."""
    run: list[str] = []
    opened = False
    for token in (*tokens, "."):
        folded = token.casefold().replace("’", "'")
        if token[0].isalnum() and words.plain(token) not in STOP and not _LETTERS.search(token):
            run.append(token)
            if folded.endswith("'s"):
                yield run, opened
                run, opened = [], True
            continue
        if run:
            yield run, opened
        run, opened = [], folded in _OPENERS


def name_section(
    claims: Sequence[str],
    others: Sequence[str],
    grammar: Grammar,
    *,
    behind: Sequence[str] = (),
    taken: Collection[str] = (),
) -> str:
    """Answer a heading for the claims: up to three phrases that occur in them, and more than in `others`.

    `behind` are further sentences on the same, which tell what matters in it. No word of a heading in `taken` is used
    again. Ties go to the phrase that occurs first.
    """
    used = {stem for heading in taken for stem in words.stems(heading)}
    found = [_phrases(text, grammar) for text in claims]
    around = Counter(key for text in behind for key in _phrases(text, grammar))
    elsewhere = Counter(key for text in others for key in _phrases(text, grammar))
    total = len(claims) + len(others)
    few = len(claims) <= FEW and sum(map(words.count, (*claims, *others))) <= SMALL
    chosen: list[tuple[str, ...]] = []
    open_ = set(range(len(claims)))
    while len(chosen) < PHRASES or (len(chosen) <= PHRASES and len(open_) > (1 - FITS) * len(claims)):
        lone = bool(chosen) and _bare_name(chosen[0], found)
        open_ = open_ or (set(range(len(claims))) if lone else open_)
        thin = not chosen or lone or (few and open_) or len(open_) > (1 - FITS) * len(claims)
        held = Counter(key for at in sorted(open_) for key in found[at])
        scored = [
            (round((count + BEHIND * around[key]) * _told_apart(key, total, elsewhere[key]), 6), -place, key)
            for place, (key, count) in enumerate(held.items())
            if not used & set(key) and (thin or count > 1 or around[key] >= HEAVY)
        ]
        if not scored:
            break
        key = max(scored)[2]
        chosen.append(key)
        used |= set(key)
        open_ -= {at for at in open_ if key in found[at]}
    if not chosen:
        return _numbered(taken)
    forms = (Counter(form for phrases in found for form in phrases.get(key, ())) for key in chosen)
    *first, last = (_titled(form.most_common(1)[0][0]) for form in forms)
    return f"{', '.join(first)} and {last}" if first else last


def _bare_name(key: Sequence[str], found: Sequence[Mapping[tuple[str, ...], list[str]]]) -> bool:
    """Tell whether a phrase is a single word always written with a capital: somebody's name says little alone."""
    return len(key) == 1 and all(form[0].isupper() for phrases in found for form in phrases.get((key[0],), ()))


def _told_apart(key: Sequence[str], total: int, elsewhere: int) -> float:
    return math.log((1 + total) / (0.5 + elsewhere)) * (PAIR if len(key) > 1 else 1.0)


def _phrases(text: str, grammar: Grammar) -> dict[tuple[str, ...], list[str]]:
    """Map each noun phrase of one or two words, by its stems, to the ways it is written."""
    found: dict[tuple[str, ...], list[str]] = {}
    for run, _ in _runs(_TOKEN.findall(text)):
        for at, word in enumerate(run):
            if not _names(word, grammar):
                continue
            found.setdefault((words.stem(word),), []).append(words.bare(word))
            if at and _qualifies(run[at - 1], grammar):
                found.setdefault((words.stem(run[at - 1]), words.stem(word)), []).append(
                    f"{run[at - 1]} {words.bare(word)}"
                )
    for letters in _LETTERS.findall(text):
        for size in (2, 3, 4):
            for at in range(len(letters) - size + 1):
                found.setdefault((letters[at : at + size],), []).append(letters[at : at + size])
    return found


def _names(word: str, grammar: Grammar) -> bool:
    plain = words.plain(word)
    if not _fit(plain, grammar) or plain in VAGUE:
        return False
    return plain in grammar.nouns or word[0].isupper() or not word.isascii()


def _qualifies(word: str, grammar: Grammar) -> bool:
    plain = words.plain(word)
    return _fit(plain, grammar) and words.bare(word) == word


def _fit(plain: str, grammar: Grammar) -> bool:
    barred = plain in STOP or plain in TALK or plain in AUXILIARIES or plain in PAST or plain in NEGATIONS
    barred = barred or plain in PALE or plain in SPEAKER or plain.endswith(("'ll", "'ve", "'re", "'d", "'m"))
    barred = barred or plain in _CALENDAR or (len(plain) > 4 and plain.endswith(("ly", "ed", "izes", "ises", "ifies")))
    return len(plain) > 2 and not barred and plain not in grammar.never and plain not in grammar.verbs


def _titled(phrase: str) -> str:
    return re.sub(r"(?:^|(?<=[\s-]))\w", lambda match: match[0].upper(), phrase)


def _numbered(taken: Collection[str]) -> str:
    place = sum(heading.startswith(FALLBACK) for heading in taken) + 1
    return FALLBACK if place == 1 else f"{FALLBACK} ({place})"


def fits(heading: str, claims: Sequence[str]) -> bool:
    """Tell whether a heading still names what is in a section, and says nothing that no claim there says any more.

    A word whose claim has gone would outlive the forgetting of what that claim rested on: a heading cites nothing.
    """
    wanted, held = words.stems(heading), [words.stems(text) for text in claims]
    named = sum(bool(wanted & stems) for stems in held)
    return bool(claims) and wanted <= frozenset().union(*held) and named >= FITS * len(claims)
