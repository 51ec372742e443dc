"""Show of a corpus what a caller may read, of the namespace, states and times it asks about, and nothing else.

Counts, lengths and neighbours are taken over these documents, so a document outside cannot appear, push another out or
shift a score. What follows from the documents alone is kept for the next question, and brought up to date with them.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from substrate.recall.corpus import Corpus, Places
from substrate.recall.segment import Bools, Ints
from substrate.recall.space import Space

OWN = 20  # a document's own words, in twentieths; whole numbers, so that sums are exact in any order
BESIDE = (14, 7, 6, 3)  # those of the observation just before, the one before that, just after, and after that
EXACT = 2_500  # documents that are all ranked
SAMPLE = 1_000  # documents, at least, over which means and deviations are taken where not all are ranked
KEPT = 8  # views kept, and
KEPT_DOCUMENTS = 8_000_000  # how many documents the corpora of all but the newest may have together

Known = Callable[[Corpus, Any], Bools]  # tells which documents at some places belong to a view


class View:
    """Hold which documents of a corpus are `known`: a bool by place and one that is False behind, for the place -1."""

    def __init__(self, corpus: Corpus, space: Space, known: Bools) -> None:
        self.corpus, self.space = corpus, space
        self.known: Bools = np.append(known, False)
        self.count = int(np.count_nonzero(self.known))
        self.most = EXACT

    def __len__(self) -> int:
        return self.count

    def followed(self, corpus: Corpus, space: Space, known: Known) -> View:
        """Return the view of a corpus that followed the one this is of, or of the same with another space."""
        new = copy.copy(self)
        new.corpus, new.space = corpus, space
        for name in ("places", "days", "sample"):
            new.__dict__.pop(name, None)
        if corpus is self.corpus:
            return new
        changed = np.unique(np.concatenate(corpus.history[self.corpus.version : corpus.version]))
        held = changed[changed < len(self.corpus)]
        new.known = np.zeros(len(corpus) + 1, np.bool_)
        new.known[: len(self.corpus)] = self.known[:-1]
        new.known[changed] = known(corpus, changed)
        new.count = int(np.count_nonzero(new.known))
        if "length" in self.__dict__:
            near = np.unique(_reached(corpus, changed))
            before = near[near < len(self.corpus)]
            new.length = self.length - int(self.lengths(before).sum()) + int(new.lengths(near).sum())
        if "entities" in self.__dict__:
            new.entities = np.zeros(len(corpus.tables["entity"].texts), np.int64)
            new.entities[: len(self.entities)] = self.entities
            np.subtract.at(new.entities, self.corpus.column("entity")[held], self.known[held].astype(np.int64))
            np.add.at(new.entities, corpus.column("entity")[changed], new.known[changed].astype(np.int64))
        return new

    @cached_property
    def places(self) -> Places:
        """The places of its documents, ascending."""
        return np.flatnonzero(self.known).astype(np.int32)

    @property
    def small(self) -> bool:
        """Whether all documents are ranked, however little speaks for them: where there are `most` or fewer."""
        return self.count <= self.most

    def marked(self, *places: NDArray[Any]) -> Places:
        """Return the places among these, each once, ascending; those of -1 are left out."""
        marks = np.zeros(len(self.known), np.bool_)
        for some in places:
            marks[some] = True
        marks[-1] = False
        return np.flatnonzero(marks).astype(np.int32)

    @cached_property
    def sample(self) -> Places:
        """The documents over which means and deviations are taken: all, or some hundred whole pieces of conversations.

        Which they are depends on the ids of the first of each piece and on how many documents the view has, by powers
        of two.
        """
        if self.small:
            return self.places
        most = (SAMPLE << 32) >> (self.count.bit_length() - 1)
        return np.flatnonzero(self.known[:-1] & (self.corpus.column("draw") < most)).astype(np.int32)

    @cached_property
    def length(self) -> int:
        """The sum of `lengths` over all of it, counting each only if it is known."""
        return int(self.lengths(np.flatnonzero(self.known[:-1])).sum())

    @cached_property
    def entities(self) -> Ints:
        """How many documents bear each entity label, by its number."""
        here = self.corpus.column("entity")[self.known[:-1]]
        return np.bincount(here, minlength=len(self.corpus.tables["entity"].texts))

    @cached_property
    def days(self) -> tuple[int, Ints]:
        """The first day documents are about, and how many are about it or a later day up to each, day by day."""
        here = self.corpus.column("day")[self.known[:-1]]
        first = int(here.min()) if len(here) else 0
        return first, np.cumsum(np.bincount(here - first))

    def bearing(self, name: str) -> list[str]:
        """Return the entity labels whose words are these and that documents of the view bear."""
        table = self.corpus.tables["entity"]
        found = [label for label in self.corpus.named(name) if table.numbers[label] < len(self.entities)]
        return [label for label in found if self.entities[table.numbers[label]]]

    def within(self, first: int, end: int) -> int:
        """Return how many documents are about a day from `first` up to and without `end`."""
        start, sums = self.days

        def until(day: int) -> int:
            return int(sums[min(day - start, len(sums)) - 1]) if day > start and len(sums) else 0

        return max(until(end) - until(first), 0)

    def around(self, places: Places) -> list[NDArray[np.int32]]:
        """Return for each document the places of the neighbours `BESIDE` counts, -1 where there is none in the view."""
        found = []
        for step in (self.corpus.column("before"), self.corpus.after):
            near = places
            for _ in range(2):
                near = np.where(near >= 0, step[near], -1) if len(step) else near
                near = np.where(self.known[near], near, -1)
                found.append(near)
        return found

    def lengths(self, places: Any) -> Ints:
        """Return for each document its number of terms and, by `BESIDE`, those around it; 0 for one not in the view."""
        held = np.append(self.corpus.column("lengths"), 0) if len(places) * 4 > len(self.corpus) else None
        own = self.corpus.column("lengths")
        total = OWN * own[places].astype(np.int64)
        for near, weight in zip(self.around(places), BESIDE, strict=True):
            total += weight * (held[near] if held is not None else np.where(near >= 0, own[near], 0))
        return np.where(self.known[places], total, 0)

    def postings(self, term: str) -> tuple[Places, NDArray[np.int32]]:
        """Return the places of the documents that hold a term, and how often each does."""
        found = []
        for part in self.corpus.parts:
            slots, counts = part.segment.postings(term)
            places = part.places[slots]
            seen = self.known[places]
            found.append((places, counts) if seen.all() else (places[seen], counts[seen]))
        places, counts = (np.concatenate(columns) for columns in zip(*found, strict=True))
        return places, counts

    def find(self, ids: Sequence[str]) -> Places:
        """Return the place of each document; -1 for one that is not in the view."""
        places = self.corpus.find(np.array([name.encode() for name in ids], np.bytes_))
        return np.where(self.known[places], places, -1)


class Views:
    """Keep the views of the last readerships."""

    def __init__(self) -> None:
        self._views: OrderedDict[Hashable, View] = OrderedDict()

    def view(self, key: Hashable, corpus: Corpus, space: Space, known: Known) -> View:
        """Return the view of what is known under a key, made of the last one under it where that is possible."""
        last = self._views.pop(key, None)
        if last is not None and last.corpus is corpus and last.space is space:
            found = last
        elif last is not None and _follows(corpus, last.corpus):
            found = last.followed(corpus, space, known)
        else:
            found = View(corpus, space, known(corpus, slice(None)))
        self._views[key] = found
        while len(self._views) > 1 and (
            len(self._views) > KEPT or sum(len(view.corpus) for view in self._views.values()) > KEPT_DOCUMENTS
        ):
            self._views.popitem(last=False)
        return found


def _follows(corpus: Corpus, before: Corpus) -> bool:
    """Tell whether a corpus came from another one step by step."""
    return corpus.history is before.history and before.version <= corpus.version


def _reached(corpus: Corpus, places: Places) -> NDArray[np.int32]:
    """Return these places and those of up to two neighbours on either side."""
    found = [places]
    for step in (corpus.column("before"), corpus.after):
        near = places
        for _ in range(2):
            near = step[near[near >= 0]]
            found.append(near[near >= 0])
    return np.concatenate(found)
