"""Make one ranking of what the arms found. Pure.

Lexical scores and cosines have no common unit, so each is counted in standard deviations above its own mean over the
view or a sample of it. To their sum comes a bonus for documents about, or said by, somebody the query names, and the
standing of the conversation a document is part of. Weights were chosen on the development data
(docs/concepts/recall.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from substrate.recall.segment import Bools

ENTITY = 0.7  # deviations for a document about an entity the query names
EPISODE = 0.5  # weight of the standing of the conversation
EPISODE_BEST = 3  # documents that make the standing of a conversation
BESIDE = 0.5  # share of the better neighbour's cosine that an observation counts as its own
GRAPH = 0.5  # share of what links bring that is added to the score

ALL = slice(None)

Scores = NDArray[np.float64]
Numbers = NDArray[np.int32] | NDArray[np.int64]
Sample = slice | Bools  # over which means and deviations are taken


def standardised(scores: Scores, sample: Sample = ALL) -> Scores:
    """Return scores in standard deviations above the mean of a sample; 0 where it is all equal, and for a NaN."""
    known = scores[sample]
    known = known[~np.isnan(known)]
    spread = float(known.std()) if len(known) else 0.0
    if spread == 0.0:
        return np.zeros(len(scores))
    return np.asarray(np.nan_to_num((scores - known.mean()) / spread))


def fused(
    lexical: Scores | None,
    cosines: Scores | None,
    about: Bools,
    episodes: Numbers,
    recent: Scores | float = 0.0,
    sample: Sample = ALL,
) -> Scores:
    """Return the sum of what the arms say of each document, and of its conversation."""
    base = ENTITY * about.astype(np.float64) + recent
    for scores in (lexical, cosines):
        if scores is not None:
            base = base + standardised(scores, sample)
    return base + EPISODE * standardised(standing(base, episodes), sample)


def beside(cosines: Scores, before: Scores, after: Scores) -> Scores:
    """Return cosines raised by a share of the greater one just before or after; a NaN of its own stays.

    `before` and `after` are those of the neighbours, NaN for none. A neighbour that points away lowers nothing.
    """
    best = np.fmax(np.fmax(before, after), 0.0)
    return np.asarray(cosines + BESIDE * np.nan_to_num(best))


def standing(scores: Scores, episodes: Numbers) -> Scores:
    """Return for each document the mean of the `EPISODE_BEST` best scores of its conversation, or of all it has."""
    if not len(scores):
        return scores
    order = np.lexsort((-scores, episodes))
    sorted_episodes = episodes[order]
    first = np.flatnonzero(np.r_[True, sorted_episodes[1:] != sorted_episodes[:-1]])
    sizes = np.diff(np.r_[first, len(order)])
    rank = np.arange(len(order)) - np.repeat(first, sizes)
    best = rank < EPISODE_BEST
    sums = np.add.reduceat(np.where(best, scores[order], 0.0), first)
    found = np.empty(len(scores))
    found[order] = np.repeat(sums / np.minimum(sizes, EPISODE_BEST), sizes)
    return found


def personas_first(scores: Scores, personas: Bools, reflections: Bools, evidence: Bools, whole: bool) -> Scores:
    """Return scores under which the personas of a named entity stand above the reflections they sum up.

    `whole` says that the query asks for the entity and nothing else: then they stand above everything. Otherwise that
    takes evidence that the persona answers the query. Source: S3-12.
    """
    lifted = scores.copy()
    chosen = personas if whole else personas & evidence
    below = np.ones(len(scores), np.bool_) if whole else reflections & evidence
    if chosen.any() and below.any():
        lifted[chosen] = np.maximum(lifted[chosen], scores[below].max() + 1e-6)
    return lifted


def ranked(scores: Scores, wanted: Bools, many: int | None = None) -> list[int]:
    """Return the wanted documents, best first and at most so many; of equal ones the newer first, then by id."""
    numbers = np.flatnonzero(wanted)
    return [int(n) for n in numbers[np.lexsort((-numbers, -scores[numbers]))[:many]]]
