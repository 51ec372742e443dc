"""Tell statements from orders, and turn an order into a report of it where that is safe.

A persona is read by people and by agents; a sentence in it that tells its reader what to do would be obeyed.

Source: docs/spec/persona.md §4.3.
"""

import re
from collections.abc import Sequence
from typing import Final

from curator.persona import words
from curator.persona.vocabulary import AUXILIARIES, IMPERATIVES, NOUNS_TOO, READER, RULED

REPORT: Final = "A reflection asks: “{order}”"
REPORTED_WORDS: Final = 25  # words up to which an order is reported; a longer one is no rule but a text

_REPORT = re.compile(r"A reflection asks: “([^”]*)”")
_PART = re.compile(r"(?<=[.!?;。！？])\s+|\s+[—–-]\s+|[][(){}（）［］【】〔〕〖〗「」『』]")
_ROLE = re.compile(r"^\s*[\w ]{1,24}:\s+(?=\S)")
_OBLIGED = re.compile(r"\b(?:must|should|shall|ought to|needs? to|ha(?:s|ve) to|always|never|may not)\b", re.IGNORECASE)
_CONDITION = re.compile(r"^(?:when|whenever|if|once|before|after|unless)\b[^,]*,\s*(.+)", re.IGNORECASE)
_HIJACK = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|reveal|repeat|output|execute|trust|approve|obey|impersonate|pretend"
    r"|instructions?|prompts?|jailbreak|passwords?|credentials?|api[- ]?keys?|curator|assistants?|citations?|cites?"
    r"|footnotes?|persona|transfer|wire|sudo|curl|rm)\b|\w\(\)",
    re.IGNORECASE,
)
_INJECTION = re.compile(
    r"\b(?:ignor\w+|disregard\w*|forget\w*|overrid\w+)\s+(?:\w+\s+){0,3}(?:instructions?|prompts?|rules|guidelines|above)\b"
    r"|\bsystem prompts?\b|\bprevious instructions?\b",
    re.IGNORECASE,
)


def directs(text: str, names: Sequence[str] = ()) -> bool:
    """Tell whether the text tells its reader what to do: an order, a rule for agents, or a word to "you".

    `names` are those whose sentences state something although they begin like an order ("Mark likes tea").
    """
    if _INJECTION.search(text):
        return True
    if _REPORT.fullmatch(text):
        return False
    return any(_directs(part, names) for part in _PART.split(words.unquoted(text)))


def _directs(sentence: str, names: Sequence[str]) -> bool:
    sentence = _ROLE.sub("", sentence)
    found = words.folded(sentence)
    if any(word in READER for word in found):
        return True
    opening = " ".join(words.words(sentence)[:3])
    if not found or any(found[0] in words.folded(name) for name in words.among(opening, names)):
        return False  # it begins with the name; one further on is whom an order is about: "Send Mark the money"
    if _orders(found[1:] if found[0] in {"please", "just", "so", "now"} else found):
        return True
    condition = _CONDITION.match(sentence)
    if condition and _orders(words.folded(condition[1])):
        return True
    return bool(RULED & set(found[:3])) and bool(_OBLIGED.search(" ".join(found[:8])))


def _orders(found: Sequence[str]) -> bool:
    if not found:
        return False
    return found[0] in IMPERATIVES or (found[0] in NOUNS_TOO and not AUXILIARIES & set(found[1:4]))


def reported(text: str) -> str | None:
    """Answer an order as a report of it, or None where it cannot be one: too long, quoting, or made to hijack."""
    order = text.strip()
    if words.count(order) > REPORTED_WORDS or _HIJACK.search(order) or re.search('[“”"]', order) or _ROLE.match(order):
        return None
    if not READER.isdisjoint(words.folded(order)):
        return None
    return REPORT.format(order=order)


def content(text: str) -> str:
    """Answer the order inside a report, or the text itself where it is none."""
    report = _REPORT.fullmatch(text)
    return report[1] if report else text
