"""Tell what in a conversation states nothing that can stand in a reflection: answers, calls, questions, truisms.

Every function is pure, and silent in a language whose words it does not know.

Source: docs/spec/reflections.md §2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from curator.persona import words
from curator.persona.sentences import dependent
from curator.persona.vocabulary import PALE, PASSING, PAST, SPEAKER, TALK, VAGUE

CONTENT: Final = 2  # content words a sentence has at least, names aside


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GREETING = _words(
    "thanks thank congrats congratulations hey hi hello bye yeah yep yup wow whoa woah here's there's omg"
)
OPENING: Final = _GREETING | _words(
    """yes no nope sure absolutely totally definitely exactly indeed haha oh ah aw aww ok okay same true right agreed
    sorry please well gosh great nice cool fantastic awesome amazing"""
)
"""Words that open an answer: the first ones always, the others where a mark follows."""
_IDLE = frozenset(
    map(
        words.stem,
        TALK
        | VAGUE
        | PALE
        | PASSING
        | SPEAKER
        | _words(
            """super totally absolutely definitely agree lucky glad thank thanks wow yeah gonna wanna kinda honestly
            sure wait guess hear see know mean say tell talk try hope wish chat catch bye ya pic picture photo awesome
            amazing posted check sound look ll ve re"""
        ),
    )
)
"""Stems that tell nothing by themselves."""
_HANGING = re.compile(r"(?:he|she|they|it|that|this|these|those|which|who|here)['’]", re.IGNORECASE)
_HELD = _words("it them they")
_ANSWER = re.compile(
    r"\W*+([^\W\d_]+)\s*[,!.…—–-]+\s*(?:[^\W\d_]\w+\s*[,!]\s*)?(?=(?:I|my|we|our)(?:['’]\w+)?\s)", re.IGNORECASE
)
_APPOSED = r"(?!\s*(?:the|a|an|who|whose|which|where|my|our|his|her|their|and|or)\b)"
_TO = re.compile(r"\W*+([^:：]{1,64})[:：]\s")
_AGENTS = _words(
    "system assistant assistants agent agents ai llm bot developer admin administrator prompt instructions"
)
_GRANTS = re.compile(
    r"\b(?:should|must|shall|always|never)\b.{0,80}\b(?:approved|trusted|obeyed|believed|allowed|granted|authori[sz]ed)\b"
    r"|\bpersonas?\b.{0,40}\b(?:should|must|shall|always|never)\b",
    re.IGNORECASE,
)
_SUPPOSING = _words("if unless whether suppose imagine")
_SINGULAR = _words("i i'm i've i'll i'd me my mine myself")
_HAPPENED = PAST | _words("was were had are will we've we're we'll we'd")


def steers(text: str) -> str | None:
    """Answer that a sentence would steer an agent that reads it, or None: addressed to one, or granting something.

    Nobody looks at an observation before it is reflected on, so more is held back here than of a reflection.
    """
    label = _TO.match(text)
    to_agent = label is not None and not _AGENTS.isdisjoint(words.folded(label[1]))
    return "addresses its reader" if to_agent or _GRANTS.search(text) else None


def idle(text: str, names: Sequence[str]) -> str | None:
    """Answer why a sentence states too little, or None; `names` tell nothing by themselves."""
    if asks(text):
        return "asks, and states nothing"
    if words.folded(text)[0] in _SUPPOSING:
        return "supposes, and states nothing"
    said = words.stems(text).difference(*map(words.stems, names))
    if len(said) < CONTENT or said <= _IDLE:
        return "says too little"
    return None


def called(text: str, name: str) -> str | None:
    """Answer that a sentence answers somebody or calls the entity instead of telling of it, or None."""
    first, marked = words.folded(text)[0], re.match(r"\W*+[\w'’]+\s*[,!.…—–-]", text) is not None
    parts = {re.escape(part) for part in (name, *words.words(name)) if len(part) > 1}
    who = f"(?:{'|'.join(sorted(parts, key=len, reverse=True))})"
    if first in _GREETING or (first in OPENING and (marked or re.match(rf"\W*+\w+\s+{who}\b", text))):
        return "answers somebody"
    if re.match(rf"\W*+{who}\s*[,!]{_APPOSED}", text) or re.search(rf",\s*{who}\s*[.!]*$", text):
        return f"calls {name}, and does not tell"
    return None


def unanswered(text: str) -> str:
    """Answer what follows a "Yes," that says something of its own, "I play the organ"; else the text as it is."""
    match = _ANSWER.match(text)
    return text[match.end() :] if match and words.plain(match[1]) in OPENING else text


def general(text: str) -> str | None:
    """Answer that a sentence in the first person speaks of everybody, or None: "we all need friends"."""
    found = words.folded(words.unquoted(text))
    if _SINGULAR.isdisjoint(found) and not any(
        word in _HAPPENED or (word.endswith("ed") and word[-3:] != "eed") for word in found
    ):
        return "speaks of everybody"
    if any(word in _HELD for word in found[:4]) and not words.stems(" ".join(found[:3])) - _IDLE:
        return "points back to what was said before"
    return None


def hangs(text: str) -> bool:
    """Tell whether a sentence opens with a word that points back."""
    return dependent(text) or _HANGING.match(text) is not None


def asks(text: str) -> bool:
    """Tell whether a sentence is a question."""
    return text.rstrip("”\"'’)] ").endswith(("?", "？", "؟"))
