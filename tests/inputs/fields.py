"""Every place where an action takes text, found in the registry; and what each has to say to a hostile text.

A field that nobody has described is expected to refuse every one of them, so an action that starts to take free text
fails the tests until it is described here, and an action without a call to start from fails them at once.

Source: docs/reference/actions.md is made from the same registry.
"""

from __future__ import annotations

import copy
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_args, get_origin

import curator.actions  # noqa: F401  (registers the actions the curator composes)
from substrate import limits
from substrate.actions import registry
from substrate.actions.registry import ACTIONS

registry.load()

Json = dict[str, Any]


class Takes(Enum):
    """What a field takes: any text, any single line, an entity's name, nothing hostile; or it only reports on it."""

    TEXT = "text"
    LINE = "line"
    ENTITY = "entity"
    NOTHING = "nothing"
    REPORT = "report"


@dataclass(frozen=True)
class Field:
    """One place of text in the arguments of one action: the path of keys that leads there."""

    action: str
    path: tuple[str | int, ...]
    takes: Takes

    @property
    def id(self) -> str:
        return f"{self.action}: {'.'.join(map(str, self.path))}"

    def call(self, base: Mapping[str, Any], text: str) -> Json:
        """Give the arguments with the text in its place."""
        arguments: Json = copy.deepcopy(dict(base))
        _put(arguments, self.path, text)
        return arguments


def _put(place: Any, path: tuple[str | int, ...], text: str) -> None:
    """Put the text where the path leads, making on the way what is not there."""
    key, *rest = path
    if key == KEY:
        place[text] = "value"
    elif isinstance(key, int):
        place[:] = place or [{} if rest else text]
        if rest:
            _put(place[key], tuple(rest), text)
        else:
            place[key] = text
    elif rest:
        _put(place.setdefault(key, [] if isinstance(rest[0], int) else {}), tuple(rest), text)
    else:
        place[key] = text


KEY = "<key>"
SOURCE: Json = {"kind": "url", "ref": "https://example.org/a"}

# What each action is called with but for the one text in question; names in braces are filled in from a store.
BASES: Mapping[str, Json] = {
    "remember": {"text": "The ferry is in the dock.", "sources": [SOURCE]},
    "reflect": {"title": "Ferry", "text": "Ada takes the ferry.", "sources": ["{observation}"]},
    "edit": {"id": "{observation}", "text": "The ferry sails again."},
    "retire": {"id": "{spare}", "why": "No longer so."},
    "forget": {"id": "{spare}", "why": "Asked to."},
    "get": {"id": "{observation}"},
    "list": {},
    "recall": {"query": "ferry"},
    "reindex": {},
    "link": {"source": "{observation}", "target": "{other}", "relation": "related_to"},
    "graph": {"id": "{observation}"},
    "paths": {"source": "{observation}", "target": "{other}"},
    "timeline": {"id": "{observation}"},
    "impact": {"id": "{observation}"},
    "entity_add": {"entity": "Bea"},
    "entity_alias": {"alias": "Beatrix", "entity": "Bea"},
    "entity_merge": {"gone": "Nobody {spare}", "survivor": "Noone {other}"},
    "entity_show": {"entity": "Ada"},
    "persona": {"entity": "Ada"},
    "persona_generate": {"entity": "Nobody"},
    "persona_pin": {"entity": "Ada", "claim": "1"},
    "persona_history": {"entity": "Ada"},
    "persona_diff": {"entity": "Ada"},
    "persona_why": {"entity": "Ada", "footnote": 1},
    "persona_verify": {"entity": "Ada"},
    "distil": {"entity": "Nobody"},
    "space_add": {"path": "team/a"},
    "space_show": {"path": "global"},
    "space_policy": {"path": "team/a", "field": "language", "value": "de"},
    "space_access": {"path": "team/a", "access": "rw"},
    "space_member": {"project": "projects/ann/a", "principal": "scout"},
    "space_accept": {"project": "projects/ann/a"},
    "who_add": {"kind": "agent", "handle": "another"},
    "who_show": {"principal": "scout"},
    "who_token": {"principal": "scout"},
    "who_key": {"principal": "scout", "public_key": "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c"},
    "who_revoke": {"credential": "cre-0"},
    "who_retire": {"principal": "nobody"},
    "audit_log": {},
    "audit_prove": {"id": "{observation}"},
    "audit_verify": {},
}

