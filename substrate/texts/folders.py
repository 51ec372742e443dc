"""Reach folders below a home by descriptors, so that no link leads out of it, and change files in them whole.

Every name is opened relative to the folder above it and no link is followed: what somebody puts in the place of a
folder or a file is refused, and nothing outside the home is touched. Every function raises Integrity for a link, a
thing of another kind, or a folder that others may write to; Unavailable when the medium refuses.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from audit.files import told
from substrate.errors import Integrity

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe in the place of a file must not block
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20


@contextmanager
def opened(home: Path, below: PurePosixPath, *, make: bool = False) -> Iterator[int]:
    """Give a descriptor of the folder ``below`` the home; ``make`` creates what is missing, for the owner alone.

    Raises NotFound when it is not there.
    """
    held = _walk(home, below, make)
    try:
        yield held
    finally:
        os.close(held)


def _walk(home: Path, below: PurePosixPath, make: bool) -> int:
    with told(home):
        held = os.open(home, _FOLDER)  # where the home lies is its owner's choice, links included
    place = home
    try:
        for name in below.parts:
            place = place / name
            with told(place):
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, 0o700, dir_fd=held)
                        os.fsync(held)
                inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=held)
            os.close(held)
            held = inner
            _check_own(place, os.fstat(held))
    except BaseException:
        os.close(held)
        raise
    return held


def _check_own(place: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise Integrity(f"{place} belongs to another user", hint="check who put it there, and move it away")
    if status.st_mode & 0o022:
        raise Integrity(f"{place} can be written by others", hint=f"chmod go-w {place}")


def check_place(home: Path, below: PurePosixPath, folder: int) -> None:
    """Raise Integrity unless the descriptor is still the folder that a walk from the home leads to."""
    with opened(home, below) as again, told(home / below):
        if not os.path.samestat(os.fstat(again), os.fstat(folder)):
            raise Integrity(f"{home / below} was exchanged while a file was written", hint="check who did it")


def names(folder: int, place: Path) -> set[str]:
    """List what lies in a folder."""
    with told(place):
        return set(os.listdir(folder))


def digest(folder: int, place: Path) -> str | None:
    """Give the SHA-256 of a file in hex, None where there is none."""
    with told(place):
        try:
            held = os.open(place.name, _READ, dir_fd=folder)
        except FileNotFoundError:
            return None
        try:
            _check_file(place, os.fstat(held))
            found = hashlib.sha256()
            while data := os.read(held, _CHUNK):
                found.update(data)
        finally:
            os.close(held)
    return found.hexdigest()


def put(folder: int, place: Path, data: bytes, *, new: bool) -> None:
    """Write a file, readable by its owner alone: whole or not at all, and on the disk when this returns.

    With ``new`` a file that has appeared there meanwhile is Conflict; without, it is replaced. A file with a second
    name keeps its content under that name.
    """
    temporary = temporary_name(place.name)
    with told(place):
        discard(folder, place)
        try:
            with open(os.open(temporary, _CREATE, 0o600, dir_fd=folder), "wb") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if new:  # a hard link fails where a rename would overwrite
                os.link(temporary, place.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
                os.unlink(temporary, dir_fd=folder)
            else:
                os.rename(temporary, place.name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise


def discard(folder: int, place: Path) -> None:
    """Remove what an interrupted ``put`` left of a file."""
    with told(place), suppress(FileNotFoundError):
        os.unlink(temporary_name(place.name), dir_fd=folder)


def remove(folder: int, place: Path) -> int:
    """Remove a file and say under how many other names its content stays; the folder is not synced yet."""
    with told(place):
        try:
            status = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return 0
        _check_file(place, status)
        os.unlink(place.name, dir_fd=folder)
    return status.st_nlink - 1


def sync(folder: int, place: Path) -> None:
    """Have the names in a folder written to the disk."""
    with told(place):
        os.fsync(folder)


def prune(home: Path, below: PurePosixPath) -> None:
    """Remove a folder and those around it, up to the home, as far as they are empty."""
    for part in (below, *below.parents[:-1]):
        with opened(home, part.parent) as outer:
            try:
                os.rmdir(part.name, dir_fd=outer)
            except OSError:  # somebody keeps something there
                return


def temporary_name(name: str) -> str:
    """Give the name under which a file is written before it is complete."""
    return f".{name}.new"


def _check_file(place: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Integrity(f"{place} is not a regular file", hint="see what it is, and move it away")
