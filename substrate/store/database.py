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
from audit.attestation import Witness
from audit.errors import AiMemoryError, Conflict, Integrity, Invalid, NotFound, Unavailable
from audit.event import GENESIS_PREV
from audit.files import sync
from audit.state import BUCKETS, EMPTY_BUCKET, StateTree
from substrate import limits
from substrate.store import schema
from substrate.store.baton import Baton
from substrate.store.db import FILE, Connection, translated
from substrate.store.file import copy_file, create_file, open_file, remove_traces, rewrite_file
from substrate.store.ids import IdMaker, system_clock
from substrate.store.keyring import KEY_FILE, Keyring
from substrate.store.ledger import Head, Ledger, state_folder
from substrate.store.model import NamespaceRow
from substrate.store.state_dir import keeps_anchors, no_state
from substrate.store.tolerance import LeftOut, TolerantReader
from substrate.store.transaction import Reader, Transaction

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
        self.state_dir = state_dir or state_folder(home)
        self._locked = writable(home)
        self.read_only = not (self._locked and keeps_anchors(self.state_dir))
        self.left_out = LeftOut()
        self.tolerant = self._lenient = False
        keyring = Keyring(home, read_only=self.read_only)
        self._ledger = Ledger(self.state_dir, keyring, read_only=self.read_only)
        self._connection: Connection | None = None
        self._writing = False
        self._holder: int | None = None  # the thread inside ``connection``
        waits = {} if wait_s is None else {"wait_s": wait_s}
        self._baton = Baton(home, opened=self._open_file, closing=self._hand_over, **waits)
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
        tolerant: bool = False,
        lenient: bool = False,
    ) -> Database:
        """Open the store in ``home``.

        A ``tolerant`` one leaves out rows that do not match, lists them in ``left_out`` and takes no write. A
        ``lenient`` one goes without an anchor whatever the policy says.

        Raises NotFound when there is none, Integrity when the store, its log or its anchor do not verify, Unavailable
        when it cannot be read or was made by a newer program.
        """
        if not (home / FILE).exists():
            raise NotFound(f"no store in {home}", hint="make one with `ai-memory init`, or by remembering something")
        db = cls(home, state_dir=state_dir, clock=clock, new_id=new_id, settings=settings, wait_s=wait_s)
        db.tolerant, db._lenient = tolerant, lenient
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
        if not keeps_anchors(state_dir or state_folder(home)):
            raise no_state(state_dir or state_folder(home))
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

    @property
    def held(self) -> bool:
        """Whether this thread is inside a read or a write; nothing slow may happen then."""
        return self._holder == threading.get_ident()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Hold the file and give its connection, for maintenance."""
        with self._baton.held() if self._locked else self._mutex:
            before, self._holder = self._holder, threading.get_ident()
            try:
                yield self._connection or self._open_file()
            finally:
                self._holder = before

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Hold the file for a read."""
        with self.connection() as connection:
            if self.tolerant:
                yield TolerantReader(connection, self._ledger, self.left_out)
            else:
                yield Reader(connection, self._ledger)

    @contextmanager
    def write(self, actor: str, witness: Witness | None = None, *, attests: bool = False) -> Iterator[Transaction]:
        """Hold the file for one transaction: committed and anchored at the end, dropped on an exception.

        ``witness`` vouches for what needs it, and with ``attests`` for all of it.

        Raises Unavailable on a read-only medium, Invalid where rows are left out. A commit that fails leaves
        the store as it was, or as the transaction made it if the engine had already written it; an idempotency key
        tells which. What fails after the commit says ``committed`` in its details.
        """
        self._check_writable()
        with self.connection() as connection:
            if self._writing:
                raise RuntimeError("a transaction inside a transaction")
            self._ledger.compare(connection)
            self._check_strict(connection)
            self._writing = True
            before = self._ledger.head
            try:
                connection.begin()
                now, new_id = self.clock(), self.new_id
                tx = Transaction(
                    connection, self._ledger, now=now, new_id=new_id, actor=actor, witness=witness, attests=attests
                )
                yield tx
                if tx.unbound:
                    raise RuntimeError(f"{tx.unbound} rows were written without an event")
                connection.commit()
            except BaseException:
                self._abandon(connection, before)
                raise
            finally:
                self._writing = False
            with _kept():
                self._ledger.settle(connection)
                if connection.log_bytes() > limits.LOG_BYTES:
                    self._close_file()
                    self._open_file()

    def rewrite(self) -> tuple[int, int]:
        """Copy the file into a fresh one so that erased text is gone from it; return the sizes before and after.

        Raises Unavailable on a read-only or full medium; the old file is untouched then.
        """
        self._check_writable()
        with self.connection():
            if self._writing:
                raise RuntimeError("a rewrite inside a transaction")
            self._close_file()
            try:
                return rewrite_file(self.home / FILE, self._settings)
            finally:
                self._open_file()

    def copy_to(self, folder: Path) -> tuple[Head, str]:
        """Copy the file as it is into a folder; give the head and the checkpoint that it ends in.

        The store is held only for this.
        """
        with self.connection() as connection:
            if self._writing or self._ledger.head is None:
                raise RuntimeError("a copy inside a transaction")
            head, note = self._ledger.head, self._ledger.checkpoint(connection)
            self._close_file()
            try:
                copy_file(self.home / FILE, folder)
            finally:
                self._open_file()
        return head, note

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
            self._check_strict(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _check_writable(self) -> None:
        if self.tolerant:
            raise Invalid("--tolerate is for reading", hint="leave it out: nothing is written round a row")
        if not self._locked:
            raise Unavailable(f"{self.home} is read-only", hint="copy the folder to a writable place")
        if self.read_only:
            raise no_state(self.state_dir)

    def _check_strict(self, connection: Connection) -> None:
        """Refuse a store that is new to this machine where its policy is strict (docs/spec/audit.md §2.4)."""
        if self._lenient or self._ledger.situation is not Situation.UNANCHORED:
            return
        row = Reader(connection, self._ledger).get(NamespaceRow, "global")
        if row is not None and row.policy.get("strict") is True:
            raise Integrity(
                "this machine has no anchor for this store, and the policy of global is strict",
                hint="`ai-memory audit adopt --checkpoint FILE`, with a checkpoint kept elsewhere, makes one",
                situation="unanchored",
            )

    def _close_file(self, log: int = 0) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close(log)

    def _hand_over(self) -> None:
        """Close the file; for somebody who waits at once, with what the write-ahead log holds so far."""
        self._close_file(limits.HANDED_LOG_BYTES if self._baton.wanted else 0)

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


@contextmanager
def _kept() -> Iterator[None]:
    """Say of what fails here that the write itself is done."""
    try:
        yield
    except Unavailable as error:
        raise Unavailable(
            f"the write is kept, but afterwards {error.message}",
            hint=f"{error.hint}; do not write it again",
            **{**error.details, "committed": True},
        ) from error


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
        ledger = Ledger(state_dir or state_folder(home), Keyring(home, key))
        ledger.begin(new_id("store"))
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


def writable(home: Path) -> bool:
    """Say whether the folder and the file can be written, as far as the system tells."""
    return os.access(home, os.W_OK) and (not (home / FILE).exists() or os.access(home / FILE, os.W_OK))
