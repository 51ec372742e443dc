"""Find out whom a query names: entities known to the caller, under every name that leads to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import TypeVar

from substrate.identifiers import fold
from substrate.recall.view import View
from substrate.recall.words import terms, words
from substrate.scopes import access
from substrate.store.model import AliasRow, EntityRow
from substrate.store.transaction import Reader

R = TypeVar("R", AliasRow, EntityRow)

NAME_WORDS = 5  # words a name may have to be found in a query
_TABLES = frozenset((AliasRow.TABLE, EntityRow.TABLE))
_KEPT = 16  # stores whose registered names are kept
_registered: dict[str, tuple[int, str, Registered]] = {}


class Registered:
    """Hold the registered names of a store: rows of aliases and entities by what they are looked up by."""

    def __init__(self, aliases: Collection[AliasRow], entities: Collection[EntityRow]) -> None:
        self.aliases: dict[str, list[AliasRow]] = defaultdict(list)
        self.leading: dict[str, list[AliasRow]] = defaultdict(list)
        self.called: dict[str, list[EntityRow]] = defaultdict(list)
        self.merged: dict[str, list[EntityRow]] = defaultdict(list)
        for alias in aliases:
            self.aliases[alias.alias_folded].append(alias)
            self.leading[alias.entity_id].append(alias)
        for entity in entities:
            for name in {entity.entity_id, entity.canonical_name.lower()}:
                self.called[name].append(entity)
            if entity.merged_into:
                self.merged[entity.merged_into].append(entity)


def named(r: Reader, view: View, query: str, namespaces: Collection[str]) -> tuple[frozenset[str], bool]:
    """Return the entity labels in a view that the query names, and whether it holds nothing beside these names.

    Names are compared word by word, folded. Aliases and merges registered in `namespaces` lead on.
    """
    spoken = _spans(words(query)) | _spans([part.strip(".,;:!?()\"'") for part in fold(query).split()])
    led = _leading(r, spoken, namespaces)
    borne = {name: view.bearing(name) for name in spoken | set(map(_key, led))}
    found = {name for name, labels in borne.items() if labels}
    labels = frozenset(label for name in found for label in borne[name])
    said = {name for name in spoken if name in found or led.get(name)}
    rest = set(terms(query, query=True)) - {term for name in said for term in terms(name, query=True)}
    return labels, bool(labels) and not rest


def _spans(parts: list[str]) -> set[str]:
    """Return every run of up to `NAME_WORDS` words."""
    ends = range(1, NAME_WORDS + 1)
    return {" ".join(parts[start : start + size]) for start in range(len(parts)) for size in ends} - {""}


def _leading(r: Reader, spoken: Collection[str], namespaces: Collection[str]) -> dict[str, bool]:
    """Return names for the entities the spoken names lead to; True for the spoken names that are registered."""
    known = _names(r)

    def of(rows: Mapping[str, list[R]], names: Collection[str]) -> list[R]:
        return [row for name in names if name in rows for row in rows[name] if row.namespace in namespaces]

    aliases, entities = of(known.aliases, spoken), of(known.called, spoken)
    goals = {row.entity_id for row in aliases} | {row.merged_into or row.entity_id for row in entities}
    also, merged = of(known.leading, goals), of(known.merged, goals)
    led = dict.fromkeys([*goals, *(row.alias_folded for row in also), *(row.entity_id for row in merged)], False)
    called = {row.alias_folded for row in aliases} | {row.entity_id for row in entities}
    return led | dict.fromkeys(called | {row.canonical_name.lower() for row in entities}, True)


def _names(r: Reader) -> Registered:
    """Return the registered names, read again only when an event touched them."""
    head = r.head
    sequence, event_hash, known = _registered.get(r.store_id, (0, "", Registered((), ())))
    if event_hash != head.event_hash:
        if not (event_hash and access.untouched(r, sequence, event_hash, _TABLES)):
            known = Registered(r.select(AliasRow), r.select(EntityRow))
        if len(_registered) >= _KEPT:
            _registered.clear()
        _registered[r.store_id] = (head.sequence, head.event_hash, known)
    return known


def _key(name: str) -> str:
    return " ".join(words(name))
