"""A backup brings a damaged store back, with whatever its own log still proves, and tells by id what is lost."""

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.anchor import Situation
from substrate.errors import Conflict, Integrity, NotFound, Unavailable
from substrate.store.db import FILE
from substrate.store.model import MemoryRow, PersonaHeadRow
from tests.store.restoring import add, back_up, bring_back, forget, ids, sound, spoil
from tests.store.rows import memory, record
from tests.store.stores import Store

SECRET = "a word that must go"


def test_a_lost_home_comes_back_where_the_anchor_knows_more(story: Store):
    source = back_up(story, with_keys=True)
    add(story, "mem-later")
    seen = story.anchor()
    shutil.rmtree(story.home)
    found = bring_back(story, source)
    assert (found.backup_sequence, found.missing_events, found.sequence) == (8, (9, 9), 9)
    assert (found.lost, found.set_aside) == ((), None)
    assert ids(story) == ["mem-1", "mem-2", "mem-3", "per-1", "per-2", "ref-1"]
    sound(story)
    with story.opened() as db, db.read() as r:
        (event,) = r.events(types=["restored"])
    named = {"from_sequence": 9, "from_hash": seen.event_hash}
    assert event.payload == {"by": "hum-1", "backup_sequence": 8, "to_sequence": 8} | named


def test_a_row_that_was_changed_comes_back_and_nothing_written_since_is_lost(story: Store):
    source = back_up(story)
    add(story, "mem-later")
    spoil(story, "mem-1")
    found = bring_back(story, source)
    assert (found.kept, found.missing_events) == (1, None)
    assert (found.missing, found.older, found.erased) == ((), (), ())
    assert "mem-later" in ids(story)
    with story.opened() as db, db.read() as r:
        assert r.require(MemoryRow, "mem-1").content == "what mem-1 says"
    sound(story)


def test_a_row_that_the_backup_does_not_have_is_named_and_given_up(story: Store):
    source = back_up(story)
    add(story, "mem-later", "mem-last")
    spoil(story, "mem-later")
    found = bring_back(story, source)
    assert (found.kept, found.missing, found.older) == (2, ("mem-later",), ())
    assert "mem-later" not in ids(story) and "mem-last" in ids(story)
    assert found.set_aside is not None and (found.set_aside / FILE).exists()
    sound(story)


def test_a_row_whose_newer_wording_is_lost_is_as_in_the_backup(story: Store):
    source = back_up(story)
    with story.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1", content="newer"))
    spoil(story, "mem-1")
    assert bring_back(story, source).older == ("mem-1",)
    with story.opened() as db, db.read() as r:
        assert r.require(MemoryRow, "mem-1").content == "what mem-1 says"
    sound(story)


def test_rows_added_or_deleted_behind_the_log_go_and_come_back(story: Store):
    source = back_up(story)
    add(story, "mem-later")
    story.edit("DELETE FROM memories WHERE id = 'mem-2'")
    story.edit("UPDATE memories SET id = 'mem-forged' WHERE id = 'mem-3'")
    found = bring_back(story, source)
    assert (found.missing, found.older) == ((), ())
    assert {"mem-2", "mem-3", "mem-later"} <= {*ids(story)} and "mem-forged" not in ids(story)
    sound(story)


@pytest.mark.parametrize("readable", [True, False])
def test_what_was_forgotten_after_the_backup_stays_forgotten(story: Store, readable: bool):
    with story.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-secret", content=SECRET))
    source = back_up(story)
    forget(story, "mem-secret")
    if readable:
        spoil(story, "mem-1")
        story.edit("DELETE FROM memories WHERE id = 'mem-secret'")
    else:  # the tables are gone, and the events are found among the bytes
        with story.raw() as raw:
            raw.execute("CHECKPOINT")
        data = bytearray(story.file.read_bytes())
        data[: 3 * 4096] = bytes(3 * 4096)
        story.file.write_bytes(data)
    seen = story.anchor_file().read_bytes()
    found = bring_back(story, source)
    assert found.erased == ("mem-secret",)
    assert "mem-secret" not in found.older
    if not readable:  # and again, as if the first one had died before its anchor was written
        story.anchor_file().write_bytes(seen)
        assert bring_back(story, source).missing_events == found.missing_events
    assert "mem-secret" not in ids(story)
    assert SECRET.encode() not in story.file.read_bytes()
    if not readable:
        assert [event.type for event in found.lost] == ["erased"]
    sound(story)


