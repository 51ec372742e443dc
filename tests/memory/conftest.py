"""A fresh copy of one made-up store for every test, on a real file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from audit import keys
from substrate.scopes import principals
from substrate.store.database import Database
from tests.clock import Clock, Ids
from tests.memory.house import House, opened


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memory")
    db = Database.create(folder / "home", state_dir=folder / "state", clock=Clock(), new_id=Ids())
    key = keys.create(folder / "home" / "keys" / "ann.key")
    with db.write(actor="hub") as tx:
        principals.first_human(tx, "ann", key)
    with db.write(actor="ann") as tx:
        ann = principals.caller_for(tx, "ann")
        principals.register(tx, ann, "human", "ben")
        principals.register(tx, ann, "agent", "scout")
        principals.register(tx, principals.caller_for(tx, "ben"), "agent", "rook")
    db.close()
    return folder


@pytest.fixture(scope="module")
def shared(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One store for all examples of a property; each example writes rows of its own."""
    with opened(made, tmp_path_factory.mktemp("shared")) as house:
        yield house


@pytest.fixture
def house(made: Path, tmp_path: Path) -> Iterator[House]:
    with opened(made, tmp_path) as house:
        yield house
