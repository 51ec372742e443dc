"""A store with two humans and an agent of each, and one call for each thing a test does to it."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.event import Event
from substrate.memory import forgetting, links, memories
from substrate.memory.writing import new_link
from substrate.scopes import principals
from substrate.scopes.caller import CURATOR, Caller
from substrate.store.database import Database
from substrate.store.model import ClaimRow, MemoryRow, PersonaHeadRow
from tests.clock import Clock, Ids

# Access reads who a caller is from the store; an id of this form stands for nothing in it.
ABSENT = "mem-zzzzzzzzzzzzzzzzzzzzzzzzzz"


@dataclass
class House:
    """Hold an open store; Ann owns the agent Scout, Ben owns Rook."""

    db: Database
    clock: Clock
    ann: Caller
    ben: Caller
    scout: Caller
    rook: Caller

    def write(self, do: Callable[..., Any], caller: Caller, *args: Any, **options: Any) -> Any:
        """Run one function in a transaction of its own, a minute after the one before."""
        self.clock.advance(minutes=1)
        with self.db.write(actor=caller.id) as tx:
            return do(tx, caller, *args, **options)

    def read(self, do: Callable[..., Any], *args: Any, **options: Any) -> Any:
        with self.db.read() as r:
            return do(r, *args, **options)

    def remember(self, content: str, caller: Caller | None = None, **options: Any) -> MemoryRow:
        row: MemoryRow = self.write(memories.remember, caller or self.ann, content, **options)
        return row

    def reflect(self, content: str, *sources: MemoryRow | str, caller: Caller | None = None, **options: Any) -> Any:
        title = options.pop("title", "What follows")
        ids = [source if isinstance(source, str) else source.id for source in sources]
        return self.write(memories.reflect, caller or self.ann, title, content, sources=ids, **options)

    def link(self, source: MemoryRow, target: MemoryRow, relation: str = "related_to", **options: Any) -> Any:
        return self.write(links.link, options.pop("caller", self.ann), source.id, target.id, relation, **options)

    def forget(self, row: MemoryRow, caller: Caller | None = None, **options: Any) -> forgetting.Forgotten:
        done: forgetting.Forgotten = self.write(forgetting.forget, caller or self.ann, row.id, **options)
        return done

    def get(self, id: str, caller: Caller | None = None) -> MemoryRow:
        row: MemoryRow = self.read(memories.get, caller or self.ann, id)
        return row

    def events(self, *types: str) -> list[Event]:
        with self.db.read() as r:
            return r.events(types=types)

    def persona(
        self, entity: str, cited: Sequence[MemoryRow], *, namespace: str = "global", text: str = "A portrait."
    ) -> MemoryRow:
        """Write a persona version the way the curator does: row, links, claims, head and event together."""
        self.clock.advance(minutes=1)
        with self.db.write(actor=CURATOR.id) as tx:
            head = tx.get(PersonaHeadRow, namespace, entity)
            before = tx.get(MemoryRow, head.persona_id) if head and head.persona_id else None
            row = MemoryRow(
                id=tx.new_id("mem"),
                namespace=namespace,
                memory_kind="persona",
                memory_type="document",
                title=entity,
                content=text,
                entity_id=entity,
                persona_version=head.version + 1 if head else 1,
                origin="curator",
                by_kind="curator",
                by_id=CURATOR.id,
                created_at=tx.now,
                updated_at=tx.now,
                sequence=tx.sequence,
            )
            claims = [
                ClaimRow(persona_id=row.id, position=at, claim_id=f"c{at}", text=f"{text} {at}", sources=(source.id,))
                for at, source in enumerate(cited)
            ]
            tx.put(
                row,
                *(new_link(tx, CURATOR, row.id, source.id, "derived_from") for source in cited),
                *claims,
                PersonaHeadRow(
                    namespace=namespace, entity_id=entity, persona_id=row.id, version=row.persona_version or 1
                ),
            )
            if before is not None:
                tx.put(
                    replace(before, status="superseded", superseded_by=row.id, status_at=tx.now),
                    new_link(tx, CURATOR, row.id, before.id, "supersedes"),
                )
            tx.event("persona_generated", subject=row.id, namespace=namespace, payload={"id": row.id})
            return row

    def agent(self, handle: str, owner: Caller | None = None, **terms: str) -> Caller:
        with self.db.write(actor="test") as tx:
            row = principals.register(tx, owner or self.ann, "agent", handle, **terms)
            return principals.caller_for(tx, row.id)


@contextmanager
def opened(made: Path, folder: Path) -> Iterator[House]:
    """Open a copy of the made-up store in `folder`."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    clock, ids = Clock(), Ids()
    ids.count = 1000
    db = Database.open(folder / "home", state_dir=folder / "state", clock=clock, new_id=ids)
    with db.read() as r:
        people = [principals.caller_for(r, handle) for handle in ("ann", "ben", "scout", "rook")]
    try:
        yield House(db, clock, *people)
    finally:
        db.close()
