"""A log that was cut, replaced, rewritten or rolled back opens nothing."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from audit.anchor import Situation
from audit.merkle import inclusion_path, leaf_hash, verify_inclusion
from substrate.errors import AiMemoryError, Conflict, Integrity, NotFound, Unavailable
from substrate.store.inspection import inspect
from substrate.store.log import iterate_events, node_reader
from substrate.store.model import MemoryRow
from tests.store import forgery
from tests.store.attacks import LOGS, Attack, add
from tests.store.stores import Store, refused


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("attack", LOGS.values(), ids=LOGS)
def test_a_log_that_was_changed_opens_nothing_and_verification_names_why(story: Store, attack: Attack):
    anchored = story.anchor().store_id
    attack(story)
    for _ in range(2):
        assert refused(story, lambda r: r.head).hint
    report = inspect(story.home, state_dir=story.state)
    assert report.faults or report.store_id != anchored
    assert all(fault.kind and fault.message for fault in report.faults)


@pytest.mark.requirement("S3-15")
def test_yesterdays_copy_of_the_folder_is_behind_and_says_so(story: Store):
    yesterday = story.copy_home("yesterday")
    with story.opened() as db:
        add(db, "mem-today")
    error = refused(yesterday, lambda r: r.head)
    assert error.details["situation"] == "behind"
    assert "audit recover" in error.hint


@pytest.mark.requirement("S3-15")
def test_a_copy_that_goes_on_by_itself_and_its_original_are_never_both_accepted(story: Store):
    twin = story.copy_home("twin")
    with story.opened() as db, twin.opened() as other:
        add(other, "mem-twin")
        for attempt in range(2):
            with pytest.raises(Integrity) as caught:
                add(db, f"mem-original-{attempt}")
            assert caught.value.details["situation"] == "behind"
        add(other, "mem-twin-2")
    assert refused(story, lambda r: r.head).details["situation"] == "behind"
    with twin.opened() as other, other.read() as r:
        assert r.get(MemoryRow, "mem-twin-2") is not None


def test_two_copies_that_both_went_on_have_diverged(story: Store):
    twin = story.copy("twin")
    with story.opened() as db, twin.opened() as other:
        add(db, "mem-a")
        add(other, "mem-b")
    shutil.copyfile(twin.file, story.file)
    assert refused(story, lambda r: r.head).details["situation"] == "diverged"
    with twin.opened() as other:
        add(other, "mem-c")
    shutil.copyfile(twin.file, story.file)
    assert refused(story, lambda r: r.head).details["situation"] == "diverged"


def test_a_process_that_has_seen_more_refuses_a_file_that_was_rolled_back_without_an_anchor(story: Store):
    earlier = story.copy("earlier")
    shutil.rmtree(story.state)
    db = story.open()
    assert db.situation is Situation.UNANCHORED
    add(db, "mem-1-more", "mem-2-more")
    db.close()
    shutil.copyfile(earlier.file, story.file)
    with pytest.raises(Integrity, match="this process has seen event"), db.read():
        raise AssertionError("unreachable")


def test_a_process_refuses_a_file_whose_history_changed_under_it_without_an_anchor(story: Store):
    twin = story.copy("twin")
    shutil.rmtree(story.state)
    db = story.open()
    add(db, "mem-a")
    db.close()
    with twin.opened() as other:
        add(other, "mem-b", "mem-c")
    shutil.copyfile(twin.file, story.file)
    with pytest.raises(Integrity, match="was replaced"), db.read():
        raise AssertionError("unreachable")


def test_a_process_refuses_new_events_that_do_not_follow_each_other(story: Store):
    shutil.rmtree(story.state)
    db = story.open()
    db.close()
    with story.opened() as other:
        add(other, "mem-a", "mem-b")
    with story.raw() as raw:
        last = forgery.events(raw)[-1]
        forgery.write_event(raw, replace(last, prev="ab" * 32), story.key())
    with pytest.raises(Integrity, match="does not follow"), db.read():
        raise AssertionError("unreachable")


def test_a_log_ahead_of_its_anchor_by_genuine_events_is_anchored_anew(story: Store):
    """As after a crash between the commit and the anchor, or writes of another machine."""
    anchor = story.anchor_file().read_bytes()
    with story.opened() as db:
        add(db, "mem-a", "mem-b")
        head = db.ledger.head
    story.anchor_file().write_bytes(anchor)
    with story.opened() as db:
        assert db.situation is Situation.OK
        add(db, "mem-c")
    assert head is not None
    assert story.anchor().sequence == head.sequence + 1


def test_a_log_ahead_of_its_anchor_by_an_event_nobody_signed_is_refused(story: Store):
    anchor = story.anchor_file().read_bytes()
    with story.opened() as db:
        add(db, "mem-a", "mem-b")
    story.anchor_file().write_bytes(anchor)
    with story.raw() as raw:
        forgery.write_event(raw, forgery.events(raw)[-2], None)
    assert "is not signed" in str(refused(story, lambda r: r.head))


def test_without_an_anchor_a_store_works_and_says_so(story: Store):
    shutil.rmtree(story.state)
    with story.opened() as db:
        assert db.situation is Situation.UNANCHORED
        add(db, "mem-a")
        assert db.situation is Situation.UNANCHORED
        assert not story.state.exists()
        with db.connection() as connection:
            db.ledger.adopt(connection, verified_at=db.clock())
        assert db.situation is Situation.OK
        add(db, "mem-b")
    assert story.anchor().verified_at == story.clock()


ANCHORS: dict[str, Attack] = {
    "of another store": lambda store: _change_anchor(store, store_id="store-other"),
    "malformed": lambda store: store.anchor_file().write_text("{}"),
    "empty": lambda store: store.anchor_file().write_text(""),
    "with a field that is none": lambda store: _change_anchor(store, sequence=-1),
    "with another genesis key": lambda store: _change_anchor(store, genesis_key="ab" * 32),
    "writable by others": lambda store: store.anchor_file().chmod(0o666),
    "a folder": lambda store: [
        store.anchor_file().unlink(),
        (store.state / "anchors" / _name(store)).mkdir(mode=0o700),
    ],
}


def _name(store: Store) -> str:
    with store.raw() as raw:
        return f"{forgery.events(raw)[0].store_id}.json"


def _change_anchor(store: Store, **fields: object) -> None:
    path = store.anchor_file()
    document = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps(document, separators=(",", ":"), sort_keys=True))


@pytest.mark.parametrize("attack", ANCHORS.values(), ids=ANCHORS)
def test_an_anchor_that_does_not_hold_opens_nothing(story: Store, attack: Attack):
    attack(story)
    with pytest.raises(AiMemoryError) as caught:
        story.open()
    assert isinstance(caught.value, Integrity | Unavailable)


def test_a_tree_that_was_changed_is_signed_over_by_nobody(story: Store):
    """No read needs the tree; a checkpoint over a false one would be believed for ever."""
    story.edit("UPDATE signed_events SET nodes = unhex(repeat('0', 256))")
    for attempt in range(2):
        with story.opened() as db:
            with pytest.raises(Integrity, match="tree"):
                add(db, f"mem-{attempt}-new")
            with db.read() as r:
                assert r.get(MemoryRow, "mem-1") is not None
    story.edit("UPDATE signed_events SET nodes = NULL")
    with story.opened() as db, pytest.raises(Integrity, match="tree"):
        add(db, "mem-new")


def test_events_that_were_changed_are_not_shown(story: Store):
    """The head is untouched, so the store opens; what is read of the log is held against it."""
    with story.raw() as raw:
        forgery.write_event(raw, replace(forgery.events(raw)[3], subject="mem-2"), None)
    with story.opened() as db, db.read() as r:
        assert r.get(MemoryRow, "mem-1") is not None
        for read in (
            lambda: r.events(),
            lambda: r.events(subject="mem-2"),
            lambda: r.events(after=2, types=["no"]),
            lambda: r.events(after=3, limit=1),
        ):
            with pytest.raises(Integrity):
                read()
        assert [event.seq for event in r.events(after=5, limit=1)] == [6]


def test_events_that_were_removed_under_an_open_process_are_missed(story: Store):
    with story.opened() as db:
        with db.connection() as connection:
            connection.run("DELETE FROM signed_events WHERE sequence = 4")
        with db.read() as r:
            for read in (lambda: r.events(), lambda: r.events(after=3)):
                with pytest.raises(Integrity, match="does not follow"):
                    read()
        with db.connection() as connection:
            connection.run("DELETE FROM signed_events WHERE sequence > 4")
        with db.read() as r, pytest.raises(Integrity, match="not those of this log"):
            r.events(after=4)


def test_the_tree_in_the_file_proves_every_event(story: Store):
    with story.opened() as db, db.connection() as connection:
        tree, nodes = db.ledger.frontier(connection), node_reader(connection)
        for sequence, body, _, _ in iterate_events(connection, page=3):
            path = inclusion_path(sequence - 1, tree.size, nodes)
            assert verify_inclusion(leaf_hash(body), sequence - 1, tree.size, path, tree.root())
        with pytest.raises(Integrity, match="lacks node"):
            nodes(0, 99)


def test_without_its_key_a_store_is_read_and_not_written(story: Store):
    key = story.home / "keys" / "store.key"
    kept = key.read_bytes()
    key.unlink()
    with story.opened() as db:
        with db.read() as r:
            assert r.key_id is None
            assert r.get(MemoryRow, "mem-1") is not None
        with pytest.raises(Unavailable, match=r"store\.key is missing"):
            add(db, "mem-new")
        with db.read() as r:
            assert r.get(MemoryRow, "mem-new") is None
    key.write_bytes(kept)
    key.chmod(0o600)
    with story.opened() as db:
        add(db, "mem-new")


@pytest.mark.parametrize("seed", [b"\x07" * 32, b"", b"\x07" * 33], ids=["another key", "empty", "too long"])
def test_another_key_in_the_place_of_the_stores_own_opens_nothing(story: Store, seed: bytes):
    path = story.home / "keys" / "store.key"
    path.write_bytes(seed)
    with pytest.raises(Integrity):
        story.open()


def test_a_store_without_a_key_is_chained_and_anchored_too(tmp_path: Path):
    store = Store(tmp_path / "unsigned")
    db = store.create(signed=False)
    add(db, "mem-1", "mem-2")
    with db.read() as r:
        assert (r.signed, r.key_id) == (False, None)
        assert [event.key_id for event in r.events()] == [None] * 3
    db.close()
    earlier = store.copy_home("earlier")
    with store.opened() as db:
        add(db, "mem-3")
    assert refused(earlier, lambda r: r.head).details["situation"] == "behind"
    store.edit("UPDATE signed_events SET signature = 'x'::BLOB")
    assert "is not signed" in str(refused(store, lambda r: r.head))


def test_an_unsigned_store_is_not_made_beside_a_key(tmp_path: Path):
    store = Store(tmp_path / "store")
    store.create().close()
    store.file.unlink()
    with pytest.raises(Conflict, match=r"store\.key"):
        store.create(signed=False)
    with pytest.raises(NotFound):
        store.open()
    store.create().close()
