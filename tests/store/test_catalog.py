"""What somebody leaves in the file beside the rows - macros, views, columns, tables - cannot change what is read."""

import hashlib

import pytest

from substrate.errors import Integrity, Invalid, Unavailable
from substrate.store import file
from substrate.store.db import Connection
from substrate.store.file import open_file
from substrate.store.model import MemoryRow
from tests.store.rows import memory, record
from tests.store.stores import Store, refused

# Each would make verification see what the attacker wants to be seen, if the file's functions came first.
MACROS = [
    "CREATE MACRO sha256(x) AS (SELECT min(commitment) FROM state_entries)",
    "CREATE MACRO strlen(x) AS 64",
    "CREATE MACRO count(x) AS 0",
    "CREATE MACRO count_star() AS 0",
    'CREATE MACRO "||"(a, b) AS a',
    "CREATE MACRO coalesce(a, b) AS 'x'",
    "CREATE MACRO unnest(a) AS NULL",
    "CREATE MACRO string_agg(a, b) AS 'x'",
    "CREATE MACRO duckdb_tables() AS TABLE SELECT NULL AS table_name, NULL AS sql, 'main' AS schema_name",
    "CREATE MACRO duckdb_indexes() AS TABLE SELECT NULL AS table_name, NULL AS sql, 'main' AS schema_name",
    "CREATE MACRO pragma_table_info(x) AS TABLE SELECT 0 AS cid, 'id' AS name",
]


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("hidden", [False, True], ids=["genuine", "edited"])
def test_macros_kept_in_the_file_deceive_nobody(story: Store, hidden: bool):
    for macro in MACROS:
        story.edit(macro)
    assert story.edit("SELECT sha256('a') <> system.main.sha256('a'), strlen('a'), count(*) FROM memories")[0][1:] == (
        64,
        0,
    )
    if hidden:
        story.edit("UPDATE memories SET status = 'deleted' WHERE id = 'mem-1'")
        assert "mem-1" in str(refused(story, lambda r: r.select(MemoryRow, "status = 'active'")))
    else:
        with story.opened() as db:
            with db.write(actor="hum-1") as tx:
                record(tx, memory("mem-new"))
            with db.read() as r:
                assert r.count(MemoryRow, "memory_kind = 'observation'") == 4


TABLES = {
    "a view in a table's place": [
        "CREATE TABLE hidden AS FROM memories",
        "DROP TABLE memories",
        "CREATE VIEW memories AS SELECT * FROM hidden WHERE id <> 'mem-1' OR current_query() LIKE '%sha256%'",
    ],
    "a macro in a table's place": ["DROP TABLE memories", "CREATE MACRO memories() AS TABLE SELECT 1"],
    "a column added": ["ALTER TABLE cursors ADD COLUMN extra TEXT"],
    "a column with a default": ["ALTER TABLE jobs ALTER kind SET DEFAULT 'x'"],
    "a column that may be null": ["ALTER TABLE signed_events ALTER body DROP NOT NULL"],
    "a computed column": [
        "DROP TABLE cursors",
        "CREATE TABLE cursors (name TEXT PRIMARY KEY, position BIGINT AS (7), updated_at TEXT NOT NULL)",
    ],
    "a column that compares without case": [
        "DROP TABLE cursors",
        "CREATE TABLE cursors (name TEXT COLLATE NOCASE, position BIGINT NOT NULL, updated_at TEXT NOT NULL)",
    ],
    "a table without its key": [
        "CREATE TABLE copy AS FROM state_entries",
        "DROP TABLE state_entries",
        "ALTER TABLE copy RENAME TO state_entries",
        "INSERT INTO state_entries FROM state_entries",
    ],
    "a table that is gone": ["DROP TABLE persona_heads"],
    "an index that is gone": ["DROP INDEX idx_personas_by_entity"],
    "an index too many": ["CREATE UNIQUE INDEX extra ON memories (content)"],
}


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("statements", TABLES.values(), ids=TABLES)
def test_a_file_whose_tables_are_not_ours_opens_nothing(story: Store, statements: list[str]):
    for statement in statements:
        story.edit(statement)
    error = refused(story, lambda r: r.head)
    assert "not what they should be" in str(error)


def test_what_is_not_ours_is_left_alone(story: Store):
    story.edit("CREATE TABLE notes AS SELECT 'mine' AS note")
    story.edit("CREATE VIEW texts AS SELECT content FROM memories")
    story.edit("CREATE SCHEMA other")
    story.edit("CREATE TABLE other.memories AS SELECT * FROM memories WHERE id <> 'mem-1'")
    story.edit("CREATE TYPE mood AS ENUM ('ok')")
    with story.opened() as db:
        with db.read() as r:
            assert r.count(MemoryRow, "memory_kind = 'observation'") == 3
        db.rewrite()
        with db.read() as r:
            assert r.count(MemoryRow, "memory_kind = 'observation'") == 3


def test_a_tables_definition_is_known_without_making_it_anew(monkeypatch: pytest.MonkeyPatch, story: Store):
    """The hash in the code is of the tables as this engine writes them; another engine's are made and compared."""
    written = "\n".join(file._fresh_definitions())
    assert hashlib.sha256(written.encode()).hexdigest() == file._DEFINITIONS
    monkeypatch.setattr(file, "_DEFINITIONS", "made by another engine")
    open_file(story.file).close()
    story.edit("DROP INDEX idx_links_target")
    with pytest.raises(Integrity, match="idx_links_target"):
        open_file(story.file)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM schema_meta",
        "UPDATE schema_meta SET value = 'one'",
        "UPDATE schema_meta SET value = '-1'",
        "UPDATE schema_meta SET value = '0'",
        "DROP TABLE schema_meta",
    ],
)
def test_a_file_that_lies_about_its_version_opens_nothing(story: Store, statement: str):
    story.edit(statement)
    before = story.edit("SELECT sql FROM duckdb_tables()")
    for _ in range(2):
        refused(story, lambda r: r.head)
    assert story.edit("SELECT sql FROM duckdb_tables()") == before


def test_a_file_of_a_newer_program_is_left_alone_and_says_what_to_do(story: Store):
    story.edit("UPDATE schema_meta SET value = '99'")
    story.edit("ALTER TABLE memories ADD COLUMN later TEXT")
    before = story.file.read_bytes()
    with pytest.raises(Unavailable, match="schema version 99") as caught:
        story.open()
    assert "upgrade" in caught.value.hint
    assert story.file.read_bytes() == before


def test_the_engine_reads_no_other_file_and_keeps_its_settings(store: Store):
    (store.root / "secret.csv").write_text("a\nb\n")
    connection = Connection(store.file, settings={"force_compression": "uncompressed"})
    for statement in (
        f"SELECT * FROM read_csv('{store.root}/secret.csv')",
        f"SELECT * FROM '{store.root}/secret.csv'",
        f"ATTACH '{store.root}/x.duckdb'",
        f"COPY memories TO '{store.root}/out.csv'",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "INSTALL httpfs",
    ):
        with pytest.raises(Invalid):
            connection.rows(statement)
    connection.close()
    assert sorted(path.name for path in store.root.iterdir()) == ["home", "secret.csv", "state"]


@pytest.mark.parametrize("name, value", [("a b", "c"), ("threads", "1'; DROP TABLE x"), ("", "x"), ("no_such", "x")])
def test_a_setting_that_is_none_is_refused(store: Store, name: str, value: str):
    with pytest.raises(Invalid, match="not an engine setting"):
        Connection(store.file, settings={name: value})
    with store.opened() as db, db.read() as r:
        assert r.head.sequence == 1
