"""Hold what a persona is made from: one reflection, its date, and what it rests on.

Source: docs/spec/persona.md §1.4.
"""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True, slots=True)
class Source:
    """Hold one reflection as the curator reads it.

    `date` is RFC 3339 text (`valid_from`, else `created_at`); `ancestors` are the ids it is derived from; what
    those say supports nothing, since a claim cites the reflection alone and has to go with it. `supersedes` and
    `contradicts` are the ids its links of that name point to.
    """

    id: str
    text: str
    title: str | None
    date: str
    sequence: int
    times_seen: int
    ancestors: frozenset[str]
    supersedes: frozenset[str]
    contradicts: frozenset[str]

    @property
    def day(self) -> str:
        """Answer the date alone, `2026-05-14`."""
        return self.date[:10]

    @property
    def order(self) -> tuple[str, int, str]:
        """Answer the sort key of "older than": date, then event sequence, then id."""
        return (self.date, self.sequence, self.id)

    @property
    def calendar(self) -> datetime.date | None:
        """Answer the day as a date, or None where the text is not one."""
        try:
            return datetime.date.fromisoformat(self.day)
        except ValueError:
            return None

    def spoken_date(self) -> str:
        """Answer the date in words, `14 May 2026`; the text as it is where it is no date."""
        day = self.calendar
        return f"{day.day} {MONTHS[day.month - 1]} {day.year}" if day else self.day


def in_order(sources: Iterable[Source]) -> list[Source]:
    """Sort oldest first, whatever order the rows came in."""
    return sorted(sources, key=lambda source: source.order)
