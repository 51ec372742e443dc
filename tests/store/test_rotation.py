"""The store's key is replaced by another: whole or not at all, and the old one signs nothing any more."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from audit import checkpoint, independent, keys, proof
from audit.anchor import Situation
from audit.errors import Integrity, Unavailable
from audit.event import Event, body, event_hash
from audit.export import verify_export, write_export
from substrate.actions import audit as actions
from substrate.actions import scopes
from substrate.errors import Forbidden
from substrate.home import Memory
from substrate.memory import memories
from substrate.recall import index
from substrate.store import recovery
from substrate.store.database import Database
from substrate.store.epochs import begin, followed
from substrate.store.log import iterate_events
from substrate.store.model import MemoryRow
from tests.store import forgery
from tests.store.rows import memory, record
from tests.store.stores import Store
from tests.store.test_crashes import left_by, write_once


def rotate(db: Database) -> int:
    with db.write(actor="hum-1") as tx:
        return tx.rotate_key()


def add(db: Database, *ids: str) -> None:
    for id in ids:
        with db.write(actor="hum-1") as tx:
            record(tx, memory(id))


def seeds(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((store.home / "keys").iterdir())}


def verified(store: Store, *notes: str) -> list[str]:
    return [fault.message for fault in recovery.verify(store.home, state_dir=store.state, notes=notes).faults]


def exported(db: Database) -> list[bytes]:
    with db.connection() as connection:
        note = db.ledger.checkpoint(connection)
        return list(write_export(iterate_events(connection), db.store_id, db.ledger.genesis_key, note))


@pytest.fixture
def rotated(story: Store) -> tuple[Store, keys.Key, list[str]]:
    """A store on its second key; its first one, as somebody kept it; a checkpoint from under each."""
    old, notes = story.key(), []
    with story.opened() as db:
        for _ in range(2):
            with db.connection() as connection:
                notes.append(db.ledger.checkpoint(connection))
            if db.ledger.public_key == old.public:
                rotate(db)
            add(db, f"mem-{len(notes)}0")
    return story, old, notes


def test_a_new_key_signs_from_the_next_event_on_and_the_old_seed_is_gone(story: Store):
    old, before = story.key(), seeds(story)
    with story.opened() as db:
        number = rotate(db)
        add(db, "mem-a")
        new = db.ledger.key
        with db.read() as r:
            signers = {event.seq: (event.epoch, event.key_id) for event in r.events()}
            assert r.key_id == new.key_id
    assert new.public != old.public
    assert (signers[number], signers[number + 1]) == ((1, old.key_id), (2, new.key_id))
    assert story.key().public == new.public
    assert seeds(story).keys() == before.keys()
    assert not set(seeds(story).values()) & {before["store.key"], bytes(32)}
    assert verified(story) == []
    write_once(story)


def test_a_store_is_opened_after_any_number_of_rotations(story: Store):
    notes = []
    for number in range(4):
        with story.opened() as db:
            assert db.situation is Situation.OK
            assert [epoch.number for epoch in db.ledger.epochs] == list(range(1, number + 2))
            for _ in range(number):  # the log ends with a rotation the first time, with others later
                add(db, f"mem-{number}{_}")
            rotate(db)
            with db.connection() as connection:
                notes.append(db.ledger.checkpoint(connection))
            lines = exported(db)
            assert verify_export(lines)[0] == []
            assert independent.verify(lines) == ""
    assert verified(story, *notes) == []
    write_once(story)


def test_a_store_without_a_key_gets_its_first_by_rotation(tmp_path: Path):
    store = Store(tmp_path / "unsigned")
    db = store.create(signed=False)
    with db.connection() as connection:
        unsigned = db.ledger.checkpoint(connection)
    add(db, "mem-1")
    rotate(db)
    add(db, "mem-2")
    with db.read() as r:
        assert r.signed
        assert [event.key_id is None for event in r.events()] == [True, True, True, False]
    lines = exported(db)
    assert verify_export(lines)[0] == []
    assert independent.verify(lines) == ""
    db.close()
    assert verified(store, unsigned) == []
    write_once(store)


def test_a_process_that_had_the_store_open_goes_on_with_the_new_key(story: Store):
    one, two = story.open(), story.open()
    add(one, "mem-a")
    one.close()  # lets go of the file, not of what it knows
    rotate(two)
    add(two, "mem-b")
    two.close()
    add(one, "mem-c")
    one.close()
    assert verified(story) == []
    rotate(one)
    one.close()
    add(two, "mem-d")
    two.close()
    assert verified(story) == []


def test_a_rotation_that_dies_leaves_the_old_key_or_the_new_one(story: Store, tmp_path: Path):
    old, seen = story.key().public, Counter()
    for store in left_by("rotate", story.root, tmp_path / "runs", step=1):
        with store.opened() as db:
            assert db.situation is Situation.OK
            public, number = db.ledger.public_key, len(db.ledger.epochs)
        assert {name for name in seeds(store) if not name.endswith(".new")} == {"store.key"}
        assert store.key().public == public
        assert (public == old) == (number == 1)
        seen[number] += 1
        write_once(store)
        with store.opened() as db:
            rotate(db)
        assert seeds(store).keys() == {"store.key"}
        assert verified(store) == []
    assert seen[1] > 5
    assert seen[2] > 5


def test_a_rotation_that_fails_leaves_the_old_key(story: Store):
    before = seeds(story)
    with story.opened() as db:
        with pytest.raises(ZeroDivisionError), db.write(actor="hum-1") as tx:
            tx.rotate_key()
            raise ZeroDivisionError
        assert seeds(story) == before
        add(db, "mem-a")
        rotate(db)
    assert verified(story) == []


def test_the_old_seed_stays_until_the_rotation_is_anchored(story: Store, monkeypatch: pytest.MonkeyPatch):
    before = seeds(story)

    def full(*_: object) -> None:
        raise Unavailable("no space")

    with story.opened() as db:
        with monkeypatch.context() as patch, pytest.raises(Unavailable):
            patch.setattr("audit.anchor.write", full)
            rotate(db)
        assert seeds(story)["store.key"] == before["store.key"]
        assert "store.key.next" in seeds(story)
    with story.opened() as db:
        assert len(db.ledger.epochs) == 2
        add(db, "mem-a")
    assert seeds(story).keys() == before.keys()
    assert before["store.key"] not in seeds(story).values()
    assert verified(story) == []


def test_a_key_that_was_never_put_in_force_is_dropped_where_the_log_is_known_to_be_the_newest(story: Store):
    keys.create(story.home / "keys" / "store.key.next")
    shutil.move(story.state, story.root / "kept")
    with story.opened() as db:
        assert db.situation is Situation.UNANCHORED
    assert "store.key.next" in seeds(story)
    shutil.rmtree(story.state, ignore_errors=True)
    shutil.move(story.root / "kept", story.state)
    with story.opened():
        assert seeds(story).keys() == {"store.key"}


def test_a_copy_from_before_a_rotation_cannot_go_on_with_the_new_key(story: Store):
    earlier = story.copy("earlier")
    with story.opened() as db:
        rotate(db)
    shutil.copy(earlier.file, story.file)
    with pytest.raises(Integrity):
        story.open()
    shutil.rmtree(story.state)
    with pytest.raises(Integrity, match="not the key of this store") as caught:
        story.open()
    assert "before a rotation" in caught.value.hint


def forge(raw: forgery.Connection, key: keys.Key, **fields: object) -> Event:
    """Append an event to the log with a key that is not in force, and nothing else."""
    last = forgery.events(raw)[-1]
    fields = {"type": "pass_ended", "payload": {}, "commits": (), **fields}
    event = replace(last, seq=last.seq + 1, prev=event_hash(body(last)), **fields)
    forgery.write_event(raw, event, key)
    return event


@pytest.mark.parametrize("epoch", [1, 2])
def test_the_old_key_signs_no_later_event(rotated: tuple[Store, keys.Key, list[str]], epoch: int):
    store, old, _ = rotated
    with store.opened() as db:
        with db.read() as r:
            head = r.head.sequence
        db.close()
        with store.raw() as raw:
            forge(raw, old, epoch=epoch)
        with pytest.raises(Integrity, match="is not signed by this store's key"), db.read() as r:
            r.events()
    with pytest.raises(Integrity, match=rf"event {head + 1} is not signed|event {head} is not signed"):
        store.open()
    assert verified(store)


def test_hiding_the_rotation_does_not_bring_the_old_key_back(rotated: tuple[Store, keys.Key, list[str]]):
    """The thief of an old seed lets every event look like one of its epoch; the anchor was signed by the new key."""
    store, old, _ = rotated
    with store.raw() as raw:
        forge(raw, old, epoch=1)
        raw.execute("UPDATE signed_events SET key_id = ?", [old.key_id])
    with pytest.raises(Integrity, match="does not fit the keys of this log"):
        store.open()


def test_a_rotation_of_the_thiefs_own_is_refused(rotated: tuple[Store, keys.Key, list[str]]):
    store, old, _ = rotated
    thief = keys.Key(SigningKey(b"\x09" * 32))
    with store.raw() as raw:
        log = forgery.events(raw)
        (place,) = [event for event in log if event.type == "key_rotated"]
        payload = keys.rotation(place.store_id, 2, old.public, thief)
        prev = forgery.write_event(raw, replace(place, payload=payload), old)
        for event in log[place.seq :]:
            prev = forgery.write_event(raw, replace(event, prev=prev), thief)
    (store.home / "keys" / "store.key").unlink()
    with pytest.raises(Integrity, match=r"not an extension|does not fit"):
        store.open()


def test_an_event_of_another_key_that_no_rotation_precedes_is_named(story: Store):
    with story.raw() as raw:
        event = forge(raw, forgery.STRANGER)
    with pytest.raises(Integrity, match=f"event {event.seq} is signed by another key"):
        story.open()


def test_an_older_rotation_and_a_key_of_the_past_put_nothing_in_force(story: Store):
    first, second, third = (keys.Key(SigningKey(bytes([n]) * 32)) for n in (1, 2, 3))
    with story.opened() as db, db.read() as r:
        template = r.events()[-1]

    def turn(payload: dict[str, object]) -> Event:
        return replace(template, type="key_rotated", payload=payload)

    to_second = keys.rotation(template.store_id, 2, first.public, second)
    epochs = followed(begin(first.public), turn(to_second))
    epochs = followed(epochs, turn(keys.rotation(template.store_id, 3, second.public, third)))
    assert [epoch.public for epoch in epochs] == [first.public, second.public, third.public]
    for payload in (
        to_second,
        to_second | {"epoch": 4},
        keys.rotation("store-other", 4, third.public, keys.Key(SigningKey(b"\x04" * 32))),
        keys.rotation(template.store_id, 5, third.public, keys.Key(SigningKey(b"\x04" * 32))),
        keys.rotation(template.store_id, 4, second.public, keys.Key(SigningKey(b"\x04" * 32))),
        keys.rotation(template.store_id, 4, third.public, first),
        {},
    ):
        with pytest.raises(Integrity, match="puts no new key in force"):
            followed(epochs, turn(payload))


def test_a_checkpoint_is_good_by_the_key_of_its_time_alone(rotated: tuple[Store, keys.Key, list[str]]):
    store, old, notes = rotated
    assert verified(store, *notes) == []
    late = checkpoint.sign(checkpoint.parse(notes[1], None), old)
    (fault,) = verified(store, late)
    assert "not signed by the key of this log at that size" in fault
    early = checkpoint.sign(checkpoint.parse(notes[0], None), store.key())
    assert len(verified(store, early)) == 1
    with store.opened() as db:
        lines = exported(db)
        with db.connection() as connection:
            rows = list(iterate_events(connection))
    for note in (late, early):
        spoilt = list(write_export(rows[: checkpoint.parse(note, None).size], db.store_id, old.public, note))
        assert independent.verify(spoilt) == "a checkpoint is not signed by the key of its time"
        assert [fault.kind for fault in verify_export(spoilt)[0]] == ["checkpoint"]
    assert independent.verify(lines) == ""


def test_a_human_who_may_set_the_policy_of_all_rotates_and_proofs_hold_on_both_sides(tmp_path: Path):
    human = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="ann")
    try:
        first = human.db.ledger.public_key
        with human.write() as tx:
            before = memories.remember(tx, human.caller, "The lock was old.").id
        index.of(human.db).catch_up(human.db)
        answer = actions.rotate(human)
        with human.write() as tx:
            after = memories.remember(tx, human.caller, "The lock is new.").id
        listed = actions.keys(human)["epochs"]
        assert [row["public_key"] for row in listed] == [first, answer["public_key"]]
        assert listed[1] == {
            "epoch": 2,
            "public_key": answer["public_key"],
            "key_id": answer["key_id"],
            "from_sequence": answer["sequence"] + 1,
        }
        assert actions.status(human)["epoch"] == 2
        for id in (before, after, str(answer["sequence"])):
            made = actions.prove(human, id=id)["proof"]
            assert proof.check(made, pinned_key=answer["public_key"]).ok
            assert not proof.check(made, pinned_key=first).ok
        assert independent.verify(line.encode() + b"\n" for line in actions.exported(human)["lines"]) == ""
    finally:
        human.close()


def test_an_agent_does_not_rotate(tmp_path: Path):
    human = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="ann")
    try:
        scopes.who_add(human, kind="agent", handle="scout")
        with pytest.raises(Forbidden):
            actions.rotate(human.as_("scout"))
        assert len(human.db.ledger.epochs) == 1
    finally:
        human.close()


def test_a_fork_after_a_rotation_goes_on_with_the_key_in_force(rotated: tuple[Store, keys.Key, list[str]]):
    store, _, _ = rotated
    twin = store.copy("twin")
    recovery.fork(twin.home, "hum-1", twin.clock, "store-twin", state_dir=twin.state)
    with twin.opened() as db:
        rotate(db)
        add(db, "mem-a")
        with db.read() as r:
            assert r.require(MemoryRow, "mem-a")
        assert independent.verify(exported(db)) == ""
    assert verified(twin) == []
