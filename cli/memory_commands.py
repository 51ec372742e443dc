"""Commands on single memories."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cli import show
from cli.door import AnyNamespace, As, AsJson, Namespace, answer, json_value, opened, say, text_from

Text = Annotated[str, typer.Argument(help="The text; - reads standard input.")]
Id = Annotated[str, typer.Argument(help="An id, or the name of a memory.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command(epilog="Example: ai-memory init")(init)
    app.command(epilog='Example: ai-memory remember "Alice moved to Lisbon" --tag travel')(remember)
    app.command(epilog='Example: ai-memory recall "where does Alice live"')(recall)
    app.command(epilog="Example: ai-memory get mem-01k…")(get)
    app.command("list", epilog="Example: ai-memory list --kind reflection")(list_)
    app.command(epilog='Example: ai-memory edit mem-01k… "Alice moved to Porto"')(edit)
    app.command(epilog='Example: ai-memory retire mem-01k… "no longer true"')(retire)
    app.command(epilog='Example: ai-memory forget mem-01k… "asked to" --cascade')(forget)
    app.command(
        epilog='Example: ai-memory reflect "Where Alice lives" "Alice lives in Lisbon." --from mem-01k… -e alice'
    )(reflect)


def init(as_json: AsJson = False) -> None:
    """Make the store and your key; the first write does it too."""
    from substrate.actions.audit import status

    with opened() as memory:
        answer(status(memory), as_json, show.status)


def remember(
    text: Text,
    namespace: Namespace = "global",
    name: Annotated[str | None, typer.Option(help="A plain name; the memory of that name is replaced.")] = None,
    about: Annotated[str | None, typer.Option(help="What it is about, in one line.")] = None,
    title: Annotated[str | None, typer.Option(help="A title, one line.")] = None,
    memory_type: Annotated[str, typer.Option("--type", help="What it claims: fact, preference, decision, …")] = "fact",
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be repeated.")] = None,
    for_agent: Annotated[list[str] | None, typer.Option("--for", help="Only for this agent; may be repeated.")] = None,
    metadata: Annotated[str | None, typer.Option(help="Further fields, as a JSON object.")] = None,
    valid_from: Annotated[str | None, typer.Option(help="When it began to hold.")] = None,
    valid_until: Annotated[str | None, typer.Option(help="When it ceased to hold.")] = None,
    key: Annotated[str | None, typer.Option("--idempotency-key", help="Repeat a write safely.")] = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Store an observation."""
    from substrate.actions import memory as actions

    with opened(principal) as memory:
        found = actions.remember(
            memory,
            text=text_from(text),
            namespace=namespace,
            name=name,
            description=about,
            title=title,
            memory_type=memory_type,
            tags=tag or (),
            applies_to=for_agent,
            metadata=json_value(metadata, "metadata") if metadata is not None else None,
            valid_from=valid_from,
            valid_until=valid_until,
            idempotency_key=key,
        )
    answer(found, as_json, show.written)


