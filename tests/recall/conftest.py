"""The store that the memory tests use, and an encoder that needs no weights."""

from collections.abc import Iterator

import pytest

from substrate.store.database import Database
from tests.clock import Clock
from tests.memory.conftest import house, made  # noqa: F401
from tests.memory.house import House
from tests.recall.encoder import WordVectors


@pytest.fixture
def encoder() -> WordVectors:
    return WordVectors()


@pytest.fixture
def again(house: House) -> Iterator[House]:  # noqa: F811
    """The same store opened a second time, as another process would."""
    house.db.close()
    db = Database.open(house.db.home, state_dir=house.db.home.parent / "state", clock=Clock())
    yield House(db, house.clock, house.ann, house.ben, house.scout, house.rook)
    db.close()
