"""Score documents against the words of a query: BM25, in which an observation also counts the words around it.

In a conversation the answer often stands beside the words of the question ("Where did you go?" — "To Lisbon."). So an
observation's term counts and length take in those of its neighbours, at a lower weight. The weights, `K1` and `B` were
chosen on the development data (docs/concepts/recall.md).
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
OWN, BEFORE, AFTER = 10, 7, 3  # tenths; whole numbers, so that sums are exact in any order


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
    lengths = _widened(view)
    mean = int(lengths.sum()) / max(len(view), 1)
    for term in sorted(query):
        docs, counts = view.postings(term)
        if not len(docs):
            continue
        own[docs] = True
        docs, tenths = _with_neighbours(view, docs, counts)
        count = tenths / OWN
        idf = math.log(1 + (len(view) - len(docs) + 0.5) / (len(docs) + 0.5))
        weight = query[term] * idf * (K1 + 1)
        scores[docs] += weight * count / (count + K1 * (1 - B + B * (lengths[docs] / mean)))
    return Matches(scores, own)


def _widened(view: View) -> Ints:
    """Return each document's length and its neighbours', in tenths."""
    lengths = OWN * view.lengths
    second = np.flatnonzero(view.before >= 0)
    first = view.before[second]
    lengths[second] += BEFORE * view.lengths[first]
    lengths[first] += AFTER * view.lengths[second]
    return lengths


def _with_neighbours(view: View, docs: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return the documents these counts reach, ascending, and the counts there in tenths."""
    after, before = view.after[docs], view.before[docs]
    follows, leads = after >= 0, before >= 0
    reached = np.concatenate([docs, after[follows], before[leads]])
    tenths = np.concatenate([OWN * counts, BEFORE * counts[follows], AFTER * counts[leads]])
    places, inverse = np.unique(reached, return_inverse=True)
    sums = np.zeros(len(places), np.int64)
    np.add.at(sums, inverse, tenths)
    return places, sums
