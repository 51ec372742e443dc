"""Keep every test away from the machine it runs on: its home, its settings, its time."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.clock import Clock, Ids

ROOT = Path(__file__).resolve().parent.parent
settings.register_profile("untimed", deadline=None)  # how long an example takes says more of the machine than of it
settings.load_profile("untimed")
os.environ["AI_MEMORY_WORKER"] = "off"  # commands of the suite leave no process behind; tests about that one turn it on


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point HOME at an empty folder, drop every setting of ours, and fix what shapes terminal output."""
    for name in list(os.environ):
        if (
            name.startswith(("AI_MEMORY_", "OLLAMA_", "OPENAI_", "XDG_", "FORCE_COLOR", "NO_COLOR"))
            and name != "AI_MEMORY_WORKER"
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")  # where nobody answers, whatever runs on this machine
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("user")))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def clock() -> Clock:
    """Answer 2026-05-14T09:30:00.000000Z until `clock.advance(days=1)` moves it."""
    return Clock()


@pytest.fixture
def new_id() -> Ids:
    """Answer ids that count up, the same ones in every run."""
    return Ids()


BENCH_DATA = Path(os.environ.get("AI_MEMORY_BENCH_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def bench_data() -> Callable[[str], Path]:
    """Answer the path of a development data file; skip, saying so, where the data is not there."""

    def locate(relative: str) -> Path:
        path = BENCH_DATA / relative
        if not path.exists():
            pytest.skip(f"development data {relative} not found; set AI_MEMORY_BENCH_DATA to the folder that holds it")
        return path

    return locate
