"""Give each test a store of its own; the ones with a story are copies of one that was written once."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from substrate.store.database import Database
from tests.store.rows import tell
from tests.store.stores import Store


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write an empty store and one with the story, both closed."""
    made = {}
    for name in ("empty", "story"):
        store = Store(tmp_path_factory.mktemp("templates") / name)
        db = store.create()
        if name == "story":
            with db.write(actor="hum-1") as tx:
                tell(tx)
        db.close()
        made[name] = store.root
    return made


@pytest.fixture
def store(templates: dict[str, Path], tmp_path: Path) -> Store:
    """A closed, empty store."""
    shutil.copytree(templates["empty"], tmp_path / "store")
    return Store(tmp_path / "store")


@pytest.fixture
def story(templates: dict[str, Path], tmp_path: Path) -> Store:
    """A closed store that holds the story of `rows.tell`."""
    shutil.copytree(templates["story"], tmp_path / "store")
    return Store(tmp_path / "store")


@pytest.fixture
def db(store: Store) -> Iterator[Database]:
    """An open, empty store."""
    with store.opened() as database:
        yield database
