"""A store with a human and an agent in it, on a real file."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from audit import keys
from substrate.scopes import principals
from substrate.scopes.caller import Caller
from substrate.store.database import Database
from tests.clock import Clock, Ids


@dataclass
class Store:
    """Hold an open store, its first human Ann with her key, and Scout, an agent of hers."""

    db: Database
    key: keys.Key
    ann: Caller
    scout: Caller
    folder: Path

    def human(self, handle: str) -> Caller:
        return self.register("human", handle)

    def agent(self, handle: str, **terms: str) -> Caller:
        return self.register("agent", handle, **terms)

    def register(self, kind: str, handle: str, **terms: str) -> Caller:
        with self.db.write(actor=self.ann.id) as tx:
            row = principals.register(tx, self.ann, kind, handle, **terms)
            return principals.caller_for(tx, row.id)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the store once; tests work on copies."""
    folder = tmp_path_factory.mktemp("scopes")
    db = Database.create(folder / "home", state_dir=folder / "state", clock=Clock(), new_id=Ids())
    key = keys.create(folder / "home" / "keys" / "ann.key")
    with db.write(actor="hub") as tx:
        ann = principals.first_human(tx, "ann", key)
    with db.write(actor=ann.id) as tx:
        principals.register(tx, principals.caller_for(tx, "ann"), "agent", "scout")
    db.close()
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    ids = Ids()
    ids.count = 1000
    db = Database.open(tmp_path / "home", state_dir=tmp_path / "state", clock=Clock(), new_id=ids)
    with db.read() as r:
        ann, scout = principals.caller_for(r, "ann"), principals.caller_for(r, "scout")
    yield Store(db, keys.load(tmp_path / "home" / "keys" / "ann.key"), ann, scout, tmp_path)
    db.close()
