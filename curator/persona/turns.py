"""Read the words by which a sentence says that something else no longer holds: paused, replaced, resumed.

What is read is grammar, not meaning: a word of turning where it is told as done ("is paused", "(Postponed)", "replacing
X"), never where it is wished, asked or supposed. English only; in another language nothing is found here.

Source: docs/spec/persona.md §3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from curator.persona import values, words
from curator.persona.source import MONTHS
from curator.persona.vocabulary import ENDINGS, NUMBERS, TURNS

GOAL_STEMS: Final = 2  # stems an item of a list must have to be looked for alone


class Turn(StrEnum):
    """Say what a sentence does to what held before."""

    RESUMES = "resumes"
    HALTS = "halts"
    REPLACES = "replaces"


@dataclass(frozen=True, slots=True)
class Turning:
    """Hold how a sentence turns, and what may be turned: the stems of each wording, the fullest first.

    `named` tells that the sentence says in so many words what gives way; `beside` that it does so with "instead of" or
    "rather than"; `numbers` are numbers that give way, of which an older sentence must state one.
    """

    turn: Turn
    goals: tuple[frozenset[str], ...]
    named: bool
    numbers: frozenset[str]
    beside: bool = False


_HALTED = """paused suspended postponed cancelled canceled stopped dropped abandoned removed eliminated excluded
    rejected deleted discontinued scrapped deferred skipped archived obsolete ineffective unhelpful halted withdrawn"""
_REPLACED = """replaced substituted swapped switched shifted pivoted changed rescheduled redesigned extended shortened
    increased reduced lowered raised moved relocated streamlined separated overridden renamed"""
_RESUMED = "resumed reactivated restarted reinstated lifted unpaused"
_ADVERBS = """now all also been be temporarily completely officially explicitly currently since found deemed considered
    entirely formally decided to"""


def _done(participles: str) -> str:
    """Match a participle told as done: behind "is", "has" or the person, or alone in a bracket at the end."""
    one, adverb = "|".join(participles.split()), "|".join(_ADVERBS.split())
    held = rf"\b(?:is|are|was|were|be|been|being|has|have|had|user)(?:\s+(?:{adverb}))*\s+(?:{one})\b"
    return rf"{held}|\((?:now\s+)?(?:{one})\b[^()]*\)\W*$"


_SIGNS: Final = {
    Turn.RESUMES: re.compile(rf"{_done(_RESUMED)}|\b(?:reactivat|resum|restart)(?:e|ing)\b", re.IGNORECASE),
    Turn.HALTS: re.compile(
        rf"{_done(_HALTED)}|\bon hold\b|\bno longer\b|\bdecided against\b|\bruled out\b"
        r"|(?:,|\bexplicitly|\bto)\s+(?:eliminat|exclud|remov|reject|cancel|drop|paus|postpon|suspend)(?:l|p)?(?:e|ing)?\b",
        re.IGNORECASE,
    ),
    Turn.REPLACES: re.compile(
        rf"{_done(_REPLACED)}|\b(?:updated|adjusted|revised) to\s+(?!reflect|include|focus|be\b)"
        r"|\b(?:is|are|has been|have been) (?:updated|adjusted|revised|modified)\.?$"
        r"|\b(?:rais|lower|increas|reduc|extend|chang|mov|shift)(?:ed|ing)\b[^.;]{0,60}\sfrom\s+\S{0,4}\d[\d,.]*\S*(?:\s\w+)?\s+to\s+\S{0,4}\d"
        r"|\breplac(?:es?|ing|ement for)\b|\bsupersed(?:es|ing)\b|\b(?:substitute|swap) for\b|\binstead of\b"
        r"|\brather than\b|\bin place of\b|\b(?:switch|deload|change|shift|move) to\b|\b(?:redesign|reschedule)\b",
        re.IGNORECASE,
    ),
}
_HALTED_BEFORE = re.compile(rf"\b(?:{'|'.join(_HALTED.split())}|on hold|no longer)\b", re.IGNORECASE)
_STILL = re.compile(r"\b(?:remains?|still|continues?|stays?|previously|already)\b", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|could|would|should|can|may|might|propos\w+|suggest\w*|question|consider\w*|wishes|prefers?|hopes?"
    r"|flexib\w+|feels?|fear\w*|once|when|while|option to)\b",
    re.IGNORECASE,
)
_WANTED = re.compile(r"\bwants?\b", re.IGNORECASE)
_TENTATIVE = re.compile(r"\b(?:propos\w+|question|suggest\w+|if|next steps?)\b", re.IGNORECASE)
_REASON = re.compile(
    r"\s(?:due to|because|in order to|until|so that|as the|for the (?:next|first)|for at least|after|starting|to allow"
    r"|for \w+ reasons)\b.*$",
    re.IGNORECASE,
)
_WHERE = re.compile(r"\s(?:to|into)\s.*$", re.IGNORECASE)
_BESIDE = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)
_NAMED = re.compile(
    r"\b(?:instead of|rather than|replac(?:es|ing|ement for|e)(?: the| current)?|in place of|(?:substitute|swap) for"
    r"|supersed(?:es|ing)|(?:pivot|switch|mov|shift|chang|lower|rais|extend|reduc|increas)(?:t?ed) from"
    r"|(?:rais|lower|extend|reduc|increas)ing.{0,40} from|eliminating|excluding|exclude|removing|rejecting)"
    r"\s+(?:the\s+)?(.+?)(?=\s+(?:with|to|on|in|by|due|because|for|until|currently|is|are|was|were|has|have|will)\b|[;()]|[,.]\s|[,.]?$)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[,;:()\[\]]+|\sand\s|\sor\s|\bincluding\b|\bspecifically\b", re.IGNORECASE)
_BRACKET = re.compile(r"\([^()]*\)")
_PIECE = re.compile(r"[;:]\s|\.\s")
_PLAIN = """user users new plan plans planned planning task tasks next step steps first day days week weeks set put
    include includes including confirmed confirm agreed temporary temporarily primary specific schedule scheduled
    session sessions original originally decided hold longer replace exclude remove drop cancel pause time times today
    related indefinitely perform complete activity activities adjust update revise modify"""
_IDLE: Final = words.stems(
    " ".join((_HALTED, _REPLACED, _RESUMED, _PLAIN, *ENDINGS, *TURNS, *values.WEEKDAYS, *MONTHS, *NUMBERS))
)
"""Stems that say how it turns and not what: they are looked for nowhere."""


def topic(text: str, known: frozenset[str]) -> frozenset[str]:
    """Collect the stems of what a text is about: no numbers, no dates, no words of turning, nothing `known`."""
    return frozenset(stem for stem in words.stems(text) - known - _IDLE if not stem[0].isdigit())


def halted(text: str) -> bool:
    """Tell whether a text has a word of halting anywhere in it."""
    return bool(_HALTED_BEFORE.search(text))


def tentative(text: str) -> bool:
    """Tell whether a text proposes or supposes: what never held cannot be taken back."""
    return bool(_TENTATIVE.search(text))


def beside(text: str) -> bool:
    """Tell whether a text sets one thing against another: "instead of", "rather than"."""
    return bool(_BESIDE.search(text))


@words.remembered
def turn(text: str, name: str) -> Turn | None:
    """Answer what a sentence about `name` tells as turned, or None."""
    found = _turn(text, name)
    return found[0] if found else None


@words.remembered
def turning(text: str, name: str) -> Turning | None:
    """Read how a sentence about `name` turns something, and what, or None."""
    found = _turn(text, name)
    if found is None:
        return None
    way, head, read = found
    known = words.stems(name)
    main = _REASON.sub("", text)
    if way is Turn.REPLACES and not head.strip():  # where somebody moved to is new, and no name for what gave way
        main = _WHERE.sub("", main)
    if (named := _NAMED.search(read)) is not None:
        goal, numbers = topic(named[1], known), values.numbers(named[1])
        if goal:
            return Turning(way, (goal,), True, frozenset(), beside(named[0]))
        if _BESIDE.search(named[0]) and not numbers:
            return None
        whole = topic(main, known)
        return Turning(way, (whole,), False, numbers) if whole else None
    goals = [topic(main, known), topic(head, known)]
    if way is not Turn.REPLACES:
        goals += [
            goal
            for goal in (topic(part, known) for part in _ITEM.split(_BRACKET.sub(", ", main)))
            if len(goal) >= GOAL_STEMS
        ]
    goals = [goal for goal in dict.fromkeys(goals) if goal]
    return Turning(way, tuple(goals), False, frozenset()) if goals else None


def _turn(text: str, name: str) -> tuple[Turn, str, str] | None:
    """Answer how a sentence turns, the clause in front of the word that says so, and the sentence as it was read.

    What stands in brackets is read only where nothing turns outside of them.
    """
    read = _as_user(text, name)
    open_ = _BRACKET.sub(" ", read)
    return _signed(open_) or (_signed(read) if open_ != read else None)


def _signed(read: str) -> tuple[Turn, str, str] | None:
    for way, sign in _SIGNS.items():
        found = sign.search(read)
        if found is None or _STILL.search(read[: found.end()]):
            continue
        pieces = [piece for piece in _PIECE.split(read[: found.start()]) if piece.strip()]
        head = pieces[-1] if pieces else ""
        if not _SUPPOSED.search(head) and (_BESIDE.match(found[0]) or not _WANTED.search(head)):
            return way, head, read
    return None


def _as_user(text: str, name: str) -> str:
    """Call the person "user", so that a verb behind the name is seen to be theirs."""
    parts = "|".join(re.escape(part) for part in (name, *words.words(name)[:1]) if part.strip())
    return re.sub(rf"\b(?:{parts})\b", "user", text) if parts else text
