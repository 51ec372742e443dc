"""Servers that speak as Ollama and as OpenAI do, and answer what a test wrote down.

with ollama(lambda request: {"claims": []}) as server:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
"""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.servers.sockets import Behaviour, Exchange, Server, served

Answer = str | Mapping[str, Any]
Script = Answer | Sequence[Answer] | Callable[[dict[str, Any]], Answer]
"""One answer for every call, one after the other (the last again and again), or a function of the request's JSON."""

MODEL = "tiny:latest"


def listed(name: str, size: int = 1_000, family: str = "llama", **more: Any) -> dict[str, Any]:
    """Give an entry of ``/api/tags``."""
    return {"name": name, "model": name, "size": size, "details": {"family": family, "families": [family]}, **more}


def ollama(
    script: Script = "Yes.", models: Sequence[Mapping[str, Any]] = (listed(MODEL),)
) -> AbstractContextManager[Server]:
    """Run an Ollama with these models."""
    say = _scripted(script)

    def behave(exchange: Exchange) -> None:
        request = exchange.request
        if (request.method, request.path) == ("GET", "/api/tags"):
            return exchange.reply({"models": list(models)})
        if (request.method, request.path) != ("POST", "/api/chat"):
            return exchange.reply({"error": "no such route"}, 404)
        name = request.json["model"]
        if name not in {model["name"] for model in models} | {model["name"].split(":")[0] for model in models}:
            return exchange.reply({"error": f"model '{name}' not found"}, 404)
        text = say(request.json)
        message = {"role": "assistant", "content": text}
        given = sum(len(turn["content"].split()) for turn in request.json["messages"])
        end = {"done": True, "done_reason": "stop", "prompt_eval_count": given, "eval_count": len(text.split())}
        exchange.reply({"model": name, "created_at": "2026-05-14T09:30:00Z", "message": message, **end})

    return served(behave)


def openai(script: Script = "Yes.", *, key: str | None = None, schemas: bool = True) -> AbstractContextManager[Server]:
    """Run a server of chat completions under ``/v1``; without ``schemas`` it declines them, and a temperature."""
    return served(speaks_openai(script, key=key, schemas=schemas))


def speaks_openai(script: Script = "Yes.", *, key: str | None = None, schemas: bool = True) -> Behaviour:
    """Give what such a server does with a request."""
    say = _scripted(script)

    def behave(exchange: Exchange) -> None:
        request = exchange.request
        if key is not None and request.headers.get("authorization") != f"Bearer {key}":
            return exchange.reply({"error": {"message": f"bad key {request.headers.get('authorization')}"}}, 401)
        if request.path == "/v1/models":
            return exchange.reply({"data": [{"id": MODEL}]})
        if request.path != "/v1/chat/completions":
            return exchange.reply({"error": {"message": "no such route"}}, 404)
        form = request.json.get("response_format", {}).get("type")
        if not schemas and (form == "json_schema" or "temperature" in request.json):
            return exchange.reply({"error": {"message": f"{form} is not supported"}}, 400)
        choices = [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": say(request.json)}}
        ]
        exchange.reply({"choices": choices, "usage": {"prompt_tokens": 11, "completion_tokens": 7}})

    return behave


def _scripted(script: Script) -> Callable[[dict[str, Any]], str]:
    if callable(script):
        return lambda request: _text(script(request))
    if isinstance(script, str | Mapping):
        return lambda request: _text(script)
    answers = itertools.chain(script, itertools.repeat(script[-1]))
    return lambda request: _text(next(answers))


def _text(answer: Answer) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)
