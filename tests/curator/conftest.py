"""One workshop a test, on a real file."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clock import Clock, Ids
from tests.curator.workshop import FACTS, Workshop, opened


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with opened(tmp_path) as workshop:
        yield workshop


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Clock, Ids]:
    """A store in which six things are known about Ada, made once, with the clock and the ids it was left at."""
    folder, clock, new_id = tmp_path_factory.mktemp("told"), Clock(), Ids()
    with opened(folder, clock=clock, new_id=new_id) as shop:
        for fact in FACTS:
            shop.reflect(fact)
    return folder, clock, new_id


@pytest.fixture
def ada(told: tuple[Path, Clock, Ids], tmp_path: Path) -> Iterator[Workshop]:
    """A workshop of one's own in which six things are known about Ada."""
    folder, then, last = told
    for name in ("home", "state"):
        shutil.copytree(folder / name, tmp_path / name)
    new_id = Ids()
    new_id.count = last.count
    with opened(tmp_path, clock=Clock(then.time), new_id=new_id) as workshop:
        yield workshop
