"""What every command shares: its store opened as somebody, its answer on the right stream, its errors in one shape.

Data goes to standard output, everything else to standard error.
"""

import errno
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from audit.files import unblocked
from cli import settings
from substrate import limits
from substrate.errors import AiMemoryError, Forbidden, Integrity, Invalid, NotFound, Unavailable

if TYPE_CHECKING:
    from substrate.home import Memory

Answer = Mapping[str, Any]
Words = Callable[[Answer], str]

As = Annotated[
    str | None,
    typer.Option("--as", metavar="PRINCIPAL", help="Act as this handle or id; its key must lie in keys/."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer with JSON.")]
Tolerate = Annotated[
    bool, typer.Option("--tolerate", help="Leave out rows that are not what was written, and name them.")
]
Tier = Annotated[
    str | None,
    typer.Option("--tier", metavar="TIER", help="The ceiling for this run: keyword, semantic, smart or autonomous."),
]
Namespace = Annotated[str, typer.Option("--namespace", "-n", metavar="PATH", help="The namespace.")]
AnyNamespace = Annotated[
    str | None, typer.Option("--namespace", "-n", metavar="PATH", help="The namespace; all you may read unless given.")
]


@dataclass
class Invocation:
    """What was asked of this run, before the command's name or after it."""

    principal: str | None = None
    project: str | None = None
    as_json: bool = False
    tier: str | None = None
    passphrase_file: Path | None = None
    tolerate: bool = False

    def reset(self, as_json: bool = False) -> None:
        """Begin a run."""
        self.principal, self.project, self.as_json, self.tier = None, None, as_json, None
        self.passphrase_file = None
        self.tolerate = False

    def said(self, principal: str | None, project: str | None, as_json: bool, tier: str | None = None) -> None:
        """Take in what stands in one place; what stands nearer the end of the line wins."""
        self.principal = principal or self.principal
        self.project = project or self.project
        self.as_json = as_json or self.as_json
        self.tier = check_tier(tier) if tier is not None else self.tier


INVOCATION = Invocation()


class Group(TyperGroup):
    """Commands under one name, which show their help when none of them is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the command."""
        if not args and not ctx.resilient_parsing:
            write(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


def group(**options: Any) -> typer.Typer:
    """Make the app of one module: its commands are added by ``command``."""
    return typer.Typer(cls=Group, rich_markup_mode=None, **options)


def command(
    app: typer.Typer,
    words: Words | None,
    example: str,
    *,
    name: str | None = None,
    create: bool = False,
    opens: bool = True,
    tolerates: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function a command: it gets the open store first, and what it returns is printed as ``words`` says.

    Without ``words`` it returns them beside its answer. ``create`` makes a store where there is none; without ``opens``
    the function gets no store; one that ``tolerates`` can be asked to leave out rows that do not match. An answer that
    says ``ok: false`` ends with the exit code of Integrity.
    """

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        def answered(principal: str | None, as_json: bool, tolerate: bool = False, **given: Any) -> None:
            INVOCATION.said(principal, None, as_json)
            INVOCATION.tolerate = tolerate
            left: list[dict[str, str]] = []
            if opens:
                with opened(create=create) as memory:
                    found = vouching(memory, lambda: run(memory, **given))
                    left = left_out(memory)
            else:
                found = run(**given)
            shown, worded = (found, words) if words is not None else found
            answer({**shown, "rows_left_out": left} if tolerate else shown, worded)

        asked = list(inspect.signature(run).parameters.values())[1 if opens else 0 :]
        shared = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, default, annotation in (("principal", None, As), ("as_json", False, AsJson))
        ]
        if tolerates:
            shared.append(
                inspect.Parameter("tolerate", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Tolerate)
            )
        answered.__signature__ = inspect.Signature([*asked, *shared])  # type: ignore[attr-defined]
        app.command(name or run.__name__, help=inspect.getdoc(run), epilog=f"Example: ai-memory {example}")(answered)
        return run

    return register


def vouching(memory: "Memory", run: Callable[[], Any]) -> Any:
    """Run something; where it decides for the caller, whose key is sealed, open the key and run it again.

    What was refused wrote nothing. The store is not held while somebody types.
    """
    try:
        return run()
    except Forbidden as error:
        if error.details.get("reason") != "sealed" or error.details.get("principal_id") != memory.caller.id:
            raise
        word = passphrase()
        if word is None or memory.witness is not None:
            raise
        memory.unlock(word)
    return run()


def passphrase(place: Path | None = None, *, new: bool = False) -> str | None:
    """Give a passphrase: the first line of a file that was named, else what is typed, unseen, on a terminal.

    None where there is neither. Raises NotFound and Invalid for a file that has none.
    """
    place = place or (None if new else INVOCATION.passphrase_file or settings.read().passphrase_file)
    if place is not None:
        try:
            with open(place, encoding="utf-8", opener=unblocked) as file:
                return file.readline(4096).removesuffix("\n")
        except OSError as error:
            raise NotFound(f"{place} cannot be read: {error.strerror}", hint="check the path") from error
        except UnicodeDecodeError as error:
            raise Invalid(f"{place} is not text", hint="a passphrase is one line of UTF-8") from error
    if not _on_terminal():
        return None
    asked = "new passphrase" if new else "passphrase"
    return str(typer.prompt(asked, hide_input=True, confirmation_prompt=new, err=True))


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def check_tier(tier: str) -> str:
    """Return a capability tier unchanged. Raises Invalid for a name that is none."""
    from substrate.config import TIERS
    from substrate.escape import quote

    if tier not in TIERS:
        raise Invalid(f"{quote(tier)} is no capability tier", hint=f"there are {', '.join(TIERS)}", reason="tier")
    return tier


@contextmanager
def opened(*, create: bool = False) -> "Iterator[Memory]":
    """Open the store as the principal asked for; warn once when this machine has no anchor for it."""
    from audit.anchor import Situation
    from substrate.home import Memory

    found = settings.read()
    memory = Memory.open(
        found.home,
        as_=INVOCATION.principal or found.principal,
        project=INVOCATION.project,
        state_dir=found.state_dir,
        human=found.human,
        create=create,
        tolerant=INVOCATION.tolerate,
    )
    try:
        memory.config = settings.overlaid(memory.config)
        if INVOCATION.tier is not None:
            memory.config = replace(memory.config, tier=INVOCATION.tier)
        if memory.db.situation is Situation.UNANCHORED:
            way = "and keeps none: it is read-only here" if memory.db.read_only else "`ai-memory audit adopt` makes one"
            say(f"warning: this machine has no anchor for this store; {way}")
        yield memory
        if memory.db.ledger.state.partly:
            say("note: of a store this large only the rows shown were checked; `ai-memory audit verify` checks all")
    finally:
        memory.close()


def left_out(memory: "Memory") -> list[dict[str, str]]:
    """Name the rows that were left out, on standard error as well."""
    left = [{"table": table, "id": row, "message": message} for table, row, message in memory.db.left_out]
    if left:
        say(f"left out: {len(left)} rows that are not what the log committed to")
        for item in left:
            say(f"  {item['message']}")
    return left


def answer(found: Answer, words: Words) -> None:
    """Print an answer: as JSON, or in ``words``."""
    write(as_json(found) if INVOCATION.as_json else words(found))
    if found.get("ok") is False:
        raise typer.Exit(Integrity.exit_code)
    if found.get("within") is False:  # a limit that was asked for
        raise typer.Exit(1)


def as_json(found: Answer, indent: int | None = 2) -> str:
    """Give JSON in which no character can act on a terminal or deceive its reader: those are written as escapes."""
    from substrate.escape import INVISIBLE

    unicode = sys.stdout is None or (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(found, ensure_ascii=not unicode, indent=indent)
    return re.sub(f"[\x7f-\x9f\ud800-\udfff{INVISIBLE}]", lambda hidden: json.dumps(hidden[0])[1:-1], text)


def write(text: str) -> None:
    """Print data."""
    if text:
        _put(sys.stdout, text)


def say(text: str) -> None:
    """Print what is not data."""
    _put(sys.stderr, text)


def _put(stream: TextIO | None, text: str) -> None:
    """Print and flush. A reader that has gone away ends the run; a full disk is told."""
    if stream is None:  # closed by whoever started us
        return
    try:
        stream.write(text + "\n")
        stream.flush()
    except OSError as error:
        if stream is sys.stderr:
            return  # nowhere is left to say it
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # what is left in the buffer is not tried again
        if error.errno == errno.EPIPE:
            raise typer.Exit(141) from error  # as if the signal had ended us
        raise Unavailable(f"the answer could not be written: {error.strerror}", hint="free some space") from error


def plain_streams() -> None:
    """Let a terminal that cannot show a character get it spelled out."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def refuse(error: AiMemoryError) -> int:
    """Print an error on standard error, in words with its hint or as JSON; give its exit code."""
    from substrate.escape import terminal

    if INVOCATION.as_json:
        say(as_json(error.as_json(), indent=None))
    else:
        say(f"error: {terminal(error.message)}" + (f"\nhint: {terminal(error.hint)}" if error.hint else ""))
    return error.exit_code


def json_value(text: str | None, field: str) -> Any:
    """Read a JSON argument; None stays None. Raises Invalid, also for a key that stands twice in an object."""
    try:
        return None if text is None else json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise Invalid(
            f"{field} is not JSON: {error}", hint='such as \'{"project": "apollo"}\'', fields={field: "json"}
        ) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def text_from(text: str) -> str:
    """Give the text of an argument; ``-`` reads standard input, without its last line break.

    Raises Invalid for bytes that are not UTF-8 and for more than any memory holds.
    """
    if text != "-":
        return text
    data = sys.stdin.buffer.read(limits.JSON_BYTES + 1) if sys.stdin is not None else b""
    if len(data) > limits.JSON_BYTES:
        raise Invalid(
            f"standard input is over {limits.JSON_BYTES:,} bytes", hint="split it", fields={"text": "too_long"}
        )
    try:
        return data.decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"standard input is not UTF-8: {error.reason} at byte {error.start}",
            hint="convert it, for example with iconv",
            fields={"text": "encoding"},
        ) from error


def home() -> Path:
    """Give the folder of a store that is there, without opening it. Raises NotFound."""
    from substrate.store.db import FILE

    folder = settings.read().home
    if not (folder / FILE).exists():
        raise NotFound(f"no store in {folder}", hint="choose the folder with AI_MEMORY_HOME, or remember something")
    return folder


def progress(what: str, done: int, total: int) -> None:
    """Show how far long work has come, on a terminal and nowhere else."""
    if sys.stderr is None or not sys.stderr.isatty():
        return
    bar = "#" * (30 * done // total) if total else ""
    sys.stderr.write(f"\r{what} [{bar:<30}] {done} of {total} ")
    if done >= total:
        sys.stderr.write("\r" + " " * (len(what) + len(str(total)) * 2 + 42) + "\r")
    sys.stderr.flush()
