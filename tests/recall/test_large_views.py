"""Where not every document is ranked, what is picked rests on the view alone, and the best are among it."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.recall import candidates, codes, fusion, moments, view
from substrate.recall.candidates import Asked, likely
from substrate.recall.lexical import Words
from substrate.recall.search import Table, tabled
from substrate.recall.space import Space
from substrate.recall.view import View
from substrate.recall.words import terms
from substrate.store.model import MemoryRow
from tests.recall import corpora
from tests.recall.corpora import corpus, cut, documents, row, whole
from tests.recall.encoder import WordVectors
from tests.recall.test_ranking import TODAY

places = st.lists(st.integers(0, 40), max_size=3)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rank few documents of any view, and draw few for the means."""
    with monkeypatch.context() as patched:
        for module, name, value in (
            (view, "EXACT", 4), (view, "SAMPLE", 6), (candidates, "RANKED", 3), (candidates, "NEAREST", 4),
            (candidates, "POSTINGS", 12), (candidates, "OF_A_TIME", 3), (candidates, "EVENT", 2),
        ):  # fmt: skip
            patched.setattr(module, name, value)
        yield


def asked(shown: View, text: str) -> Asked:
    times = moments.named(shown, f"in May 2023, before the {text}", TODAY, partial(likely, shown))
    labels = [number for number, label in enumerate(shown.corpus.tables["entity"].texts) if label]
    words = Words(shown, Counter(terms(text, query=True)))
    return Asked(words, WordVectors().encode([text])[0], times, labels, TODAY)


def ranked(shown: View, text: str, hits: int = 0) -> tuple[Table, list[tuple[str, str]]]:
    """Return the table of what is ranked, and ids with scores, best first."""
    question = asked(shown, text)
    picked = shown.places if shown.small else candidates.candidates(shown, question, hits)
    table = tabled(shown, question, shown.marked(picked, shown.sample), 0.3)
    lexical = table.words + table.times
    scores = fusion.fused(lexical, table.nearness, table.about, table.episodes, table.recent, table.drawn)
    order = fusion.ranked(scores, np.ones(len(table), np.bool_))
    return table, [(shown.corpus.id(int(table.places[at])), repr(scores[at])) for at in order]


@pytest.mark.parametrize("exact", [4, 10_000])
def test_hidden_rows_change_nothing(monkeypatch: pytest.MonkeyPatch, exact: int) -> None:
    monkeypatch.setattr(view, "EXACT", exact)
    for seed in range(1_000):
        chance = Random(seed)
        rows = corpora.drawn(chance, ("global", "global", "agents/rook"), 14)
        cuts, others = ([chance.randint(0, 14) for _ in range(chance.randint(0, 3))] for _ in range(2))
        text = " ".join(chance.choices(corpora.VOCABULARY, k=2))
        items, seen = documents(rows), documents([item for item in rows if item.namespace == "global"])
        everything = corpus(cut(items, cuts))
        readable = everything.where("partition", lambda name: "rook" not in name)
        mixed = View(everything, Space(everything, [corpora.vectors(items)]), readable)
        alone = whole(cut(seen, others), [corpora.vectors(seen)])
        assert ranked(mixed, text)[1] == ranked(alone, text)[1], seed


@given(rows=corpora.rows(most=24), places=places, text=corpora.texts)
def test_what_is_ranked_has_the_scores_it_has_among_all(rows: list[MemoryRow], places: list[int], text: str) -> None:
    shown = whole(cut(documents(rows), places), [corpora.vectors(documents(rows))])
    table, _ = ranked(shown, text)
    everything = tabled(shown, asked(shown, text), shown.places, 0.3)
    at = everything.at(table.places)
    for name in ("own", "near", "bounded", "about", "words", "times", "recent", "cosines", "nearness", "episodes"):
        assert getattr(table, name).tolist() == pytest.approx(getattr(everything, name)[at].tolist(), nan_ok=True), name