def recall(
    query: Annotated[str, typer.Argument(help="What to look for, in words.")],
    namespace: AnyNamespace = None,
    most: Annotated[int, typer.Option("--max", help="Hits at most.")] = 6,
    chars: Annotated[int, typer.Option(help="Characters of content at most.")] = 2000,
    kind: Annotated[str | None, typer.Option(help="observation, reflection or persona.")] = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Find the memories that answer a question, with scores and citations."""
    from substrate.actions import recall as actions

    with opened(principal) as memory:
        found = actions.recall(memory, query=query, namespace=namespace, max=most, chars=chars, kind=kind)
    vector = found["arms"].get("vector", {})
    if not as_json and vector.get("why_not"):
        say(f"by meaning: {vector['why_not']}")
    answer(found, as_json, show.hits)


def get(id: Id, namespace: AnyNamespace = None, principal: As = None, as_json: AsJson = False) -> None:
    """Read one memory."""
    from substrate.actions import memory as actions

    with opened(principal) as memory:
        found = actions.get(memory, id=id, namespace=namespace)
    answer(found, as_json, show.memory)


def list_(
    namespace: AnyNamespace = None,
    all_: Annotated[bool, typer.Option("--all", help="Superseded, retired and forgotten ones too.")] = False,
    kind: Annotated[str | None, typer.Option(help="observation, reflection or persona.")] = None,
    memory_type: Annotated[str | None, typer.Option("--type", help="fact, preference, decision, …")] = None,
    tag: Annotated[str | None, typer.Option(help="Only with this tag.")] = None,
    entity: Annotated[str | None, typer.Option("--entity", "-e", help="Only about this entity.")] = None,
    limit: Annotated[int | None, typer.Option(help="Rows a page.")] = None,
    offset: Annotated[int | None, typer.Option(help="Rows to skip.")] = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """List memories, newest first."""
    from substrate.actions import memory as actions

    with opened(principal) as memory:
        found = actions.list_(
            memory,
            namespace=namespace,
            all=all_,
            kind=kind,
            memory_type=memory_type,
            tag=tag,
            entity=entity,
            limit=limit,
            offset=offset,
        )
    answer(found, as_json, show.listed)


def edit(
    id: Id,
    text: Text,
    title: Annotated[str | None, typer.Option(help="A new title.")] = None,
    namespace: AnyNamespace = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Reword a memory; the old wording stays readable as superseded."""
    from substrate.actions import memory as actions

    with opened(principal) as memory:
        found = actions.edit(memory, id=id, text=text_from(text), title=title, namespace=namespace)
    answer(found, as_json, show.written)


def retire(
    id: Id,
    why: Annotated[str, typer.Argument(help="The reason.")],
    namespace: AnyNamespace = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Close a memory with a reason; its text stays readable."""
    from substrate.actions import memory as actions

    with opened(principal) as memory:
        found = actions.retire(memory, id=id, why=why, namespace=namespace)
    answer(found, as_json, show.written)


def forget(
    id: Id,
    why: Annotated[str | None, typer.Argument(help="The reason.")] = None,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Also what rests on it, persona versions included.")
    ] = False,
    keep_supported: Annotated[bool, typer.Option(help="Keep what has other sources too.")] = False,
    namespace: AnyNamespace = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Erase a memory's text; `ai-memory impact` shows beforehand what falls with it."""
    from curator import actions

    with opened(principal) as memory:
        found = actions.forget(
            memory, id=id, why=why, cascade=cascade, keep_supported=keep_supported, namespace=namespace
        )
    answer(found, as_json, show.forgotten)
    say("the old text leaves the file with `ai-memory rewrite`")


def reflect(
    title: Annotated[str, typer.Argument(help="A title, one line.")],
    text: Text,
    sources: Annotated[list[str], typer.Option("--from", help="A memory it rests on; may be repeated.")],
    entity: Annotated[str | None, typer.Option("--entity", "-e", help="Whom or what it is about.")] = None,
    namespace: Namespace = "global",
    metadata: Annotated[str | None, typer.Option(help="Further fields, as a JSON object.")] = None,
    memory_type: Annotated[str, typer.Option("--type", help="fact, decision, procedure, …")] = "fact",
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be repeated.")] = None,
    valid_from: Annotated[str | None, typer.Option(help="When it began to hold.")] = None,
    valid_until: Annotated[str | None, typer.Option(help="When it ceased to hold.")] = None,
    key: Annotated[str | None, typer.Option("--idempotency-key", help="Repeat a write safely.")] = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Write a reflection that rests on other memories."""
    from curator import actions

    given: dict[str, Any] = {"valid_from": valid_from, "valid_until": valid_until, "idempotency_key": key}
    with opened(principal) as memory:
        found = actions.reflect(
            memory,
            title=title,
            text=text_from(text),
            sources=sources,
            entity_id=entity,
            namespace=namespace,
            metadata=json_value(metadata, "metadata") if metadata is not None else None,
            memory_type=memory_type,
            tags=tag or (),
            **given,
        )
    answer(found, as_json, show.reflected)
