"""Bits flipped in the bytes of events, and anywhere in the files of a home.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from audit.verify import verify_log
from curator import actions as _curator_actions  # noqa: F401  # registers what is called by name
from substrate import Memory
from substrate.actions import audit as _audit_actions  # noqa: F401
from substrate.actions import graph as _graph_actions  # noqa: F401
from substrate.actions import memory as _memory_actions  # noqa: F401
from substrate.actions import recall as _recall_actions  # noqa: F401
from substrate.actions import scopes as _scope_actions  # noqa: F401
from substrate.actions.registry import call
from substrate.errors import AiMemoryError, Integrity
from substrate.store import ledger
from substrate.store.inspection import inspect
from substrate.store.log import EventRow, event_rows
from tests.store.attacks import add
from tests.store.stores import Store

SECONDS = 120  # a process that takes longer over one flip counts as hanging
BATCH = 100  # flips a process of its own looks at


def bodies_and_signatures(folder: Path, events: int, seed: int) -> tuple[int, list[str]]:
    """Flip a bit of every byte of so many bodies and signatures; give their number and those that nobody noticed.

    Noticed means: the whole verification faults that event or the one chained to it, and showing the event is refused.
    """
    store, chance = Store(folder / "events"), random.Random(seed)
    with closing(store.create()) as db:
        add(db, *(f"mem-{number}" for number in range(events - 1)))
        add(db, "mem-head")  # the newest event is what opening looks at; those before it are flipped
    with store.opened() as db, db.connection() as connection:
        rows = event_rows(connection, 0)
        key = db.ledger.genesis_key
        targets = [row[1] + bytes(row[2] or b"") for row in rows[:-1]]
        bits = [[chance.randrange(8) for _ in target] for target in targets]
        missed = []
        for number, target in enumerate(targets):
            for place in range(len(target)):
                flipped = _with_flip(rows, number, place, bits[number][place])
                if not _showing_is_refused(db.ledger, connection, flipped, number):
                    missed.append(f"event {number + 1}, byte {place}: shown")
        for place in range(max(map(len, targets))):
            for odd in (0, 1):  # neighbours take turns, so that a fault belongs to one flip
                hit = [n for n, target in enumerate(targets) if n % 2 == odd and place < len(target)]
                flipped = list(rows)
                for number in hit:
                    flipped[number] = _with_flip(rows, number, place, bits[number][place])[number]
                faults, _ = verify_log(flipped, db.store_id, key, limit=10 * len(rows))
                named = {fault.sequence for fault in faults}
                missed += [f"event {n + 1}, byte {place}: verified" for n in hit if not {n + 1, n + 2} & named]
    return sum(map(len, targets)), missed


def _with_flip(rows: Sequence[EventRow], number: int, place: int, bit: int) -> list[EventRow]:
    sequence, data, signature, key_id = rows[number]
    both = bytearray(data + bytes(signature or b""))
    both[place] ^= 1 << bit
    changed = list(rows)
    changed[number] = (sequence, bytes(both[: len(data)]), bytes(both[len(data) :]), key_id)
    return changed


def _showing_is_refused(log: ledger.Ledger, connection: Any, rows: Sequence[EventRow], number: int) -> bool:
    """Ask the log for one event, as `audit log` and `audit prove` do, where the file holds these rows."""

    def held(_: Any, after: int, limit: int | None = None) -> list[EventRow]:
        return list(rows[after : None if limit is None else after + limit])

    with patch.object(ledger, "event_rows", held):
        try:
            next(log.feed(connection, number, lambda _: True, 1))
        except Integrity:
            return True
    return False


Answers = list[str]
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list", {"all": True}),
    ("get", {"id": "moved"}),
    ("recall", {"query": "where does Mara live"}),
    ("recall", {"query": "tram", "kind": "observation"}),
    ("persona", {"entity": "mara"}),
    ("persona_history", {"entity": "mara"}),
    ("persona_why", {"entity": "mara", "footnote": 1}),
    ("entity_show", {"entity": "mara"}),
    ("audit_log", {}),
    ("audit_checkpoint", {}),
    ("who_list", {}),
    ("space_list", {}),
)


STORY = (
    ("moved", "I moved to Lisbon in May.", "Mara has lived in Lisbon since May."),
    ("choir", "Tuesdays are for the choir.", "Mara sings in a choir on Tuesdays."),
)


def lived_in(folder: Path) -> Store:
    """Make a home as one that is used: two people, an agent, notes, reflections, a persona, an index, settings.

    Its newest write lies in the write-ahead log, as after a kill.
    """
    store = Store(folder / "home-of-mara")
    memory = _open(store, create=True)
    for kind, handle in (("human", "ben"), ("agent", "scout")):
        call(memory, "who_add", {"kind": kind, "handle": handle})
    for name, text, sentence in STORY:
        seen = call(memory, "remember", {"text": text, "name": name, "tags": ["trail"]})
        given = {"title": name, "text": sentence, "sources": [seen["id"]], "entity_id": "Mara"}
        call(memory, "reflect", given)
    call(memory, "entity_alias", {"alias": "M", "entity": "mara"})
    call(memory, "persona_generate", {"entity": "mara"})
    call(memory.as_("scout"), "remember", {"text": "The nightly build is green.", "namespace": "team/tides"})
    forgotten = call(memory, "remember", {"text": "A secret to forget."})
    call(memory, "forget", {"id": forgotten["id"], "why": "private"})
    call(memory, "reindex", {})  # so that the index has files
    call(memory, "recall", {"query": "where does Mara live"})
    memory.close()
    child = os.fork()
    if child == 0:
        try:
            call(_open(store), "remember", {"text": "The tram was late on Friday."})
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return store


def _open(store: Store, *, create: bool = False) -> Memory:
    return Memory.open(
        store.home, state_dir=store.state, clock=store.clock, new_id=store.ids, human="ann", create=create
    )


def answers(store: Store) -> Answers:
    """Ask a home everything that is compared, as each who is in it, in a process that has seen nothing."""
    with closing(_open(store)) as memory:
        call(memory, "reindex", {})  # the worker's part: what was lost of the index is made anew
        found = [json.dumps(call(memory, name, given), sort_keys=True) for name, given in QUESTIONS]
        listed = call(memory, "list", {"kind": "reflection"})["items"]
        persona = call(memory, "persona", {"entity": "mara"})["persona"]
        for item in listed:
            pair = {"source": persona["id"], "target": item["id"]}
            found.append(json.dumps(call(memory, "paths", pair), sort_keys=True))
        for handle in ("ben", "scout"):
            found.append(json.dumps(call(memory.as_(handle), "list", {}), sort_keys=True))
    return found


@dataclass(frozen=True)
class Flip:
    """One bit of one file, and what became of it."""

    file: str
    offset: int
    bit: int
    ending: str = ""
    detail: str = ""


FAULTS = ("silent", "not a typed error", "ended the process")
ENDINGS = (*FAULTS, "refused", "found by verification", "nothing changed")


def sampled(store: Store, count: int, seed: int) -> list[Flip]:
    """Choose so many bits: half of them anywhere in the bytes there are, half in one file after another."""
    chance = random.Random(seed)
    files = {path.relative_to(store.root).as_posix(): path.stat().st_size for path in _files(store.root)}
    names, sizes = list(files), list(files.values())
    flips = []
    for number in range(count):
        (name,) = chance.choices(names, sizes) if number % 2 else [names[number // 2 % len(names)]]
        flips.append(Flip(name, chance.randrange(files[name]), chance.randrange(8)))
    return flips


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file() and path.stat().st_size)


def followed(store: Store, flips: Sequence[Flip], folder: Path) -> Iterator[Flip]:
    """Say what became of each flip; each is looked at in a copy, by a process that may end over it."""
    expected = answers(Store(_copy(store.root, folder / "whole")))
    done = 0
    while done < len(flips):
        for ending, detail in _in_a_process(store, flips[done : done + BATCH], expected, folder / "flipped"):
            flip = flips[done]
            yield Flip(flip.file, flip.offset, flip.bit, ending, detail)
            done += 1


def _copy(root: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(root, to)
    return to


def _in_a_process(store: Store, flips: Sequence[Flip], expected: Answers, folder: Path) -> Iterator[tuple[str, str]]:
    """Look at flips in a process of their own until it ends; the one it ended over is `ended the process`."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as told:
            for flip in flips:
                signal.alarm(SECONDS)
                print(json.dumps(_look(store, flip, expected, folder)), file=told, flush=True)
        os._exit(0)
    os.close(writing)
    seen = 0
    with os.fdopen(reading) as lines:
        for line in lines:
            ending, detail = json.loads(line)
            seen += 1
            yield ending, detail
    _, status = os.waitpid(child, 0)
    if seen < len(flips):
        yield "ended the process", f"status {status}"


def _look(store: Store, flip: Flip, expected: Answers, folder: Path) -> tuple[str, str]:
    copy = Store(_copy(store.root, folder))
    with (copy.root / flip.file).open("r+b") as file:
        file.seek(flip.offset)
        (byte,) = file.read(1)
        file.seek(flip.offset)
        file.write(bytes([byte ^ 1 << flip.bit]))
    return _ending(copy, expected)


def _ending(store: Store, expected: Answers) -> tuple[str, str]:
    """Name what asking a home and then verifying it comes to, with what was said."""
    try:
        found = answers(store)
        if found != expected:
            differing = next(one for one in zip(found, expected, strict=False) if one[0] != one[1])
            return "silent", " | ".join(text[:200] for text in differing)
        report = inspect(store.home, state_dir=store.state)
    except AiMemoryError as error:
        return "refused", f"{error.code}: {error.message}"
    except Exception as error:
        return "not a typed error", repr(error)[:300]
    if report.faults:
        return "found by verification", report.faults[0].message
    return "nothing changed", ""
