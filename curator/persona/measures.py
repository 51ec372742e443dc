"""Read what a sentence sets a value for: so many of a unit, of what, and on which day.

Source: docs/spec/persona.md §3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from curator.persona import words
from curator.persona.vocabulary import NUMBERS, STOP

BEFORE: Final = 10  # words in front of a number that can say what it measures
BEHIND: Final = 3  # words behind it

_TOKEN = re.compile(r"[^\W\d_][\w'’-]*|[$£€¥₩%]|\d[\d,.:]*\d|\d")
_GLUED = re.compile(r"(?<=\d)(?=[^\W\d_]|%)|(?<=\d)-(?=[a-z])")
_SIGNS: Final = frozenset(
    ["$", "£", "€", "¥", "₩", "usd", "eur", "gbp", "jpy", "krw", "ngn", "aud", "cad", "chf", "cny", "inr"]
)
_ORDERED: Final = frozenset(
    [
        "day",
        "week",
        "phase",
        "step",
        "module",
        "option",
        "version",
        "part",
        "block",
        "month",
        "session",
        "level",
        "no",
        "number",
    ]
)
_SCALES: Final = frozenset(
    words.stem(word)
    for word in [
        "amount",
        "budget",
        "target",
        "goal",
        "limit",
        "frequency",
        "weight",
        "price",
        "cost",
        "rate",
        "duration",
        "length",
        "size",
        "height",
        "age",
        "old",
        "salary",
        "income",
        "total",
        "minimum",
        "maximum",
        "threshold",
        "payment",
        "intake",
        "deposit",
        "fee",
        "rent",
        "speed",
        "capacity",
        "quota",
    ]
)
_SPENT = re.compile(
    r"\b(?:scored|allocated|spent|paid|ran|lifted|completed|saved|earned|remaining|additional|remains?)\b",
    re.IGNORECASE,
)

_RATE = re.compile(
    r"\b(dai|week|month|year|annual|hour|night)ly\b|\bper\s+(\w+)|(?:/|\b(?:a|each|every)\s+)(day|week|month|year|hour|night)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Measure:
    """Hold the numbers a sentence gives in one unit, and the stems that stand about them."""

    numbers: frozenset[str]
    about: frozenset[str]


@words.remembered
def measures(text: str) -> dict[str, Measure]:
    """Map each unit, as a stem, to what the text says in it; "Day 3" and a time of day measure nothing."""
    tokens = _TOKEN.findall(_GLUED.sub(" ", text))
    found: dict[str, Measure] = {}
    for at, token in enumerate(tokens):
        number = token.replace(",", "").rstrip(".") if token[0].isdigit() else NUMBERS.get(token.casefold())
        before = tokens[at - 1].casefold() if at else ""
        behind = tokens[at + 1].casefold() if at + 1 < len(tokens) else ""
        if number is None or before in _ORDERED or ":" in token:
            continue
        unit = before if before in _SIGNS else words.stem(behind) if behind not in STOP else ""
        if not unit or unit[0].isdigit():
            continue
        near = words.stems(" ".join(tokens[max(0, at - BEFORE) : at + 1 + BEHIND]))
        about = frozenset(stem for stem in near if not stem[0].isdigit()) - {unit}
        held = found.get(unit, Measure(frozenset(), frozenset()))
        found[unit] = Measure(held.numbers | {_plain(str(number))}, held.about | about)
    return found


def _plain(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def reset(newer: str, older: str) -> tuple[str, frozenset[str]] | None:
    """Answer the unit and the new numbers where a sentence sets anew what an older one had set, or None.

    Both give one or two numbers of the unit, all different, for something that has one size at a time.
    """
    if _SPENT.search(newer) or _SPENT.search(older) or _rates(newer) != _rates(older):
        return None
    told, held = measures(newer), measures(older)
    for unit in sorted(told.keys() & held.keys()):
        one, other = told[unit], held[unit]
        shared = one.about & other.about
        few = len(one.numbers) < 3 > len(other.numbers) and not one.numbers & other.numbers
        if few and shared & _SCALES and (len(shared) > 1 or len(one.numbers) == 1):
            return unit, one.numbers
    return None


def _rates(text: str) -> frozenset[str]:
    """Collect what a text counts by: "weekly" and "per week" are one."""
    found = ((match[1] or match[2] or match[3]).casefold()[:3] for match in _RATE.finditer(text))
    return frozenset("day" if unit == "dai" else unit for unit in found)
