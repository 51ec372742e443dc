"""Read the development data: long dialogues and what was learnt from them, by people who did not write this program.

LoCoMo: five dialogues of two speakers. Turns are what they said, facts what was observed of a speaker, each with the
turns it follows from; events are the gold of a persona; a question names the turns that hold its answer.
RealMem: five people, each over months with an assistant. Turns are those a memory was extracted from, verbatim; facts
are these memories; a question names the facts that answer it.

The data is not part of the project: `AI_MEMORY_BENCH_DATA` names its folder, else `../shared/data`. Nothing here knows
the product.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCOMO = Path("locomo", "locomo_dev.json")
REALMEM = "*_dialogues_256k.json"
ADVERSARIAL = "5"  # the kind of question that asks for what was never said

_LABEL = re.compile(r"\s*【([^】]*)】\s*")


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said. `id` is unique in its sample, `date` RFC 3339 in UTC, `text` has the caption of an image."""

    id: str
    session: int
    date: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """What was learnt of a person, in the session and at the time of the turns it follows from; these are never none.

    `title` is the label the data gives it, if any.
    """

    id: str
    about: str
    session: int
    date: str
    text: str
    turns: tuple[str, ...]
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one kind with the ids of what answers it: turns in LoCoMo, facts in RealMem.

    Asked at `date`, in the session of that number; in LoCoMo when all is over.
    """

    text: str
    kind: str
    evidence: frozenset[str]
    date: str | None = None
    session: int | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One dialogue, or one person: turns and facts in the order they came. `events` maps people to their gold."""

    data: str
    name: str
    people: tuple[str, ...]
    turns: tuple[Turn, ...]
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]
    events: Mapping[str, tuple[str, ...]]

    @property
    def namespace(self) -> str:
        """Name the sample as a namespace, `locomo/conv-26`."""
        return f"{self.data}/{self.name}"

    def content(self, turn: Turn) -> str:
        """Give a turn as it is remembered: with the speaker in front where two people talk."""
        return f"{turn.speaker}: {turn.text}" if self.data == "locomo" else turn.text

    def about(self, person: str) -> tuple[Fact, ...]:
        """Pick the facts about one person."""
        return tuple(fact for fact in self.facts if fact.about == person)


class Absent(Exception):
    """The development data is not there; the message says where it was looked for."""


def default_folder() -> Path:
    """Name the folder of the data: `AI_MEMORY_BENCH_DATA`, else `shared/data` beside the project."""
    return Path(os.environ.get("AI_MEMORY_BENCH_DATA") or ROOT.parent / "shared" / "data")


def samples(folder: Path, only: str | None = None, limit: int | None = None) -> list[Sample]:
    """Read all samples, or those of one data set, at most `limit` of each. Raises Absent."""
    readers = {"locomo": locomo, "realmem": realmem}
    return [sample for name, read in readers.items() if only in (None, name) for sample in islice(read(folder), limit)]


# --- LoCoMo --------------------------------------------------------------------------------------------------


def locomo(folder: Path) -> Iterator[Sample]:
    """Yield the LoCoMo dialogues in the order of the file. Raises Absent."""
    path = folder / LOCOMO
    if not path.exists():
        raise Absent(f"no development data at {path}; AI_MEMORY_BENCH_DATA names its folder")
    for content in json.loads(path.read_text(encoding="utf-8")):
        yield _dialogue(content)


def _dialogue(content: Mapping[str, Any]) -> Sample:
    talk = content["conversation"]
    turns = tuple(
        Turn(turn["dia_id"], number, _spoken(talk[f"session_{number}_date_time"]), turn["speaker"], _said(turn))
        for number, session in _numbered(talk, "session_{}")
        for turn in session
    )
    by_id = {turn.id: turn for turn in turns}
    people = (talk["speaker_a"], talk["speaker_b"])
    events: dict[str, list[str]] = {person: [] for person in people}
    for _, entry in _numbered(content["event_summary"], "events_session_{}"):
        for person in people:
            events[person] += entry.get(person, ())
    found = ((qa, _evidence(qa.get("evidence") or (), by_id)) for qa in content["qa"])
    return Sample(
        data="locomo",
        name=content["sample_id"],
        people=people,
        turns=turns,
        facts=tuple(_observed(content, by_id)),
        questions=tuple(Question(qa["question"], str(qa["category"]), frozenset(ids)) for qa, ids in found if ids),
        events={person: tuple(told) for person, told in events.items()},
    )


