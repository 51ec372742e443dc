"""A write is its rows and their event, both or neither."""

from dataclasses import replace

import pytest

from audit.event import parse
from substrate import limits
from substrate.errors import Conflict, Integrity, Invalid, NotFound
from substrate.store.database import Database
from substrate.store.model import ClaimRow, EntityRow, IdempotencyRow, LinkRow, MemoryRow, NamespaceRow, PrincipalRow
from tests.store.rows import EVENT, link, memory, one_of_each, persona, record
from tests.store.stores import Store


def test_a_row_of_every_kind_is_read_back_as_it_was_written(store: Store):
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, *one_of_each())
    with store.opened() as db, db.read() as r:
        for row in one_of_each():
            key = [getattr(row, column) for column in row.KEY]
            assert r.get(type(row), *key) == r.require(type(row), *key) == row
            assert r.select(type(row)) == [row]
            assert r.count(type(row)) == 1


def test_rows_without_an_event_are_not_committed(db: Database):
    with pytest.raises(RuntimeError, match="2 rows were written without an event"), db.write(actor="hum-1") as tx:
        tx.put(memory("mem-1"), memory("mem-2"))
    with db.read() as r:
        assert r.select(MemoryRow) == []
        assert r.head.sequence == 1


def test_an_exception_takes_back_rows_events_and_what_the_process_keeps_of_them(db: Database):
    with db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"))
    root, head, checkpoint = db.ledger.state.root, db.ledger.head, ""
    with db.connection() as connection:
        checkpoint = db.ledger.checkpoint(connection)
    with pytest.raises(LookupError), db.write(actor="hum-1") as tx:
        record(tx, replace(memory("mem-1"), content="other"), memory("mem-2"))
        tx.derived("INSERT INTO cursors VALUES ('x', 1, ?)", [tx.now])
        raise LookupError
    with db.connection() as connection:
        assert (db.ledger.state.root, db.ledger.head) == (root, head)
        assert db.ledger.checkpoint(connection) == checkpoint
    with db.read() as r:
        assert r.select(MemoryRow) == [memory("mem-1")]
        assert r.get(MemoryRow, "mem-2") is None
        assert r.query("SELECT * FROM cursors") == []


def test_a_write_goes_through_after_one_that_failed(store: Store):
    with store.opened() as db:
        with pytest.raises(LookupError), db.write(actor="hum-1") as tx:
            record(tx, memory("mem-1"))
            raise LookupError
        with db.write(actor="hum-1") as tx:
            assert record(tx, memory("mem-1")) == 2
    with store.opened() as db, db.read() as r:
        assert r.select(MemoryRow) == [memory("mem-1")]


def test_a_row_is_changed_in_some_columns_also_indexed_ones_several_times_in_one_transaction(db: Database):
    with db.write(actor="hum-1") as tx:
        record(tx, persona(1), memory("mem-1", mentioned_entity_id="alice"))
    with db.write(actor="hum-1") as tx:
        for step in range(3):
            row = persona(1, status="retired", entity_id=f"alice-{step}", content=f"step {step}")
            record(tx, row, memory("mem-1", mentioned_entity_id=f"bob-{step}"))
        assert tx.get(MemoryRow, "per-1") == row
        assert tx.select(MemoryRow, "mentioned_entity_id = ?", ["bob-2"]) == [
            memory("mem-1", mentioned_entity_id="bob-2")
        ]
    with db.read() as r:
        assert r.get(MemoryRow, "per-1") == row
        assert r.select(MemoryRow, "mentioned_entity_id = ?", ["bob-1"]) == []


def test_a_change_gives_the_row_a_new_salt_and_the_log_a_new_commitment(db: Database):
    salts, commitments = set(), set()
    for _ in range(3):
        with db.write(actor="hum-1") as tx:
            record(tx, memory("mem-1"))
        with db.read() as r:
            salts |= {salt for (salt,) in r.query("SELECT salt FROM memories")}
            commitments.add(r.events()[-1].commits[0][2])
    assert len(salts) == len(commitments) == 3