@given(rows=corpora.rows(most=24), text=corpora.texts)
def test_with_room_for_all_the_ranking_is_that_of_a_small_view(rows: list[MemoryRow], text: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        for module, name in ((view, "SAMPLE"), (candidates, "POSTINGS"), (candidates, "EVENT")):
            patched.setattr(module, name, 1 << 20)
        large = whole(cut(documents(rows), []), [corpora.vectors(documents(rows))])
        found = ranked(large, text, hits=100)[1]
        patched.setattr(view, "EXACT", 1 << 20)
        small = whole(cut(documents(rows), []), [corpora.vectors(documents(rows))])
        assert found == ranked(small, text)[1]


def test_the_best_of_each_arm_is_ranked() -> None:
    day = "2023-05-{:02d}T09:00:00.000000Z".format
    rows = [row(n, f"filler{n} apple pear", valid_from=f"2021-01-{n:02d}T09:00:00.000000Z") for n in range(1, 30)]
    rows += [row(30, "walnut apple"), row(31, "cherry melon"), row(32, "quiet", valid_from=day(9))]
    rows += [row(33, "grape", memory_kind="persona", entity_id="mara")]
    items = documents(rows)
    shown = whole(cut(items, [7]), [corpora.vectors(items)])
    question = Asked(
        words=Words(shown, Counter(terms("walnut", query=True))),
        vector=corpora.vectors([items[30]]).matrix[0],
        times=moments.named(shown, "in May 2023", TODAY, partial(likely, shown)),
        labels=[shown.corpus.tables["entity"].numbers["mara"]],
        today=TODAY,
    )
    picked = candidates.candidates(shown, question, hits=1)
    ids = {shown.corpus.id(int(place)) for place in picked}
    assert {rows[29].id, rows[30].id, rows[31].id, rows[32].id} <= ids
    assert len(picked) < len(rows)


def test_an_event_is_looked_for_among_the_likely() -> None:
    rows = [row(n, f"apple {n}", valid_from="2021-01-01T09:00:00.000000Z") for n in range(1, 20)]
    rows[7] = row(8, "the move", valid_from="2020-03-04T09:00:00.000000Z")
    shown = whole(cut(documents(rows), []))
    (span, _) = moments.named(shown, "since the move", TODAY, partial(likely, shown)).spans[0]
    assert str(span.first) == "2020-03-04"


def test_codes_differ_in_as_many_bits_as_a_plain_count_finds() -> None:
    matrix = np.random.default_rng(0).standard_normal((300, 48)).astype(np.float32)
    found = codes.encoded(matrix)
    assert found.shape == (1, 300)
    expected = [bin(int(code) ^ int(found[0, 7])).count("1") for code in found[0].tolist()]
    assert codes.distances(found, matrix[7]).tolist() == expected
    assert expected[7] == 0


def test_a_code_depends_on_its_own_row_alone() -> None:
    matrix = np.random.default_rng(0).standard_normal((70, 384)).astype(np.float32)
    together = codes.encoded(matrix)
    assert together.shape == (codes.width(384) // 64, 70) == (8, 70)
    for size in (1, 3, 64):
        assert (codes.encoded(matrix[-size:]) == together[:, -size:]).all()


def test_the_nearest_by_code_hold_the_nearest() -> None:
    rng = np.random.default_rng(0)
    topics = rng.standard_normal((200, 384))
    matrix = (topics[rng.integers(0, 200, 20_000)] + 0.7 * rng.standard_normal((20_000, 384))).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    packed, shares = codes.encoded(matrix), []
    for query in matrix[:40] + 0.02 * rng.standard_normal((40, 384)).astype(np.float32):
        near = candidates.nearest(np.ones(20_000, np.bool_), codes.distances(packed, query), 1_000)
        shares.append(np.isin(np.argsort(-(matrix @ query))[:10], near).mean())
        assert len(near) == 1_000
    assert np.mean(shares) >= 0.98
