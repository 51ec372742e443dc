"""A shell whose store holds two people, what was said about one of them, and her persona."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from tests.mcp.server import Server


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    """Log in as ann."""
    monkeypatch.setenv("LOGNAME", "ann")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the store that tests copy."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOGNAME", "ann")
        patch.setenv("HOME", str(folder))
        shell = _shell(folder, patch)
        moved = shell.ok("remember", "I moved to Lisbon in May.", "--name", "moved")
        shell.ok("who", "add", "agent", "scout")
        mara = ("--entity", "mara", "--from", moved["id"])
        shell.ok("reflect", "Home", "Mara has lived in Lisbon since May.", *mara)
        shell.ok("persona", "mara", "--regenerate")
    return folder


@pytest.fixture
def shell(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Give a shell with a store of its own."""
    for name in ("home", "state"):
        shutil.copytree(template / name, tmp_path / name)
    return _shell(tmp_path, monkeypatch)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Give a shell without a store."""
    return _shell(tmp_path, monkeypatch)


@pytest.fixture
def server(shell: Terminal) -> Iterator[Server]:
    """Start a server on the store of `shell` and shake hands with it; it has to end well."""
    with Server(shell) as started:
        started.shake_hands()
        yield started
        assert started.end() == 0
        assert b"Traceback" not in started.stderr


def _shell(folder: Path, patch: pytest.MonkeyPatch) -> Terminal:
    shell = Terminal(folder / "home", folder / "state")
    patch.setenv("AI_MEMORY_HOME", str(shell.home))
    patch.setenv("AI_MEMORY_STATE", str(shell.state))
    return shell
