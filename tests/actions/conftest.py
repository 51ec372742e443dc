"""A store in this process, seen by a human."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from substrate.home import Memory
from tests.clock import Clock, Ids


@pytest.fixture
def memory(tmp_path: Path, clock: Clock, new_id: Ids) -> Iterator[Memory]:
    """Open a new store as its first human, ann."""
    made = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", clock=clock, new_id=new_id, human="ann")
    made.config = replace(made.config, models=replace(made.config.models, ollama_url="http://127.0.0.1:9"))
    yield made
    made.close()
