"""The command ``mcp``: serve agents over the Model Context Protocol, and enter the server into their settings."""

import os
from typing import Annotated

import typer
from typer.core import TyperGroup

from cli.door import INVOCATION, Answer, As, AsJson, as_json, command, say
from substrate.errors import Invalid

app = typer.Typer(
    name="mcp",
    cls=TyperGroup,
    help="Serve agents over the Model Context Protocol, on standard input and output.",
    epilog="Example: ai-memory --as scout mcp",
    rich_markup_mode=None,
    invoke_without_command=True,
)

Profile = Annotated[str, typer.Option(help="Which tools to offer: default, or full.")]


def _checked(profile: str) -> str:
    if profile not in ("default", "full"):
        raise Invalid(f"no profile {profile!r:.80}", hint="there are default and full")
    return profile


def _written(found: Answer) -> str:
    server = found["server"]
    if not found["changed"]:
        return f"nothing to do: ai-memory is {'not ' if server is None else ''}in {found['path']}"
    does = (
        ("would take" if found["dry_run"] else "took")
        if server is None
        else "would add"
        if found["dry_run"]
        else "added"
    )
    if server is None:
        return f"{does} ai-memory out of {found['path']}"
    return f"{does} ai-memory to {found['path']}\n{as_json({'ai-memory': server})}"


@app.callback()
def serve(
    context: typer.Context,
    profile: Profile = "default",
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Serve agents over the Model Context Protocol, on standard input and output, until these are closed."""
    INVOCATION.said(principal, None, as_json)
    if context.invoked_subcommand is not None:
        return
    from cli import mcp_wire

    inlet, outlet = mcp_wire.claim()  # before anything is imported that could print
    from cli.mcp_tools import PROFILES

    tools = PROFILES[_checked(profile)]
    if os.isatty(inlet):
        say("waiting for a client on standard input; Ctrl-C ends it")
    from cli import mcp_server

    mcp_server.serve(tools, _version(), inlet, outlet)


@command(app, _written, "mcp install claude-code", name="install", opens=False)
def enter(
    client: Annotated[str, typer.Argument(help="claude-code or cursor.")],
    scope: Annotated[str, typer.Option(help="user: for all you do; project: for this folder.")] = "user",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take it out again.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace another server called ai-memory.")] = False,
    profile: Profile = "default",
) -> Answer:
    """Enter the server into a client's settings; what stood there is kept beside them.

    The client then acts as you do now: as the principal of --as, under the ceiling of --tier, with this store.
    """
    from cli import mcp_install

    path = mcp_install.place(client, scope)
    server = None if undo else mcp_install.entry(_checked(profile))
    if server is None:
        changed = mcp_install.undo(path, dry_run=dry_run)
    else:
        changed = mcp_install.install(path, server, force=force, dry_run=dry_run)
    return {"path": str(path), "server": server, "changed": changed, "dry_run": dry_run}


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("ai-memory")
    except metadata.PackageNotFoundError:
        return "0"  # run from its sources
