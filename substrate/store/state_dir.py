"""The folder where this machine keeps its anchors: whether it is there, or could be.

Source: docs/spec/audit.md §2.3 and §2.4.
"""

from __future__ import annotations

import os
from pathlib import Path

from audit.errors import Unavailable


def no_state(state_dir: Path) -> Unavailable:
    """Give the error of a write where no anchor could follow it."""
    return Unavailable(
        f"{state_dir} cannot be written, so no anchor can be kept and the store is read-only",
        hint="set AI_MEMORY_STATE to a folder that lasts and can be written",
    )


def keeps_anchors(state_dir: Path) -> bool:
    """Say whether anchors can be kept there: the folder, or the nearest one above it that exists, can be written."""
    folder = state_dir / "anchors"
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
