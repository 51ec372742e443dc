"""Score documents against the words of a query: BM25, in which an observation also counts the words around it.

In a conversation the answer often stands beside the words of the question ("Where did you go?" — "To Lisbon."). So an
observation's term counts and length take in those of its neighbours, at a weight that halves with each step away. The
weights, `K1` and `B` were chosen on the development data (docs/concepts/recall.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from substrate.recall.corpus import View
from substrate.recall.segment import Bools, Ints

K1, B = 0.9, 0.4
OWN = 20  # a document's own words, in twentieths; whole numbers, so that sums are exact in any order
BEFORE = (14, 7)  # those of the observation just before, and of the one before that
AFTER = (6, 3)


@dataclass(frozen=True)
class Matches:
    """Hold for each document of a view its score (0 or more) and whether its own text holds a term of the query."""

    scores: NDArray[np.float64]
    own: Bools


def bm25(view: View, query: Mapping[str, int]) -> Matches:
    """Return the matches of a query, given as how often it holds each term.

    For a term that counts in df of n documents, idf = ln(1 + (n - df + 0.5) / (df + 0.5)). A document in which it
    counts c and whose length is l against a mean of m gets idf · c · (K1 + 1) / (c + K1 · (1 - B + B · l / m)), times
    how often the query holds the term.
    """
    scores, own = np.zeros(len(view)), np.zeros(len(view), np.bool_)
    lengths = _widened(view, np.arange(len(view)), view.lengths)
    mean = int(lengths.sum()) / max(len(view), 1)
    for term in sorted(query):
        docs, counts = view.postings(term)
        if not len(docs):
            continue
        own[docs] = True
        widened = _widened(view, docs, counts)
        docs = np.flatnonzero(widened)
        count = widened[docs] / OWN
        idf = math.log(1 + (len(view) - len(docs) + 0.5) / (len(docs) + 0.5))
        weight = query[term] * idf * (K1 + 1)
        scores[docs] += weight * count / (count + K1 * (1 - B + B * (lengths[docs] / mean)))
    return Matches(scores, own)


def _widened(view: View, docs: Ints, values: Ints) -> Ints:
    """Return for each document of the view the sum of its value and its neighbours', in twentieths.

    `values` are those of `docs`, which are distinct; all others have 0.
    """
    sums = np.zeros(len(view), np.int64)
    sums[docs] = OWN * values
    for step, weights in ((view.after, BEFORE), (view.before, AFTER)):
        places = docs
        for weight in weights:
            places = np.where(places >= 0, step[places], -1)
            there = places >= 0
            sums[places[there]] += weight * values[there]  # nobody stands just after, or just before, two others
    return sums
