"""Decide whether a claim says only what its sources say.

A claim made of whole sentences of its sources says what they say. Any other is taken apart into statements; each has
to be held, with its values, names and denials, by one of the cited sources alone. Each function answers what is
unsupported, in words, or None.

Source: docs/spec/persona.md §4.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from curator.persona import alignment, binding, order, paraphrase, quantities, values, when, words
from curator.persona.grammar import clauses as grammar
from curator.persona.grammar import lexicon
from curator.persona.grammar.clauses import Word
from curator.persona.grammar.tokens import NOUNY, Sort
from curator.persona.sentences import sentences
from curator.persona.source import Source
from curator.persona.vocabulary import ENDINGS

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

APART: Final = "joins what its sources say apart"

_CLAUSE = re.compile(
    r"[.,;:!?()—–]+\s|\s[—–-]+\s|[。，；]|\b(?:but|and|or|because|although|though|while|which|who|that|so|however)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Told:
    """Hold one source as it is compared: its sentences, its words, and the dates it means."""

    sentences: tuple[str, ...]
    words: tuple[Word, ...]
    days: frozenset[values.Day]


@dataclass(frozen=True, slots=True)
class Question:
    """Hold a claim, or what it states in one place, beside all it cites; `known` are words that need no support."""

    claim: str
    told: tuple[Told, ...]
    known: frozenset[str]
    embed: Embed | None


def unsupported(
    claim: str, cited: Sequence[Source], known: frozenset[str], embed: Embed | None, name: str = ""
) -> str | None:
    """Answer the first thing the cited sources do not say; `known` are words that need no support, folded."""
    said_whole = _sentences(claim)
    if not said_whole or words.words(" ".join(sentences(claim))) != words.words(claim):
        return "says more than can be read as sentences"
    if said_whole <= {sentence for source in cited for sentence in _sentences(source.text)}:
        return None
    texts = [part for source in cited for part in _texts(source)]
    if reason := _quotation(claim, texts):
        return reason
    known = known | frozenset(part for word in known for part in word.split("-"))
    named = frozenset(part for text in (claim, *texts) for one in words.names(text) for part in one.split("-"))
    told = tuple(_told(source, name, named | known) for source in cited)
    said = list(statements(grammar.read(claim, name, named | known)))
    if any(_hollow(statement, known) for statement in said):
        return "says nothing that could be held against its sources"
    for statement in said:  # what is said twice as long elsewhere in the claim makes no statement any closer
        question = Question(claim if len(said) == 1 else _joined(statement), told, known, embed)
        if reason := _held(statement, question):
            return reason
    return None


def _texts(source: Source) -> tuple[str, ...]:
    return tuple(filter(None, (source.text, source.title)))


def _told(source: Source, name: str, names: frozenset[str]) -> Told:
    texts = _texts(source)
    whole = "\n".join(texts)
    return Told(tuple(sentences(whole)), grammar.read(whole, name, names), when.told([source], texts))


def statements(said: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield what a claim states, one after the other: what "and", "who" or a full stop joins can be told apart.

    So can what only stands beside a name: "Ann, a nurse, …". A reason or a time belongs to what it is given for.
    """
    current: list[Word] = []
    beside = False
    for _, group in groupby(said, key=lambda word: word.clause):
        clause = list(group)
        ends = bool(current) and current[-1].plain in {";", ".", ":"}
        was, beside = beside, _beside(clause)
        apart = clause[0].sort in {Sort.CONJUNCTION, Sort.RELATIVE} or clause[0].plain in _CONTRASTS
        if current and (apart or ends or beside or was):
            yield current
            current = []
        current += clause
    if current:
        yield current


def _beside(clause: Sequence[Word]) -> bool:
    """Tell whether a clause says what somebody is ("a nurse"), or goes on with another verb ("plays chess")."""
    if clause[0].sort is Sort.VERB:
        return not clause[0].plain.endswith("ing")
    return clause[0].sort is Sort.DETERMINER and not any(word.sort in {Sort.VERB, Sort.AUXILIARY} for word in clause)


def _halves(statement: Sequence[Word]) -> Iterator[tuple[list[Word], list[Word]]]:
    """Take "speaks French and Twi" apart into "speaks French" and "speaks Twi"; not who does it."""
    verb = next((at for at, word in enumerate(statement) if word.sort in {Sort.VERB, Sort.AUXILIARY}), None)
    if verb is None:
        return
    for at in range(verb + 2, len(statement) - 1):
        if statement[at].plain == "and" and statement[at].sort is Sort.CONJUNCTION:
            first, last = at, at + 1
            while first - 1 > verb and statement[first - 1].sort in _PHRASE:
                first -= 1
            while last < len(statement) and statement[last].sort in _PHRASE:
                last += 1
            if first < at and last > at + 1:
                one = [*statement[:at], *statement[last:]]
                yield one, [*statement[:first], *statement[at + 1 :]]
                yield one, [*statement[: verb + 1], *statement[at + 1 :]]


