"""Take out of one observation what it says about an entity, each sentence judged like a claim.

What the text says of the entity by name is taken word for word. What the entity says of itself is put between quotation
marks behind its name, and not rewritten.

Source: docs/spec/reflections.md §2, §3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from curator.persona import words
from curator.persona.candidates import CLAIM_WORDS, QUOTED_CHARS
from curator.persona.checks import check, unfit
from curator.persona.claims import Claim
from curator.persona.sentences import JOINED_WORDS, sentences, spoken, standing
from curator.persona.source import Source
from curator.persona.vocabulary import THIRD
from curator.reflections import quotation, talk
from curator.reflections.names import Names
from curator.reflections.speech import Line
from substrate import secrets

_FIRST = re.compile(r"\b(?:I|me|myself|we|us|ourselves)(?=$|[^\w'’-])")
_MARKS = str.maketrans("“”„«»", "‘’‚‹›")  # inside a quotation


@dataclass(frozen=True, slots=True)
class About:
    """Say whom reflections are about: the entity, the name to show, all names known, and those of other entities."""

    entity_id: str
    display: str
    names: Names
    other_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """Hold one observation: as a source, line by line, and whether all of it is about one entity.

    ``sole`` is that entity where a title or a link names it alone: then a sentence may leave it out.
    """

    source: Source
    lines: tuple[Line, ...]
    sole: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """Hold a sentence fit to stand in a reflection, and the observations that say it, oldest first."""

    text: str
    sources: tuple[str, ...]
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """Hold what was not taken, without credentials, from which observation, and why."""

    source: str
    text: str
    reason: str


def statements(observed: Observed, about: About) -> tuple[list[Statement], list[Dropped]]:
    """Answer what an observation says about the entity, in order, and what was dropped of it.

    Where nothing is taken there is at least one reason.
    """
    found: dict[str, Statement] = {}
    dropped: list[Dropped] = []
    id = observed.source.id

    def judge(text: str, quoted: bool) -> None:
        reason = _fault(text, about, observed.source, quoted)
        if reason is None:
            shown = f"{about.display} said, “{text.translate(_MARKS)}”" if quoted else text
            found.setdefault(shown, Statement(shown, (id,), quoted))
        else:
            dropped.append(Dropped(id, secrets.redact(text)[:QUOTED_CHARS], reason))

    for line in observed.lines:
        for text in _told(line, observed.sole, about):
            if passed_on(text, line, about):
                dropped.append(Dropped(id, secrets.redact(text)[:QUOTED_CHARS], "passes on what somebody said"))
            else:
                judge(text, quoted=False)
        if line.speaker == about.entity_id:
            for text in _said(line):
                judge(talk.unanswered(text), quoted=True)
    if not found and not dropped:
        text = " ".join(line.text for line in observed.lines)
        why = f"says nothing of {about.display} that stands alone"
        dropped.append(Dropped(id, secrets.redact(text)[:QUOTED_CHARS], why))
    return list(found.values()), dropped


def passed_on(sentence: str, line: Line, about: About) -> bool:
    """Tell whether a sentence quotes somebody's "I", and nobody can say that it is the entity's.

    It is where the sentence itself, of no other speaker, gives the words to the entity: "Ines said, “I …”".
    """
    if not quotation.first_person(sentence):
        return False
    teller = quotation.teller(sentence)
    return line.reported or teller is None or about.names.lead(teller) != about.entity_id


def _told(line: Line, sole: str | None, about: About) -> Iterator[str]:
    """Yield the sentences that name the entity, or leave it out where only it can be meant."""
    for sentence in standing(line.text, about.display):
        implied = sole == about.entity_id and not THIRD.isdisjoint(words.folded(sentence.text)[:1])
        if about.entity_id in about.names.among(sentence.text) or implied:
            yield sentence.text


def _said(line: Line) -> Iterator[str]:
    """Yield what a speaker says of itself; a sentence that points back only behind the one it points to."""
    current = ""
    for sentence in sentences(line.text):
        if talk.hangs(sentence):
            joined = f"{current} {sentence}"
            if current and words.count(joined) <= JOINED_WORDS and unfit(sentence) is None and not talk.asks(sentence):
                current = joined
                continue
        if current:
            yield current
        current = sentence if spoken(quotation.outside(sentence)) and not talk.hangs(sentence) else ""
    if current:
        yield current


def _fault(text: str, about: About, source: Source, quoted: bool) -> str | None:
    """Answer why a sentence is not taken, or None."""
    if words.count(text) > CLAIM_WORDS:
        return f"runs over {CLAIM_WORDS} words"
    names = (about.display, *about.other_names)
    reason = talk.steers(text) or talk.idle(text, names) or talk.called(text, about.display)
    if quoted:
        reason = reason or talk.general(text) or unfit(text)
    if reason is not None:
        return reason
    told = _FIRST.sub(lambda _: about.display, text) if quoted else text
    alone = replace(source, text=told, title=None)
    return check(Claim("", told, (source.id,)), {source.id: alone}, name=about.display, other_names=about.other_names)
