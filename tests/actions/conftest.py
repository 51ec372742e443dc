"""A store in this process, seen by a human."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from substrate.home import Memory
from tests.clock import Clock, Ids


@pytest.fixture
def memory(tmp_path: Path, clock: Clock, new_id: Ids) -> Iterator[Memory]:
    """Open a new store as its first human, ann."""
    made = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", clock=clock, new_id=new_id, human="ann")
    yield made
    made.close()
