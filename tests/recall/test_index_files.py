"""The index survives what happens to its files: damage, copies, crashes, full and closed folders."""

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from substrate.errors import Unavailable
from substrate.recall import folder, index
from substrate.recall.state import State
from substrate.store.database import Database
from tests.memory.house import House
from tests.recall.encoder import WordVectors
from tests.recall.pond import ids, many, scores, stored


@pytest.mark.parametrize("name", ["manifest", "segment", "vectors"])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone", "foreign", "link", "newer"])
def test_a_damaged_index_is_built_anew(
    house: House, again: House, encoder: WordVectors, name: str, damage: str
) -> None:
    many(again, index.TAIL)
    index.of(again.db).encode(again.db, encoder)
    before = scores(again, "heron number 3")
    place = next((again.db.home / "index").glob(f"{name}*"))
    data = place.read_bytes()
    place.unlink()
    if damage == "link":
        place.symlink_to("/etc/hostname")
    elif damage != "gone":
        place.write_bytes(damaged(data, damage))
    index._open.pop(again.db)
    assert scores(again, "heron number 3") == before
    index.of(again.db).encode(again.db, encoder)
    state = index.Index(again.db).catch_up(again.db)
    assert sum(int(part.live.sum()) for part in state.parts) == index.TAIL
    assert sum(len(part.vectors) for part in state.vectors) == index.TAIL


def damaged(data: bytes, damage: str) -> bytes:
    middle = len(data) // 2
    return {
        "flip": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "cut": data[:middle],
        "empty": b"",
        "foreign": bytes(1000),
        "newer": data.replace(b"aimemix1", b"aimemix2", 1),
    }[damage]


def test_two_segments_put_in_each_other_s_place_are_noticed(house: House, again: House) -> None:
    many(again, 3 * index.TAIL)
    before = scores(again, "heron number 3")
    many(again, index.TAIL, "A stork.")
    ids(again, "heron")
    one, two = sorted((again.db.home / "index").glob("segment*"))
    held = one.read_bytes(), two.read_bytes()
    one.write_bytes(held[1])
    two.write_bytes(held[0])
    index._open.pop(again.db)
    assert [name for name, _ in scores(again, "heron number 3")] == [name for name, _ in before]


def test_an_old_copy_of_the_index_catches_up(house: House, again: House) -> None:
    secret = again.remember("The heron is called Quetzalcoatlus.")
    many(again, index.TAIL)
    ids(again, "heron")
    old = stored(again)
    again.forget(secret)
    many(again, index.TAIL, "A stork number {n}.")
    ids(again, "stork")
    folder.erase(again.db.home)
    for name, data in old.items():
        place = again.db.home / "index" / name
        place.parent.mkdir(mode=0o700, exist_ok=True)
        place.write_bytes(data)
    index._open.pop(again.db)
    assert ids(again, "Quetzalcoatlus") == []
    assert len(ids(again, "stork", max_hits=100)) == index.TAIL
    assert b"quetzalcoatl" not in b"".join(stored(again).values())


def test_the_index_of_another_store_is_not_believed(house: House, tmp_path: Path) -> None:
    many(house, index.TAIL)
    ids(house, "heron")
    other = Database.create(tmp_path / "other", state_dir=tmp_path / "state2", signed=False)
    follower = index.of(other)
    foreign = index.of(house.db)._state
    assert foreign.cursor > 0
    follower._state = foreign
    assert follower.catch_up(other).parts == ()
    other.close()


def test_a_log_that_ends_earlier_or_reads_otherwise_starts_the_index_over(house: House) -> None:
    many(house, 5)
    follower = index.of(house.db)
    state = follower.catch_up(house.db)
    for cursor, hash_ in ((state.cursor + 5, state.event_hash), (state.cursor, "0" * 64), (state.cursor - 1, "0" * 64)):
        follower._state = State(cursor=cursor, event_hash=hash_)
        assert len(ids(house, "heron", max_hits=100)) == 5


def test_what_a_crash_left_is_swept_and_never_read(house: House) -> None:
    many(house, index.TAIL)
    ids(house, "heron")
    place = house.db.home / "index"
    (place / "segment-0123456789abcdef").write_bytes(b"half written")
    (place / ".manifest.0123.new").write_bytes(b"half written")
    (place / "notes").mkdir()
    many(house, index.TAIL)
    assert len(ids(house, "heron", max_hits=100)) == 100
    assert "segment-0123456789abcdef" not in os.listdir(place)
    assert ".manifest.0123.new" not in os.listdir(place)


@contextmanager
def no_room(left: int = 64) -> Iterator[None]:
    """Let no file of this process grow beyond some bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_leaves_recall_working_from_memory(house: House) -> None:
    many(house, index.TAIL)
    ids(house, "heron")
    before = stored(house)
    many(house, index.TAIL)
    with no_room():
        assert len(ids(house, "heron", max_hits=100)) == 100
    assert stored(house) == before
    many(house, 1)
    assert len(ids(house, "stood", max_hits=100)) == 100
    assert len(stored(house)) == 3


def test_forgotten_text_leaves_even_a_full_disk(house: House) -> None:
    secret = house.remember("The heron is called Quetzalcoatlus.")
    many(house, index.TAIL)
    ids(house, "heron")
    house.forget(secret)
    with no_room():
        assert len(ids(house, "heron", max_hits=100)) == index.TAIL
    assert stored(house) == {}


def test_a_read_only_store_is_indexed_in_memory(house: House) -> None:
    many(house, index.TAIL)
    house.db.read_only = True
    assert len(ids(house, "heron", max_hits=100)) == index.TAIL
    assert stored(house) == {}


def test_an_unsigned_store_keeps_a_key_of_its_own_in_the_folder(tmp_path: Path) -> None:
    db = Database.create(tmp_path / "home", state_dir=tmp_path / "state", signed=False)
    key = folder.index_key(db.home)
    assert key == folder.index_key(db.home)
    assert (db.home / "index" / "key").stat().st_mode & 0o777 == 0o600
    db.close()


def test_where_no_key_can_be_kept_the_process_has_its_own(tmp_path: Path) -> None:
    with no_room(16):
        assert len(folder.index_key(tmp_path / "home")) == 32
    assert not (tmp_path / "home" / "index" / "key").exists()


def test_a_folder_that_others_can_write_is_refused(house: House) -> None:
    from substrate.errors import Integrity

    place = house.db.home / "index"
    place.mkdir()
    place.chmod(0o777)
    many(house, index.TAIL)
    with pytest.raises(Integrity):
        ids(house, "heron")


def test_erasing_what_cannot_be_erased_says_so(house: House) -> None:
    place = house.db.home / "index"
    place.symlink_to(house.db.home)
    folder.erase(house.db.home)
    assert not place.is_symlink()
    place.write_text("a file, not a folder")
    with pytest.raises(Unavailable):
        folder.erase(house.db.home)
