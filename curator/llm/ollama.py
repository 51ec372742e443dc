"""Ask a model that Ollama runs, through its own client and ``/api/chat``.

Imported only when such a model was chosen: the client takes a third of a second to load.

Source: DESIGN §7; docs/adr/0020-models-talk-through-one-room.md.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence

import httpx
import ollama

from curator.llm import answers, wire
from curator.llm.model import Completion, Message, Model, Schema, tokens
from substrate.errors import NoModel
from substrate.escape import quote

SEED = 7
_ANSWER_TOKENS = 256  # what is left for an answer at least, whatever the estimate of the prompt says


class Ollama(Model):
    """A model of the Ollama at ``url``."""

    def __init__(self, model: str, *, url: str, context_tokens: int = Model.context_tokens) -> None:
        self.name, self.context_tokens = f"ollama/{model}", context_tokens
        self._model, self._url = model, url

    def complete(
        self, messages: Sequence[Message], *, schema: Schema | None = None, timeout_s: float = 120.0
    ) -> Completion:
        """Answer once: temperature 0, a fixed seed, and the schema as the grammar of the answer."""
        given = sum(tokens(message.content) for message in messages)
        options = {
            "temperature": 0,
            "seed": SEED,
            "num_ctx": self.context_tokens,
            "num_predict": max(self.context_tokens - given, _ANSWER_TOKENS),
        }
        client = ollama.Client(
            self._url, transport=_Wire(self._model, timeout_s), trust_env=False, follow_redirects=False
        )
        try:
            with client:
                answer = client.chat(
                    self._model,
                    [{"role": message.role, "content": message.content} for message in messages],
                    format=dict(schema) if schema is not None else None,
                    options=options,
                    stream=False,
                )
            text = answer.message.content
        except (ValueError, TypeError, RecursionError) as error:
            raise NoModel(
                f"the server at {quote(self._url, 200)} does not answer as Ollama does",
                hint="see that ollama_url in [models] of config.toml leads to Ollama",
                reason="not_json",
            ) from error
        return answers.completed(
            text or "",
            schema,
            input_tokens=answer.prompt_eval_count,
            output_tokens=answer.eval_count,
            cut=answer.done_reason == "length",
        )


class _Wire(httpx.BaseTransport):
    """Let the client speak through ``wire``: bounded in time and size, and nothing of the environment sent along."""

    def __init__(self, model: str, timeout_s: float) -> None:
        self._model, self._end = model, time.monotonic() + timeout_s

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; what is no success is told in our words."""
        reply = wire.exchange(
            request.method,
            str(request.url),
            timeout_s=max(self._end - time.monotonic(), 0.0),
            body=request.read(),
            headers={"Content-Type": "application/json"},
            who="Ollama",
        )
        if reply.status == 404:
            raise NoModel(
                f"Ollama has no model {quote(self._model)}: {wire.complaint(reply)}",
                hint=f"ollama pull {shlex.quote(self._model)}",
                reason="missing",
            )
        if reply.status != 200:
            raise wire.declined(reply, "Ollama", wire.complaint(reply), "look into the log of `ollama serve`")
        return httpx.Response(200, content=reply.body)
