"""Declare every action once: its name, what it takes, whether it writes. Doors call it from here.

An action is a function of a ``Memory`` and keyword arguments that answers with JSON. Its parameters are its schema. An
action above the home's capability tier refuses, whichever door calls it.

Source: docs/spec/model.md §5; docs/spec/requirements.md S3-20.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from importlib import import_module
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from substrate.config import TIERS
from substrate.errors import Invalid, Refused
from substrate.escape import quote
from substrate.home import Memory

Json = dict[str, Any]
Run = Callable[..., Json]


@dataclass(frozen=True)
class Action:
    """One thing a principal can ask for; ``summary`` is the first line of its documentation.

    ``tier`` is the lowest capability tier (``config.TIERS``) at which it may be asked for.
    """

    name: str
    run: Run
    writes: bool
    tier: str = "keyword"

    @property
    def summary(self) -> str:
        """Say in one line what it does."""
        return (inspect.getdoc(self.run) or "").partition("\n")[0]

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The arguments it takes, by name; ``progress`` is for callers in this process and no argument."""
        _, *found = inspect.signature(self.run).parameters.items()
        return {name: parameter for name, parameter in found if name != "progress"}

    @property
    def tells(self) -> bool:
        """Say whether it takes a function ``progress`` and tells it how far it has come."""
        return "progress" in inspect.signature(self.run).parameters

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """The type of each argument, as annotated."""
        hints = get_type_hints(self.run)
        return {name: hints[name] for name in self.parameters}

    @property
    def schema(self) -> Json:
        """Give its arguments as a JSON schema of an object with these properties and no others."""
        properties = {name: json_schema(hint) for name, hint in self.types.items()}
        for name, parameter in self.parameters.items():
            if parameter.default not in (parameter.empty, None, ()):
                properties[name]["default"] = parameter.default
        required = [name for name, parameter in self.parameters.items() if parameter.default is parameter.empty]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


ACTIONS: dict[str, Action] = {}
_MODULES = ("audit", "graph", "memory", "recall", "scopes")  # curator.actions registers its own


def action(name: str, *, writes: bool, tier: str = "keyword") -> Callable[[Run], Run]:
    """Register the decorated function as an action, which from then on refuses under a ceiling below ``tier``."""

    def register(run: Run) -> Run:
        if name in ACTIONS:
            raise RuntimeError(f"two actions are called {name}")

        @wraps(run)
        def under_ceiling(memory: Memory, **arguments: Any) -> Json:
            check_tier(name, tier, memory.config.tier)
            return run(memory, **arguments)

        ACTIONS[name] = Action(name, under_ceiling, writes, tier)
        return under_ceiling

    return register


def check_tier(what: str, needed: str, ceiling: str) -> None:
    """Refuse what needs a higher capability tier than the ceiling that is set."""
    if TIERS.index(needed) > TIERS.index(ceiling):
        raise Refused(
            f"{what} needs the capability tier {needed}; the ceiling here is {ceiling}",
            hint=f"raise the ceiling to {needed}: --tier, AI_MEMORY_TIER, or tier in config.toml",
            reason="tier",
            needed=needed,
            ceiling=ceiling,
        )


def load() -> None:
    """Import the modules that declare actions in this package, so that ``ACTIONS`` holds them."""
    for module in _MODULES:
        import_module(f"substrate.actions.{module}")


def call(memory: Memory, name: str, arguments: Mapping[str, Any] | None = None) -> Json:
    """Run an action by name.

    Raises Invalid for an unknown action, and for an argument that is unknown, missing or of another type; Refused for
    an action above the home's capability tier.
    """
    load()
    found = ACTIONS.get(name)
    if found is None:
        raise Invalid(f"no action {quote(name)}", hint=f"there are: {', '.join(sorted(ACTIONS))}")
    return found.run(memory, **fitting(found, arguments or {}))


def fitting(
    action: Action,
    arguments: Mapping[str, Any],
    *,
    door: str | None = None,
    names: Mapping[str, str] = {},
    hides: Collection[str] = (),
) -> dict[str, Any]:
    """Give the arguments of an action by its own names, each of its type.

    A door may call the action ``door`` and its arguments as ``names`` says, own name to the door's, and have none of
    those it ``hides``. Raises Invalid in the door's words for an argument that is unknown, missing or of another type.
    """
    own = {names.get(name, name): name for name in action.parameters if name not in hides}
    unknown = sorted(arguments.keys() - own.keys())
    required = {names.get(name, name) for name, p in action.parameters.items() if p.default is p.empty}
    wrong = [n for n, name in own.items() if n in arguments and not _fits(arguments[n], action.types[name])]
    fields = dict.fromkeys(unknown, "unknown") | dict.fromkeys(sorted(required - arguments.keys()), "missing")
    fields |= dict.fromkeys(wrong, "type")
    if fields:
        said = {n: f"has to be {_form(action.types[own[n]])}" for n in wrong}
        wrongs = ", ".join(f"{quote(n)} {said.get(n, f'is {what}')}" for n, what in fields.items())
        raise Invalid(
            f"{door or action.name}: {wrongs}",
            hint=f"it takes {', '.join(own)}",
            fields=fields,
        )
    return {own[n]: value for n, value in arguments.items()}


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a JSON value is of an annotated type."""
    kind, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if kind is Union or kind is UnionType:
        return any(_fits(value, one) for one in inner)
    if kind is Sequence:
        return isinstance(value, list | tuple) and all(_fits(item, inner[0]) for item in value)
    if kind is Mapping:
        return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
    return isinstance(value, hint) and not (hint is int and isinstance(value, bool))


def _form(hint: Any) -> str:
    """Say in words what JSON value is of an annotated type."""
    found = json_schema(hint)
    if "anyOf" in found:
        return " or ".join(_FORMS[one["type"]] for one in found["anyOf"])
    if found.get("type") == "array" and found["items"].get("type") == "string":
        return "a list of strings"
    return _FORMS[found["type"]]


_FORMS = {"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
_FORMS |= {"array": "a list", "object": "an object"}
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def json_schema(hint: Any) -> Json:
    """Give the JSON schema of an annotated type. None is not named: what may be None may be left out."""
    kind, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if kind is Union or kind is UnionType:
        kinds = [json_schema(one) for one in inner if one is not type(None)]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if kind is Sequence:
        return {"type": "array", "items": json_schema(inner[0])}
    if kind is Mapping:
        return {"type": "object"}
    return {"type": _JSON_TYPES[hint]}
