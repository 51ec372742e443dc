"""Reach memories that the words do not find, along the links of those they do."""

from __future__ import annotations

from collections.abc import Mapping

from substrate.recall.corpus import View
from substrate.store.transaction import Reader

HOPS = 2
SEEDS = 10  # memories the walk starts from
LEAST = 1.0  # what a seed passes on at least: among few memories no score stands out
DECAY = 0.5  # share of a score that passes over one link
FAN = 200  # links followed from all memories of one hop together

_AMONG = "IN (SELECT unnest(?::TEXT[]))"
_AROUND = f"""
    SELECT source_id, target_id FROM memory_links WHERE source_id {_AMONG} AND coalesce(valid_until, ?) >= ?
    UNION
    SELECT target_id, source_id FROM memory_links WHERE target_id {_AMONG} AND coalesce(valid_until, ?) >= ?
    ORDER BY 1, 2
"""


def reach(r: Reader, view: View, seeds: Mapping[int, float], now: str) -> dict[int, float]:
    """Return the documents within `HOPS` links of the seeds, and what reaches them: the best seed's score, decayed.

    Links are followed both ways while they hold at `now`, through documents of the view only: one that the caller may
    not read joins nothing. A seed gets what reaches it from others, not its own back. `FAN` bounds each hop, best
    scores first.
    """
    found: dict[int, float] = {}
    frontier = {number: (score, number) for number, score in seeds.items()}  # with the seed that it comes from
    for _ in range(HOPS):
        names = {view.id(number): reached for number, reached in frontier.items()}
        frontier = {}
        around = r.query(_AROUND, (sorted(names), now, now) * 2) if names else []
        steps = [(view.number(there), *names[here]) for here, there in around]
        visible = [(-score * DECAY, number, seed) for number, score, seed in steps if number not in (None, seed)]
        for score, number, seed in sorted(visible)[:FAN]:
            if -score > found.get(number, 0.0):
                found[number] = -score
                frontier[number] = (-score, seed)
    return found
