"""Whatever call a process dies at, what is left is the store before or the store after, and work goes on."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from audit.anchor import Situation
from audit.merkle import Frontier, leaf_hash
from substrate.errors import Conflict, Integrity, NotFound, Unavailable
from substrate.store import file, recovery, schema
from substrate.store.database import Database
from substrate.store.db import Connection
from substrate.store.model import MemoryRow
from tests.store import crash
from tests.store.rows import memory, record
from tests.store.stores import Store

ROOT = Path(__file__).resolve().parents[2]


def python(*arguments: object) -> subprocess.Popen[str]:
    """Start a program of this tree."""
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def left_by(operation: str, template: Path | None, folder: Path, step: int) -> list[Store]:
    """Run an operation to its end, dying one step later each time; answer what is left, the whole run last."""
    folder.mkdir()
    program = python(ROOT / "tests/store/crash.py", operation, template or "-", folder, step)
    _, errors = program.communicate()
    assert program.returncode == 0, errors
    return [Store(root) for root in sorted(folder.iterdir())]


def write_once(store: Store) -> None:
    with store.opened() as db:
        assert db.situation is Situation.OK
        with db.write(actor="hum-1") as tx:
            record(tx, memory("mem-next"))
        with db.read() as r:
            assert r.require(MemoryRow, "mem-next") == memory("mem-next")


def test_a_creation_that_dies_leaves_no_store_or_a_whole_one(tmp_path: Path):
    stores = left_by("create", None, tmp_path / "runs", step=7)
    made = Counter(store.file.exists() for store in stores)
    assert made[False] > 5
    assert made[True] >= 1
    for store in stores:
        if not store.file.exists():
            with pytest.raises(NotFound):
                store.open()
            store.create().close()
        write_once(store)
        assert sorted(path.name for path in store.home.iterdir() if path.name != "queue") == [
            "keys",
            "memory.duckdb",
            "memory.lock",
        ]


def test_a_write_that_dies_leaves_everything_or_nothing_of_it(story: Store, tmp_path: Path):
    stores = left_by("write", story.root, tmp_path / "runs", step=5)
    seen = Counter()
    for store in stores:
        with store.opened() as db, db.read() as r:
            found = [(row.id, row.content) for row in r.select(MemoryRow, "id < 'mem-3' OR id > 'mem-9'", order="id")]
            seen[tuple(id for id, _ in found if id.startswith("mem"))] += 1
            assert db.situation is Situation.OK
            if "mem-a" in dict(found):
                assert dict(found)["mem-1"] == "changed"
        write_once(store)
    assert set(seen) == {("mem-1", "mem-2"), ("mem-1", "mem-a", "mem-b")}


def test_a_rewrite_that_dies_leaves_the_old_file_or_the_new_one(story: Store, tmp_path: Path):
    with story.opened() as db, db.read() as r:
        rows = r.select(MemoryRow, order="id")
    for store in left_by("rewrite", story.root, tmp_path / "runs", step=5):
        with store.opened() as db:
            with db.read() as r:
                assert r.select(MemoryRow, order="id") == rows
            db.rewrite()
            with db.read() as r:
                assert r.select(MemoryRow, order="id") == rows
        assert not [path for path in store.home.iterdir() if path.name.startswith(".")]
        write_once(store)


@pytest.fixture
def next_schema(monkeypatch: pytest.MonkeyPatch):
    """Be the program of two migrations later."""
    monkeypatch.setattr(schema, "MIGRATIONS", crash.NEXT)
    monkeypatch.setattr(schema, "VERSION", len(crash.NEXT))
    file._fresh_definitions.cache_clear()
    yield
    file._fresh_definitions.cache_clear()


NOW = schema.VERSION
STEPS = {NOW: (0, 0), NOW + 1: (1, 0), NOW + 2: (1, 1)}


def shape(store: Store) -> tuple[int, tuple[int, int]]:
    """Answer the version a file says it has, and how many of each migration's objects it holds."""
    with store.raw() as raw:
        ((version,),) = raw.execute("SELECT value FROM schema_meta").fetchall()
        ((notes, columns, indexes),) = raw.execute(
            "SELECT (SELECT count(*) FROM duckdb_tables() WHERE table_name = 'notes'),"
            " (SELECT count(*) FROM duckdb_columns() WHERE table_name = 'cursors' AND column_name = 'note'),"
            " (SELECT count(*) FROM duckdb_indexes() WHERE index_name = 'i')"
        ).fetchall()
    assert notes == columns
    return int(version), (notes, indexes)


def test_a_migration_that_dies_has_made_whole_steps_and_is_taken_up_again(
    story: Store, tmp_path: Path, next_schema: None
):
    seen = Counter()
    for store in left_by("migrate", story.root, tmp_path / "runs", step=2):
        version, objects = shape(store)
        assert objects == STEPS[version]
        seen[version] += 1
        write_once(store)
        assert shape(store) == (NOW + 2, STEPS[NOW + 2])
    assert set(seen) == set(STEPS)


