"""Both back ends end every misbehaviour of a server in one typed error, in time, and give nothing away."""

import json
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.llm.model import Message, Model
from curator.llm.ollama import Ollama
from curator.llm.openai import OpenAI
from substrate.errors import Invalid, NoModel
from tests.servers import ollama as servers
from tests.servers.faults import FAULTS
from tests.servers.sockets import served, unused

SCHEMA = {
    "type": "object",
    "properties": {"fact": {"type": "string"}},
    "required": ["fact"],
    "additionalProperties": False,
}
ASKED = [Message("system", "The items are data."), Message("user", "Where does Ada live?")]
KEY = "sk-a-secret-of-ours"

BACK_ENDS: dict[str, Callable[[str], Model]] = {
    "ollama": lambda url: Ollama("tiny", url=url),
    "openai": lambda url: OpenAI("tiny", url=f"{url}/v1", key=KEY),
}


@pytest.fixture(params=sorted(BACK_ENDS))
def back_end(request: pytest.FixtureRequest) -> Callable[[str], Model]:
    return BACK_ENDS[request.param]


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_every_fault_of_a_server_is_one_error_with_a_reason_and_a_hint(back_end: Callable[[str], Model], fault: str):
    behave, reason = FAULTS[fault]
    timeout_s = 0.3 if reason == "timeout" else 20.0  # the server ends it in between, and that would be a reset
    with served(behave) as server:
        with pytest.raises(NoModel) as caught:
            back_end(server.url).complete(ASKED, schema=SCHEMA, timeout_s=timeout_s)
    error = caught.value
    assert error.details["reason"] == reason
    assert error.hint
    told = f"{error.as_json()} {error.message}"
    assert KEY not in told
    assert len(error.message) < 500
    assert error.message.isprintable()


def test_a_server_that_is_not_there_is_unreachable(back_end: Callable[[str], Model]):
    with pytest.raises(NoModel, match="cannot be reached") as caught:
        back_end(unused()).complete(ASKED)
    assert caught.value.details["reason"] == "unreachable"


def test_a_redirect_takes_nothing_to_another_host(back_end: Callable[[str], Model]):
    with servers.openai() as other:
        with served(lambda exchange: exchange.reply({}, 307, Location=other.url + "/v1/chat/completions")) as server:
            with pytest.raises(NoModel, match="redirect"):
                back_end(server.url).complete(ASKED)
        assert other.requests == []


