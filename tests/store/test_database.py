"""An open store survives what goes wrong under it, and says in its own words what did."""

import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from audit.anchor import Situation
from substrate.errors import AiMemoryError, Conflict, Integrity, Invalid, Unavailable
from substrate.store import database, db, file, schema
from substrate.store.database import Database
from substrate.store.db import Connection, translated
from substrate.store.keyring import Keyring
from substrate.store.ledger import Ledger, state_folder
from substrate.store.model import MemoryRow
from substrate.store.state import SignedState
from substrate.store.transaction import Reader
from tests.store.attacks import add
from tests.store.rows import memory, record
from tests.store.stores import Store


@pytest.fixture
def read_only(story: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """The story on a medium that cannot be written, as far as the store can tell."""
    monkeypatch.setattr(database, "writable", lambda home: False)
    with story.opened() as opened:
        yield opened


def test_on_a_read_only_medium_everything_is_read_and_nothing_written(read_only: Database, story: Store):
    before = sorted(path.name for path in story.home.iterdir())
    with read_only.read() as r, read_only.read() as again:
        assert r.count(MemoryRow) == again.count(MemoryRow) == 6
    assert (read_only.read_only, read_only.situation) == (True, Situation.OK)
    for write in (lambda: add(read_only, "mem-new"), read_only.rewrite):
        with pytest.raises(Unavailable, match="is read-only"):
            write()
    assert sorted(path.name for path in story.home.iterdir()) == before


def test_on_a_read_only_medium_threads_take_turns(read_only: Database):
    found = []

    def read() -> None:
        for _ in range(10):
            with read_only.read() as r:
                found.append(r.require(MemoryRow, "mem-1").content)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["what mem-1 says"] * 40


def test_on_a_read_only_medium_a_log_ahead_of_its_anchor_is_read_and_the_anchor_left_alone(
    story: Store, monkeypatch: pytest.MonkeyPatch
):
    anchor = story.anchor_file().read_bytes()
    with story.opened() as opened:
        add(opened, "mem-new")
    story.anchor_file().write_bytes(anchor)
    monkeypatch.setattr(database, "writable", lambda home: False)
    with story.opened() as opened, opened.read() as r:
        assert r.get(MemoryRow, "mem-new")
        assert opened.situation is Situation.AHEAD
    assert story.anchor_file().read_bytes() == anchor


def test_an_older_store_on_a_read_only_medium_is_unavailable(story: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with pytest.raises(Unavailable, match="older version"):
        file.open_file(story.file, read_only=True)


def test_an_engine_that_fails_in_a_transaction_is_left_and_the_next_operation_has_another(story: Store):
    with story.opened() as opened:
        for _ in range(2):
            with pytest.raises(LookupError), opened.write(actor="hum-1") as tx:
                record(tx, memory("mem-new"))
                tx._connection._raw.close()
                raise LookupError
            with opened.read() as r:
                assert r.get(MemoryRow, "mem-new") is None
        add(opened, "mem-new")
    with story.opened() as opened, opened.connection() as connection:
        assert opened.ledger.state.faults(connection) == []


def test_a_commit_that_was_durable_although_it_failed_is_seen_by_the_next_operation(story: Store):
    """As when the process is interrupted between the engine's commit and our learning of it."""
    with story.opened() as opened:
        with pytest.raises(LookupError), opened.write(actor="hum-1") as tx:
            record(tx, memory("mem-new"), subject="mem-new")
            tx._connection.commit()
            raise LookupError
        with opened.read() as r:
            assert r.get(MemoryRow, "mem-new")
            assert r.events()[-1].subject == "mem-new"
        add(opened, "mem-later")
    with story.opened() as opened, opened.connection() as connection:
        assert opened.ledger.state.faults(connection) == []


def test_an_interruption_of_the_rollback_itself_is_survived(story: Store, monkeypatch: pytest.MonkeyPatch):
    def interrupt(self: Connection) -> None:
        raise KeyboardInterrupt

    with story.opened() as opened:
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(Connection, "rollback", interrupt)
            with opened.write(actor="hum-1") as tx:
                record(tx, memory("mem-1", content="changed"))
                raise LookupError
        with opened.read() as r:
            assert r.require(MemoryRow, "mem-1").content == "what mem-1 says"
        add(opened, "mem-later")


def test_closing_inside_a_transaction_drops_it(story: Store):
    with story.opened() as opened:
        with opened.connection() as connection:
            connection.begin()
            connection.run("DELETE FROM memories")
            opened.close()
            connection.close()
        with opened.read() as r:
            assert r.count(MemoryRow) == 6


def test_a_rewrite_that_fails_leaves_the_store_open(story: Store):
    (story.home / ".rewrite").write_text("in the way")
    with story.opened() as opened:
        with pytest.raises(Unavailable):
            opened.rewrite()
        add(opened, "mem-new")
        (story.home / ".rewrite").unlink()
        opened.rewrite()
        with opened.read() as r:
            assert r.count(MemoryRow) == 7


def test_a_home_may_have_any_name(tmp_path: Path):
    home = tmp_path / 'it\'s a "home" [1]; -- ü*%41'
    opened = Database.create(home, state_dir=tmp_path / "state")
    add(opened, "mem-1")
    opened.rewrite()
    opened.close()
    opened = Database.open(home, state_dir=tmp_path / "state")
    with opened.read() as r:
        assert r.get(MemoryRow, "mem-1")
    opened.close()


def test_a_home_whose_path_the_engine_cannot_keep_is_refused(tmp_path: Path):
    for _ in range(2):
        with pytest.raises(Invalid, match="question mark"):
            Database.create(tmp_path / "what?" / "home", state_dir=tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_few_started_engines_wait_for_their_files(tmp_path: Path):
    for number in range(db._KEPT + 2):
        Connection(tmp_path / f"{number}.duckdb").close()
    assert len(db._IDLE) == db._KEPT
    first = Connection(tmp_path / "0.duckdb")
    second = Connection(tmp_path / "1.duckdb")
    first.close()
    second.close()
    assert len(db._IDLE) == db._KEPT


def test_nothing_is_known_of_a_log_before_it_was_read(store: Store, tmp_path: Path):
    ledger = Ledger(tmp_path, Keyring(tmp_path))
    with store.opened() as opened, opened.connection() as connection:
        for ask in (
            lambda: Reader(connection, ledger).head,
            lambda: ledger.compare(connection),
            lambda: SignedState().root,
        ):
            with pytest.raises(RuntimeError):
                ask()
        assert ledger.frontier(connection).size == 0


def test_anchors_lie_in_the_users_state_folder_unless_told_otherwise(tmp_path: Path):
    assert state_folder(tmp_path).parts[-3:] == (".local", "state", "ai-memory")
    Database.create(tmp_path / "home").close()
    assert list((state_folder(tmp_path) / "anchors").glob("store-*.json"))
    opened = Database.open(tmp_path / "home")
    assert opened.situation is Situation.OK
    opened.close()


ENGINE = [
    (duckdb.IOException("IO Error: could not write: No space left on device"), Unavailable, "free some space"),
    (duckdb.FatalException("FATAL Error: database has been invalidated: No space left on device"), Unavailable, "free"),
    (duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate"), Unavailable, "free some space"),
    (OSError(28, "No space left on device"), Unavailable, "free some space"),
    (OSError(13, "Permission denied"), Unavailable, "permissions"),
    (duckdb.IOException("IO Error: Permission denied"), Unavailable, "permissions"),
    (duckdb.IOException("IO Error: could not read from the disk"), Unavailable, "check the disk"),
    (duckdb.IOException("Corrupt database file: computed checksum 1 does not match"), Integrity, "doctor"),
    (duckdb.ConstraintException("Constraint Error: duplicate key"), Conflict, "read again"),
    (duckdb.TransactionException("TransactionContext Error: conflict on update"), Conflict, "try again"),
    (duckdb.CatalogException("Catalog Error: no such table"), Integrity, "backup"),
    (duckdb.ConversionException("Conversion Error: too large"), Invalid, "64-bit"),
    (duckdb.InternalException("INTERNAL Error: what"), Integrity, "doctor"),
    (duckdb.InternalException(""), Integrity, "doctor"),
    (Invalid("ours", hint="as it was"), Invalid, "as it was"),
]


@pytest.mark.parametrize(("error", "kind", "hint"), ENGINE, ids=[str(error) or "nothing" for error, _, _ in ENGINE])
def test_each_error_of_the_engine_is_one_of_ours_with_a_hint(error: Exception, kind: type[AiMemoryError], hint: str):
    with pytest.raises(AiMemoryError) as caught, translated():
        raise error
    assert type(caught.value) is kind
    assert hint in caught.value.hint
    assert "\n" not in caught.value.message


def test_an_error_that_is_a_mistake_of_ours_stays_what_it_is():
    with pytest.raises(ZeroDivisionError), translated():
        raise ZeroDivisionError


def test_what_fails_after_the_commit_says_that_the_write_is_kept(story: Store, monkeypatch: pytest.MonkeyPatch):
    def full(*arguments: object) -> None:
        raise Unavailable("no space", hint="free some")

    with story.opened() as db:
        with monkeypatch.context() as patch, pytest.raises(Unavailable, match="the write is kept") as caught:
            patch.setattr("audit.anchor.write", full)
            with db.write(actor="hum-1") as tx:
                record(tx, memory("mem-late"))
        assert caught.value.details["committed"] is True
        assert "do not write it again" in caught.value.hint
        with db.read() as r:
            assert r.require(MemoryRow, "mem-late")
        with db.write(actor="hum-1") as tx:
            record(tx, memory("mem-later"))
