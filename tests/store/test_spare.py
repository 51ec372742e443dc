"""A checkpoint that is broken off within a block the engine writes in place leaves a file that opens."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from substrate import limits
from substrate.errors import Integrity, Unavailable
from substrate.store import recovery, spare
from substrate.store.db import Connection
from substrate.store.model import MemoryRow
from tests.store.rows import memory, record
from tests.store.stores import Store

HEADERS = 3 * 4096


def blocks(store: Store) -> tuple[list[int], int]:
    """Answer the blocks of the file's table of contents, and their size."""
    connection = Connection(store.file)
    ((size,),) = connection.rows("SELECT block_size FROM pragma_database_size() WHERE database_name = 'store'")
    found = [block for (block,) in connection.rows("SELECT block_id FROM pragma_metadata_info('store')")]
    connection.close()
    return found, size


def tear(store: Store, found: list[int], size: int) -> None:
    """Write half of each of the blocks with something else, as a process does that is killed within the write."""
    with store.file.open("r+b") as file:
        for block in found:
            file.seek(HEADERS + block * size)
            file.write(os.urandom(size // 2))


def kept(store: Store) -> None:
    """See that the store is whole, has what was written, and is written on."""
    assert recovery.verify(store.home, state_dir=store.state).faults == ()
    with store.opened() as db:
        with db.read() as r:
            assert r.require(MemoryRow, "mem-1") == memory("mem-1")
        with db.write(actor="hum-1") as tx:
            record(tx, memory("mem-next"))
    assert not store.file.with_name("memory.duckdb.spare").exists()


def written(store: Store) -> None:
    """Acknowledge a row and die: it is in the write-ahead log alone."""
    pid = os.fork()
    if pid == 0:
        with store.open().write(actor="hum-1") as tx:
            record(tx, memory("mem-1"))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert store.wal.stat().st_size > 0


def test_a_block_torn_in_a_checkpoint_is_put_back(store: Store):
    found, size = blocks(store)
    written(store)
    spare.keep(store.file, found, size)
    tear(store, found, size)
    kept(store)


def test_without_a_spare_the_same_file_does_not_open(store: Store):
    found, size = blocks(store)
    written(store)
    tear(store, found, size)
    with pytest.raises(Integrity):
        store.open()


def test_a_checkpoint_keeps_a_spare_until_it_is_through(store: Store, monkeypatch: pytest.MonkeyPatch):
    """What the engine overwrites is on the disk elsewhere before it begins."""
    seen = []
    run = Connection.run

    def told(self: Connection, sql: str, *given: object) -> None:
        if sql.startswith("CHECKPOINT"):
            place = store.file.with_name("memory.duckdb.spare")
            seen.append(place.stat().st_size > HEADERS if place.exists() else False)
        run(self, sql, *given)

    monkeypatch.setattr(Connection, "run", told)
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"))
    assert seen == [True]
    kept(store)


def cut_short(place: Path) -> None:
    os.truncate(place, place.stat().st_size // 2)


def changed(place: Path) -> None:
    data = bytearray(place.read_bytes())
    data[-1] ^= 1
    place.write_bytes(data)


@pytest.mark.parametrize("spoil", [cut_short, changed, lambda place: place.write_bytes(b"")])
def test_a_spare_that_is_not_whole_is_not_put_back(store: Store, spoil: Callable[[Path], object]):
    """The engine had not begun then."""
    found, size = blocks(store)
    written(store)
    spare.keep(store.file, found, size)
    spoil(store.file.with_name("memory.duckdb.spare"))
    kept(store)


def test_a_spare_of_a_checkpoint_that_came_to_its_end_is_not_put_back(store: Store):
    found, size = blocks(store)
    spare.keep(store.file, found, size)
    place = store.file.with_name("memory.duckdb.spare")
    early = place.read_bytes()
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"))
    place.write_bytes(early)
    kept(store)


def test_a_spare_that_is_a_symbolic_link_is_not_followed(store: Store, tmp_path: Path):
    (tmp_path / "elsewhere").write_bytes(b"x")
    store.file.with_name("memory.duckdb.spare").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable):
        store.open()
    assert (tmp_path / "elsewhere").read_bytes() == b"x"


def test_letting_go_leaves_one_file(store: Store):
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"))
    assert not store.wal.exists()
    kept(store)


@pytest.mark.parametrize(("most", "handed"), [(limits.HANDED_LOG_BYTES, True), (0, False)])
def test_somebody_who_waits_gets_the_file_with_a_short_log(
    store: Store, monkeypatch: pytest.MonkeyPatch, most: int, handed: bool
):
    monkeypatch.setattr(limits, "HANDED_LOG_BYTES", most)
    db = store.open()
    with db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"))
    (store.home / "queue").mkdir(exist_ok=True)
    (store.home / "queue" / f"{1:020}-waiting").touch()
    db.close()
    assert store.wal.exists() == handed
    kept(store)


def test_a_log_that_has_grown_is_moved_into_the_file_without_letting_go(store: Store, monkeypatch: pytest.MonkeyPatch):
    with store.opened() as db:
        for most, left in ((limits.LOG_BYTES, True), (0, False)):
            monkeypatch.setattr(limits, "LOG_BYTES", most)
            with db.write(actor="hum-1") as tx:
                record(tx, memory("mem-1"))
            assert store.wal.exists() == left
    kept(store)
