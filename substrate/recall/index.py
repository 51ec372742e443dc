"""Follow the log of a store and keep what recall needs ready: in memory for the newest, in files for the rest.

The write path knows nothing of it: the events say which memories changed, and their rows are read again. Words are
split and texts encoded while the store's file is free for others; what came of it counts only if nobody was faster.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from substrate import config
from substrate.errors import Unavailable
from substrate.recall import folder, following
from substrate.recall.corpus import Corpus
from substrate.recall.documents import Document, document
from substrate.recall.embedding import Embedder, Floats
from substrate.recall.segment import Bools
from substrate.recall.space import Space
from substrate.recall.state import State, advance, compacted, digests, having, serves, settled, with_vectors
from substrate.recall.view import View, Views
from substrate.store.database import Database
from substrate.store.model import MemoryRow
from substrate.store.transaction import Reader

Progress = Callable[[str, int, int], None]  # what is done, how many, of how many


class Readers(Protocol):
    """Pick the documents that are looked at."""

    @property
    def key(self) -> Hashable:
        """Name them: equal keys pick equal documents."""

    def known(self, corpus: Corpus, places: Any = slice(None)) -> Bools:
        """Tell which documents, of all or of those at some places, are looked at."""


class _Everybody:
    key = "everything"

    def known(self, corpus: Corpus, places: Any = slice(None)) -> Bools:
        return np.ones(len(corpus.ids[places]), np.bool_)


EVERYTHING: Readers = _Everybody()

BATCH = 500  # rows read at a time while the store's file is held
TAIL = 64  # documents a process keeps to itself before it writes them to a file
STALE = 1_000  # events the files may lie behind when nothing else asks for writing
AGAIN = 20_000  # events behind which everything is indexed again: reading rows is then cheaper than reading events
ENCODED = 256  # texts encoded before their vectors are written


class Index:
    """Hold the index of one store in one process. Threads share one; processes share its files."""

    def __init__(self, db: Database) -> None:
        self._folder = db.home / folder.NAME
        with db.read():
            self._key = folder.index_key(db.home)
        self._lock = threading.RLock()
        self._state = State()
        self._seen = ""
        self._shown, self._corpus = self._state, Corpus([])
        self._spaces: dict[str, Space] = {}
        self._views = Views()

    def catch_up(self, db: Database, progress: Progress | None = None) -> State:
        """Bring the index to the newest event and return it; from nothing this reads every memory once.

        A damaged, foreign or missing index is built anew. Text that was forgotten leaves the files before this returns.
        Raises what reading the store raises.
        """
        with self._lock:
            while True:
                with db.read() as r:
                    before = self._current(r)
                    names, head = _changed(r, before), r.head
                if before.cursor == head.sequence:
                    return before
                found = self._documents(db, names, progress)
                state, vanish = advance(before, found, head.sequence, head.event_hash)
                due = vanish or state.unpublished >= TAIL or state.cursor - state.published >= STALE
                if not due:
                    self._state = state
                    return state
                with db.read():
                    if folder.code(self._folder) == self._seen:
                        return self._publish(db, state, vanish)

    def encode(
        self, db: Database, embedder: Embedder, *, limit: int | None = None, progress: Progress | None = None
    ) -> int:
        """Give active memories their vectors, newest first, at most `limit`; return how many still have none.

        Every `ENCODED` vectors are written, so that an interrupted run goes on where it stopped. When none is left, and
        the home asks for this model, it serves from then on, and vectors of another are removed. Raises Unavailable
        for an index that holds what the store does not.
        """
        done = 0
        while True:
            state = self.catch_up(db, progress)
            view = self.seen(state, EVERYTHING, embedder.model_id)
            waiting = [view.corpus.id(place) for place in np.flatnonzero(unencoded(view))[::-1].tolist()]
            if not waiting:
                self._settle(db, embedder)
            if not waiting or (limit is not None and done >= limit):
                return len(waiting)
            some = waiting[: ENCODED if limit is None else min(ENCODED, limit - done)]
            rows = [item for item in self._documents(db, some, None).values() if item is not None]
            if not rows and self.catch_up(db) is state:
                raise Unavailable(
                    f"{some[0]} is in the recall index and not in the store",
                    hint="`ai-memory reindex --anew` builds the index again",
                )
            matrix = embedder.encode([item.passage for item in rows])
            self._add_vectors(db, embedder.model_id, rows, matrix)
            done += len(some)
            if progress is not None:
                progress("encoding", done, done + len(waiting) - len(some))

    def lags(self, db: Database, embedder: Embedder) -> bool:
        """Tell whether `encode` has something to do: a vector is missing, or the model's are whole and not yet used."""
        state = self.catch_up(db)
        whole = not unencoded(self.seen(state, EVERYTHING, embedder.model_id)).any()
        return not (whole and serves(state, embedder.source, embedder.model_id))

    def seen(self, state: State, readers: Readers, model_id: str = "") -> View:
        """Return what some readers see of a state, with the vectors of one model."""
        with self._lock:
            corpus = self.corpus(state)
            parts = [part.vectors for part in state.vectors if part.vectors.model_id == model_id]
            space = self._spaces.pop(model_id, None)
            if space is None or not space.over(corpus):
                space = Space(corpus, parts)
            others = list(self._spaces.items())[-1:]  # one model serves, and another may be on its way
            self._spaces = {**dict(others), model_id: space.followed(corpus, parts)}
            return self._views.view((readers.key, model_id), corpus, self._spaces[model_id], readers.known)

    def corpus(self, state: State) -> Corpus:
        """Return the documents of a state."""
        with self._lock:
            if self._shown is not state:
                parts = [(part.segment, part.live) for part in state.parts]
                self._corpus = following.followed(self._corpus, parts) or Corpus(parts)
                self._shown = state
            return self._corpus

    def _current(self, r: Reader) -> State:
        """Return the state to go on from: what another process wrote since, nothing if it is of another log."""
        on_disk = folder.code(self._folder)
        if on_disk != self._seen:
            self._key = folder.index_key(self._folder.parent)  # another process may have replaced the store's key
            self._state, self._seen = folder.load(self._folder, self._key, self._state), on_disk
        if not _of_this_log(r, self._state):
            self._state = State()
        return self._state

    def _documents(self, db: Database, names: Sequence[str], progress: Progress | None) -> dict[str, Document | None]:
        found: dict[str, Document | None] = dict.fromkeys(names)
        for start in range(0, len(names), BATCH):
            some = list(names[start : start + BATCH])
            with db.read() as r:
                rows = r.select(MemoryRow, "id IN (SELECT unnest(?::TEXT[]))", (some,))
            found |= {row.id: document(row, self._key) for row in rows if row.status != "deleted"}
            if progress is not None:
                progress("indexing", min(start + BATCH, len(names)), len(names))
        return found

    def _add_vectors(self, db: Database, model_id: str, rows: Sequence[Document], matrix: Floats) -> None:
        """Write vectors of texts that are still what they were when they were read; the rest is encoded again."""
        with self._lock, db.read() as r:
            state = self._current(r)
            names = [row.id for row in rows]
            held, done = digests(state, names), having(state, model_id, names)
            pairs = ((row, vector) for row, vector in zip(rows, matrix, strict=True) if done.get(row.id) != row.digest)
            found = {row.id: (row.digest, vector) for row, vector in pairs if held.get(row.id) == row.digest}
            if found:
                self._publish(db, with_vectors(state, model_id, found), vanish=False)

    def _settle(self, db: Database, embedder: Embedder) -> None:
        """Let a model serve whose vectors are whole, unless the home asks for another one by now."""
        with self._lock, db.read() as r:
            state = self._current(r)
            source, name = embedder.source, embedder.model_id
            if not serves(state, source, name) and config.read(db.home).search.model == source:
                self._publish(db, settled(state, source, name), vanish=False)

    def _publish(self, db: Database, state: State, vanish: bool) -> State:
        """Write the state; where that fails keep it in memory, and leave no file behind that holds text to vanish."""
        state = compacted(state)
        try:
            if not (db.read_only or db.tolerant):  # what is left out now is there again later
                state = folder.save(self._folder, self._key, state)
        except Unavailable:
            if vanish:
                folder.erase(db.home)
        self._state, self._seen = state, folder.code(self._folder)
        return state


