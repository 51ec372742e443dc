"""The operations that campaigns on durability interrupt, a store to do them on, and what has to hold afterwards.

Everything random in a store is made by count here, so that the same operation on the same store signs the same state:
what an interruption leaves can then be held against the states between two transactions, of which it has to be one.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.campaigns._apart import Say, apart
from curator.persona.persona import generate
from substrate import config
from substrate.actions import audit
from substrate.errors import Conflict
from substrate.home import Memory
from substrate.memory import entities, forgetting, memories, reflections
from substrate.store import backup, file, recovery, schema
from substrate.store.db import FILE
from substrate.store.ledger import Ledger
from substrate.store.model import MemoryRow
from substrate.store.restore import restore

State = list[Any]  # the number of the newest event, and the root it signs
ENTITY = "Ada"
SAID = "Ada keeps the {0} notebook in the {0} drawer, and reads it on the {0} evening of a month."
NEXT = (
    *schema.MIGRATIONS,
    "CREATE TABLE notes (a TEXT); ALTER TABLE cursors ADD COLUMN note TEXT",
    "CREATE INDEX i ON cursors (note)",
)
NUMBERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True)
class Operation:
    """One thing that a store can be asked; ``act`` may be done again and then changes nothing, or the same once more.

    ``exact`` says that the states it may leave are known; ``new`` that there is no store before; ``before`` is done
    first in every process that has to do with it.
    """

    name: str
    act: Callable[[Memory], object]
    exact: bool = True
    new: bool = False
    before: Callable[[], object] = lambda: None

    def do(self, root: Path, done: Callable[[], object] = lambda: None, times: int = 1) -> None:
        """Open the store in a folder and do it; say when it is done."""
        memory = opened(root, create=self.new)
        try:
            for _ in range(times):
                self.act(memory)
            done()
        finally:
            memory.close()


@dataclass(frozen=True)
class Restore(Operation):
    """Bring a store back from a backup; ``act`` is what becomes of it before, once it is backed up and written on."""

    def lay(self, root: Path) -> None:
        """Make a store in need of it."""
        memory = opened(root)
        backup.make(memory.db, root / "one.backup", with_keys=True)
        _remember(memory)
        memory.close()
        self.act(memory)

    def do(self, root: Path, done: Callable[[], object] = lambda: None, times: int = 1) -> None:
        """Do it to the store in a folder; where it was done before, that is all."""
        for _ in range(times):
            with suppress(Conflict):
                restore(
                    root / "home",
                    root / "one.backup",
                    state_dir=root / "state",
                    decider=lambda folders: next(filter(None, (config.read(folder).principal for folder in folders))),
                    erase=forgetting.erase_again,
                    clock=Clock(),
                )
        done()


def opened(root: Path, *, create: bool = False) -> Memory:
    """Open the store of a folder as a process that has seen nothing yet, with times and ids that are counted.

    The count goes on from the store's own events, so that no id comes twice.
    """
    clock = Clock()
    memory = Memory.open(
        root / "home", state_dir=root / "state", create=create, human="ann", clock=clock, new_id=clock.id
    )
    with memory.read() as r:
        clock.at = 1_000 * (r.head.sequence + 1)
    return memory


class Clock:
    """A time that moves by a second whenever it is asked, and ids made of the same count."""

    def __init__(self) -> None:
        self.at = 0

    def __call__(self) -> str:
        """Give the next time."""
        self.at += 1
        return (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.at)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def id(self, prefix: str) -> str:
        """Give the next id."""
        self.at += 1
        return f"{prefix}-{self.at:026}"


def counted_salts() -> None:
    """Make every random text of this process by count."""
    numbers = count(1)
    secrets.token_hex = lambda nbytes=None: f"{next(numbers):0{2 * (nbytes or 32)}x}"


def states(saw: Callable[[State], object]) -> None:
    """Tell of every state that this process anchors: the number of its newest event, and its root."""
    adopt = Ledger.adopt

    def told(self: Ledger, *given: Any, **named: Any) -> None:
        adopt(self, *given, **named)
        assert self.head
        saw([self.head.sequence, self.head.state_root])

    Ledger.adopt = told  # type: ignore[method-assign]


def made(root: Path) -> State:
    """Make a store in which every operation has something to do; give its state."""

    def act(say: Say) -> None:
        counted_salts()
        states(say)
        _story(root)

    child = apart(act)
    assert child.status == 0, "no store to begin with"
    state: State = child.said[-1]
    return state


def laid(folder: Path, operation: Operation) -> Path:
    """Give the store that an operation starts with: the folder's ``story``, or what a restore begins with."""
    story = folder / "story"
    if not isinstance(operation, Restore):
        return story
    root = fresh(folder / f"{operation.name}, before", story, operation)
    child = apart(lambda _: operation.lay(root))
    assert child.status == 0, f"there is nothing for {operation.name}"
    return root


