"""What somebody who can write in the home folder puts where locks, settings and indexes are expected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from substrate import Memory
from substrate.actions.registry import call
from substrate.errors import Invalid, Unavailable
from substrate.store.baton import Baton

ROOT = Path(__file__).parents[2]


def plain(home: Path) -> Baton:
    return Baton(home, opened=lambda: None, closing=lambda: None, wait_s=1.0)


def test_a_queue_that_is_a_symbolic_link_is_refused_and_nothing_behind_it_is_deleted(tmp_path: Path):
    home, diary = tmp_path / "home", tmp_path / "diary"
    home.mkdir()
    diary.mkdir()
    (diary / "00-monday").write_text("precious")
    (diary / "00000000000000000001-tuesday").write_text("precious")
    (home / "queue").symlink_to(diary)
    with pytest.raises(Unavailable), plain(home).held():
        raise AssertionError("unreachable")
    assert len(list(diary.iterdir())) == 2


def test_what_is_no_ticket_in_the_queue_is_neither_waited_for_nor_deleted(tmp_path: Path):
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue" / "0").mkdir()
    (tmp_path / "queue" / "00-notes.txt").write_text("mine")
    with plain(tmp_path).held():
        assert sorted(path.name for path in (tmp_path / "queue").iterdir()) == ["0", "00-notes.txt"]


def test_the_lock_file_keeps_nothing_of_what_a_program_was_told(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from substrate.store.baton import Baton\n"
        "with Baton(Path(sys.argv[2]), opened=lambda: None, closing=lambda: None).held(): pass"
    )
    told = [sys.executable, "-c", code, "the wedding is off", str(tmp_path)]
    subprocess.run(told, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert b"wedding" not in (tmp_path / "memory.lock").read_bytes()


@pytest.mark.parametrize("place", ["config.toml", "index/manifest"])
def test_a_pipe_in_the_place_of_a_file_hangs_nothing(tmp_path: Path, place: str):
    home, state = tmp_path / "home", tmp_path / "state"
    memory = Memory.open(home, state_dir=state)
    call(memory, "remember", {"text": "The ferry leaves at nine."})
    call(memory, "recall", {"query": "ferry"})
    memory.close()
    (home / place).parent.mkdir(exist_ok=True)
    (home / place).unlink(missing_ok=True)
    os.mkfifo(home / place, 0o600)
    code = (
        "import sys; from pathlib import Path; from substrate import Memory\n"
        "from substrate.actions.registry import call\n"
        "memory = Memory.open(Path(sys.argv[1]), state_dir=Path(sys.argv[2]))\n"
        "assert call(memory, 'recall', {'query': 'ferry'})['hits']"
    )
    asked = [sys.executable, "-c", code, str(home), str(state)]
    done = subprocess.run(
        asked, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0 if place != "config.toml" else Invalid.__name__ in done.stderr
