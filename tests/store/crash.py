"""Run one operation over and over, each time in a process of its own that dies one call later than the one before.

Usage: python crash.py OPERATION TEMPLATE FOLDER STEP. TEMPLATE is a store to start from (or `-`); run N happens in
FOLDER/N and dies before the N-th call into the operating system or the engine that could change a file. The last run
comes to its end. `tests/store/test_crashes.py` looks at what is left.
"""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from substrate.store import db, file, schema
from substrate.store.database import Database
from substrate.store.model import MemoryRow
from tests.store.rows import memory, record

SYSTEM = {"fsync", "rename", "replace", "link", "unlink", "mkdir", "rmdir", "ftruncate", "pwrite"}
ENGINE = {"__init__", "run", "close"}
NEXT = (
    *schema.MIGRATIONS,
    "CREATE TABLE notes (a TEXT); ALTER TABLE cursors ADD COLUMN note TEXT",
    "CREATE INDEX i ON cursors (note)",
)


def die_before(number: int, die: Callable[[], object]) -> None:
    """Call `die` before the `number`-th of the calls that count."""
    left = [number]

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        system = event == "c_call" and argument.__name__ in SYSTEM
        if system or (event == "call" and code.co_name in ENGINE and code.co_filename == db.__file__):
            left[0] -= 1
            if left[0] == 0:
                die()

    sys.setprofile(watch)


def options(root: Path) -> dict[str, Any]:
    return {"state_dir": root / "state"}


def create(root: Path) -> None:
    Database.create(root / "home", **options(root)).close()


def write(root: Path) -> None:
    store = Database.open(root / "home", **options(root))
    with store.write(actor="hum-1") as tx:
        record(tx, memory("mem-a"), memory("mem-1", content="changed"))
        tx.delete(MemoryRow, "mem-2")
        record(tx, memory("mem-b"))
    store.close()


def rewrite(root: Path) -> None:
    store = Database.open(root / "home", **options(root))
    store.rewrite()
    store.close()


def rotate(root: Path) -> None:
    store = Database.open(root / "home", **options(root))
    with store.write(actor="hum-1") as tx:
        tx.rotate_key()
    store.close()


def migrate(root: Path) -> None:
    schema.MIGRATIONS, schema.VERSION = NEXT, len(NEXT)
    connection = db.Connection(root / "home" / db.FILE, altering=True)
    file.migrate(connection)
    connection.close()


def run(operation: str, root: Path, number: int) -> int:
    """Answer the exit status of a child that dies before call `number`; 0 when there were not so many."""
    pid = os.fork()
    if pid == 0:
        die_before(number, lambda: os._exit(9))
        globals()[operation](root)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main(operation: str, template: str, folder: str, step: str) -> None:
    number, status = 1, 9
    while status == 9:
        root = Path(folder) / f"{number:03}"
        if template == "-":
            root.mkdir()
        else:
            shutil.copytree(template, root)
        status = run(operation, root, number)
        number += int(step)
    sys.exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
