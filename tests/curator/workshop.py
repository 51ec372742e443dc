"""A store with one human, and one call for each step from an observation to a persona."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from curator.persona import reading
from curator.persona.persona import Generated, generate
from substrate.home import Memory
from substrate.memory import links, memories
from substrate.memory.reflections import reflect
from substrate.store.model import MemoryRow
from tests.clock import Clock, Ids

NOBODY = "http://127.0.0.1:9"  # no model is asked, whatever runs on this machine


@dataclass
class Workshop:
    """Hold an open store; each step happens a day after the one before."""

    memory: Memory
    clock: Clock

    def observe(self, text: str, **options: Any) -> MemoryRow:
        self.clock.advance(days=1)
        with self.memory.write() as tx:
            return memories.remember(tx, self.memory.caller, text, **options)

    def reflect(self, text: str, *below: MemoryRow, entity: str | None = "Ada", **options: Any) -> MemoryRow:
        """Write a reflection over `below`, or over an observation of its own."""
        sources = below or (self.observe(f"Seen: {text}", namespace=options.get("namespace", "global")),)
        options.setdefault("title", "Noted")
        self.clock.advance(days=1)
        with self.memory.write() as tx:
            return reflect(
                tx,
                self.memory.caller,
                options.pop("title"),
                text,
                sources=[row.id for row in sources],
                entity_id=entity,
                **options,
            ).row

    def link(self, source: MemoryRow, target: MemoryRow, relation: str) -> None:
        with self.memory.write() as tx:
            links.link(tx, self.memory.caller, source.id, target.id, relation)

    def retire(self, row: MemoryRow) -> None:
        with self.memory.write() as tx:
            memories.retire(tx, self.memory.caller, row.id, "no longer so")

    def generate(self, entity: str = "Ada", **options: Any) -> Generated:
        self.clock.advance(days=1)
        return generate(self.memory.db, self.memory.caller, entity, **options)

    def persona(self, entity: str = "Ada", namespace: str = "global") -> reading.Read | None:
        with self.memory.read() as r:
            return reading.newest(r, self.memory.caller, entity, namespace)

    def events(self, *types: str) -> Sequence[Any]:
        with self.memory.read() as r:
            return r.events(types=types)

    def columns(self) -> str:
        """Everything the file holds in any column of any table, as one text."""
        with self.memory.db.connection() as connection:
            tables = [t for (t,) in connection.rows("SELECT table_name FROM information_schema.tables")]
            rows = [repr(row) for table in tables for row in connection.rows(f"SELECT * FROM {table}")]
        return "\n".join(rows)


@contextmanager
def opened(
    folder: Path, *, clock: Clock | None = None, new_id: Ids | None = None, **options: Any
) -> Iterator[Workshop]:
    """Make or open a store in the folder with the clock and the ids of the tests."""
    clock, new_id = clock or Clock(), new_id or Ids()
    memory = Memory.open(
        folder / "home", state_dir=folder / "state", clock=clock, new_id=new_id, human="ann", **options
    )
    memory.config = replace(memory.config, models=replace(memory.config.models, ollama_url=NOBODY))
    try:
        yield Workshop(memory, clock)
    finally:
        memory.close()


FACTS = (
    "Ada repairs church organs in three valleys.",
    "Ada learned tuning from her grandmother in Graz.",
    "Ada keeps a notebook of every pipe she has replaced.",
    "Ada plans to visit Bergen in October.",
    "Ada teaches two apprentices on Fridays.",
    "Ada collects tide clocks and winds them on Sundays.",
)
