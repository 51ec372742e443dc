"""Ask a model behind any address that speaks OpenAI's chat completions: llama.cpp, LM Studio, vLLM, a provider.

Source: DESIGN §7; docs/adr/0020-models-talk-through-one-room.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from curator.llm import answers, wire
from curator.llm.model import Completion, Message, Model, Schema
from substrate.errors import Invalid, NoModel
from substrate.escape import quote

SEED = 7


class OpenAI(Model):
    """A model at ``url``, asked with ``key`` where there is one; the key is sent there and is shown nowhere."""

    def __init__(
        self, model: str, *, url: str, key: str | None = None, context_tokens: int = Model.context_tokens
    ) -> None:
        if key and not re.fullmatch("[!-~]+", key):
            raise Invalid("the key is not one line of printable characters", hint="set it anew")
        self.name, self.context_tokens = f"openai/{model}", context_tokens
        self._model, self._url, self._key = model, url.rstrip("/"), key
        self._plain = False

    def complete(
        self, messages: Sequence[Message], *, schema: Schema | None = None, timeout_s: float = 120.0
    ) -> Completion:
        """Answer once: temperature 0, a fixed seed, and the schema as ``response_format``.

        A server that declines this as a bad request (400, 422) is asked in the plainest form from then on: any JSON
        object, the schema told in words, nothing said of temperature. That is another call: this one raises NoModel
        with ``reason`` form.
        """
        reply = self._sent(_plain(messages, schema) if self._plain else _full(messages, schema), timeout_s)
        declined = reply.status in (400, 422)
        self._plain, was = declined != self._plain, self._plain
        if declined and not was:
            raise NoModel(f"the server at {quote(self._url, 200)} wants a plainer request", reason="form")
        return self._read(reply, schema)

    def _sent(self, request: Mapping[str, Any], timeout_s: float) -> wire.Reply:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps({"model": self._model, "stream": False, **request}).encode()
        return wire.exchange("POST", f"{self._url}/chat/completions", timeout_s=timeout_s, body=body, headers=headers)

    def _read(self, reply: wire.Reply, schema: Schema | None) -> Completion:
        who = f"the server at {quote(self._url, 200)}"
        if reply.status != 200:
            raise self._declined(reply, who)
        try:
            found = json.loads(reply.body.decode())
            choice = found["choices"][0]
            text, cut = choice["message"]["content"], choice.get("finish_reason") == "length"
            if not isinstance(text, str):
                raise TypeError
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise NoModel(
                f"{who} answers with no chat completion",
                hint="see that openai_url in [models] of config.toml leads to such a server; it often ends in /v1",
                reason="not_json",
            ) from error
        given, answered = _counts(found.get("usage"))
        return answers.completed(text, schema, input_tokens=given, output_tokens=answered, cut=cut)

    def _declined(self, reply: wire.Reply, who: str) -> NoModel:
        told = wire.complaint(reply, self._key)
        if reply.status == 404:
            return NoModel(
                f"{who} has no model {quote(self._model)}: {told}",
                hint="correct openai_model or openai_url in [models] of config.toml",
                reason="missing",
            )
        hints = {
            401: "check OPENAI_API_KEY, or the file that openai_key_file names",
            403: "check what the key may do",
            429: "wait, or see what the provider allows the key",
        }
        return wire.declined(reply, who, told, hints.get(reply.status, "look into the server's log"))


def _full(messages: Sequence[Message], schema: Schema | None) -> dict[str, Any]:
    request: dict[str, Any] = {"messages": _wired(messages), "temperature": 0, "seed": SEED}
    if schema is not None:
        form = {"name": "answer", "strict": True, "schema": dict(schema)}
        request["response_format"] = {"type": "json_schema", "json_schema": form}
    return request


def _plain(messages: Sequence[Message], schema: Schema | None) -> dict[str, Any]:
    if schema is None:
        return {"messages": _wired(messages)}
    told = Message("system", f"Answer with one JSON object of this JSON schema, and nothing else: {json.dumps(schema)}")
    return {"messages": _wired([told, *messages]), "response_format": {"type": "json_object"}}


def _wired(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _counts(usage: object) -> tuple[Any, Any]:
    found = usage if isinstance(usage, dict) else {}
    return found.get("prompt_tokens"), found.get("completion_tokens")
