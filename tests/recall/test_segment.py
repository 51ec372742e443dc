"""Segments hold what they were built from, however they are cut and combined, and drop what is not kept."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from substrate.recall import segment
from substrate.recall.documents import LABELS, TIMES
from substrate.recall.segment import Segment
from substrate.store.model import MemoryRow
from tests.recall import corpora
from tests.recall.corpora import cut, documents, row


def contents(part: Segment) -> list[tuple[object, ...]]:
    """Read a segment back into what its documents said."""
    terms: list[Counter[str]] = [Counter() for _ in range(len(part))]
    for term in part.terms():
        docs, counts = part.postings(term.decode())
        assert docs.tolist() == sorted(docs.tolist())
        for slot, count in zip(docs.tolist(), counts.tolist(), strict=True):
            terms[slot][term.decode()] = count
    return [
        (
            part.id(slot),
            part.arrays["digests"][slot].tobytes(),
            {name: part.tables[name][part.arrays[name][slot]] for name in LABELS},
            {name: int(part.arrays[name][slot]) for name in TIMES},
            dict(terms[slot]),
            int(part.arrays["lengths"][slot]),
        )
        for slot in range(len(part))
    ]


@given(corpora.rows(("global", "team/alpha")))
def test_a_segment_reads_back_as_its_documents(rows: list[MemoryRow]) -> None:
    items = documents(rows)
    expected = [(d.id, d.digest, d.labels, d.times, d.terms, sum(d.terms.values())) for d in items]
    part = segment.build(items)
    assert contents(part) == expected
    assert part.terms() == sorted(part.terms())
    assert part.postings("nowhere")[0].tolist() == []


@given(rows=corpora.rows(("global", "team/alpha")), places=st.lists(st.integers(0, 20)), data=st.data())
def test_combining_equals_building_from_what_is_kept(
    rows: list[MemoryRow], places: list[int], data: st.DataObject
) -> None:
    items = documents(rows)
    parts = cut(items, places) or [segment.build([])]
    keep = [data.draw(st.lists(st.booleans(), min_size=len(part), max_size=len(part))) for part in parts]
    combined = segment.combine([(part, np.array(mask, np.bool_)) for part, mask in zip(parts, keep, strict=True)])
    flags = [flag for mask in keep for flag in mask]
    fresh = segment.build([item for item, kept in zip(items, flags, strict=True) if kept])
    assert contents(combined) == contents(fresh)
    assert {name: set(table) for name, table in combined.tables.items()} == {
        name: set(table) for name, table in fresh.tables.items()
    }
    for name in fresh.arrays.keys() - set(LABELS):
        assert fresh.arrays[name].tolist() == combined.arrays[name].tolist()


def test_a_term_of_a_dropped_document_is_gone_from_the_bytes() -> None:
    part = segment.build(documents([row(1, "apple secretword"), row(2, "apple", by_session="ses-9")]))
    assert b"secretword" in part.arrays["vocabulary"].tobytes()
    left = segment.combine([(part, np.array([False, True]))])
    assert b"secretword" not in left.arrays["vocabulary"].tobytes()
    gone = segment.combine([(part, np.array([True, False]))])
    assert gone.tables["session"] == [""]
