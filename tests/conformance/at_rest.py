"""The public suite's view of this product at rest: raw records for its edits, and the Python door for its verdicts.

`agmi-check --adapter tests.conformance.at_rest:RowsOnly` runs it by hand (or `:RowsAndLog`).

A record is a row of `memories` in one namespace, in the order of `sequence`. The writer who changes rows only leaves
everything else as it lies. The one who changes rows and log then makes the whole file agree again, as far as that goes
without the key: commitments, digests, tree and log (`forgery.mend`). A verdict is what a process says that has seen
nothing yet: it reads the namespace as an agent does and either answers or raises Integrity.

Source: docs/spec/audit.md §4.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from agmi.adapters.base import MemoryAdapter, Record

from substrate import Memory
from substrate.actions import memory as _memory_actions  # noqa: F401  # registers what is called by name
from substrate.actions.registry import call
from substrate.errors import Integrity
from tests.store import forgery
from tests.store.stores import Store

OURS, OTHERS = "team/ours", "team/others"
TEXTS = ("The ferry is in the dock until April.", "Mara takes the tram.", "The choir sings on Tuesdays.")
_TABLE = "memories"
Connection = duckdb.DuckDBPyConnection


class RowsOnly(MemoryAdapter):
    """A store whose rows are edited behind its back."""

    name = "ai-memory, rows only"
    detection_point = "read"
    supports_replay = supports_metadata = supports_snapshot = True

    def __init__(self) -> None:
        self.store = Store(Path())
        self._folder = Path()
        self._places: list[int] = []  # `sequence` of the records as last read, in order
        self._written = 0

    def setup(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ai-memory-"))
        self.store, self._written = Store(self._folder / "store"), 0

    def teardown(self) -> None:
        shutil.rmtree(self._folder)

    def open(self) -> Memory:
        """Open the store as a process that has seen nothing."""
        return Memory.open(self.store.home, state_dir=self.store.state, create=False)

    def seed(self, n: int) -> None:
        shutil.copytree(_written(n), self.store.root)
        self._written = n

    def seed_other(self, n: int) -> None:
        self._remember(OTHERS, n)

    def append_genuine(self) -> None:
        self._remember(OURS, 1)

    def _remember(self, namespace: str, count: int) -> None:
        memory = self.open()
        try:
            for _ in range(count):
                self._written += 1
                _remember(memory, namespace, self._written)
        finally:
            memory.close()

    def reload(self) -> None:
        """Nothing stays open between two operations."""

    def verify(self) -> bool:
        try:
            memory = self.open()
            try:
                call(memory, "list", {"namespace": OURS})
            finally:
                memory.close()
        except Integrity as error:
            self.verify_detail = error.message
            return False
        self.verify_detail = None
        return True

    def mend(self, raw: Connection) -> None:
        """Make what lies around the rows agree with them: this writer cannot."""

    def read_all_raw(self) -> list[Record]:
        records = self._records(OURS)
        self._places = [record.fields["sequence"] for record in records]
        return records

    def read_other_raw(self) -> list[Record]:
        return self._records(OTHERS)

    def _records(self, namespace: str) -> list[Record]:
        with self.store.raw() as raw:
            found = raw.execute(f"SELECT * FROM {_TABLE} WHERE namespace = ? ORDER BY sequence, id", [namespace])
            names = [column[0] for column in found.description or ()]
            return [
                Record(place, dict(zip(names, values, strict=True))) for place, values in enumerate(found.fetchall())
            ]

    def write_raw(self, record: Record) -> None:
        """Put a record at its place in the order, whatever lies there."""
        new = record.seq >= len(self._places)
        fields = {**record.fields, "sequence": self._places[-1] + 1 if new else self._places[record.seq]}
        with self.store.raw() as raw:
            raw.execute(f"DELETE FROM {_TABLE} WHERE id = ?", [fields["id"]])
            raw.execute(f"INSERT INTO {_TABLE} VALUES ({', '.join('?' * len(fields))})", list(fields.values()))
            self.mend(raw)

    def delete_raw(self, seq: int) -> None:
        self._change("DELETE FROM {} WHERE id = ?", seq)

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        content, salt = donor.fields["content"], donor.fields["salt"]
        self._change("UPDATE {} SET content = ?, salt = ? WHERE id = ?", victim_seq, content, salt)

    def read_meta(self, seq: int) -> dict[str, Any]:
        fields = self._records(OURS)[seq].fields
        labels = json.loads(fields["metadata"] or "{}")
        return {**labels, "author": fields["by_id"], "origin": fields["origin"], "time": fields["created_at"]}

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        """Write labels, and with them another author: who said something is what a reader goes by."""
        labels = {key: value for key, value in meta.items() if key not in ("author", "origin", "time")}
        sets = "metadata = ?, by_id = ?, origin = ?, created_at = ?"
        values = (json.dumps(labels), f"{meta['author']}-2", meta["origin"], meta["time"])
        self._change(f"UPDATE {{}} SET {sets} WHERE id = ?", seq, *values)

    def _change(self, statement: str, seq: int, *values: Any) -> None:
        record = self._records(OURS)[seq]
        with self.store.raw() as raw:
            raw.execute(statement.format(_TABLE), [*values, record.fields["id"]])
            self.mend(raw)

    def mutate_payload(self, record: Record) -> Record:
        record.fields["content"] += " Or so they say."
        return record

    def forge_record(self, template: Record) -> Record:
        genuine = str(template.fields["id"])
        fields = {**template.fields, "id": genuine[:-1] + ("y" if genuine.endswith("z") else "z"), "salt": "ab" * 32}
        return self.mutate_payload(Record(template.seq + 1, fields))

    def identity_of(self, record: Record) -> str:
        return str(record.fields["id"])

    def payload_of(self, record: Record) -> str:
        return str(record.fields["content"])

    def owner_of(self, record: Record) -> str | None:
        return str(record.fields["namespace"])

    def snapshot_store(self) -> Path:
        """Copy the store's folder; what this machine remembers of it lies elsewhere."""
        copy = self._folder / "snapshot"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.store.home, copy)
        return copy

    def restore_store(self, token: object) -> None:
        assert isinstance(token, Path)
        shutil.rmtree(self.store.home)
        shutil.copytree(token, self.store.home)


class RowsAndLog(RowsOnly):
    """A store whose rows and log are edited, by somebody who lacks only the key."""

    name = "ai-memory, rows and log"

    def mend(self, raw: Connection) -> None:
        forgery.mend(raw)


@cache
def _written(count: int) -> Path:
    """Write a store with so many memories through the door, once; its folder is copied for every edit."""
    store = Store(Path(tempfile.mkdtemp(prefix="ai-memory-")) / "store")
    atexit.register(shutil.rmtree, store.root.parent, ignore_errors=True)
    memory = Memory.open(store.home, state_dir=store.state, human="ann")
    try:
        for number in range(count):
            _remember(memory, OURS, number + 1)
    finally:
        memory.close()
    return store.root


def _remember(memory: Memory, namespace: str, number: int) -> None:
    text = f"{TEXTS[number % len(TEXTS)]} {namespace}, note {number}."
    call(memory, "remember", {"text": text, "namespace": namespace})
