"""A store with two humans, two agents, a persona and a private memory, made once and copied for each test."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal


@dataclass(frozen=True)
class Cast:
    """The ids of what stands in the store that `shell` opens."""

    ann: str
    ben: str
    scout: str
    moved: str
    choir: str
    home: str
    tuesdays: str
    persona: str
    private: str
    """What Ben keeps for himself."""


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    """Log in as ann."""
    monkeypatch.setenv("LOGNAME", "ann")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Give a shell without a store."""
    return _shell(tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Cast]:
    """Make the store that tests copy."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOGNAME", "ann")
        patch.setenv("HOME", str(tmp_path_factory.mktemp("user")))
        return folder, _cast(_shell(folder, patch))


@pytest.fixture
def cast(template: tuple[Path, Cast]) -> Cast:
    """Name who and what is in the store."""
    return template[1]


@pytest.fixture
def shell(template: tuple[Path, Cast], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Give a shell with a store of its own."""
    shutil.copytree(template[0] / "home", tmp_path / "home")
    shutil.copytree(template[0] / "state", tmp_path / "state")
    return _shell(tmp_path, monkeypatch)


def _shell(folder: Path, patch: pytest.MonkeyPatch) -> Terminal:
    shell = Terminal(folder / "home", folder / "state")
    patch.setenv("AI_MEMORY_HOME", str(shell.home))
    patch.setenv("AI_MEMORY_STATE", str(shell.state))
    return shell


def _cast(shell: Terminal) -> Cast:
    moved = shell.ok("remember", "I moved to Lisbon in May.", "--name", "moved", "--tag", "travel")
    choir = shell.ok("remember", "Tuesdays are for the choir; no meetings then.")
    ben, scout = shell.ok("who", "add", "human", "ben"), shell.ok("who", "add", "agent", "scout")
    about = ("--entity", "Mara")
    home = shell.ok("reflect", "Home", "Mara has lived in Lisbon since May.", "--from", moved["id"], *about)
    sings = "Mara sings in a choir on Tuesdays."
    tuesdays = shell.ok("reflect", "Tuesdays", sings, "--from", choir["id"], *about, "--as", "scout")
    persona = shell.ok("persona", "mara", "--regenerate")["persona"]
    private = shell.ok("remember", "I look for a flat.", "--namespace", f"users/{ben['id']}", "--as", "ben")
    ann = moved["by"]["id"]
    rows = (moved, choir, home, tuesdays, persona, private)
    return Cast(ann, ben["id"], scout["id"], *(row["id"] for row in rows))
