"""The command ``demo``: tell a three-week story into a fresh home and show what the product does with it."""

import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import picture, report, show, story
from cli.door import INVOCATION, Answer, command, group, progress, write
from substrate.errors import Conflict

if TYPE_CHECKING:
    from substrate.home import Memory


app = group()


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


@command(app, lambda found: _AFTER.format(program=_program(), **found), "demo --home tides", opens=False)
def demo(
    folder: Annotated[
        Path | None, typer.Option("--home", help="An empty folder for the story; a new temporary one unless given.")
    ] = None,
) -> Answer:
    """Write a three-week story into a home of its own; show recall, a persona, its proof, and forgetting."""
    from substrate.home import Memory

    folder = (folder or Path(tempfile.mkdtemp(prefix="ai-memory-demo-"))).absolute()
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise Conflict(f"{folder} is not an empty folder", hint="choose another one with --home")
    clock = StoryClock()
    memory = Memory.open(folder / "home", state_dir=folder / "state", clock=clock, human=story.PERSON)
    try:
        ok = _play(memory, clock, folder)
    finally:
        memory.close()
    return {"ok": ok, "home": str(folder / "home"), "state": str(folder / "state"), "picture": str(folder / "mara.svg")}


_AFTER = """
The story stays in its home. Look around in it:
$ export AI_MEMORY_HOME={home} AI_MEMORY_STATE={state}
$ {program} list"""


def _program() -> str:
    """Say how this program is called from the shell: by its name where that finds it, else by its place."""
    place = Path(sys.executable).with_name("ai-memory")
    found = shutil.which("ai-memory")
    return shlex.quote(str(place)) if place.exists() and found != str(place) else "ai-memory"


def _play(memory: "Memory", clock: StoryClock, folder: Path) -> bool:
    ids = _three_weeks(memory, clock)
    persona = _reading(memory)
    _forgetting(memory, ids[story.SECRET], persona["id"])
    return _holding(memory, folder)


def _three_weeks(memory: "Memory", clock: StoryClock) -> dict[str, str]:
    """Let three voices write, day by day, with a persona in between; give the ids of what they wrote by key."""
    from curator import actions as curator
    from substrate.actions import memory as memories
    from substrate.actions import scopes

    voices = {story.PERSON: memory}
    for agent in story.AGENTS:
        scopes.who_add(memory, kind="agent", handle=agent)
        voices[agent] = memory.as_(agent)
    ids: dict[str, str] = {}
    days: list[Any] = sorted((*story.OBSERVED, *story.REFLECTED), key=lambda one: one.day)
    first_persona = next(one for one in days if one.day >= story.FIRST_PERSONA_DAY)
    for number, one in enumerate(days, start=1):
        clock.day(one.day)
        if one is first_persona:
            curator.persona_generate(memory, entity="mara", model="extractive")
        voice = voices[one.by]
        if isinstance(one, story.Seen):
            ids[one.key] = memories.remember(voice, text=one.text)["id"]
        else:
            below = [ids[key] for key in one.rests_on]
            made = curator.reflect(voice, title=one.title, text=one.text, sources=below, entity_id="Mara")
            ids[one.key] = made["id"]
            _tie(voice, one.key, ids)
        progress("three weeks", number, len(days))
    people = f"{story.PERSON} and the agents {' and '.join(story.AGENTS)}"
    _say(f"Three weeks of a small team: {people} wrote {len(story.OBSERVED)} observations and")
    _say(f"{len(story.REFLECTED)} reflections on them. This is what the store does with that.")
    return ids


def _reading(memory: "Memory") -> Answer:
    from curator import actions as curator
    from substrate.actions import recall

    _step("What the store knows about a question", f'ai-memory recall "{story.QUESTION}" --max 2')
    _say(show.hits(recall.recall(memory, query=story.QUESTION, max=2)))
    _step("The persona, written anew: every claim has a footnote", "ai-memory persona mara --regenerate")
    made = curator.persona_generate(memory, entity="mara", model="extractive")
    _say(show.persona(made))
    _step("What changed since the version of a week before", "ai-memory persona mara --diff")
    _say(show.difference(curator.persona_diff(memory, entity="mara")))
    _step("Who says so? Footnote 3, down to what was observed", "ai-memory persona mara --why 3")
    _say(show.why(curator.persona_why(memory, entity="mara", footnote=3)))
    persona: Answer = made["persona"]
    return persona


def _forgetting(memory: "Memory", seen: str, persona: str) -> None:
    from curator import actions as curator
    from substrate.actions import audit, graph

    _step("A path from the persona down to one observation", f"ai-memory paths {persona} {seen} --depth 3")
    _say(show.paths(graph.paths(memory, source=persona, target=seen, depth=3)))
    _step("That was said in confidence. What would go with it?", f"ai-memory impact {seen}")
    _say(show.impact(graph.impact(memory, id=seen)))
    _step("Forget it, and every sentence that rests on it", f'ai-memory forget {seen} "said in confidence" --cascade')
    _say(show.forgotten(curator.forget(memory, id=seen, why="said in confidence", cascade=True)))
    _step("The persona without it", "ai-memory persona mara")
    _say(show.persona(curator.persona(memory, entity="mara")))
    _step("Copy the file anew, so that the words are gone from the disk", "ai-memory rewrite")
    _say(report.rewritten(audit.rewrite(memory)))


def _holding(memory: "Memory", folder: Path) -> bool:
    from curator import actions as curator
    from substrate.actions import audit, graph

    _step("Does everything hold?", "ai-memory audit verify")
    found = audit.verify(memory)
    _say(report.verified(found))
    persona = curator.persona(memory, entity="mara")["persona"]
    first = persona["sources"][0]
    _step("What its first sentence rests on, drawn with Mermaid", f"ai-memory graph {first} --depth 1 --mermaid")
    _say(picture.mermaid(graph.neighbourhood(memory, id=first, depth=1)))
    target = folder / "mara.svg"
    _step("The whole persona as a picture", f"ai-memory graph {persona['id']} --picture {target}")
    picture.save(graph.neighbourhood(memory, id=persona["id"], relation="derived_from", depth=2), target)
    _say(f"picture: {target}")
    return bool(found["ok"])


def _tie(voice: "Memory", key: str, ids: Mapping[str, str]) -> None:
    """Write the links the story knows: what a thought replaces or contradicts."""
    from substrate.actions import graph

    for relation, pairs in (("supersedes", story.REPLACES), ("contradicts", story.CONTRADICTS)):
        for newer, older in pairs:
            if newer == key:
                graph.link(voice, source=ids[newer], target=ids[older], relation=relation)


def _step(title: str, line: str) -> None:
    _say(f"\n--- {title}\n$ {line}\n")


def _say(text: str) -> None:
    """Tell the story on standard output, headings too, so that they keep their order in a pipe."""
    if not INVOCATION.as_json:
        write(text)
