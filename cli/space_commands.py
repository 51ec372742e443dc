"""Commands on namespaces and memberships."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import show
from cli.door import As, AsJson, answer, json_value, opened

Path = Annotated[str, typer.Argument(help="A namespace, such as team/alpha.")]

space = typer.Typer(
    help="Namespaces: who reads, who writes, what policy holds.", no_args_is_help=True, rich_markup_mode=None
)


@space.command("add", epilog="Example: ai-memory space add team/alpha")
def add(path: Path, principal: As = None, as_json: AsJson = False) -> None:
    """Make a namespace."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.space_add(memory, path=path)
    answer(found, as_json, show.fields)


@space.command("list", epilog="Example: ai-memory space list")
def list_(principal: As = None, as_json: AsJson = False) -> None:
    """List the namespaces you may read."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.space_list(memory)
    answer(found, as_json, lambda f: show.table(f, ("path", "kind", "access", "memories")))


@space.command("show", epilog="Example: ai-memory space show team/alpha")
def show_(path: Path, principal: As = None, as_json: AsJson = False) -> None:
    """Show a namespace with the policy in force."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.space_show(memory, path=path)
    answer(found, as_json, show.fields)


@space.command(
    "policy", epilog="Example: ai-memory space policy team/alpha governance.auto_persona_trigger_every_n_memories 5"
)
def policy(
    path: Path,
    field: Annotated[str, typer.Argument(help="The field.")],
    value: Annotated[str, typer.Argument(help="Its value as JSON; null takes it away.")],
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Set one field of a namespace's policy."""
    from substrate.actions import scopes

    plain = value if value[:1].isalpha() and value not in ("true", "false", "null") else json_value(value, "value")
    with opened(principal) as memory:
        found = scopes.space_policy(memory, path=path, field=field, value=plain)
    answer(found, as_json, show.fields)


@space.command("access", epilog="Example: ai-memory space access team/alpha ro")
def access(
    path: Path,
    mode: Annotated[str, typer.Argument(help="rw, ro or off.")],
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Make a namespace read-write, read-only or closed."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.space_access(memory, path=path, access=mode)
    answer(found, as_json, show.fields)


@space.command("member", epilog="Example: ai-memory space member projects/ana/apollo probe --trust member --role build")
def member(
    project: Annotated[str, typer.Argument(help="The project, such as projects/ana/apollo.")],
    who: Annotated[str, typer.Argument(help="The principal's handle or id.")],
    trust: Annotated[str, typer.Option(help="owner, admin, member or guest.")] = "member",
    role: Annotated[str | None, typer.Option(help="The role it holds.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="members:admin or project:admin, for humans.")] = None,
    leave: Annotated[bool, typer.Option("--leave", help="End the membership.")] = False,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Add a principal to a project, change its terms, or end its membership."""
    from substrate.actions import scopes

    with opened(principal) as memory:
        found = scopes.space_member(
            memory, project=project, principal=who, trust=trust, role=role, scopes=scope or (), leave=leave
        )
    answer(found, as_json, show.fields)
