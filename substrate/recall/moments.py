"""Score documents by when they were: in a time that the query names, and not long before it is asked.

A named time is taken as a word that the documents of that time hold: the fewer they are, the more it tells.
Source: docs/concepts/recall.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from substrate.recall.corpus import Places
from substrate.recall.lexical import Words
from substrate.recall.segment import Bools
from substrate.recall.times import Span, spans
from substrate.recall.view import View
from substrate.recall.words import terms

RECENT = 1.0  # deviations for a document of today
FADES = 14.0  # days after which 1/e of that is left

_EPOCH = date(1970, 1, 1).toordinal()
Days = NDArray[np.int32] | NDArray[np.int64]
Scores = NDArray[np.float64]
Likely = Callable[[Words], Places]  # the documents among which the best for some words is


@dataclass(frozen=True)
class Moments:
    """Hold the times a query names, as first day and the day after the last, and what each gives its documents."""

    spans: tuple[tuple[Span, float], ...]

    def scores(self, days: Days) -> Scores:
        """Return what documents about these days get."""
        scores = np.zeros(len(days))
        for span, weight in self.spans:
            scores[within(span, days)] += weight
        return scores

    def bounded(self, days: Days) -> Bools:
        """Tell which days are in a time that has a beginning and an end."""
        found = np.zeros(len(days), np.bool_)
        for span, _ in self.spans:
            if is_bounded(span):
                found |= within(span, days)
        return found


def named(view: View, query: str, today: date, likely: Likely) -> Moments:
    """Return the times a query names.

    A time that holds df of n documents gives each of them ln(1 + (n - df + 0.5) / (df + 0.5)).
    """

    def held(span: Span) -> int:
        return view.within(span.first.toordinal() - _EPOCH, span.end.toordinal() - _EPOCH)

    def day(event: str) -> date | None:
        words = Words(view, Counter(terms(event, query=True)))
        places = likely(words)
        scores, own = words.score(places)
        if not own.any():
            return None
        best = places[int(np.argmax(np.where(own, scores, -1.0)))]
        return date.fromordinal(int(view.corpus.column("day")[best]) + _EPOCH)

    found = spans(query, today, lambda span: held(span) > 0, day)
    counts = [(span, held(span)) for span in found]
    return Moments(
        tuple((span, math.log(1 + (len(view) - count + 0.5) / (count + 0.5))) for span, count in counts if count)
    )


def recent(days: Days, today: date) -> Scores:
    """Return what is added for the age of documents about these days; one of a day to come is of today."""
    age = np.maximum(today.toordinal() - _EPOCH - days, 0)
    return np.asarray(RECENT * np.exp(-age / FADES))


def is_bounded(span: Span) -> bool:
    """Tell whether a time has a beginning and an end."""
    return span.first > date.min and span.end < date.max


def within(span: Span, days: Days) -> Bools:
    """Tell which days are in a time."""
    return np.asarray((days >= span.first.toordinal() - _EPOCH) & (days < span.end.toordinal() - _EPOCH))
