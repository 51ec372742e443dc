"""Show what was found: verified rows, cut to a budget, each with its scores, its arms and its citation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from substrate.memory.wire import wire
from substrate.store.model import MemoryRow

LEAST_CHARS = 200  # characters a memory is cut to at least; where less room is left it is left out


@dataclass(frozen=True)
class Arm:
    """Tell whether an arm looked, and if not, or not at everything, why."""

    ran: bool
    why_not: str | None = None


@dataclass(frozen=True)
class Hit:
    """Hold a memory, its score (comparable within one answer), what each arm that found it gave, and its text.

    `text` is the content as far as the budget went, ending in an ellipsis where it was cut.
    """

    memory: MemoryRow
    score: float
    arms: Mapping[str, float]
    text: str

    @property
    def citation(self) -> str:
        """Say where this comes from; see `cited`."""
        return cited(self.memory)


@dataclass(frozen=True)
class LeftOut:
    """Name a memory that a budget of tokens had no room for, and how many it takes."""

    memory: MemoryRow
    tokens: int


@dataclass(frozen=True)
class Budget:
    """Hold a budget of tokens: how many, as counted by what, how many the hits take, and which memories had no room."""

    most: int
    counted_by: str
    used: int
    left_out: tuple[LeftOut, ...]

    def wire(self) -> dict[str, Any]:
        """Return it as JSON; `wanting` is how many tokens those left out take."""
        left = [{"id": one.memory.id, "citation": cited(one.memory), "tokens": one.tokens} for one in self.left_out]
        counts = {"most": self.most, "used": self.used, "wanting": sum(one.tokens for one in self.left_out)}
        return {**counts, "counted_by": self.counted_by, "left_out": left}


@dataclass(frozen=True)
class Recall:
    """Hold the hits, best first, how each arm fared, how many of the best had no room, and the budget if in tokens."""

    hits: tuple[Hit, ...]
    arms: Mapping[str, Arm]
    left_out: int
    budget: Budget | None = None

    def wire(self) -> dict[str, Any]:
        """Return the answer as JSON; a memory's `content` is the hit's text, and `cut` tells whether it was cut."""
        hits = [
            {
                "memory": {**wire(hit.memory), "content": hit.text},
                "score": round(hit.score, 6),
                "arms": {name: round(score, 6) for name, score in hit.arms.items()},
                "citation": hit.citation,
                "cut": hit.text != hit.memory.content,
            }
            for hit in self.hits
        ]
        arms = {name: {"ran": arm.ran, "why_not": arm.why_not} for name, arm in self.arms.items()}
        tokens = self.budget.wire() if self.budget else None
        return {"hits": hits, "arms": arms, "left_out": self.left_out, "tokens": tokens}


def cited(row: MemoryRow) -> str:
    """Say where a memory comes from: id, namespace, kind, day it is about, author. Not escaped for any sink."""
    day = (row.valid_from or row.created_at)[:10]
    return f"{row.id} ({row.namespace}, {row.memory_kind}, {day}, by {row.by_handle or row.by_id})"


def fitted(rows: Sequence[MemoryRow], chars: int) -> list[str]:
    """Return the texts of the first rows, together at most `chars` characters: whole, but for the last.

    The last is cut where at least `LEAST_CHARS` are left for it, or where it is the only one.
    """
    texts: list[str] = []
    for row in rows:
        text = row.content or ""
        if len(text) > chars:
            if not texts or chars >= LEAST_CHARS:
                texts.append(text[: chars - 1] + "…")
            break
        texts.append(text)
        chars -= len(text)
    return texts


def packed(
    rows: Sequence[MemoryRow], most: int, counted_by: str, count: Callable[[str], int]
) -> tuple[list[MemoryRow], Budget]:
    """Return the rows that share a budget of tokens, each whole, in the order given, and how the budget was spent.

    Each in turn is taken if it fits into what those before it left. So none left out would fit beside those taken, and
    none that was taken kept out a better one.
    """
    taken: list[MemoryRow] = []
    left: list[LeftOut] = []
    used = 0
    for row in rows:
        tokens = count(row.content or "")
        if used + tokens <= most:
            used += tokens
            taken.append(row)
        else:
            left.append(LeftOut(row, tokens))
    return taken, Budget(most, counted_by, used, tuple(left))