def test_a_persona_that_is_lost_is_not_stood_in_for(story: Store):
    source = back_up(story)
    with story.opened() as db, db.write(actor="hum-1") as tx:
        head = PersonaHeadRow(namespace="global", entity_id="alice", persona_id="per-3", version=3)
        row = memory("per-3", memory_kind="persona", memory_type="document", entity_id="alice", persona_version=3)
        record(tx, row, head, type="persona_generated")
    spoil(story, "per-3")
    assert bring_back(story, source).missing == ("per-3",)
    with story.opened() as db, db.read() as r:
        assert r.require(PersonaHeadRow, "global", "alice").persona_id is None
    sound(story)


@pytest.mark.parametrize(
    "edit",
    ["DELETE FROM state_entries", "DELETE FROM state_buckets", "UPDATE signed_events SET nodes = NULL"],
)
def test_what_is_derived_from_the_log_is_made_anew_without_any_loss(story: Store, edit: str):
    source = back_up(story)
    add(story, "mem-later")
    story.edit(edit)
    found = bring_back(story, source)
    assert (found.kept, found.missing, found.older, found.missing_events) == (1, (), (), None)
    sound(story)


def test_a_log_is_kept_as_far_as_it_verifies(story: Store):
    source = back_up(story)
    add(story, "mem-a", "mem-b", "mem-c")
    story.edit("UPDATE signed_events SET body = replace(body::TEXT, 'mem-b', 'mem-x')::BLOB WHERE sequence = 10")
    found = bring_back(story, source)
    assert (found.kept, found.missing_events, found.sequence) == (1, (10, 11), 10)
    assert "mem-a" in ids(story) and "mem-c" not in ids(story)
    sound(story)


def test_without_a_backup_a_store_keeps_what_its_log_proves(story: Store):
    add(story, "mem-later")
    spoil(story, "mem-1")
    story.edit("DELETE FROM state_buckets")
    found = bring_back(story, None)
    assert (found.backup_sequence, found.missing, found.missing_events) == (None, ("mem-1",), None)
    assert "mem-1" not in ids(story) and "mem-later" in ids(story)
    sound(story)


