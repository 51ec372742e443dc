"""A corpus, its vectors and its views, brought up to date step by step, are what they would be if built at once."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from substrate.recall import following
from substrate.recall.column import Column
from substrate.recall.corpus import Corpus, Parts
from substrate.recall.documents import Document
from substrate.recall.space import Space
from substrate.recall.state import State, advance
from substrate.recall.view import View, Views
from substrate.store.model import MemoryRow
from tests.recall import corpora
from tests.recall.corpora import documents, row

sizes = st.lists(st.integers(1, 4), max_size=6)


def parts(state: State) -> Parts:
    return [(part.segment, part.live) for part in state.parts]


def contents(corpus: Corpus) -> list[tuple[object, ...]]:
    """Return what a corpus says of each document, labels as texts."""
    columns = corpus.columns
    labels = {name: [corpus.tables[name].texts[n] for n in columns[name].tolist()] for name in corpus.tables}
    others = {name: column.tolist() for name, column in columns.items() if name not in labels}
    return list(zip(*labels.values(), *(others[name] for name in sorted(others)), corpus.after.tolist(), strict=True))


def facts(view: View, terms: list[str]) -> tuple[object, ...]:
    entities = {view.corpus.tables["entity"].texts[n]: int(c) for n, c in enumerate(view.entities) if c}
    postings = [sorted(zip(*map(np.ndarray.tolist, view.postings(term)), strict=True)) for term in terms]
    return view.known.tolist(), len(view), view.length, entities, view.days[1].tolist(), postings, view.sample.tolist()


class Odd:
    """Read what is active, of every namespace but one."""

    key = "odd"

    def known(self, corpus: Corpus, places: object = slice(None)) -> np.ndarray:  # type: ignore[type-arg]
        readable = corpus.where("partition", lambda name: "rook" not in name, places)
        return readable & corpus.where("status", lambda status: status == "active", places)


def whole(state: State) -> View:
    corpus = Corpus(parts(state))
    return View(corpus, Space(corpus, [part.vectors for part in state.vectors]), Odd().known(corpus))


@given(rows=corpora.rows(("global", "agents/rook"), most=20), cuts=sizes, data=st.data())
def test_following_equals_building(rows: list[MemoryRow], cuts: list[int], data: st.DataObject) -> None:
    state, views, corpus, space, at = State(), Views(), Corpus([]), Space(Corpus([])), 0
    for step, size in enumerate([*cuts, len(rows)], 1):
        batch = rows[at : at + size]
        at += len(batch)
        some = data.draw(st.sets(st.sampled_from(rows[:at]), max_size=2)) if at else set()
        closed = [replace(item, status="retired", status_at=item.created_at) for item in some]
        items: dict[str, Document | None] = {item.id: item for item in documents([*batch, *closed])}
        state, _ = advance(state, items, step, "")
        known = [item for item in documents(batch) if data.draw(st.booleans())]
        state = replace(state, vectors=(*state.vectors, *corpora.kept(known)))
        corpus = following.followed(corpus, parts(state)) or Corpus(parts(state))
        vectors = [part.vectors for part in state.vectors]
        space = space.followed(corpus, vectors) if space.over(corpus) else Space(corpus, vectors)
        view = views.view("odd", corpus, space, Odd().known)
        fresh = whole(state)
        assert contents(corpus) == contents(fresh.corpus)
        assert facts(view, corpora.VOCABULARY) == facts(fresh, corpora.VOCABULARY)
        assert space.encoded.tolist() == fresh.space.encoded.tolist()
        query = np.ones(48, np.float32)
        places = np.arange(len(corpus), dtype=np.int32)
        assert repr(space.cosines(query, places)) == repr(fresh.space.cosines(query, places))
        near = view.known[:-1] & space.encoded
        assert space.distances(query)[near].tolist() == fresh.space.distances(query)[near].tolist()


def test_one_more_document_is_followed_and_a_change_of_text_is_not() -> None:
    rows = [row(n, f"apple {n}") for n in range(1, 30)]
    state, _ = advance(State(), {item.id: item for item in documents(rows)}, 1, "")
    first = Corpus(parts(state))
    more, _ = advance(state, {item.id: item for item in documents([row(30, "pear")])}, 2, "")
    second = following.followed(first, parts(more))
    assert second is not None
    assert second.history is first.history
    assert second.history[0].tolist() == [29]
    assert (len(first), len(second)) == (29, 30)
    assert following.followed(second, parts(more)) is not None
    changed, _ = advance(more, {item.id: item for item in documents([row(3, "plum")])}, 3, "")
    assert following.followed(second, parts(changed)) is None
    gone, _ = advance(more, {rows[4].id: None}, 3, "")
    assert following.followed(second, parts(gone)) is None
    older, _ = advance(more, {item.id: item for item in documents([row(5, "fig", id="mem-older")])}, 3, "")
    assert following.followed(second, parts(older)) is None


def test_two_that_follow_the_same_corpus_do_not_see_each_other() -> None:
    state, _ = advance(State(), {item.id: item for item in documents([row(1, "apple")])}, 1, "")
    first, found = Corpus(parts(state)), []
    for text in ("pear", "plum"):
        more, _ = advance(state, {item.id: item for item in documents([row(2, text, id=f"mem-{text}")])}, 2, "")
        found.append(following.followed(first, parts(more)))
    one, other = found
    assert one is not None
    assert other is not None
    assert (one.id(1), other.id(1)) == ("mem-pear", "mem-plum")
    assert one.find(np.array([b"mem-pear", b"mem-plum"])).tolist() == [1, -1]
    assert one.history is not other.history


def test_a_column_grows_behind_what_others_hold() -> None:
    first = Column(np.arange(3))
    second = first.grown(np.array([3]))
    third, fork = second.grown(np.array([4])), second.grown(np.array([9]))
    assert first.values.tolist() == [0, 1, 2]
    assert second.values.tolist() == [0, 1, 2, 3]
    assert third.values.tolist() == [0, 1, 2, 3, 4]
    assert fork.values.tolist() == [0, 1, 2, 3, 9]
    assert np.shares_memory(second.values, third.values)
    assert Column(np.array([b"a"])).grown(np.array([b"long"])).values.tolist() == [b"a", b"long"]
