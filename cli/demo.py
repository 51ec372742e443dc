"""The command ``demo``: tell a three-week story into a fresh home and show what the product does with it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import picture, show, story
from cli.door import say, write
from substrate.errors import Conflict

if TYPE_CHECKING:
    from substrate.home import Memory


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: ai-memory demo --home /tmp/tides")(demo)


class StoryClock:
    """A clock that stands where the story is and moves on a minute each time it is read."""

    def __init__(self) -> None:
        self._now = datetime.strptime(story.START, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)

    def __call__(self) -> str:
        """Give the time and move on."""
        self._now += timedelta(minutes=1)
        return self._now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def day(self, number: int) -> None:
        """Go to the morning of a day of the story, never back."""
        start = datetime.strptime(story.START, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
        self._now = max(self._now, start + timedelta(days=number))


def demo(
    home: Annotated[
        Path | None, typer.Option(help="An empty folder for the story; a temporary one unless given.")
    ] = None,
) -> None:
    """Write a three-week story into a home of its own; show recall, a persona, its proof, and forgetting."""
    from substrate.home import Memory

    folder = home or Path(tempfile.mkdtemp(prefix="ai-memory-demo-"))
    if folder.exists() and any(folder.iterdir()):
        raise Conflict(f"{folder} is not empty", hint="choose an empty folder with --home")
    clock = StoryClock()
    memory = Memory.open(folder / "home", state_dir=folder / "state", clock=clock, human=story.PERSON)
    try:
        _tell(memory, clock, folder)
    finally:
        memory.close()
    say(f"\nThe story is in {folder}. Look around in it:")
    say(f"  AI_MEMORY_HOME={folder / 'home'} AI_MEMORY_STATE={folder / 'state'} ai-memory persona mara")


def _tell(memory: Memory, clock: StoryClock, folder: Path) -> None:
    from curator import actions as curator
    from substrate.actions import memory as memories
    from substrate.actions import recall, scopes

    voices = {story.PERSON: memory}
    for agent in story.AGENTS:
        scopes.who_add(memory, kind="agent", handle=agent)
        voices[agent] = memory.as_(agent)
    ids: dict[str, str] = {}
    days: list[Any] = sorted((*story.OBSERVED, *story.REFLECTED), key=lambda one: one.day)
    early = [one for one in days if one.day < story.FIRST_PERSONA_DAY]
    with typer.progressbar(length=len(days), label="three weeks", file=_stderr()) as bar:
        for one in days:
            clock.day(one.day)
            if one is days[len(early)]:
                curator.persona_generate(memory, entity="mara")
            voice = voices[one.by]
            if isinstance(one, story.Seen):
                ids[one.key] = memories.remember(voice, text=one.text)["id"]
            else:
                below = [ids[key] for key in one.rests_on]
                ids[one.key] = curator.reflect(voice, title=one.title, text=one.text, sources=below, entity_id="Mara")[
                    "id"
                ]
                _tie(voice, one.key, ids)
            bar.update(1)

    _step("What the store knows about a question", f'ai-memory recall "{story.QUESTION}" --max 3')
    write(show.hits(recall.recall(memory, query=story.QUESTION, max=3)))
    _step("The persona, written anew: every claim has a footnote", "ai-memory persona mara --regenerate")
    shown = curator.persona_generate(memory, entity="mara")
    write(show.persona(shown))
    _step("What changed since the version of a week before", "ai-memory persona mara --diff")
    write(show.difference(curator.persona_diff(memory, entity="mara")))
    _step("Who says so? Footnote 3, down to what was observed", "ai-memory persona mara --why 3")
    write(show.why(curator.persona_why(memory, entity="mara", footnote=3)))
    _forgetting(memory, ids, shown["persona"], folder)


def _forgetting(memory: Memory, ids: Mapping[str, str], persona: Mapping[str, Any], folder: Path) -> None:
    from curator import actions as curator
    from substrate.actions import audit, graph
    from substrate.store import recovery

    seen = ids[story.SECRET]
    _step("A path from the persona down to one observation", f"ai-memory paths {persona['id']} {seen} --depth 3")
    write(show.paths(graph.paths(memory, source=persona["id"], target=seen, depth=3)))
    _step("Something was said in confidence. What would go with it?", f"ai-memory impact {seen}")
    write(show.impact(graph.impact(memory, id=seen)))
    _step("Forget it, and every sentence that rests on it", f'ai-memory forget {seen} "said in confidence" --cascade')
    write(show.forgotten(curator.forget(memory, id=seen, why="said in confidence", cascade=True)))
    _step("The persona without it", "ai-memory persona mara")
    after = curator.persona(memory, entity="mara")
    write(show.persona(after))
    _step("Copy the file anew, so that the words are gone from the disk", "ai-memory rewrite")
    sizes = audit.rewrite(memory)
    write(f"rewritten: {sizes['bytes_before']:,} bytes before, {sizes['bytes_after']:,} after")
    _step("Does everything hold?", "ai-memory audit verify")
    memory.db.close()
    report = recovery.verify(memory.db.home, state_dir=memory.db.ledger.state_dir)
    write(f"{'ok' if report.ok else 'faults'}: {report.events} events and every row; anchored: {report.anchored}")
    around = graph.neighbourhood(memory, id=after["persona"]["id"], relation="derived_from", depth=2)
    target = folder / "mara.svg"
    picture.save(around, target)
    _step("What the first sentence rests on, as a picture", f"ai-memory graph {persona['id']} --picture {target}")
    first = after["persona"]["sources"][0]
    write(picture.mermaid(graph.neighbourhood(memory, id=first, depth=1)))
    say(f"the whole persona as a picture: {target}")
    if not report.ok:
        raise typer.Exit(7)


def _tie(voice: Memory, key: str, ids: Mapping[str, str]) -> None:
    """Write the links the story knows: what a thought replaces or contradicts."""
    from substrate.actions import graph

    for relation, pairs in (("supersedes", story.REPLACES), ("contradicts", story.CONTRADICTS)):
        for newer, older in pairs:
            if newer == key:
                graph.link(voice, source=ids[newer], target=ids[older], relation=relation)


def _step(title: str, command: str) -> None:
    say(f"\n{title}")
    say(f"$ {command}\n")


def _stderr() -> Any:
    import sys

    return sys.stderr
