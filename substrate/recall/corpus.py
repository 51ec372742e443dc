"""Present the live documents of several segments as one, in an order that new documents only lengthen.

Nothing here asks who may read what; that is what a `View` is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from substrate.recall import neighbours
from substrate.recall.column import Column
from substrate.recall.ids import found, ordered
from substrate.recall.segment import Bools, Segment, build, combine_columns
from substrate.recall.words import words

DAY = 86_400_000_000  # microseconds
Places = NDArray[np.int32]
Parts = Sequence[tuple[Segment, Bools]]


@dataclass(frozen=True)
class Placed:
    """Hold a segment, which of its documents count, and the place of each in the corpus; -1 for one that does not."""

    segment: Segment
    live: Bools
    places: Places


@dataclass
class Labels:
    """Number the texts of a label; new ones only come behind."""

    texts: list[str]
    numbers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.numbers = {text: number for number, text in enumerate(self.texts)}

    def number(self, text: str) -> int:
        """Return the number of a text, a new one if need be."""
        if text not in self.numbers:
            self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return self.numbers[text]


class Corpus:
    """Order every live document by the event that created it, then by id backwards: a later place wins a tie.

    Columns are those of a segment, and those of `neighbours.Chain`, and `day`, the day each document is about, counted
    from 1970-01-01. A corpus that followed another one has its documents at the same places, and new ones behind them.
    `history` holds what changed in each step from the first of such a line; `version` says how many steps are behind.
    """

    def __init__(self, parts: Parts) -> None:
        parts = parts or [(build([]), np.zeros(0, np.bool_))]
        kept = [np.flatnonzero(live) for _, live in parts]
        columns, tables = combine_columns([part for part, _ in parts], kept)
        self.tables = {name: Labels(texts) for name, texts in tables.items()}
        by_id = ordered(columns["ids"])
        rank = np.empty(len(by_id), np.int64)
        rank[by_id] = np.arange(len(by_id))
        order = np.lexsort((-rank, columns["sequence"]))
        columns = {name: column[order] for name, column in columns.items()}
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        self.parts: list[Placed] = []
        first = 0
        for (part, live), slots in zip(parts, kept, strict=True):
            places = np.full(len(part), -1, np.int32)
            places[slots] = place[first : first + len(slots)]
            first += len(slots)
            self.parts.append(Placed(part, live, places))
        self.sorted: Places = place[by_id]  # the places in order of the ids, of those that were there at first
        self.later: dict[bytes, int] = {}  # the places of all others
        columns |= derived(columns)
        observed = self.observations(columns["kind"])
        chain = neighbours.chained(columns, observed)
        columns |= {name: getattr(chain, name) for name in CHAIN}
        self.after: Places = chain.after
        self.last: dict[int, int] | None = None  # the last observation of each partition, once that is asked for
        self.grown = {name: Column(column) for name, column in columns.items()}
        self.history: list[Places] = []
        self.version = 0

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The columns, by name."""
        return {name: column.values for name, column in self.grown.items()}

    def column(self, name: str) -> NDArray[Any]:
        """Return one column."""
        return self.grown[name].values

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def ids(self) -> NDArray[np.bytes_]:
        """The id of each document."""
        return self.column("ids")

    def id(self, place: int) -> str:
        """Return the id of the document at a place."""
        return str(self.ids[place], "utf-8")

    def find(self, ids: NDArray[np.bytes_]) -> Places:
        """Return the place of the document of each id; -1 where there is none."""
        held = self.ids[: len(self.sorted)]
        places = found(held, self.sorted, ids).astype(np.int32)
        for number in np.flatnonzero(places < 0).tolist() if self.later else ():
            place = self.later.get(bytes(ids[number]), -1)
            if 0 <= place < len(self) and self.ids[place] == ids[number]:
                places[number] = place
        return places

    def where(self, label: str, wanted: Callable[[str], bool], places: Any = slice(None)) -> Bools:
        """Tell for each document, or for those at some places, whether its label is a wanted one.

        Each label is asked about once.
        """
        numbers, texts = self.column(label)[places], self.tables[label].texts
        table = np.zeros(len(texts), np.bool_)
        for number in range(len(texts)) if len(numbers) > len(texts) else np.unique(numbers).tolist():
            table[number] = wanted(texts[number])
        return np.asarray(table[numbers])

    def observations(self, kinds: NDArray[Any]) -> Bools:
        """Tell which of these numbers of kinds stand for an observation."""
        return np.asarray(kinds == self.tables["kind"].number("observation"))

    def named(self, key: str) -> list[str]:
        """Return the entity labels whose words are these."""
        texts = self.tables["entity"].texts
        known: tuple[dict[str, list[str]], list[int]] = self.__dict__.setdefault("_names", ({}, [0]))
        names, seen = known
        for text in texts[seen[0] :]:
            names.setdefault(" ".join(words(text)), []).append(text)
        seen[0] = len(texts)
        return names.get(key, [])


CHAIN = ("before", "episode", "position", "draw")


def derived(columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the columns that follow from those of a segment: the day, and the digests as one item each."""
    digests = np.ascontiguousarray(columns["digests"]).view("S16").reshape(-1)
    return {"day": (columns["when"] // DAY).astype(np.int32), "digests": digests}
