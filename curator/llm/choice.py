"""Choose the model for a piece of work: ``cheap``, ``off``, ``extractive`` or one by name.

Source: docs/spec/requirements.md S0-52, S0-53, S3-40; docs/concepts/models.md.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from audit import files
from curator.llm import wire
from curator.llm.model import Model
from substrate import limits
from substrate.config import FORMS, Models, is_model
from substrate.errors import AiMemoryError, Invalid, NoModel
from substrate.escape import quote

Purpose = Literal["persona", "reflect"]

_EMBEDS = re.compile(r"bert|embed|minilm|(?:^|[/-])(?:bge|gte|e5)(?:[-:]|$)", re.IGNORECASE)
_KEY_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Choice:
    """What will do the work: a model, or None for what is built in; its name, and why it is this one, in one line."""

    model: Model | None
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class _Listed:
    """A model that a local Ollama has: its name, its size in bytes, and whether it talks and runs here."""

    name: str
    size: int
    talks: bool


def choose(models: Models, wanted: str | None = None, *, purpose: Purpose) -> Choice:
    """Choose what is wanted, or else what the settings name for this purpose.

    ``cheap`` is the local Ollama when it answers within `limits.PROBE_SECONDS` and has a model to talk with
    (``ollama_model``, else its smallest, ties by name), else the model at ``openai_url`` when it is configured, else
    what is built in. Raises Invalid for another form; NoModel with ``reason`` off, and with the reason why a model
    named by hand cannot be had: unreachable, missing, timeout, key. Nothing is held open.
    """
    name = wanted if wanted is not None else models.persona if purpose == "persona" else models.reflect
    if not is_model(name):
        hint = f"give {FORMS}" if wanted is not None else f"AI_MEMORY_MODEL or config.toml has to say {FORMS}"
        raise Invalid(f"{quote(name)} is no choice of a model", hint=hint, reason="model")
    if name == "off":
        raise NoModel(
            f"models are off for {purpose}",
            hint=f"set {purpose} in [models] of config.toml, or AI_MEMORY_MODEL, to cheap or extractive"
            if wanted is None
            else "--model off asked for none: leave it out, or give cheap or extractive",
            reason="off",
        )
    if name == "extractive":
        return Choice(None, name, "it was asked for")
    if name == "cheap":
        return _cheap(models)
    provider, _, model = name.partition("/")
    return _named_ollama(models, model) if provider == "ollama" else _named_openai(models, model)


def _cheap(models: Models) -> Choice:
    passed: list[str] = []
    for found in (_local, _provided):
        try:
            choice = found(models)
            return Choice(choice.model, choice.name, "; ".join([*passed, choice.why]))
        except AiMemoryError as error:
            passed.append(error.message)
    return Choice(None, "extractive", "; ".join(passed))


def _provided(models: Models) -> Choice:
    """Choose the provider's model, when one is configured. Raises NoModel when none is."""
    if models.openai_model is None:
        raise NoModel("no openai_model is set", reason="missing")
    _require_key(models)
    name = models.openai_model
    return Choice(_openai(models, name), f"openai/{name}", "openai_model is set")


def _require_key(models: Models) -> None:
    """Raise NoModel where the address is that of the provider, who serves nobody without a key."""
    if not (models.openai_key or models.openai_key_file) and models.openai_url == Models.openai_url:
        raise NoModel(
            f"there is no key for {models.openai_url}",
            hint="set OPENAI_API_KEY, or openai_url for a server of your own",
            reason="key",
        )


