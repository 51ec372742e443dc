"""The command ``persona``."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli import show
from cli.door import INVOCATION, Answer, Namespace, Words, command, group, progress, say, write
from substrate.errors import Invalid

if TYPE_CHECKING:
    from substrate.home import Memory

app = group()


@command(app, None, "persona alice --why 3")
def persona(
    memory: "Memory",
    entity: Annotated[str, typer.Argument(help="Whom or what the persona is about.")],
    namespace: Namespace = "global",
    regenerate: Annotated[bool, typer.Option("--regenerate", help="Write a new version first.")] = False,
    full: Annotated[bool, typer.Option("--full", help="With --regenerate: start afresh.")] = False,
    version: Annotated[int | None, typer.Option(help="Read this version.")] = None,
    history: Annotated[bool, typer.Option("--history", help="List the versions.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Compare the last two versions, or --before and --after.")
    ] = False,
    before: Annotated[int | None, typer.Option(help="With --diff: the earlier version.")] = None,
    after: Annotated[int | None, typer.Option(help="With --diff: the later version.")] = None,
    why: Annotated[int | None, typer.Option(metavar="N", help="Follow footnote N down to its observations.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Hold it against its claims, edges and event.")] = False,
) -> tuple[Answer, Words]:
    """Read the persona of an entity: Markdown in which every claim has a footnote to its reflection."""
    from curator import actions

    ways = {"--regenerate": regenerate, "--history": history, "--diff": diff, "--why": why is not None}
    _check(ways | {"--verify": verify, "--version": version is not None}, full, (before, after))
    place = {"entity": entity, "namespace": namespace}
    if history:
        return actions.persona_history(memory, **place), show.history
    if diff:
        return actions.persona_diff(memory, before=before, after=after, **place), show.difference
    if why is not None:
        return actions.persona_why(memory, footnote=why, **place), show.why
    if verify:
        return actions.persona_verify(memory, **place), show.checked
    if regenerate:
        found = actions.persona_generate(memory, full=full, progress=progress, **place)
        say(f"written by the built-in {found['persona']['model']} curator")
    else:
        found = actions.persona(memory, version=version, **place)
    if found["persona"] is None:
        if INVOCATION.as_json:
            write('{"persona": null}')
        raise actions.no_persona(entity, namespace)
    return found, show.persona


def _check(ways: dict[str, bool], full: bool, compared: tuple[int | None, int | None]) -> None:
    """Refuse options that would be passed over in silence."""
    asked = [name for name, on in ways.items() if on]
    if len(asked) > 1:
        raise Invalid(f"{' and '.join(asked)} go one at a time", hint="run one after the other")
    if full and not ways["--regenerate"]:
        raise Invalid("--full says how to --regenerate", hint="add --regenerate")
    if compared != (None, None) and not ways["--diff"]:
        raise Invalid("--before and --after say what to --diff", hint="add --diff")
