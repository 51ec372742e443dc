"""The rows, the tables and the two computations of a commitment say the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.state import bucket_digest
from substrate.errors import Invalid
from substrate.store import schema
from substrate.store.db import Connection, bucket_digest_sql, commitment_sql, row_id_sql
from substrate.store.file import create_file
from substrate.store.model import ROWS, MemoryRow, Row, from_json, row_id, to_json
from substrate.store.selection import commit
from tests.store.rows import memory, one_of_each
from tests.store.strategies import ALLOWED, objects, rows, text

each_kind = pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.TABLE)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    made = create_file(tmp_path_factory.mktemp("model") / "memory.duckdb")
    yield made
    made.close()


def columns_of(connection: Connection, table: str) -> list[str]:
    found = connection.rows(f"SELECT cid, name FROM pragma_table_info('{table}')")
    return [name for _, name in sorted(found)]


@each_kind
def test_a_row_has_the_columns_of_its_table_in_order_and_the_salt_stands_last(kind: type[Row], connection: Connection):
    assert [*kind.columns(), "salt"] == columns_of(connection, kind.TABLE)


@each_kind
def test_the_key_of_a_row_is_the_primary_key_of_its_table(kind: type[Row], connection: Connection):
    ((primary,),) = connection.rows(
        "SELECT constraint_column_names FROM duckdb_constraints()"
        " WHERE table_name = ? AND constraint_type = 'PRIMARY KEY'",
        [kind.TABLE],
    )
    assert tuple(primary) == kind.KEY == schema.COMMITTED[kind.TABLE]


def test_every_table_is_committed_part_of_the_log_or_derived(connection: Connection):
    found = {table for (table,) in connection.rows("SELECT table_name FROM duckdb_tables()")}
    assert found == {*schema.COMMITTED, *schema.LOG, *schema.DERIVED}
    assert len(found) == len(schema.COMMITTED) + len(schema.LOG) + len(schema.DERIVED)


@pytest.mark.parametrize("table", schema.COMMITTED)
def test_a_committed_table_ends_in_its_salt_and_names_its_rows_by_its_key(table: str, connection: Connection):
    columns = columns_of(connection, table)
    assert columns[-1] == "salt"
    assert set(schema.COMMITTED[table]) <= set(columns)


def test_checks_are_known_to_the_strategies():
    assert ALLOWED["memories", "memory_kind"] == ["observation", "reflection", "persona"]
    assert len(ALLOWED) > 10


@each_kind
@given(data=st.data())
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_engine_commits_to_the_same_hash_as_python(kind: type[Row], connection: Connection, data: st.DataObject):
    row, salt = data.draw(rows(kind)), data.draw(st.binary(min_size=32, max_size=32)).hex()
    connection.begin()
    try:
        connection.insert(kind.TABLE, (*kind.columns(), "salt"), [[*row.values(), salt]], {})
        sql = f"SELECT {row_id_sql(kind.TABLE)}, {commitment_sql(kind.TABLE, kind.columns())} FROM {kind.TABLE}"
        assert connection.rows(sql) == [(row.row_id, commit(kind, row.values(), salt))]
    finally:
        connection.rollback()


@each_kind
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_a_row_comes_back_from_its_column_values(kind: type[Row], data: st.DataObject):
    row = data.draw(rows(kind))
    assert kind.from_values(row.values()) == row


@given(st.dictionaries(st.tuples(text, text), st.binary(min_size=32, max_size=32).map(bytes.hex), max_size=6))
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_engine_digests_a_bucket_as_python_does(connection: Connection, entries: dict[tuple[str, str], str]):
    connection.begin()
    try:
        connection.insert(
            "state_entries",
            ("bucket", "tbl", "id", "commitment"),
            [(7, table, id, commitment) for (table, id), commitment in entries.items()],
            {"bucket": "INTEGER"},
        )
        found = connection.rows(f"SELECT {bucket_digest_sql()} FROM state_entries GROUP BY bucket")
        assert found == ([(bucket_digest((t, i, c) for (t, i), c in entries.items()),)] if entries else [])
    finally:
        connection.rollback()


@given(st.lists(text, min_size=2, max_size=4), st.lists(text, min_size=2, max_size=4))
@settings(deadline=None)
def test_keys_of_several_parts_never_name_the_same_row(one: list[str], other: list[str]):
    assert (row_id(*one) == row_id(*other)) == (one == other)


def test_a_key_is_itself_or_its_parts_behind_their_lengths():
    assert [row.row_id for row in one_of_each()][3:6] == [
        "17:projects/acme/web5:hum-1",
        "mem-1",
        "5:mem-15:mem-212:derived_from",
    ]
    assert row_id("naïve", 7) == "6:naïve1:7"


@given(objects)
@settings(max_examples=50, deadline=None)
def test_json_text_is_canonical_and_reads_back(value: dict[str, object]):
    written = to_json(value)
    assert from_json(written) == value
    assert written == to_json(dict(reversed(value.items())))


def test_nothing_is_written_as_nothing():
    assert to_json(None) is None
    assert from_json(None) is None


def test_a_row_that_holds_a_lone_surrogate_has_no_commitment():
    row = memory("mem-1", content="\ud800")
    with pytest.raises(Invalid):
        commit(MemoryRow, row.values(), "0" * 64)


def test_a_migration_splits_into_its_statements(tmp_path: Path):
    assert schema.statements("CREATE TABLE a (b TEXT);\n\nCREATE INDEX c ON a (b);\n") == [
        "CREATE TABLE a (b TEXT)",
        "CREATE INDEX c ON a (b)",
    ]
