"""Read the environment, the only place that does.

``AI_MEMORY_HOME`` chooses the folder, ``AI_MEMORY_STATE`` where this machine keeps its anchors, ``AI_MEMORY_AS`` the
principal. Source: docs/spec/model.md §4 (files).
"""

from __future__ import annotations

import getpass
import os
import re
from dataclasses import dataclass
from pathlib import Path

from substrate.errors import Invalid


@dataclass(frozen=True)
class Settings:
    """Where the store is, where anchors are, who calls, and what the first human is called."""

    home: Path
    state_dir: Path | None
    principal: str | None
    human: str


def read() -> Settings:
    """Read the settings of this process."""
    state = os.environ.get("AI_MEMORY_STATE")
    return Settings(
        home=_folder("AI_MEMORY_HOME", os.environ.get("AI_MEMORY_HOME") or "~/.ai-memory"),
        state_dir=_folder("AI_MEMORY_STATE", state) if state else None,
        principal=os.environ.get("AI_MEMORY_AS") or None,
        human=_user(),
    )


def _folder(name: str, value: str) -> Path:
    try:
        return Path(value).expanduser().absolute()
    except (RuntimeError, OSError) as error:  # no such user, or the folder we are in is gone
        raise Invalid(f"{name} is {value!r}, which leads nowhere: {error}", hint="give an absolute path") from error


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
