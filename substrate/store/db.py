"""The one module that knows the engine: a connection to the file, its dialect, its errors.

Everything above speaks the SQL subset that DuckDB and PostgreSQL share, with ``?`` for parameters. What differs between
engines stands here: opening, settings, hashing in SQL, batch inserts.

Source: docs/spec/model.md §6.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from audit.errors import AiMemoryError, Conflict, Integrity, Invalid, Unavailable
from substrate.store import schema, spare

FILE = "memory.duckdb"
MEMORY = Path(":memory:")  # a file that is nowhere
LOG = ".wal"
COMPANIONS = (LOG, ".wal.checkpoint", ".wal.recovery", spare.END)  # ends of the names of what lies beside a file
SPILL = ".tmp"  # and of its folder for rows that do not fit into memory
Values = Sequence[Any]
_SETTING = re.compile(r"[A-Za-z0-9_]{1,64}")
_FULL = ("no space", "disk full", "quota", "out of memory")

# A started engine waits here, its file detached, for the next opening: starting one takes ten times as long.
_IDLE: dict[tuple[object, ...], duckdb.DuckDBPyConnection] = {}
_KEPT = 2
_POOL = threading.Lock()
_FORKED: list[object] = []  # engines of the process this one was forked from: to close one here would crash


def _forget_engines() -> None:
    global _POOL
    _FORKED.append(dict(_IDLE))
    _IDLE.clear()
    _POOL = threading.Lock()


os.register_at_fork(after_in_child=_forget_engines)


class Connection:
    """An open file, attached to an engine that can reach no other.

    ``settings`` are engine settings by name. Only an ``altering`` connection can make tables; every other one looks for
    functions in the engine before it looks into the file, so that no macro kept in the file can stand in for one of
    the engine's (``sha256``, ``count``, even ``||``).
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        settings: Mapping[str, str] | None = None,
        altering: bool = False,
    ) -> None:
        self.path, self.read_only = path, read_only
        self._closed = False
        self._on_disk = not read_only and path != MEMORY
        place = ":memory:" if path == MEMORY else os.path.abspath(path)
        if "?" in place:  # the engine would write its log under another name
            raise Invalid(f"{place}: a path with a question mark holds no store", hint="choose another folder")
        self._key = (os.getpid(), place, *sorted((settings or {}).items()))
        with translated(opening=True):
            with _POOL:
                idle: duckdb.DuckDBPyConnection | None = _IDLE.pop(self._key, None)
            if self._on_disk:
                spare.put_back(path)
            self._raw = idle or _confined(place, settings)
            try:
                self._raw.execute(f"ATTACH {quoted(place)} AS store{' (READ_ONLY)' if read_only else ''}")
                self._raw.execute(f"SET search_path = '{'' if altering else 'system.main,'}store.main'")
            except BaseException:
                self._raw.close()
                raise

    def run(self, sql: str, parameters: Values = ()) -> None:
        """Execute a statement that returns nothing of interest."""
        with translated():
            self._raw.execute(sql, list(parameters)).fetchall()

    def rows(self, sql: str, parameters: Values = ()) -> list[tuple[Any, ...]]:
        """Execute a query and fetch every row; no cursor stays open."""
        with translated():
            return self._raw.execute(sql, list(parameters)).fetchall()

    def columns(self, sql: str) -> list[Any]:
        """Execute a query and give its columns as arrays of numpy, which is loaded for this."""
        with translated():
            return list(self._raw.execute(sql).fetchnumpy().values())

    def table(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Execute a query and give the names of its columns beside the rows."""
        with translated():
            found = self._raw.execute(sql)
            return [column[0] for column in found.description or ()], found.fetchall()

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Values], types: Mapping[str, str]) -> None:
        """Insert rows: one by its values, many through one statement over column lists.

        The engine spends its time on the columns that are named: those of one row that hold nothing are left out.
        """
        names = ", ".join(columns)
        if len(rows) == 1:
            given = {name: value for name, value in zip(columns, rows[0], strict=True) if value is not None}
            self.run(
                f"INSERT INTO {table} ({', '.join(given)}) VALUES ({', '.join('?' * len(given))})", [*given.values()]
            )
        elif rows:
            lists = ", ".join(f"unnest(?::{types.get(c, 'TEXT')}[])" for c in columns)
            self.run(
                f"INSERT INTO {table} ({names}) SELECT {lists}", [list(column) for column in zip(*rows, strict=True)]
            )

    def begin(self) -> None:
        """Start a transaction."""
        self.run("BEGIN TRANSACTION")

    def commit(self) -> None:
        """Commit; when this returns the change is on disk."""
        self.run("COMMIT")

    def rollback(self) -> None:
        """Drop the transaction; one the engine has already dropped is fine."""
        try:
            self._raw.execute("ROLLBACK")
        except duckdb.TransactionException:
            pass
        except duckdb.Error as error:
            raise Unavailable(
                f"the store failed and must be reopened: {_first_line(error)}", hint="try again"
            ) from error

    def checkpoint(self) -> None:
        """Move what the write-ahead log holds into the file; broken off, it is as if it had not begun (see ``spare``).

        Only this does so: the engine by itself does not, neither at a size of its log nor at the end.
        """
        if self._on_disk:
            ((size,),) = self.rows("SELECT block_size FROM pragma_database_size() WHERE database_name = 'store'")
            blocks = self.rows("SELECT block_id FROM pragma_metadata_info('store') ORDER BY block_id")
            with translated():
                spare.keep(self.path, [block for (block,) in blocks], size)
        self.run("CHECKPOINT store")
        if self._on_disk:
            with translated():
                spare.drop(self.path)

    def log_bytes(self) -> int:
        """Give the size of the write-ahead log."""
        try:
            return self.path.with_name(self.path.name + LOG).stat().st_size if self._on_disk else 0
        except FileNotFoundError:
            return 0

    def close(self, log: int = 0) -> None:
        """Let go of the file, after a checkpoint if there are more than ``log`` bytes of write-ahead log.

        What was committed is on disk already, so nothing here can fail it.
        """
        if self._closed:
            return
        self._closed = True
        detached = False
        try:
            with suppress(duckdb.Error):  # such as no space to move the write-ahead log into the file
                with suppress(duckdb.TransactionException):
                    self._raw.execute("ROLLBACK")
                with suppress(AiMemoryError):
                    if self.log_bytes() > log:
                        self.checkpoint()
                self._raw.execute("SET search_path = 'memory.main'")
                self._raw.execute("DETACH store")
                detached = True
        finally:
            if not detached:
                self._raw.close()
        if detached:
            _keep(self._key, self._raw)


def _keep(key: tuple[object, ...], raw: duckdb.DuckDBPyConnection) -> None:
    """Let a started engine wait for the next opening of its file; the oldest of too many are closed."""
    with _POOL:
        surplus = [old for old in (_IDLE.pop(key, None),) if old is not None]
        _IDLE[key] = raw
        while len(_IDLE) > _KEPT:
            surplus.append(_IDLE.pop(next(iter(_IDLE))))
    for old in surplus:
        old.close()


def _confined(place: str, settings: Mapping[str, str] | None) -> duckdb.DuckDBPyConnection:
    """Start an engine that can open one file and what belongs to it, and whose configuration is locked."""
    raw = start(settings)
    files = ", ".join(quoted(place + end) for end in ("", *COMPANIONS))
    try:
        for statement in (
            "PRAGMA disable_checkpoint_on_shutdown",
            "SET checkpoint_threshold = '1000TB'",  # never by itself
            f"SET temp_directory = {quoted(place + SPILL)}",
            f"SET allowed_paths = [{files}]",
            "SET enable_external_access = false",
            "SET lock_configuration = true",
        ):
            raw.execute(statement)
    except BaseException:
        raw.close()
        raise
    return raw


def start(settings: Mapping[str, str] | None) -> duckdb.DuckDBPyConnection:
    """Start an engine with settings; raises Invalid for one that the engine does not know."""
    for name, value in (settings or {}).items():
        if not (_SETTING.fullmatch(name) and _SETTING.fullmatch(value)):
            raise Invalid(f"not an engine setting: {name!r} = {value!r}", hint="names and values are plain words")
    try:
        return duckdb.connect(":memory:", config={"threads": 1, **(settings or {})})
    except duckdb.Error as error:
        raise Invalid(f"not an engine setting: {_first_line(error)}", hint="see the engine's manual") from error


def net(expression: str) -> str:
    """Give SQL for a text behind its length in bytes, the form that ``audit.commitment`` hashes."""
    return f"(strlen({expression}) || ':' || {expression})"


def row_id_sql(table: str) -> str:
    """Give SQL for the name of a row of ``table`` in the signed state (``model.row_id``)."""
    key = schema.COMMITTED[table]
    if len(key) == 1:
        return key[0]
    return " || ".join(net(f"CAST({column} AS TEXT)") for column in key)


def commitment_sql(table: str, columns: Sequence[str]) -> str:
    """Give SQL for the commitment of a row of ``table``: what ``audit.commitment.commitment`` computes.

    A salt of another length has no commitment: it could swallow the start of the columns behind it.
    """
    parts = [f"'content/v1' || salt || '{len(table)}:{table}'"]
    for column in columns:
        text = net(f"CAST({column} AS TEXT)")
        parts.append(f"CASE WHEN {column} IS NULL THEN '' ELSE '{len(column)}:{column}' || {text} END")
    return f"CASE WHEN strlen(salt) = 64 THEN sha256({' || '.join(parts)}) ELSE '' END"


def bucket_digest_sql() -> str:
    """Give SQL for the digest of a bucket's entries, grouped by bucket: ``audit.state.bucket_digest``."""
    return f"sha256(string_agg({net('tbl')} || {net('id')} || commitment, '' ORDER BY tbl, id))"


def quoted(text: str) -> str:
    """Write a text as a literal of SQL, for statements that take no parameters."""
    return "'" + text.replace("'", "''") + "'"


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


@contextmanager
def translated(*, opening: bool = False) -> Iterator[None]:
    """Turn the engine's errors into ours; the engine's first line stays in the message."""
    try:
        yield
    except AiMemoryError:
        raise
    except OSError as error:
        raise _medium(error) from error
    except duckdb.Error as error:
        raise _told(error, opening) from error


def _told(error: duckdb.Error, opening: bool) -> AiMemoryError:
    line = _first_line(error)
    words = line.lower()
    if any(word in words for word in _FULL) or isinstance(error, duckdb.OutOfMemoryException):
        return _medium(error)
    if "corrupt" in words or "could not read enough bytes" in words:  # a file that was cut
        return _damaged(error)
    if opening and ("conflicting lock" in words or isinstance(error, duckdb.ConnectionException)):
        return Unavailable(f"the store's file is held by somebody else: {line}", hint="close it there, then try again")
    if "permission denied" in words or "read-only" in words:
        return _medium(error)
    if opening:
        return _damaged(error)
    if isinstance(error, duckdb.ConstraintException):
        return Conflict(f"the write contradicts what is stored: {line}", hint="read again, then retry")
    if isinstance(error, duckdb.TransactionException):
        return Conflict(f"two writes met: {line}", hint="try again")
    if isinstance(error, duckdb.IOException):
        return _medium(error)
    if isinstance(error, duckdb.CatalogException | duckdb.BinderException):
        return Integrity(f"the store's tables are not what they should be: {line}", hint="restore a backup")
    if isinstance(error, duckdb.DataError | duckdb.InvalidInputException | duckdb.PermissionException):
        return Invalid(f"the engine refuses this: {line}", hint="store well-formed Unicode and 64-bit numbers")
    return _damaged(error)


_DOCTOR = "`ai-memory doctor` names the damage and the command that mends it"


def _medium(error: Exception) -> Unavailable:
    line = _first_line(error)
    full = isinstance(error, duckdb.OutOfMemoryException) or any(word in line.lower() for word in _FULL)
    hint = "free some space, then try again" if full else "check the disk and the folder's permissions"
    return Unavailable(f"the store could not be written or read: {line}", hint=hint)


def _damaged(error: Exception) -> Integrity:
    return Integrity(
        f"the store's file is damaged: {_first_line(error)}",
        hint=_DOCTOR,
    )
