"""Commands on links, entities and what lies around a memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli import picture, show
from cli.door import AnyNamespace, As, AsJson, Namespace, answer, opened, say

Id = Annotated[str, typer.Argument(help="An id, or the name of a memory.")]
Depth = Annotated[int | None, typer.Option(help="Links to follow at most.")]

entity = typer.Typer(help="Entities: whom and what memories are about.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command(epilog="Example: ai-memory link mem-01k… mem-01k… --relation contradicts")(link)
    app.command(epilog="Example: ai-memory paths mem-01k… mem-01k… --depth 4")(paths)
    app.command(epilog="Example: ai-memory graph mem-01k… --depth 2 --picture graph.svg")(graph)
    app.command(epilog="Example: ai-memory timeline alice")(timeline)
    app.command(epilog="Example: ai-memory impact mem-01k…")(impact)


def link(
    source: Id,
    target: Id,
    relation: Annotated[
        str, typer.Option(help="derived_from, supersedes, contradicts, related_to, depends_on or mentions.")
    ],
    valid_from: Annotated[str | None, typer.Option(help="When it began to hold.")] = None,
    valid_until: Annotated[str | None, typer.Option(help="When it ceased to hold.")] = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Tie one memory to another."""
    from substrate.actions import graph as actions

    with opened(principal) as memory:
        found = actions.link(
            memory,
            source=source,
            target=target,
            relation=relation,
            valid_from=valid_from,
            valid_until=valid_until,
        )
    answer(found, as_json, show.link)


def paths(source: Id, target: Id, depth: Depth = None, principal: As = None, as_json: AsJson = False) -> None:
    """Show every path from one memory to another, shortest first."""
    from substrate.actions import graph as actions

    with opened(principal) as memory:
        found = actions.paths(memory, source=source, target=target, depth=depth)
    answer(found, as_json, show.paths)


def graph(
    id: Id,
    relation: Annotated[str | None, typer.Option(help="Only links of this relation.")] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="What leads here, not what it leads to.")] = False,
    depth: Depth = None,
    to: Annotated[Path | None, typer.Option("--picture", help="Write an SVG picture here.")] = None,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Answer with a Mermaid diagram.")] = False,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Show the memories around one, and the links between them."""
    from substrate.actions import graph as actions

    with opened(principal) as memory:
        found = actions.neighbourhood(memory, id=id, relation=relation, reverse=reverse, depth=depth)
    if to is not None:
        picture.save(found, to)
        say(f"picture: {to}")
    answer(found, as_json, picture.mermaid if mermaid else show.graph)


def timeline(id: Id, namespace: AnyNamespace = None, principal: As = None, as_json: AsJson = False) -> None:
    """Show what happened to a memory or an entity, in order."""
    from substrate.actions import graph as actions

    with opened(principal) as memory:
        found = actions.timeline(memory, id=id, namespace=namespace)
    answer(found, as_json, show.timeline)


def impact(
    id: Id,
    namespace: AnyNamespace = None,
    keep_supported: Annotated[bool, typer.Option(help="As with forget --keep-supported.")] = False,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Show what `forget --cascade` would take with a memory, without doing it."""
    from substrate.actions import graph as actions

    with opened(principal) as memory:
        found = actions.impact(memory, id=id, namespace=namespace, keep_supported=keep_supported)
    answer(found, as_json, show.impact)


@entity.command("add", epilog='Example: ai-memory entity add alice --name "Alice Moreau" --kind person')
def entity_add(
    id: Annotated[str, typer.Argument(help="The entity's id.")],
    name: Annotated[str | None, typer.Option(help="The name to show.")] = None,
    kind: Annotated[str | None, typer.Option(help="person, project, …")] = None,
    namespace: Namespace = "global",
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Register an entity, or change the name it is shown by."""
    from substrate.actions import graph as actions

    with opened(principal) as memory:
        found = actions.entity_add(memory, entity=id, name=name, kind=kind, namespace=namespace)
    answer(found, as_json, show.entity_row)


@entity.command("alias", epilog="Example: ai-memory entity alias ally alice")
def entity_alias(
    alias: Annotated[str, typer.Argument(help="The other name.")],
    id: Annotated[str, typer.Argument(help="The entity it stands for.")],
    namespace: Namespace = "global",
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Let another name stand for an entity."""
    from substrate.actions import graph as actions

    with opened(principal) as memory:
        found = actions.entity_alias(memory, alias=alias, entity=id, namespace=namespace)
    answer(found, as_json, show.entity_row)


@entity.command("show", epilog="Example: ai-memory entity show alice")
def entity_show(
    id: Annotated[str, typer.Argument(help="The entity's id or an alias.")],
    namespace: Namespace = "global",
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Show what is known of an entity."""
    from substrate.actions import graph as actions

    with opened(principal) as memory:
        found = actions.entity_show(memory, entity=id, namespace=namespace)
    answer(found, as_json, show.entity)


@entity.command("merge", epilog="Example: ai-memory entity merge alice-m alice")
def entity_merge(
    gone: Annotated[str, typer.Argument(help="The id that goes.")],
    survivor: Annotated[str, typer.Argument(help="The id it goes on as.")],
    namespace: Namespace = "global",
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Let one entity go on as another; the persona of the one that goes is retired."""
    from substrate.actions import graph as actions

    with opened(principal) as memory:
        found = actions.entity_merge(memory, gone=gone, survivor=survivor, namespace=namespace)
    answer(found, as_json, show.merged)
