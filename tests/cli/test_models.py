"""Which model writes a persona, as one meets it on the command line."""

from dataclasses import replace

import pytest

from substrate import config
from substrate.config import Models
from tests.cli.terminal import Terminal
from tests.servers.ollama import ollama

AGAIN = ("persona", "mara", "--regenerate", "--full")


@pytest.mark.requirement("S3-40")
def test_without_any_model_the_built_in_curator_serves_and_says_so(shell: Terminal):
    done = shell(*AGAIN)
    assert done.code == 0
    assert "built-in extractive curator" in done.err
    assert "Ollama at 'http://127.0.0.1:9' cannot be reached" in done.err
    assert shell.ok(*AGAIN)["written_by"]["name"] == "extractive"


@pytest.mark.requirement("S3-40")
def test_a_model_that_is_off_or_was_named_and_does_not_answer_ends_with_2_and_a_hint(
    shell: Terminal, monkeypatch: pytest.MonkeyPatch
):
    gone = shell.fails(*AGAIN, "--model", "ollama/tiny", code=2)
    assert (gone["code"], gone["details"]["reason"]) == ("no_model", "unreachable")
    assert "ollama serve" in gone["details"]["hint"]
    with ollama() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        absent = shell.fails(*AGAIN, "--model", "ollama/absent", code=2)
        assert absent["details"]["hint"] == "ollama pull absent"
    flagged = shell.fails(*AGAIN, "--model", "off", code=2)
    assert flagged["details"]["hint"].startswith("--model off asked for none")
    monkeypatch.setenv("AI_MEMORY_MODEL", "off")
    off = shell.fails(*AGAIN, code=2)
    assert (off["code"], off["details"]["reason"]) == ("no_model", "off")
    assert "extractive" in off["details"]["hint"]
    assert shell.ok("persona", "mara")["persona"]["version"] == 1


def test_a_home_that_says_off_is_overruled_by_the_environment_and_that_by_the_command(
    shell: Terminal, monkeypatch: pytest.MonkeyPatch
):
    config.write(shell.home, replace(config.read(shell.home), models=Models(persona="off")))
    assert shell.fails(*AGAIN, code=2)["details"]["reason"] == "off"
    monkeypatch.setenv("AI_MEMORY_MODEL", "extractive")
    assert shell.ok(*AGAIN)["written_by"]["name"] == "extractive"
    error = shell.fails(*AGAIN, "--model", "openai/gpt", code=2)
    assert error["details"]["reason"] == "key"
