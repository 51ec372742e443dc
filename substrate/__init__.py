"""Rows, access, graph and recall over one embedded file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from substrate.home import Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> Any:
    """Load the Python door when it is asked for; importing the package alone costs nothing."""
    if name == "Memory":
        from substrate.home import Memory

        return Memory
    raise AttributeError(name)
