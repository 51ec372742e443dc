"""Say in words what is wrong with a home and by which command it is mended; changes nothing.

A finding has a ``name`` that stays the same, such as `anchor.behind`; ``what`` it is about; what was ``found``; and how
to ``mend`` it, unless it is ``ok``. Source: docs/spec/audit.md §2.4, §2.5 and §5.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit import files, keys
from audit.errors import AiMemoryError, NotFound
from substrate import config
from substrate.store.baton import Baton, stale_tickets
from substrate.store.database import writable
from substrate.store.db import FILE
from substrate.store.diagnosis import Finding, finding, store_findings
from substrate.store.inspection import unverified
from substrate.store.keyring import KEY_FILE, NEXT_FILE
from substrate.store.ledger import state_folder
from substrate.store.placing import ASIDE
from substrate.store.workshop import FIXED, leftovers

VIEWS = ("personas", "reflections")  # folders of files that show rows
_KEY_BYTES = 64 * 1024


def examine(home: Path, *, state_dir: Path | None = None) -> dict[str, Any]:
    """Look at the folder, the settings, the keys, the file, the log and the anchor; ``ok`` when nothing is wrong."""
    found = [*_folder(home), *_settings(home), *_queue(home), *_left(home)]
    if not (home / FILE).exists():
        mend = "`ai-memory restore FILE` with a backup; what a restore put aside lies in set-aside-…"
        found += [*_keys(home, None), finding(False, "file.missing", f"{home} holds no {FILE}", mend)]
    else:
        diagnosed, public = store_findings(home, state_dir or state_folder(home))
        found += [*_keys(home, public), *diagnosed, *_views(home)]
    return {"ok": all(item["ok"] for item in found), "findings": found}


def _folder(home: Path) -> Iterator[Finding]:
    mode = stat.S_IMODE(home.stat().st_mode)
    private = not mode & 0o077
    yield finding(
        private, "folder" if private else "folder.loose", f"{home} has mode {mode:04o}", f"chmod 700 {_shown(home)}"
    )
    if not writable(home):
        yield finding(True, "folder.read-only", "nothing can be written here: it is read without a lock")


def _settings(home: Path) -> Iterator[Finding]:
    try:
        found = config.read(home)
    except AiMemoryError as error:
        yield finding(False, "settings.wrong", error.message, error.hint)
    else:
        yield finding(True, "settings", f"acts as {found.principal or 'nobody yet'}")


def _keys(home: Path, public: str | None) -> Iterator[Finding]:
    """Look at the store's key, and at whether any key lies open to others; ``public`` is the one in force, if known."""
    folder = home / "keys"
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        try:
            files.read(path, _KEY_BYTES)
        except AiMemoryError as error:
            yield finding(False, "key.loose", error.message, error.hint)
            if "others" in error.message and not path.is_symlink() and folder.stat().st_mode & 0o077:
                return  # the folder's mode is told once
    if (home / NEXT_FILE).exists():
        yield finding(
            False, "key.unfinished", "a replacement of the store's key was interrupted", "`ai-memory status` ends it"
        )
    back = f"put it back, such as from a backup with keys: tar -xzf FILE -C {_shown(home)} keys/store.key"
    try:
        key = keys.load(home / KEY_FILE)
    except NotFound:
        if public is not None or not (home / FILE).exists():
            yield finding(False, "key.missing", "keys/store.key is not here: nothing can be written", back)
        else:
            yield finding(True, "key", "the store has none: its events are chained and unsigned")
    except AiMemoryError as error:
        yield finding(False, "key.damaged", error.message, back)
    else:
        if public is None or key.public == public or (home / NEXT_FILE).exists():
            yield finding(True, "key", f"signs as {key.key_id}")
        else:
            yield finding(
                False, "key.other", f"keys/store.key signs as {key.key_id}, which this log does not know", back
            )


def _queue(home: Path) -> Iterator[Finding]:
    stale = stale_tickets(home)
    if stale:
        mend = f"rm -f {' '.join(_shown(path) for path in stale[:20])}"
        yield finding(False, "queue.stale", f"{len(stale)} tickets of processes that are gone", mend)


def _left(home: Path) -> Iterator[Finding]:
    """Look for what a process that died had begun to build, and for what a restore put aside."""
    left = leftovers(home)
    if writable(home):
        holder = Baton(home, opened=lambda: None, closing=lambda: None)
        try:
            with holder.held():  # who builds under the lock has finished
                left += [home / name for name in FIXED if (home / name).is_dir()]
        finally:
            holder.close()
    for path in left:
        yield finding(False, "leftover", f"{path} was not finished; it may hold text", f"rm -r {_shown(path)}")
    for path in sorted(home.glob(f"{ASIDE}*")):
        yield finding(
            True,
            "set-aside",
            f"{path} holds what a restore moved aside; it may hold forgotten text, so delete it in time",
        )


def _views(home: Path) -> Iterator[Finding]:
    """Hold the files that show rows against the table of those that were written."""
    there = {path for folder in VIEWS for path in _beneath(home, home / folder)}
    if not there:
        return
    try:
        with unverified(home) as connection:
            known: dict[str, str] = dict(
                connection.rows(
                    "SELECT p.path, coalesce(m.status, 'deleted') FROM projections p"
                    " LEFT JOIN memories m ON m.id = p.subject WHERE p.direction = 'out'"
                )
            )
    except AiMemoryError:
        return  # told of as the file's
    drafts = {path for path in there if path.endswith(".new") and path.rpartition("/")[2].startswith(".")}
    left = {path for path in there if known.get(path, "active") != "active"}
    strange = there - known.keys() - drafts
    for name, found, what, mend in (
        ("left", left, "show what was forgotten, retired or superseded", "`ai-memory rewrite` takes them away"),
        ("unfinished", drafts, "were not finished", "delete them; what they were to show is written again"),
        (
            "strange",
            strange,
            "were not written by this store",
            f"keep your own files elsewhere than in {' and '.join(VIEWS)}",
        ),
    ):
        if found:
            yield finding(False, f"files.{name}", f"{len(found)} {what}, the first: {min(found)}", mend)
    if not left | drafts | strange:
        yield finding(True, "files", f"{len(there)} show memories")


def _beneath(home: Path, folder: Path) -> Iterator[str]:
    """List the files under a folder, from the home; a link in the place of a folder counts as a file."""
    if folder.is_symlink():
        yield folder.relative_to(home).as_posix()
        return
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        yield from ((Path(place) / name).relative_to(home).as_posix() for name in [*names, *links])


def _shown(path: Path) -> str:
    return shlex.quote(str(path))
