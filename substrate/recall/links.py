"""Reach memories that the words do not find, along the links of those they do."""

from __future__ import annotations

from collections.abc import Mapping

from substrate.recall.view import View
from substrate.store.transaction import Reader

HOPS = 2
SEEDS = 10  # memories the walk starts from
LEAST = 1.0  # what a seed passes on at least: among few memories no score stands out
DECAY = 0.5  # share of a score that passes over one link
FAN = 200  # links followed from all memories of one hop together


def reach(r: Reader, view: View, seeds: Mapping[int, float], now: str) -> dict[int, float]:
    """Return the documents within `HOPS` links of the seeds, and what reaches them: the best seed's score, decayed.

    Links are followed both ways while they hold at `now`, through documents of the view only: one that the caller may
    not read joins nothing. A seed gets what reaches it from others, not its own back. `FAN` bounds each hop, best
    scores first.
    """
    found: dict[int, float] = {}
    frontier = {number: (score, number) for number, score in seeds.items()}  # with the seed that it comes from
    for _ in range(HOPS):
        names = {view.corpus.id(number): reached for number, reached in frontier.items()}
        frontier = {}
        around = _around(r, sorted(names), now) if names else []
        places = view.find([there for _, there in around]).tolist()
        steps = [(place, *names[here]) for place, (here, _) in zip(places, around, strict=True)]
        visible = [(-score * DECAY, number, seed) for number, score, seed in steps if number not in (-1, seed)]
        for score, number, seed in sorted(visible)[:FAN]:
            if -score > found.get(number, 0.0):
                found[number] = -score
                frontier[number] = (-score, seed)
    return found


def _around(r: Reader, names: list[str], now: str) -> list[tuple[str, str]]:
    """Return each of these memories with each that is linked with it, whichever way, sorted.

    The ids stand in the statement one by one: so the engine looks them up in its indexes, whatever the number of links.
    """
    among = f"IN ({', '.join('?' * len(names))})"
    found = r.query(
        f"SELECT source_id, target_id, valid_until FROM memory_links WHERE source_id {among}"
        f" UNION ALL SELECT target_id, source_id, valid_until FROM memory_links WHERE target_id {among}",
        names * 2,
    )
    return sorted({(here, there) for here, there, until in found if until is None or until >= now})
