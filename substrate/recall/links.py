"""Reach memories that the words do not find, along the links of those they do."""

from __future__ import annotations

from collections.abc import Mapping

from substrate.recall.corpus import View
from substrate.store.transaction import Reader

HOPS = 2
SEEDS = 10  # memories the walk starts from
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
    not read joins nothing. A seed gets what reaches it from other seeds. `FAN` bounds each hop, best scores first.
    """
    found: dict[int, float] = {}
    frontier = dict(seeds)
    for _ in range(HOPS):
        names = {view.id(number): score for number, score in frontier.items()}
        frontier = {}
        around = r.query(_AROUND, (sorted(names), now, now) * 2) if names else []
        steps = [(names[here] * DECAY, view.number(there)) for here, there in around]
        visible = [(score, number) for score, number in steps if number is not None]
        for score, number in sorted(visible, key=lambda step: (-step[0], step[1]))[:FAN]:
            if score > found.get(number, 0.0):
                found[number] = frontier[number] = score
    return found
