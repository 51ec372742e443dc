"""The command ``demo``: placeholder registration until its story stands in ``cli/story.py``."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
