"""Scores are what the formulas say, in any layout of segments, and nothing hidden shifts them."""

from collections import Counter
from dataclasses import fields
from datetime import date
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.recall import fusion, moments, vectors
from substrate.recall.candidates import Asked, likely
from substrate.recall.fusion import Scores
from substrate.recall.lexical import Words
from substrate.recall.search import tabled
from substrate.recall.segment import Bools
from substrate.recall.space import Space
from substrate.recall.view import View
from substrate.recall.words import terms
from substrate.store.model import MemoryRow
from tests.recall import corpora
from tests.recall.corpora import Oracle, corpus, cut, documents, row, whole
from tests.recall.encoder import WordVectors

TODAY = date(2024, 3, 1)
queries = corpora.texts.map(lambda text: Counter(terms(text, query=True)))
places = st.lists(st.integers(0, 20), max_size=4)


def lexical(view: View, query: Counter[str]) -> tuple[Scores, Bools]:
    return Words(view, query).score(view.places)


def ranked(view: View, query: Counter[str], text: str) -> list[tuple[str, ...]]:
    """Return id and everything the arms give of every document of a view, best first."""
    times = moments.named(view, f"last year, in May 2023, before the {text}", TODAY, partial(likely, view))
    labels = [number for number, label in enumerate(view.corpus.tables["entity"].texts) if label]
    asked = Asked(Words(view, query), WordVectors().encode([text])[0], times, labels, TODAY)
    table = tabled(view, asked, view.places, 0.3)
    scores = fusion.fused(
        table.words + table.times, table.nearness, table.about, table.episodes, table.recent, table.drawn
    )
    columns = [field.name for field in fields(table) if field.name not in ("places", "episodes")]
    return [
        (view.corpus.id(int(table.places[at])), *(repr(getattr(table, name)[at]) for name in columns), repr(scores[at]))
        for at in fusion.ranked(scores, np.ones(len(table), np.bool_))
    ]


@given(rows=corpora.rows(("global", "team/alpha")), query=queries, places=places)
def test_bm25_is_what_the_formula_says(rows: list[MemoryRow], query: Counter[str], places: list[int]) -> None:
    items = documents(rows)
    scores, own = lexical(whole(cut(items, places)), query)
    assert scores.tolist() == pytest.approx(Oracle(items).scores(query), rel=1e-12, abs=1e-12)
    assert own.tolist() == [any(term in item.terms for term in query) for item in items]


@given(rows=corpora.rows(), query=queries, places=places, others=places, text=corpora.texts)
def test_the_layout_of_segments_does_not_matter(
    rows: list[MemoryRow], query: Counter[str], places: list[int], others: list[int], text: str
) -> None:
    items = documents(rows)
    encoded = [corpora.vectors(items)]
    one, other = whole(cut(items, places), encoded), whole(cut(items, others), encoded)
    assert ranked(one, query, text) == ranked(other, query, text)


@given(rows=corpora.rows(("global", "agents/rook")), query=queries, places=places, others=places, text=corpora.texts)
def test_hidden_rows_neither_appear_nor_shift_a_score(
    rows: list[MemoryRow], query: Counter[str], places: list[int], others: list[int], text: str
) -> None:
    items, seen = documents(rows), documents([item for item in rows if item.namespace == "global"])
    everything = corpus(cut(items, places))
    readable = everything.where("partition", lambda name: "rook" not in name)
    view = View(everything, Space(everything, [corpora.vectors(items)]), readable)
    assert ranked(view, query, text) == ranked(whole(cut(seen, others), [corpora.vectors(seen)]), query, text)


def test_a_score_does_not_depend_on_how_many_rows_stand_beside() -> None:
    matrix = np.random.default_rng(0).standard_normal((257, 384)).astype(np.float32)
    query = matrix[3]
    found = vectors.cosines(matrix, query)
    for size in (1, 2, 3, 7, 16, 33, 100):
        assert (vectors.cosines(np.ascontiguousarray(matrix[-size:]), query) == found[-size:]).all()


def cosines(view: View, text: str) -> Scores:
    return view.space.cosines(WordVectors().encode([text])[0], view.places)


