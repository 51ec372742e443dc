"""Cut a sentence into tokens and guess what each is: a verb, a name, a preposition.

Guesses go by the word and its neighbours; the rest of the judging is made so that a wrong guess costs little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from curator.persona.grammar import lexicon
from curator.persona.grammar.vocabulary import (
    ADVERBS,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    PARTICLES,
    PREPOSITIONS,
    PRONOUNS_ALL,
    RELATIVES,
    SUBORDINATORS,
    TITLES,
)
from curator.persona.source import MONTHS
from curator.persona.values import WEEKDAYS
from curator.persona.vocabulary import AUXILIARIES, NEGATIONS, NUMBERS, ORDINALS, PAST, SCALES


class Sort(Enum):
    """Say what a token is in its sentence."""

    VERB = "verb"
    AUXILIARY = "auxiliary"
    NAME = "name"
    OTHER = "other"  # nouns, adjectives and adverbs of content
    NUMBER = "number"
    PRONOUN = "pronoun"
    DETERMINER = "determiner"
    PREPOSITION = "preposition"
    CONJUNCTION = "conjunction"  # joins equals
    RELATIVE = "relative"
    SUBORDINATOR = "subordinator"
    ADVERB = "adverb"  # of function
    NEGATION = "negation"
    MARK = "mark"  # punctuation that ends a clause or a phrase


NOUNY: Final = frozenset({Sort.NAME, Sort.OTHER, Sort.NUMBER})


@dataclass(frozen=True, slots=True)
class Token:
    """Hold a word as it stands, its folded form, what it is, and whether it owns what follows ("Ann's")."""

    text: str
    plain: str
    sort: Sort
    owner: bool = False
    at: int = 0  # offset of its first character in the sentence


_PIECE = re.compile(
    r"\d+(?:[.,:' ]\d+)*(?:st|nd|rd|th|k|m|bn)?\b|[^\W\d_](?:[^\W_]|[\u0300-\u036f]|['’](?=[^\W\d_])|\.(?=[^\W\d_]))*"
    r"|[.,;:!?()\[\]“”\"…]|\s[—–-]+\s|[—–]"
)
_NUMBER_WORDS = frozenset({*NUMBERS, *ORDINALS, *SCALES, "half", "twice", "once", "thrice", "both"}) - {"second"}
CALENDAR = frozenset(map(str.casefold, (*MONTHS, *WEEKDAYS)))
_CLITIC_OWNERS = frozenset({"it", "that", "he", "she", "what", "there", "who", "let", "here", "where"})
_CLITICS: Final = (("'s", "is"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would"), ("'m", "am"))
_LETTING = frozenset({"let", "lets", "make", "makes", "made", "help", "helps", "helped"})
_SMALL: Final = PREPOSITIONS | ADVERBS | SUBORDINATORS  # "Per" is a name where it has a capital inside a sentence
_TIMES = frozenset({"once", "twice"})
_MODALS = frozenset(
    [
        "will",
        "would",
        "can",
        "could",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "to",
        "do",
        "does",
        "did",
        "cannot",
        "'ll",
    ]
)


def tokens(sentence: str, names: frozenset[str]) -> tuple[Token, ...]:
    """List the tokens of a sentence; `names` are folded words known to be names."""
    raw: list[Token] = []
    for match in _PIECE.finditer(sentence):
        raw.extend(_raw(match[0], match.start(), names, not raw))
    found: list[Token] = []
    verb = False  # whether the clause has its verb
    for at, token in enumerate(raw):
        sort = token.sort
        if token.plain == "free" and at + 1 < len(raw) and raw[at + 1].plain in {"of", "from"}:
            sort = Sort.NEGATION
        if token.plain == "no" and at + 1 < len(raw) and raw[at + 1].plain == "longer":
            sort = Sort.NEGATION
        elif (token.plain == "well" and found and found[-1].plain == "as") or (
            token.plain == "longer" and found and found[-1].plain == "no"
        ):
            sort = Sort.ADVERB
        after_determiner = at and (raw[at - 1].sort is Sort.DETERMINER or raw[at - 1].owner)
        if (
            after_determiner
            and token.plain != "longer"
            and sort in {Sort.ADVERB, Sort.PREPOSITION}
            and lexicon.nominal(token.plain)
        ):
            sort = Sort.OTHER
        elif sort is Sort.OTHER and _verb(raw, found, at, verb):
            sort = Sort.VERB
        if sort in {Sort.MARK, Sort.RELATIVE, Sort.SUBORDINATOR, Sort.CONJUNCTION}:
            verb = False
        verb = verb or sort in {Sort.VERB, Sort.AUXILIARY}
        found.append(Token(token.text, token.plain, sort, token.owner, token.at))
    return tuple(found)


def _raw(text: str, at: int, names: frozenset[str], first: bool) -> list[Token]:
    if not text[0].isalnum():
        return [Token(text, text.strip(), Sort.MARK, at=at)]
    plain = text.casefold().replace("’", "'")
    owner = False
    if plain.endswith("n't") and len(plain) > 3:
        helper = {"wo": "will", "ca": "can", "sha": "shall"}.get(plain[:-3], plain[:-3])
        return [Token(text, helper, Sort.AUXILIARY, at=at), Token(text, "not", Sort.NEGATION, at=at)]
    for clitic, helper in _CLITICS:
        if plain.endswith(clitic) and plain[: -len(clitic)] in PRONOUNS_ALL | RELATIVES | _CLITIC_OWNERS:
            front = plain[: -len(clitic)]
            return [
                Token(text, front, _sort(text, front, names, first), at=at),
                Token(text, helper, Sort.AUXILIARY, at=at),
            ]
    if plain.endswith("'s") and plain[:-2] not in _CLITIC_OWNERS:
        plain, owner = plain[:-2], True
    return [Token(text, plain, _sort(text, plain, names, first), owner, at)]


def _sort(text: str, plain: str, names: frozenset[str], first: bool) -> Sort:
    if text[0].isdigit() or plain in _NUMBER_WORDS:
        return Sort.NUMBER
    if not first and text[0].isupper() and plain in _SMALL:
        return Sort.NAME
    for listed, sort in _LISTED:
        if plain in listed and (sort is not Sort.AUXILIARY or plain != "may" or not (text[0].isupper() and not first)):
            return sort
    if plain.removesuffix("s") in CALENDAR:
        return Sort.OTHER
    if plain in TITLES:
        return Sort.NAME
    capital = text[0].isupper()
    if plain in names or (capital and (not first or not lexicon.known(plain))):
        return Sort.NAME
    return Sort.OTHER


_LISTED: Final = (
    (NEGATIONS - {"no"}, Sort.NEGATION),
    (AUXILIARIES | BE | {"having", "being"}, Sort.AUXILIARY),
    (RELATIVES, Sort.RELATIVE),
    (CONJUNCTIONS, Sort.CONJUNCTION),
    (DETERMINERS, Sort.DETERMINER),
    (PRONOUNS_ALL, Sort.PRONOUN),
    (SUBORDINATORS, Sort.SUBORDINATOR),
    (PREPOSITIONS, Sort.PREPOSITION),
    (ADVERBS, Sort.ADVERB),
)


def _verb(raw: Sequence[Token], found: Sequence[Token], at: int, seen: bool) -> bool:
    """Guess whether a word of content is a verb where it stands."""
    word = raw[at].plain
    if not lexicon.verbal(word) or raw[at].owner:
        return False
    before = _before(found)
    after = raw[at + 1].sort if at + 1 < len(raw) else Sort.MARK
    if before is None or before.sort is Sort.MARK:
        return _opening(word, before is None or before.plain in {".", ";", ":"}, seen, after)
    if before.sort in {Sort.DETERMINER, Sort.NUMBER} or before.owner:
        return False
    if before.plain in _MODALS or (before.sort is Sort.NEGATION and _helped(found)):
        return True
    if before.sort is Sort.AUXILIARY and (word.endswith("ed") or lexicon.irregular(word) or lexicon.unchanging(word)):
        return True
    if before.sort is Sort.PREPOSITION:
        return word.endswith("ing")
    if word.endswith("ed") or _past(word):
        return not (before.sort is Sort.OTHER and after in {Sort.OTHER} and seen)
    if word.endswith("ing"):
        return before.sort is not Sort.OTHER or after in {Sort.DETERMINER, Sort.PREPOSITION, Sort.NAME}
    if before.sort is Sort.PRONOUN and len(found) > 1 and found[-2].plain in _LETTING:
        return True
    if seen and before.sort is not Sort.CONJUNCTION:
        return False
    if word.endswith("s") and not word.endswith("ss"):
        return after not in {Sort.AUXILIARY} and before.sort in _SUBJECTS | {Sort.CONJUNCTION}
    plural = before.sort is Sort.OTHER and before.plain.endswith("s")
    joined = before.sort is Sort.CONJUNCTION and any(token.sort is Sort.VERB for token in found)
    return (plural or before.sort in {Sort.PRONOUN, Sort.RELATIVE, Sort.NEGATION, Sort.NAME} or joined) and (
        not (before.sort is Sort.CONJUNCTION and not lexicon.verbal(word))
        and (after in _BEHIND or not lexicon.nominal(word))
    )


_SUBJECTS: Final = frozenset(
    {Sort.NAME, Sort.OTHER, Sort.PRONOUN, Sort.RELATIVE, Sort.ADVERB, Sort.NEGATION, Sort.VERB}
)
_BEHIND: Final = frozenset({Sort.DETERMINER, Sort.PREPOSITION, Sort.PRONOUN, Sort.NAME, Sort.ADVERB, Sort.NUMBER})


def _before(found: Sequence[Token]) -> Token | None:
    """Answer the token before, adverbs skipped."""
    for token in reversed(found):
        if token.sort not in {Sort.ADVERB, Sort.NEGATION} and token.plain not in PARTICLES | _TIMES:
            return token
        if token.sort is Sort.NEGATION:
            return token
    return found[-1] if found else None


def _opening(word: str, first: bool, seen: bool, after: Sort) -> bool:
    """Tell whether a word that opens a clause is its verb: "Likes tea", "…, baking tarts"."""
    if word.endswith(("ing", "ed")) or _past(word):
        return True
    if not word.endswith("s"):
        return False
    return after is not Sort.AUXILIARY if first else not seen and not _plural_noun(word, after)


def _past(word: str) -> bool:
    return lexicon.irregular(word) or word in PAST


def _helped(found: Sequence[Token]) -> bool:
    """Tell whether an auxiliary stands before the denial: "does not"."""
    return found[-1].plain == "cannot" or any(token.sort is Sort.AUXILIARY for token in found[-3:])


def _plural_noun(word: str, after: Sort) -> bool:
    return lexicon.nominal(word) and after in {Sort.MARK, Sort.CONJUNCTION, Sort.AUXILIARY}
