"""Weigh what a portrait says, and choose what fits into it.

A claim is worth what it states of the sources: for each source the best claim counts, so a second claim on the same
matter adds little. A source weighs more the more often it was seen, the more days say the same, the newer it is, and
less on a day that says much. The claim chosen next states the most that is still unsaid for each of its words; when
the body is full, the claim whose loss would cost least for each of its words gives way.

Source: docs/spec/persona.md §3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from curator.persona import words
from curator.persona.candidates import Candidate
from curator.persona.sentences import Rank
from curator.persona.source import Source
from curator.persona.vocabulary import PASSING, TALK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from curator.persona.similarity import Matrix

    Vector = NDArray[np.float64]

TALK_WEIGHT: Final = 0.5  # of a sentence that tells how somebody spoke or felt, as a matter to be stated
PASSING_WEIGHT: Final = 0.4  # of a sentence tied to its day ("recently"), as one of those on top
TALK_WORTH: Final = 0.75  # of the same, as a claim
RANK_WEIGHT: Final = {Rank.NAMED: 1.0, Rank.ALONE: 0.3, Rank.DEFINITE: 0.2}
RECENCY: Final = 0.2  # how much more the newest source weighs than the oldest
DECIMALS: Final = 9  # of a comparison, so that the last bits of a sum decide nothing


def size(text: str) -> int:
    """Answer the room a line takes: its words, and one for its bullet, which simple counters take for a word."""
    return words.count(text) + 1


class Portrait:
    """Hold candidates, and what choosing some of them states of all of them.

    `reach[i, j]` is how far candidate i states candidate j, from 0 to 1.
    """

    def __init__(self, candidates: Sequence[Candidate], reach: Matrix, by_id: Mapping[str, Source]) -> None:
        import numpy as np

        self.reach = np.asarray(reach, np.float64)
        self.size = np.array([size(candidate.text) for candidate in candidates], np.float64)
        self.weight = _weights(candidates, by_id)
        self.lasting = np.array([_lasting(candidate.text) for candidate in candidates])
        self.worth = np.array([_worth(candidate) for candidate in candidates]) / self.size

    def statements(self) -> Vector:
        """Answer how much each candidate states by itself; less where it tells a word spoken or a passing moment."""
        stated: Vector = self.gains([], range(len(self.size))) * self.size * self.lasting
        return stated

    def length(self, chosen: Sequence[int]) -> float:
        """Answer the size of the chosen together."""
        return float(self.size[list(chosen)].sum())

    def gains(self, chosen: Sequence[int], candidates: Sequence[int]) -> Vector:
        """Answer for each of the candidates, for its size, what it would add to the chosen."""
        import numpy as np

        said = self.reach[list(chosen)].max(axis=0) if chosen else np.zeros(len(self.weight))
        rows = self.reach[list(candidates)]
        return np.round(np.maximum(rows - said, 0.0) @ self.weight * self.worth[list(candidates)], DECIMALS)

    def losses(self, chosen: Sequence[int]) -> Vector:
        """Answer for each of the chosen, for its size, what would go unsaid without it."""
        import numpy as np

        rows = self.reach[list(chosen)]
        if len(chosen) < 2:
            return np.round(rows @ self.weight * self.worth[list(chosen)], DECIMALS)
        best = rows.argmax(axis=0)
        top = np.sort(rows, axis=0)[-2:]
        alone = np.where(best == np.arange(len(chosen))[:, None], top[1] - top[0], 0.0)
        return np.round(alone @ self.weight * self.worth[list(chosen)], DECIMALS)

    def value(self, chosen: Sequence[int]) -> float:
        """Answer how much the chosen state together."""
        rows = self.reach[list(chosen)] * (self.worth * self.size)[list(chosen), None]
        return round(float(rows.max(axis=0) @ self.weight), DECIMALS) if chosen else 0.0

    def fill(
        self,
        chosen: Sequence[int],
        open_: Collection[int],
        budget: float,
        *,
        clash: Callable[[int, int], bool],
        held: Collection[int] = (),
        guarded: int = 0,
        evict: bool = True,
    ) -> list[int]:
        """Add from `open_` what states most for its words; answer the chosen, in the order they were chosen.

        With `evict` a full body gives up its least salient claims for a better one, where it then states more; the
        first `guarded` newcomers enter in any case, and those `held` never give way. Two candidates that `clash` are
        never both chosen.
        """
        chosen, waiting, safe = list(chosen), sorted(set(open_) - set(chosen)), set(held)
        while waiting:
            order = sorted(zip(-self.gains(chosen, waiting), waiting, strict=True))
            for _, best in order:
                waiting.remove(best)
                if any(clash(best, other) for other in chosen):
                    continue
                entering = safe | {best} if len(safe) < guarded + len(held) else safe
                trial = self.fitted([*chosen, best], budget, entering) if evict else [*chosen, best]
                pays = best in entering or not evict or self.value(trial) > self.value(chosen)
                if best in trial and self.length(trial) <= budget and pays:
                    chosen, safe = trial, entering
                    break
        return chosen

    def fitted(self, chosen: Sequence[int], budget: float, safe: Collection[int] = ()) -> list[int]:
        """Take the least salient out, never one of `safe`, until the rest fits; of equals the last."""
        left = list(chosen)
        while self.length(left) > budget:
            losses = self.losses(left)
            loose = [place for place, at in enumerate(left) if at not in safe]
            if not loose:
                return left
            del left[min(loose, key=lambda place: (losses[place], -place))]
        return left


def _worth(candidate: Candidate) -> float:
    return RANK_WEIGHT[candidate.rank] * (TALK_WORTH if _talks(candidate.text) else 1.0)


def _lasting(text: str) -> float:
    passing = not PASSING.isdisjoint(words.folded(text))
    return (TALK_WEIGHT if _talks(text) else 1.0) * (PASSING_WEIGHT if passing else 1.0)


def _talks(text: str) -> bool:
    return not TALK.isdisjoint(words.folded(text))


def _weights(candidates: Sequence[Candidate], by_id: Mapping[str, Source]) -> Vector:
    import numpy as np

    shares = Counter(id for candidate in candidates for id in candidate.sources)
    days = Counter(by_id[id].day for id in shares)
    age = {day: at / max(1, len(days) - 1) for at, day in enumerate(sorted(days))}
    weights = []
    for candidate in candidates:
        sources = [by_id[id] for id in candidate.sources]
        seen = sum(
            max(1, source.times_seen) ** 0.5
            * (1 + RECENCY * (age[source.day] - 0.5))
            / days[source.day] ** 0.5
            / shares[source.id] ** 0.5
            for source in sources
        )
        distinct = len({source.day for source in sources}) ** 0.25
        weights.append(seen * distinct * RANK_WEIGHT[candidate.rank] * (TALK_WEIGHT if _talks(candidate.text) else 1.0))
    return np.array(weights)
