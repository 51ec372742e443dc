"""A row that was edited, replaced, deleted, added or replayed behind the store's back is refused when it is read."""

from collections.abc import Callable

import pytest

from audit.state import bucket_of
from substrate import limits
from substrate.errors import Integrity
from substrate.store import commitments
from substrate.store.inspection import inspect
from substrate.store.model import LinkRow, MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader
from tests.store import forgery
from tests.store.attacks import HEADS, ON_ONE_ROW, Attack, edit_and_mend_the_state, forge
from tests.store.rows import memory, persona, record
from tests.store.stores import Store, refused

READS: dict[str, Callable[[Reader], object]] = {
    "get": lambda r: r.get(MemoryRow, "mem-1"),
    "get_many": lambda r: r.get_many(MemoryRow, ["mem-2", "mem-1"]),
    "list": lambda r: r.select(MemoryRow, "status = 'active' AND content IS NOT NULL", order="id"),
    "list of others": lambda r: r.select(LinkRow),
    "count": lambda r: r.count(MemoryRow, "status = 'active'"),
}


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("attack", ON_ONE_ROW.values(), ids=ON_ONE_ROW)
def test_a_row_tampered_with_is_refused_however_it_is_read_and_named_by_verification(
    story: Store, attack: Attack, monkeypatch: pytest.MonkeyPatch
):
    attack(story)
    with story.opened() as db, db.read() as r:
        monkeypatch.setattr(commitments, "_FEW", -1)
        with pytest.raises(Integrity):  # where there are many rows the engine computes the commitments
            r.select(MemoryRow)
        monkeypatch.undo()
        for name, read in READS.items():
            with pytest.raises(Integrity) as caught:
                read(r)
            assert caught.value.hint, name
            assert "mem-" in str(caught.value) or "commitments of bucket" in str(caught.value), name
    report = inspect(story.home, state_dir=story.state)
    assert {fault.subject for fault in report.faults} & {"mem-1", "mem-2"}
    assert all(fault.message for fault in report.faults)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_the_reads_of_these_tests_succeed_on_a_whole_store(story: Store, read: Callable[[Reader], object]):
    with story.opened() as db, db.read() as r:
        assert read(r) is not None


@pytest.mark.parametrize("mended", [False, True], ids=["alone", "with its commitment and digest"])
def test_a_forged_row_is_refused(store: Store, mended: bool):
    forge(store)
    if mended:
        edit_and_mend_the_state(store)
    for read in READS.values():
        refused(store, read)


@pytest.mark.parametrize("bucket", [-1, 4096, 99999])
def test_a_forged_row_whose_commitment_lies_in_a_bucket_that_is_none_is_refused(story: Store, bucket: int):
    """No digest covers such a bucket, so nothing would miss it and nothing would find it."""
    with story.raw() as raw:
        for number in range(10):
            row = memory(f"forged-{number}")
            raw.execute(
                "INSERT INTO state_entries VALUES (?, ?, ?, ?)", [bucket, "memories", row.id, forgery.insert(raw, row)]
            )
    error = refused(story, lambda r: r.select(MemoryRow))
    assert str(bucket) in str(error)
    refused(story, lambda r: r.get(MemoryRow, "forged-1"))


def test_two_commitments_spliced_into_one_do_not_hide_a_row(store: Store):
    """The digest is over one text; where commitments had any length, one could hold the entry behind it."""
    first = bucket_of("memories", "mem-0")
    twin = next(f"mem-{n}" for n in range(1, 100_000) if bucket_of("memories", f"mem-{n}") == first)
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-0"), memory(twin))
    with store.raw() as raw:
        entries = raw.execute(
            "SELECT id, commitment FROM state_entries WHERE bucket = ? ORDER BY id", [first]
        ).fetchall()
        (front, one), (back, two) = entries
        spliced = f"{one}8:memories{len(back)}:{back}{two}"
        raw.execute("UPDATE state_entries SET commitment = ? WHERE id = ?", [spliced, front])
        raw.execute("DELETE FROM state_entries WHERE id = ?", [back])
        raw.execute("DELETE FROM memories WHERE id = ?", [back])
    refused(store, lambda r: r.get(MemoryRow, back))
    refused(store, lambda r: r.select(MemoryRow))


