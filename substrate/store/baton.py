"""The right to hold the database file, passed between processes in the order they asked for it.

One process at a time may have the file open. It keeps it between operations, gives it up when others wait and its
slice is used, and lets go by itself after a short idle time. Waiters queue as ticket files that each waiter keeps
locked, so a ticket whose lock is free belongs to a dead process and is swept.

Source: docs/spec/model.md §6 (one file, several processes).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from audit.errors import Busy, Unavailable
from substrate import limits

_POLL_S = 0.001
_TICKET = re.compile(r"\d{20}-[\w-]+", re.ASCII)  # nothing else in the folder is looked at, or swept


class Baton:
    """Hold the file for one operation at a time and pass it on.

    ``opened`` runs each time the file was taken, ``closing`` before it is given up; both while it is held. ``closing``
    must not fail: what it follows is done.
    """

    def __init__(
        self,
        home: Path,
        *,
        opened: Callable[[], object],
        closing: Callable[[], object],
        wait_s: float = limits.BUSY_SECONDS,
        slice_s: float = limits.SLICE_SECONDS,
        idle_s: float = limits.IDLE_SECONDS,
    ) -> None:
        self._lock_path = home / "memory.lock"
        self._queue = home / "queue"
        self._opened, self._closing = opened, closing
        self._wait_s, self._slice_s, self._idle_s = wait_s, slice_s, idle_s
        self._mutex = threading.RLock()
        self._depth = 0
        self._lock_fd: int | None = None
        self._since = self._last = 0.0
        self._watcher: threading.Thread | None = None
        self._wake = threading.Event()
        self._tickets = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the file while the block runs; other threads of the process wait.

        Raises Busy when it could not be had within the wait, naming the process that holds it.
        """
        if not self._mutex.acquire(timeout=self._wait_s):
            raise Busy("another thread of this process is using the store", hint="try again in a moment")
        try:
            if self._lock_fd is None:
                self._take()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0 and self._lock_fd is not None:
                    self._last = time.monotonic()
                    if self._last - self._since >= self._slice_s and self._waiting():
                        self._give_up()
                    else:
                        self._watch()
        finally:
            self._mutex.release()

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for the file."""
        try:
            return bool(self._waiting())
        except OSError:
            return False

    def close(self) -> None:
        """Let go of the file now."""
        with self._mutex:
            if self._lock_fd is not None:
                self._give_up()

    def _take(self) -> None:
        try:
            self._lock_fd = self._queue_for_lock()
        except OSError as error:
            raise Unavailable(
                f"the store's folder cannot be written: {error.strerror}",
                hint="check the folder's permissions and free space",
                path=str(self._lock_path.parent),
            ) from error
        try:
            self._opened()
        except BaseException:
            self._give_up()
            raise
        self._since = self._last = time.monotonic()  # the slice is for work; opening does not count

    def _give_up(self) -> None:
        fd, self._lock_fd = self._lock_fd, None
        try:
            self._closing()
        finally:
            if fd is not None:
                os.close(fd)

    def _queue_for_lock(self) -> int:
        fd = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if not (self._waiting() or not _try_lock(fd)):
                return self._name_holder(fd)
            with self._ticket() as ticket:
                deadline = time.monotonic() + self._wait_s
                while (ahead := self._ahead_of(ticket)) or not _try_lock(fd):
                    if time.monotonic() >= deadline:
                        raise self._busy(fd)
                    time.sleep(_POLL_S * (1 + 3 * min(ahead, 5)))  # those further back look less often
            return self._name_holder(fd)
        except BaseException:
            os.close(fd)
            raise

    def _name_holder(self, fd: int) -> int:
        # not what the program was told: that may be text, and the note stays when the text was forgotten
        note = json.dumps({"pid": os.getpid(), "command": Path(sys.argv[0]).name})
        os.ftruncate(fd, 0)
        os.pwrite(fd, note.encode(), 0)
        return fd

    def _busy(self, fd: int) -> Busy:
        try:
            holder = json.loads(os.pread(fd, 4096, 0))
            who = f"process {holder['pid']} ({holder['command']})"
        except (ValueError, KeyError, TypeError):
            holder, who = {}, "another process"
        return Busy(
            f"the store is in use by {who}, waited {self._wait_s:g} s",
            hint="let it finish, or stop it, then try again",
            holder=holder,
        )

    def _waiting(self) -> list[str]:
        """Name the visible tickets, oldest first; names still being made begin with a dot."""
        if self._queue.is_symlink():  # sweeping would delete somebody else's files
            raise NotADirectoryError(errno.ENOTDIR, "the queue is a symbolic link", str(self._queue))
        try:
            return sorted(name for name in os.listdir(self._queue) if _TICKET.fullmatch(name))
        except FileNotFoundError:
            return []

    @contextmanager
    def _ticket(self) -> Iterator[str]:
        self._queue.mkdir(mode=0o700, exist_ok=True)
        self._tickets += 1
        name = f"{time.time_ns():020d}-{os.getpid()}-{threading.get_ident()}-{self._tickets}"
        draft, path = self._queue / f".{name}", self._queue / name
        fd = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)  # locked before it is visible, so that nobody takes it for a dead one
            draft.rename(path)
            yield name
        finally:
            draft.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            os.close(fd)

    def _ahead_of(self, ticket: str) -> int:
        """Count the living tickets before this one; only the first of them is looked at closely."""
        ahead = [name for name in self._waiting() if name < ticket]
        while ahead and self._swept(self._queue / ahead[0]):
            ahead.pop(0)
        return len(ahead)

    def _swept(self, path: Path) -> bool:
        """Remove the ticket if its owner died; say whether it is gone."""
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return True
        try:
            dead = _try_lock(fd)
            if dead:
                path.unlink(missing_ok=True)
            return dead
        finally:
            os.close(fd)

    def _watch(self) -> None:
        """Have a thread give the file up when others wait or nothing is done; it sleeps while nothing is held."""
        if self._watcher is None or not self._watcher.is_alive():
            self._watcher = threading.Thread(target=self._watch_loop, name="ai-memory-handover", daemon=True)
            self._watcher.start()
        self._wake.set()

    def _watch_loop(self) -> None:
        while True:
            self._wake.wait()
            time.sleep(5 * _POLL_S)
            if not self._mutex.acquire(blocking=False):
                continue
            try:
                if self._lock_fd is None:
                    self._wake.clear()
                elif self._depth == 0 and self._spent():
                    self._give_up()
                    self._wake.clear()
            finally:
                self._mutex.release()

    def _spent(self) -> bool:
        now = time.monotonic()
        return now - self._last >= self._idle_s or (now - self._since >= self._slice_s and bool(self._waiting()))


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def stale_tickets(home: Path) -> list[Path]:
    """List the tickets, and drafts of tickets, of processes that died in the queue."""
    queue = home / "queue"
    if queue.is_symlink() or not queue.is_dir():
        return []
    return [path for path in sorted(queue.iterdir()) if _TICKET.fullmatch(path.name.lstrip(".")) and _dead(path)]


def _dead(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _try_lock(fd)
    finally:
        os.close(fd)