def test_a_row_is_deleted_and_its_absence_is_signed(store: Store):
    with store.opened() as db:
        with db.write(actor="hum-1") as tx:
            record(tx, *one_of_each())
        with db.write(actor="hum-1") as tx:
            tx.delete(ClaimRow, "mem-9", 1)
            tx.delete(ClaimRow, "mem-9", 2)
            tx.event("erased", **EVENT)
            assert tx.get(ClaimRow, "mem-9", 1) is None
    with store.opened() as db, db.read() as r:
        assert r.get(ClaimRow, "mem-9", 1) is None
        assert r.select(ClaimRow) == []
        assert r.events()[-1].commits == (("claims", "5:mem-91:1", None), ("claims", "5:mem-91:2", None))


def test_a_row_deleted_and_written_again_in_one_transaction_is_the_new_one(db: Database):
    claim = next(row for row in one_of_each() if isinstance(row, ClaimRow))
    with db.write(actor="hum-1") as tx:
        record(tx, claim)
    with db.write(actor="hum-1") as tx:
        tx.delete(ClaimRow, "mem-9", 1)
        assert tx.get(ClaimRow, "mem-9", 1) is None
        assert tx.select(ClaimRow) == []
        record(tx, replace(claim, text="Alice climbs."))
        tx.delete(ClaimRow, "mem-9", 1)
        tx.put(claim)
        tx.delete(ClaimRow, "mem-9", 1)
        record(tx, replace(claim, text="Alice swims."))
    with db.read() as r:
        assert r.select(ClaimRow) == [replace(claim, text="Alice swims.")]


def test_a_row_put_twice_counts_once_and_the_last_one_stays(db: Database):
    with db.write(actor="hum-1") as tx:
        tx.put(memory("mem-1", content="a"), memory("mem-1", content="b"))
        tx.put(memory("mem-1", content="c"))
        assert tx.unbound == 1
        tx.event("memory_added", **EVENT)
    with db.read() as r:
        assert [row.content for row in r.select(MemoryRow)] == ["c"]
        assert len(r.events()[-1].commits) == 1


def test_several_events_in_one_transaction_follow_each_other_without_gaps(db: Database):
    with db.write(actor="hum-1") as tx:
        assert tx.sequence == 2
        numbers = [record(tx, memory(f"mem-{n}", sequence=tx.sequence), subject=f"mem-{n}") for n in range(5)]
        assert record(tx, actor="agt-7") == tx.head.sequence == 7
    assert numbers == [2, 3, 4, 5, 6]
    with db.read() as r:
        events = r.events()
        assert [event.seq for event in events] == [1, 2, 3, 4, 5, 6, 7]
        assert [row.sequence for row in r.select(MemoryRow, order="id")] == numbers
        assert [event.actor for event in events] == ["hub", *["hum-1"] * 5, "agt-7"]


def test_a_batch_is_spread_over_events_of_the_same_kind_that_bind_every_row_once(db: Database):
    count = 2 * limits.EVENT_ROWS + 3
    with db.write(actor="hum-1") as tx:
        record(tx, *[memory(f"mem-{n:05}") for n in range(count)], subject="batch")
    with db.read() as r:
        events = r.events(types=["memory_added"])
        assert len(events) > 2
        assert all(len(event.commits) <= limits.EVENT_ROWS for event in events)
        bound = [id for event in events for _, id, _ in event.commits]
        assert bound == [f"mem-{n:05}" for n in range(count)]
        assert r.count(MemoryRow) == count
        assert len(r.select(MemoryRow, limit=count)) == count


