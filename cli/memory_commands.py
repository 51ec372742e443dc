"""Commands on single memories."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli import report, show
from cli.door import INVOCATION, Answer, AnyNamespace, Namespace, command, group, json_value, progress, say, text_from

if TYPE_CHECKING:
    from substrate.home import Memory

Text = Annotated[str, typer.Argument(help="The text; - reads standard input.")]
Id = Annotated[str, typer.Argument(help="An id, or the name of a memory.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")]
Metadata = Annotated[str | None, typer.Option(help="Further fields, as a JSON object.")]
ValidFrom = Annotated[str | None, typer.Option(help="When it began to hold.")]
ValidUntil = Annotated[str | None, typer.Option(help="When it ceased to hold.")]
Key = Annotated[str | None, typer.Option(help="Repeat a write safely: the same key writes once.")]

app = group()


@command(app, report.status, "init", create=True)
def init(memory: "Memory") -> Answer:
    """Make the store and your key; the first write does it too."""
    from substrate.actions.audit import status

    return status(memory)


@command(app, show.written, 'remember "Alice moved to Lisbon" --tag travel', create=True)
def remember(
    memory: "Memory",
    ctx: typer.Context,
    text: Text,
    namespace: Namespace = "global",
    name: Annotated[str | None, typer.Option(help="A plain name; the memory of that name is replaced.")] = None,
    about: Annotated[str | None, typer.Option(help="What it is about, in one line.")] = None,
    title: Annotated[str | None, typer.Option(help="A title, one line.")] = None,
    memory_type: Annotated[str, typer.Option("--type", help="What it claims: fact, preference, decision, …")] = "fact",
    tag: Tags = None,
    for_agent: Annotated[list[str] | None, typer.Option("--for", help="Only for this agent; may be repeated.")] = None,
    metadata: Metadata = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    idempotency_key: Key = None,
) -> Answer:
    """Store an observation."""
    from substrate.actions import memory as actions

    _followed(memory, ctx)
    return actions.remember(
        memory,
        text=text_from(text),
        namespace=namespace,
        memory_type=memory_type,
        name=name,
        title=title,
        description=about,
        tags=tag or (),
        metadata=json_value(metadata, "metadata"),
        applies_to=for_agent or None,
        valid_from=valid_from,
        valid_until=valid_until,
        idempotency_key=idempotency_key,
    )


@command(app, show.hits, 'recall "where does Alice live"', tolerates=True)
def recall(
    memory: "Memory",
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for, in words.")],
    namespace: AnyNamespace = None,
    most: Annotated[int | None, typer.Option("--max", help="Hits at most; 6 unless given.")] = None,
    chars: Annotated[int | None, typer.Option(help="Characters of content at most; 2,000 unless given.")] = None,
    tokens: Annotated[
        int | None, typer.Option(help="Whole memories of at most so many tokens, in place of --chars.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="observation, reflection or persona.")] = None,
    memory_type: Annotated[str | None, typer.Option("--type", help="fact, preference, decision, …")] = None,
    as_of: Annotated[str | None, typer.Option(help="Only what held in the world at this time.")] = None,
) -> Answer:
    """Find the memories that answer a question, with scores and citations."""
    from cli import background
    from substrate.actions import recall as actions

    found = actions.recall(
        memory,
        query=query,
        namespace=namespace,
        max=most,
        chars=chars,
        tokens=tokens,
        kind=kind,
        memory_type=memory_type,
        as_of=as_of,
        progress=progress,
    )
    why_not = found["arms"]["vector"]["why_not"]
    if why_not and not INVOCATION.as_json:
        say(f"by meaning: {why_not}")
    if background.lagging(found):
        _followed(memory, ctx)
    return found


@command(app, show.memory, "get mem-01k…", tolerates=True)
def get(memory: "Memory", id: Id, namespace: AnyNamespace = None) -> Answer:
    """Read one memory."""
    from substrate.actions import memory as actions

    return actions.get(memory, id=id, namespace=namespace)


@command(app, show.listed, "list --kind reflection", name="list", tolerates=True)
def list_(
    memory: "Memory",
    namespace: AnyNamespace = None,
    all: Annotated[bool, typer.Option("--all", help="Superseded, retired and forgotten ones too.")] = False,
    kind: Annotated[str | None, typer.Option(help="observation, reflection or persona.")] = None,
    memory_type: Annotated[str | None, typer.Option("--type", help="fact, preference, decision, …")] = None,
    tag: Annotated[str | None, typer.Option(help="Only with this tag.")] = None,
    entity: Annotated[str | None, typer.Option("--entity", "-e", help="Only about this entity.")] = None,
    limit: Annotated[int | None, typer.Option(help="Rows a page.")] = None,
    offset: Annotated[int | None, typer.Option(help="Rows to skip.")] = None,
) -> Answer:
    """List memories, newest first."""
    from substrate.actions import memory as actions

    return actions.list_(
        memory,
        namespace=namespace,
        all=all,
        kind=kind,
        memory_type=memory_type,
        tag=tag,
        entity=entity,
        limit=limit,
        offset=offset,
    )


@command(app, show.written, 'edit mem-01k… "Alice moved to Porto"')
def edit(
    memory: "Memory",
    ctx: typer.Context,
    id: Id,
    text: Text,
    title: Annotated[str | None, typer.Option(help="A new title.")] = None,
    namespace: AnyNamespace = None,
) -> Answer:
    """Reword a memory; the old wording stays readable as superseded."""
    from substrate.actions import memory as actions

    _followed(memory, ctx)
    return actions.edit(memory, id=id, text=text_from(text), title=title, namespace=namespace)


@command(app, show.written, 'retire mem-01k… "no longer true"')
def retire(
    memory: "Memory",
    id: Id,
    why: Annotated[str, typer.Argument(help="The reason.")],
    namespace: AnyNamespace = None,
) -> Answer:
    """Close a memory with a reason; its text stays readable."""
    from substrate.actions import memory as actions

    return actions.retire(memory, id=id, why=why, namespace=namespace)


@command(app, show.forgotten, 'forget mem-01k… "asked to" --cascade')
def forget(
    memory: "Memory",
    id: Id,
    why: Annotated[str | None, typer.Argument(help="The reason.")] = None,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Also what rests on it, persona versions included.")
    ] = False,
    keep_supported: Annotated[bool, typer.Option("--keep-supported", help="Keep what has other sources too.")] = False,
    namespace: AnyNamespace = None,
) -> Answer:
    """Erase a memory's text; `ai-memory impact` shows beforehand what falls with it."""
    from curator import actions

    found = actions.forget(memory, id=id, why=why, cascade=cascade, keep_supported=keep_supported, namespace=namespace)
    say("the old text leaves the file with `ai-memory rewrite`")
    return found