def test_an_edit_with_everything_mended_but_the_signature_is_refused(story: Store):
    edit_and_mend_the_state(story)
    assert "does not match the newest signed event" in str(refused(story, lambda r: r.get(MemoryRow, "mem-2")))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE state_buckets SET digest = repeat('0', 64) WHERE bucket = 7",
        "UPDATE state_buckets SET digest = 'no digest' WHERE bucket = 7",
        "DELETE FROM state_buckets WHERE bucket = 4095",
        "DELETE FROM state_buckets",
        "INSERT INTO state_buckets VALUES (4096, repeat('0', 64))",
        "UPDATE state_buckets SET bucket = -1 WHERE bucket = 0",
    ],
)
def test_a_table_of_digests_that_was_changed_opens_nothing(story: Store, statement: str):
    story.edit(statement)
    assert "digests" in str(refused(story, lambda r: r.head))


def test_a_commitment_of_a_table_that_is_none_is_refused(story: Store):
    story.edit("INSERT INTO state_entries VALUES (7, 'secrets', 'x', ?)", ["ab" * 32])
    assert "secrets" in str(refused(story, lambda r: r.select(LinkRow)))


def served_persona(r: Reader) -> MemoryRow:
    head = r.require(PersonaHeadRow, "global", "alice")
    return r.require(MemoryRow, head.persona_id)


@pytest.mark.parametrize("attack", HEADS.values(), ids=HEADS)
def test_an_older_persona_is_never_served_as_the_newest(story: Store, attack: Attack):
    with story.opened() as db, db.read() as r:
        assert served_persona(r) == persona(2)
    attack(story)
    refused(story, lambda r: r.select(MemoryRow, "entity_id = 'alice' AND status = 'active'"))
    if attack is not HEADS["older made active"]:
        refused(story, served_persona)
    report = inspect(story.home, state_dir=story.state)
    assert {fault.subject for fault in report.faults} & {"per-1", "per-2", "6:global5:alice"}


def test_a_row_changed_together_with_its_commitment_under_an_open_process_is_not_served(story: Store):
    """The process has verified everything before; what it keeps of the buckets still convicts the rows it returns."""
    with story.opened() as db:
        with db.read() as r:
            assert len(r.select(MemoryRow)) == 6
        db.close()
        with story.raw() as raw:
            commitment = forgery.overwrite(raw, memory("mem-1", content="edited"))
            raw.execute("UPDATE state_entries SET commitment = ? WHERE id = 'mem-1'", [commitment])
        with db.read() as r, pytest.raises(Integrity, match="mem-1"):
            r.select(MemoryRow)


def test_a_row_tampered_with_does_not_stop_the_reading_of_others_by_id(story: Store):
    story.edit("UPDATE memories SET content = 'edited' WHERE id = 'mem-1'")
    with story.opened() as db, db.read() as r:
        assert r.get(MemoryRow, "mem-2") == memory("mem-2", tags=("trail",))


def test_a_store_filled_up_to_escape_the_whole_check_is_refused(story: Store, monkeypatch: pytest.MonkeyPatch):
    """Above the bound the rows are not read, but the commitments are: nobody can make a store look large."""
    monkeypatch.setattr(limits, "VERIFY_ROWS", 20)
    with story.opened() as db, db.read() as r:
        assert r.select(MemoryRow) == r.select(MemoryRow)
    with story.raw() as raw:
        raw.execute("DELETE FROM memories WHERE id = 'mem-1'")
        raw.execute("INSERT INTO state_entries SELECT 5, 'memories', 'junk-' || n, repeat('0', 64) FROM range(50) t(n)")
    assert "bucket 5" in str(refused(story, lambda r: r.select(MemoryRow)))


def test_above_the_bound_the_rows_returned_are_checked(story: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "VERIFY_ROWS", 3)
    story.edit("UPDATE memories SET content = 'edited' WHERE id = 'mem-1'")
    with story.opened() as db, db.read() as r:
        assert [row.id for row in r.select(MemoryRow, "id = 'mem-2'")] == ["mem-2"]
    assert "mem-1" in str(refused(story, lambda r: r.select(MemoryRow)))
