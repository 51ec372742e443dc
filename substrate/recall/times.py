"""Read what time a question asks about: "in May 2023", "last week", "two days before 8 May", "since the move".

Pure. English, as people write dates; what is not understood names no time. Days are UTC's, weeks begin on Monday.
Source: docs/concepts/recall.md.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from substrate.recall.words import MONTHS, fold

YEARS = 30  # years looked back for a month that is named without its year


@dataclass(frozen=True, order=True)
class Span:
    """Hold the days from `first` up to and without `end`."""

    first: date
    end: date


Held = Callable[[Span], bool]
Event = Callable[[str], date | None]


def spans(text: str, today: date, held: Held, event: Event) -> list[Span]:
    """Return the times a text names, in the order they stand in it, as seen from `today`.

    A month or day without a year is the latest, not after `today`, in which something is `held`; else the latest.
    Words behind "before", "after", "since" or "until" that are no time stand for an event; `event` knows its day, or
    None. A while before or after a day reaches up to that day, for people tell of it then.
    """
    folded = fold(text)
    found = sorted(_Reader(today, held).read(folded))
    between = [_between(folded, one, other) for one, other in pairwise(found)]
    joined = [span for span in between if span is not None]
    return joined or [_related(folded[:start], span) for start, _, span in found] + _events(folded, found, event)


def shifted(day: date, number: int, unit: str) -> date:
    """Return the day so many days, weeks, months or years later; the last of its month where there is no such day."""
    if unit in _DAYS:
        return day + timedelta(number * _DAYS[unit])
    months = day.year * 12 + day.month - 1 + number * (12 if unit == "year" else 1)
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def around(day: date, unit: str) -> Span:
    """Return the day, or the week, weekend, month or year it is in."""
    if unit == "day":
        return Span(day, day + timedelta(1))
    if unit in ("week", "weekend"):
        monday = day - timedelta(day.weekday())
        return Span(monday + timedelta(5 if unit == "weekend" else 0), monday + timedelta(7))
    first = day.replace(day=1) if unit == "month" else day.replace(month=1, day=1)
    return Span(first, shifted(first, 1, unit))


Found = tuple[int, int, Span]  # where in the text a time begins and ends

_DAYS = {"day": 1, "week": 7, "weekend": 7}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = rf"\d{{1,3}}|(?:a )?couple(?: of)?|(?:a )?few|an?|{'|'.join(_NUMBERS[1:])}"
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in map(str.lower, MONTHS)).replace("sep(", "sept?(")
_YEAR = r"(?:19|20)\d\d"
_AT = r"in|on|of|during|since|before|after|until|till|by|from|early|late|mid|last|this"
_FORMS = tuple(
    re.compile(rf"\b(?:{form})\b")
    for form in (
        rf"(?P<year>{_YEAR})-(?P<number>\d\d)(?:-(?P<day>\d\d))?",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\.?(?:,? ?(?P<year>{_YEAR}))?",
        rf"(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? ?(?P<year>{_YEAR}))?",
        rf"(?P<month>{_MONTH})\.?,?(?: of)? (?P<year>{_YEAR})",
        rf"(?:{_AT})[ -](?P<month>{_MONTH})",
        rf"(?:{_AT}|year) (?P<year>{_YEAR})",
        rf"(?P<ago>{_NUMBER}) (?P<unit>day|week|month|year)s? ago",
        rf"(?:last|past) (?P<span>{_NUMBER}) (?P<unit>day|week|month|year)s?",
        r"(?P<word>the day before yesterday|yesterday|last night|today|tonight|tomorrow)",
        r"(?P<which>last|past|previous|this|next) (?P<unit>weekend|week|month|year)",
        rf"(?P<which>last|this|next|on) (?P<weekday>{'|'.join(_WEEKDAYS)})",
    )
)
_WORDS = {"the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_WHICH = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1}
_WHILE = re.compile(
    rf"(?:\b(?P<number>{_NUMBER}) )?\b(?P<unit>day|weekend|week|month|year)s? (?P<side>before|after)(?: the)? $"
)
_SIDE = re.compile(r"\b(?P<side>before|until|till|by|after|since)(?: the)? $")
_EVENT = re.compile(
    r"\b(?P<side>before|until|till|after|since) (?P<event>(?:the|an?|my|our|your|his|her|its|their|\w+'s) [^,.;:!?]+)"
)


class _Reader:
    """Read times, each form in turn, none over another."""

    def __init__(self, today: date, held: Held) -> None:
        self.today, self.held, self.year = today, held, ""

    def read(self, folded: str) -> Iterator[Found]:
        """Give each time with where it stands. Where the text holds one year, it is that of every day and month."""
        years = set(re.findall(rf"\b{_YEAR}\b", folded))
        self.year = years.pop() if len(years) == 1 else ""
        taken: list[tuple[int, int]] = []
        for form in _FORMS:
            for match in form.finditer(folded):
                said = {name: value for name, value in match.groupdict().items() if value is not None}
                start, end = min(match.start(name) for name in said), match.end()
                if any(start < b and a < end for a, b in taken):
                    continue
                with suppress(ValueError, OverflowError):  # there is no 31 June, and no year 0
                    span = self._span(said)
                    taken.append((start, end))
                    yield start, end, span

    def _span(self, said: dict[str, str]) -> Span:
        if "month" in said or "year" in said:
            return self._calendar(said)
        if "ago" in said:
            return around(shifted(self.today, -_count(said["ago"]), said["unit"]), said["unit"])
        if "span" in said:
            return Span(shifted(self.today, -_count(said["span"]), said["unit"]), self.today + timedelta(1))
        if "word" in said:
            return around(self.today + timedelta(_WORDS[said["word"]]), "day")
        if "unit" in said:
            return around(shifted(self.today, _WHICH[said["which"]], said["unit"]), said["unit"])
        days = (_WEEKDAYS.index(said["weekday"]) - self.today.weekday()) % 7
        return around(self.today + timedelta(days or 7 if said["which"] == "next" else days - 7), "day")

    def _calendar(self, said: dict[str, str]) -> Span:
        month = int(said["number"]) if "number" in said else _month(said["month"]) if "month" in said else None
        unit = "year" if month is None else "day" if "day" in said else "month"
        day = int(said.get("day", 1))
        if stated := said.get("year", self.year):
            return around(date(int(stated), month or 1, day), unit)
        latest: list[Span] = []
        for year in range(self.today.year, self.today.year - YEARS, -1):
            with suppress(ValueError):
                span = around(date(year, month or 1, day), unit)
                if span.first <= self.today:
                    latest.append(span)
                    if self.held(span):
                        return span
        return latest[0]


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.lower().startswith(name[:3]))


def _count(said: str) -> int:
    if said.isdigit():
        return int(said)
    return 2 if "couple" in said else 3 if "few" in said else _NUMBERS.index(said) if said in _NUMBERS else 1


def _between(folded: str, one: Found, other: Found) -> Span | None:
    """Return the days from one time to another, where the text says so."""
    before, middle = folded[: one[0]], folded[one[1] : other[0]].strip()
    said = (before.endswith("between ") and middle == "and") or (
        before.endswith("from ") and middle in ("to", "until", "till")
    )
    return Span(one[2].first, other[2].end) if said and one[2].first < other[2].end else None


def _related(before: str, span: Span) -> Span:
    """Return the days a time stands for, by the words before it."""
    if match := _WHILE.search(before):
        number, unit = _count(match["number"] or "one"), match["unit"].replace("weekend", "week")
        if match["side"] == "before":
            return Span(shifted(span.first, -number, unit), span.end)
        return Span(span.first, shifted(span.end, number, unit))
    match = _SIDE.search(before)
    return _beside(match["side"], span) if match else span


def _beside(side: str, span: Span) -> Span:
    if side == "before":
        return Span(date.min, span.first)
    if side == "after":
        return Span(span.end, date.max)
    return Span(span.first, date.max) if side == "since" else Span(date.min, span.end)


def _events(folded: str, found: list[Found], event: Event) -> list[Span]:
    """Return the days before, after, since or until what is named by something else than a time."""
    spans = []
    for match in _EVENT.finditer(folded):
        if not any(start < match.end() and match.start() < end for start, end, _ in found):
            day = event(match["event"])
            if day is not None:
                spans.append(_beside(match["side"], around(day, "day")))
    return spans
