"""Know every policy field: where it may stand, what it takes, what holds when nobody sets it.

A policy is resolved field by field: the nearest namespace on the path that sets the field wins, and for `governance.*`
the namespace `global` is asked last. Pure.

Source: docs/spec/model.md §3 (C7-C9) and §4; docs/spec/requirements.md S3-23, S3-26, S3-33.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from substrate import limits
from substrate.errors import Invalid
from substrate.escape import quote
from substrate.scopes import paths

Policy = Mapping[str, Any]
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")


@dataclass(frozen=True, slots=True)
class Field:
    """One field: the kinds of namespace that know it, its default, what a value has to be (in words, and as a test)."""

    name: str
    kinds: tuple[str, ...]
    default: Any
    takes: str
    fits: Callable[[Any], bool]
    meaning: str


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= limits.METADATA_INTEGER


def _is_size(value: Any) -> bool:
    return _is_count(value) and value > 0


def _is_language(value: Any) -> bool:
    return isinstance(value, str) and _LANGUAGE.fullmatch(value) is not None


def _is_one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def _is_everybody_or_list(value: Any) -> bool:
    if value == "all":
        return True
    listed = isinstance(value, list | tuple) and 0 < len(value) <= limits.BATCH_MAX
    return listed and all(isinstance(item, str) and 0 < len(item) <= limits.REF_BYTES for item in value)


_OPEN = ("global", "plain")
_LIST = "all or a list of principals"

FIELDS: Final = (
    Field(
        "governance.auto_persona_trigger_every_n_memories",
        paths.KINDS,
        0,
        "a whole number from 0",
        _is_count,
        "make an entity's persona again after so many new reflections about it; 0 means never",
    ),
    Field(
        "governance.auto_reflect_every_n_observations",
        paths.KINDS,
        0,
        "a whole number from 0",
        _is_count,
        "let the curator reflect on so many new observations about a registered entity; 0 means never",
    ),
    Field(
        "governance.auto_export_personas_to_filesystem",
        paths.KINDS,
        False,
        "true or false",
        _is_bool,
        "write each new persona to a Markdown file",
    ),
    Field(
        "governance.auto_export_reflections_to_filesystem",
        paths.KINDS,
        False,
        "true or false",
        _is_bool,
        "write each new reflection to a Markdown file",
    ),
    Field(
        "agent_write",
        ("project",),
        "propose",
        "propose or direct",
        _is_one_of("propose", "direct"),
        "whether agents ask before project memory changes, or write it themselves",
    ),
    Field(
        "readers",
        ("agent",),
        "owner",
        "owner or roster",
        _is_one_of("owner", "roster"),
        "who reads an agent's memory besides the agent: its owner, or every registered human",
    ),
    Field("readers", _OPEN, "all", _LIST, _is_everybody_or_list, "the principals that may read here"),
    Field("write", _OPEN, "all", _LIST, _is_everybody_or_list, "those of the readers that may write here"),
    Field(
        "strict",
        ("global",),
        False,
        "true or false",
        _is_bool,
        "refuse the store on a machine that has no anchor for it, until `audit adopt` makes one",
    ),
    Field("caps.entry_bytes", paths.KINDS, None, "a whole number from 1", _is_size, "most bytes of one memory"),
    Field("caps.total_bytes", paths.KINDS, None, "a whole number from 1", _is_size, "most bytes of live memories"),
    Field("language", paths.KINDS, None, "a language tag such as en or pt-BR", _is_language, "what texts here are in"),
    Field("public", ("project",), False, "true or false", _is_bool, "whether the project's page is open to everybody"),
)
_OF_KIND: Final = {(kind, field.name): field for field in FIELDS for kind in field.kinds}
# The fields the access rules look at, by kind of namespace.
ACCESS_FIELDS: Final = {
    "agent": ("readers",),
    "project": ("agent_write",),
    "global": ("readers", "write"),
    "plain": ("readers", "write"),
}


def field_of(path: str, name: str) -> Field:
    """Return the field that a namespace knows under this name; raise `Invalid` naming the nearest one it does know."""
    kind = paths.kind_of(path)
    if found := _OF_KIND.get((kind, name)):
        return found
    known = names_of(path)
    near = get_close_matches(name[: limits.REF_BYTES], known, n=1, cutoff=0.4)
    elsewhere = sorted({owner for owner, field in _OF_KIND if field == name})
    hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
    if elsewhere:
        hint = f"{name} belongs to namespaces of kind {', '.join(elsewhere)}"
    raise Invalid(
        f"{quote(name)} is no policy field of {quote(path)}, a namespace of kind {kind}",
        hint=hint,
        fields={"field": "unknown"},
    )


def names_of(path: str) -> list[str]:
    """List the fields a namespace knows, by name."""
    kind = paths.kind_of(path)
    return sorted(field for owner, field in _OF_KIND if owner == kind)


def check(path: str, name: str, value: Any) -> Any:
    """Return the value to store: lists sorted and each item once. None means "not set here" and always fits."""
    field = field_of(path, name)
    if value is None:
        return None
    if not field.fits(value):
        raise Invalid(
            f"policy field {name} of {quote(path)} takes {field.takes}, not {quote(value)}",
            hint=f"{name}: {field.meaning}",
            fields={"value": "type"},
        )
    return sorted(set(value)) if isinstance(value, list | tuple) else value


def asked(path: str, name: str) -> tuple[str, ...]:
    """List the namespaces that may set a field for a path, nearest first."""
    found = paths.chain(path)
    return (*found, paths.GLOBAL) if name.startswith("governance.") and paths.GLOBAL not in found else found


def resolve(policies: Mapping[str, Policy], path: str, name: str) -> tuple[Any, str | None]:
    """Return a field's value for a path and the namespace that set it, None when it is the default.

    `policies` maps the paths that exist to the fields each of them sets itself.
    """
    field = field_of(path, name)
    for place in asked(path, name):
        value = policies.get(place, {}).get(name)
        if value is not None:
            return value, place
    return field.default, None
