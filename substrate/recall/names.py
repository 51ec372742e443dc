"""Find out whom a query names: entities known to the caller, under every name that leads to them."""

from __future__ import annotations

from collections.abc import Collection

from substrate.identifiers import fold
from substrate.recall.corpus import View
from substrate.recall.words import terms, words
from substrate.store.model import AliasRow, EntityRow
from substrate.store.transaction import Reader

NAME_WORDS = 5  # words a name may have to be found in a query
_AMONG = "IN (SELECT unnest(?::TEXT[]))"
_CALLED = f"(entity_id {_AMONG} OR lower(canonical_name) {_AMONG})"
_REGISTERED = f"""
    SELECT 1 FROM entity_aliases WHERE namespace {_AMONG} AND alias_folded {_AMONG}
    UNION ALL SELECT 1 FROM entities WHERE namespace {_AMONG} AND {_CALLED} LIMIT 1
"""


def named(r: Reader, view: View, query: str, namespaces: Collection[str]) -> tuple[frozenset[str], bool]:
    """Return the entity labels in a view that the query names, and whether it holds nothing beside these names.

    Names are compared word by word, folded. Aliases and merges registered in `namespaces` lead on.
    """
    spoken = _spans(words(query)) | _spans([part.strip(".,;:!?()\"'") for part in fold(query).split()])
    known = view.entities.keys()
    led = _leading(r, spoken, namespaces)
    found = (spoken & known) | {name for name in map(_key, led) if name in known}
    labels = frozenset(label for name in found for label in view.entities[name])
    said = {name for name in spoken if name in found or led.get(name)}
    rest = set(terms(query, query=True)) - {term for name in said for term in terms(name, query=True)}
    return labels, bool(labels) and not rest


def _spans(parts: list[str]) -> set[str]:
    """Return every run of up to `NAME_WORDS` words."""
    ends = range(1, NAME_WORDS + 1)
    return {" ".join(parts[start : start + size]) for start in range(len(parts)) for size in ends} - {""}


def _leading(r: Reader, spoken: Collection[str], namespaces: Collection[str]) -> dict[str, bool]:
    """Return names for the entities the spoken names lead to; True for the spoken names that are registered."""
    names, paths = sorted(spoken), sorted(namespaces)
    if not r.query(_REGISTERED, (paths, names, paths, names, names)):
        return {}
    aliases = r.select(AliasRow, f"namespace {_AMONG} AND alias_folded {_AMONG}", (paths, names))
    entities = r.select(EntityRow, f"namespace {_AMONG} AND {_CALLED}", (paths, names, names))
    goals = sorted({row.entity_id for row in aliases} | {row.merged_into or row.entity_id for row in entities})
    also = r.select(AliasRow, f"namespace {_AMONG} AND entity_id {_AMONG}", (paths, goals))
    merged = r.select(EntityRow, f"namespace {_AMONG} AND merged_into {_AMONG}", (paths, goals))
    led = dict.fromkeys([*goals, *(row.alias_folded for row in also), *(row.entity_id for row in merged)], False)
    called = {row.alias_folded for row in aliases} | {row.entity_id for row in entities}
    return led | dict.fromkeys(called | {row.canonical_name.lower() for row in entities}, True)


def _key(name: str) -> str:
    return " ".join(words(name))
