"""The server enters a client's settings without touching anything else there, and leaves no trace when taken out."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli import mcp_install
from tests.cli.terminal import Terminal

OTHER = {"type": "stdio", "command": "weather", "args": ["--units", "c"], "env": {}}
SETTINGS = """{
\t"theme": "dark",
\t"cost": 0.125,
\t"mcpServers": {
\t\t"weather": {"command": "weather"}
\t},
\t"n": 1
}"""


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a command of the right name, and work in a folder of one's own."""
    (tmp_path / "bin").mkdir()
    path = tmp_path / "bin" / "ai-memory"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return path


def claude() -> Path:
    return Path.home() / ".claude.json"


@pytest.mark.parametrize(
    ("client", "scope", "place"),
    [
        ("claude-code", "user", "~/.claude.json"),
        ("claude-code", "project", ".mcp.json"),
        ("cursor", "user", "~/.cursor/mcp.json"),
        ("cursor", "project", ".cursor/mcp.json"),
    ],
)
def test_a_client_without_settings_gets_a_file_and_loses_it_again(
    empty: Terminal, program: Path, client: str, scope: str, place: str
):
    path = Path(place).expanduser()
    answer = empty.ok("mcp", "install", client, "--scope", scope, "--as", "scout")
    assert (answer["changed"], Path(answer["path"])) == (True, path.resolve())
    server = json.loads(path.read_text())["mcpServers"]["ai-memory"]
    assert server == answer["server"]
    assert (server["command"], server["args"]) == (str(program), ["--as", "scout", "mcp"])
    assert server["env"]["AI_MEMORY_HOME"] == str(empty.home)
    assert empty.ok("mcp", "install", client, "--scope", scope, "--undo")["changed"] is True
    assert not path.exists()
    assert [*path.parent.glob("*ai-memory*")] == []


def test_other_keys_keep_their_order_and_form_and_undo_restores_the_bytes(empty: Terminal):
    claude().write_text(SETTINGS)
    claude().chmod(0o640)
    empty.ok("mcp", "install", "claude-code")
    document = json.loads(claude().read_text())
    assert [*document] == ["theme", "cost", "mcpServers", "n"]
    assert [*document["mcpServers"]] == ["weather", "ai-memory"]
    assert document["mcpServers"]["weather"] == {"command": "weather"}
    assert '\n\t"theme": "dark",\n\t"cost": 0.125' in claude().read_text()
    assert stat.S_IMODE(claude().stat().st_mode) == 0o640
    assert empty("mcp", "install", "claude-code", "--undo").code == 0
    assert claude().read_text() == SETTINGS
    assert [path.name for path in claude().parent.glob(".claude*")] == [".claude.json"]


def test_installing_twice_is_installing_once_and_a_change_still_goes_back_to_the_start(empty: Terminal):
    claude().write_text(SETTINGS)
    empty.ok("mcp", "install", "claude-code")
    once = claude().read_bytes()
    assert empty.ok("mcp", "install", "claude-code")["changed"] is False
    assert claude().read_bytes() == once
    assert empty.ok("--tier", "semantic", "mcp", "install", "claude-code", "--profile", "full")["changed"] is True
    server = json.loads(claude().read_text())["mcpServers"]["ai-memory"]
    assert server["args"] == ["--tier", "semantic", "mcp", "--profile", "full"]
    empty.ok("mcp", "install", "claude-code", "--undo")
    assert claude().read_text() == SETTINGS
    assert empty.ok("mcp", "install", "claude-code", "--undo")["changed"] is False


def test_of_settings_that_changed_since_only_the_entry_goes(empty: Terminal):
    claude().write_text(SETTINGS)
    empty.ok("mcp", "install", "claude-code")
    document = json.loads(claude().read_text()) | {"new": [1]}
    claude().write_text(json.dumps(document))
    empty.ok("mcp", "install", "claude-code", "--undo")
    del document["mcpServers"]["ai-memory"]
    assert json.loads(claude().read_text()) == document


def test_another_server_of_that_name_is_replaced_by_force_only_and_comes_back(empty: Terminal):
    before = {"mcpServers": {"ai-memory": OTHER}}
    claude().write_text(json.dumps(before))
    assert empty.fails("mcp", "install", "claude-code", code=3)["details"]["reason"] == "name"
    assert empty.ok("mcp", "install", "claude-code", "--undo")["changed"] is False
    empty.ok("mcp", "install", "claude-code", "--force")
    claude().write_text(json.dumps(json.loads(claude().read_text()) | {"new": 1}))
    empty.ok("mcp", "install", "claude-code", "--undo")
    assert json.loads(claude().read_text()) == before | {"new": 1}


