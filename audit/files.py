"""Keep small private files: 0600 in a 0700 folder, ours alone, written whole or not at all.

Keys and anchors are such files. Every function raises `Integrity` for a file or folder that somebody else could have
changed (loose mode, symlink, other owner), and `Unavailable` when the medium refuses.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from audit.errors import AiMemoryError, Conflict, Integrity, Invalid, NotFound, Unavailable

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe in the place of a file must not block
_WRITE = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read(path: Path, limit: int) -> bytes:
    """Return a private file's bytes; more than `limit` of them are `Integrity`, no file is `NotFound`."""
    with _folder(path) as folder, told(path):
        descriptor = os.open(path.name, _READ, dir_fd=folder)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise Integrity(f"{path} is not a regular file", hint="move it away")
            _check_private(path, status)
            data = os.read(descriptor, limit + 1)
        finally:
            os.close(descriptor)
    if len(data) > limit:
        raise Integrity(f"{path} is longer than {limit} bytes", hint="it is not a file this program wrote")
    return data


def unblocked(path: str, flags: int) -> int:
    """Open as `open` does (its ``opener``), without waiting where a pipe lies in the place of the file."""
    return os.open(path, flags | os.O_NONBLOCK)


def sync(path: Path) -> None:
    """Have the system write a file, or a folder's names, to the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def create(path: Path, data: bytes) -> None:
    """Write a new private file, making its folder when there is none; an existing file is `Conflict`."""
    _make_folder(path)
    with _folder(path) as folder, told(path), _written(path, folder, data) as temporary:
        # a hard link fails where a rename would overwrite
        os.link(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        os.unlink(temporary, dir_fd=folder)
        os.fsync(folder)


def replace(path: Path, data: bytes, *, erasing: bool = False) -> None:
    """Write a private file in place of the one there, making its folder when there is none.

    With ``erasing`` the bytes that were there are overwritten, once the new file has its name.
    """
    _make_folder(path)
    with _folder(path) as folder, told(path), _written(path, folder, data) as temporary:
        old = os.open(path.name, _WRITE, dir_fd=folder) if erasing else None
        try:
            os.rename(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
            if old is not None:
                _zero(old)
        finally:
            if old is not None:
                os.close(old)


def supplant(path: Path, successor: Path) -> None:
    """Erase the file at `path` and put `successor`, which lies in the same folder, in its place.

    After a crash `successor` is whole, under the one name or the other. What a file system or a disk keeps of the old
    bytes elsewhere is out of reach.
    """
    with _folder(path) as folder, told(path):
        with suppress(FileNotFoundError):
            _overwrite(path.name, folder)
        _sweep(successor.name, folder)
        os.rename(successor.name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def erase(path: Path) -> None:
    """Overwrite a file with zeros and remove it, as far as the file system lets; none is fine."""
    if not os.path.lexists(path):
        return
    with _folder(path) as folder, told(path):
        _overwrite(path.name, folder)
        os.unlink(path.name, dir_fd=folder)
        os.fsync(folder)


def _overwrite(name: str, folder: int) -> None:
    descriptor = os.open(name, _WRITE, dir_fd=folder)
    try:
        _zero(descriptor)
    finally:
        os.close(descriptor)


def _zero(descriptor: int) -> None:
    os.pwrite(descriptor, bytes(os.fstat(descriptor).st_size), 0)
    os.fsync(descriptor)


@contextmanager
def _written(path: Path, folder: int, data: bytes) -> Iterator[str]:
    """Give the name of a synced temporary file beside `path`; remove it when what follows fails."""
    _sweep(path.name, folder)
    temporary = f".{path.name}.{secrets.token_hex(8)}.new"
    descriptor = os.open(temporary, _CREATE, 0o600, dir_fd=folder)
    try:
        try:
            os.fchmod(descriptor, 0o600)
            with open(descriptor, "wb", closefd=False) as file:
                file.write(data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield temporary
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _sweep(name: str, folder: int) -> None:
    """Remove the temporary files that a crash left of a file; they may be that file under a second name."""
    for stale in os.listdir(folder):
        if stale.startswith(f".{name}.") and stale.endswith(".new"):
            with suppress(FileNotFoundError):
                os.unlink(stale, dir_fd=folder)


def _make_folder(path: Path) -> None:
    with told(path.parent):
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.parent.mkdir(mode=0o700)


@contextmanager
def _folder(path: Path) -> Iterator[int]:
    """Give a descriptor of the folder of `path`, after seeing that it is private."""
    folder = path.parent
    with told(folder):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _check_private(folder, os.fstat(descriptor))
        yield descriptor
    finally:
        os.close(descriptor)


def _check_private(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise Integrity(f"{path} belongs to another user", hint="check who put it there; then: chown it to yourself")
    if status.st_mode & 0o077:
        mode = "700" if stat.S_ISDIR(status.st_mode) else "600"
        loose = stat.S_IMODE(status.st_mode)
        raise Integrity(f"{path} has mode {loose:o}: others can reach it", hint=f"chmod {mode} {path}")


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn the operating system's refusal into ours."""
    try:
        yield
    except OSError as error:
        raise _refusal(path, error) from error
    except ValueError as error:  # a NUL inside a path
        raise Invalid(f"{str(path)!r:.200} is not a path") from error


def _refusal(path: Path, error: OSError) -> AiMemoryError:
    if error.errno == errno.ENOENT:
        return NotFound(f"{path} does not exist")
    if error.errno == errno.EEXIST:
        return Conflict(f"{path} exists and is not overwritten", hint="choose another name, or move it away")
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR):
        return Integrity(f"{path} is a symbolic link or not what it should be", hint="move it away")
    return Unavailable(f"{path}: {error.strerror}", hint="check the disk and the permissions")
