"""Answer a question with the memories that hold the answer: found by words, by meaning and along links, and cited.

What a caller may not read does not exist here: scores are computed over what it may read, and every row shown was read
from the store, verified against the log, and passed the access function again.

Source: DESIGN §6; docs/spec/requirements.md S3-12, S4-9, S4-57; docs/concepts/recall.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from substrate import limits
from substrate.errors import Invalid
from substrate.recall import embedding, index
from substrate.recall.answer import Arm, Budget, Recall, fitted, packed
from substrate.recall.embedding import Embedder
from substrate.recall.index import Progress
from substrate.recall.question import ARMS, Question, Readership, readership
from substrate.recall.rerank import RERANKED, Reranker, reranked
from substrate.recall.search import NOT_ASKED, Search
from substrate.recall.tokens import Count, counter
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
    view = follower.seen(state, readers, encoder.model_id if encoder else "")
    search = Search(readers, view)
    fared = {"lexical": search.by_words(), "vector": why_not}
    if encoder is not None:
        fared["vector"] = search.by_meaning(encoder.encode([query])[0], int(index.unencoded(view).sum()))
    fared["time"] = search.by_time(db.clock())
    many = max(int(readers.question.max_hits or 0), RERANKED if reranker else 0)
    with db.read() as r:
        fared["entity"] = search.by_name(r)
        search.fuse(many)
        fared["graph"] = search.by_links(r, db.clock())
        shown = [row for row in _rows(r, search.best(many)) if _still(row, readers)]
    given: Mapping[str, float] = {}
    if reranker is not None and not search.only_named:
        shown, given = reranked(reranker, query, shown)
    shown = shown[: readers.question.max_hits]
    texts, budget = _within(shown, readers.question, counts)
    hits = tuple(search.hit(row, texts[row.id], given) for row in shown if row.id in texts)
    return Recall(hits, {name: fared[name] for name in ARMS}, len(shown) - len(hits), budget)


def _encoder(question: Question, embedder: Embedder | None, serving: str, wanted: str) -> tuple[Embedder | None, Arm]:
    """Return the encoder to use, or none and why the vector arm does not run.

    While vectors of the model that is wanted are being made, those that serve are asked, unless their model is gone.
    """
    if "vector" not in question.arms:
        return None, NOT_ASKED
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
