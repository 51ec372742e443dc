"""Turn text into the terms recall compares: folded, split, without stop words, stemmed.

Pure. The same function reads memories and queries; only runs of a script without spaces differ (see `terms`).
Source: docs/concepts/recall.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import snowballstemmer

TERM_CHARS = 64  # a longer word is cut: such words are hashes and paths, and a prefix of that length tells them apart

_STOP_WORDS = """
    a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can could couldn d did didn do does doesn doing don down during each few for from further
    had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its
    itself just ll m me might more most must mustn my myself no nor not now of off on once only or other our ours
    ourselves out over own re s same shall she should shouldn so some such t than that the their theirs them
    themselves then there these they this those through to too under until up ve very was wasn we were weren what
    when where which while who whom whose why will with won would wouldn you your yours yourself yourselves
"""
_STOP = frozenset(_STOP_WORDS.split())
_CONTRACTED = frozenset({"s", "t", "d", "ll", "m", "re", "ve"})  # what follows an apostrophe

# Marks that a reader may leave out: accents, Hebrew and Arabic vowels, the Arabic lengthening stroke.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]")

# Scripts written without spaces between words: Thai to Burmese, Khmer, kana, Han, Hangul (whose words carry endings).
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_UNSPACED += "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_INDIC = "\u0900-\u0963\u0966-\u0dff"  # vowel signs are marks, which `\w` leaves out, and belong to the word
_LETTER = rf"(?:(?![{_UNSPACED}])(?:[^\W_]|[{_INDIC}]))"
_TOKEN = re.compile(rf"([{_UNSPACED}]+)|({_LETTER}+(?:['’]{_LETTER}+)*)")
_ASCII_TOKEN = re.compile(r"([^\W_]+(?:'[^\W_]+)*)")

_MONTHS = "January February March April May June July August September October November December"
MONTHS = tuple(_MONTHS.split())


def fold(text: str) -> str:
    """Return text under which spellings meet: NFKC, case folded, without accents and invisible characters."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", _MARKS.sub("", plain)))


def words(text: str) -> list[str]:
    """Return the folded words of a text in order, stop words included, not stemmed.

    A run of a script without spaces is one word. What follows an apostrophe is dropped where it is a contraction
    (`Alice's` → `alice`) and joined otherwise (`O'Brien` → `obrien`).
    """
    return [word for word, _ in _tokens(text)]


def terms(text: str, *, query: bool = False) -> list[str]:
    """Return the terms of a text in order, repeats included.

    Words lose stop words and are stemmed as English. A run of a script without spaces gives its overlapping pairs of
    characters; of a memory each single character as well, of a query only when the run is one character long.
    """
    found: list[str] = []
    for word, unspaced in _tokens(text):
        if not unspaced:
            if word not in _STOP:
                found.append(_stem(word[:TERM_CHARS]))
            continue
        if not query or len(word) == 1:
            found.extend(word)
        found.extend(map("".join, pairwise(word)))
    return found


def date_words(time: str) -> str:
    """Return when an RFC 3339 time was, as people write it: `1:56 pm on 8 May 2023`, only the day for a midnight."""
    day = f"{int(time[8:10])} {MONTHS[int(time[5:7]) - 1]} {time[:4]}"
    hour, minute = int(time[11:13]), time[14:16]
    if time[11:19] == "00:00:00":
        return day
    return f"{(hour - 1) % 12 + 1}:{minute} {'pm' if hour >= 12 else 'am'} on {day}"


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Give each word with whether it is a run of a script without spaces."""
    folded = fold(text)
    if folded.isascii():
        for match in _ASCII_TOKEN.finditer(folded):
            yield _uncontracted(match[0]), False
        return
    for match in _TOKEN.finditer(folded):
        if match[1]:
            yield match[1], True
        else:
            yield _uncontracted(match[2]), False


def _uncontracted(word: str) -> str:
    if word.isalnum():
        return word
    parts = re.split("['’]", word)
    if parts[-1] in _CONTRACTED:
        parts.pop()
    return "".join(parts)


_stemmer = snowballstemmer.stemmer("english")


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_stemmer.stemWord(word)) if word.isascii() else word
