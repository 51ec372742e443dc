"""A folder in the home where something is built before it takes its place, and what a crash left of such folders.

Whoever builds keeps the folder locked, so one whose lock is free belongs to a process that died.
Source: docs/spec/audit.md §5.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from audit.files import told

KINDS = ("backup", "restore")
FIXED = (".new", ".rewrite")  # made and removed under the store's lock


@contextmanager
def workshop(home: Path | None, kind: str) -> Iterator[Path]:
    """Give a fresh private folder in ``home``, removed at the end; without a home one among the system's own.

    Takes away what dead processes left of the same kind. Raises Unavailable when there is no space or right for
    one, and when the medium fails while the block runs.
    """
    with told(home or Path(tempfile.gettempdir())):
        for stale in leftovers(home, (kind,)) if home else ():
            shutil.rmtree(stale)
        folder = Path(tempfile.mkdtemp()) if home is None else home / f".{kind}-{secrets.token_hex(8)}"
        if home is not None:
            folder.mkdir(mode=0o700)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield folder
    except OSError as error:  # nothing else that goes wrong in the block is about the folder
        with told(folder):
            raise error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def leftovers(home: Path, kinds: tuple[str, ...] = KINDS) -> list[Path]:
    """List the folders of dead builders."""
    found = [path for kind in kinds for path in sorted(home.glob(f".{kind}-*")) if path.is_dir()]
    return [path for path in found if not path.is_symlink() and unlocked(path)]


def unlocked(path: Path) -> bool:
    """Say whether nobody who lives keeps a file or folder locked."""
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True
    return False