def test_without_a_backup_a_damaged_log_or_file_is_told_and_left(story: Store):
    with story.raw() as raw:
        raw.execute("CHECKPOINT")
    whole = story.file.read_bytes()
    story.edit("UPDATE signed_events SET signature = NULL WHERE sequence = 4")
    with pytest.raises(Integrity, match="event 4"):
        bring_back(story, None)
    story.file.write_bytes(whole[: len(whole) // 2])
    before = story.file.read_bytes()
    with pytest.raises(Integrity, match="nothing of it can be read"):
        bring_back(story, None)
    assert story.file.read_bytes() == before
    assert sorted(path.name for path in story.home.iterdir()) == ["keys", FILE, "memory.lock"]
    shutil.rmtree(story.home)
    with pytest.raises(NotFound):
        bring_back(story, None)


def test_a_whole_store_is_not_restored(story: Store):
    source = back_up(story)
    for given in (source, None):
        with pytest.raises(Conflict, match="lacks nothing"):
            bring_back(story, given)
    add(story, "mem-later")
    with pytest.raises(Conflict, match="lacks nothing"):
        bring_back(story, source)
    shutil.rmtree(story.state)
    with pytest.raises(Conflict, match="lacks nothing"):
        bring_back(story, source)


def test_a_backup_of_another_store_is_refused_until_it_is_meant(story: Store, tmp_path: Path):
    other = Store(tmp_path / "other")
    other.ids.count = 500
    other.create().close()
    source = back_up(other, with_keys=True)
    before = story.file.read_bytes()
    with pytest.raises(Conflict, match="holds store-"):
        bring_back(story, source)
    assert story.file.read_bytes() == before
    found = bring_back(story, source, other_store=True)
    assert found.set_aside is not None
    assert {path.name for path in found.set_aside.iterdir()} >= {FILE, "keys"}
    assert ids(story) == []
    sound(story)


@pytest.fixture(scope="module")
def packed(templates: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A backup with its keys."""
    store = Store(tmp_path_factory.mktemp("packed") / "store")
    shutil.copytree(templates["story"], store.root)
    yield back_up(store, with_keys=True)


def test_a_backup_that_was_changed_anywhere_is_refused(packed: Path, tmp_path: Path):
    whole = packed.read_bytes()
    chance = random.Random(17)
    for number in range(15):
        data = bytearray(whole)
        place = chance.randrange(10, len(data))  # the first ten bytes of the packing say nothing
        data[place] ^= 1 << chance.randrange(8)
        (tmp_path / "bad.backup").write_bytes(data)
        home = Store(tmp_path / f"store-{number}")
        try:
            bring_back(home, tmp_path / "bad.backup")
        except Integrity:
            assert not home.file.exists()
            assert not (home.home / "keys").exists()
        else:
            sound(home)


@pytest.mark.parametrize("length", [0, 1, 100, -1, -100])
def test_a_backup_that_was_cut_is_refused(packed: Path, tmp_path: Path, length: int):
    (tmp_path / "bad.backup").write_bytes(packed.read_bytes()[:length])
    with pytest.raises(Integrity):
        bring_back(Store(tmp_path / "store"), tmp_path / "bad.backup")


def test_only_a_plain_file_is_read_as_a_backup(packed: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(packed)
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "link", Unavailable), (tmp_path / "none", NotFound)):
        with pytest.raises(kind):
            bring_back(Store(tmp_path / "store"), path)
    with pytest.raises(Exception, match="is not a file"):
        bring_back(Store(tmp_path / "store"), tmp_path / "pipe")
    assert not Store(tmp_path / "store").file.exists()


def test_without_the_key_a_new_machine_reads_and_a_known_one_refuses(story: Store):
    source = back_up(story)
    away = Store(story.root.parent / "away")
    assert bring_back(away, source).sequence is None
    with away.opened() as db:
        assert db.situation is Situation.UNANCHORED
        with pytest.raises(Unavailable, match=r"store\.key is missing"):
            with db.write(actor="hum-1") as tx:
                record(tx, memory("mem-new"))
    add(story, "mem-later")
    shutil.rmtree(story.home)
    with pytest.raises(Unavailable, match="has to sign the restore") as caught:
        bring_back(story, source)
    assert "--keys" in caught.value.hint
    assert not story.file.exists()


def test_a_damaged_anchor_does_not_stop_a_restore(story: Store):
    source = back_up(story)
    spoil(story, "mem-1")
    story.anchor_file().write_text("{}")
    assert bring_back(story, source).anchor_unread
    sound(story)


def rotate(store: Store) -> None:
    with store.opened() as db, db.write(actor="hum-1") as tx:
        tx.rotate_key()


def test_a_store_whose_key_was_replaced_since_is_restored_with_the_new_one(story: Store):
    source = back_up(story)
    rotate(story)
    add(story, "mem-later")
    spoil(story, "mem-1")
    found = bring_back(story, source)
    assert (found.kept, found.missing, found.older_key) == (2, (), False)
    sound(story)


def test_where_the_rotation_is_lost_the_key_before_it_signs_again_if_the_backup_has_it(story: Store):
    bare, source = back_up(story, "bare.backup"), back_up(story, with_keys=True)
    old = story.key().public
    rotate(story)
    story.file.write_bytes(b"")
    story.wal.unlink(missing_ok=True)
    with pytest.raises(Unavailable, match="has to sign"):
        bring_back(story, bare)
    new = story.key().public
    found = bring_back(story, source)
    assert (found.older_key, found.missing_events) == (True, (9, 9))
    assert story.key().public == old != new
    assert found.set_aside is not None and (found.set_aside / "keys" / "store.key").exists()
    sound(story)
    rotate(story)
    sound(story)
