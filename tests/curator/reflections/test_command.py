"""The command `distil` shows what it would write, writes it, and says what it dropped and why."""

from pathlib import Path

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A shell with a store in which three things were observed, two of them of Ines."""
    monkeypatch.setenv("AI_MEMORY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AI_MEMORY_STATE", str(tmp_path / "state"))
    found = Terminal(tmp_path / "home", tmp_path / "state")
    found.ok("remember", "Ines repairs church organs.")
    found.ok("entity", "add", "ines", "--name", "Ines Duarte")
    found.ok("remember", "What does Ines want?\x1b[31m")
    found.ok("remember", "Nobody is named here.")
    return found


def test_what_would_be_written_is_shown_with_its_sources_and_what_was_dropped(shell: Terminal):
    done = shell("distil", "ines", "--dry-run", "--model", "extractive")
    assert done.code == 0 and "\x1b" not in done.out
    assert done.out.splitlines()[0] == "Ines Duarte: 2 observations, 1 reflection would be written by extractive"
    assert "> Ines repairs church organs." in done.out and "carries a control" in done.out
    assert shell.ok("list", "--kind", "reflection")["total"] == 0


def test_the_answer_as_json_names_ids_sources_and_reasons(shell: Terminal):
    found = shell.ok("distil", "INES", "--model", "extractive")
    assert found.keys() == {"namespace", "dry_run", "entities"}
    [one] = found["entities"]
    assert (one["entity_id"], one["considered"], one["left"], one["model"]) == ("ines", 2, 0, "extractive")
    [made] = one["reflections"]
    row = shell.ok("get", made["id"])
    assert (row["content"], row["derived_from"], row["by"]["handle"]) == (made["text"], made["sources"], "curator")
    assert [lost["reason"] for lost in one["dropped"]] == ["carries a control, invisible or stacked character"]
    assert shell.ok("distil", "--model", "extractive")["entities"] == []
    assert "nothing new" in shell("distil", "--model", "extractive").out


def test_a_name_nobody_registered_and_a_model_nobody_has_are_told(shell: Terminal):
    assert shell.fails("distil", "nobody", code=3)["details"]["reason"] == "not_registered"
    assert shell.fails("distil", "ines", "--model", "gpt", code=2)["details"]["reason"] == "model"
    assert shell.fails("distil", "ines", "--namespace", "agents/x", code=4)["code"] == "not_found"
    assert shell.ok("list", "--kind", "reflection")["total"] == 0