def _local(models: Models) -> Choice:
    """Choose among what the local Ollama has. Raises NoModel when there is nothing to choose."""
    found = _listed(models.ollama_url, limits.PROBE_SECONDS)
    if models.ollama_model is not None:
        return Choice(
            _ollama(models, _held(found, models.ollama_model)), f"ollama/{models.ollama_model}", "ollama_model is set"
        )
    talking = [model for model in found if model.talks]
    if not talking:
        raise NoModel(
            f"Ollama at {quote(models.ollama_url, 200)} has no model to talk with",
            hint="ollama pull llama3.2",
            reason="missing",
        )
    least = min(talking, key=lambda model: (model.size, model.name))
    return Choice(_ollama(models, least.name), f"ollama/{least.name}", "the smallest that the local Ollama has")


def _named_ollama(models: Models, model: str) -> Choice:
    with _hinted("start it with `ollama serve`, or choose extractive"):
        found = _listed(models.ollama_url, limits.REACH_SECONDS)
    return Choice(_ollama(models, _held(found, model)), f"ollama/{model}", "it was named")


def _named_openai(models: Models, model: str) -> Choice:
    """Choose a model that was named, once its server has answered anything at all."""
    _require_key(models)
    with _hinted("start the server at openai_url, correct that address, or choose extractive"):
        wire.exchange("HEAD", models.openai_url.rstrip("/") + "/models", timeout_s=limits.REACH_SECONDS)
    return Choice(_openai(models, model), f"openai/{model}", "it was named")


@contextmanager
def _hinted(hint: str) -> Iterator[None]:
    """Say what to do about a server that cannot be had."""
    try:
        yield
    except NoModel as error:
        if error.details["reason"] in ("unreachable", "timeout", "reset"):
            error.hint = hint
        raise


def _listed(url: str, timeout_s: float) -> list[_Listed]:
    """Ask an Ollama what it has, as light as can be. Raises NoModel when it does not say."""
    reply = wire.exchange("GET", url.rstrip("/") + "/api/tags", timeout_s=timeout_s, who="Ollama")
    try:
        found = json.loads(reply.body.decode())["models"] if reply.status == 200 else None
        return [_read(entry) for entry in found or ()] if isinstance(found, list) else _stranger(url)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return _stranger(url)


def _stranger(url: str) -> list[_Listed]:
    raise NoModel(
        f"the server at {quote(url, 200)} does not answer as Ollama does",
        hint="see that ollama_url in [models] of config.toml leads to Ollama",
        reason="status",
    )


def _read(entry: dict[str, Any]) -> _Listed:
    """Read one model of the list; one that runs elsewhere is not local, and one that embeds does not talk."""
    name, details, size = str(entry["name"]), entry.get("details") or {}, entry.get("size")
    families = [str(family) for family in (details.get("family"), *(details.get("families") or ())) if family]
    away = bool(entry.get("remote_host") or entry.get("remote_model")) or name.endswith("-cloud")
    embeds = any(_EMBEDS.search(text) for text in (name, *families))
    return _Listed(name, size if isinstance(size, int) else 0, is_model(f"ollama/{name}") and not (away or embeds))


def _held(found: list[_Listed], name: str) -> str:
    """Give the full name of a model that Ollama has; without a tag it means ``latest``. Raises NoModel."""
    full = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
    if not any(model.name in (name, full) for model in found):
        raise NoModel(f"Ollama has no model {quote(name)}", hint=f"ollama pull {shlex.quote(name)}", reason="missing")
    return name


def _key(models: Models) -> str | None:
    """Give the key, read from its file where it stands in one. Raises Integrity or NotFound for a bad file."""
    if models.openai_key or models.openai_key_file is None:
        return models.openai_key
    path = Path(models.openai_key_file).expanduser()
    return files.read(path, _KEY_BYTES).decode("ascii", "replace").strip()


def _ollama(models: Models, name: str) -> Model:
    from curator.llm.ollama import Ollama

    return Ollama(name, url=models.ollama_url, context_tokens=models.context_tokens)


def _openai(models: Models, name: str) -> Model:
    from curator.llm.openai import OpenAI

    wire.origin(models.openai_url)
    return OpenAI(name, url=models.openai_url, key=_key(models), context_tokens=models.context_tokens)
