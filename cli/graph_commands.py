"""Commands on links and on what lies around a memory."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import picture, show
from cli.door import Answer, AnyNamespace, Words, command, group, say

if TYPE_CHECKING:
    from substrate.home import Memory

Id = Annotated[str, typer.Argument(help="An id, or the name of a memory.")]
Depth = Annotated[int | None, typer.Option(help="Links to follow at most.")]

app = group()


@command(app, show.link, "link mem-01k… mem-01k… --relation contradicts")
def link(
    memory: "Memory",
    source: Id,
    target: Id,
    relation: Annotated[
        str, typer.Option(help="derived_from, supersedes, contradicts, related_to, depends_on or mentions.")
    ],
    valid_from: Annotated[str | None, typer.Option(help="When it began to hold.")] = None,
    valid_until: Annotated[str | None, typer.Option(help="When it ceased to hold.")] = None,
    attest: Annotated[bool, typer.Option("--attest", help="Vouch for it with your own key.")] = False,
) -> Answer:
    """Tie one memory to another."""
    from substrate.actions import graph as actions

    return actions.link(
        memory,
        source=source,
        target=target,
        relation=relation,
        valid_from=valid_from,
        valid_until=valid_until,
        attest=attest,
    )


@command(app, show.paths, "paths mem-01k… mem-01k… --depth 4", tolerates=True)
def paths(memory: "Memory", source: Id, target: Id, depth: Depth = None) -> Answer:
    """Show every path from one memory to another, shortest first."""
    from substrate.actions import graph as actions

    return actions.paths(memory, source=source, target=target, depth=depth)


@command(app, None, "graph mem-01k… --depth 2 --picture graph.svg", tolerates=True)
def graph(
    memory: "Memory",
    id: Id,
    relation: Annotated[str | None, typer.Option(help="Only links of this relation.")] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="What leads here, not what it leads to.")] = False,
    depth: Depth = None,
    to: Annotated[Path | None, typer.Option("--picture", help="Write an SVG picture here.")] = None,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Answer with a Mermaid diagram.")] = False,
) -> tuple[Answer, Words]:
    """Show the memories around one, and the links between them."""
    from substrate.actions import graph as actions

    found = actions.neighbourhood(memory, id=id, relation=relation, reverse=reverse, depth=depth)
    if to is not None:
        picture.save(found, to)
        say(f"picture: {to}")
    return found, picture.mermaid if mermaid else show.graph


@command(app, show.timeline, "timeline alice", tolerates=True)
def timeline(
    memory: "Memory",
    id: Annotated[str, typer.Argument(help="A memory's id or name, or an entity.")],
    namespace: AnyNamespace = None,
) -> Answer:
    """Show what happened to a memory or an entity, in order."""
    from substrate.actions import graph as actions

    return actions.timeline(memory, id=id, namespace=namespace)


@command(app, show.impact, "impact mem-01k…", tolerates=True)
def impact(
    memory: "Memory",
    id: Id,
    namespace: AnyNamespace = None,
    keep_supported: Annotated[bool, typer.Option("--keep-supported", help="As with forget --keep-supported.")] = False,
) -> Answer:
    """Show what `forget --cascade` would take with a memory, without doing it."""
    from substrate.actions import graph as actions

    return actions.impact(memory, id=id, namespace=namespace, keep_supported=keep_supported)
