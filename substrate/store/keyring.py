"""The files that hold the store's key: the one in force, and the next while a rotation is under way.

A new seed lies in `store.key.next` before the event that puts it in force is written, and takes the place of the old
one after that event is on disk and anchored. Whatever a process dies at, the seed of the key in force is in either.
Source: docs/spec/audit.md §3.
"""

from __future__ import annotations

from pathlib import Path

from audit import files, keys
from audit.errors import Integrity, NotFound
from audit.keys import Key

KEY_FILE = Path("keys") / "store.key"
NEXT_FILE = Path("keys") / "store.key.next"


class Keyring:
    """Hold the key that signs, ``key``: None in a store without one, and where its file is missing."""

    def __init__(self, home: Path, key: Key | None = None, *, read_only: bool = False) -> None:
        self.key = key
        self._path, self._next, self._read_only = home / KEY_FILE, home / NEXT_FILE, read_only
        self._following: Key | None = None  # not in its place yet

    def settle(self, public: str | None, *, sure: bool) -> None:
        """Take up the key the log has in force, and end a rotation that died: after its event, or before it.

        One that died before is dropped when the log is ``sure`` to be the newest. Raises Integrity when the key in
        place is another one.
        """
        if self.key is not None and self.key.public == public:
            return
        following = _found(self._next)
        if following is not None and following.public == public:
            self.key = self._following = following
            self.finish()
            return
        current = _found(self._path)
        if current is not None and current.public != public:
            raise Integrity(
                "keys/store.key is not the key of this store",
                hint="put the store's own key back; a copy from before a rotation has none any more",
            )
        self.key, self._following = current, None
        if following is not None and sure and not self._read_only:
            files.erase(self._next)

    def prepare(self) -> Key:
        """Make the key that is to follow and have it on disk; the one in force stays as it is."""
        files.erase(self._next)
        self._following = keys.create(self._next)
        return self._following

    def take_up(self) -> None:
        """Sign with the key that was prepared: its event was written."""
        if self._following is None:
            raise RuntimeError("no key was prepared")
        self.key = self._following

    def finish(self) -> None:
        """Erase the seed of the key before and put the new one in its place, if that is still to be done."""
        if self._following is not None and self.key is self._following and not self._read_only:
            files.supplant(self._path, self._next)
            self._following = None


def _found(path: Path) -> Key | None:
    try:
        return keys.load(path)
    except NotFound:
        return None