TAKES: Mapping[tuple[str, str], Takes] = {
    ("remember", "text"): Takes.TEXT,
    ("reflect", "text"): Takes.TEXT,
    ("edit", "text"): Takes.TEXT,
    ("recall", "query"): Takes.TEXT,
    ("remember", "metadata"): Takes.TEXT,
    ("reflect", "metadata"): Takes.TEXT,
    ("remember", "title"): Takes.LINE,
    ("remember", "description"): Takes.LINE,
    ("remember", f"metadata.{KEY}"): Takes.LINE,
    ("remember", "sources.0.ref"): Takes.LINE,
    ("remember", "idempotency_key"): Takes.LINE,
    ("reflect", "title"): Takes.LINE,
    ("reflect", f"metadata.{KEY}"): Takes.LINE,
    ("reflect", "idempotency_key"): Takes.LINE,
    ("edit", "title"): Takes.LINE,
    ("retire", "why"): Takes.LINE,
    ("forget", "why"): Takes.LINE,
    ("audit_log", "subject"): Takes.LINE,
    ("entity_add", "name"): Takes.LINE,
    ("reflect", "entity_id"): Takes.ENTITY,
    ("list", "entity"): Takes.ENTITY,
    ("entity_add", "entity"): Takes.ENTITY,
    ("entity_alias", "alias"): Takes.ENTITY,
    ("entity_merge", "gone"): Takes.ENTITY,
    ("entity_merge", "survivor"): Takes.ENTITY,
    ("entity_alias", "entity"): Takes.ENTITY,
    ("entity_show", "entity"): Takes.ENTITY,
    ("persona", "entity"): Takes.ENTITY,
    ("persona_history", "entity"): Takes.ENTITY,
    ("timeline", "id"): Takes.ENTITY,
    ("audit_verify", "checkpoints.0"): Takes.REPORT,
}


def fields() -> list[Field]:
    """Find them all, in the order of the registry."""
    found = []
    for name, action in ACTIONS.items():
        for argument, hint in action.types.items():
            for path in _places(name, (argument,), hint):
                dotted = ".".join(map(str, path))
                takes = TAKES.get((name, dotted)) or TAKES.get((name, argument), Takes.NOTHING)
                found.append(Field(name, path, takes))
    return found


def _places(action: str, path: tuple[str | int, ...], hint: Any) -> Iterator[tuple[str | int, ...]]:
    kind, inner = get_origin(hint), get_args(hint)
    if hint is str or hint is Any:
        yield path
    elif kind is Sequence:
        yield from _places(action, (*path, 0), inner[0])
    elif kind is Mapping and path[-1] == 0:  # one of the objects of a list: those of `sources`
        yield from ((*path, key) for key in ("kind", "ref", "at", KEY))
    elif kind is Mapping:
        yield from ((*path, "note"), (*path, "notes", 0), (*path, "deep", "er"), (*path, KEY))
    else:
        for one in inner:
            yield from _places(action, path, one)


# What a text is, told without the functions that check it

_INVISIBLE = ("Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_DRAWS_NOTHING = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {chr(n) for n in range(0xFE00, 0xFE10)}


def _hides(char: str) -> bool:
    return unicodedata.category(char) in _INVISIBLE or char in _DRAWS_NOTHING or 0xE0000 <= ord(char) <= 0xE0FFF


def _controls(char: str) -> bool:
    return unicodedata.category(char) == "Cc"


_PLAIN = re.compile(r"[A-Za-z0-9-][A-Za-z0-9._-]{0,63}")
"""What may be a plain name or word somewhere, and is then no attack."""


def refused(field: Field, text: str, secret: bool) -> bool | None:
    """Tell whether the field has to refuse the text; None where it may do either."""
    if field.takes in (Takes.NOTHING, Takes.REPORT):
        return None if field.takes is Takes.REPORT or _PLAIN.fullmatch(text) else True
    shown = [char for char in text if not (char.isspace() or _controls(char) or _hides(char))]
    value_of_metadata = "metadata" in field.path and field.path[-1] != KEY
    if "\x00" in text or re.search("[\ud800-\udfff]", text) or (secret and field.action not in READERS):
        return True
    if not shown:
        return None if value_of_metadata or field.path == ("entity_id",) else True
    if field.takes is Takes.TEXT:
        return len(text.encode()) > (limits.METADATA_BYTES - 100 if value_of_metadata else limits.MEMORY_BYTES)
    trimmed = text.strip()
    if any(map(_controls, trimmed)) or re.search("[\u2028\u2029]", trimmed):
        return True
    if field.takes is Takes.ENTITY:
        return _no_entity(trimmed)
    if field.path[-1] == KEY:
        return None  # reserved words, and white space around it
    return len(trimmed) > limits.TITLE_CHARS


READERS = {name for name, action in ACTIONS.items() if not action.writes}


def _no_entity(trimmed: str) -> bool | None:
    if any(map(_hides, trimmed)) or len(trimmed.encode()) > limits.ENTITY_ID_BYTES:
        return True
    scripts = {unicodedata.name(char, "").split(" ")[0] for char in trimmed if char.isalpha()}
    return None if {"LATIN"} < scripts else False
