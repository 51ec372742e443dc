"""The commands ``entity``."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli import show
from cli.door import Answer, Namespace, command, group

if TYPE_CHECKING:
    from substrate.home import Memory

app = group(name="entity", help="Entities: whom and what memories are about.")


@command(app, show.entity_row, 'entity add alice --name "Alice Moreau" --kind person', create=True)
def add(
    memory: "Memory",
    id: Annotated[str, typer.Argument(help="The entity's id.")],
    name: Annotated[str | None, typer.Option(help="The name to show.")] = None,
    kind: Annotated[str | None, typer.Option(help="person, project, …")] = None,
    namespace: Namespace = "global",
) -> Answer:
    """Register an entity, or change the name it is shown by."""
    from substrate.actions import graph as actions

    return actions.entity_add(memory, entity=id, name=name, kind=kind, namespace=namespace)


@command(app, show.entity_row, "entity alias ally alice")
def alias(
    memory: "Memory",
    alias: Annotated[str, typer.Argument(help="The other name.")],
    id: Annotated[str, typer.Argument(help="The entity it stands for.")],
    namespace: Namespace = "global",
) -> Answer:
    """Let another name stand for an entity."""
    from substrate.actions import graph as actions

    return actions.entity_alias(memory, alias=alias, entity=id, namespace=namespace)


@command(app, show.entity, "entity show alice", name="show", tolerates=True)
def show_(
    memory: "Memory",
    id: Annotated[str, typer.Argument(help="The entity's id or an alias.")],
    namespace: Namespace = "global",
) -> Answer:
    """Show what is known of an entity."""
    from substrate.actions import graph as actions

    return actions.entity_show(memory, entity=id, namespace=namespace)


@command(app, show.merged, "entity merge alice-m alice")
def merge(
    memory: "Memory",
    ctx: typer.Context,
    gone: Annotated[str, typer.Argument(help="The id that goes.")],
    survivor: Annotated[str, typer.Argument(help="The id it goes on as.")],
    namespace: Namespace = "global",
) -> Answer:
    """Let one entity go on as another; the persona of the one that goes is retired."""
    from curator.persona import cadence
    from substrate.actions import graph as actions

    found = actions.entity_merge(memory, gone=gone, survivor=survivor, namespace=namespace)
    with memory.read() as r:
        due = any(cadence.due(r, entity, place) for entity, place in found["due"])
    if due:
        from cli import background

        ctx.call_on_close(lambda: background.start(memory))  # once the answer is out
    return found
