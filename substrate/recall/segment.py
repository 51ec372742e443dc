"""Hold the terms and columns of some documents as arrays that are never changed, only combined.

Arrays, for n documents, m terms, p postings: `ids` (n, bytes), `digests` (n × 16, uint8), `lengths` (n, terms each),
one int64 column per name of TIMES, one int32 column per name of LABELS that points into the label table of that name;
`vocabulary` (the terms' UTF-8 bytes, joined in sorted order) cut by `vocabulary_ends` (m), `posting_ends` (m), and
`docs`, `counts` (p): which document holds the term how often, ascending by document within a term.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from substrate.recall.documents import LABELS, TIMES, Document
from substrate.recall.ids import found, ordered

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Arrays = dict[str, NDArray[Any]]
Numbers = NDArray[np.int32]
_EMPTY: Numbers = np.zeros(0, np.int32)


@dataclass(frozen=True)
class Segment:
    """Hold `arrays` as the module says, and the label tables: text by name of LABELS and number."""

    arrays: Mapping[str, NDArray[Any]]
    tables: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.arrays["ids"])

    @cached_property
    def order(self) -> Ints:
        """The slots in order of their ids."""
        return ordered(self.arrays["ids"])

    def slots(self, ids: NDArray[np.bytes_]) -> Ints:
        """Return the slots of those of these documents that are here, ascending."""
        slots = found(self.arrays["ids"], self.order, ids)
        return np.sort(slots[slots >= 0])

    def id(self, slot: int) -> str:
        """Return the id of the document in a slot."""
        return str(self.arrays["ids"][slot], "utf-8")

    def postings(self, term: str) -> tuple[Numbers, Numbers]:
        """Return the slots of the documents that hold a term, ascending, and how often each does; not copied."""
        wanted, low, high = term.encode(), 0, len(self.arrays["vocabulary_ends"])
        while low < high:
            middle = (low + high) // 2
            found = self._term(middle)
            if found == wanted:
                start, end = _span(self.arrays["posting_ends"], middle)
                return self.arrays["docs"][start:end], self.arrays["counts"][start:end]
            low, high = (middle + 1, high) if found < wanted else (low, middle)
        return _EMPTY, _EMPTY

    def terms(self) -> list[bytes]:
        """Return every term, sorted by its bytes."""
        return [self._term(number) for number in range(len(self.arrays["vocabulary_ends"]))]

    def _term(self, number: int) -> bytes:
        start, end = _span(self.arrays["vocabulary_ends"], number)
        return bytes(self.arrays["vocabulary"][start:end])


def _span(ends: NDArray[Any], number: int) -> tuple[int, int]:
    return (int(ends[number - 1]) if number else 0), int(ends[number])


def build(documents: Sequence[Document]) -> Segment:
    """Return a segment of these documents, in the order given."""
    postings: dict[bytes, tuple[list[int], list[int]]] = {}
    for slot, document in enumerate(documents):
        for term, count in document.terms.items():
            docs, counts = postings.setdefault(term.encode(), ([], []))
            docs.append(slot)
            counts.append(count)
    names = sorted(postings)
    tables: dict[str, list[str]] = {}
    arrays: Arrays = {
        "ids": np.array([document.id.encode() for document in documents], dtype=np.bytes_),
        "digests": np.frombuffer(b"".join(d.digest for d in documents), np.uint8).reshape(-1, 16),
        "lengths": np.array([sum(document.terms.values()) for document in documents], np.int32),
    }
    for name in TIMES:
        arrays[name] = np.array([document.times[name] for document in documents], np.int64)
    for name in LABELS:
        numbers: dict[str, int] = {}
        arrays[name] = np.array([numbers.setdefault(d.labels[name], len(numbers)) for d in documents], np.int32)
        tables[name] = list(numbers)
    docs = [slot for name in names for slot in postings[name][0]]
    counts = [count for name in names for count in postings[name][1]]
    sizes = [len(postings[name][0]) for name in names]
    return Segment({**arrays, **indexed(names, np.array(docs, np.int32), np.array(counts, np.int32), sizes)}, tables)


def indexed(names: Sequence[bytes], docs: NDArray[np.int32], counts: NDArray[np.int32], sizes: Any) -> Arrays:
    """Return the arrays of sorted terms and their postings, of which `sizes` belong to each."""
    return {
        "vocabulary": np.frombuffer(b"".join(names), np.uint8),
        "vocabulary_ends": np.cumsum([len(name) for name in names], dtype=np.int64),
        "posting_ends": np.cumsum(sizes, dtype=np.int64),
        "docs": docs,
        "counts": counts,
    }


def combine(parts: Sequence[tuple[Segment, Bools]]) -> Segment:
    """Return one segment of the documents kept of each part, in order.

    Terms and labels that no kept document holds are not in it: this is how forgotten text leaves the index.
    """
    kept = [np.flatnonzero(keep) for _, keep in parts]
    arrays, tables = combine_columns([part for part, _ in parts], kept)
    return Segment({**arrays, **_combine_postings(parts, kept)}, tables)


def combine_columns(parts: Sequence[Segment], kept: Sequence[Ints]) -> tuple[Arrays, dict[str, list[str]]]:
    """Return the columns and label tables of the slots kept of each part, in order, without their postings."""
    arrays: Arrays = {}
    for name in ("ids", "digests", "lengths", *TIMES):
        arrays[name] = np.concatenate([part.arrays[name][slots] for part, slots in zip(parts, kept, strict=True)])
    tables: dict[str, list[str]] = {}
    for name in LABELS:
        arrays[name], tables[name] = _combine_labels(parts, kept, name)
    return arrays, tables


def _combine_labels(parts: Sequence[Segment], kept: Sequence[Ints], name: str) -> tuple[NDArray[np.int32], list[str]]:
    numbers: dict[str, int] = {}
    columns = []
    for part, slots in zip(parts, kept, strict=True):
        column = part.arrays[name][slots]
        used, places = np.unique(column, return_inverse=True)
        fresh = [numbers.setdefault(part.tables[name][number], len(numbers)) for number in used.tolist()]
        columns.append(np.array(fresh, np.int32)[places])
    return np.concatenate(columns), list(numbers)


def _combine_postings(parts: Sequence[tuple[Segment, Bools]], kept: Sequence[Ints]) -> Arrays:
    vocabularies = [part.terms() for part, _ in parts]
    union = sorted(set().union(*vocabularies))
    number = {term: place for place, term in enumerate(union)}
    all_terms, all_docs, all_counts, first = [], [], [], 0
    for (part, keep), slots, vocabulary in zip(parts, kept, vocabularies, strict=True):
        place = np.full(len(part), -1, np.int64)
        place[slots] = np.arange(first, first + len(slots))
        first += len(slots)
        sizes = np.diff(part.arrays["posting_ends"], prepend=0)
        terms = np.repeat(np.array([number[term] for term in vocabulary], np.int64), sizes)
        stays = keep[part.arrays["docs"]]
        all_terms.append(terms[stays])
        all_docs.append(place[part.arrays["docs"][stays]])
        all_counts.append(part.arrays["counts"][stays])
    terms, docs, counts = np.concatenate(all_terms), np.concatenate(all_docs), np.concatenate(all_counts)
    order = np.lexsort((docs, terms))
    sizes = np.bincount(terms, minlength=len(union))
    used = np.flatnonzero(sizes)
    return indexed([union[n] for n in used], docs[order].astype(np.int32), counts[order].astype(np.int32), sizes[used])
