"""Answer a question with the memories that hold the answer: found by words, by meaning and along links, and cited.

What a caller may not read does not exist here: scores are computed over what it may read, and every row shown was read
from the store, verified against the log, and passed the access function again.

Source: DESIGN §6; docs/spec/requirements.md S3-12, S4-9, S4-57; docs/concepts/recall.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from substrate import limits
from substrate.recall import embedding, index
from substrate.recall.answer import Arm, Recall, fitted
from substrate.recall.embedding import Embedder
from substrate.recall.index import Progress
from substrate.recall.question import ARMS, Question, Readership, readership
from substrate.recall.rerank import RERANKED, Reranker, reranked
from substrate.recall.search import NOT_ASKED, Search
from substrate.scopes import access
from substrate.scopes.caller import Caller
from substrate.store.database import Database
from substrate.store.model import MemoryRow
from substrate.store.transaction import Reader

ENCODE_NOW = 64  # memories encoded before an answer; more are left to a run of their own, and the answer says so


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
    arms: Collection[str] = ARMS,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    progress: Progress | None = None,
) -> Recall:
    """Return the memories that answer a query, best first; equal ones newer first, then by id.

    Looked through is all the caller may read, or one namespace of it. `kinds` and `types` choose hits, empty for any;
    `as_of` keeps what held in the world at that time, `known_at` what was active in the store then. Words such as "last
    week" are read, and ages counted, as of that time, else as of the clock. A hit has evidence of its own: a word of
    the query, a cosine of at least `min_score`, a time that the query names, a link from a better one, or being the
    persona of an entity the query names. At most `max_hits` come back, with at most `chars` characters of content
    together.

    `embedder` None is the packaged model where it is installed. A `reranker` puts the `RERANKED` best in its own order,
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
        arms=arms,
    )
    with db.read() as r:
        readers = readership(r, caller, question)
    encoder, fared = _encoder(question, embedder)
    view, missing = index.of(db).view(db, readers, encoder, limit=ENCODE_NOW, progress=progress)
    search = Search(readers, view)
    fared["lexical"] = search.by_words()
    if encoder is not None:
        fared["vector"] = search.by_meaning(encoder.encode([query])[0], missing)
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
    texts = fitted(shown, int(readers.question.chars or 0))
    hits = tuple(search.hit(row, text, given) for row, text in zip(shown, texts, strict=False))
    return Recall(hits, {name: fared[name] for name in ARMS}, len(shown) - len(hits))


def _encoder(question: Question, embedder: Embedder | None) -> tuple[Embedder | None, dict[str, Arm]]:
    """Return the encoder to use, or none and why the vector arm does not run."""
    if "vector" not in question.arms:
        return None, {"vector": NOT_ASKED}
    if embedder is not None:
        return embedder, {}
    possible, why_not = embedding.available()
    return (embedding.load(), {}) if possible else (None, {"vector": Arm(False, why_not)})


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
