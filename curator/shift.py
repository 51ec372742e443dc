"""Let one process at a time work in the background of a store: whoever has the lock on a file in its folder.

The lock ends with the process, whatever ends it. It can be handed to a process that is being started, so that there is
no moment in which a second one could begin.

Source: docs/spec/persona.md §8.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from substrate.errors import Unavailable

FILE = "worker.lock"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Shift:
    """The right to do a store's background work, held until it is closed; ``fd`` is what holds it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give it up; a process it was handed to keeps it."""
        os.close(self.fd)


def take(home: Path) -> Shift | None:
    """Take the shift, None when another process has it. Raises Unavailable where the folder cannot be written."""
    try:
        fd = os.open(home / FILE, _FLAGS, 0o600)
    except OSError as error:
        raise Unavailable(f"{home / FILE}: {error.strerror}", hint="check the folder's permissions") from error
    return _locked(fd)


def adopt(home: Path, fd: int) -> Shift | None:
    """Take the shift that whoever started this process held in ``fd``; None when that is no lock of this store."""
    try:
        theirs, ours = os.fstat(fd), os.lstat(home / FILE)
    except OSError:
        return None
    if (theirs.st_dev, theirs.st_ino) != (ours.st_dev, ours.st_ino):
        return None
    os.set_inheritable(fd, False)
    return _locked(fd)


def holder(home: Path) -> dict[str, Any]:
    """Name the process that took the shift last: ``pid``, None where nobody says."""
    try:
        with open(os.open(home / FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            pid = json.loads(file.read(256))["pid"]
    except (OSError, ValueError, KeyError, TypeError):
        pid = None
    return {"pid": pid if isinstance(pid, int) else None}


def _locked(fd: int) -> Shift | None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    os.ftruncate(fd, 0)
    os.pwrite(fd, json.dumps({"pid": os.getpid()}).encode(), 0)
    return Shift(fd)