def test_a_document_without_a_vector_has_no_cosine_and_stands_at_the_mean() -> None:
    items = documents([row(1, "apple"), row(2, "pear")])
    view = whole(cut(items, []), [corpora.vectors(items[:1])])
    assert np.isnan(cosines(view, "apple")).tolist() == [False, True]
    assert fusion.standardised(np.array([1.0, 3.0, np.nan])).tolist() == [-1.0, 1.0, 0.0]
    assert fusion.standardised(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert fusion.standardised(np.array([np.nan])).tolist() == [0.0]


def test_a_vector_of_an_older_wording_counts_for_nothing() -> None:
    old, new = documents([row(1, "apple"), row(1, "apple pie")])
    view = whole(cut([new], []), [corpora.vectors([old])])
    assert not view.space.encoded.any()
    assert np.isnan(cosines(view, "apple")).all()


def test_of_equal_scores_the_newer_comes_first_then_the_smaller_id() -> None:
    rows = [row(2, "fig", id="mem-c"), row(2, "fig", id="mem-a"), row(1, "fig", id="mem-b"), row(3, "fig", id="mem-d")]
    view = whole(cut(documents(rows), [1]))
    order = fusion.ranked(np.zeros(4), np.ones(4, np.bool_))
    assert [view.corpus.id(number) for number in order] == ["mem-d", "mem-a", "mem-c", "mem-b"]
    assert view.find(["mem-a", "mem-x", "mem-longer-than-any"]).tolist() == [2, -1, -1]


def test_neighbours_are_of_one_conversation() -> None:
    day = "2023-05-08T13:{:02d}:00.000000Z".format
    rows = [
        row(1, "a", valid_from=day(0)),
        row(2, "b", valid_from=day(1)),
        row(3, "c", valid_from=day(2), memory_kind="reflection"),
        row(4, "d", valid_from=day(3)),
        row(5, "e", valid_from="2023-05-08T14:04:00.000000Z"),
        row(6, "f", valid_from="2023-05-08T14:04:00.000000Z", by_session="ses-1"),
        row(7, "g", valid_from="2023-05-08T14:04:00.000000Z", by_session="ses-1", applies_to=("agt-1",)),
    ]
    shown = corpus(cut(documents(rows), []))
    assert shown.column("before").tolist() == [-1, 0, -1, 1, -1, -1, -1]
    assert shown.after.tolist() == [1, 3, -1, -1, -1, -1, -1]
    assert shown.column("episode").tolist() == [0, 0, 2, 0, 4, 5, 6]
    assert shown.column("position").tolist() == [0, 1, 0, 2, 0, 0, 0]


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-5, 5)), max_size=12))
def test_a_conversation_stands_as_high_as_its_three_best(pairs: list[tuple[int, float]]) -> None:
    episodes = np.array([episode for episode, _ in pairs], np.int64)
    scores = np.array([score for _, score in pairs], np.float64)
    found = fusion.standing(scores, episodes)
    for episode, standing in zip(episodes, found, strict=True):
        best = sorted(scores[episodes == episode])[-3:]
        assert standing == pytest.approx(sum(best) / len(best))


def mask(*values: int) -> Bools:
    return np.array(values, np.bool_)


def test_a_persona_is_lifted_above_reflections_only_with_evidence_or_when_asked_for() -> None:
    scores = np.array([5.0, 3.0, 1.0])  # an observation, a reflection, a persona
    personas, reflections = mask(0, 0, 1), mask(0, 1, 0)
    lifted = fusion.personas_first(scores, personas, reflections, mask(1, 1, 1), False)
    assert fusion.ranked(lifted, mask(1, 1, 1)) == [0, 2, 1]
    assert fusion.personas_first(scores, personas, reflections, mask(1, 1, 0), False).tolist() == scores.tolist()
    whole_ = fusion.personas_first(scores, personas, reflections, mask(0, 0, 1), True)
    assert fusion.ranked(whole_, mask(1, 1, 1)) == [2, 0, 1]
    none = fusion.personas_first(scores, mask(0, 0, 0), reflections, mask(1, 1, 1), True)
    assert none.tolist() == scores.tolist()