def test_proxies_and_keys_of_the_environment_do_not_apply(
    back_end: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OLLAMA_HOST"):
        monkeypatch.setenv(name, unused())
    monkeypatch.setenv("OLLAMA_API_KEY", "sk-of-another-service")
    assert os.environ["OLLAMA_API_KEY"]
    seen = []

    def behave(exchange):  # type: ignore[no-untyped-def]
        seen.append(exchange.request)
        content = {"message": {"role": "assistant", "content": "Yes."}}
        exchange.reply({"model": "tiny", **content, "choices": [content]})

    with served(behave) as server:
        assert back_end(server.url).complete(ASKED).text == "Yes."
    assert "sk-of-another-service" not in str(seen)


def test_ollama_is_asked_for_the_schema_at_temperature_0_with_a_fixed_seed():
    with servers.ollama({"fact": "Ada lives in Graz."}) as server:
        answer = Ollama("tiny", url=server.url, context_tokens=2_048).complete(ASKED, schema=SCHEMA)
        sent = server.requests[0].json
    assert answer.data == {"fact": "Ada lives in Graz."}
    assert (answer.input_tokens, answer.output_tokens) == (8, 5)
    assert (sent["model"], sent["format"], sent["stream"]) == ("tiny", SCHEMA, False)
    assert sent["options"] | {"num_predict": 0} == {"temperature": 0, "seed": 7, "num_ctx": 2_048, "num_predict": 0}
    assert 0 < sent["options"]["num_predict"] < 2_048
    assert [turn["role"] for turn in sent["messages"]] == ["system", "user"]


def test_an_answer_without_a_schema_is_text():
    with servers.ollama("Yes, {that} is so.") as server:
        answer = Ollama("tiny", url=server.url).complete(ASKED)
    assert (answer.text, answer.data) == ("Yes, {that} is so.", None)


def test_an_answer_that_was_cut_off_says_so(back_end: Callable[[str], Model]):
    message = {"message": {"role": "assistant", "content": '{"fact": "Ada li'}}
    ends = {"done": True, "done_reason": "length", "prompt_eval_count": 5, "eval_count": 9}
    body = {"model": "tiny", **message, **ends, "choices": [{**message, "finish_reason": "length"}]}
    with served(lambda exchange: exchange.reply(body)) as server:
        with pytest.raises(NoModel, match="cut off after 16 characters") as caught:
            back_end(server.url).complete(ASKED, schema=SCHEMA)
        assert caught.value.details["reason"] == "not_json"
        assert back_end(server.url).complete(ASKED).text == '{"fact": "Ada li'


def test_a_model_that_ollama_does_not_have_is_named_with_the_command_that_gets_it():
    with servers.ollama() as server, pytest.raises(NoModel, match="no model 'absent'") as caught:
        Ollama("absent", url=server.url).complete(ASKED)
    assert (caught.value.details["reason"], caught.value.hint) == ("missing", "ollama pull absent")


def test_an_answer_of_another_form_is_refused(back_end: Callable[[str], Model]):
    for serve in (servers.ollama, servers.openai):
        with serve({"fact": 3}) as server:
            model = back_end(server.url)
            if model.name.startswith(serve.__name__):
                with pytest.raises(NoModel, match="another form") as caught:
                    model.complete(ASKED, schema=SCHEMA)
                assert caught.value.details["reason"] == "wrong_schema"


def test_a_provider_is_asked_with_the_key_and_for_the_schema():
    with servers.openai({"fact": "Ada lives in Graz."}, key=KEY) as server:
        answer = OpenAI("gpt", url=server.url + "/v1/", key=KEY).complete(ASKED, schema=SCHEMA)
        request = server.requests[0]
    assert answer.data == {"fact": "Ada lives in Graz."}
    assert (answer.input_tokens, answer.output_tokens) == (11, 7)
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.json["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (request.json["temperature"], request.json["model"]) == (0, "gpt")


def test_a_server_that_declines_a_schema_is_asked_in_the_plainest_form_from_then_on():
    with servers.openai({"fact": "Ada lives in Graz."}, schemas=False) as server:
        model = OpenAI("gpt", url=server.url + "/v1")
        with pytest.raises(NoModel) as caught:
            model.complete(ASKED, schema=SCHEMA)
        assert caught.value.details["reason"] == "form"
        for _ in range(2):
            assert model.complete(ASKED, schema=SCHEMA).data == {"fact": "Ada lives in Graz."}
        forms = [request.json["response_format"]["type"] for request in server.requests]
        told = server.requests[1].json["messages"][0]
    assert forms == ["json_schema", "json_object", "json_object"]
    assert json.dumps(SCHEMA) in told["content"]


def test_a_server_that_declines_both_forms_is_asked_in_each_in_turn():
    with served(lambda exchange: exchange.reply({"error": {"message": "no"}}, 400)) as server:
        model = OpenAI("gpt", url=server.url)
        for told in ("wants a plainer request", "answered 400: 'no'", "wants a plainer request"):
            with pytest.raises(NoModel, match=told):
                model.complete(ASKED, schema=SCHEMA)
        assert len(server.requests) == 3


def test_a_wrong_key_is_told_without_the_key():
    with servers.openai(key="sk-another") as server, pytest.raises(NoModel, match="401") as caught:
        OpenAI("gpt", url=server.url + "/v1", key=KEY).complete(ASKED)
    assert KEY not in str(caught.value.as_json())
    assert "OPENAI_API_KEY" in caught.value.hint


@pytest.mark.parametrize("url", ["ftp://host", "file:///etc/passwd", "http://me:pw@host", "http://", "http://h:99999"])
def test_what_is_no_address_of_a_server_is_not_asked(url: str):
    with pytest.raises(Invalid, match="not the address of a server"):
        OpenAI("gpt", url=url).complete(ASKED)


@pytest.mark.parametrize("said", [f"bad key {KEY}", "bad key sk-a\\u002dsecret-of-ours"])
def test_a_key_that_a_server_repeats_is_left_out(said: str):
    body = f'{{"error": {{"message": "{said}"}}}}'.encode()
    with served(lambda exchange: exchange.reply(body, 500)) as server, pytest.raises(NoModel) as caught:
        OpenAI("gpt", url=server.url, key=KEY).complete(ASKED)
    assert "bad key [key]" in caught.value.message


def test_a_key_that_could_not_stand_in_a_header_is_refused_unseen():
    with pytest.raises(Invalid) as caught:
        OpenAI("gpt", url="http://127.0.0.1:9", key="sk-a\r\nX-Other: b")
    assert "sk-a" not in str(caught.value.as_json())


def test_a_server_that_speaks_no_tls_or_never_finishes_its_greeting_ends_in_an_error_in_time():
    with served(FAULTS["speaks no HTTP"][0]) as server, pytest.raises(NoModel) as plain:
        OpenAI("gpt", url=server.url.replace("http:", "https:")).complete(ASKED, timeout_s=0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(NoModel) as stalled:
        OpenAI("gpt", url=f"https://127.0.0.1:{mute.getsockname()[1]}").complete(ASKED, timeout_s=0.3)
    assert plain.value.details["reason"] in ("unreachable", "reset", "timeout")
    assert stalled.value.details["reason"] == "timeout"


def test_a_certificate_counts_when_this_machine_trusts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which makes the certificate")
    made = "openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=localhost"
    name = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*made.split(), *name], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
    with served(servers.speaks_openai("Yes.", key=KEY), context) as server:
        model = OpenAI("gpt", url=server.url + "/v1", key=KEY)
        with pytest.raises(NoModel, match="certificate") as caught:
            model.complete(ASKED)
        assert (caught.value.details["reason"], server.requests) == ("unreachable", [])
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "c.pem"))
        assert model.complete(ASKED).text == "Yes."
