"""Read the environment, the only place that does.

``AI_MEMORY_HOME`` chooses the folder, ``AI_MEMORY_STATE`` where this machine keeps its anchors, ``AI_MEMORY_AS`` the
principal, ``AI_MEMORY_PASSPHRASE_FILE`` the file with the passphrase of its sealed key. ``AI_MEMORY_WORKER=off`` keeps
commands from starting a process for what is due. What a home's file says of models and tiers is overruled by
``AI_MEMORY_MODEL``, ``AI_MEMORY_MAX_CALLS_PER_DAY``, ``AI_MEMORY_TIER``, ``AI_MEMORY_OPENAI_MODEL``, and by the names
that others gave: ``OLLAMA_HOST``, ``OPENAI_BASE_URL``, ``OPENAI_API_KEY``.
Source: docs/spec/model.md §4 (files); docs/guides/models.md.
"""

from __future__ import annotations

import getpass
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from substrate.config import FORMS, TIERS, Config, is_model
from substrate.errors import Invalid
from substrate.escape import quote


@dataclass(frozen=True)
class Settings:
    """Where the store is, where anchors are, who calls, what the first human is called, where a passphrase lies."""

    home: Path
    state_dir: Path | None
    principal: str | None
    human: str
    passphrase_file: Path | None = None


def read() -> Settings:
    """Read the settings of this process."""
    state = os.environ.get("AI_MEMORY_STATE")
    secret = os.environ.get("AI_MEMORY_PASSPHRASE_FILE")
    return Settings(
        home=_folder("AI_MEMORY_HOME", os.environ.get("AI_MEMORY_HOME") or "~/.ai-memory"),
        state_dir=_folder("AI_MEMORY_STATE", state) if state else None,
        principal=os.environ.get("AI_MEMORY_AS") or None,
        human=_user(),
        passphrase_file=_path("AI_MEMORY_PASSPHRASE_FILE", secret) if secret else None,
    )


def _path(name: str, value: str) -> Path:
    try:
        return Path(value).expanduser().absolute()
    except (RuntimeError, OSError) as error:  # no such user, or the folder we are in is gone
        raise Invalid(f"{name} is {value!r}, which leads nowhere: {error}", hint="give an absolute path") from error


def _folder(name: str, value: str) -> Path:
    path = _path(name, value)
    there = next((one for one in (path, *path.parents) if os.path.lexists(one)), path)
    if os.path.lexists(there) and not there.is_dir():
        raise Invalid(f"{name} is {quote(str(path))}, and {quote(str(there))} is no folder", hint="name a folder")
    return path


def _user() -> str:
    """Make a handle of the login name; ``me`` where there is none that fits."""
    try:
        name = getpass.getuser().casefold()
    except (KeyError, OSError):
        return "me"
    handle = re.sub(r"[^a-z0-9._-]+", "-", name).strip("-._")[:64]
    taken = handle in ("all", "curator", "hub", "owner", "roster") or handle.startswith(("hum-", "agt-"))
    return handle if handle and not taken else "me"


def trace() -> bool:
    """Say whether unforeseen errors should show their traceback (``AI_MEMORY_TRACE``)."""
    return bool(os.environ.get("AI_MEMORY_TRACE"))


def to_pass_on() -> dict[str, str]:
    """Give the settings that a program started by somebody else needs to find the same store, as absolute paths."""
    given = {name: os.environ.get(name) for name in ("AI_MEMORY_HOME", "AI_MEMORY_STATE")}
    return {name: str(_folder(name, value)) for name, value in given.items() if value}


def worker() -> bool:
    """Say whether what is due may be done by a process that is started for it (not with ``AI_MEMORY_WORKER=off``)."""
    return os.environ.get("AI_MEMORY_WORKER", "").casefold() not in ("off", "0", "no", "false")


def overlaid(config: Config) -> Config:
    """Put what the environment says of models and tiers in place of what the home's file says.

    Raises Invalid naming every variable of ours that is wrong. Addresses that other programs set, and what
    AI_MEMORY_MODEL names, are taken as they are: they are refused where they are used, not by every command.
    """
    given = {name: value for name in _OVERLAY if (value := os.environ.get(name, "").strip())}
    wrong = {name: hint for name, value in given.items() if (hint := _fault(name, value))}
    if wrong:
        told = [f"{name} is wrong" + ("" if name == "OPENAI_API_KEY" else f": {quote(given[name])}") for name in wrong]
        raise Invalid("; ".join(told), hint="; ".join(wrong.values()))
    models: dict[str, Any] = {_OVERLAY[name]: value for name, value in given.items() if _OVERLAY[name]}
    if "AI_MEMORY_MODEL" in given:
        models |= {"persona": given["AI_MEMORY_MODEL"], "reflect": given["AI_MEMORY_MODEL"]}
    if "AI_MEMORY_MAX_CALLS_PER_DAY" in given:
        models["calls_per_day"] = int(given["AI_MEMORY_MAX_CALLS_PER_DAY"])
    if "OLLAMA_HOST" in given:
        models["ollama_url"] = ollama_url(given["OLLAMA_HOST"])
    tier = given.get("AI_MEMORY_TIER", config.tier)
    return replace(config, tier=tier, models=replace(config.models, **models))


_OVERLAY = {
    "AI_MEMORY_MODEL": "",  # both purposes
    "AI_MEMORY_MAX_CALLS_PER_DAY": "calls_per_day",
    "AI_MEMORY_TIER": "",
    "AI_MEMORY_OPENAI_MODEL": "openai_model",
    "OLLAMA_HOST": "ollama_url",
    "OPENAI_BASE_URL": "openai_url",
    "OPENAI_API_KEY": "openai_key",
}
"""The variables, each with the field of `Models` it stands for."""


def _fault(name: str, value: str) -> str:
    """Say what a variable of ours should hold when it does not; a key is never shown."""
    if name == "AI_MEMORY_TIER" and value not in TIERS:
        return f"{name} is one of {', '.join(TIERS)}"
    if name == "AI_MEMORY_MAX_CALLS_PER_DAY" and not re.fullmatch("[0-9]{1,9}", value):
        return f"{name} is a whole number from 0"
    if name == "AI_MEMORY_OPENAI_MODEL" and not re.fullmatch("[!-~]{1,200}", value):
        return f"{name} is the name of a model"
    if name == "OPENAI_API_KEY" and not re.fullmatch("[!-~]{1,4096}", value):
        return f"{name} is one line of printable characters"
    return ""


def require_model() -> None:
    """Raise Invalid where ``AI_MEMORY_MODEL`` names no choice of a model; for work that would fail on it later."""
    value = os.environ.get("AI_MEMORY_MODEL", "").strip()
    if value and not is_model(value):
        raise Invalid(f"AI_MEMORY_MODEL is wrong: {quote(value)}", hint=f"it is {FORMS}", reason="model")


def ollama_url(host: str) -> str:
    """Make an address of what ``OLLAMA_HOST`` may hold: a host, a port, both, or an address.

    Ollama's server reads the same variable, and 0.0.0.0 there means every address of this machine.
    """
    found = re.fullmatch(r"(?:(https?)://)?(\[[^]]*\]|[^:/]*)(?::([0-9]+))?(/.*)?", host.strip("\"' "))
    if found is None:
        return host
    scheme, name, port, path = found.groups()
    here = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}
    usual = {"http": "80", "https": "443"}
    return f"{scheme or 'http'}://{here.get(name, name)}:{port or usual.get(scheme, '11434')}{(path or '').rstrip('/')}"
