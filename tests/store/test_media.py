"""A full disk and a read-only one are typed errors; nothing is half-applied, and work goes on once it can.

A small disk of one's own needs the right to mount; where that is missing these tests are skipped.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SIZE = {
    "full": "6m",
    "too_small": "3m",
    "rewrite": "6m",
    "state": "1m",
    "read_only": "6m",
    "read_only_after_a_crash": "6m",
}


LOOKED_AT = {"backup": True, "doctor": [], "doctor says so": True, "untouched": True}


def in_own_mounts(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = ["unshare", "--mount", "sh", "-ec", script, "sh", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def mounts(tmp_path_factory: pytest.TempPathFactory) -> None:
    disk = tmp_path_factory.mktemp("disk")
    try:
        done = in_own_mounts('mount -t tmpfs tmpfs "$1"', disk)
    except FileNotFoundError:
        pytest.skip("needs unshare and mount")
    if done.returncode:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")


def happens(scenario: str, tmp_path: Path) -> dict[str, Any]:
    disk, state = tmp_path / "disk", tmp_path / "state"
    disk.mkdir()
    state.mkdir(mode=0o700)
    script = f'mount -t tmpfs -o size={SIZE[scenario]} tmpfs "$3"; exec "$@"'
    done = in_own_mounts(
        script.replace("$3", "$4"), sys.executable, ROOT / "tests/store/small_disk.py", scenario, disk, state
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_full_disk_refuses_writes_keeps_what_it_had_and_takes_more_when_there_is_space(mounts: None, tmp_path: Path):
    assert happens("full", tmp_path) == {
        "written": True,
        "again": "unavailable",
        "kept": True,
        "close": "ok",
        "kept when reopened": True,
        "full still": "unavailable",
        "after space was freed": "ok",
        "kept in the end": True,
    }


def test_a_disk_too_small_for_a_store_gets_none_and_later_a_whole_one(mounts: None, tmp_path: Path):
    seen = happens("too_small", tmp_path)
    assert seen == {"create": "unavailable", "open": "not_found", "create with space": "ok"}


def test_a_rewrite_that_finds_no_space_leaves_the_old_file_and_nothing_else(mounts: None, tmp_path: Path):
    assert happens("rewrite", tmp_path) == {
        "rewrite": "unavailable",
        "kept": True,
        "left behind": [],
        "after space was freed": "ok",
    }


def test_a_state_folder_that_is_full_is_said_and_the_anchor_catches_up(mounts: None, tmp_path: Path):
    seen = happens("state", tmp_path)
    assert seen.pop("kept") in (["mem-1", "mem-3"], ["mem-1", "mem-2", "mem-3"])
    assert seen == {"write": "unavailable", "read": "ok", "after space was freed": "ok", "situation": "ok"}


@pytest.mark.parametrize("scenario", ["read_only", "read_only_after_a_crash"])
def test_a_read_only_medium_is_read_by_several_and_written_by_nobody(mounts: None, tmp_path: Path, scenario: str):
    assert happens(scenario, tmp_path) == {
        "read only": True,
        "kept": True,
        "two at once": True,
        "write": "unavailable",
        "rewrite": "unavailable",
        "create": "unavailable",
        "close": "ok",
        "writable again": "ok",
        **LOOKED_AT,
    }


def test_a_folder_that_may_not_be_written_is_backed_up_and_examined():
    """Outside pytest's own folders, which nobody but root may enter when root runs the suite."""
    with tempfile.TemporaryDirectory() as folder:
        disk, state = Path(folder) / "disk", Path(folder) / "state"
        disk.mkdir()
        state.mkdir(mode=0o700)
        command = [sys.executable, ROOT / "tests/store/small_disk.py", "not_ours_to_write", disk, state]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(state)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        for path in (disk / "home").rglob("*"):
            path.chmod(0o700)
        (disk / "home").chmod(0o700)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if "unable" in found:
        pytest.skip(found["unable"])
    assert found == {"read only": True, "write": "unavailable", "close": "ok", **LOOKED_AT}
