"""The command ``distil``."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.door import Answer, Namespace, command, group, progress
from substrate.escape import line, terminal

if TYPE_CHECKING:
    from substrate.home import Memory

app = group()


def words(found: Answer) -> str:
    """What was written, or would be, about whom, from what, and what was dropped for which reason."""
    blocks = [_entity(one, found["dry_run"]) for one in found["entities"]]
    return "\n\n".join(blocks) or f"nothing new was observed of any registered entity in {line(found['namespace'])}"


def _entity(one: Answer, dry_run: bool) -> str:
    if not one["considered"] and not one["reflections"]:
        wait = f"; {one['left']} wait" if one["left"] else ""
        return f"{line(one['display'])}: nothing new was observed{wait}"
    would = " would be written" if dry_run else ""
    due = "; a persona is due" if one["persona_due"] else ""
    left = f"; {one['left']} more wait for the next time" if one["left"] else ""
    counts = f"{_count(one['considered'], 'observation')}, {_count(len(one['reflections']), 'reflection')}"
    rows = [f"{line(one['display'])}: {counts}{would} by {line(one['model'])}{left}{due}"]
    for made in one["reflections"]:
        since = f" (since {made['valid_from'][:10]})" if made["valid_from"] else ""
        rows.append(f"{made['id'] or '-'}  {line(made['title'])}{since}, rests on {', '.join(made['sources'])}")
        rows.append("\n".join(f"> {part}" for part in terminal(made["text"]).split("\n")))
    rows += [
        f"dropped from {lost['id'] or 'none'}: {line(lost['reason'])}: {line(lost['text'])}" for lost in one["dropped"]
    ]
    return "\n".join(rows)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


@command(app, words, "distil alice --dry-run")
def distil(
    memory: "Memory",
    ctx: typer.Context,
    entity: Annotated[
        str | None, typer.Argument(help="Whom or what to reflect on; every registered entity unless given.")
    ] = None,
    namespace: Namespace = "global",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Look once more at what was looked at before.")] = False,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="cheap, extractive, ollama/<model> or openai/<model>.")
    ] = None,
) -> Answer:
    """Let the curator write reflections on what was observed of an entity, and say what it dropped and why."""
    from cli import background
    from curator import actions

    found = actions.distil(
        memory, entity=entity, namespace=namespace, again=again, dry_run=dry_run, model=model, progress=progress
    )
    if any(one["persona_due"] for one in found["entities"]):
        ctx.call_on_close(lambda: background.start(memory))  # once the answer is out
    return found