def fresh(root: Path, template: Path, operation: Operation) -> Path:
    """Put into a folder what the operation starts with; give the folder."""
    if operation.new:
        root.mkdir()
    else:
        shutil.copytree(template, root)
    return root


def _story(root: Path) -> None:
    memory = opened(root, create=True)
    with memory.write() as tx:
        entities.add(tx, memory.caller, ENTITY)
    for number in NUMBERS:
        _tell(memory, number)
    _persona(memory)
    memory.close()


def _tell(memory: Memory, number: str) -> None:
    with memory.write() as tx:
        seen = memories.remember(tx, memory.caller, f"Seen on the {number} day: a notebook in the {number} drawer.")
        reflections.reflect(tx, memory.caller, "Ada", SAID.format(number), sources=[seen.id], entity_id=ENTITY)


def _remember(memory: Memory) -> None:
    with memory.write() as tx:
        if tx.once("remember", {}) is None:
            memories.remember(tx, memory.caller, "Told once.")


def _batch(memory: Memory) -> None:
    for part in range(2):
        with memory.write() as tx:
            if tx.once(f"batch-{part}", {}) is None:
                for number in range(20):
                    memories.remember(tx, memory.caller, f"Told together: {part}-{number}.")


def _reflect(memory: Memory) -> None:
    with memory.write() as tx:
        if tx.once("reflect", {}) is None:
            seen = [id for (id,) in tx.query("SELECT id FROM memories WHERE memory_kind = 'observation' ORDER BY id")]
            reflections.reflect(tx, memory.caller, "Ada", "Ada has ten drawers.", sources=seen[:3], entity_id=ENTITY)


def _persona(memory: Memory) -> None:
    generate(memory.db, memory.caller, ENTITY, full=True)


def _forget(memory: Memory) -> None:
    with memory.write() as tx:
        seen = [id for (id,) in tx.query("SELECT id FROM memories WHERE memory_kind = 'observation' ORDER BY id")]
        forgetting.forget(tx, memory.caller, seen[0], cascade=True)


def _backup(memory: Memory) -> None:
    folder = memory.db.home.parent
    backup.make(memory.db, folder / f"{len(list(folder.glob('*.backup')))}.backup")


def _lose(memory: Memory) -> None:
    shutil.rmtree(memory.db.home)


def _damage(memory: Memory) -> None:
    raw = duckdb.connect(str(memory.db.home / FILE))
    raw.execute("UPDATE state_buckets SET digest = repeat('0', 64)")
    raw.close()


def _later() -> None:
    schema.MIGRATIONS, schema.VERSION = NEXT, len(NEXT)
    file._fresh_definitions.cache_clear()


OPERATIONS = (
    Operation("init", lambda memory: None, exact=False, new=True),
    Operation("migrate", lambda memory: None, before=_later),
    Operation("remember", _remember),
    Operation("batch", _batch),
    Operation("reflect", _reflect),
    Operation("persona", _persona),
    Operation("forget", _forget),
    Operation("rewrite", lambda memory: memory.db.rewrite()),
    Operation("rotate", audit.rotate),
    Operation("backup", _backup),
)
"""What is interrupted. A new operation that changes files is one more line."""
RESTORES = (
    Restore("restore of a lost home", _lose, exact=False),
    Restore("restore of a damaged file", _damage, exact=False),
)
"""What is interrupted and begins without a store that opens."""


def rows(root: Path) -> list[list[str | None]]:
    """Read every memory of a store: its id, text and status."""
    memory = opened(root)
    with memory.read() as r:
        found = [[row.id, row.content, row.status] for row in r.select(MemoryRow, order="id")]
    memory.close()
    return found


def faults(root: Path) -> Iterator[str]:
    """Verify a whole store and every backup beside it, and that no workshop is left in its folder."""
    yield from (
        f"{fault.kind}: {fault.message}" for fault in recovery.verify(root / "home", state_dir=root / "state").faults
    )
    yield from (f"left behind: {path.name}" for path in (root / "home").iterdir() if path.name.startswith("."))
    for path in sorted(root.glob("*.backup")):
        with tempfile.TemporaryDirectory() as folder, backup.opened(path) as packed:
            backup.check(Path(folder), *backup.unpack(packed, Path(folder)))
