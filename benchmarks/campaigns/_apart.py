"""Do something in a process of its own, which may die of it, and hear what it said until then."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

Say = Callable[[Any], None]
PATIENCE = 120.0  # seconds after which a process that says nothing counts as hanging


class Child:
    """A forked process; what it says, line by line, is JSON in ``said``."""

    def __init__(self, act: Callable[[Say], object]) -> None:
        self.said: list[Any] = []
        self.status: int | None = None
        self.fd, speak = os.pipe()
        self._rest = b""
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.fd)
            _be(act, speak)
        os.close(speak)

    def hear(self) -> bool:
        """Take in what it has said by now; False when it has ended."""
        data = os.read(self.fd, 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.said += [json.loads(line) for line in lines]
        return bool(data)

    def kill(self) -> None:
        """Kill it, wherever it is."""
        os.kill(self.pid, signal.SIGKILL)

    def end(self) -> int:
        """Hear the rest, let it end, and give its exit status: negative for a signal, -SIGALRM when it hung."""
        hung = False
        while True:
            if not select.select([self.fd], [], [], PATIENCE)[0]:
                hung = True
                self.kill()
            elif not self.hear():
                break
        os.close(self.fd)
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return -signal.SIGALRM if hung else self.status


def apart(act: Callable[[Say], object]) -> Child:
    """Do it in a process of its own, to its end."""
    child = Child(act)
    child.status = child.end()
    return child


def timed(act: Callable[[], Any]) -> tuple[float, Any]:
    """Give the seconds it took beside its answer."""
    began = time.perf_counter()
    answer = act()
    return time.perf_counter() - began, answer


def _be(act: Callable[[Say], object], speak: int) -> None:
    def say(what: Any) -> None:
        line = json.dumps(what).encode() + b"\n"
        while line:
            line = line[os.write(speak, line) :]

    status = 1
    try:
        act(say)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
