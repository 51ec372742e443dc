"""Tell which dates a source means: those it gives, and those that "yesterday" or "in three weeks" point to.

What gives no time at all is taken to have happened on the day it was written down.

Source: docs/spec/persona.md §4.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Final

from curator.persona.source import Source
from curator.persona.values import WEEKDAYS, Day, days, numbers

_TODAY: Final = re.compile(r"\b(?:today|tonight|now|just|this (?:morning|afternoon|evening|noon))\b")
_THIS_WEEK: Final = re.compile(r"\bthis (?:week|weekend)\b|\b(?:last|past) (?:few|couple of) days\b")
_SEASON: Final = re.compile(r"\b(this|last|next|past) (?:year|spring|summer|autumn|fall|winter|easter|christmas)\b")
_AGO: Final = re.compile(r"\b((?:[\w-]{1,40} ){1,2})(day|week|month|year)s? (ago|before|from now|later)\b")
_IN: Final = re.compile(r"\bin ((?:[\w-]{1,40} ){1,2}?)(day|week|month|year)s?\b")
_SINGLE: Final = frozenset({"a", "an", "one"})


def told(sources: Iterable[Source], texts: Iterable[str]) -> frozenset[Day]:
    """Collect the dates that the sources mean in these texts."""
    read = list(texts)
    stated = {day for text in read for day in days(text)}
    known = set(stated)
    said = " ".join(read).casefold()
    for source in sources:
        if (today := source.calendar) is None:
            continue
        relative = set(_relative(said, today))
        known |= relative
        known |= {Day(_nearest(day.month, today), day.month, day.day) for day in stated if day.month and not day.year}
        if _TODAY.search(said) or not (relative or any(day.day for day in stated)):
            known.add(Day(today.year, today.month, today.day))
    return frozenset(known)


def _nearest(month: int, today: date) -> int:
    """Answer the year of the month of that number that is nearest to today."""
    away = month - today.month
    return today.year + (1 if away < -6 else -1 if away > 6 else 0)


def _relative(text: str, today: date) -> Iterator[Day]:
    """Yield the days that "yesterday", "last year" or "two weeks ago" mean when said today."""
    for word, away in (("yesterday", -1), ("tomorrow", 1), ("last night", -1)):
        if word in text:
            yield _day(today + timedelta(days=away))
    for word, away in (("last", -1), ("next", 1), ("this", 0)):
        if f"{word} month" in text:
            yield _month(today, away)
        if f"{word} week" in text and away:
            yield from (_day(today + timedelta(days=step + 7 * away)) for step in range(-7, 8))
    for match in _SEASON.finditer(text):
        yield from (Day(today.year + away) for away in {"this": (0,), "next": (0, 1)}.get(match[1], (0, -1)))
    if "year before" in text:
        yield Day(today.year - 1)
    if _THIS_WEEK.search(text):
        yield from (_day(today + timedelta(days=step)) for step in range(-6, 7))
    yield from _weekdays(text, today)
    yield from _counted(text, today)


def _weekdays(text: str, today: date) -> Iterator[Day]:
    for word, away in (("last", -1), ("next", 1)):
        for number, name in enumerate(WEEKDAYS):
            if f"{word} {name}" in text:
                step = (number - today.weekday()) % 7 or 7
                yield _day(today + timedelta(days=step if away > 0 else step - 7 or -7))


def _counted(text: str, today: date) -> Iterator[Day]:
    """Yield the days of "two weeks ago" and "in three months"."""
    found = [(match[1], match[2], -1 if match[3] in {"ago", "before"} else 1) for match in _AGO.finditer(text)]
    found += [(match[1], match[2], 1) for match in _IN.finditer(text)]
    for counted, unit, way in found:
        values = numbers(counted) or ({"1"} if _SINGLE & set(counted.split()) else set())
        for value in sorted(values):
            if value.isdigit() and len(value) < 4:
                yield _away(today, int(value) * way, unit)


def _away(today: date, count: int, unit: str) -> Day:
    if unit in {"day", "week"}:
        return _day(today + timedelta(days=count * (7 if unit == "week" else 1)))
    return _month(today, count) if unit == "month" else Day(max(1, today.year + count))


def _day(there: date) -> Day:
    return Day(there.year, there.month, there.day)


def _month(today: date, away: int) -> Day:
    ahead = today.year * 12 + today.month - 1 + away
    return Day(ahead // 12, ahead % 12 + 1)
