"""A sealed key at the command line: the passphrase from a file or typed unseen, and a refusal without either."""

from pathlib import Path

import pytest
import typer

from substrate.actions import seals
from tests.cli.terminal import Terminal

WORD = "four words of Ann's"


@pytest.fixture
def word(shell: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with the passphrase of the key that was just sealed; Argon2id is made cheap."""
    monkeypatch.setattr(seals.seal, "__kwdefaults__", {"ops": 1, "mem": 8192})
    place = tmp_path / "word"
    place.write_text(WORD + "\n")
    shell.ok("remember", "The mill is shut.")
    assert shell.ok("who", "seal", "--new-passphrase-file", str(place)) == {"sealed": True}
    return str(place)


def test_a_decision_is_refused_without_the_passphrase_and_made_with_it(
    shell: Terminal, word: str, monkeypatch: pytest.MonkeyPatch
):
    ask = ("who", "add", "agent", "heron")
    error = shell.fails(*ask, code=3)
    assert (error["code"], error["details"]["reason"]) == ("forbidden", "sealed")
    assert shell.ok("--passphrase-file", word, *ask)["handle"] == "heron"
    monkeypatch.setenv("AI_MEMORY_PASSPHRASE_FILE", word)
    assert shell.ok("audit", "rotate")["epoch"] == 2
    assert shell.ok("remember", "The mill runs again.")["id"]
    assert shell.ok("audit", "verify")["ok"]
    monkeypatch.setenv("AI_MEMORY_PASSPHRASE_FILE", f"{word}-absent")
    assert shell.fails(*ask[:3], "egret", code=4)["code"] == "not_found"
    assert shell.ok("list")["items"]


def test_whose_key_is_sealed_is_told(shell: Terminal, word: str):
    for sealed in (True, False):
        if not sealed:
            shell.ok("--passphrase-file", word, "who", "unseal")
        assert {row["handle"]: row["sealed"] for row in shell.ok("status")["people"]} == {"ann": sealed, "ben": False}
        ann = "sealed" if sealed else "open"
        assert f"people: ann (key {ann}), ben (key open)" in shell("status").out.splitlines()
        for who, found in (("ann", sealed), ("ben", False), ("scout", False)):
            assert shell.ok("who", "show", who)["sealed"] is found
            assert f"sealed: {found}" in shell("who", "show", who).out.splitlines()
        listed = {row["handle"] for row in shell.ok("who", "list")["items"] if row["sealed"]}
        assert listed == ({"ann"} if sealed else set())
    shell.ok("--as", "ben", "who", "retire", "ben")
    assert [row["handle"] for row in shell.ok("status")["people"]] == ["ann"]


def test_a_wrong_passphrase_and_a_file_that_has_none_are_told(shell: Terminal, word: str):
    ask = ("who", "add", "agent", "heron")
    for data, code in ((b"not the four words", "forbidden"), (b"", "forbidden"), (b"\xff\xfe", "invalid")):
        Path(word).write_bytes(data)
        done = shell("--json", "--passphrase-file", word, *ask)
        assert code in done.err
        assert WORD not in done.err + done.out
    assert "heron" not in [row["handle"] for row in shell.ok("who", "list")["items"]]


def test_the_passphrase_is_typed_unseen_on_a_terminal(shell: Terminal, word: str, monkeypatch: pytest.MonkeyPatch):
    asked = []

    def prompt(text: str, **how: object) -> str:
        asked.append((text, how["hide_input"], how["confirmation_prompt"]))
        return WORD if len(asked) != 3 else "four other words"

    monkeypatch.setattr("cli.door._on_terminal", lambda: True)
    monkeypatch.setattr(typer, "prompt", prompt)
    shell.ok("who", "add", "agent", "heron")
    assert shell.ok("who", "seal") == {"sealed": True}
    assert asked == [("passphrase", True, False), ("passphrase", True, False), ("new passphrase", True, True)]
    Path(word).write_text("four other words")
    assert shell.ok("--passphrase-file", word, "who", "unseal") == {"sealed": False}
    asked.clear()
    assert shell.ok("who", "add", "agent", "egret")["handle"] == "egret"
    assert asked == []
    assert shell.ok("audit", "verify")["ok"]


def test_without_a_terminal_nothing_is_asked(shell: Terminal, word: str):
    assert shell.fails("who", "unseal", code=3)["details"]["reason"] == "sealed"
    error = shell("--json", "--passphrase-file", word, "who", "seal")
    assert (error.code, error.error["details"]["fields"]) == (2, {"passphrase": "missing"})


def test_who_decides_about_a_store_that_is_refused_needs_it_as_well(shell: Terminal, word: str, tmp_path: Path):
    error = shell.fails("audit", "fork", code=3)
    assert error["details"]["reason"] == "sealed"
    assert shell.ok("--passphrase-file", word, "audit", "fork")["store_id"].startswith("store-")
    assert shell.ok("audit", "verify")["ok"]
    assert shell.ok("backup", str(tmp_path / "one.backup"))["sequence"]
    (shell.home / "memory.duckdb").unlink()
    assert shell.fails("restore", str(tmp_path / "one.backup"), code=3)["details"]["reason"] == "sealed"
    assert shell.ok("--passphrase-file", word, "restore", str(tmp_path / "one.backup"))["sequence"]
    assert shell.ok("audit", "verify")["ok"]
