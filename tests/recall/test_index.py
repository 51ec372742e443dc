"""The index follows the log, takes part with other processes, and lets go of what was forgotten."""

import subprocess
import sys

import pytest

from substrate.errors import Unavailable
from substrate.recall import folder, index
from substrate.recall.recall import recall
from substrate.recall.state import PARTS
from substrate.store.database import Database
from tests.memory.house import House
from tests.recall.encoder import WordVectors
from tests.recall.pond import WORDS, ids, many, scores, stored


def test_a_few_new_memories_are_held_in_memory_and_many_are_written(house: House) -> None:
    many(house, index.TAIL - 1)
    assert len(ids(house, "heron", max_hits=100)) == index.TAIL - 1
    assert stored(house) == {}
    many(house, 1)
    ids(house, "heron")
    assert len(stored(house)) == 2
    assert all((house.db.home / "index" / name).stat().st_mode & 0o777 == 0o600 for name in stored(house))
    assert (house.db.home / "index").stat().st_mode & 0o777 == 0o700


def test_a_second_process_reads_what_the_first_one_wrote(house: House, again: House) -> None:
    many(again, index.TAIL)
    before = scores(again, "heron number 5")
    files = stored(again)
    other = Database.open(again.db.home, state_dir=again.db.home.parent / "state")
    follower = index.of(other)
    state = follower.catch_up(other)
    assert state.published == state.cursor
    assert [part.file for part in state.parts] == [name for name in files if name.startswith("segment")]
    found = recall(other, again.ann, "heron number 5", arms=WORDS, max_hits=100, chars=100_000)
    assert [(hit.memory.id, hit.score) for hit in found.hits] == before
    other.close()


def test_the_state_is_the_same_object_while_nothing_happens(house: House) -> None:
    many(house, 3)
    follower = index.of(house.db)
    assert follower.catch_up(house.db) is follower.catch_up(house.db)
    assert follower.corpus(follower.catch_up(house.db)) is follower.corpus(follower.catch_up(house.db))
    assert index.of(house.db) is follower


def test_events_that_touch_no_memory_move_the_cursor_alone(house: House) -> None:
    many(house, index.TAIL)
    first = index.of(house.db).catch_up(house.db)
    row = house.remember("One more.")
    house.link(row, house.remember("And another."))
    second = index.of(house.db).catch_up(house.db)
    assert second.cursor > first.cursor
    assert second.published == first.published


def test_incremental_indexing_equals_indexing_at_once(house: House) -> None:
    for size in (70, 1, 80, 3, 65, 130, 66, 64, 70, 90, 64, 75):
        many(house, size)
        ids(house, "heron")
    state = index.of(house.db).catch_up(house.db)
    assert len([part for part in state.parts if part.file]) <= PARTS
    grown = scores(house, "heron number 3 stood")
    folder.erase(house.db.home)
    fresh = index.Index(house.db)
    index._open[house.db] = fresh
    assert scores(house, "heron number 3 stood") == grown
    assert len(fresh.catch_up(house.db).parts) == 1


def test_a_changed_memory_is_searched_as_it_is_now(house: House) -> None:
    many(house, index.TAIL)
    row = house.remember("The gate code is written on the wall.", name="gate")
    assert ids(house, "gate") == [row.id]
    newer = house.remember("The gate code was moved.", name="gate")
    assert ids(house, "gate") == [newer.id]
    assert ids(house, "gate wall", statuses=("superseded",)) == [row.id]


def test_forgotten_text_leaves_the_files_at_the_next_catch_up(house: House, encoder: WordVectors) -> None:
    secret = house.remember("The heron is called Quetzalcoatlus.")
    many(house, index.TAIL)
    index.of(house.db).encode(house.db, encoder)
    held = b"".join(stored(house).values())
    stem = b"quetzalcoatlus"
    assert stem[:-2] in held
    assert secret.id.encode() in held
    (row,) = encoder.encode(["[9:31 am on 14 May 2026] The heron is called Quetzalcoatlus."])
    assert row.tobytes() in held
    house.forget(secret)
    assert ids(house, "Quetzalcoatlus") == []
    left = b"".join(stored(house).values())
    assert stem[:-2] not in left
    assert row.tobytes() not in left
    assert secret.id.encode() not in left


def test_text_known_to_another_memory_stays_when_one_is_forgotten(house: House) -> None:
    many(house, index.TAIL)
    one, two = house.remember("A pelican."), house.remember("A pelican, again.")
    assert set(ids(house, "pelican")) == {one.id, two.id}
    house.forget(one)
    assert ids(house, "pelican") == [two.id]


def test_a_row_that_was_edited_in_place_loses_its_old_terms(house: House) -> None:
    from dataclasses import replace

    many(house, index.TAIL)
    row = house.remember("Flamingo.")
    many(house, index.TAIL)
    ids(house, "flamingo")
    assert b"flamingo" in b"".join(stored(house).values())
    with house.db.write(actor="hub") as tx:
        tx.put(replace(row, content="Spoonbill.", updated_at=tx.now))
        tx.event("memory_added", subject=row.id, namespace=row.namespace, payload={"id": row.id})
    assert ids(house, "spoonbill") == [row.id]
    assert ids(house, "flamingo") == []
    assert b"flamingo" not in b"".join(stored(house).values())