def of(db: Database) -> Index:
    """Return the index of an open store, one a process."""
    with _guard:
        if db not in _open:
            _open[db] = Index(db)
        return _open[db]


_open: WeakKeyDictionary[Database, Index] = WeakKeyDictionary()
_guard = threading.Lock()


def _changed(r: Reader, state: State) -> list[str]:
    """List the memories that changed since the state, in the order of their first change; all there are, for none."""
    if state.cursor == 0:
        return [name for (name,) in r.query("SELECT id FROM memories WHERE status <> 'deleted' ORDER BY sequence, id")]
    events = r.events(after=state.cursor)
    return list(dict.fromkeys(name for e in events for table, name, _ in e.commits if table == MemoryRow.TABLE))


def _of_this_log(r: Reader, state: State) -> bool:
    """Tell whether the event a state was made at stands in this log, not too far back."""
    if state.cursor == r.head.sequence:
        return state.event_hash == r.head.event_hash
    if state.cursor > r.head.sequence or r.head.sequence - state.cursor > AGAIN:
        return False
    return state.cursor == 0 or r.events(after=state.cursor, limit=1)[0].prev == state.event_hash


def unencoded(view: View) -> Bools:
    """Tell by place which active memories of a view have no vector of their present text."""
    waiting = view.known[:-1] & ~view.space.encoded
    if waiting.any():
        waiting &= view.corpus.column("status") == view.corpus.tables["status"].numbers.get("active", -1)
    return np.asarray(waiting)
