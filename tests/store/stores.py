"""Make, copy, open and attack stores: real files, and a second door to them that asks nobody."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

from audit import keys
from audit.anchor import Anchor
from audit.anchor import path as anchor_path
from audit.anchor import read as read_anchor
from substrate.errors import Integrity
from substrate.store.database import Database
from substrate.store.db import FILE
from substrate.store.transaction import Reader
from tests.clock import Clock, Ids


@dataclass
class Store:
    """A home and the state folder beside it; each `open` is a process that has seen nothing yet."""

    root: Path
    clock: Clock = field(default_factory=Clock)
    ids: Ids = field(default_factory=Ids)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def file(self) -> Path:
        return self.home / FILE

    @property
    def wal(self) -> Path:
        return self.home / f"{FILE}.wal"

    def create(self, **options: Any) -> Database:
        return Database.create(self.home, state_dir=self.state, clock=self.clock, new_id=self.ids, **options)

    def open(self, **options: Any) -> Database:
        return Database.open(self.home, state_dir=self.state, clock=self.clock, new_id=self.ids, **options)

    @contextmanager
    def opened(self, **options: Any) -> Iterator[Database]:
        db = self.open(**options)
        try:
            yield db
        finally:
            db.close()

    @contextmanager
    def raw(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the file with the engine alone, as anybody can who may write it."""
        stranger = _stranger()
        stranger.execute(f"ATTACH '{self.file}' AS store")
        try:
            stranger.execute("USE store")
            yield stranger
        finally:
            stranger.execute("USE memory")
            stranger.execute("DETACH store")

    def edit(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement behind the store's back."""
        with self.raw() as connection:
            return connection.execute(sql, list(parameters)).fetchall()

    def copy(self, name: str) -> Store:
        """Copy home and state, as a backup or another machine would hold them."""
        twin = Store(self.root.parent / name, Clock(self.clock.time), Ids())
        shutil.copytree(self.root, twin.root)
        return twin

    def copy_home(self, name: str) -> Store:
        """Copy the home alone: the twin knows the same state folder."""
        twin = self.copy(name)
        shutil.rmtree(twin.state)
        twin.state.symlink_to(self.state, target_is_directory=True)
        return twin

    def key(self) -> keys.Key:
        return keys.load(self.home / "keys" / "store.key")

    def anchor_file(self) -> Path:
        (found,) = (self.state / "anchors").glob("*.json")
        return found

    def anchor(self) -> Anchor:
        anchor = read_anchor(anchor_path(self.state, self.anchor_file().stem))
        assert anchor is not None
        return anchor


@cache
def _stranger() -> duckdb.DuckDBPyConnection:
    """Start the engine once: it takes longer than all that is done with it."""
    return duckdb.connect(":memory:")


def refused(store: Store, read: Callable[[Reader], object]) -> Integrity:
    """Answer the error of a read in a process that has seen nothing yet."""
    with pytest.raises(Integrity) as caught:
        with store.opened() as db, db.read() as r:
            read(r)
    return caught.value
