"""A model is chosen by what answers; one that was named and is not there is an error, never a silent other."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from curator.llm.choice import choose
from curator.llm.model import Message
from substrate.config import Models
from substrate.errors import Integrity, Invalid, NoModel, NotFound
from substrate.limits import PROBE_SECONDS
from tests.servers.faults import FAULTS
from tests.servers.ollama import listed, ollama, openai
from tests.servers.sockets import served, unused

NOBODY = unused()


@pytest.mark.requirement("S0-52")
@pytest.mark.parametrize(
    "form", ["", "CHEAP", "gpt", "ollama/", "azure/gpt", "ollama/a b", "/x", "off ", "openai/\x1b"]
)
def test_a_form_that_is_none_is_refused_with_those_there_are(form: str):
    with pytest.raises(Invalid) as caught:
        choose(Models(), form, purpose="persona")
    assert "ollama/<model>" in caught.value.hint


@pytest.mark.requirement("S0-52", "S0-54")
@pytest.mark.parametrize("purpose", ["persona", "reflect"])
def test_off_is_no_model_and_says_so(purpose):  # type: ignore[no-untyped-def]
    with pytest.raises(NoModel) as caught:
        choose(Models(persona="off", reflect="off"), purpose=purpose)
    assert caught.value.details["reason"] == "off"
    assert choose(Models(**{purpose: "off"}), "extractive", purpose=purpose).model is None


def test_each_purpose_has_a_setting_of_its_own():
    models = Models(persona="extractive", reflect="off")
    assert choose(models, purpose="persona").name == "extractive"
    with pytest.raises(NoModel):
        choose(models, purpose="reflect")


@pytest.mark.requirement("S0-53")
def test_cheap_is_the_smallest_model_of_the_local_ollama_that_talks_and_runs_here():
    models = [
        listed("large:latest", 9_000),
        listed("b:1b", 2_000),
        listed("a:1b", 2_000),
        listed("nomic-embed-text:latest", 10, "nomic-bert"),
        listed("bge-m3:latest", 20),
        listed("gpt-oss:120b-cloud", 1),
        listed("away:latest", 2, remote_host="https://example.org", remote_model="away"),
        {"name": "none of\x1b ours", "size": 3},
        {"name": "odd:latest", "size": "small", "details": None} | {"size": 5_000},
    ]
    with ollama(models=models) as server:
        chosen = choose(Models(ollama_url=server.url), purpose="persona")
    assert (chosen.name, chosen.model is not None) == ("ollama/a:1b", True)
    assert "smallest" in chosen.why


@pytest.mark.requirement("S0-53")
def test_cheap_is_the_model_that_is_set_when_ollama_has_it():
    with ollama(models=[listed("small:latest", 1), listed("wise:latest", 9)]) as server:
        assert choose(Models(ollama_url=server.url, ollama_model="wise"), purpose="reflect").name == "ollama/wise"
        passed = choose(Models(ollama_url=server.url, ollama_model="absent"), purpose="reflect")
    assert (passed.name, passed.model) == ("extractive", None)
    assert "no model 'absent'" in passed.why


@pytest.mark.requirement("S0-53")
def test_cheap_is_the_provider_when_no_ollama_answers_and_it_is_configured():
    configured = Models(ollama_url=NOBODY, openai_model="gpt", openai_key="sk-ours")
    chosen = choose(configured, purpose="persona")
    assert chosen.name == "openai/gpt"
    assert "cannot be reached" in chosen.why
    assert "sk-ours" not in f"{chosen} {configured}"
    own = choose(
        Models(ollama_url=NOBODY, openai_model="gpt", openai_url="http://127.0.0.1:8080/v1"), purpose="persona"
    )
    assert own.name == "openai/gpt"


@pytest.mark.requirement("S0-53")
@pytest.mark.parametrize(
    ("models", "why"),
    [
        (Models(), "no openai_model is set"),
        (Models(openai_key="sk-ours"), "no openai_model is set"),
        (Models(openai_model="gpt"), "there is no key"),
        (Models(openai_model="gpt", openai_url="nowhere"), "'nowhere' is not the address"),
        (Models(openai_model="gpt", openai_key_file="/nowhere/key"), "does not exist"),
    ],
)
def test_cheap_is_what_is_built_in_when_nothing_else_is_there(models: Models, why: str):
    chosen = choose(replace(models, ollama_url=NOBODY), purpose="persona")
    assert (chosen.name, chosen.model) == ("extractive", None)
    assert "cannot be reached" in chosen.why
    assert why in chosen.why


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_an_ollama_that_misbehaves_is_passed_over_within_a_moment(fault: str):
    behave, reason = FAULTS[fault]
    with served(behave) as server:
        chosen = choose(Models(ollama_url=server.url), purpose="persona")
    assert chosen.name == "extractive"
    assert chosen.why.isprintable()
    assert (reason == "timeout") == (f"did not answer within {PROBE_SECONDS} s" in chosen.why)


@pytest.mark.requirement("S3-40")
def test_a_model_that_was_named_and_cannot_be_had_is_an_error_with_what_to_do():
    with ollama() as server:
        assert choose(Models(ollama_url=server.url), "ollama/tiny", purpose="persona").name == "ollama/tiny"
        with pytest.raises(NoModel) as missing:
            choose(Models(ollama_url=server.url), "ollama/absent", purpose="persona")
    with pytest.raises(NoModel) as gone:
        choose(Models(ollama_url=NOBODY), "ollama/tiny", purpose="persona")
    with pytest.raises(NoModel) as keyless:
        choose(Models(), "openai/gpt", purpose="persona")
    with pytest.raises(NoModel) as away:
        choose(Models(openai_url=NOBODY), "openai/gpt", purpose="persona")
    with pytest.raises(Invalid):
        choose(Models(ollama_url="nowhere"), "ollama/tiny", purpose="persona")
    found = [(caught.value.details["reason"], caught.value.exit_code) for caught in (missing, gone, keyless, away)]
    assert found == [("missing", 2), ("unreachable", 2), ("key", 2), ("unreachable", 2)]
    hints = [caught.value.hint for caught in (missing, gone, keyless, away)]
    assert hints[:2] == ["ollama pull absent", "start it with `ollama serve`, or choose extractive"]
    assert "OPENAI_API_KEY" in hints[2]
    assert "openai_url" in hints[3]


def test_the_key_is_read_from_its_private_file(tmp_path: Path):
    path = tmp_path / "keys" / "openai.key"
    path.parent.mkdir(mode=0o700)
    path.touch(0o600)
    path.write_text("sk-from-a-file\n")
    models = Models(openai_model="gpt", openai_key_file=str(path))
    with openai("Yes.", key="sk-from-a-file") as server:
        chosen = choose(replace(models, openai_url=server.url + "/v1"), "openai/gpt", purpose="persona")
        assert chosen.model is not None
        assert chosen.model.complete([Message("user", "Well?")]).text == "Yes."
        local = replace(models, openai_url=server.url + "/v1")
        path.chmod(0o644)
        with pytest.raises(Integrity):
            choose(local, "openai/gpt", purpose="persona")
        path.chmod(0o600)
        path.write_text("two words")
        with pytest.raises(Invalid, match="not one line of printable"):
            choose(local, "openai/gpt", purpose="persona")
        path.unlink()
        with pytest.raises(NotFound):
            choose(local, "openai/gpt", purpose="persona")


def test_the_probe_needs_none_of_the_heavy_clients():
    code = (
        "import sys; from curator.llm.choice import choose; from substrate.config import Models;"
        f"print(choose(Models(ollama_url={NOBODY!r}), purpose='persona').name, *sys.modules)"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    name, *modules = done.stdout.split()
    assert name == "extractive"
    assert {"ollama", "httpx", "pydantic", "jsonschema"} & set(modules) == set()
