"""The file as a whole: its creation, its version, the shape of its tables, and the copy that leaves erased text behind.

Source: docs/spec/model.md §4 and §6.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from audit.errors import Integrity, Unavailable
from audit.files import sync
from substrate.store import schema
from substrate.store.db import COMPANIONS, MEMORY, SPILL, Connection, quoted, start, translated

_VERSION = re.compile(r"[0-9]{1,9}", re.ASCII)
# SHA-256 of the tables' definitions as DuckDB 2.0.1 writes them; for another engine they are made and compared.
_DEFINITIONS = "f7bc0e58b850f85ae4abf7a42d78bbba35084af5d2764fc33d49b476a3e57eb4"


def create_file(path: Path, settings: Mapping[str, str] | None = None) -> Connection:
    """Make a new file with the whole schema; the caller moves it into place."""
    connection = Connection(path, settings=settings, altering=True)
    connection.run("CREATE TABLE schema_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    connection.run("INSERT INTO schema_meta VALUES ('version', '0')")
    migrate(connection)
    return connection


def open_file(path: Path, *, read_only: bool = False, settings: Mapping[str, str] | None = None) -> Connection:
    """Open a file and see to it that its tables are this program's, bringing an older one up to date.

    Raises Unavailable when the file was made by a newer program, or is older and cannot be written; Integrity when a
    table is not what the migrations make: a view in its place, a computed column or a lost key could hide rows.
    """
    connection = Connection(path, read_only=read_only, settings=settings)
    try:
        if schema_version(connection) < schema.VERSION:
            if read_only:
                raise Unavailable("the store is of an older version and cannot be brought up to date here")
            connection.close()
            connection = Connection(path, settings=settings, altering=True)
            migrate(connection)
            connection.close()
            connection = Connection(path, settings=settings)
        check_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def schema_version(connection: Connection) -> int:
    """Read which migrations the file has seen. Raises Unavailable when it has seen more than this program knows."""
    found = [value for (value,) in connection.rows("SELECT value FROM schema_meta WHERE key = 'version'")]
    if len(found) != 1 or not _VERSION.fullmatch(found[0]):
        raise Integrity("the store does not say which version its schema is", hint="restore a backup")
    if int(found[0]) > schema.VERSION:
        raise Unavailable(
            f"the store has schema version {found[0]}, this program knows {schema.VERSION}",
            hint="upgrade ai-memory: pip install --upgrade ai-memory",
        )
    return int(found[0])


def migrate(connection: Connection) -> None:
    """Bring the schema up to this program's version; each step is one transaction with its own record.

    The connection must be an altering one. Raises Unavailable when the file was made by a newer program; nothing is
    changed then.
    """
    for number in range(schema_version(connection), schema.VERSION):
        connection.begin()
        try:
            for statement in schema.statements(schema.MIGRATIONS[number]):
                connection.run(statement)
            connection.run("UPDATE schema_meta SET value = ? WHERE key = 'version'", [str(number + 1)])
            connection.commit()
        except BaseException:
            connection.rollback()
            raise


def check_tables(connection: Connection) -> None:
    """Hold the file's tables and indexes against the schema; raises Integrity naming the first that differs.

    Tables, views and macros that are not ours are left alone: nothing here ever reads them.
    """
    found = _definitions(connection)
    if hashlib.sha256("\n".join(found).encode()).hexdigest() == _DEFINITIONS:
        return
    wrong = sorted(set(_fresh_definitions()).symmetric_difference(found))
    if wrong:
        raise Integrity(
            f"the store's tables are not what they should be: {wrong[0][:200]}",
            hint="restore a backup",
            differing=wrong,
        )


def _definitions(connection: Connection) -> tuple[str, ...]:
    """Give the statements, as the engine writes them, that would make our tables and their indexes."""
    known = {*schema.COMMITTED, *schema.LOG, *schema.DERIVED}
    rows = connection.rows(
        "SELECT table_name, sql FROM duckdb_tables() WHERE database_name = 'store' AND schema_name = 'main' UNION ALL"
        " SELECT table_name, sql FROM duckdb_indexes() WHERE database_name = 'store' AND schema_name = 'main'"
    )
    return tuple(sorted(sql for table, sql in rows if table in known))


@cache
def _fresh_definitions() -> tuple[str, ...]:
    connection = create_file(MEMORY)
    try:
        return _definitions(connection)
    finally:
        connection.close()


def rewrite_file(path: Path, settings: Mapping[str, str] | None = None) -> tuple[int, int]:
    """Copy every live row into a fresh file and put it in the old one's place; return both sizes in bytes.

    This is what makes erased text leave the file. The file must be closed. A crash leaves either the old file or the
    new one, whole.
    """
    workshop = path.parent / ".rewrite"
    fresh = workshop / path.name
    with translated():
        shutil.rmtree(workshop, ignore_errors=True)
        workshop.mkdir(mode=0o700)
        try:
            before = path.stat().st_size
            _checkpoint(path, settings)
            raw = start(settings)
            try:
                raw.execute(f"ATTACH {quoted(str(path))} AS old (READ_ONLY)")
                raw.execute(f"ATTACH {quoted(str(fresh))} AS new")
                raw.execute("COPY FROM DATABASE old TO new")
                raw.execute("CHECKPOINT new")
            finally:
                raw.close()
            open_file(fresh, settings=settings).close()  # its tables are the old one's, keys and all
            shutil.copymode(path, fresh)
            sync(fresh)
            after = fresh.stat().st_size
            remove_traces(path)  # the checkpoint has emptied them
            fresh.replace(path)
            sync(path.parent)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)
    return before, after


def _checkpoint(path: Path, settings: Mapping[str, str] | None) -> None:
    connection = Connection(path, settings=settings)
    try:
        connection.checkpoint()
    finally:
        connection.close()


def copy_file(path: Path, folder: Path) -> None:
    """Copy a file that nobody has open, with the write-ahead logs beside it."""
    with translated():
        for end in ("", *COMPANIONS):
            if os.path.lexists(source := path.with_name(path.name + end)):
                shutil.copyfile(source, folder / source.name)
                (folder / source.name).chmod(0o600)


def remove_traces(path: Path) -> None:
    """Remove what the engine keeps beside a file: its write-ahead logs, and what a crash left of its spilled rows."""
    for end in COMPANIONS:
        path.with_name(path.name + end).unlink(missing_ok=True)
    shutil.rmtree(path.with_name(path.name + SPILL), ignore_errors=True)