def test_long_ids_of_several_parts_fit_into_events(db: Database):
    links = [link("s" * 900 + str(n), '"' * 900 + str(n)) for n in range(60)]
    with db.write(actor="hum-1") as tx:
        record(tx, *links)
    with db.read() as r:
        assert r.select(LinkRow, order="source_id") == sorted(links, key=lambda row: row.source_id)
        assert len(r.get_many(LinkRow, [(row.source_id, row.target_id, row.relation) for row in links])) == 60


def test_a_transaction_reads_what_it_has_written(db: Database):
    with db.write(actor="hum-1") as tx:
        tx.put(memory("mem-1"), memory("mem-2"))
        assert tx.require(MemoryRow, "mem-1") == memory("mem-1")
        assert tx.get(MemoryRow, "mem-3") is None
        assert list(tx.get_many(MemoryRow, ["mem-2", "mem-3"])) == ["mem-2"]
        assert tx.select(MemoryRow, order="id DESC") == [memory("mem-2"), memory("mem-1")]
        assert tx.commitments(MemoryRow, ["mem-1", "mem-9"]).keys() == {"mem-1"}
        tx.event("memory_added", **EVENT)
        tx.put(memory("mem-2", content="later"))
        assert tx.count(MemoryRow, "content = ?", ["later"]) == 1
        assert tx.get_many(MemoryRow, ["mem-1", "mem-2"])["mem-2"].content == "later"
        tx.event("memory_added", **EVENT)


def test_what_a_transaction_read_before_it_wrote_is_read_anew_after(db: Database):
    with db.write(actor="hum-1") as tx:
        assert tx.get(MemoryRow, "mem-1") is None
        tx.put(memory("mem-1"))
        assert tx.get(MemoryRow, "mem-1") == memory("mem-1")
        tx.event("memory_added", **EVENT)
        tx.put(memory("mem-1", content="later"))
        assert tx.get(MemoryRow, "mem-1") == memory("mem-1", content="later")
        tx.delete(MemoryRow, "mem-1")
        assert tx.get(MemoryRow, "mem-1") is None
        tx.event("memory_deleted", **EVENT)


def test_a_write_inside_a_write_is_refused_and_a_read_is_allowed(db: Database):
    with db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"))
        with db.read() as r:
            assert r.get(MemoryRow, "mem-1") == memory("mem-1")
        with pytest.raises(RuntimeError, match="inside"), db.write(actor="hum-1"):
            raise AssertionError("unreachable")
        with pytest.raises(RuntimeError, match="inside"):
            db.rewrite()
    with db.read() as r:
        assert r.count(MemoryRow) == 1


def test_time_and_ids_come_from_what_the_store_was_handed(store: Store):
    with store.opened() as db, db.write(actor="hum-1") as tx:
        store.clock.advance(days=1)
        assert tx.now == "2026-05-14T09:30:00.000000Z"
        assert tx.new_id("mem") == "mem-00000000000000000000000001"
        record(tx, memory("mem-1"))
    with store.opened() as db:
        with db.write(actor="hum-1") as tx:
            record(tx, memory("mem-2"))
        assert db.clock() == "2026-05-15T09:30:00.000000Z"
        with db.read() as r:
            assert [event.time[:10] for event in r.events()] == ["2026-05-14", "2026-05-14", "2026-05-15"]


def test_rows_are_picked_ordered_cut_and_counted(db: Database):
    with db.write(actor="hum-1") as tx:
        record(tx, *[memory(f"mem-{n}", size_bytes=n % 3) for n in range(9)])
    with db.read() as r:
        picked = r.select(MemoryRow, "size_bytes > ?", [0], order="size_bytes DESC, id", limit=3, offset=2)
        assert [row.id for row in picked] == ["mem-8", "mem-1", "mem-4"]
        assert r.count(MemoryRow, "size_bytes = ?", [0]) == 3
        assert r.query("SELECT id FROM memories WHERE id IN (SELECT unnest(?)) ORDER BY id", [["mem-3", "no"]]) == [
            ("mem-3",)
        ]
        assert r.get_many(MemoryRow, []) == {}
        assert list(r.get_many(MemoryRow, ["mem-5", "mem-2", "mem-5", "no"])) == ["mem-5", "mem-2"]


