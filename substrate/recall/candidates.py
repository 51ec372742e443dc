"""Pick the documents worth ranking, where a view holds too many to rank them all.

Each arm names what it holds likely: the holders of the rarer words, the nearest codes, the days of a named time, the
personas of a named entity. A rough score orders these, and the best are ranked exactly, with those beside them. What is
picked follows from the view and the question alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from substrate.recall import fusion, moments
from substrate.recall.corpus import Places
from substrate.recall.lexical import K1, Words
from substrate.recall.moments import Moments
from substrate.recall.segment import Bools, Ints
from substrate.recall.times import Span
from substrate.recall.vectors import Floats
from substrate.recall.view import View

POSTINGS = 200_000  # holders of words looked at; the rarest word is looked at first
NEAREST = 1_000  # documents taken by their code, and
OF_A_TIME = 10_000  # by a time that is named
RANKED = 250  # documents ranked exactly, and
PER_HIT = 4  # at least so many for each hit that may be wanted
EVENT = 64  # documents among which the one that tells of an event is looked for

Rough = NDArray[np.float32]


@dataclass(frozen=True)
class Asked:
    """Hold what the arms made of a question; None, or empty, for an arm that does not look."""

    words: Words | None
    vector: Floats | None
    times: Moments
    labels: Collection[int]
    today: date | None


def candidates(view: View, asked: Asked, hits: int) -> Places:
    """Return the documents to rank for so many hits, ascending."""
    lexical = by_words(view, asked.words) if asked.words else np.zeros(len(view.known), np.float32)
    marks = lexical > 0
    distances = view.space.distances(asked.vector) if asked.vector is not None else None
    if distances is not None:
        marks[nearest(view.known[:-1] & view.space.encoded, distances, NEAREST)] = True
    for span, _ in asked.times.spans:
        marks[_of(view, span, distances)] = True
    for label in asked.labels:
        marks[_personas(view, label)] = True
    marks[-1] = False
    pool = np.flatnonzero(marks)
    best = _best(_rough(view, asked, pool, lexical, distances), max(RANKED, PER_HIT * hits))
    chosen = pool[best].astype(np.int32)
    return view.marked(chosen, *view.around(chosen))


def likely(view: View, words: Words) -> Places:
    """Return the documents among which the best for some words is."""
    if view.small:
        return view.places
    lexical = by_words(view, words)
    lexical[-1] = 0
    pool = np.flatnonzero(lexical)
    return np.sort(pool[_best(lexical[pool], EVENT)]).astype(np.int32)


def bearing(view: View, labels: Collection[int], places: Places | Ints) -> Bools:
    """Tell which of some documents bear one of these entity labels."""
    entities, found = view.corpus.column("entity")[places], np.zeros(len(places), np.bool_)
    for label in labels:
        found |= entities == label
    return found


def by_words(view: View, words: Words) -> Rough:
    """Return by place what the rarer words of a query give, without what stands around and without lengths."""
    scores = np.zeros(len(view.known), np.float32)
    left = POSTINGS
    for term, weight in sorted(words.weights.items(), key=lambda item: (len(words.postings[item[0]][0]), item[0])):
        places, counts = words.postings[term]
        if len(places) > left:
            if left < POSTINGS:
                break
            newest = places >= np.partition(places, -left)[-left]
            places, counts = places[newest], counts[newest]
        left -= len(places)
        scores[places] += _SATURATED[np.minimum(counts, len(_SATURATED) - 1)] * np.float32(weight)
    return scores


def _rough(view: View, asked: Asked, pool: Ints, lexical: Rough, distances: NDArray[np.uint16] | None) -> Rough:
    """Return what orders the pool: the sum of what the arms give, each in its deviations."""
    days = view.corpus.column("day")[pool]
    words = lexical[pool]
    if asked.times.spans:
        words = words + asked.times.scores(days).astype(np.float32)
    mean = float(words.sum()) / len(view)
    spread = float(np.square(words).sum()) / len(view) - mean * mean
    score = words / np.float32(spread**0.5) if spread > 0 else words
    if distances is not None:
        table = _deviations(view, distances)
        score = score + table[np.where(view.space.encoded[pool], distances[pool], len(table) - 1)]
    if asked.today is not None and len(days):
        first, last = int(days.min()), int(days.max())
        faded = moments.recent(np.arange(first, last + 1), asked.today).astype(np.float32)
        score = score + faded[days - first]
    if asked.labels:
        score = score + np.float32(fusion.ENTITY) * bearing(view, asked.labels, pool)
    return score


def _deviations(view: View, distances: NDArray[np.uint16]) -> Rough:
    """Return for each distance of codes the cosine it stands for, in deviations over the view; 0 for the last."""
    bits = int(view.space.bits)
    cosines = np.cos(np.pi * np.arange(bits + 1) / bits)
    drawn = view.sample[view.space.encoded[view.sample]]
    known = cosines[distances[drawn]]
    spread = float(known.std()) if len(known) else 0.0
    table = (cosines - known.mean()) / spread if spread else np.zeros(bits + 1)
    return np.append(table, 0.0).astype(np.float32)


def nearest(wanted: Bools, distances: NDArray[np.uint16], count: int) -> Ints:
    """Return the places of the nearest, about as many as asked for: of the last that are equally near, the newest."""
    far = np.uint16(65_535)
    masked = np.where(wanted, distances, far)
    low, high = 0, 65_534
    while low < high:  # the least distance within which there are enough
        middle = (low + high) // 2
        low, high = (low, middle) if np.count_nonzero(masked <= middle) >= count else (middle + 1, high)
    nearer, last = np.flatnonzero(masked < low), np.flatnonzero(masked == low)
    return np.concatenate([nearer, last[max(len(last) - (count - len(nearer)), 0) :]])


def _of(view: View, span: Span, distances: NDArray[np.uint16] | None) -> Ints:
    """Return the documents of a time that has a beginning and an end, the nearest or else the newest of very many."""
    if not moments.is_bounded(span):
        return np.zeros(0, np.int64)
    here = view.known[:-1] & moments.within(span, view.corpus.column("day"))
    if distances is None or np.count_nonzero(here) <= OF_A_TIME:
        return np.flatnonzero(here)[-OF_A_TIME:]
    return nearest(here & view.space.encoded, distances, OF_A_TIME)


def _personas(view: View, label: int) -> Ints:
    columns, kinds = view.corpus.columns, view.corpus.tables["kind"]
    return np.flatnonzero(view.known[:-1] & (columns["entity"] == label) & (columns["kind"] == kinds.number("persona")))


def _best(scores: Rough, count: int) -> NDArray[np.int64]:
    """Return where the greatest scores stand, in no order; of the last that are equal, those behind."""
    if len(scores) <= count:
        return np.arange(len(scores))
    least = np.partition(scores, -count)[-count]
    above, last = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
    return np.concatenate([above, last[len(last) - (count - len(above)) :]])


_SATURATED = (np.arange(256) / (np.arange(256) + K1)).astype(np.float32)
