"""Read the values of a text, numbers and dates, in a normal form: "two" is 2, "1,000" is "1k", "3 May" has a month.

Source: docs/spec/persona.md §4.2.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from curator.persona.source import MONTHS
from curator.persona.vocabulary import NUMBERS, ORDINALS, SCALES
from curator.persona.words import remembered

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBER_OF_MONTH = {name.casefold(): number for number, name in enumerate(MONTHS, 1)}
_NUMBER_OF_MONTH |= {name[:3]: number for name, number in _NUMBER_OF_MONTH.items()} | {"sept": 9}

_MONTH = "|".join(sorted(_NUMBER_OF_MONTH, key=len, reverse=True))
_DAY = r"(?P<d{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_DATE = re.compile(
    r"\b(?:(?P<y1>\d{4})-(?P<m1>\d{2})(?:-(?P<d1>\d{2}))?(?!\d)"
    rf"|{_DAY.format(2)}\s+(?:of\s+)?(?P<m2>{_MONTH})\b\.?(?:,?\s+(?P<y2>\d{{4}}))?"
    rf"|(?P<m3>{_MONTH})\b\.?\s+{_DAY.format(3)}\b(?!:\d)(?:,?\s+(?P<y3>\d{{4}}))?"
    rf"|(?P<m4>{_MONTH})\b\.?,?\s+(?P<y4>\d{{4}})"
    rf"|(?:in|since|until|till|by|of|during|early|late|mid|last|next|this|each|every|from|before|after)\s+(?P<m5>(?-i:{'|'.join(MONTHS)})))\b",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?<![\w.])[^\w\s]?(\d+(?:[,' ]\d{3})*(?:\.\d+)?)(k|m|bn|st|nd|rd|th)?(?![\d])", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_LOOSE_AFTER = frozenset({"of", "another", "day", "else", "who", "that", "or", "more"})
_LOOSE_BEFORE = frozenset({"no", "the", "this", "that", "any", "every", "which", "another", "each", "some", "at"})


@dataclass(frozen=True, slots=True)
class Day:
    """Hold a date of which parts may be unknown, then 0: "May 2026" has no day, "3 May" no year."""

    year: int = 0
    month: int = 0
    day: int = 0

    def covers(self, other: "Day") -> bool:
        """Tell whether every part that `other` states is stated here alike."""
        pairs = ((other.year, self.year), (other.month, self.month), (other.day, self.day))
        return all(not asked or asked == known for asked, known in pairs)


def _found(match: re.Match[str]) -> Day:
    parts = {name[0]: value for name, value in match.groupdict().items() if value}
    month = parts.get("m", "0").casefold()
    return Day(int(parts.get("y", 0)), _NUMBER_OF_MONTH.get(month) or int(month), int(parts.get("d", 0)))


@remembered
def days(text: str) -> frozenset[Day]:
    """Collect the dates a text states."""
    return frozenset(_found(match) for match in _DATE.finditer(text))


@remembered
def numbers(text: str) -> frozenset[str]:
    """Collect the numbers outside dates, in digits or in words, as plain decimals; ordinals count as their number."""
    rest = _DATE.sub(" ", text)
    found = {_decimal(match[1], match[2] or "") for match in _DIGITS.finditer(rest)}
    return frozenset(found | set(_spelled(rest)))


def _decimal(digits: str, unit: str) -> str:
    whole, _, fraction = re.sub(r"[,' ]", "", digits).partition(".")
    scale = {"k": 3, "m": 6, "bn": 9}.get(unit.casefold(), 0)
    whole, fraction = whole + fraction[:scale].ljust(scale, "0"), fraction[scale:].rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")


def _spelled(text: str) -> Iterator[str]:
    """Yield numbers written in words: "twenty-five" 25, "two hundred and fifty" 250, "third" 3."""
    tokens = [token.casefold() for token in _TOKEN.findall(text)]
    total: int | None = None
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        before = tokens[at - 1] if at else ""
        if token in SCALES and (total is not None or before == "a"):
            total = (total or 1) * SCALES[token]
        elif token == "one" and total is None and (following in _LOOSE_AFTER or before in _LOOSE_BEFORE):
            continue
        elif token in NUMBERS:
            joined = total is not None and (total % 100 == 0 or (20 <= total % 100 < 100 and NUMBERS[token] < 10))
            if total is not None and not joined:
                yield str(total)
            total = (total or 0) + NUMBERS[token] if joined else NUMBERS[token]
        elif token in ORDINALS and (total is None or (20 <= total % 100 < 100 and ORDINALS[token] < 10)):
            yield str((total or 0) + ORDINALS[token])
            total = None
        elif not (token == "and" and total is not None and total % 100 == 0 and following in NUMBERS):
            if total is not None:
                yield str(total)
            total = None
    if total is not None:
        yield str(total)
