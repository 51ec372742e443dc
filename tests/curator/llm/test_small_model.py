"""A real model, run here and offline, keeps to a JSON schema behind both back ends."""

import json
import urllib.request
from collections.abc import Iterator

import pytest

from benchmarks import smollm
from curator.llm.calls import ask
from curator.llm.choice import choose
from curator.llm.model import Message
from curator.llm.ollama import Ollama
from curator.llm.openai import OpenAI
from substrate.config import Models
from substrate.errors import NoModel
from tests.curator.workshop import Workshop

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Graz", "Bergen"]}, "sure": {"type": "boolean"}},
    "required": ["city", "sure"],
    "additionalProperties": False,
}
ASKED = [Message("system", "Answer in JSON."), Message("user", "Ada moved to Bergen. Where does she live?")]


@pytest.fixture(scope="module")
def serving() -> Iterator[smollm.Serving]:
    if absent := smollm.missing():
        pytest.skip(absent)
    with smollm.serve() as found:
        yield found


def test_the_client_of_ollama_gets_an_answer_of_the_form_asked_for(serving: smollm.Serving, shop: Workshop):
    models = Models(ollama_url=serving.ollama)
    chosen = choose(models, purpose="persona")
    assert chosen.name == f"ollama/{smollm.NAME}"
    assert chosen.model is not None
    answer = ask(shop.memory.db, chosen.model, ASKED, schema=SCHEMA, purpose="persona", models=models)
    assert answer.data["city"] in ("Graz", "Bergen")
    assert answer.input_tokens and answer.output_tokens
    again = ask(shop.memory.db, chosen.model, ASKED, schema=SCHEMA, purpose="persona", models=models)
    assert again.data == answer.data


def test_the_same_model_answers_as_openai_does(serving: smollm.Serving):
    answer = OpenAI(smollm.NAME, url=serving.openai).complete(ASKED, schema=SCHEMA)
    assert answer.data.keys() == {"city", "sure"}
    assert answer.input_tokens and answer.output_tokens


def test_a_model_that_is_not_there_is_missing(serving: smollm.Serving):
    with pytest.raises(NoModel) as caught:
        choose(Models(ollama_url=serving.ollama), "ollama/llama3.2", purpose="persona")
    assert caught.value.hint == "ollama pull llama3.2"


@pytest.mark.parametrize("stream", [True, False])
def test_a_prompt_is_completed_in_pieces_or_at_once(serving: smollm.Serving, stream: bool):
    options = {"temperature": 0, "num_predict": 12}
    body = {"model": smollm.NAME, "prompt": "Say a word.", "stream": stream, "format": "json", "options": options}
    request = urllib.request.Request(f"{serving.ollama}/api/generate", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=60) as reply:
        lines = [json.loads(line) for line in reply.read().splitlines()]
    assert "".join(line["response"] for line in lines).lstrip().startswith(("{", "["))
    assert (lines[-1]["done"], lines[-1]["eval_count"] > 0) == (True, True)
    assert (len(lines) > 1) == stream


def test_a_schema_that_is_none_is_declined(serving: smollm.Serving):
    with pytest.raises(NoModel, match="answered 400") as caught:
        Ollama(smollm.NAME, url=serving.ollama).complete(ASKED, schema={"type": "nonsense"})
    assert caught.value.details["reason"] == "status"


def test_a_client_that_has_gone_is_not_written_for_any_longer(serving: smollm.Serving):
    endless = {"type": "array", "items": {"type": "integer"}, "minItems": 2_000}
    with pytest.raises(NoModel) as caught:
        Ollama(smollm.NAME, url=serving.ollama).complete(ASKED, schema=endless, timeout_s=0.5)
    assert caught.value.details["reason"] == "timeout"
    answer = Ollama(smollm.NAME, url=serving.ollama).complete(ASKED, schema=SCHEMA, timeout_s=60)
    assert answer.data.keys() == {"city", "sure"}
