"""Score documents by when they were: in a time that the query names, and not long before it is asked.

A named time is taken as a word that the documents of that time hold: the fewer they are, the more it tells.
Source: docs/concepts/recall.md.
"""

from __future__ import annotations

import math
from collections import Counter
from datetime import date

import numpy as np
from numpy.typing import NDArray

from substrate.recall.corpus import View
from substrate.recall.lexical import bm25
from substrate.recall.segment import Bools
from substrate.recall.times import Span, spans
from substrate.recall.words import terms

RECENT = 1.0  # deviations for a document of today
FADES = 14.0  # days after which 1/e of that is left

_EPOCH = date(1970, 1, 1).toordinal()
Scores = NDArray[np.float64]


def named(view: View, query: str, today: date) -> tuple[Scores, Bools]:
    """Return what the times a query names give each document, and which are in one that has a beginning and an end.

    A time that holds df of n documents gives each of them ln(1 + (n - df + 0.5) / (df + 0.5)).
    """

    def within(span: Span) -> Bools:
        return (view.days >= span.first.toordinal() - _EPOCH) & (view.days < span.end.toordinal() - _EPOCH)

    def day(event: str) -> date | None:
        found = bm25(view, Counter(terms(event, query=True)))
        if not found.own.any():
            return None
        best = int(np.argmax(np.where(found.own, found.scores, -1.0)))
        return date.fromordinal(int(view.days[best]) + _EPOCH)

    scores, bounded = np.zeros(len(view)), np.zeros(len(view), np.bool_)
    for span in spans(query, today, lambda span: bool(within(span).any()), day):
        there = within(span)
        held = int(there.sum())
        scores[there] += math.log(1 + (len(view) - held + 0.5) / (held + 0.5))
        if span.first > date.min and span.end < date.max:
            bounded |= there
    return scores, bounded


def recent(view: View, today: date) -> Scores:
    """Return what is added for a document's age in days, 0 for the oldest; one of a day to come is of today."""
    age = np.maximum(today.toordinal() - _EPOCH - view.days, 0)
    found = RECENT * np.exp(-age / FADES)
    return np.asarray(found - found.min(initial=RECENT))
