"""One store: its folder, its file, its log, and the two ways in: ``read`` and ``write``.

Source: docs/spec/model.md §4 and §6, docs/spec/audit.md §2.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from audit import keys
from audit.anchor import Situation
from audit.errors import AiMemoryError, Conflict, NotFound, Unavailable
from audit.event import GENESIS_PREV
from audit.state import BUCKETS, EMPTY_BUCKET, StateTree
from substrate.store import schema
from substrate.store.baton import Baton
from substrate.store.db import FILE, Connection, translated
from substrate.store.file import create_file, open_file, remove_traces, rewrite_file, sync
from substrate.store.ids import IdMaker, system_clock
from substrate.store.ledger import Head, Ledger, state_folder
from substrate.store.transaction import Reader, Transaction

KEY_FILE = Path("keys") / "store.key"
WORKSHOP = ".new"  # where a store is built; a crash after the last step leaves it behind, empty


class Database:
    """An open store. Threads share one; processes share the file (see ``baton``)."""

    def __init__(
        self,
        home: Path,
        *,
        state_dir: Path | None = None,
        clock: Callable[[], str] = system_clock,
        new_id: Callable[[str], str] | None = None,
        settings: Mapping[str, str] | None = None,
        wait_s: float | None = None,
    ) -> None:
        self.home = home
        self.clock = clock
        self.new_id = new_id or IdMaker()
        self._settings = dict(settings or {})
        self.read_only = not writable(home)
        key = keys.load(home / KEY_FILE) if (home / KEY_FILE).exists() else None
        self._ledger = Ledger(state_dir or state_folder(home), key, read_only=self.read_only)
        self._connection: Connection | None = None
        self._writing = False
        waits = {} if wait_s is None else {"wait_s": wait_s}
        self._baton = Baton(home, opened=self._open_file, closing=self._close_file, **waits)
        self._mutex = threading.RLock()  # stands in for the baton on a read-only medium

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        state_dir: Path | None = None,
        clock: Callable[[], str] = system_clock,
        new_id: Callable[[str], str] | None = None,
        settings: Mapping[str, str] | None = None,
        wait_s: float | None = None,
    ) -> Database:
        """Open the store in ``home``.

        Raises NotFound when there is none, Integrity when the store, its log or its anchor do not verify, Unavailable
        when it cannot be read or was made by a newer program.
        """
        if not (home / FILE).exists():
            raise NotFound(f"no store in {home}", hint="make one with `ai-memory init`, or by remembering something")
        db = cls(home, state_dir=state_dir, clock=clock, new_id=new_id, settings=settings, wait_s=wait_s)
        with db.read():
            return db

    @classmethod
    def create(
        cls,
        home: Path,
        *,
        state_dir: Path | None = None,
        clock: Callable[[], str] = system_clock,
        new_id: Callable[[str], str] | None = None,
        settings: Mapping[str, str] | None = None,
        signed: bool = True,
    ) -> Database:
        """Make a store in ``home`` and open it; the file appears whole or not at all.

        Raises Conflict when there is one already.
        """
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(
                f"cannot make {home}: {error.strerror}", hint="choose a folder with AI_MEMORY_HOME"
            ) from error
        maker = Baton(home, opened=lambda: None, closing=lambda: None)
        try:
            with maker.held(), translated():
                _build(home, state_dir, clock, new_id or IdMaker(), settings, signed)
        finally:
            maker.close()
        return cls.open(home, state_dir=state_dir, clock=clock, new_id=new_id, settings=settings)

    @property
    def store_id(self) -> str:
        """The identity of this store, in every event and in the anchor's name."""
        return self._ledger.store_id

    @property
    def situation(self) -> Situation:
        """How the log stands to this machine's anchor."""
        return self._ledger.situation

    @property
    def ledger(self) -> Ledger:
        """The log of this store."""
        return self._ledger

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Hold the file and give its connection, for maintenance."""
        with self._mutex if self.read_only else self._baton.held():
            yield self._connection or self._open_file()

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Hold the file for a read."""
        with self.connection() as connection:
            yield Reader(connection, self._ledger)

    @contextmanager
    def write(self, actor: str) -> Iterator[Transaction]:
        """Hold the file for one transaction: committed and anchored at the end, dropped on an exception.

        Raises Unavailable on a read-only medium. A commit that fails leaves the store as it was, or as the
        transaction made it if the engine had already written it; an idempotency key tells which.
        """
        if self.read_only:
            raise _read_only(self.home)
        with self.connection() as connection:
            if self._writing:
                raise RuntimeError("a transaction inside a transaction")
            self._ledger.compare(connection)
            self._writing = True
            before = self._ledger.head
            try:
                connection.begin()
                tx = Transaction(connection, self._ledger, now=self.clock(), new_id=self.new_id, actor=actor)
                yield tx
                if tx.unbound:
                    raise RuntimeError(f"{tx.unbound} rows were written without an event")
                connection.commit()
            except BaseException:
                self._abandon(connection, before)
                raise
            finally:
                self._writing = False
            self._ledger.settle(connection)

    def rewrite(self) -> tuple[int, int]:
        """Copy the file into a fresh one so that erased text is gone from it; return the sizes before and after.

        Raises Unavailable on a read-only or full medium; the old file is untouched then.
        """
        if self.read_only:
            raise _read_only(self.home)
        with self.connection():
            if self._writing:
                raise RuntimeError("a rewrite inside a transaction")
            self._close_file()
            try:
                return rewrite_file(self.home / FILE, self._settings)
            finally:
                self._open_file()

    def close(self) -> None:
        """Close the file and let others have it."""
        self._baton.close()
        with self._mutex:
            self._close_file()

    def _open_file(self) -> Connection:
        connection = open_file(self.home / FILE, read_only=self.read_only, settings=self._settings)
        if not self.read_only and self._ledger.head is None:
            shutil.rmtree(self.home / WORKSHOP, ignore_errors=True)
        try:
            self._ledger.refresh(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _close_file(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _abandon(self, connection: Connection, before: Head | None) -> None:
        """Go back to before the transaction; a connection that cannot is closed, the next operation opens one."""
        undone = False
        try:
            with suppress(AiMemoryError):  # what made the transaction fail is what the caller hears of
                connection.rollback()
                if before is not None:
                    self._ledger.revert(connection, before)
                undone = True
        finally:
            if not undone:
                self._ledger.distrust(before)
                self._baton.close()


def _build(
    home: Path,
    state_dir: Path | None,
    clock: Callable[[], str],
    new_id: Callable[[str], str],
    settings: Mapping[str, str] | None,
    signed: bool,
) -> None:
    """Make the file under a name of its own, write its first event, then move it into place."""
    if (home / FILE).exists():
        raise Conflict(f"{home} already holds a store", hint="open it, or choose another folder with AI_MEMORY_HOME")
    workshop = home / WORKSHOP
    shutil.rmtree(workshop, ignore_errors=True)
    workshop.mkdir(mode=0o700)
    key_path = home / KEY_FILE
    if not signed and key_path.exists():
        raise Conflict(f"{key_path} is here: the store would have to be signed", hint="make a signed one, or move it")
    key = (keys.load(key_path) if key_path.exists() else keys.create(key_path)) if signed else None
    connection = create_file(workshop / FILE, settings)
    try:
        ledger = Ledger(state_dir or state_folder(home), key)
        ledger.store_id = new_id("store")
        ledger.genesis_key = key.public if key else None
        connection.begin()
        connection.insert(
            "state_buckets", ("bucket", "digest"), [(b, EMPTY_BUCKET) for b in range(BUCKETS)], {"bucket": "INTEGER"}
        )
        ledger.state.load(connection, StateTree().root())
        payload = {"schema": schema.VERSION, "public_key": ledger.genesis_key, "prev": GENESIS_PREV}
        ledger.append(
            connection,
            time=clock(),
            actor="hub",
            type="store_created",
            namespace=None,
            subject=ledger.store_id,
            payload=payload,
            audience=(),
            changes=(),
        )
        connection.commit()
        connection.checkpoint()
        ledger.adopt(connection)
    finally:
        connection.close()
    sync(workshop / FILE)
    remove_traces(home / FILE)  # of a file that somebody removed
    (workshop / FILE).rename(home / FILE)
    sync(home)
    shutil.rmtree(workshop, ignore_errors=True)


def _read_only(home: Path) -> Unavailable:
    return Unavailable(f"{home} is read-only", hint="copy the folder to a writable place")


def writable(home: Path) -> bool:
    """Say whether the folder and the file can be written, as far as the system tells."""
    return os.access(home, os.W_OK) and (not (home / FILE).exists() or os.access(home / FILE, os.W_OK))
