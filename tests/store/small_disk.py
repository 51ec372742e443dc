"""Run one scenario on a disk of its own and print what happened; `test_media` starts this in a mount namespace.

Usage: python small_disk.py SCENARIO DISK STATE. DISK is a small tmpfs; a file `ballast` on it can be removed.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from substrate.errors import AiMemoryError
from substrate.store.backup import make
from substrate.store.database import Database
from substrate.store.doctor import examine
from substrate.store.model import MemoryRow
from tests.store.rows import memory, record

DISK, STATE = Path(sys.argv[2]), Path(sys.argv[3])
HOME = DISK / "home"
NOBODY = 65534
PLAIN = {"force_compression": "uncompressed"}
KIB = 1024


def outcome(act: Callable[[], object]) -> str:
    """Answer `ok` or the code of the typed error; any other exception ends the run."""
    try:
        act()
    except AiMemoryError as error:
        assert error.hint
        return error.code
    return "ok"


def add(db: Database, id: str, size: int = 1) -> None:
    with db.write(actor="hum-1") as tx:
        record(tx, memory(id, content=os.urandom(size * KIB // 2).hex()))


def fill(db: Database) -> list[str]:
    """Write until the disk is full; answer the ids that were acknowledged."""
    written = []
    with contextlib.suppress(AiMemoryError):
        for number in range(10_000):
            add(db, f"mem-{number}", 64)
            written.append(f"mem-{number}")
    return written


def ids(db: Database) -> list[str]:
    with db.read() as r:
        return sorted(row.id for row in r.select(MemoryRow))


def create() -> Database:
    return Database.create(HOME, state_dir=STATE, settings=PLAIN)


def open_() -> Database:
    return Database.open(HOME, state_dir=STATE, settings=PLAIN)


def ballast(size: int) -> None:
    (DISK / "ballast").write_bytes(b"\0" * size)


def free() -> None:
    (DISK / "ballast").unlink()


def full() -> dict[str, Any]:
    ballast(2_000 * KIB)
    db = create()
    written = fill(db)
    seen = {"written": len(written) > 5, "again": outcome(lambda: add(db, "more", 64))}
    seen["kept"] = ids(db) == sorted(written)
    seen["close"] = outcome(db.close)
    db = open_()
    seen["kept when reopened"] = ids(db) == sorted(written)
    seen["full still"] = outcome(lambda: add(db, "more", 512))
    free()
    seen["after space was freed"] = outcome(lambda: add(db, "after", 64))
    db.close()
    seen["kept in the end"] = ids(open_()) == sorted([*written, "after"])
    return seen


def too_small() -> dict[str, Any]:
    ballast(os.statvfs(DISK).f_bavail * os.statvfs(DISK).f_bsize - 400 * KIB)
    seen = {"create": outcome(create), "open": outcome(open_)}
    free()
    seen["create with space"] = outcome(create)
    return seen


def rewrite() -> dict[str, Any]:
    ballast(2_000 * KIB)
    db = create()
    written = fill(db)
    seen = {"rewrite": outcome(db.rewrite), "kept": ids(db) == sorted(written)}
    seen["left behind"] = sorted(path.name for path in HOME.iterdir() if path.name.startswith("."))
    free()
    seen["after space was freed"] = outcome(lambda: add(db, "after"))
    return seen


def state() -> dict[str, Any]:
    """The disk holds the anchor, and the store lies elsewhere."""
    db = Database.create(STATE / "home", state_dir=DISK / "state")
    add(db, "mem-1")
    ballast(os.statvfs(DISK).f_bavail * os.statvfs(DISK).f_bsize)
    seen = {"write": outcome(lambda: add(db, "mem-2")), "read": outcome(lambda: ids(db))}
    free()
    seen["after space was freed"] = outcome(lambda: add(db, "mem-3"))
    db.close()
    again = Database.open(STATE / "home", state_dir=DISK / "state")
    return {**seen, "situation": again.situation.value, "kept": ids(again)}


def read_only() -> dict[str, Any]:
    db = create()
    add(db, "mem-1")
    db.close()
    return on_read_only(["mem-1"])


def read_only_after_a_crash() -> dict[str, Any]:
    """What a process acknowledged before it was killed lies in the write-ahead log alone."""
    create().close()
    pid = os.fork()
    if pid == 0:
        add(open_(), "mem-1")
        os._exit(0)
    os.waitpid(pid, 0)
    assert (HOME / "memory.duckdb.wal").stat().st_size > 0
    return on_read_only(["mem-1"])


def on_read_only(kept: list[str]) -> dict[str, Any]:
    subprocess.run(["mount", "-o", "remount,ro", DISK], check=True)
    db, other = open_(), open_()
    seen = {"read only": db.read_only, "kept": ids(db) == kept, "two at once": ids(other) == kept}
    other.close()
    seen |= {"write": outcome(lambda: add(db, "mem-2")), "rewrite": outcome(db.rewrite)}
    seen |= {"create": outcome(lambda: Database.create(DISK / "other", state_dir=STATE)), "close": outcome(db.close)}
    seen |= looked_at()
    subprocess.run(["mount", "-o", "remount,rw", DISK], check=True)
    seen["writable again"] = outcome(lambda: add(open_(), "mem-2"))
    return seen


def looked_at() -> dict[str, Any]:
    """Back up and examine a store whose folder cannot be written, and see that nothing in it changed."""
    before = {path: path.read_bytes() for path in HOME.rglob("*") if path.is_file()}
    db = open_()
    with db.read() as r:
        head = r.head.sequence
    _, manifest = make(db, STATE / "one.backup", with_keys=True)
    db.close()
    found = examine(HOME, state_dir=STATE)
    named = {item["name"]: item["ok"] for item in found["findings"]}
    same = before == {path: path.read_bytes() for path in HOME.rglob("*") if path.is_file()}
    (STATE / "one.backup").unlink()
    return {
        "backup": manifest.sequence == head,
        "doctor": [name for name, ok in named.items() if not ok],
        "doctor says so": "folder.read-only" in named,
        "untouched": same,
    }


def not_ours_to_write() -> dict[str, Any]:
    """A folder that its owner may not write; root, who may write everywhere, becomes somebody else first."""
    db = create()
    add(db, "mem-1")
    db.close()
    looked_at()  # loads what somebody else may not be let to read
    if os.geteuid() == 0:
        for path in (DISK.parent, *DISK.parent.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        except OSError as error:
            return {"unable": f"root cannot become somebody else here: {error.strerror}"}
    for path in (*HOME.rglob("*"), HOME):
        path.chmod(0o500 if path.is_dir() else 0o400)
    db = open_()
    seen = {"read only": db.read_only, "write": outcome(lambda: add(db, "mem-2")), "close": outcome(db.close)}
    return seen | looked_at()


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
