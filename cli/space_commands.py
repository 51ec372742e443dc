"""The commands ``space``: namespaces and memberships."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli import report
from cli.door import Answer, command, group, json_value

if TYPE_CHECKING:
    from substrate.home import Memory

Path = Annotated[str, typer.Argument(help="A namespace, such as team/alpha.")]
Project = Annotated[str, typer.Argument(help="The project, such as projects/ana/apollo.")]

app = group(name="space", help="Namespaces: who reads, who writes, what policy holds.")


@command(app, report.fields, "space add team/alpha", create=True)
def add(memory: "Memory", path: Path) -> Answer:
    """Make a namespace."""
    from substrate.actions import scopes

    return scopes.space_add(memory, path=path)


@command(app, lambda found: report.table(found, ("path", "kind", "access", "memories")), "space list", name="list")
def list_(memory: "Memory") -> Answer:
    """List the namespaces you may read."""
    from substrate.actions import scopes

    return scopes.space_list(memory)


@command(app, report.space, "space show team/alpha", name="show")
def show_(memory: "Memory", path: Path) -> Answer:
    """Show a namespace with the policy in force."""
    from substrate.actions import scopes

    return scopes.space_show(memory, path=path)


@command(app, report.fields, "space policy team/alpha governance.auto_persona_trigger_every_n_memories 5")
def policy(
    memory: "Memory",
    path: Path,
    field: Annotated[str, typer.Argument(help="The field.")],
    value: Annotated[str, typer.Argument(help="Its value as JSON, or one word; null takes it away.")],
) -> Answer:
    """Set one field of a namespace's policy."""
    from substrate.actions import scopes

    word = value[:1].isalpha() and value not in ("true", "false", "null")
    return scopes.space_policy(memory, path=path, field=field, value=value if word else json_value(value, "value"))


@command(app, report.fields, "space access team/alpha ro")
def access(memory: "Memory", path: Path, mode: Annotated[str, typer.Argument(help="rw, ro or off.")]) -> Answer:
    """Make a namespace read-write, read-only or closed."""
    from substrate.actions import scopes

    return scopes.space_access(memory, path=path, access=mode)


@command(app, report.fields, "space member projects/ana/apollo probe --trust member --role build")
def member(
    memory: "Memory",
    project: Project,
    who: Annotated[str, typer.Argument(help="The principal's handle or id.")],
    trust: Annotated[str, typer.Option(help="owner, admin, member or guest.")] = "member",
    role: Annotated[str | None, typer.Option(help="The role it holds.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="members:admin or project:admin, for humans.")] = None,
    leave: Annotated[bool, typer.Option("--leave", help="End the membership.")] = False,
) -> Answer:
    """Add a principal to a project, change its terms, or end its membership."""
    from substrate.actions import scopes

    return scopes.space_member(
        memory, project=project, principal=who, trust=trust, role=role, scopes=scope or (), leave=leave
    )


@command(app, report.fields, "space accept projects/ana/apollo probe")
def accept(
    memory: "Memory",
    project: Project,
    who: Annotated[str | None, typer.Argument(help="An agent of yours; you unless given.")] = None,
) -> Answer:
    """Agree to a membership that somebody else made, yours or your agent's."""
    from substrate.actions import scopes

    return scopes.space_accept(memory, project=project, principal=who)
