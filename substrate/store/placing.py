"""Put a restored store in its place; what was there is moved aside and nothing of it is deleted.

Source: docs/spec/audit.md §5.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from audit import files
from audit.files import sync
from substrate import config
from substrate.store.db import COMPANIONS, FILE
from substrate.store.file import remove_traces

ASIDE = "set-aside-"
_DERIVED = ("index",)
_BESIDE = ("keys", config.FILE, "personas", "reflections")


def place(home: Path, new: Path, *, time: str, other_store: bool, older_key: bool) -> Path | None:
    """Put the store built in ``new`` into ``home``; give the folder that holds what was there, None if nothing was.

    Keys and settings that lie in the home stay and are joined by those of the backup that are missing. Of another store
    they are moved aside as well; so is the store's key when the backup's is ``older_key``, the one its log needs. The
    file is replaced in one step: before it the old store is there, after it the restored one.
    """
    aside = _aside(home, time)
    with files.told(home):
        if other_store:
            _move(home, aside, _BESIDE)
        if older_key:
            (aside / "keys").mkdir(mode=0o700)
            for path in sorted((home / "keys").glob("store.key*")):
                path.rename(aside / "keys" / path.name)
        for path in sorted((new / "keys").glob("*")) if (new / "keys").is_dir() else ():
            if not os.path.lexists(home / "keys" / path.name):
                files.create(home / "keys" / path.name, path.read_bytes())
        if (new / config.FILE).exists() and not os.path.lexists(home / config.FILE):
            _write(home / config.FILE, (new / config.FILE).read_bytes())
        for end in ("", *COMPANIONS):
            if os.path.lexists(old := home / f"{FILE}{end}"):
                os.link(old, aside / old.name, follow_symlinks=False)
        sync(aside)
        (new / FILE).chmod(0o600)
        sync(new / FILE)
        (new / FILE).replace(home / FILE)
        remove_traces(home / FILE)
        _move(home, aside, _DERIVED)
        sync(home)
        if not any(aside.iterdir()):
            aside.rmdir()
            return None
    return aside


def _aside(home: Path, time: str) -> Path:
    """Make a folder for what was there, named after the time."""
    stamp = ASIDE + re.sub("[^0-9TZ]", "", time)
    with files.told(home):
        for name in (stamp, *(f"{stamp}-{number}" for number in range(2, 100))):
            if not os.path.lexists(home / name):
                break
        (home / name).mkdir(mode=0o700)
    return home / name


def _move(home: Path, aside: Path, names: tuple[str, ...]) -> None:
    for name in names:
        if os.path.lexists(home / name):
            (home / name).rename(aside / name)


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
