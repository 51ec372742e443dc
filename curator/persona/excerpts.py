"""Cut a long sentence to the clauses that matter, word for word, where that can be done without breaking it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from curator.persona import words
from curator.persona.vocabulary import DANGLING

CUT: Final = "…"  # stands where something was left out
OPENING: Final = 1.5  # shared stems that a cut from the beginning of the sentence is worth

_BOUNDARY = re.compile(r"(?<=[,;:.])\s+|\s+(?=[(\[]|(?:which|who|due to|because|with|including|and|until|so that)\b)")
_WHOLE = re.compile(
    r"\([^()]*\)|\[[^\[\]]*\]|“[^”]*”|\"[^\"]*\"|(?<!\w)['‘][^'’\n]{2,120}['’](?!\w)|\*\*[^*]*\*\*|`[^`]*`"
)
_LEANING = {(word,) for word in DANGLING - {"and", "or"}}
_LOOSE_END = re.compile(r"(?:[\s,;:–—-]|\b(?:and|or|the|a|an|of|to|with|for|from)$)+$")


def excerpt(text: str, limit: int, about: frozenset[str], must: Callable[[str], bool]) -> str | None:
    """Answer a sentence of at most `limit` words as it is; else what it says of `about`, the cuts marked with "…".

    Cuts are made between clauses, never inside brackets or quotations, and keep what `must` holds of the sentence. None
    where no such cut is short enough.
    """
    if words.count(text) <= limit:
        return text
    whole = [match.span() for match in _WHOLE.finditer(text)]
    marks = [match.span() for match in _BOUNDARY.finditer(text)]
    inner = [mark for mark in marks if not any(start < mark[0] and mark[1] < end for start, end in whole)]
    openings = [end for start, end in inner if text[start - 1] in ",;:."]
    starts = [0, *(start for start in openings if words.folded(text[start:])[:1] not in _LEANING)]
    stops = [*(start for start, _ in inner), len(text)]
    needed = must(text)
    best: tuple[float, int, str] | None = None
    for start in starts:
        for stop in stops:
            if stop <= start or words.count(part := _LOOSE_END.sub("", text[start:stop])) > limit or not part:
                continue
            if needed and not must(part):
                continue
            shared = len(words.stems(part) & about) + (OPENING if start == 0 else 0.0)
            if best is None or (shared, -start) > best[:2]:
                best = (shared, -start, f"{f'{CUT} ' if start else ''}{part}{f' {CUT}' if stop < len(text) else ''}")
    return best[2] if best and best[0] >= OPENING else None