def test_vectors_of_memories_that_stay_are_kept_when_one_is_forgotten(house: House, encoder: WordVectors) -> None:
    many(house, 3)
    gone = house.remember("A pelican.")
    index.of(house.db).encode(house.db, encoder)
    house.forget(gone)
    assert index.of(house.db).encode(house.db, encoder) == 0
    assert len(encoder.encoded) == 4
    assert [len(part.vectors) for part in index.of(house.db).catch_up(house.db).vectors] == [3]


def test_the_last_memory_takes_its_vector_file_with_it(house: House, encoder: WordVectors) -> None:
    row = house.remember("A pelican.")
    index.of(house.db).encode(house.db, encoder)
    house.forget(row)
    assert index.of(house.db).catch_up(house.db).vectors == ()
    assert list(stored(house)) == ["manifest"]


def test_a_process_that_was_slower_takes_over_what_the_faster_one_wrote(house: House) -> None:
    many(house, index.TAIL)
    slow, fast = index.Index(house.db), index.Index(house.db)
    state = slow.catch_up(house.db, progress=lambda *_: fast.catch_up(house.db) and None)
    assert state.code == fast.catch_up(house.db).code
    assert sum(len(part.segment) for part in state.parts) == index.TAIL


def test_erase_deletes_the_folder_and_the_next_recall_builds_it(house: House) -> None:
    many(house, index.TAIL)
    found = scores(house, "heron")
    folder.erase(house.db.home)
    assert stored(house) == {}
    folder.erase(house.db.home)
    assert scores(house, "heron") == found
    assert stored(house) != {}


WRITER = """
import sys
from pathlib import Path
from substrate.memory import memories
from substrate.recall.recall import recall
from substrate.scopes.caller import Caller
from substrate.store.database import Database

home, state, caller, name = sys.argv[1:5]
db = Database.open(Path(home), state_dir=Path(state))
ann = Caller(caller, "human", "ann")
for round in range(3):
    with db.write(caller) as tx:
        rows = [memories.remember(tx, ann, f"crane {name} {round} {n}", namespace=f"pond/{name}") for n in range(30)]
    found = recall(db, ann, f"crane {name} {round}", arms=("lexical",), max_hits=100, chars=100_000).hits
    assert {row.id for row in rows} <= {hit.memory.id for hit in found}, (round, len(found))
db.close()
"""


def test_processes_that_index_at_once_lose_nothing(house: House) -> None:
    house.db.close()
    home, state = house.db.home, house.db.home.parent / "state"
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(home), str(state), house.ann.id, name], text=True,
                         stderr=subprocess.PIPE)
        for name in ("a", "b", "c")
    ]  # fmt: skip
    assert [process.communicate()[1] for process in running] == ["", "", ""]
    with house.db.read() as r:
        assert r.query("SELECT count(*) FROM memories")[0][0] == 270
    follower = index.Index(house.db)
    state_ = follower.catch_up(house.db)
    assert sum(int(part.live.sum()) for part in state_.parts) == 270


def test_an_interrupted_run_of_encoding_goes_on_where_it_stopped(house: House) -> None:
    many(house, 3 * index.ENCODED // 2)
    encoder, seen = WordVectors(), []

    def stop(what: str, done: int, of: int) -> None:
        seen.append((what, done, of))
        if what == "encoding":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.of(house.db).encode(house.db, encoder, progress=stop)
    assert seen[-1] == ("encoding", index.ENCODED, 3 * index.ENCODED // 2)
    index._open.pop(house.db)
    assert index.of(house.db).encode(house.db, encoder) == 0
    assert len(encoder.encoded) == len(set(encoder.encoded)) == 3 * index.ENCODED // 2


def test_a_memory_gone_without_an_event_ends_the_encoding(house: House, encoder: WordVectors) -> None:
    row = house.remember("A heron stood still.")
    index.of(house.db).catch_up(house.db)
    with house.db.connection() as connection:
        connection.run("DELETE FROM memories WHERE id = ?", [row.id])
    with pytest.raises(Unavailable, match="not in the store"):
        index.of(house.db).encode(house.db, encoder)


def test_vector_files_are_merged_as_they_grow_in_number(house: House, encoder: WordVectors) -> None:
    for _ in range(PARTS + 4):
        many(house, 2)
        index.of(house.db).encode(house.db, encoder)
    state = index.of(house.db).catch_up(house.db)
    assert len(state.vectors) <= PARTS
    assert sum(len(part.vectors) for part in state.vectors) == 2 * (PARTS + 4)


def test_a_text_that_changed_while_it_was_encoded_is_encoded_again(house: House) -> None:
    row = house.remember("Heron.")

    class Meddling(WordVectors):
        def encode(self, texts, progress=None):  # type: ignore[no-untyped-def]
            if not self.encoded:
                house.forget(row)
                index.of(house.db).catch_up(house.db)
            return super().encode(texts, progress)

    encoder = Meddling()
    assert index.of(house.db).encode(house.db, encoder) == 0
    assert index.of(house.db).catch_up(house.db).vectors == ()


def test_files_are_written_again_when_the_log_has_moved_far(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    many(house, index.TAIL)
    ids(house, "heron")
    before = index.of(house.db).catch_up(house.db)
    a, b = house.remember("One."), house.remember("Two.")
    assert index.of(house.db).catch_up(house.db).published == before.published
    with house.db.write(actor="hub") as tx:
        for _ in range(index.STALE):
            tx.event("memory_added", subject=a.id, namespace="global", payload={"id": b.id})
    after = index.of(house.db).catch_up(house.db)
    assert after.published == after.cursor
