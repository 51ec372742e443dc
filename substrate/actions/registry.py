"""Declare every action once: its name, what it takes, whether it writes. Doors call it from here.

An action is a function of a ``Memory`` and keyword arguments that answers with JSON. Its parameters are its schema.

Source: docs/spec/model.md §5.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from substrate.errors import Invalid
from substrate.escape import quote
from substrate.home import Memory

Json = dict[str, Any]
Run = Callable[..., Json]


@dataclass(frozen=True)
class Action:
    """One thing a principal can ask for; ``summary`` is the first line of its documentation."""

    name: str
    run: Run
    writes: bool

    @property
    def summary(self) -> str:
        """Say in one line what it does."""
        return (inspect.getdoc(self.run) or "").partition("\n")[0]

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The arguments it takes, by name; ``progress`` is for callers in this process and no argument."""
        _, *found = inspect.signature(self.run).parameters.items()
        return {name: parameter for name, parameter in found if name != "progress"}

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """The type of each argument, as annotated."""
        hints = get_type_hints(self.run)
        return {name: hints[name] for name in self.parameters}


ACTIONS: dict[str, Action] = {}
_MODULES = ("audit", "graph", "memory", "recall", "scopes")  # curator.actions registers its own


def action(name: str, *, writes: bool) -> Callable[[Run], Run]:
    """Register the decorated function as an action."""

    def register(run: Run) -> Run:
        if name in ACTIONS:
            raise RuntimeError(f"two actions are called {name}")
        ACTIONS[name] = Action(name, run, writes)
        return run

    return register


def load() -> None:
    """Import the modules that declare actions in this package, so that ``ACTIONS`` holds them."""
    for module in _MODULES:
        import_module(f"substrate.actions.{module}")


def call(memory: Memory, name: str, arguments: Mapping[str, Any] | None = None) -> Json:
    """Run an action by name.

    Raises Invalid for an unknown action, and for an argument that is unknown, missing or of another type.
    """
    load()
    found = ACTIONS.get(name)
    if found is None:
        raise Invalid(f"no action {quote(name)}", hint=f"there are: {', '.join(sorted(ACTIONS))}")
    given = dict(arguments or {})
    unknown = sorted(given.keys() - found.parameters.keys())
    missing = sorted(n for n, p in found.parameters.items() if p.default is p.empty and n not in given)
    wrong = [n for n, hint in found.types.items() if n in given and not _fits(given[n], hint)]
    fields = dict.fromkeys(unknown, "unknown") | dict.fromkeys(missing, "missing") | dict.fromkeys(wrong, "type")
    if fields:
        said = {"type": "of another type"}
        raise Invalid(
            f"{name}: {', '.join(f'{quote(n)} is {said.get(what, what)}' for n, what in fields.items())}",
            hint=f"it takes {', '.join(found.parameters)}",
            fields=fields,
        )
    return found.run(memory, **given)


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