def _observed(content: Mapping[str, Any], by_id: Mapping[str, Turn]) -> Iterator[Fact]:
    """Yield what was observed of either speaker; an observation without a turn that exists is left out."""
    for number, entry in _numbered(content["observation"], "session_{}_observation"):
        for person, observed in entry.items():
            for place, (text, evidence) in enumerate(observed, 1):
                ids = _evidence([evidence] if isinstance(evidence, str) else evidence, by_id)
                if ids:
                    date = _spoken(content["conversation"][f"session_{number}_date_time"])
                    yield Fact(f"{person}/{number}/{place}", person, number, date, text, ids)


def _evidence(named: Sequence[str], known: Mapping[str, Turn]) -> tuple[str, ...]:
    """Read turn ids out of strings: several in one, `D:11:26`, leading zeros; what names no turn is left out."""
    parts = (re.fullmatch(r"D:?(\d+):0*(\d+)", part) for part in re.split(r"[;,\s]+", " ".join(named)))
    ids = (f"D{part[1]}:{part[2]}" for part in parts if part)
    return tuple(dict.fromkeys(id for id in ids if id in known))


def _said(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shared image: {caption}]" if caption else str(turn["text"])


def _numbered(entries: Mapping[str, Any], pattern: str) -> Iterator[tuple[int, Any]]:
    """Yield the entries named by a pattern with a number in it, by number."""
    shape = re.compile(pattern.format(r"(\d+)"))
    found = ((shape.fullmatch(key), value) for key, value in entries.items())
    yield from sorted(((int(match[1]), value) for match, value in found if match), key=lambda pair: pair[0])


def _spoken(text: str) -> str:
    """Read "1:56 pm on 8 May, 2023" as UTC."""
    return _written(datetime.strptime(text.replace(",", ""), "%I:%M %p on %d %B %Y"))


def _written(time: datetime) -> str:
    return time.replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# --- RealMem -------------------------------------------------------------------------------------------------


def realmem(folder: Path) -> Iterator[Sample]:
    """Yield the RealMem people by file name. Raises Absent."""
    paths = sorted((folder / "realmem").glob(REALMEM))
    if not paths:
        raise Absent(f"no development data in {folder / 'realmem'}; AI_MEMORY_BENCH_DATA names its folder")
    for path in paths:
        yield _person(json.loads(path.read_text(encoding="utf-8")))


def _person(content: Mapping[str, Any]) -> Sample:
    name = content["_metadata"]["person_name"].replace("_", " ")
    turns: dict[str, Turn] = {}
    facts: list[Fact] = []
    known: dict[tuple[str, str], str] = {}
    for number, session in enumerate(content["dialogues"], 1):
        for place, memory in enumerate(session["extracted_memory"], 1):
            turn = _source(memory, number, session)
            turns.setdefault(turn.id, turn)
            text, label = memory["content"], _LABEL.match(memory["content"])
            fact = Fact(
                id=f"{session['session_uuid']}/memory/{place}",
                about=name,
                session=number,
                date=turn.date,
                text=text[label.end() :] if label else text,
                turns=(turn.id,),
                title=label[1].strip() or None if label else None,
            )
            facts.append(fact)
            known.setdefault((session["session_uuid"], text), fact.id)
    return Sample(
        data="realmem",
        name=re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-"),
        people=(name,),
        turns=tuple(turns.values()),
        facts=tuple(facts),
        questions=tuple(_asked(content, known)),
        events={},
    )


def _source(memory: Mapping[str, Any], number: int, session: Mapping[str, Any]) -> Turn:
    """Give the turn a memory was extracted from; an entry of the schedule, which names none, has the last one."""
    if said := memory.get("source_content_snapshot"):
        place, speaker = memory["source_turn"], memory["source_role_snapshot"]
    else:
        place, turn = "last", session["dialogue_turns"][-1]
        speaker, said = turn["speaker"], turn["content"]
    return Turn(f"{session['session_uuid']}/{place}", number, _day(session), speaker, said)


def _asked(content: Mapping[str, Any], known: Mapping[tuple[str, str], str]) -> Iterator[Question]:
    """Yield each query whose answer names the memories it used."""
    for number, session in enumerate(content["dialogues"], 1):
        turns = session["dialogue_turns"]
        for turn, answer in pairwise(turns):
            pairs = [(used["session_uuid"], used["content"]) for used in answer.get("memory_used") or ()]
            ids = frozenset(known[pair] for pair in pairs if pair in known)
            if turn["is_query"] and ids:
                yield Question(turn["content"], "query", ids, _day(session), number)


def _day(session: Mapping[str, Any]) -> str:
    """Read "2025-12-24 (Wednesday)" as the first moment of that day, UTC."""
    return _written(datetime.strptime(session["current_time"][:10], "%Y-%m-%d"))
