"""Score documents against the words of a query: BM25, in which an observation also counts the words around it.

In a conversation the answer often stands beside the words of the question ("Where did you go?" — "To Lisbon."). So an
observation's term counts and length take in those of its neighbours, at a weight that halves with each step away. The
weights, `K1` and `B` were chosen on the development data (docs/concepts/recall.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from substrate.recall.corpus import Places
from substrate.recall.segment import Bools
from substrate.recall.view import BESIDE, OWN, View

K1, B = 0.9, 0.4
COUNTED = 10_000  # holders of a term beside whom others are counted one by one
Scores = NDArray[np.float64]


class Words:
    """Hold where the terms of a query stand in a view, and score documents by them.

    For a term that counts in df of n documents, idf = ln(1 + (n - df + 0.5) / (df + 0.5)). A document in which it
    counts c and whose length is l against a mean of m gets idf · c · (K1 + 1) / (c + K1 · (1 - B + B · l / m)), times
    how often the query holds the term.
    """

    def __init__(self, view: View, query: Mapping[str, int]) -> None:
        """Look up the terms of a query, given as how often it holds each."""
        self.view, self.query = view, query
        self.postings = {term: view.postings(term) for term in sorted(query)}
        self._scratch = np.zeros(len(view.known), np.int32)

    @cached_property
    def weights(self) -> dict[str, float]:
        """What a term that counts without end would give, for those that some document holds."""
        return {term: self._weight(term) for term, (places, _) in self.postings.items() if len(places)}

    def score(self, places: Places) -> tuple[Scores, Bools]:
        """Return the score of each of some documents, 0 or more, and whether its own text holds a term."""
        view = self.view
        scores, own = np.zeros(len(places)), np.zeros(len(places), np.bool_)
        if not self.weights:
            return scores, own
        around = view.around(places)
        length = view.lengths(places) / (view.length / max(len(view), 1))
        norm = K1 * (1 - B + B * length)
        counts = self._scratch
        for term, weight in self.weights.items():
            holders, held = self.postings[term]
            counts[holders] = held
            here = counts[places]
            total = OWN * here
            for near, share in zip(around, BESIDE, strict=True):
                total += share * counts[near]
            counts[holders] = 0
            own |= here > 0
            count = total / OWN
            scores += weight * count / (count + norm)
        return scores, own

    def _weight(self, term: str) -> float:
        holders, total = self.postings[term][0], len(self.view)
        count = self._spread(holders)
        return self.query[term] * math.log(1 + (total - count + 0.5) / (count + 0.5)) * (K1 + 1)

    def _spread(self, holders: Places) -> int:
        """Return how many documents hold a term or stand near one that does; of very many the share in the sample."""
        view, marks = self.view, np.zeros(len(self.view.known), np.bool_)
        marks[holders] = True
        if len(holders) > COUNTED and not view.small:
            there = marks[view.sample]
            for near in view.around(view.sample):
                there |= marks[near]
            return max(len(holders), round(len(view) * float(there.mean())))
        for near in view.around(holders):
            marks[near] = True
        marks[-1] = False
        return int(np.count_nonzero(marks))
