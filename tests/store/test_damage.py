"""A damaged file or write-ahead log is a typed error, or a store that answers what was written and nothing else."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from substrate.errors import Integrity, NotFound, Unavailable
from substrate.store.database import Database
from substrate.store.model import ROWS, Row
from tests.store.rows import memory, record, tell
from tests.store.stores import Store

Answers = list[list[Row]]
Logged = tuple[Path, tuple[Answers, list[str]]]


def answers(store: Store) -> tuple[Answers, list[str]]:
    """Read everything there is to read."""
    with store.opened() as db, db.read() as r:
        rows = [r.select(kind, order="ALL") for kind in ROWS]
        return rows, [str(event) for event in r.events()]


def outcome(store: Store, expected: tuple[Answers, list[str]]) -> str:
    """Open what is left and answer `refused` or `whole`; anything else ends the test."""
    try:
        found = answers(store)
    except (Integrity, Unavailable) as error:
        assert error.hint
        return "refused"
    assert found == expected
    return "whole"


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Logged:
    """A store whose newest writes lie in the write-ahead log alone, as after a kill, and what it answers."""
    store = Store(tmp_path_factory.mktemp("logged") / "store")
    store.create().close()
    pid = os.fork()
    if pid == 0:
        db = Database.open(store.home, state_dir=store.state, clock=store.clock, new_id=store.ids)
        with db.write(actor="hum-1") as tx:
            tell(tx)
        for number in range(5):
            with db.write(actor="hum-1") as tx:
                record(tx, memory(f"late-{number}", content=f"late text {number} " * 30))
        os._exit(0)
    os.waitpid(pid, 0)
    assert store.wal.stat().st_size > 10_000
    shutil.copytree(store.root, store.root.parent / "read")
    return store.root, answers(Store(store.root.parent / "read"))


def fresh(root: Path, to: Path) -> Store:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(root, to)
    return Store(to)


def test_what_was_acknowledged_before_a_kill_is_read_back_from_the_log(logged: Logged, tmp_path: Path):
    root, expected = logged
    assert outcome(fresh(root, tmp_path / "copy"), expected) == "whole"
    assert len(expected[1]) == 13


def test_a_write_ahead_log_with_one_flipped_bit_is_refused_or_read_whole(logged: Logged, tmp_path: Path):
    root, expected = logged
    chance = random.Random(7)
    seen = []
    for _ in range(25):
        store = fresh(root, tmp_path / "copy")
        data = bytearray(store.wal.read_bytes())
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        store.wal.write_bytes(data)
        seen.append(outcome(store, expected))
    assert "refused" in seen


def test_a_write_ahead_log_that_was_cut_or_removed_is_refused(logged: Logged, tmp_path: Path):
    root, expected = logged
    size = (root / "home" / "memory.duckdb.wal").stat().st_size
    for length in (0, 1, 100, size // 2, size - 5_000, size - 1, None):
        store = fresh(root, tmp_path / "copy")
        if length is None:
            store.wal.unlink()
        else:
            os.truncate(store.wal, length)
        assert outcome(store, expected) == "refused", length


def test_a_write_ahead_log_of_another_store_is_refused(logged: Logged, tmp_path: Path):
    store = fresh(logged[0], tmp_path / "copy")
    other = Store(tmp_path / "other")
    other.create().close()
    shutil.copyfile(store.wal, other.wal)
    with pytest.raises(Integrity):
        other.open()


def test_a_file_with_one_flipped_bit_is_refused_or_read_whole(story: Store, tmp_path: Path):
    expected = answers(story)
    chance = random.Random(11)
    seen = []
    for _ in range(25):
        store = fresh(story.root, tmp_path / "copy")
        data = bytearray(store.file.read_bytes())
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        store.file.write_bytes(data)
        seen.append(outcome(store, expected))
    assert {"refused", "whole"} == set(seen)


def overwrite(data: bytes) -> Callable[[Store], object]:
    return lambda store: store.file.write_bytes(data)


DAMAGES: dict[str, Callable[[Store], object]] = {
    "empty": overwrite(b""),
    "one byte": overwrite(b"D"),
    "text": overwrite(b"this is no database\n" * 1000),
    "zeros": overwrite(bytes(500_000)),
    "random bytes": overwrite(random.Random(3).randbytes(500_000)),
    "half": lambda store: os.truncate(store.file, store.file.stat().st_size // 2),
    "cut by a byte": lambda store: os.truncate(store.file, store.file.stat().st_size - 1),
    "cut to its header": lambda store: os.truncate(store.file, 12_288),
    "a folder": lambda store: [store.file.unlink(), store.file.mkdir()],
    "header of zeros": lambda store: patch(store, 0, bytes(4096)),
    "both headers of zeros": lambda store: patch(store, 4096, bytes(8192)),
    "a file of another program": overwrite(b"SQLite format 3\0" + bytes(4080)),
}


def patch(store: Store, offset: int, data: bytes) -> None:
    with store.file.open("r+b") as file:
        file.seek(offset)
        file.write(data)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_file_that_is_no_store_any_more_is_a_typed_error(story: Store, damage: Callable[[Store], object]):
    expected = answers(story)
    damage(story)
    for _ in range(2):
        assert outcome(story, expected) == "refused"


def test_a_garbage_log_beside_a_whole_file_changes_no_answer(story: Store):
    expected = answers(story)
    story.wal.write_bytes(random.Random(3).randbytes(5_000))
    assert outcome(story, expected) in ("refused", "whole")
    story.wal.unlink(missing_ok=True)
    assert outcome(story, expected) == "whole"


def test_a_file_held_by_another_program_is_unavailable_and_says_so(story: Store):
    code = "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.readline()"
    program = subprocess.Popen(
        [sys.executable, "-c", code, str(story.file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert program.stdout
    program.stdout.readline()
    with pytest.raises(Unavailable, match="held by somebody else"):
        story.open()
    program.communicate("\n")
    answers(story)


def test_a_home_without_a_store_says_how_to_make_one(tmp_path: Path):
    for home in (tmp_path, tmp_path / "none"):
        with pytest.raises(NotFound, match="no store in") as caught:
            Database.open(home, state_dir=tmp_path / "state")
        assert "ai-memory init" in caught.value.hint
