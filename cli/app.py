"""The command ``ai-memory``: its commands, its version, and the one place where errors end.

Source: docs/spec/model.md §5.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cli import (
    audit_commands,
    demo,
    graph_commands,
    memory_commands,
    persona_commands,
    settings,
    space_commands,
    who_commands,
)
from cli.door import INVOCATION, refuse, say
from substrate.errors import AiMemoryError

app = typer.Typer(
    name="ai-memory",
    help="Memory for agents and the people around them: every claim cited, every change signed.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (memory_commands, graph_commands, persona_commands):
    module.register(app)
app.add_typer(graph_commands.entity, name="entity")
app.add_typer(space_commands.space, name="space")
app.add_typer(who_commands.who, name="who")
app.add_typer(audit_commands.audit, name="audit")
audit_commands.register(app)
demo.register(app)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"ai-memory {version('ai-memory')}")
        raise typer.Exit


@app.callback()
def _before(
    principal: Annotated[
        str | None, typer.Option("--as", metavar="PRINCIPAL", help="Act as this handle or id.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer with JSON on standard output.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    INVOCATION.principal, INVOCATION.as_json = principal, as_json


def main() -> None:
    """Run a command; every error a user can meet ends here with its exit code and without a traceback."""
    as_json = "--json" in sys.argv
    try:
        app()
    except AiMemoryError as error:
        refuse(error, as_json)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        say(f"error: unforeseen: {type(error).__name__}: {error}")
        say("hint: this is a fault of ai-memory; set AI_MEMORY_TRACE=1 to see where, and report it")
        if settings.trace():
            raise
        sys.exit(1)
