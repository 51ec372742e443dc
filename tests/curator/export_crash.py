"""Run one step of the files over and over, each time in a process that dies later than the one before.

Usage: python export_crash.py STEP TEMPLATE FOLDER STRIDE. TEMPLATE is a folder with a home and a state; run N happens
in FOLDER/N and dies before the N-th call that could change a file or the table, N growing by STRIDE. The last run comes
to its end.
"""

import os
import shutil
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from curator import actions, export
from substrate.home import Memory
from substrate.store import db
from tests.clock import Clock, Ids

SYSTEM = {"fsync", "rename", "link", "unlink", "mkdir", "rmdir", "open", "write", "fchmod"}
CALLERS = ("substrate/texts/folders.py", "substrate/texts/projections.py")


def die_before(number: int) -> None:
    """Die before the `number`-th call from the rooms that write files into the system, or the commit of any change."""
    left = number

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        code = frame.f_code
        system = event == "c_call" and argument.__name__ in SYSTEM and code.co_filename.endswith(CALLERS)
        if system or (event == "call" and code.co_name == "commit" and code.co_filename == db.__file__):
            left -= 1
            if left == 0:
                os._exit(9)

    sys.setprofile(watch)


def opened(root: Path) -> Memory:
    ids = Ids()
    ids.count = 10_000
    return Memory.open(root / "home", state_dir=root / "state", clock=Clock(), new_id=ids)


def catch_up(memory: Memory) -> None:
    export.catch_up(memory)


def forget(memory: Memory) -> None:
    actions.forget(memory, id=(memory.db.home.parent / "forget").read_text(), cascade=True)


def main(step: str, template: str, folder: str, stride: str) -> None:
    number, status = 1, 9
    while status == 9:
        root = Path(folder) / f"{number:03}"
        shutil.copytree(template, root)
        pid = os.fork()
        if pid == 0:
            memory = opened(root)
            die_before(number)
            globals()[step](memory)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        number += int(stride)
    sys.exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
