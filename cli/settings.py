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
        home=Path(os.environ.get("AI_MEMORY_HOME") or "~/.ai-memory").expanduser().absolute(),
        state_dir=Path(state).expanduser().absolute() if state else None,
        principal=os.environ.get("AI_MEMORY_AS") or None,
        human=_user(),
    )


def _user() -> str:
    """Make a handle of the login name; ``me`` where there is none that fits."""
    try:
        name = getpass.getuser().casefold()
    except (KeyError, OSError):
        return "me"
    handle = re.sub(r"[^a-z0-9._-]+", "-", name).strip("-._")[:64]
    return handle if handle and handle not in ("all", "curator", "hub", "owner", "roster") else "me"


def trace() -> bool:
    """Say whether unforeseen errors should show their traceback (``AI_MEMORY_TRACE``)."""
    return bool(os.environ.get("AI_MEMORY_TRACE"))
