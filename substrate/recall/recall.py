"""Answer a question with the memories that hold the answer: found by words, by meaning and along links, and cited.

What a caller may not read does not exist here: scores are computed over what it may read, and every row shown was read
from the store, verified against the log, and passed the access function again.

Source: DESIGN §6; docs/spec/requirements.md S3-12, S4-9, S4-57; docs/concepts/recall.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date

import numpy as np

from substrate import limits
from substrate.errors import Invalid
from substrate.recall import embedding, fusion, index, links, moments
from substrate.recall.answer import Arm, Budget, Hit, Recall, fitted, packed
from substrate.recall.corpus import View
from substrate.recall.embedding import Embedder
from substrate.recall.index import Progress
from substrate.recall.lexical import bm25
from substrate.recall.names import named
from substrate.recall.question import ARMS, Question, Readership, readership
from substrate.recall.rerank import RERANKED, Reranker, reranked
from substrate.recall.segment import Bools
from substrate.recall.tokens import Count, counter
from substrate.recall.words import terms
from substrate.scopes import access
from substrate.scopes.caller import Caller
from substrate.store.database import Database
from substrate.store.model import MemoryRow
from substrate.store.transaction import Reader


def recall(
    db: Database,
    caller: Caller,
    query: str,
    *,
    namespace: str | None = None,
    kinds: Collection[str] = (),
    types: Collection[str] = (),
    statuses: Collection[str] = ("active",),
    as_of: str | None = None,
    known_at: str | None = None,
    max_hits: int | None = None,
    min_score: float = limits.RECALL_MIN_SCORE,
    chars: int | None = None,
    tokens: int | None = None,
    tokenizer: str | None = None,
    arms: Collection[str] = ARMS,
    embedder: Embedder | None = None,
    model: str = embedding.DEFAULT_MODEL,
    reranker: Reranker | None = None,
    progress: Progress | None = None,
) -> Recall:
    """Return the memories that answer a query, best first; equal ones newer first, then by id.

    Looked through is all the caller may read, or one namespace of it. `kinds` and `types` choose hits, empty for any;
    `as_of` keeps what held in the world at that time, `known_at` what was active in the store then. Words such as "last
    week" are read, and ages counted, as of that time, else as of the clock. A hit has evidence of its own: a word of
    the query, a cosine of at least `min_score`, a time that the query names, a link from a better one, or being the
    persona of an entity the query names. At most `max_hits` come back, with at most `chars` characters of content
    together; or, where `tokens` are given, whole memories of at most so many together, as `answer.packed` chooses them
    and the `tokenizer` in this file counts, without one `tokens.bound`.

    Without an `embedder` the model whose vectors are whole looks by meaning, or `model` where none are yet. Nothing but
    the query is encoded; memories that have no vector so far are found by their words, and their number stands with the
    vector arm. A `reranker` puts the `RERANKED` best in its own order,
    unless the query names an entity and asks nothing else; `score` stays what it was, `arms` holds what the model gave.
    Must not be called inside `db.read` or `db.write`: it takes the store's file for short moments, and not while texts
    are encoded or read by the reranker. Raises Invalid naming the field, NotFound for a namespace the caller may not
    read, Integrity for a row that is not what the log committed to.
    """
    question = Question(
        query=query,
        namespace=namespace,
        kinds=kinds,
        types=types,
        statuses=statuses,
        as_of=as_of,
        known_at=known_at,
        max_hits=max_hits,
        min_score=min_score,
        chars=chars,
        tokens=tokens,
        arms=arms,
    )
    counts = counter(tokenizer) if tokens is not None else None
    with db.read() as r:
        readers = readership(r, caller, question)
    follower = index.of(db)
    state = follower.catch_up(db, progress)
    encoder, why_not = _encoder(question, embedder, state.model, model)
    corpus = follower.corpus(state, encoder.model_id if encoder else "")
    known = readers.known(corpus)
    view = View(corpus, known)
    search = _Search(readers, view)
    fared = {"lexical": search.by_words(), "vector": why_not}
    if encoder is not None:
        fared["vector"] = search.by_meaning(encoder, int((known & index.unencoded(corpus)).sum()))
    fared["time"] = search.by_time(db.clock())
    with db.read() as r:
        fared["entity"] = search.by_name(r)
        search.fuse()
        fared["graph"] = search.by_links(r, db.clock())
        numbers = {view.id(number): number for number in search.best(RERANKED if reranker else 0)}
        shown = [row for row in _rows(r, list(numbers)) if _still(row, readers)]
    if reranker is not None and not search.only_named:
        shown = search.reordered(reranker, shown, numbers)
    shown = shown[: readers.question.max_hits]
    texts, budget = _within(shown, readers.question, counts)
    hits = tuple(search.hit(numbers[row.id], row, texts[row.id]) for row in shown if row.id in texts)
    return Recall(hits, {name: fared[name] for name in ARMS}, len(shown) - len(hits), budget)


class _Search:
    """Gather what the arms find over one view, and rank it."""

    def __init__(self, readers: Readership, view: View) -> None:
        self.readers, self.question, self.view = readers, readers.question, view
        self.found: dict[str, fusion.Scores] = {}
        self.full: dict[str, fusion.Scores] = {}
        self.scores = np.zeros(len(view))
        self.evidence = np.zeros(len(view), np.bool_)
        self.about = np.zeros(len(view), np.bool_)
        self.recent: fusion.Scores = np.zeros(len(view))
        self.only_named = False

    def by_words(self) -> Arm:
        """Score by the words of the query; evidence is a word in the document itself."""
        query = Counter(terms(self.question.query, query=True))
        if "lexical" not in self.question.arms:
            return _not_asked()
        if not query:
            return Arm(False, "the query holds no word to look for")
        matches = bm25(self.view, query)
        self.full["lexical"] = matches.scores
        self._keep("lexical", np.where(matches.own, matches.scores, 0.0), matches.own)
        return Arm(True)

    def by_meaning(self, encoder: Embedder, missing: int) -> Arm:
        """Score by the cosine with the query; evidence is one of at least `min_score`."""
        cosines = self.view.similarities(encoder.encode([self.question.query])[0])
        self.full["vector"] = fusion.beside(cosines, self.view.before, self.view.after)
        near = np.nan_to_num(cosines, nan=-1.0) >= self.question.min_score
        self._keep("vector", np.where(near, cosines, 0.0), near)
        return Arm(True, f"{missing:,} of {len(self.view):,} memories have no vector yet" if missing else None)

    def by_time(self, now: str) -> Arm:
        """Score by the times the query names and by age, as seen when it is asked: `as_of`, `known_at` or `now`.

        Evidence is to be in a named time, if it has a beginning and an end.
        """
        if "time" not in self.question.arms:
            return _not_asked()
        today = date.fromisoformat((self.question.as_of or self.question.known_at or now)[:10])
        self.recent = moments.recent(self.view, today)
        scores, bounded = moments.named(self.view, self.question.query, today)
        self.full["lexical"] = self.full.get("lexical", 0.0) + scores
        self._keep("time", scores, bounded)
        return Arm(True) if scores.any() else Arm(True, "the query names no time that holds a memory")

    def by_name(self, r: Reader) -> Arm:
        """Find the documents about, or said by, an entity the query names; by itself that is no evidence."""
        if "entity" not in self.question.arms:
            return _not_asked()
        paths = {path.partition("#")[0] for path in self.readers.paths}
        labels, self.only_named = named(r, self.view, self.question.query, paths)
        self.about = self.view.where("entity", lambda label: label in labels)
        self.found["entity"] = self.about.astype(np.float64)
        return Arm(True) if labels else Arm(True, "the query names no entity that is known")

    def fuse(self) -> None:
        """Make one score of what was found so far."""
        lexical, vector = self.full.get("lexical"), self.full.get("vector")
        self.scores = fusion.fused(lexical, vector, self.about, self.view.episodes, self.recent)
        self.evidence |= self._named("persona") & self.only_named

    def by_links(self, r: Reader, now: str) -> Arm:
        """Raise what is linked with the best so far; evidence is such a link."""
        if "graph" not in self.question.arms:
            return _not_asked()
        best = fusion.ranked(self.scores, self.evidence)[: links.SEEDS]
        seeds = {number: max(float(self.scores[number]), links.LEAST) for number in best}
        reached = links.reach(r, self.view, seeds, now)
        scores = np.zeros(len(self.view))
        scores[list(reached)] = list(reached.values())
        self._keep("graph", scores, scores > 0)
        self.scores = self.scores + fusion.GRAPH * scores
        return Arm(True) if best else Arm(False, "no memory was found to start from")

    def best(self, least: int) -> list[int]:
        """Return the best hits, at most `max_hits`, or `least` if that is more; personas of named entities first."""
        many = max(int(self.question.max_hits or 0), least)
        personas, reflections = self._named("persona"), self._named("reflection")
        self.scores = fusion.personas_first(self.scores, personas, reflections, self.evidence, self.only_named)
        return fusion.ranked(self.scores, self.evidence & self.readers.wanted(self.view))[:many]

    def reordered(self, reranker: Reranker, rows: Sequence[MemoryRow], numbers: Mapping[str, int]) -> list[MemoryRow]:
        """Return the rows in the order a reranker gives them, and keep its scores."""
        ordered, given = reranked(reranker, self.question.query, rows)
        self.found["rerank"] = np.zeros(len(self.view))
        for name, score in given.items():
            self.found["rerank"][numbers[name]] = score
        return ordered

    def hit(self, number: int, row: MemoryRow, text: str) -> Hit:
        """Return the hit a document is, with what each arm that found it gave."""
        arms = {name: float(scores[number]) for name, scores in self.found.items() if scores[number]}
        return Hit(row, float(self.scores[number]), arms, text)

    def _named(self, kind: str) -> Bools:
        return self.about & self.view.where("kind", lambda label: label == kind)

    def _keep(self, arm: str, scores: fusion.Scores, evidence: Bools) -> None:
        self.found[arm] = scores
        self.evidence |= evidence


def _encoder(question: Question, embedder: Embedder | None, serving: str, wanted: str) -> tuple[Embedder | None, Arm]:
    """Return the encoder to use, or none and why the vector arm does not run.

    While vectors of the model that is wanted are being made, those that serve are asked, unless their model is gone.
    """
    if "vector" not in question.arms:
        return None, _not_asked()
    if embedder is not None:
        return embedder, Arm(True)
    model = serving if serving and embedding.available(serving)[0] else wanted
    possible, why_not = embedding.available(model)
    if not possible:
        return None, Arm(False, why_not)
    try:
        return embedding.load(model), Arm(True)
    except Invalid as error:
        return None, Arm(False, error.message)


def _within(
    rows: Sequence[MemoryRow], question: Question, counts: tuple[str, Count] | None
) -> tuple[dict[str, str], Budget | None]:
    """Return the texts the budget has room for, by id: whole where it is in tokens, else the last may be cut."""
    if counts is None or question.tokens is None:
        return dict(zip((row.id for row in rows), fitted(rows, int(question.chars or 0)), strict=False)), None
    taken, budget = packed(rows, question.tokens, *counts)
    return {row.id: row.content or "" for row in taken}, budget


def _rows(r: Reader, names: Sequence[str]) -> list[MemoryRow]:
    """Read these memories, verified, in this order; what an event removed since is left out.

    Raises Integrity for one that was edited, or is gone without an event.
    """
    found = {row.id: row for row in r.select(MemoryRow, "id IN (SELECT unnest(?::TEXT[]))", (list(names),))}
    rows = (found.get(name) or r.get(MemoryRow, name) for name in names)
    return [row for row in rows if row is not None]


def _still(row: MemoryRow, readers: Readership) -> bool:
    """Tell whether a row may still be shown: it may have changed since the index saw it."""
    question = readers.question
    fits = row.status in question.statuses if question.known_at is None else row.status != "deleted"
    return fits and access.visible(row, readers.caller, readers.paths)


def _not_asked() -> Arm:
    return Arm(False, "not asked for")
