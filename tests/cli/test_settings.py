"""What the environment says of models and tiers overrules the home's file, for this run, and is written nowhere."""

import pytest

from cli import settings
from substrate import config
from substrate.config import Config, Models
from substrate.errors import Invalid
from tests.cli.terminal import Terminal


def test_without_variables_the_home_has_its_say(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OLLAMA_HOST")
    given = Config(tier="keyword", models=Models(persona="off", openai_model="gpt"))
    assert settings.overlaid(given) == given


@pytest.mark.requirement("S0-54", "S0-55")
def test_every_variable_has_its_field(monkeypatch: pytest.MonkeyPatch):
    for name, value in {
        "AI_MEMORY_MODEL": "ollama/tiny",
        "AI_MEMORY_MAX_CALLS_PER_DAY": "7",
        "AI_MEMORY_TIER": "semantic",
        "AI_MEMORY_OPENAI_MODEL": "gpt",
        "OLLAMA_HOST": "0.0.0.0:4000",
        "OPENAI_BASE_URL": "http://127.0.0.1:8080/v1",
        "OPENAI_API_KEY": "sk-of-the-environment\n",
    }.items():
        monkeypatch.setenv(name, value)
    found = settings.overlaid(Config(principal="hum-x", models=Models(timeout_s=3)))
    assert (found.principal, found.tier) == ("hum-x", "semantic")
    assert found.models == Models(
        persona="ollama/tiny",
        reflect="ollama/tiny",
        ollama_url="http://127.0.0.1:4000",
        openai_url="http://127.0.0.1:8080/v1",
        openai_model="gpt",
        openai_key="sk-of-the-environment",
        timeout_s=3,
        calls_per_day=7,
    )
    assert "sk-of" not in repr(found)


def test_every_wrong_variable_is_named_and_a_key_is_not_shown(monkeypatch: pytest.MonkeyPatch):
    wrong = {
        "AI_MEMORY_MAX_CALLS_PER_DAY": "-1",
        "AI_MEMORY_TIER": "genius",
        "AI_MEMORY_OPENAI_MODEL": "two words",
        "OPENAI_API_KEY": "sk-with a space",
    }
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Invalid) as caught:
        settings.overlaid(Config())
    for name in wrong:
        assert name in caught.value.message and name in caught.value.hint
    assert "AI_MEMORY_TIER is wrong: 'genius'" in caught.value.message
    assert "sk-with" not in str(caught.value.as_json())


def test_an_address_that_another_program_set_stops_no_command(shell: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OLLAMA_HOST", "unix:///run/ollama.sock")
    monkeypatch.setenv("OPENAI_BASE_URL", "nonsense")
    assert shell("list").code == 0


def test_a_model_that_is_none_stops_what_needs_one_and_no_other_command(
    shell: Terminal, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AI_MEMORY_MODEL", "g\x1bpt")
    assert shell("list").code == 0 and shell("persona", "mara").code == 0
    for line in (["persona", "mara", "--regenerate", "--full"], ["tick"]):
        error = shell.fails(*line, code=2)
        assert "g\\u{1b}pt" in error["message"]
        assert (
            "AI_MEMORY_MODEL" in error["message"] + error["details"]["hint"]
            and "extractive" in error["details"]["hint"]
        )
    assert shell.ok("persona", "mara", "--regenerate", "--full", "--model", "extractive")["persona"]["version"] == 2


def test_what_the_environment_says_is_written_nowhere(empty: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    monkeypatch.setenv("AI_MEMORY_MODEL", "off")
    empty.ok("remember", "I keep bees.")
    for path in empty.home.rglob("*"):
        if path.is_file():
            assert b"sk-of-the-environment" not in path.read_bytes()
    assert config.read(empty.home).models == Models()


def test_what_a_home_says_of_models_before_its_first_use_is_kept(empty: Terminal):
    empty.home.mkdir(mode=0o700)
    written = Config(tier="autonomous", models=Models(reflect="off", calls_per_day=3, openai_key_file="~/openai.key"))
    config.write(empty.home, written)
    made = empty.ok("remember", "I keep bees.")
    found = config.read(empty.home)
    assert found == Config(made["by"]["id"], {}, written.tier, written.models)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("127.0.0.1", "http://127.0.0.1:11434"),
        (":4000", "http://127.0.0.1:4000"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::1]:4000", "http://[::1]:4000"),
        ("[::]", "http://[::1]:11434"),
        ("http://box", "http://box:80"),
        ("https://box.example/ollama/", "https://box.example:443/ollama"),
        ("'box:4000'", "http://box:4000"),
        ("http://box:4000/", "http://box:4000"),
        ("unix:///run/ollama.sock", "unix:///run/ollama.sock"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(host: str, url: str):
    assert settings.ollama_url(host) == url
