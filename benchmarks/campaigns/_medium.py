"""Stand between a process and its disk: count the calls that change files, die at one, make them fail, cut the power.

The calls are those of the C library, counted by `_medium.c`, which is compiled here and loaded into the process that
drives a campaign; it does nothing until ``begin``. Each of these calls is one system call, so a kill at the library's
call is a kill at the system's: before it, or, for a write torn in two, within it.

A power cut keeps what reached the disk. The kernel forgets nothing when a process is killed, so a kill alone cannot
show a commit that was never synced. ``Disk`` plays the cut instead, from the record of every call, by the rules of a
journaling file system (ext4, xfs):

- what a file holds is kept up to its own last sync; of the writes after it, any part may be kept, or none
- names (files made, renamed, removed) are kept in order; a sync of any file or folder keeps all names before it

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import struct
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from enum import IntEnum, IntFlag
from functools import cache
from importlib import import_module
from pathlib import Path

from benchmarks.campaigns.campaign import Outcome, Work

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).with_suffix(".c")
OWN_MOUNTS = ("unshare", "--map-root-user", "--mount")


class Way(IntEnum):
    """What happens at the call with the number asked for. TEAR writes half and dies, SHORT writes half and is full."""

    COUNT, DIE, TEAR, FAIL_ONCE, FAIL_ON, SHORT = range(6)


class Among(IntFlag):
    """Which calls are counted: those that sync, make a name, write, do something else; ROOM need space."""

    SYNC, MAKE, WRITE, OTHER = 1, 2, 4, 8
    ROOM = MAKE | WRITE
    ANY = SYNC | ROOM | OTHER


def unable() -> str | None:
    """Say why calls cannot be counted here, or None."""
    if sys.platform != "linux":
        return "it stands between a process and the C library of Linux"
    return None if _compiler() else "it needs a C compiler (cc)"


def unable_to_mount() -> str | None:
    """Say why there can be no small disk here, or None."""
    try:
        done = subprocess.run(
            [*OWN_MOUNTS, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return "it needs unshare and mount"
    return f"it needs the right to mount: {done.stderr.strip()}" if done.returncode else None


def _compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc")


def driven(module: str, work: Work, *, mounts: bool = False) -> Outcome:
    """Have ``drive(work)`` of a campaign's module run in a process that the medium is loaded into."""
    library, answer = work.folder / "medium.so", work.folder / "answer.json"
    compiler = _compiler()
    assert compiler
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"], check=True)
    told = json.dumps({**asdict(work), "folder": str(work.folder)})
    command = [sys.executable, "-m", "benchmarks.campaigns._medium", module, told, str(answer)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LD_PRELOAD": str(library)}
    environment |= {"HOME": str(work.folder), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([*(OWN_MOUNTS if mounts else ()), *command], env=environment, check=True)
    return Outcome(**json.loads(answer.read_text(encoding="utf-8")))


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def begin(
    folder: Path,
    number: int = 0,
    way: Way = Way.COUNT,
    *,
    error: int = 0,
    among: Among = Among.ANY,
    lying: bool = False,
    journal: Path | None = None,
) -> None:
    """Watch this process under ``folder`` from now on. With ``lying`` a sync says that it was done and does nothing."""
    notes = os.fsencode(journal) if journal else None
    _library().medium_begin(os.fsencode(folder), ctypes.c_long(number), way, error, among, int(lying), notes)


def end() -> int:
    """Watch no longer; give how many calls were counted."""
    _library().medium_end()
    return made()


def made() -> int:
    """Give how many calls were counted so far."""
    return int(_library().medium_made())


# --- power cuts ----------------------------------------------------------------------------------------------------

_HEAD = struct.Struct("<8sIIIIQqq")
_MAGIC = b"MEDIUM:\0"
_FOLDER = -1
Write = tuple[str, int, int, bytes]  # kind, offset, length, data


def records(journal: Path) -> Iterator[tuple[str, int, int, int, bytes, str]]:
    """Read what was recorded: kind, inode, offset, length, data or name, second name; a torn record is left out."""
    data = journal.read_bytes() if journal.exists() else b""
    at = 0
    while at + _HEAD.size <= len(data):
        magic, kind, first, second, _, inode, offset, length = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + first + second
        if magic != _MAGIC or end > len(data) or (end < len(data) and data[end : end + 8] != _MAGIC):
            at = data.find(_MAGIC, at + 1)
            if at < 0:
                return
            continue
        start = at + _HEAD.size
        name = data[start + first : end].decode(errors="surrogateescape")
        yield chr(kind), inode, offset, length, data[start : start + first], name
        at = end


class Disk:
    """What would be on a disk: everything there now, and of what is recorded from now on what was synced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[bytearray] = []
        self._live: dict[int, int] = {}  # inode to number of the file that has it now
        self._names: dict[str, int] = {}
        self._pending: dict[int, list[Write]] = defaultdict(list)
        self._renames: list[tuple[str, str, str, int]] = []
        for path in sorted(folder.rglob("*")):
            if path.is_dir():
                self._names[str(path)] = _FOLDER
            else:
                self._names[str(path)] = self._made(path.stat().st_ino, path.read_bytes())

    def cut(self, journal: Path, chance: random.Random) -> int:
        """Play what was recorded, cut the power, and put what is left in the folder; answer the writes that were lost.

        Of what was not synced nothing is kept, or any part.
        """
        for kind, inode, offset, length, data, name in records(journal):
            self._play(kind, inode, offset, length, data, name)
        keep = chance.choice((0.0, 0.5))
        kept_names = chance.randint(0, len(self._renames)) if keep else 0
        for rename in self._renames[:kept_names]:
            self._rename(*rename)
        lost = 0
        for file, writes in self._pending.items():
            for write in writes:
                if chance.random() < keep:
                    self._write(file, write)
                else:
                    lost += 1
        self._lay()
        return lost

    def _made(self, inode: int, data: bytes = b"") -> int:
        self._files.append(bytearray(data))
        self._live[inode] = len(self._files) - 1
        return self._live[inode]

    def _play(self, kind: str, inode: int, offset: int, length: int, data: bytes, name: str) -> None:
        if kind in "WTZ":
            if inode in self._live:
                self._pending[self._live[inode]].append((kind, offset, length, data))
        elif kind == "S":
            for rename in self._renames:
                self._rename(*rename)
            self._renames.clear()
            if inode in self._live:
                for write in self._pending.pop(self._live[inode], ()):
                    self._write(self._live[inode], write)
        elif kind != "M":
            file = self._made(inode) if kind == "C" else _FOLDER
            self._renames.append((kind, data.decode(errors="surrogateescape"), name, file))

    def _write(self, file: int, write: Write) -> None:
        kind, offset, length, data = write
        held = self._files[file]
        if kind == "T":
            held[:] = held[:length].ljust(length, b"\0")
        else:
            held.extend(b"\0" * (offset + length - len(held)) if kind == "W" else b"")
            length = min(length, len(held) - offset)
            held[offset : offset + length] = data if kind == "W" else b"\0" * max(length, 0)

    def _rename(self, kind: str, name: str, other: str, file: int) -> None:
        names = self._names
        if kind in "CD":
            names[name] = file
        elif kind == "U":
            names.pop(name, None)
        elif kind == "L" and name in names:
            names[other] = names[name]
        elif kind == "R" and name in names:
            for inner in [key for key in names if key == name or key.startswith(f"{name}/")]:
                names[other + inner[len(name) :]] = names.pop(inner)

    def _lay(self) -> None:
        for path in self._folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, file in sorted(self._names.items()):
            path = Path(name)
            if not path.parent.is_dir():
                continue  # its folder's name was lost
            if file == _FOLDER:
                path.mkdir(mode=0o700)
            else:
                path.write_bytes(self._files[file])
                path.chmod(0o600)


def main(arguments: Sequence[str]) -> None:
    """Be the process that drives a campaign."""
    module, told, answer = arguments
    work = json.loads(told)
    work["folder"] = Path(work["folder"])
    outcome = import_module(module).drive(Work(**work))
    Path(answer).write_text(json.dumps(asdict(outcome)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
