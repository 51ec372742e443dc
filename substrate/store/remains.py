"""What lies in a home that is to be restored: a copy of it, opened as far as that goes.

Source: docs/spec/audit.md §2.4 and §5.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from audit import anchor as anchors
from audit.anchor import Anchor
from audit.errors import AiMemoryError, Conflict, Integrity, NotFound
from substrate.store.backup import Manifest
from substrate.store.db import COMPANIONS, FILE, Connection
from substrate.store.file import copy_file
from substrate.store.inspection import inspect
from substrate.store.log import EventRow, event_rows, hash_at, newest, parsed, store_after
from substrate.store.salvage import Cut, named_stores, openable


class Remains:
    """A copy of a store's files, and its connection where they can be opened; the files themselves are not touched."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.connection: Connection | None = None
        self.cut: Cut | None = None
        self.store_id: str | None = None

    @classmethod
    def of(cls, home: Path, folder: Path) -> Remains:
        """Copy what lies in a home into a folder and open it; a home without a file has no remains."""
        found = cls(folder)
        if not (home / FILE).exists():
            return found
        for copy in (folder, folder / "open"):
            copy.mkdir(mode=0o700)
            copy_file(home / FILE, copy)
        found.cut = openable(folder / "open")
        if found.cut is not None:
            found._open()
        return found

    @property
    def there(self) -> bool:
        """Whether there is a file at all."""
        return (self._folder / FILE).exists()

    @property
    def files(self) -> list[Path]:
        """The files as they were found."""
        return [self._folder / f"{FILE}{end}" for end in ("", *COMPANIONS)]

    def openable(self) -> Path:
        """Give the folder of a copy that opens. Raises NotFound where there is no store, Integrity where none opens."""
        if not self.there:
            raise NotFound("there is no store here to restore", hint="give a backup: `ai-memory restore FILE`")
        if self.connection is None:
            raise Integrity(
                "the store's file is damaged so that nothing of it can be read",
                hint="only a backup helps: `ai-memory restore FILE`",
            )
        return self._folder / "open"

    def is_of(self, manifest: Manifest) -> bool:
        """Say whether this is the store of a backup, or a copy of it that was given another identity later."""
        if self.store_id is None:
            named = named_stores(self.files)
            self.store_id = manifest.store_id if manifest.store_id in named else min(named, default=None)
        if self.store_id in (None, manifest.store_id):
            return True
        return self.connection is not None and hash_at(self.connection)(manifest.sequence) == manifest.event_hash

    def now(self, manifest: Manifest) -> str:
        """Give the identity that the store has now, as far as it can be read."""
        return (self.store_id if self.connection is not None else None) or manifest.store_id

    def events(self, after: int) -> list[EventRow]:
        """Read the events after a number, unverified; none from what cannot be read."""
        if self.connection is not None:
            with suppress(AiMemoryError):
                return event_rows(self.connection, after)
        return []

    def check_needed(self, manifest: Manifest, anchor: Anchor | None, state_dir: Path) -> None:
        """Refuse to restore over a store that is whole and has all that the backup has.

        Raises Conflict then, and Integrity for a whole store of another history.
        """
        if self.connection is None or self.cut is None or not self.cut.whole:
            return
        if newest(self.connection)[0] < manifest.sequence:
            return
        self.close()
        report = inspect(self._folder / "open", state_dir=state_dir)
        self._open()
        if [fault for fault in report.faults if fault.kind not in ("anchor", "checkpoint")]:
            return
        if hash_at(self.connection)(manifest.sequence) != manifest.event_hash:
            raise Integrity(
                "the store that lies here is whole and of another history than the backup",
                hint="restore it into a folder of its own (AI_MEMORY_HOME, AI_MEMORY_STATE)",
                situation="diverged",
            )
        if anchor is not None and anchor.sequence > report.events:
            return  # behind
        if anchor is not None and anchors.judge(anchor, report.events, report.head, hash_at(self.connection)) in _APART:
            return
        raise Conflict(
            "the store is whole and lacks nothing",
            hint="to look at a backup, restore it into a folder of its own (AI_MEMORY_HOME, AI_MEMORY_STATE)",
        )

    def close(self) -> None:
        """Let go of the copy."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _open(self) -> None:
        self.connection = Connection(self._folder / "open" / FILE, read_only=True)
        with suppress(Integrity):
            self.store_id = store_after(parsed(newest(self.connection)))


_APART = (anchors.Situation.BEHIND, anchors.Situation.DIVERGED)
