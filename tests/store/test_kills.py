"""What was acknowledged before a process was killed is there afterwards, column by column."""

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from substrate.home import Memory
from substrate.memory import forgetting, memories
from substrate.store import recovery, selection
from substrate.store.transaction import Transaction


def told(folder: Path, seed: int, prepare: Callable[[], None] = lambda: None) -> list[str]:
    """Tell a story of writes, erasures and kills, in one process after another; answer what does not hold after one."""
    home, state = folder / "home", folder / "state"
    Memory.open(home, state_dir=state, human="ann").close()
    for chapter in range(12):
        chance = random.Random(f"{seed}-{chapter}")
        pid = os.fork()
        if pid == 0:
            try:
                prepare()
                memory = Memory.open(home, state_dir=state)
                for turn in range(chance.randint(1, 12)):
                    write(memory, chance, f"{chapter}-{turn}")
                if chance.random() < 0.6:
                    os.kill(os.getpid(), signal.SIGKILL)
                memory.close()
                os._exit(0)
            finally:
                os._exit(1)
        status = os.waitpid(pid, 0)[1]
        assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL)
        faults = recovery.verify(home, state_dir=state, notes=[]).faults
        if faults:
            return [fault.kind for fault in faults]
    return []


def write(memory: Memory, chance: random.Random, text: str) -> None:
    with memory.read() as r:
        ids = sorted(id for (id,) in r.query("SELECT id FROM memories WHERE status = 'active'"))
    with memory.write() as tx:
        if ids and chance.random() < 0.5:
            forgetting.forget(tx, memory.caller, chance.choice(ids))
        else:
            for number in range(chance.randint(1, 3)):
                memories.remember(tx, memory.caller, f"Seen: {text}-{number}.")


def in_part() -> None:
    """Update rows as it was done once: only the columns that differ."""

    def update(self: Transaction, kind: Any, row: Any, values: Any, known: Any) -> None:
        key = [getattr(row, column) for column in kind.KEY]
        where = f"WHERE {selection.by_key(kind)}"
        before = self._connection.rows(selection.selection(kind, where), key)[0]
        columns = selection.columns(kind)
        pairs = [(c, new) for c, new, old in zip(columns, values, before, strict=True) if new != old]
        sets = ", ".join(f"{column} = ?" for column, _ in pairs)
        self._connection.run(f"UPDATE {kind.TABLE} SET {sets} {where}", [*(value for _, value in pairs), *key])

    Transaction._update = update  # in a process of its own


def test_stories_with_kills_lose_nothing(tmp_path: Path):
    assert [told(tmp_path / str(seed), seed) for seed in (1, 2, 3)] == [[], [], []]


def test_updating_in_part_would_lose_something(tmp_path: Path):
    """Where this passes no more, the engine replays its log rightly, and rows need not be replaced whole."""
    found = [fault for seed in (1, 2, 3) for fault in told(tmp_path / str(seed), seed, in_part)]
    assert "row_edited" in found