def test_a_migration_that_fails_changes_nothing_and_later_succeeds(story: Store, monkeypatch: pytest.MonkeyPatch):
    file._fresh_definitions.cache_clear()
    monkeypatch.setattr(
        schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE notes (a TEXT); CREATE TABLE notes (a TEXT)")
    )
    monkeypatch.setattr(schema, "VERSION", NOW + 1)
    for _ in range(2):
        with pytest.raises(Integrity):
            story.open()
        assert shape(story) == (NOW, STEPS[NOW])
    monkeypatch.setattr(schema, "MIGRATIONS", crash.NEXT[: NOW + 1])
    write_once(story)
    assert shape(story) == (NOW + 1, STEPS[NOW + 1])
    monkeypatch.undo()
    file._fresh_definitions.cache_clear()


def test_nodes_of_the_tree_move_from_their_own_table_beside_the_events(story: Store):
    """Until the third migration they had one."""
    tree = Frontier()
    with story.raw() as raw:
        raw.execute(
            "CREATE TABLE merkle_nodes (level INTEGER, position BIGINT, hash TEXT, PRIMARY KEY (level, position))"
        )
        for (data,) in raw.execute("SELECT body FROM signed_events ORDER BY sequence").fetchall():
            for level, position, digest in tree.append(leaf_hash(data)):
                raw.execute("INSERT INTO merkle_nodes VALUES (?, ?, ?)", [level, position, digest.hex()])
        raw.execute("ALTER TABLE signed_events DROP COLUMN nodes")
        raw.execute("UPDATE schema_meta SET value = '2'")
    assert tree.size > 4
    write_once(story)
    report = recovery.verify(story.home, state_dir=story.state, notes=[])
    assert report.ok, report.faults


def test_commitments_move_into_a_table_that_is_not_compressed_and_survive_a_kill(story: Store):
    """Until the fourth migration they were; the engine then plays the migration back from its log."""
    with story.raw() as raw:
        raw.execute("CREATE TABLE entries AS FROM state_entries")
        raw.execute("DROP TABLE state_entries")
        raw.execute(
            "CREATE TABLE state_entries (bucket INTEGER NOT NULL, tbl TEXT, id TEXT, commitment TEXT NOT NULL,"
            " PRIMARY KEY (tbl, id))"
        )
        raw.execute("INSERT INTO state_entries FROM entries")
        raw.execute("CREATE INDEX idx_state_bucket ON state_entries (bucket)")
        raw.execute("DROP TABLE entries")
        raw.execute("UPDATE schema_meta SET value = '3'")

    pid = os.fork()
    if pid == 0:
        try:
            connection = Connection(story.file, altering=True)
            file.migrate(connection)
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert story.file.with_name(story.file.name + ".wal").exists()
    write_once(story)
    with story.raw() as raw:
        sql = raw.execute("SELECT sql FROM duckdb_tables() WHERE table_name = 'state_entries'").fetchall()[0][0]
    assert sql.lower().count("using compression uncompressed") == 3
    report = recovery.verify(story.home, state_dir=story.state, notes=[])
    assert report.ok, report.faults


@pytest.mark.parametrize("number", [1, 5, 9, 13, 40, 60])
def test_a_creation_interrupted_in_this_process_leaves_none_and_can_be_repeated(tmp_path: Path, number: int):
    def interrupt() -> None:
        raise KeyboardInterrupt

    store = Store(tmp_path / "store")
    crash.die_before(number, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            store.create()
    finally:
        sys.setprofile(None)
    assert not store.file.exists()
    store.create().close()
    write_once(store)


@pytest.mark.parametrize("number", [1, 2, 4, 7, 10])
def test_a_write_interrupted_in_this_process_leaves_nothing_of_it_and_the_next_one_works(story: Store, number: int):
    def interrupt() -> None:
        raise KeyboardInterrupt

    with story.opened() as db:
        with pytest.raises(KeyboardInterrupt), db.write(actor="hum-1") as tx:
            crash.die_before(number, interrupt)
            try:
                record(tx, memory("mem-1", content="changed"), memory("mem-a"))
                record(tx, memory("mem-b"))
            finally:
                sys.setprofile(None)
        with db.read() as r:
            assert r.require(MemoryRow, "mem-1").content == "what mem-1 says"
            assert r.get(MemoryRow, "mem-a") is None
        with db.write(actor="hum-1") as tx:
            record(tx, memory("mem-a"))
    write_once(story)


def test_of_two_processes_that_create_at_once_one_does_and_the_other_is_told(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from substrate.errors import AiMemoryError\n"
        "from substrate.store.database import Database\n"
        "try: Database.create(Path(sys.argv[1]), state_dir=Path(sys.argv[2])).close(); print('ok')\n"
        "except AiMemoryError as error: print(error.code)"
    )
    store = Store(tmp_path / "store")
    both = [python("-c", code, store.home, store.state) for _ in range(2)]
    assert sorted(program.communicate()[0].strip() for program in both) == ["conflict", "ok"]
    write_once(store)


def test_a_store_is_not_made_over_another(story: Store):
    before = story.file.read_bytes()
    with pytest.raises(Conflict, match="already holds a store"):
        story.create()
    assert story.file.read_bytes() == before


def test_a_log_left_by_a_file_that_is_gone_does_not_reach_the_new_store(story: Store):
    story.wal.write_bytes(b"of another file")
    story.file.unlink()
    story.create().close()
    write_once(story)


def test_a_home_that_is_a_file_or_lies_under_one_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    for home in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(Unavailable) as caught:
            Database.create(home, state_dir=tmp_path / "state")
        assert caught.value.hint
        with pytest.raises(NotFound):
            Database.open(home, state_dir=tmp_path / "state")
    assert (tmp_path / "file").read_text() == "x"