def test_a_row_that_must_be_there_and_is_not_is_not_found(db: Database):
    with pytest.raises(NotFound, match="no entities row 6:global3:bob"), db.read() as r:
        r.require(EntityRow, "global", "bob")


def test_a_reader_says_whose_log_it_reads_and_who_signs(store: Store):
    with store.opened() as db, db.read() as r:
        assert r.store_id == db.store_id
        assert r.signed
        assert r.key_id == store.key().key_id
        assert r.head.time == "2026-05-14T09:30:00.000000Z"


def test_events_are_picked_by_place_subject_and_type(db: Database):
    with db.write(actor="hum-1") as tx:
        for number in range(4):
            record(tx, type="memory_added" if number % 2 else "memory_retired", subject=f'mem-"{number}"')
        record(
            tx, subject="mem-x", payload={"note": 'memory_retired mem-"0"'}, audience=["all", ("projects/a/b", "owner")]
        )
    with db.read() as r:
        assert [event.seq for event in r.events(after=4)] == [5, 6]
        assert [event.seq for event in r.events(after=1, limit=2)] == [2, 3]
        assert [event.seq for event in r.events(types=["memory_retired"])] == [2, 4]
        assert [event.seq for event in r.events(subject='mem-"0"')] == [2]
        assert [event.seq for event in r.events(types=["memory_added", "memory_retired"], limit=3)] == [2, 3, 4]
        assert r.events(after=6) == r.events(limit=0) == []
        assert r.events()[-1].audience == ("all", ("projects/a/b", "owner"))
        ((body,),) = r.query("SELECT body FROM signed_events WHERE sequence = 6")
        assert parse(body) == r.events()[-1]


def test_odd_text_is_kept_to_the_byte_in_values_and_in_keys(db: Database):
    odd = ["\0", "a\0b", "é", "é", "\U0001f600", "'\"\\", "‮", " ", "\r\n", "x" * 5000]
    rows = [NamespaceRow(path=text, kind="plain", policy={text: [text]}, created_at="t") for text in odd]
    with db.write(actor="hum-1") as tx:
        record(tx, *rows)
    with db.read() as r:
        assert [r.get(NamespaceRow, text) for text in odd] == rows
        assert r.get_many(NamespaceRow, odd) == dict(zip(odd, rows, strict=True))
        assert r.get(NamespaceRow, "a") is None


def test_text_that_is_no_unicode_is_refused_and_leaves_nothing(db: Database):
    for write in (memory("mem-\ud800"), memory("mem-1", content="\ud800"), link("mem-1", "\udfff")):
        with pytest.raises(Invalid), db.write(actor="hum-1") as tx:
            record(tx, write)
    with db.read() as r:
        with pytest.raises(Invalid):
            r.get(MemoryRow, "\ud800")
        with pytest.raises(Invalid):
            r.select(MemoryRow, "id = ?", ["\ud800"])
        assert r.head.sequence == 1


def test_an_event_that_has_no_form_leaves_nothing(db: Database):
    for wrong in ({"type": "no_such_type"}, {"payload": {"x": 1.5}}, {"payload": {"x": "y" * 70_000}}, {"subject": 7}):
        with pytest.raises(Invalid), db.write(actor="hum-1") as tx:
            record(tx, memory("mem-1"), **wrong)
    with db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"))
    with db.read() as r:
        assert r.head.sequence == 2


def test_what_the_schema_forbids_is_a_conflict_and_leaves_nothing(db: Database):
    for wrong in (memory("mem-1", memory_kind="dream"), memory("mem-1", status="gone")):
        with pytest.raises(Conflict), db.write(actor="hum-1") as tx:
            record(tx, wrong)
    with db.write(actor="hum-1") as tx:
        record(tx, persona(1))
    with pytest.raises(Conflict), db.write(actor="hum-1") as tx:
        record(tx, replace(persona(1), id="per-x"))
    with db.read() as r:
        assert r.select(MemoryRow) == [persona(1)]


