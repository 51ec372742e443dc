"""Start the curator's work in a process of its own, so that no answer waits for it.

Source: docs/spec/persona.md §8.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli import settings
from cli.door import Answer
from substrate.config import TIERS
from substrate.errors import AiMemoryError

if TYPE_CHECKING:
    from substrate.home import Memory

_SOURCES = str(Path(__file__).resolve().parent.parent)
_SCRIPT = f"import sys; sys.path.append({_SOURCES!r}); sys.argv[0] = 'ai-memory'; from cli.app import main; main()"
_started: list[subprocess.Popen[bytes]] = []  # kept until they have ended, so that none stays behind as a zombie


def vectors(memory: Memory) -> bool:
    """Say whether what is written gets vectors here, for which `start` has to be called."""
    from substrate.recall.installed import available

    tier = TIERS.index(memory.config.tier) >= TIERS.index("smart")
    return tier and settings.worker() and available(memory.config.search.model)[0]


def lagging(found: Answer) -> bool:
    """Say whether an answer of recall was found before every memory had its vector."""
    return any(arm["ran"] and arm["why_not"] for name, arm in found.get("arms", {}).items() if name == "vector")


def start(memory: Memory) -> bool:
    """Have a process of its own tick this store, unless one does already; say whether one was started.

    It is handed the shift before it runs, so that of many callers at once one starts it. It shares no stream and no
    file with this process but that one, runs at low priority, and acts as the same principal in the same home. Nothing
    is raised: what is due stays written down. Off with ``AI_MEMORY_WORKER=off``. The store may be closed already.
    """
    from curator import shift

    _started[:] = [process for process in _started if process.poll() is None]
    if not settings.worker() or memory.db.read_only or not sys.executable:
        return False
    try:
        mine = shift.take(memory.db.home)
        if mine is None:
            return False
        with mine:
            _started.append(_process(memory, mine.fd))
    except (AiMemoryError, OSError):
        return False
    return True


def _process(memory: Memory, fd: int) -> subprocess.Popen[bytes]:
    asked = ("--as", memory.caller.id, "--tier", memory.config.tier, "tick", "--quiet", "--shift", str(fd))
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _SCRIPT, *asked],
        env=os.environ | {"AI_MEMORY_HOME": str(memory.db.home), "AI_MEMORY_STATE": str(memory.db.ledger.state_dir)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=(fd,),
    )