_PHRASE: Final = NOUNY | {Sort.DETERMINER}
_CONTRASTS: Final = frozenset({"although", "though", "whereas", "yet"})  # join two facts and say nothing of a reason


def _hollow(statement: Sequence[Word], known: frozenset[str]) -> bool:
    """Tell whether a statement has nothing to hold against a source: "she was never there"; a bare name states none."""
    stated = any(word.sort is Sort.NUMBER for word in statement) or any(alignment.substance(statement, known))
    return not stated and any(word.sort not in _BARE for word in statement)


_BARE: Final = frozenset({Sort.NAME, Sort.MARK, Sort.CONJUNCTION})


def _held(statement: Sequence[Word], question: Question) -> str | None:
    """Answer why no source alone holds the statement, by the one that comes closest."""
    reasons = sorted((_missing(statement, one, question) for one in question.told), key=lambda found: found[0])
    reason = reasons[0][1] if reasons else None
    if reason == APART:
        for halves in _halves(statement):
            if all(any(_missing(half, one, question)[1] is None for one in question.told) for half in halves):
                return None
    return reason


def _missing(statement: Sequence[Word], source: Told, question: Question) -> tuple[int, str | None]:
    """Answer how many words one source lacks, and what is unsupported by it."""
    wanted = [
        alignment.match(word, source.words)
        for word in alignment.substance(statement, question.known)
        if not quantities.calendar(word.plain, source.days)
    ]
    lacking = [
        one.word
        for one in wanted
        if not one.found
        and not _apposed(one.word, statement, question.told)
        and not alignment.general(one.word, wanted, source.words)
    ]
    if dated := quantities.misdated(_joined(statement), source.days):
        return len(lacking) + 1, dated
    reason = (
        quantities.wrong(statement, source.words, source.days)
        or quantities.unsteady(statement, source.words)
        or quantities.exchanged(statement, source.words)
        or quantities.almost(statement, source.words)
        or quantities.sweeping(statement, source.words)
        or alignment.opposed(wanted)
        or alignment.lost(wanted, source.words)
        or order.turned(statement, source.words)
        or order.opinion(statement, wanted, source.words)
        or alignment.misattributed(statement, wanted, source.words)
        or binding.misplaced(statement, wanted, source.words)
    )
    contrary = [one.word for one in wanted if one.contrary]
    if contrary and len(contrary) == len(lacking):
        return len(lacking), f"says “{contrary[0].token.text}” where its sources say the opposite"
    if lacking and (reason or contrary or not _reworded(lacking, wanted, source, question)):
        return len(lacking), _addition(lacking, question)
    return 0 if reason is None else 1, reason


def _addition(lacking: Sequence[Word], question: Question) -> str:
    """Say what a claim adds, or that it joins what is apart."""
    if all(any(alignment.match(word, other.words).found for other in question.told) for word in lacking):
        return APART
    said = lacking[0].token.text
    named = f"names {said}, whom or which" if lacking[0].sort is Sort.NAME else f"says “{said}”, which"
    return f"{named} its sources do not"


def _reworded(lacking: Sequence[Word], wanted: Sequence[alignment.Match], source: Told, question: Question) -> bool:
    """Ask the encoder, if there is one, about words that no other source holds either."""
    if question.embed is None or any(
        alignment.match(word, other.words).found for word in lacking for other in question.told
    ):
        return False
    near = sorted({other.sentence for one in wanted for other, _ in one.found})
    texts = {
        " ".join(source.sentences[at] for at in near),
        " ".join(sentence for one in question.told for sentence in one.sentences),
    }
    said = [other for other in source.words if other.place not in {o.place for one in wanted for o, _ in one.found}]
    if any(lexicon.sisters(word.plain, other.plain) for word in lacking for other in said):
        return False
    return any(paraphrase.reworded(question.claim, lacking, text, question.embed) for text in sorted(texts) if text)


def _joined(statement: Sequence[Word]) -> str:
    return " ".join(word.token.text for word in statement)


def _apposed(word: Word, statement: Sequence[Word], told: Sequence[Told]) -> bool:
    """Tell whether a noun only says who the name behind it is, as some source does: "her wife Tamsin"."""
    behind = [other for other in statement if word.place < other.place <= word.place + 2 and other.sort is Sort.NAME]
    if not behind or word.sort is not Sort.OTHER:
        return False
    for one in told:
        for found, _ in alignment.match(word, one.words).found:
            if any(abs(other.place - found.place) <= 2 and other.plain == behind[0].plain for other in one.words):
                return True
    return False


def _quotation(claim: str, texts: Sequence[str]) -> str | None:
    for quoted in map(_folded, words.quotations(claim)):
        if not any(quoted in _folded(text) for text in texts):
            return "quotes what its sources do not say"
    return None


def _folded(text: str) -> str:
    return " ".join(words.folded(text))


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
