"""Hold the vectors of one model by the place of their document."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from substrate.recall import codes
from substrate.recall.column import Column
from substrate.recall.corpus import Corpus, Places
from substrate.recall.segment import Bools
from substrate.recall.vectors import Floats, Vectors, cosines


class Space:
    """Tell where the vector of each document of a corpus is, if it has one of its present text.

    `row` and `part` say it by place: a row of a part, -1 for none.
    """

    def __init__(self, corpus: Corpus, parts: Sequence[Vectors] = ()) -> None:
        self.parts: dict[int, Vectors] = {}
        self.row = np.full(len(corpus), -1, np.int32)
        self.part = np.full(len(corpus), -1, np.int32)
        self.line = corpus.history
        self._next = 0
        self._codes: Column | None = None
        for part in parts:
            self._add(corpus, part)

    def over(self, corpus: Corpus) -> bool:
        """Tell whether this is of the documents of a corpus, or of one that it followed."""
        return self.line is corpus.history and len(self.row) <= len(corpus)

    def followed(self, corpus: Corpus, parts: Sequence[Vectors]) -> Space:
        """Return the space over a corpus that followed the one this is over, with these parts."""
        held = {id(part): number for number, part in self.parts.items()}
        fresh = [part for part in parts if id(part) not in held]
        gone = self.parts.keys() - {held[id(part)] for part in parts if id(part) in held}
        more = len(corpus) - len(self.row)
        if not (fresh or gone or more):
            return self
        new = copy.copy(self)
        new.__dict__.pop("encoded", None)
        new.parts = {number: part for number, part in self.parts.items() if number not in gone}
        new.row = np.concatenate([self.row, np.full(more, -1, np.int32)])
        new.part = np.concatenate([self.part, np.full(more, -1, np.int32)])
        for number in gone:
            new.row[new.part == number] = -1
        if self._codes is not None and more:
            new._codes = self._codes.grown(np.zeros((self._codes.values.shape[0], more), np.uint64))
        for part in fresh:
            new._add(corpus, part)
        return new

    @property
    def bits(self) -> int:
        """How many bits a code has."""
        return max((64 * len(part.codes) for part in self.parts.values()), default=64)

    @cached_property
    def encoded(self) -> Bools:
        """Which documents have a vector of their present text."""
        return self.row >= 0

    def cosines(self, query: Floats, places: Places) -> NDArray[np.float64]:
        """Return the cosine of each of these documents with the query; NaN where there is no vector."""
        scores = np.full(len(places), np.nan)
        rows, parts = self.row[places], self.part[places]
        for number, part in self.parts.items():
            here = np.flatnonzero((parts == number) & (rows >= 0))
            if len(here) == len(part) and len(here) > 1 and (np.diff(rows[here]) == 1).all():
                scores[here] = cosines(part.matrix, query)
            elif len(here):
                scores[here] = cosines(part.matrix[rows[here]], query)
        return scores

    def distances(self, query: Floats) -> NDArray[np.uint16]:
        """Return in how many bits each document's code differs from the query's; without a vector it means nothing."""
        if self._codes is None:
            found = np.zeros((self.bits // 64, len(self.row)), np.uint64)
            for number, part in self.parts.items():
                places = np.flatnonzero((self.part == number) & (self.row >= 0))
                found[:, places] = part.codes[:, self.row[places]]
            self._codes = Column(found)
        return codes.distances(self._codes.values, query)

    def _add(self, corpus: Corpus, part: Vectors) -> None:
        places = corpus.find(part.ids)
        rows = np.flatnonzero(places >= 0)
        digests = np.ascontiguousarray(part.digests).view("S16").reshape(-1)
        rows = rows[corpus.column("digests")[places[rows]] == digests[rows]]
        self.row[places[rows]] = rows
        self.part[places[rows]] = self._next
        self.parts[self._next] = part
        self._next += 1
        if self._codes is not None and len(rows):
            self._codes.values[:, places[rows]] = part.codes[:, rows]
