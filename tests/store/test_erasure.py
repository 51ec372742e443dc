"""What was forgotten is in no file of the home after a rewrite, and the file is otherwise the one it was.

The engine compresses text; a store written uncompressed is what makes a search for bytes mean anything.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from substrate.store.database import Database
from substrate.store.model import ClaimRow, MemoryRow
from tests.store.rows import EVENT, memory, record
from tests.store.stores import Store

PLAIN = {"force_compression": "uncompressed"}
SECRET = "the hiding place is under the third flagstone"
SHAPE = (
    "SELECT table_name, column_name, ordinal_position, data_type, is_nullable, column_default"
    " FROM information_schema.columns WHERE table_schema = 'main' ORDER BY ALL",
    "SELECT table_name, constraint_text, constraint_column_names FROM duckdb_constraints() ORDER BY ALL",
    "SELECT table_name, index_name, is_unique, sql FROM duckdb_indexes() ORDER BY ALL",
    "SELECT table_name, sql FROM duckdb_tables() ORDER BY ALL",
)


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[tuple[Store, Database]]:
    """A store written uncompressed that holds a secret in a text, a claim, a name and a key, among other rows."""
    store = Store(tmp_path / "store")
    db = store.create(settings=PLAIN)
    with db.write(actor="hum-1") as tx:
        tx.once("key", {"content": SECRET})
        record(
            tx, memory("mem-1", content=SECRET, title=SECRET, tags=(SECRET,), metadata={"a": SECRET}), subject="mem-1"
        )
        record(tx, *[memory(f"mem-{n}", content=f"{n} " + "other text " * 20) for n in range(2, 200)])
        record(tx, ClaimRow(persona_id="per-1", position=1, claim_id="c", text=SECRET, sources=("mem-1",)))
    yield store, db
    db.close()


def files_that_hold(store: Store, text: str) -> list[str]:
    """Name the files below home and state that hold the text in an encoding a search would find."""
    wanted = [text.encode(coding) for coding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le")]
    paths = [path for root in (store.home, store.state) for path in root.rglob("*") if path.is_file()]
    return sorted(path.name for path in paths if any(needle in path.read_bytes() for needle in wanted))


def columns_that_hold(store: Store, text: str) -> list[str]:
    """Name the columns of any table that hold the text."""
    with store.raw() as raw:
        columns = raw.execute("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal").fetchall()
        found = []
        for table, column in columns:
            sql = f'SELECT count(*) FROM {table} WHERE contains(CAST("{column}" AS TEXT), ?)'
            if raw.execute(sql, [text]).fetchall() != [(0,)]:
                found.append(f"{table}.{column}")
    return sorted(found)


def forget(db: Database) -> None:
    """Leave the tombstone that audit.md §1.4 describes, and drop the claim."""
    with db.write(actor="hum-1") as tx:
        row = tx.require(MemoryRow, "mem-1")
        empty = dict.fromkeys(("title", "content", "metadata", "tags"))
        tx.put(replace(row, status="deleted", status_at=tx.now, **empty))
        tx.delete(ClaimRow, "per-1", 1)
        tx.event("erased", **{**EVENT, "subject": "mem-1", "payload": {"id": "mem-1"}})


def test_a_forgotten_text_is_in_the_file_until_the_rewrite_and_in_none_after(plain: tuple[Store, Database]):
    store, db = plain
    db.close()
    assert files_that_hold(store, SECRET) == ["memory.duckdb"]
    assert columns_that_hold(store, SECRET) == [
        "claims.text",
        "memories.content",
        "memories.metadata",
        "memories.tags",
        "memories.title",
    ]
    forget(db)
    before, after = db.rewrite()
    assert 0 < after <= before
    db.close()
    assert files_that_hold(store, SECRET) == []
    assert columns_that_hold(store, SECRET) == []
    assert files_that_hold(store, "other text") == ["memory.duckdb"]
    with store.opened(settings=PLAIN) as again, again.read() as r:
        assert r.require(MemoryRow, "mem-1").status == "deleted"
        assert r.count(MemoryRow) == 199
        assert len(r.events()) == r.head.sequence


def test_a_text_of_a_write_that_failed_is_in_no_file_after_a_rewrite(plain: tuple[Store, Database]):
    store, db = plain
    failed = "a sentence that was never stored"
    with pytest.raises(LookupError), db.write(actor="hum-1") as tx:
        record(tx, memory("mem-x", content=failed))
        raise LookupError
    db.rewrite()
    db.close()
    assert files_that_hold(store, failed) == []


def test_what_a_crash_left_of_spilled_rows_is_gone_too(plain: tuple[Store, Database]):
    store, db = plain
    for trace in (
        "memory.duckdb.tmp/duckdb_temp_storage-0.tmp",
        "memory.duckdb.wal.recovery",
        ".rewrite/memory.duckdb",
    ):
        (store.home / trace).parent.mkdir(exist_ok=True)
        (store.home / trace).write_text(SECRET)
    forget(db)
    db.rewrite()
    db.close()
    assert files_that_hold(store, SECRET) == []


def test_a_salt_is_gone_with_its_text(plain: tuple[Store, Database]):
    store, db = plain
    with db.read() as r:
        ((salt,),) = r.query("SELECT salt FROM memories WHERE id = 'mem-1'")
    db.close()
    assert files_that_hold(store, salt) == ["memory.duckdb"]
    forget(db)
    db.rewrite()
    db.close()
    assert files_that_hold(store, salt) == []


def test_a_rewritten_file_has_the_same_tables_keys_checks_and_indexes(plain: tuple[Store, Database]):
    store, db = plain
    db.close()
    before = [store.edit(question) for question in SHAPE]
    mode = store.file.stat().st_mode
    db.rewrite()
    db.close()
    assert [store.edit(question) for question in SHAPE] == before
    assert all(before)
    assert store.file.stat().st_mode == mode
    assert sorted(path.name for path in store.home.iterdir()) == ["keys", "memory.duckdb", "memory.lock"]


def test_a_store_goes_on_after_a_rewrite_in_this_process_and_in_another(plain: tuple[Store, Database]):
    store, db = plain
    with store.opened(settings=PLAIN) as other:
        db.rewrite()
        for name, database in (("one", db), ("other", other)):
            with database.write(actor="hum-1") as tx:
                record(tx, memory(f"mem-{name}"))
            database.close()
        with db.read() as r:
            assert r.get(MemoryRow, "mem-other") == memory("mem-other")
            assert r.count(MemoryRow) == 201


def test_a_rewrite_gives_back_the_space_of_what_is_gone(plain: tuple[Store, Database]):
    _, db = plain
    with db.write(actor="hum-1") as tx:
        record(tx, *[memory(f"big-{n}", content="x" * 60_000) for n in range(100)])
    with db.write(actor="hum-1") as tx:
        for n in range(100):
            tx.delete(MemoryRow, f"big-{n}")
        tx.event("erased", **EVENT)
    before, after = db.rewrite()
    assert after < before / 2