def test_a_dry_run_says_what_it_would_do_and_does_nothing(empty: Terminal):
    claude().write_text(SETTINGS)
    done = empty("mcp", "install", "claude-code", "--dry-run")
    assert done.out.startswith(f"would add ai-memory to {claude()}")
    assert '"args"' in done.out
    assert claude().read_text() == SETTINGS


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"mcpServers": []}',
        '{"a": 1, "a": 2}',
        "// a note\n{}",
        "\ufeff{}",
        "[" * 5_000,
        '{"a": NaN}',
        '{"a": "\\u0000"}',
    ],
    ids=[
        "cut off",
        "no object",
        "servers in a list",
        "a key twice",
        "a comment",
        "a byte order mark",
        "nested deep",
        "no number",
        "a zero",
    ],
)
def test_settings_that_would_not_survive_are_refused_and_left_alone(empty: Terminal, text: str):
    claude().write_text(text)
    assert empty.fails("mcp", "install", "claude-code", code=2)["code"] == "invalid"
    assert claude().read_text() == text
    assert [path.name for path in claude().parent.glob(".claude*")] == [".claude.json"]


def test_a_number_stays_as_it_was_spelled(empty: Terminal):
    claude().write_text('{"a": 1e400, "b": [-0, 1e-7, 0.10, 12345678901234567890.5]}')
    empty.ok("mcp", "install", "claude-code")
    text = claude().read_text()
    assert all(number in text for number in ("1e400", "-0", "1e-7", "0.10", "12345678901234567890.5"))
    assert "mcpServers" in json.loads(text)


def test_a_file_of_the_name_that_settings_are_kept_under_is_left_alone(empty: Terminal):
    claude().write_text(SETTINGS)
    own = claude().with_name(".claude.json.before-ai-memory")
    own.write_text("mine")
    assert empty.fails("mcp", "install", "claude-code", code=5)["code"] == "conflict"
    assert (claude().read_text(), own.read_text()) == (SETTINGS, "mine")


def test_half_a_character_in_the_settings_survives(empty: Terminal):
    claude().write_text('{"a": "\\ud83d", "b": "é"}')
    empty.ok("mcp", "install", "claude-code")
    assert json.loads(claude().read_text())["a"] == "\ud83d"


def test_settings_that_are_a_link_stay_one(empty: Terminal, tmp_path: Path):
    (tmp_path / "dotfiles").mkdir()
    kept = tmp_path / "dotfiles" / "claude.json"
    kept.write_text(SETTINGS)
    claude().symlink_to(kept)
    empty.ok("mcp", "install", "claude-code")
    assert claude().is_symlink() and "ai-memory" in kept.read_text()
    empty.ok("mcp", "install", "claude-code", "--undo")
    assert kept.read_text() == SETTINGS


def test_settings_in_a_folder_that_cannot_be_written_are_an_error(empty: Terminal):
    (Path.home() / ".cursor").write_text("a file where the folder should be")
    assert empty.fails("mcp", "install", "cursor", code=6)["code"] == "unavailable"


def test_a_pipe_in_the_place_of_the_settings_does_not_block(empty: Terminal):
    os.mkfifo(claude())
    assert empty.fails("mcp", "install", "claude-code", code=2)["code"] == "invalid"


def test_an_unknown_client_or_scope_names_those_there_are(empty: Terminal):
    assert "claude-code, cursor" in empty.fails("mcp", "install", "vim", code=2)["details"]["hint"]
    assert empty.fails("mcp", "install", "cursor", "--scope", "world", code=2)["code"] == "invalid"


def test_a_principal_that_the_store_does_not_know_is_refused_with_what_adds_it(shell: Terminal):
    error = shell.fails("--as", "nobody", "mcp", "install", "cursor", code=4)
    assert "'nobody'" in error["message"]
    assert error["details"]["hint"] == "add it first: ai-memory who add agent nobody"
    assert not Path("~/.cursor/mcp.json").expanduser().exists()
    assert shell.ok("--as", "scout", "mcp", "install", "cursor")["changed"]


def test_in_the_home_folder_a_project_is_not_taken_for_all_projects(empty: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(Path.home())
    assert empty.ok("mcp", "install", "cursor")["changed"]
    before = Path("~/.cursor/mcp.json").expanduser().read_bytes()
    error = empty.fails("--as", "scout", "mcp", "install", "cursor", "--scope", "project", code=2)
    assert "home folder" in error["message"] and "project's folder" in error["details"]["hint"]
    assert Path("~/.cursor/mcp.json").expanduser().read_bytes() == before
    assert empty.ok("mcp", "install", "claude-code", "--scope", "project")["path"].endswith(".mcp.json")


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
NAMES = TEXT.filter(lambda name: name not in ("mcpServers", "ai-memory"))


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.none() | st.dictionaries(NAMES, VALUES, max_size=3),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.booleans(),
    st.booleans(),
)
def test_whatever_the_settings_they_come_back_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, other: Any, servers: Any, indent: Any, plain: bool, broken: bool
):
    path = tmp_path_factory.mktemp("settings") / "s.json"
    document = other | ({} if servers is None else {"mcpServers": servers})
    before = (json.dumps(document, indent=indent, ensure_ascii=plain) + ("\n" if broken else "")).encode()
    path.write_bytes(before)
    server = {"type": "stdio", "command": "/bin/ai-memory", "args": ["mcp"], "env": {}}
    assert mcp_install.install(path, server, force=False, dry_run=False)
    after = json.loads(path.read_bytes())
    assert after["mcpServers"] == (servers or {}) | {"ai-memory": server}
    assert {name: value for name, value in after.items() if name != "mcpServers"} == other
    assert mcp_install.undo(path, dry_run=False)
    assert path.read_bytes() == before
