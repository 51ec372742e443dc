"""Gather what the arms find over one view, and rank it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import partial

import numpy as np
from numpy.typing import NDArray

from substrate.recall import fusion, links, moments
from substrate.recall.answer import Arm, Hit
from substrate.recall.candidates import Asked, bearing, candidates, likely
from substrate.recall.corpus import Places
from substrate.recall.fusion import Scores
from substrate.recall.lexical import Words
from substrate.recall.moments import Moments
from substrate.recall.names import named
from substrate.recall.question import Readership
from substrate.recall.segment import Bools
from substrate.recall.vectors import Floats
from substrate.recall.view import View
from substrate.recall.words import terms
from substrate.store.model import MemoryRow
from substrate.store.transaction import Reader

NOT_ASKED = Arm(False, "not asked for")


@dataclass(frozen=True)
class Table:
    """Hold what the arms give each of some documents of a view, in the order of `places`, which ascend.

    `words` and `cosines` are what a document has by itself; `lexical` takes in the words around it and the times named,
    `nearness` the cosines beside it. `own` tells whether it holds a word of the query, `near` whether its cosine is
    enough, `bounded` whether it is of a named time that has both ends, `drawn` whether it is of the view's sample.
    """

    places: Places
    drawn: Bools
    own: Bools
    near: Bools
    bounded: Bools
    about: Bools
    words: Scores
    times: Scores
    cosines: Scores
    nearness: Scores
    recent: Scores
    episodes: Places

    def __len__(self) -> int:
        return len(self.places)

    def joined(self, other: Table) -> Table:
        """Return one table of the documents of both, which share none."""
        order = np.argsort(np.concatenate([self.places, other.places]))
        columns = {
            field.name: np.concatenate([getattr(self, field.name), getattr(other, field.name)])[order]
            for field in fields(self)
        }
        return Table(**columns)

    def at(self, places: Places) -> NDArray[np.int64]:
        """Return where in the table these documents stand; all are in it."""
        return np.searchsorted(self.places, places)


def tabled(view: View, asked: Asked, places: Places, least: float) -> Table:
    """Return what the arms give some documents, given ascending; `least` is the cosine that speaks for one."""
    columns, nothing = view.corpus.columns, np.zeros(len(places))
    words, own = asked.words.score(places) if asked.words else (nothing, nothing > 0)
    cosines, nearness = _nearness(view, asked.vector, places) if asked.vector is not None else (nothing, nothing)
    days = columns["day"][places]
    return Table(
        places=places,
        drawn=np.ones(len(places), np.bool_) if view.small else _among(view.sample, places),
        own=own,
        near=np.nan_to_num(cosines, nan=-1.0) >= least if asked.vector is not None else nothing > 0,
        bounded=asked.times.bounded(days),
        about=bearing(view, asked.labels, places),
        words=words,
        times=asked.times.scores(days),
        cosines=cosines,
        nearness=nearness,
        recent=moments.recent(days, asked.today) if asked.today is not None else nothing,
        episodes=columns["episode"][places],
    )


def _among(some: Places, places: Places) -> Bools:
    """Tell which of some ascending places are among others, which ascend too and are not empty."""
    return np.asarray(some[np.minimum(np.searchsorted(some, places), len(some) - 1)] == places)


def _nearness(view: View, query: Floats, places: Places) -> tuple[Scores, Scores]:
    """Return the cosine of each document with the query, NaN for none, and the same raised by those beside it."""
    before, _, after, _ = view.around(places)
    every = places if len(places) == len(view) else view.marked(places, before, after)
    known = np.append(view.space.cosines(query, every), np.nan)

    def of(wanted: Places) -> Scores:
        return np.asarray(known[np.where(wanted >= 0, np.searchsorted(every, wanted), -1)])

    cosines = of(places)
    return cosines, fusion.beside(cosines, of(before), of(after))


class Search:
    """Ask the arms in turn, then gather what they give, rank it, and follow links from the best."""

    def __init__(self, readers: Readership, view: View) -> None:
        self.readers, self.question, self.view = readers, readers.question, view
        self.asked = Asked(None, None, Moments(()), (), None)
        self.only_named = False
        self.table: Table
        self.scores: Scores
        self.evidence: Bools
        self.linked: Scores
        self.stands: dict[str, int] = {}

    def by_words(self) -> Arm:
        """Look for the words of the query; evidence is a word in the document itself."""
        query = Counter(terms(self.question.query, query=True))
        if "lexical" not in self.question.arms:
            return NOT_ASKED
        if not query:
            return Arm(False, "the query holds no word to look for")
        self.asked = replace(self.asked, words=Words(self.view, query))
        return Arm(True)

    def by_meaning(self, vector: Floats, missing: int) -> Arm:
        """Look for what is near the query; evidence is a cosine of at least `min_score`."""
        self.asked = replace(self.asked, vector=vector)
        return Arm(True, f"{missing:,} of {len(self.view):,} memories have no vector yet" if missing else None)

    def by_time(self, now: str) -> Arm:
        """Look for the times the query names and for age, as seen when it is asked: `as_of`, `known_at` or `now`.

        Evidence is to be in a named time, if it has a beginning and an end.
        """
        if "time" not in self.question.arms:
            return NOT_ASKED
        today = date.fromisoformat((self.question.as_of or self.question.known_at or now)[:10])
        times = moments.named(self.view, self.question.query, today, partial(likely, self.view))
        self.asked = replace(self.asked, times=times, today=today)
        return Arm(True) if times.spans else Arm(True, "the query names no time that holds a memory")

    def by_name(self, r: Reader) -> Arm:
        """Look for what is about, or said by, an entity the query names; by itself that is no evidence."""
        if "entity" not in self.question.arms:
            return NOT_ASKED
        paths = {path.partition("#")[0] for path in self.readers.paths}
        labels, self.only_named = named(r, self.view, self.question.query, paths)
        numbers = self.view.corpus.tables["entity"].numbers
        self.asked = replace(self.asked, labels=sorted(numbers[label] for label in labels))
        return Arm(True) if labels else Arm(True, "the query names no entity that is known")

    def fuse(self, hits: int) -> None:
        """Make one score of what the arms give: all documents, or those worth ranking for so many hits."""
        view = self.view
        places = view.places if view.small else view.marked(candidates(view, self.asked, hits), view.sample)
        self.table = tabled(view, self.asked, places, self.question.min_score)
        self.linked = np.zeros(len(places))
        self._score()

    def by_links(self, r: Reader, now: str) -> Arm:
        """Raise what is linked with the best so far; evidence is such a link."""
        if "graph" not in self.question.arms:
            return NOT_ASKED
        best = fusion.ranked(self.scores, self.evidence, links.SEEDS)
        seeds = {int(self.table.places[at]): max(float(self.scores[at]), links.LEAST) for at in best}
        reached = links.reach(r, self.view, seeds, now)
        if reached:
            self._join(np.array(list(reached), np.int32), list(reached.values()))
        return Arm(True) if best else Arm(False, "no memory was found to start from")

    def _join(self, places: Places, brought: Sequence[float]) -> None:
        """Take in documents that links led to, with those beside them, and add what the links brought."""
        new = np.setdiff1d(np.concatenate([places, *self.view.around(places)]), np.append(self.table.places, -1))
        if len(new):
            self.table = self.table.joined(tabled(self.view, self.asked, new, self.question.min_score))
            self._score()
        self.linked = np.zeros(len(self.table))
        self.linked[self.table.at(places)] = brought
        self.evidence |= self.linked > 0
        self.scores = self.scores + fusion.GRAPH * self.linked

    def best(self, many: int) -> list[str]:
        """Return the best hits, at most so many; personas of named entities first."""
        personas, reflections = self._named("persona"), self._named("reflection")
        self.scores = fusion.personas_first(self.scores, personas, reflections, self.evidence, self.only_named)
        wanted = self.evidence & self.readers.wanted(self.view.corpus, self.table.places)
        found = fusion.ranked(self.scores, wanted, many)
        self.stands = {self.view.corpus.id(int(self.table.places[at])): at for at in found}
        return list(self.stands)

    def hit(self, row: MemoryRow, text: str, reranked: Mapping[str, float]) -> Hit:
        """Return the hit a document is, with what each arm that found it gave."""
        table, at = self.table, self.stands[row.id]
        given = {
            "lexical": table.words[at] if table.own[at] else 0.0,
            "vector": table.cosines[at] if table.near[at] else 0.0,
            "time": table.times[at],
            "entity": float(table.about[at]),
            "graph": self.linked[at],
            "rerank": reranked.get(row.id, 0.0),
        }
        arms = {name: float(score) for name, score in given.items() if score}
        return Hit(row, float(self.scores[at]), arms, text)

    def _score(self) -> None:
        table, asked = self.table, self.asked
        lexical = table.words + table.times if asked.words is not None or asked.times.spans else None
        nearness = table.nearness if asked.vector is not None else None
        recent = table.recent - table.recent.min(initial=moments.RECENT)  # 0 for the oldest
        self.scores = fusion.fused(lexical, nearness, table.about, table.episodes, recent, table.drawn)
        self.evidence = table.own | table.near | table.bounded
        self.evidence |= self._named("persona") & self.only_named

    def _named(self, kind: str) -> Bools:
        corpus = self.view.corpus
        number = corpus.tables["kind"].numbers.get(kind, -1)
        return np.asarray(self.table.about & (corpus.column("kind")[self.table.places] == number))