def test_a_row_that_was_edited_or_deleted_behind_our_back_is_not_written_over(store: Store):
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"), memory("mem-2"))
    store.edit("UPDATE memories SET content = 'edited' WHERE id = 'mem-1'")
    store.edit("DELETE FROM memories WHERE id = 'mem-2'")
    for number in (1, 2):
        with store.opened() as db:
            with pytest.raises(Integrity, match=f"mem-{number}"), db.write(actor="hum-1") as tx:
                record(tx, memory(f"mem-{number}", content="new"))


def test_a_row_deleted_behind_our_back_is_missed_inside_a_transaction_too(store: Store):
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"))
    store.edit("DELETE FROM memories")
    with store.opened() as db:
        for read in (
            lambda tx: tx.get(MemoryRow, "mem-1"),
            lambda tx: tx.get_many(MemoryRow, ["mem-1"]),
            lambda tx: tx.select(MemoryRow),
            lambda tx: tx.count(MemoryRow),
        ):
            with pytest.raises(Integrity, match="memories mem-1 was deleted"), db.write(actor="hum-1") as tx:
                tx.put(memory("mem-2"))
                read(tx)


def test_derived_tables_are_changed_without_an_event_and_no_others(db: Database):
    with db.write(actor="hum-1") as tx:
        tx.derived("INSERT OR REPLACE INTO cursors VALUES (?, 1, ?)", ["x", tx.now])
        tx.derived("UPDATE cursors SET position = 2")
    with db.read() as r:
        assert r.query("SELECT name, position FROM cursors") == [("x", 2)]
    for other in ("DELETE FROM memories", "update signed_events SET body = ''", "DROP TABLE cursors"):
        with pytest.raises(RuntimeError, match="are put"), db.write(actor="hum-1") as tx:
            tx.derived(other)


def test_rows_are_matched_one_by_one_without_a_check_of_the_rest(store: Store):
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1"), memory("mem-2"))
    store.edit("UPDATE memories SET content = 'edited' WHERE id = 'mem-2'")
    with store.opened() as db, db.read() as r:
        assert r.matching(MemoryRow, "id = ?", ["mem-1"]) == [memory("mem-1")]
        with pytest.raises(Integrity, match="mem-2"):
            r.matching(MemoryRow, "content = 'edited'")


def test_a_repeated_request_is_answered_with_what_the_first_one_made(db: Database):
    request = {"content": "tea"}
    with db.write(actor="hum-1") as tx:
        assert tx.once("key", request) is None
        record(tx, memory("mem-1"), subject="mem-1")
    with db.write(actor="hum-1") as tx:
        assert tx.once("key", dict(request)) == "mem-1"
    with pytest.raises(Conflict, match="another request"), db.write(actor="hum-1") as tx:
        tx.once("key", {"content": "coffee"})
    with db.write(actor="agt-1") as tx:
        assert tx.once("key", request) is None
    with db.read() as r:
        (kept,) = r.select(IdempotencyRow)
        assert (kept.principal_id, kept.subject_id) == ("hum-1", "mem-1")
        assert "tea" not in str(kept)


def test_a_key_whose_request_was_erased_answers_no_request(db: Database):
    with db.write(actor="hum-1") as tx:
        tx.once("key", {})
        record(tx, PrincipalRow(id="hum-1", kind="human", handle="ann", created_at=tx.now), subject="hum-1")
    with db.write(actor="hum-1") as tx:
        record(tx, replace(tx.require(IdempotencyRow, "hum-1", "key"), fingerprint=None))
    with pytest.raises(Conflict), db.write(actor="hum-1") as tx:
        tx.once("key", {})
