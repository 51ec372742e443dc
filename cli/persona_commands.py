"""The command ``persona``."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from cli import show
from cli.door import INVOCATION, Answer, Namespace, Words, command, group, progress, say, write
from substrate.errors import Invalid

if TYPE_CHECKING:
    from substrate.home import Memory

app = group()


@command(app, None, "persona alice --why 3", tolerates=True)
def persona(
    memory: "Memory",
    entity: Annotated[str, typer.Argument(help="Whom or what the persona is about.")],
    namespace: Namespace = "global",
    regenerate: Annotated[bool, typer.Option("--regenerate", help="Write a new version first.")] = False,
    full: Annotated[bool, typer.Option("--full", help="With --regenerate: start afresh.")] = False,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --regenerate: cheap, extractive, ollama/<model> or openai/<model>."),
    ] = None,
    version: Annotated[int | None, typer.Option(help="Read this version.")] = None,
    as_of: Annotated[str | None, typer.Option(metavar="DATE", help="Read the version that was current then.")] = None,
    claims: Annotated[bool, typer.Option("--claims", help="List the claims with their numbers and ids.")] = False,
    pin: Annotated[
        str | None, typer.Option(metavar="CLAIM", help="Keep this claim word for word: its id or number.")
    ] = None,
    unpin: Annotated[str | None, typer.Option(metavar="CLAIM", help="Let go of a pinned claim.")] = None,
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
    ways |= {"--verify": verify, "--pin": pin is not None, "--unpin": unpin is not None, "--as-of": as_of is not None}
    ways["--claims"] = claims
    _check(ways | {"--version": version is not None}, full, model, (before, after))
    place = {"entity": entity, "namespace": namespace}
    if history:
        return actions.persona_history(memory, **place), show.history
    if diff:
        return actions.persona_diff(memory, before=before, after=after, **place), show.difference
    if why is not None:
        return actions.persona_why(memory, footnote=why, **place), show.why
    if verify:
        return actions.persona_verify(memory, **place), show.checked
    if pin is not None or unpin is not None:
        return actions.persona_pin(memory, claim=pin or unpin or "", pinned=pin is not None, **place), show.pinned
    if regenerate:
        begun = time.monotonic()
        found = actions.persona_generate(memory, full=full, model=model, progress=progress, **place)
        say(show.written_by(found, time.monotonic() - begun))
    else:
        found = actions.persona(memory, version=version, as_of=as_of, **place)
    if found["persona"] is None:
        if INVOCATION.as_json:
            write('{"persona": null}')
        raise actions.no_persona(entity, namespace)
    return found, show.claims if claims else show.persona


def _check(ways: dict[str, bool], full: bool, model: str | None, compared: tuple[int | None, int | None]) -> None:
    """Refuse options that would be passed over in silence."""
    asked = [name for name, on in ways.items() if on]
    if len(asked) > 1:
        raise Invalid(f"{' and '.join(asked)} go one at a time", hint="run one after the other")
    for name, given in (("--full", full), ("--model", model is not None)):
        if given and not ways["--regenerate"]:
            raise Invalid(f"{name} says how to --regenerate", hint="add --regenerate")
    if compared != (None, None) and not ways["--diff"]:
        raise Invalid("--before and --after say what to --diff", hint="add --diff")
