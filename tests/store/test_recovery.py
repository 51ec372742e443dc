"""When a store and this machine's anchor disagree, a person decides, and the decision is in the log."""

import shutil

import pytest

from audit.anchor import Situation
from substrate.errors import Conflict, Integrity
from substrate.store import recovery
from substrate.store.model import MemoryRow
from tests.store.attacks import ON_ONE_ROW, add
from tests.store.stores import Store, refused


def last_event(store: Store) -> tuple[str, str, dict[str, object]]:
    with store.opened() as db, db.read() as r:
        event = r.events()[-1]
        return event.type, event.actor, event.payload


def test_a_verification_that_finds_nothing_is_remembered_in_the_anchor(story: Store):
    report = recovery.verify(story.home, state_dir=story.state)
    assert report.ok
    first = story.anchor().verified_at
    assert first is not None
    with story.opened() as db:
        add(db, "mem-later")
    assert story.anchor().verified_at == first
    ON_ONE_ROW["text edited"](story)
    assert not recovery.verify(story.home, state_dir=story.state).ok
    assert story.anchor().verified_at == first
    shutil.rmtree(story.state)
    assert not recovery.verify(story.home, state_dir=story.state).anchored
    assert not story.state.exists()


def test_a_store_that_is_new_to_this_machine_is_adopted(story: Store):
    with story.opened() as db, db.connection() as connection:
        note = db.ledger.checkpoint(connection)
    shutil.rmtree(story.state)
    number = recovery.adopt(story.home, "hum-1", story.clock, note=note, state_dir=story.state)
    assert story.anchor().sequence == number == 9
    with story.opened() as db:
        assert db.situation is Situation.OK
        add(db, "mem-later")
    with story.opened() as db, db.read() as r:
        event = r.events(types=["checkpoint_adopted"])[0]
    assert (event.actor, event.payload) == ("hum-1", {"by": "hum-1", "size": 8})


def test_adopting_without_a_checkpoint_is_possible_and_says_so(story: Store):
    shutil.rmtree(story.state)
    recovery.adopt(story.home, "hum-1", story.clock, state_dir=story.state)
    assert last_event(story) == ("checkpoint_adopted", "hum-1", {"by": "hum-1", "size": None})


def test_a_store_that_is_behind_a_checkpoint_or_an_anchor_or_damaged_is_not_adopted(story: Store):
    earlier = story.copy_home("earlier")
    with story.opened() as db, db.connection() as connection:
        add(db, "mem-later")
        note = db.ledger.checkpoint(connection)
    before = earlier.file.read_bytes()
    with pytest.raises(Integrity):
        recovery.adopt(earlier.home, "hum-1", earlier.clock, state_dir=earlier.state)
    apart = earlier.copy("apart")
    shutil.rmtree(apart.state)
    with pytest.raises(Integrity):
        recovery.adopt(apart.home, "hum-1", apart.clock, note=note, state_dir=apart.state)
    ON_ONE_ROW["text edited"](apart)
    with pytest.raises(Integrity):
        recovery.adopt(apart.home, "hum-1", apart.clock, state_dir=apart.state)
    assert earlier.file.read_bytes() == before


def test_what_a_rolled_back_store_has_lost_is_told_by_number(story: Store):
    earlier = story.copy_home("earlier")
    with story.opened() as db:
        add(db, "mem-a", "mem-b")
    loss = recovery.loss(earlier.home, state_dir=earlier.state)
    assert (loss.situation, loss.sequence, loss.anchored, loss.events) == ("behind", 8, 10, (9, 10))
    assert recovery.loss(story.home, state_dir=story.state).events is None


def test_rows_that_do_not_hold_are_told_by_id(story: Store):
    ON_ONE_ROW["text edited"](story)
    ON_ONE_ROW["deleted"](story)
    story.edit("UPDATE memories SET title = 'x' WHERE id = 'per-1'")
    loss = recovery.loss(story.home, state_dir=story.state)
    assert (loss.situation, sorted(loss.rows)) == ("ok", ["mem-1", "per-1"])


def test_an_accepted_rollback_is_in_the_log_and_the_store_goes_on(story: Store):
    earlier = story.copy_home("earlier")
    with story.opened() as db:
        add(db, "mem-a", "mem-b")
    refused(earlier, lambda r: r.head)
    recovery.accept_rollback(earlier.home, "hum-1", earlier.clock, state_dir=earlier.state)
    assert last_event(earlier) == ("rollback_accepted", "hum-1", {"by": "hum-1", "from_sequence": 10, "to_sequence": 8})
    with earlier.opened() as db:
        add(db, "mem-c")
        with db.read() as r:
            assert r.get(MemoryRow, "mem-a") is None
    assert refused(story, lambda r: r.head).details["situation"] == "diverged"
    recovery.accept_rollback(story.home, "hum-1", story.clock, state_dir=story.state)
    with story.opened() as db, db.read() as r:
        assert r.get(MemoryRow, "mem-a") is not None


def test_a_rollback_of_a_whole_store_or_over_damage_is_not_accepted(story: Store):
    with pytest.raises(Conflict, match="nothing was rolled back"):
        recovery.accept_rollback(story.home, "hum-1", story.clock, state_dir=story.state)
    earlier = story.copy_home("earlier")
    with story.opened() as db:
        add(db, "mem-a")
    ON_ONE_ROW["text edited"](earlier)
    with pytest.raises(Integrity, match="mem-1"):
        recovery.accept_rollback(earlier.home, "hum-1", earlier.clock, state_dir=earlier.state)


def test_a_fork_lets_a_copy_and_its_original_both_go_on(story: Store):
    twin = story.copy_home("twin")
    with story.opened() as db:
        original = db.store_id
    recovery.fork(twin.home, "hum-1", twin.clock, "store-twin", state_dir=twin.state)
    for _ in range(2):
        for store, id in ((twin, "store-twin"), (story, original)):
            with store.opened() as db:
                assert (db.store_id, db.situation) == (id, Situation.OK)
                add(db, f"mem-{id}")
    for store in (twin, story):
        assert recovery.verify(store.home, state_dir=store.state).ok
    with twin.opened() as db, db.read() as r:
        (forked,) = r.events(types=["store_forked"])
        assert forked.store_id == original
        assert r.events()[-1].store_id == "store-twin"


def test_a_damaged_store_is_not_forked(story: Store):
    ON_ONE_ROW["text edited"](story)
    with pytest.raises(Integrity, match="mem-1"):
        recovery.fork(story.home, "hum-1", story.clock, "store-twin", state_dir=story.state)


def test_a_process_that_has_the_store_open_follows_a_fork(story: Store):
    with story.opened() as db:
        db.close()
        recovery.fork(story.home, "hum-1", story.clock, "store-twin", state_dir=story.state)
        add(db, "mem-later")
        assert db.store_id == "store-twin"


def test_a_decision_that_cannot_be_written_changes_nothing(story: Store):
    def clock() -> str:
        return "not a time"

    before = story.edit("SELECT count(*) FROM signed_events")
    with pytest.raises(Exception, match="time"):
        recovery.fork(story.home, "hum-1", clock, "store-twin", state_dir=story.state)
    assert story.edit("SELECT count(*) FROM signed_events") == before
    with story.opened() as db:
        assert db.store_id != "store-twin"