@command(
    app, show.reflected, 'reflect "Where Alice lives" "Alice lives in Lisbon." --from mem-01k… -e alice', create=True
)
def reflect(
    memory: "Memory",
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="A title, one line.")],
    text: Text,
    sources: Annotated[list[str], typer.Option("--from", metavar="ID", help="A memory it rests on; may be repeated.")],
    entity: Annotated[str | None, typer.Option("--entity", "-e", help="Whom or what it is about.")] = None,
    namespace: Namespace = "global",
    metadata: Metadata = None,
    memory_type: Annotated[str, typer.Option("--type", help="fact, decision, procedure, …")] = "fact",
    tag: Tags = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    idempotency_key: Key = None,
) -> Answer:
    """Write a reflection that rests on other memories."""
    from curator import actions

    found = actions.reflect(
        memory,
        title=title,
        text=text_from(text),
        sources=sources,
        entity_id=entity,
        namespace=namespace,
        metadata=json_value(metadata, "metadata"),
        memory_type=memory_type,
        tags=tag or (),
        valid_from=valid_from,
        valid_until=valid_until,
        idempotency_key=idempotency_key,
    )
    _followed(memory, ctx, due=found["persona_due"])
    return found


def _followed(memory: "Memory", ctx: typer.Context, *, due: bool = False) -> None:
    """Start the worker once the answer is out, where something is due or what was written gets a vector."""
    from cli import background

    if due or background.vectors(memory):
        ctx.call_on_close(lambda: background.start(memory))
