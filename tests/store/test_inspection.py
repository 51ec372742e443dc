"""A whole verification opens also what reads refuse, and names every fault."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from substrate.errors import AiMemoryError
from substrate.store import database, inspection
from substrate.store.doctor import examine
from substrate.store.inspection import inspect
from tests.store import forgery
from tests.store.attacks import add
from tests.store.rows import one_of_each
from tests.store.stores import Store, refused


def test_a_whole_store_has_no_fault_and_agrees_with_its_anchor(story: Store):
    report = inspect(story.home, state_dir=story.state)
    assert (report.ok, report.anchored, report.faults) == (True, True, ())
    assert (report.events, report.head) == (8, story.anchor().event_hash)
    assert report.genesis_key == story.key().public
    with story.opened() as db, db.connection() as connection:
        note = db.ledger.checkpoint(connection)
        assert report.store_id == db.store_id
        add(db, "mem-later")
    assert inspect(story.home, state_dir=story.state, notes=[note]).ok


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("number", range(1, 9))
def test_a_flipped_byte_in_any_event_is_named_with_the_events_number(story: Store, number: int):
    ((data,),) = story.edit("SELECT body FROM signed_events WHERE sequence = ?", [number])
    place = (number * 37) % len(data)
    changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
    story.edit("UPDATE signed_events SET body = ? WHERE sequence = ?", [changed, number])
    report = inspect(story.home, state_dir=story.state)
    assert number in {fault.sequence for fault in report.faults}


TREES = {
    "node": ("UPDATE signed_events SET nodes = unhex(repeat('0', 128)) WHERE sequence = 4", "tree"),
    "node gone": ("UPDATE signed_events SET nodes = NULL", "tree"),
    "node too many": ("UPDATE signed_events SET nodes = 'x'::BLOB WHERE sequence = 1", "tree"),
    "digest": ("UPDATE state_buckets SET digest = repeat('0', 64) WHERE bucket = 9", "state"),
    "digest gone": ("DELETE FROM state_buckets WHERE bucket = 9", "state"),
    "commitment of no table": ("INSERT INTO state_entries VALUES (3, 'none', 'x', 'y')", "state"),
    "index": ("DROP INDEX idx_links_target", "tables"),
    "key renamed": ("ALTER TABLE namespaces RENAME path TO way", "tables"),
    "salt gone": ("ALTER TABLE namespaces DROP salt", "tables"),
    "column": ("ALTER TABLE jobs ALTER kind SET DEFAULT 'x'", "tables"),
}


@pytest.mark.parametrize(("statement", "kind"), TREES.values(), ids=TREES)
def test_what_no_read_depends_on_is_verified_too(story: Store, statement: str, kind: str):
    story.edit(statement)
    assert kind in {fault.kind for fault in inspect(story.home, state_dir=story.state).faults}


def test_a_forged_row_in_a_table_that_never_held_any_is_named(store: Store):
    row = one_of_each()[1]
    with store.raw() as raw:
        forgery.insert(raw, row)
    (fault,) = inspect(store.home, state_dir=store.state).faults
    assert (fault.kind, fault.subject) == ("row_forged", "cre-1")
    refused(store, lambda r: r.select(type(row)))


def test_a_table_that_is_gone_is_a_fault_and_the_rest_is_looked_at(story: Store):
    story.edit("DROP TABLE persona_heads")
    kinds = {fault.kind for fault in inspect(story.home, state_dir=story.state).faults}
    assert "tables" in kinds


def test_an_anchor_that_does_not_hold_is_a_fault(story: Store):
    anchor = story.anchor_file().read_bytes()
    story.anchor_file().write_bytes(b"{}")
    report = inspect(story.home, state_dir=story.state)
    assert ([fault.kind for fault in report.faults], report.anchored) == (["anchor"], False)
    story.anchor_file().write_bytes(anchor)
    yesterday = story.copy_home("yesterday")
    with story.opened() as db:
        add(db, "mem-today")
    report = inspect(yesterday.home, state_dir=yesterday.state)
    assert {fault.kind for fault in report.faults} >= {"anchor"}
    assert not report.anchored


def test_without_an_anchor_a_store_can_hold_and_is_not_anchored(story: Store):
    shutil.rmtree(story.state)
    report = inspect(story.home, state_dir=story.state)
    assert (report.ok, report.anchored) == (True, False)


def test_a_checkpoint_kept_elsewhere_convicts_a_log_that_was_cut(story: Store):
    earlier = story.copy("earlier")
    with story.opened() as db, db.connection() as connection:
        add(db, "mem-later")
        note = db.ledger.checkpoint(connection)
    assert "checkpoint" in {f.kind for f in inspect(earlier.home, state_dir=earlier.state, notes=[note]).faults}
    assert "checkpoint" in {f.kind for f in inspect(story.home, state_dir=story.state, notes=["no note"]).faults}


def test_a_read_only_copy_without_a_key_is_verified(story: Store, monkeypatch: pytest.MonkeyPatch):
    shutil.rmtree(story.home / "keys")
    monkeypatch.setattr(inspection, "writable", lambda home: False)
    before = sorted(path.name for path in story.home.iterdir())
    (story.home / "memory.lock").unlink()
    assert inspect(story.home, state_dir=story.state).ok
    assert sorted(path.name for path in story.home.iterdir()) == [name for name in before if name != "memory.lock"]


def test_a_file_that_cannot_be_read_is_a_typed_error(story: Store):
    story.file.write_bytes(b"no database" * 1000)
    with pytest.raises(AiMemoryError):
        inspect(story.home, state_dir=story.state)


def test_the_doctor_finds_nothing_wrong_with_a_sound_home(story: Store):
    os.chmod(story.home, 0o700)
    found = examine(story.home, state_dir=story.state)
    assert found["ok"], found
    assert [item["what"] for item in found["findings"]] == [
        "folder",
        "settings",
        "key",
        "file",
        "log",
        "rows",
        "anchor",
    ]
    assert json.dumps(found)


def test_an_event_signed_by_a_stranger_is_told_from_the_stores_own(story: Store):
    with story.raw() as raw:
        forgery.write_event(raw, replace(forgery.events(raw)[4], actor="hum-9"), forgery.STRANGER)
    report = inspect(story.home, state_dir=story.state)
    assert {(fault.kind, fault.sequence) for fault in report.faults} >= {("key", 5), ("signature", 5), ("chain", 6)}


def test_a_home_is_written_where_the_system_allows_it(tmp_path: Path):
    assert database.writable(tmp_path)
    assert not database.writable(tmp_path / "none")
