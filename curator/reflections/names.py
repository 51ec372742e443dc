"""Find the registered entities a text names.

A name is found in any case and width, between the bounds of words. Where names overlap the longest is meant; a name
that two entities share means neither.

Source: docs/spec/reflections.md §1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from curator.persona.vocabulary import AUXILIARIES, IMPERATIVES, NOUNS_TOO, PASSING, STOP
from curator.persona.words import RUN
from curator.reflections.talk import OPENING
from substrate.identifiers import fold
from substrate.memory.entity_names import lookup_paths, registered, target
from substrate.memory.references import AMONG
from substrate.store.model import AliasRow, EntityRow
from substrate.store.transaction import Reader

_TOKEN = re.compile(f"[{RUN}]|[^\\W{RUN}]+|[^\\w\\s]")
_LETTER = re.compile(f"[{RUN}]")
_JOINTS: Final = "-‐‑.@'/"  # what makes one word of two: "Ann-Marie" does not name Ann; a possessive does
_ENDING = re.compile(r"'(?:s|d|ll|m|re|ve)?(?!\w)", re.IGNORECASE)
_COMMON: Final = STOP | AUXILIARIES | IMPERATIVES | NOUNS_TOO
"""Words that are names only with a capital: "Will" may be somebody, "will" is not."""

_RESPECT: Final = frozenset({"mr", "mrs", "ms", "dr", "prof", "professor", "doctor", "sir", "madam", "dear"})
_BEFORE: Final = _COMMON | PASSING | OPENING | _RESPECT
"""Words with a capital at the beginning of a sentence, or of respect, that are no part of the name behind them."""

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """Hold a word or mark of a text: as compared, whether it has a capital, and where it stands."""

    text: str
    capital: bool
    start: int
    end: int


@dataclass(frozen=True)
class Names:
    """Know every name registered around a namespace: whom it leads to, None where it leads to more than one.

    ``shown`` maps each entity to the name to show for it.
    """

    leads: Mapping[Key, str | None]
    shown: Mapping[str, str]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]], shown: Mapping[str, str]) -> Names:
        """Put names together from pairs of a name, in any spelling, and the entity it leads to."""
        found: dict[Key, set[str]] = {}
        for name, entity in pairs:
            if key := tuple(token.text for token in tokens(name)):
                found.setdefault(key, set()).add(entity)
        return cls({key: min(ids) if len(ids) == 1 else None for key, ids in found.items()}, shown)

    @cached_property
    def _sizes(self) -> dict[str, tuple[int, ...]]:
        """Map the first word of names to their lengths in words, longest first."""
        sizes: dict[str, set[int]] = {}
        for key in self.leads:
            sizes.setdefault(key[0], set()).add(len(key))
        return {first: tuple(sorted(found, reverse=True)) for first, found in sizes.items()}

    def lead(self, name: str) -> str | None:
        """Answer the entity a whole name leads to, None for an unknown or shared one."""
        return self.leads.get(tuple(token.text for token in tokens(name)))

    def among(self, text: str) -> frozenset[str]:
        """Collect the entities the text names."""
        plain = _plain(text)
        read = tokens(text)
        found: list[tuple[int, int, Key]] = []
        for at, token in enumerate(read):
            for size in self._sizes.get(token.text, ()):
                part = read[at : at + size]
                key = tuple(one.text for one in part)
                if key in self.leads and _stands(plain, part):
                    found.append((part[0].start, part[-1].end, key))
        taken: list[tuple[int, int]] = []
        named: set[str] = set()
        longer = _longer(plain, read)
        for start, end, key in sorted(found, key=lambda span: (span[0] - span[1], span[0])):
            if all(end <= other or start >= stop for other, stop in taken):
                taken.append((start, end))
                if (entity := self.leads[key]) and not (start in longer or end in longer):
                    named.add(entity)
        return frozenset(named)

    def names_of(self, entity: str) -> tuple[str, ...]:
        """List the names that lead to this entity alone, words apart, sorted."""
        return tuple(sorted(" ".join(key) for key, lead in self.leads.items() if lead == entity))


def tokens(text: str) -> list[Token]:
    """Cut a text into words and marks, each letter of a script without spaces by itself."""
    return [
        Token(
            match[0].casefold() if match[0].isascii() else fold(match[0]),
            match[0][0].isupper(),
            match.start(),
            match.end(),
        )
        for match in _TOKEN.finditer(_plain(text))
    ]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def _stands(text: str, part: Collection[Token]) -> bool:
    """Tell whether a name stands by itself: in no longer word, and with its capital where it is a common word."""
    first, *_ = part
    *_, last = part
    if len(part) == 1 and first.text in _COMMON and not first.capital:
        return False
    before, behind = text[max(0, first.start - 2) : first.start], text[last.end : last.end + 2]
    if behind and unicodedata.category(behind[0]).startswith("M"):
        return False
    if _LETTER.match(last.text):
        return True
    joined_before = len(before) == 2 and before[1] in _JOINTS and before[0].isalnum() and before[1] != "'"
    joined_behind = len(behind) == 2 and behind[0] in _JOINTS and behind[1].isalnum()
    ending = behind[:1] == "'" and _ENDING.match(text, last.end) is not None
    return not joined_before and (ending or not joined_behind)


def _longer(text: str, read: Sequence[Token]) -> frozenset[int]:
    """Collect the places at which two capitalised words adjoin: a name that ends there may be part of a longer one.

    A word that is no name, or goes before one, makes none longer; neither do capitals where all is written in them.
    """
    found: set[int] = set()
    for one, other in pairwise(read):
        both = one.capital and other.capital and one.text not in _BEFORE and other.text not in _COMMON
        if both and text[one.end : other.start] == " " and not text[one.start : other.end].isupper():
            found |= {one.end, other.start}
    return frozenset(found)


def read(r: Reader, namespace: str) -> Names:
    """Read the names that lead to an entity from a namespace: ids, aliases, and the names entities are shown by."""
    around = lookup_paths(namespace)
    rows = r.select(EntityRow, f"namespace {AMONG}", (around,), order="namespace, entity_id")
    aliases = r.select(AliasRow, f"namespace {AMONG}", (around,), order="namespace, alias_folded")
    leads = {id: target(r, id, around) for id in (*(row.alias_folded for row in aliases), *(e.entity_id for e in rows))}
    shown: dict[str, str] = {}
    for entity in sorted(set(leads.values())):
        row = registered(r, entity, around)
        shown[entity] = row.canonical_name if row else entity
    named = {row.entity_id: row for place in reversed(around) for row in rows if row.namespace == place}
    pairs = [*leads.items(), *((row.canonical_name, leads[row.entity_id]) for row in named.values())]
    return Names.of(pairs, shown)
