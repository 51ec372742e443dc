"""Commands on principals and their credentials."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import show
from cli.door import As, AsJson, answer, opened, say

Who = Annotated[str, typer.Argument(help="A handle or id.")]
Instance = Annotated[str | None, typer.Option(help="Good for this copy of the agent only.")]

who = typer.Typer(help="Humans and agents, their keys and tokens.", no_args_is_help=True, rich_markup_mode=None)


@who.command("add", epilog="Example: ai-memory who add agent probe")
def add(
    kind: Annotated[str, typer.Argument(help="human or agent.")],
    handle: Annotated[str, typer.Argument(help="A name in lower case.")],
    owner: Annotated[str | None, typer.Option(help="An agent's human; you unless given.")] = None,
    lead: Annotated[str | None, typer.Option(help="Who else corrects what the curator wrote of it.")] = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Add a human or an agent, with a key in this home."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.who_add(memory, kind=kind, handle=handle, owner=owner, lead=lead)
    answer(found, as_json, show.fields)


@who.command("list", epilog="Example: ai-memory who list")
def list_(principal: As = None, as_json: AsJson = False) -> None:
    """List the principals of this store."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.who_list(memory)
    answer(found, as_json, lambda f: show.table(f, ("handle", "kind", "id", "owner_id", "retired_at")))


@who.command("show", epilog="Example: ai-memory who show probe")
def show_(name: Who, principal: As = None, as_json: AsJson = False) -> None:
    """Show a principal and, if you may change them, its credentials."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.who_show(memory, principal=name)
    answer(found, as_json, show.fields)


@who.command("token", epilog="Example: ai-memory who token probe")
def token(name: Who, instance: Instance = None, principal: As = None, as_json: AsJson = False) -> None:
    """Make a bearer token; it is shown this once."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.who_token(memory, principal=name, instance=instance)
    answer(found, as_json, lambda f: f["token"])
    say("keep it now: the store holds only its hash")


@who.command("key", epilog="Example: ai-memory who key probe 6b0c…")
def key(
    name: Who,
    public_key: Annotated[str, typer.Argument(help="An Ed25519 public key, 64 hex digits.")],
    instance: Instance = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Register a public key of a principal."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.who_key(memory, principal=name, public_key=public_key, instance=instance)
    answer(found, as_json, show.fields)


@who.command("revoke", epilog="Example: ai-memory who revoke cred-01k…")
def revoke(
    credential: Annotated[str, typer.Argument(help="The credential's id.")],
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """End a key or token."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.who_revoke(memory, credential=credential)
    answer(found, as_json, show.fields)
