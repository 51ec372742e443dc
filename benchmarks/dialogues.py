"""Read the development data as people with dated facts, gold events and the turns the facts rest on.

LoCoMo: each speaker of a dialogue; facts are the `observation` entries, gold the `event_summary` entries.
RealMem: each person; facts are the extracted memories of all sessions, without gold events.
Nothing here knows the product: a fact is a text, a date and the turns it was made from.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Turn:
    """Hold what somebody said: a stable id, and the text."""

    id: str
    text: str


@dataclass(frozen=True)
class Fact:
    """Hold one fact about a person, when it was learnt (RFC 3339, UTC), in which session, from which turns."""

    text: str
    date: str
    session: int
    turns: tuple[Turn, ...] = ()
    title: str | None = None


@dataclass(frozen=True)
class Person:
    """Hold a person, the facts in the order they were learnt, the gold events, and who else is in the data."""

    data: str
    group: str
    name: str
    others: tuple[str, ...]
    facts: tuple[Fact, ...]
    gold: tuple[str, ...] = ()


def locomo(folder: Path) -> Iterator[Person]:
    """Yield both speakers of each LoCoMo dialogue."""
    for sample in json.loads((folder / "locomo" / "locomo_dev.json").read_text(encoding="utf-8")):
        talk = sample["conversation"]
        speakers = (talk["speaker_a"], talk["speaker_b"])
        for name in speakers:
            yield Person(
                "locomo",
                sample["sample_id"],
                name,
                tuple(other for other in speakers if other != name),
                tuple(_observed(sample, name)),
                tuple(
                    event
                    for _, events in _numbered(sample["event_summary"], "events_session_{}")
                    for event in events.get(name, [])
                ),
            )


def _numbered(entries: dict[str, Any], pattern: str) -> Iterator[tuple[int, Any]]:
    for number in range(1, len(entries) + 1):
        if (found := entries.get(pattern.format(number))) is not None:
            yield number, found


def _observed(sample: dict[str, Any], name: str) -> Iterator[Fact]:
    talk = sample["conversation"]
    said = {
        turn["dia_id"]: turn["text"] + (f" [shared image: {turn['blip_caption']}]" if turn.get("blip_caption") else "")
        for key, turns in talk.items()
        if re.fullmatch(r"session_\d+", key)
        for turn in turns
    }
    for number, entries in _numbered(sample["observation"], "session_{}_observation"):
        date = _spoken(talk[f"session_{number}_date_time"])
        for text, evidence in entries.get(name, []):
            named = evidence if isinstance(evidence, list) else [evidence]
            ids = [id for piece in named for id in re.findall(r"D\d+:\d+", piece.replace("D:", "D"))]
            turns = tuple(Turn(f"{sample['sample_id']}/{id}", said[id]) for id in ids if id in said)
            yield Fact(text, date, number, turns)


def _spoken(text: str) -> str:
    """Read "1:56 pm on 8 May, 2023" as UTC."""
    return _written(datetime.strptime(text.replace(",", ""), "%I:%M %p on %d %B %Y"))


def _written(time: datetime) -> str:
    return time.replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def realmem(folder: Path) -> Iterator[Person]:
    """Yield each RealMem person; the label before a memory becomes its title."""
    for path in sorted((folder / "realmem").glob("*_dialogues_256k.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        name = content["_metadata"]["person_name"].replace("_", " ")
        facts = [
            _extracted(memory, number, session["current_time"][:10])
            for number, session in enumerate(content["dialogues"], 1)
            for memory in session["extracted_memory"]
        ]
        yield Person("realmem", name, name, (), tuple(facts))


def _extracted(memory: dict[str, Any], session: int, day: str) -> Fact:
    label = re.match(r"\s*【([^】]*)】\s*", memory["content"])
    said = memory.get("source_content_snapshot") or ""
    turns = (Turn(f"{memory['session_uuid']}/{memory['source_turn']}", said),) if said else ()
    text = memory["content"][label.end() :] if label else memory["content"]
    date = _written(datetime.strptime(day, "%Y-%m-%d"))
    return Fact(text, date, session, turns, label[1] if label else None)
