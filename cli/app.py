"""The command ``ai-memory``: its commands, and the one place where errors end.

Source: docs/spec/model.md §5.
"""

import gc
import itertools
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from cli import settings
from cli.door import INVOCATION, As, AsJson, Group, Tier, plain_streams, refuse, say, write
from substrate.errors import AiMemoryError, Invalid

T = TypeVar("T")

ROOMS = {
    "memory_commands": ("init", "remember", "recall", "get", "list", "edit", "retire", "forget", "reflect"),
    "persona_commands": ("persona",),
    "distil_command": ("distil",),
    "graph_commands": ("link", "paths", "graph", "timeline", "impact"),
    "entity_commands": ("entity",),
    "space_commands": ("space",),
    "who_commands": ("who",),
    "audit_commands": ("audit",),
    "store_commands": ("status", "tick", "backup", "restore", "doctor", "rewrite", "reindex"),
    "mcp_command": ("mcp",),
    "bench": ("bench",),
    "demo": ("demo",),
}
"""In which module of this package each command stands; a module's ``app`` holds one command or more, or is a group."""


class Rooms(Group):
    """Find a command in its module when it is asked for, so that a start pays for the command that runs alone."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands in the order of the table."""
        return [name for names in ROOMS.values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Give the command of this name, None when there is none."""
        room = next((room for room, names in ROOMS.items() if cmd_name in names), None)
        if room is None:
            return None
        group = typer.main.get_group(import_module(f"cli.{room}").app)
        return group.commands.get(cmd_name, group)


app = typer.Typer(
    name="ai-memory",
    cls=Rooms,
    help="Memory for agents and the people around them: every claim cited, every change signed.",
    epilog='Example: ai-memory remember "Alice moved to Lisbon"',
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib import metadata

        try:
            write(f"ai-memory {metadata.version('ai-memory')}")
        except metadata.PackageNotFoundError:
            write("ai-memory, not installed: run from its sources")
        raise typer.Exit


@app.callback()
def _before(
    principal: As = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="OWNER/NAME", help="The project you work in.")
    ] = None,
    as_json: AsJson = False,
    tier: Tier = None,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(
            "--passphrase-file", metavar="FILE", help="Open your sealed key with the first line of this file."
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    INVOCATION.said(principal, project, as_json, tier)
    INVOCATION.passphrase_file = passphrase_file


def main() -> NoReturn:
    """Run the command line of this process.

    The store is closed by then and nothing else waits for the end, so the interpreter is not taken apart piece by
    piece: that costs as much as opening the store.
    """
    code = run([_utf8(argument) for argument in sys.argv[1:]])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    os._exit(code)


def _utf8(argument: str) -> str:
    """Read an argument as UTF-8 where the locale could not; one that is not even that stays as it is."""
    try:
        return os.fsencode(argument).decode() if re.search("[\udc80-\udcff]", argument) else argument
    except UnicodeDecodeError:
        return argument


def run(arguments: Sequence[str]) -> int:
    """Run a command and give its exit code; every error a user can meet ends here, without a traceback."""
    gc.set_threshold(100_000)  # what a start loads stays; looking for garbage in it is a tenth of the work
    INVOCATION.reset("--json" in itertools.takewhile("--".__ne__, arguments))
    plain_streams()
    try:
        code = int(foreseen(lambda: app(list(arguments), prog_name="ai-memory", standalone_mode=False)) or 0)
    except AiMemoryError as error:
        code = refuse(error)
    except _USAGE as error:
        code = refuse(_misused(error))
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    if code == 130:
        say("interrupted")
    return code


def foreseen(run: Callable[[], T]) -> T:
    """Run something; what nobody foresaw becomes an error like every other, and keeps its traceback to itself."""
    try:
        return run()
    except (AiMemoryError, typer.Abort, _USAGE):
        raise
    except Exception as error:
        if settings.trace():
            raise
        fault = f"unforeseen: {type(error).__name__}: {error}"
        raise AiMemoryError(fault, hint="this is a fault of ai-memory; AI_MEMORY_TRACE=1 shows where") from error


_USAGE: Any = typer.BadParameter.__mro__[2]  # what typer raises for every wrong command line


def _misused(error: Any) -> Invalid:
    """Give a wrong command line the shape of every other error."""
    message, context = error.format_message().splitlines()[0], error.ctx
    path = context.command_path if context is not None else "ai-memory"
    hint = f"`{path} --help` shows how"
    if message.startswith("No such command") and context is not None:
        names = context.command.list_commands(context)
        near = get_close_matches(context.args[0] if context.args else message.split("'")[1], names, 3)
        hint = f"did you mean {' or '.join(near)}? {hint}" if near else hint
    elif message.startswith("No such option"):
        hint += "; put -- before a text that begins with a dash"
    return Invalid(message, hint=hint, reason="usage")
