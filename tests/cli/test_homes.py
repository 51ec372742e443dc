"""Where the store is: any folder the environment names, and a clear word about one that cannot be."""

import os
from pathlib import Path

import pytest

from substrate.store import schema
from substrate.store.db import Connection
from tests.cli.conftest import Cast
from tests.cli.terminal import Terminal


def test_the_first_write_makes_the_store_a_key_and_its_human(empty: Terminal):
    row = empty.ok("remember", "The first thing.")
    assert row["by"]["handle"] == "ann"
    assert sorted(path.name for path in (empty.home / "keys").iterdir()) == sorted(
        [f"{row['by']['id']}.key", "store.key"]
    )
    assert all(path.stat().st_mode & 0o077 == 0 for path in [empty.home, *(empty.home / "keys").iterdir()])
    assert empty.ok("status")["situation"] == "ok"


@pytest.mark.parametrize(
    ("login", "handle"), [("Ann Lee", "ann-lee"), ("Übel", "bel"), ("owner", "me"), ("hum-x", "me")]
)
def test_the_first_human_is_called_like_the_login(
    login: str, handle: str, empty: Terminal, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LOGNAME", login)
    assert empty.ok("init")["caller"]["handle"] == handle


def test_init_makes_the_store_once(empty: Terminal):
    first, second = empty.ok("init"), empty.ok("init")
    assert first["store_id"] == second["store_id"]
    assert second["events"] == first["events"]


@pytest.mark.parametrize(
    "line",
    [
        *(["list"], ["get", "x"], ["persona", "x"], ["status"], ["doctor"], ["audit", "verify"], ["audit", "recover"]),
        *(["recall", "x"], ["who", "list"], ["audit", "adopt"], ["audit", "fork"], ["rewrite"], ["timeline", "x"]),
    ],
    ids=" ".join,
)
def test_reading_makes_no_store(line: list[str], empty: Terminal):
    error = empty.fails(*line, code=4)
    assert error["code"] == "not_found"
    assert "no store in" in error["message"]
    assert error["details"]["hint"]
    assert not empty.home.exists()


def test_a_home_may_be_relative_or_have_spaces(empty: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AI_MEMORY_HOME", "my own/Träume/h'ome")
    id = empty.ok("remember", "Kept here.")["id"]
    assert empty.ok("rewrite")["bytes_after"] > 0
    assert empty.ok("get", id)["content"] == "Kept here."
    assert (tmp_path / "my own" / "Träume" / "h'ome" / "memory.duckdb").exists()


def test_a_tilde_is_the_home_of_the_user(empty: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AI_MEMORY_HOME", "~/kept")
    monkeypatch.delenv("AI_MEMORY_STATE")
    empty.ok("remember", "Kept here.")
    user = Path(os.environ["HOME"])
    assert (user / "kept" / "memory.duckdb").exists()
    assert any((user / ".local" / "state" / "ai-memory").iterdir())


def test_a_home_of_a_user_that_is_not_there_is_invalid(empty: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AI_MEMORY_HOME", "~nosuchuser/kept")
    assert empty.fails("list", code=2)["code"] == "invalid"


def test_a_folder_that_is_gone_is_told(empty: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv("AI_MEMORY_HOME", "here")
    assert empty.fails("remember", "text", code=2)["code"] == "invalid"


def test_a_file_in_the_place_of_the_home_is_told(empty: Terminal):
    empty.home.write_text("mine")
    for line in (["remember", "text"], ["list"], ["doctor"]):
        error = empty.fails(*line, code=2)
        assert error["code"] == "invalid"
        assert "AI_MEMORY_HOME" in error["message"] and error["details"]["hint"] == "name a folder"
    assert empty.home.read_text() == "mine"


def test_a_file_above_the_home_or_in_the_place_of_the_state_is_told(empty: Terminal, monkeypatch: pytest.MonkeyPatch):
    empty.home.write_text("mine")
    monkeypatch.setenv("AI_MEMORY_HOME", str(empty.home / "deeper" / "home"))
    assert str(empty.home) in empty.fails("remember", "text", code=2)["message"]
    monkeypatch.setenv("AI_MEMORY_HOME", str(empty.home.with_name("other")))
    monkeypatch.setenv("AI_MEMORY_STATE", str(empty.home))
    assert "AI_MEMORY_STATE" in empty.fails("remember", "text", code=2)["message"]


def test_a_home_that_cannot_be_made_is_told(empty: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AI_MEMORY_HOME", "/proc/ai-memory")
    assert empty.fails("remember", "text", code=6)["code"] == "unavailable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_cannot_be_written_is_read_only(shell: Terminal, cast: Cast):
    for path in (shell.home / "memory.duckdb", shell.home):
        path.chmod(path.stat().st_mode & 0o555)
    try:
        assert shell.ok("get", cast.moved)["id"] == cast.moved
        assert shell.ok("status")["read_only"] is True
        assert shell.fails("remember", "text", code=6)["code"] == "unavailable"
    finally:
        shell.home.chmod(0o700)


def test_a_database_that_is_none_is_an_integrity_error(empty: Terminal):
    empty.home.mkdir()
    (empty.home / "memory.duckdb").write_bytes(b"not a database" * 1000)
    error = empty.fails("list", code=7)
    assert error["code"] == "integrity"
    done = empty("doctor")
    assert done.code == 7
    assert "BAD" in done.out and "mend: " in done.out
    assert empty("remember", "text").code == 7


def test_a_store_from_a_newer_version_is_refused_and_untouched(shell: Terminal):
    connection = Connection(shell.home / "memory.duckdb", altering=True)
    connection.run("UPDATE schema_meta SET value = ? WHERE key = 'version'", [str(schema.VERSION + 1)])
    connection.close()
    before = (shell.home / "memory.duckdb").read_bytes()
    for line in (["list"], ["remember", "text"], ["audit", "keys"]):
        error = shell.fails(*line, code=6)
        assert error["code"] == "unavailable"
        assert "upgrade" in error["details"]["hint"]
    assert (shell.home / "memory.duckdb").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("principal = 3", "principal"),
        ("colour = 'red'", "colour"),
        ("principal = ", "cannot be read"),
        ("[engine]\nthreads = 2", "engine"),
        ("\xff", "cannot be read"),
    ],
)
def test_settings_that_are_wrong_are_named(text: str, says: str, shell: Terminal):
    (shell.home / "config.toml").write_bytes(text.encode("latin-1"))
    error = shell.fails("list", code=2)
    assert error["code"] == "invalid"
    assert says in error["message"] and "config.toml" in error["message"]
    assert shell("doctor").code == 7


def test_settings_that_others_may_write_are_refused(shell: Terminal):
    (shell.home / "config.toml").chmod(0o666)
    assert "chmod go-w" in shell.fails("list", code=2)["details"]["hint"]


def test_settings_that_are_gone_are_made_again(shell: Terminal, cast: Cast):
    (shell.home / "config.toml").unlink()
    assert shell.ok("status")["caller"]["id"] == cast.ann
    assert cast.ann in (shell.home / "config.toml").read_text()


def test_a_home_without_its_store_key_reads_and_does_not_write(shell: Terminal, cast: Cast):
    (shell.home / "keys" / "store.key").unlink()
    assert shell.ok("get", cast.moved)["id"] == cast.moved
    error = shell.fails("remember", "text", code=6)
    assert (error["code"], "store.key" in error["message"]) == ("unavailable", True)
    assert shell("doctor").code == 7
