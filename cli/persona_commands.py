"""The command ``persona``."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import show
from cli.door import As, AsJson, Namespace, answer, opened, say, write


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: ai-memory persona alice --why 3")(persona)


def persona(
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
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Read the persona of an entity: Markdown in which every claim has a footnote to its reflection."""
    from curator import actions

    place = {"entity": entity, "namespace": namespace}
    with opened(principal, create=regenerate) as memory:
        if regenerate:
            found = actions.persona_generate(memory, full=full, **place)
            say(f"written by the built-in {found['persona']['model']} curator")
        elif history:
            return answer(actions.persona_history(memory, **place), as_json, show.history)
        elif diff:
            return answer(actions.persona_diff(memory, before=before, after=after, **place), as_json, show.difference)
        elif why is not None:
            return answer(actions.persona_why(memory, footnote=why, **place), as_json, show.why)
        elif verify:
            checked = actions.persona_verify(memory, **place)
            answer(checked, as_json, show.checked)
            if not checked["ok"]:
                raise typer.Exit(7)
            return None
        else:
            found = actions.persona(memory, version=version, **place)
    if found["persona"] is not None:
        return answer(found, as_json, show.persona)
    if as_json:
        write('{"persona": null}')
    error = actions.no_persona(entity, namespace)
    if not as_json:
        raise error
    say(f"{error.message}\nhint: {error.hint}")
    raise typer.Exit(error.exit_code)
