"""Present the live documents of several segments as one, and to each caller only those it may read.

What ranks sees a `View` and nothing else: statistics, neighbours and scores are computed over its documents, so a
document outside it cannot appear, push another out or shift a score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from substrate.recall.segment import Bools, Ints, Segment, build, combine_columns
from substrate.recall.vectors import Floats, Vectors, cosines
from substrate.recall.words import words

DAY = 86_400_000_000  # microseconds
EPISODE_GAP = 3_600_000_000  # microseconds between two observations that still belong to one conversation


class Corpus:
    """Order every live document by the event that created it, then by id backwards: a later place wins a tie."""

    def __init__(self, parts: Sequence[tuple[Segment, Bools]], vectors: Sequence[Vectors] = ()) -> None:
        parts = parts or [(build([]), np.zeros(0, np.bool_))]
        kept = [np.flatnonzero(live) for _, live in parts]
        columns, self.tables = combine_columns([part for part, _ in parts], kept)
        by_id = np.unique(columns["ids"], return_inverse=True)[1]
        order = np.lexsort((-by_id, columns["sequence"]))
        self.columns = {name: column[order] for name, column in columns.items()}
        self.ids: NDArray[np.bytes_] = self.columns["ids"]
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        self._parts: list[tuple[Segment, Ints]] = []
        first = 0
        for (part, _), slots in zip(parts, kept, strict=True):
            places = np.full(len(part), -1, np.int64)
            places[slots] = place[first : first + len(slots)]
            first += len(slots)
            self._parts.append((part, places))
        self._vectors = [(part, self._encoded(part)) for part in vectors]

    def __len__(self) -> int:
        return len(self.ids)

    def postings(self, term: str) -> tuple[Ints, Ints]:
        """Return the places of the documents that hold a term, and how often each does."""
        found = [(places[docs], counts) for part, places in self._parts for docs, counts in [part.postings(term)]]
        docs, counts = (np.concatenate(columns) for columns in zip(*found, strict=True))
        live = docs >= 0
        return docs[live], counts[live]

    def where(self, label: str, wanted: Callable[[str], bool]) -> Bools:
        """Tell for each document whether its label is a wanted one; each label is asked about once."""
        table = np.array([wanted(text) for text in self.tables[label]], np.bool_)
        return np.asarray(table[self.columns[label]])

    def encoded(self) -> Bools:
        """Tell which documents have a vector of their present text."""
        has = np.zeros(len(self), np.bool_)
        for _, places in self._vectors:
            has[places[places >= 0]] = True
        return has

    def similarities(self, query: Floats, wanted: Bools) -> NDArray[np.float64]:
        """Return the cosine of each wanted document with the query; NaN where there is no vector, or none is wanted."""
        scores = np.full(len(self), np.nan)
        for part, places in self._vectors:
            rows = np.flatnonzero(places >= 0)
            rows = rows[wanted[places[rows]]]
            matrix = part.matrix if len(rows) == len(part) else part.matrix[rows]
            scores[places[rows]] = cosines(matrix, query)
        return scores

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The place of each document, by id."""
        return {str(name, "utf-8"): place for place, name in enumerate(self.ids.tolist())}

    @cached_property
    def entity_names(self) -> list[str]:
        """The words of each entity label, in the order of its table."""
        return [" ".join(words(entity)) for entity in self.tables["entity"]]

    def _encoded(self, part: Vectors) -> Ints:
        """Return the place of each row's document; -1 where it is gone or its text has changed since."""
        if not len(self) or not len(part):
            return np.full(len(part), -1, np.int64)
        order = np.argsort(self.ids, kind="stable")
        at = np.minimum(np.searchsorted(self.ids, part.ids, sorter=order), len(order) - 1)
        places = order[at]
        same = (self.ids[places] == part.ids) & (self.columns["digests"][places] == part.digests).all(axis=1)
        return np.where(same, places, -1)


class View:
    """Show the documents of a corpus that `known` admits, renumbered from 0 in the corpus's order."""

    def __init__(self, corpus: Corpus, known: Bools) -> None:
        self._corpus, self._known = corpus, known
        self.places: Ints = np.flatnonzero(known)
        self._number = np.cumsum(known) - 1

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def lengths(self) -> Ints:
        """The number of terms of each document."""
        return self._column("lengths").astype(np.int64)

    @cached_property
    def days(self) -> Ints:
        """The day each document is about, counted from 1970-01-01."""
        return self._column("when") // DAY

    def id(self, number: int) -> str:
        """Return the id of a document."""
        return str(self._corpus.ids[self.places[number]], "utf-8")

    def number(self, name: str) -> int | None:
        """Return the number of the document of this id; None for one that is not in the view."""
        place = self._corpus.numbers.get(name)
        return int(self._number[place]) if place is not None and self._known[place] else None

    @cached_property
    def before(self) -> Ints:
        """The number of the observation just before each in its conversation; -1 where it begins one, or is none.

        Two observations follow each other when the same callers may read them, they come from the same session, if any,
        they are at most an hour apart, and no observation of the view stands between them.
        """
        before = np.full(len(self), -1, np.int64)
        observed = np.flatnonzero(self.where("kind", lambda kind: kind == "observation"))
        partition, session, when = (self._column(name)[observed] for name in ("partition", "session", "when"))
        order = np.argsort(partition, kind="stable")
        first, second = order[:-1], order[1:]
        follows = (partition[first] == partition[second]) & (session[first] == session[second])
        follows &= np.abs(when[second] - when[first]) <= EPISODE_GAP
        before[observed[second[follows]]] = observed[first[follows]]
        return before

    @cached_property
    def after(self) -> Ints:
        """The number of the observation just after each in its conversation; -1 where there is none."""
        after = np.full(len(self), -1, np.int64)
        second = np.flatnonzero(self.before >= 0)
        after[self.before[second]] = second
        return after

    @cached_property
    def episodes(self) -> Ints:
        """A number for each conversation; a document that stands alone is one of its own."""
        starts = self.before < 0
        number = np.where(starts, np.arange(len(self)), -1)
        step = np.where(starts, np.arange(len(self)), self.before)
        while (step[step] != step).any():  # each round doubles how far back a document looks
            step = step[step]
        return np.asarray(number[step])

    @cached_property
    def entities(self) -> dict[str, list[str]]:
        """The entities that documents of the view are bound to, by the words of their id."""
        names: dict[str, list[str]] = {}
        for number in np.unique(self._column("entity")).tolist():
            names.setdefault(self._corpus.entity_names[number], []).append(self._corpus.tables["entity"][number])
        return names

    def where(self, label: str, wanted: Callable[[str], bool]) -> Bools:
        """Tell for each document whether its label is a wanted one."""
        return np.asarray(self._corpus.where(label, wanted)[self.places])

    def postings(self, term: str) -> tuple[Ints, Ints]:
        """Return the numbers of the documents that hold a term, ascending, and how often each does."""
        docs, counts = self._corpus.postings(term)
        seen = self._known[docs]
        docs, counts = self._number[docs[seen]], counts[seen]
        order = np.argsort(docs, kind="stable")
        return docs[order], counts[order]

    def similarities(self, query: Floats) -> NDArray[np.float64]:
        """Return each document's cosine with the query; NaN where it has no vector yet."""
        return np.asarray(self._corpus.similarities(query, self._known)[self.places])

    def _column(self, name: str) -> NDArray[np.int64]:
        return np.asarray(self._corpus.columns[name][self.places])
