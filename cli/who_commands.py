"""The commands ``who``: principals and their credentials."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audit.attestation import locked
from cli import report
from cli.door import Answer, command, group, passphrase, say
from substrate.errors import Invalid

if TYPE_CHECKING:
    from substrate.home import Memory

Who = Annotated[str, typer.Argument(help="A handle or id.")]
Instance = Annotated[str | None, typer.Option(help="Good for this copy of the agent only.")]
COLUMNS = ("handle", "kind", "id", "owner_id", "sealed", "retired_at")

app = group(name="who", help="Humans and agents, their keys and tokens.")


@command(app, report.fields, "who add agent probe", create=True)
def add(
    memory: "Memory",
    kind: Annotated[str, typer.Argument(help="human or agent.")],
    handle: Annotated[str, typer.Argument(help="A name in lower case.")],
    owner: Annotated[str | None, typer.Option(help="An agent's human; you unless given.")] = None,
    lead: Annotated[str | None, typer.Option(help="Who else corrects what the curator wrote of it.")] = None,
) -> Answer:
    """Add a human or an agent, with a key in this home."""
    from substrate.actions import scopes

    return scopes.who_add(memory, kind=kind, handle=handle, owner=owner, lead=lead)


@command(app, lambda found: report.table(found, COLUMNS), "who list", name="list")
def list_(memory: "Memory") -> Answer:
    """List the principals of this store."""
    from substrate.actions import scopes

    return scopes.who_list(memory)


@command(app, report.principal, "who show probe", name="show")
def show_(memory: "Memory", name: Who) -> Answer:
    """Show a principal, whether its key is sealed and, if you may change them, its credentials."""
    from substrate.actions import scopes

    return scopes.who_show(memory, principal=name)


@command(app, lambda found: str(found["token"]), "who token probe")
def token(memory: "Memory", name: Who, instance: Instance = None) -> Answer:
    """Make a bearer token; it is shown this once."""
    from substrate.actions import scopes

    found = scopes.who_token(memory, principal=name, instance=instance)
    say("keep it now: the store holds only its hash")
    return found


@command(app, report.fields, "who key probe 6b0c…")
def key(
    memory: "Memory",
    name: Who,
    public_key: Annotated[str, typer.Argument(help="An Ed25519 public key, 64 hex digits.")],
    instance: Instance = None,
) -> Answer:
    """Register a public key of a principal."""
    from substrate.actions import scopes

    return scopes.who_key(memory, principal=name, public_key=public_key, instance=instance)


@command(app, report.fields, "who revoke cred-01k…")
def revoke(memory: "Memory", credential: Annotated[str, typer.Argument(help="The credential's id.")]) -> Answer:
    """End a key or token."""
    from substrate.actions import scopes

    return scopes.who_revoke(memory, credential=credential)


@command(app, lambda _: "your key is sealed: the passphrase is asked for when you decide something", "who seal")
def seal(
    memory: "Memory",
    new_passphrase_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file whose first line is the new passphrase.")
    ] = None,
) -> Answer:
    """Lock your key with a passphrase, or with another one, so that no program decides in your name."""
    from substrate.actions import seals

    if memory.witness is None:
        raise locked(memory.caller.id)
    word = passphrase(new_passphrase_file, new=True)
    if word is None:
        raise Invalid("there is no terminal to ask on", hint="--new-passphrase-file", fields={"passphrase": "missing"})
    seals.seal(memory, word)
    return {"sealed": True}


@command(app, lambda _: "your key lies open again: whoever reads it can act as you", "who unseal")
def unseal(memory: "Memory") -> Answer:
    """Take the passphrase from your key again."""
    from substrate.actions import seals

    seals.unseal(memory)
    return {"sealed": False}


@command(app, report.fields, "who retire probe")
def retire(memory: "Memory", name: Who) -> Answer:
    """End a principal: it reads and writes nothing any more, and what it wrote stays."""
    from substrate.actions import scopes

    return scopes.who_retire(memory, principal=name)
