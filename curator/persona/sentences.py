"""Cut a reflection into sentences that stand alone.

A claim is read outside the text it comes from, so a sentence that opens with "he", "it" or "this" is joined to the
one before it, which names what is meant, or left out. Nothing is ever filled in by guessing.

Source: docs/spec/persona.md §3.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Final

from curator.persona import words
from curator.persona.vocabulary import (
    ANAPHORIC_NOUNS,
    AUXILIARIES,
    DANGLING,
    PAST,
    PERSONAL,
    PRONOUNS,
    SPEAKER,
    THIRD,
)

JOINED_WORDS: Final = 40  # words up to which a dependent sentence is joined to the one before
LONGEST: Final = 2_000  # characters of a sentence; after as many it ends at a full stop, whatever it leaves open
NAME_WITHIN: Final = 5  # words of a "The …" opening within which the name makes it definite

_ZERO_WIDTH = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")  # they hide a word from the checks
_FENCES = ("```", "~~~")
_LABEL = re.compile(r"【[^【】\n]*】")
_BULLET = re.compile(r"^\s*(?:[*+•‣–-]\s+|#{1,6}\s+|>\s*|\d{1,3}[.)]\s+|\[\d{1,3}\]\s+)+")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.{1,400}?)(?<=\S)\1|(?<![\w*])\*(?=[^\s*])([^*\n]+)(?<=[^\s*])\*(?![\w*])")
_BREAK = re.compile("(?<![.!?…؟۔।])[.!?…؟۔।]+[”\"’')\\]]*\\s+(?=\\S)|[。！？]+[」』”）]?\\s*(?=\\S)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-z]|e\.g|i\.e|etc|vs|approx|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|No|Inc|Ltd|Co|U\.S|a\.m|p\.m)|(?:^|\s)\d{1,3})\.\s*$"
)
_LABELLED = re.compile(r"^[^\W\d_][\w '’/&()+-]{1,48}:\s")


_POINTING = re.compile(
    r"\b(?:this|these)\s+(?!week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|autumn|time|is|are|was)\w",
    re.IGNORECASE,
)


class Rank(IntEnum):
    """Say how well a sentence stands alone: the lower, the better."""

    NAMED = 0  # names the entity, or leaves it out where only it can be meant
    ALONE = 1  # needs no antecedent
    DEFINITE = 2  # speaks of "the …" as if it were known, or is a label with a value: only where the body is short


@dataclass(frozen=True, slots=True)
class Sentence:
    """Hold a sentence, or two joined, in one line."""

    text: str
    rank: Rank


def standing(text: str, name: str) -> Iterator[Sentence]:
    """Yield the sentences of a text that stand alone, in order; a dependent one only joined to its antecedent."""
    for paragraph in _paragraphs(text):
        current: Sentence | None = None
        for sentence in _split(paragraph):
            if len(sentence) > LONGEST:
                if current is not None:
                    yield current
                current = None
                continue
            if current is not None and dependent(sentence) and not spoken(sentence):
                joined = f"{current.text} {sentence}"
                if words.count(joined) <= JOINED_WORDS:
                    current = Sentence(joined, current.rank)
                    continue
            if current is not None:
                yield current
            rank = rank_of(sentence, name)
            current = None if rank is None else Sentence(sentence, rank)
        if current is not None:
            yield current


def sentences(text: str) -> Iterator[str]:
    """Yield every sentence of a text, cleaned, whether it stands alone or not, one without an end in pieces.

    None is longer than LONGEST by more than its full stop, so that whatever reads a sentence has little to read.
    """
    for paragraph in _paragraphs(text):
        for sentence in _split(paragraph):
            yield from _pieces(sentence)


def clean(text: str) -> str:
    """Bring a piece of text to one line: white space folded, emphasis, bullets and zero-width marks off."""
    line = _EMPHASIS.sub(lambda match: match[2] or match[3], _BULLET.sub("", text))
    return " ".join(_ZERO_WIDTH.sub("", unicodedata.normalize("NFC", line)).split())


def _paragraphs(text: str) -> Iterator[str]:
    for line in _LABEL.sub("\n", "\n".join(_unfenced(text))).splitlines():
        if not _RULE.match(line) and (cleaned := clean(line)):
            yield cleaned


def _unfenced(text: str) -> Iterator[str]:
    """Yield the lines outside fences; one that is not closed goes on to the end."""
    fence = None
    for line in text.split("\n"):
        bare = line.strip()
        if fence is not None:
            fence = None if bare == fence else fence
        elif bare.startswith(_FENCES):
            fence = bare[:3]
            yield ""
        else:
            yield line


def _pieces(sentence: str) -> Iterator[str]:
    """Cut a sentence between words where it is longer than LONGEST."""
    start = 0
    while len(sentence) - start > LONGEST:
        end = sentence.rfind(" ", start + 1, start + LONGEST)
        end = end if end > start else start + LONGEST
        yield ended(sentence[start:end])
        start = end
    yield ended(sentence[start:]) if start else sentence


def _split(line: str) -> Iterator[str]:
    """Yield sentences, each ending in punctuation; one that leaves a quotation or bracket open runs on."""
    start = 0
    for match in _BREAK.finditer(line):
        piece = line[start : match.end()]
        following = line[match.end()]
        runs_on = _ABBREVIATION.search(piece[-12:]) or following.islower() or _open(piece)
        if runs_on and len(piece) < LONGEST:
            continue
        yield ended(piece)
        start = match.end()
    if line[start:].strip() and not line.endswith((":", "：")):  # what only opens a list says nothing
        yield ended(line[start:])


def _open(piece: str) -> bool:
    return any(piece.count(a) > piece.count(b) for a, b in ("()", "[]", "“”", "「」")) or piece.count('"') % 2 == 1


def ended(piece: str) -> str:
    """Take a bullet off, and set a full stop where the sentence has no end."""
    piece = _BULLET.sub("", piece.strip())
    bare = piece.rstrip("”\"’')]」』）* ")
    if bare and bare[-1] in ".!?…。！？؟۔।":
        return piece
    return piece.rstrip(" ,;:") + ("。" if re.search(f"[{words.RUN}]$", piece) else ".")


def rank_of(sentence: str, name: str) -> Rank | None:
    """Answer how well a sentence stands alone, or None where it does not."""
    found = words.folded(sentence)
    if not found or (len(found) < 2 and words.count(sentence) < 2) or dependent(sentence):
        return None
    named = words.mentions(sentence, name) or "user" in found
    if spoken(sentence) or (not named and _unbound(found)):
        return None
    if _LABELLED.match(sentence) and not sentence.startswith(name):
        return Rank.DEFINITE
    if words.english(sentence):
        early = words.mentions(" ".join(words.words(sentence)[:NAME_WITHIN]), name)
        if found[0] == "the" and found[1:2] != ("user",) and not early:
            return Rank.DEFINITE
        if _POINTING.search(sentence) or any(
            word == "the" and ANAPHORIC_NOUNS & {*found[at + 1 : at + 3]} for at, word in enumerate(found)
        ):
            return Rank.DEFINITE
        if found[0] in THIRD and not named:
            return Rank.NAMED
        participle = found[0].endswith("ing") and AUXILIARIES.isdisjoint(found)
        if participle or (not named and (len(found) < 3 or not _has_verb(found))):
            return Rank.DEFINITE
    return Rank.NAMED if named else Rank.ALONE


def dependent(sentence: str) -> bool:
    """Tell whether the sentence opens with a word that points back."""
    found = words.folded(sentence)
    return bool(found) and (found[0] in DANGLING or found[0].startswith(("他", "她", "它", "这", "那", "彼", "彼女")))


def spoken(sentence: str) -> bool:
    """Tell whether somebody speaks of himself in it, outside quotations: nobody can say who."""
    return not SPEAKER.isdisjoint(words.folded(words.unquoted(sentence)))


def _unbound(found: Sequence[str]) -> bool:
    """Tell whether a pronoun comes before anything it could stand for."""
    for at, word in enumerate(found):
        if word in PRONOUNS:
            before = {other for other in found[:at] if words.stems(other)}
            return len(before) < 2 or (word in PERSONAL and found[0] not in THIRD)
    return False


def _has_verb(found: Sequence[str]) -> bool:
    """Tell whether a word behind the first can be the verb of a sentence."""
    return any(word in AUXILIARIES or word in PAST or word.endswith("ed") for word in found[1:]) or any(
        word.endswith("s") and word[-2:] != "ss" and after in _BEHIND_VERB for word, after in pairwise(found[1:])
    )


_BEHIND_VERB: Final = frozenset(
    {"a", "an", "the", "in", "on", "at", "to", "with", "from", "for", "by", "his", "her", "their", "its", "that"}
)
