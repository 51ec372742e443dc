"""What every command shares: opening the store as somebody, and answering on the right stream.

Data goes to standard output, everything else to standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from cli import settings
from substrate.errors import AiMemoryError, Invalid

As = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="PRINCIPAL", help="Act as this handle or id; its key must lie in keys/.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer with JSON on standard output.")]
Namespace = Annotated[str, typer.Option("--namespace", "-n", metavar="PATH", help="The namespace.")]
AnyNamespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", "-n", metavar="PATH", help="The namespace; all you may read unless given.", show_default=False
    ),
]


@dataclass
class Invocation:
    """What was said before the command's name."""

    principal: str | None = None
    project: str | None = None
    as_json: bool = False


INVOCATION = Invocation()


@contextmanager
def opened(principal: str | None = None, *, create: bool = True) -> Iterator[Any]:
    """Open the store as the principal asked for; warn once when this machine has no anchor for it."""
    from audit.anchor import Situation
    from substrate.home import Memory

    found = settings.read()
    memory = Memory.open(
        found.home,
        as_=principal or INVOCATION.principal or found.principal,
        state_dir=found.state_dir,
        human=found.human,
        create=create,
    )
    try:
        if memory.db.situation is Situation.UNANCHORED:
            say("warning: this machine has no anchor for this store; `ai-memory audit adopt` makes one")
        yield memory
    finally:
        memory.close()


def answer(found: Mapping[str, Any], as_json: bool, show: Callable[[Mapping[str, Any]], str]) -> None:
    """Print an answer: as JSON, or as ``show`` words it."""
    if as_json or INVOCATION.as_json:
        write(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        write(show(found))


def write(text: str) -> None:
    """Print data; a terminal that cannot show a character gets it spelled out."""
    if text:
        _put(sys.stdout, text)


def say(text: str) -> None:
    """Print what is not data."""
    _put(sys.stderr, text)


def _put(stream: Any, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()


def refuse(error: AiMemoryError, as_json: bool) -> None:
    """Print an error on standard error: in words with its hint, or as JSON."""
    from substrate.escape import terminal

    if as_json or INVOCATION.as_json:
        say(json.dumps(error.as_json(), ensure_ascii=False))
        return
    say(f"error: {terminal(error.message)}")
    if error.hint:
        say(f"hint: {terminal(error.hint)}")


def json_value(text: str, field: str) -> Any:
    """Read a JSON argument. Raises Invalid."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise Invalid(
            f"{field} is not JSON: {error}", hint='such as \'{"project": "apollo"}\'', fields={field: "json"}
        ) from error


def text_from(text: str) -> str:
    """Give the text of an argument; ``-`` reads standard input. Raises Invalid for bytes that are not UTF-8."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise Invalid(
            f"standard input is not UTF-8: {error.reason} at byte {error.start}", hint="convert it"
        ) from error
