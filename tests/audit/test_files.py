"""Private files: ours alone, written whole or not at all."""

import os
import stat

import pytest

from audit import files
from audit.errors import Conflict, Integrity, Invalid, NotFound, Unavailable

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def path(tmp_path):
    """A private file that holds `old`."""
    path = tmp_path / "private" / "file"
    files.create(path, b"old")
    return path


def test_a_file_is_read_as_it_was_written(path):
    assert files.read(path, 3) == b"old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_mode_does_not_follow_the_umask(tmp_path):
    before = os.umask(0)
    try:
        files.create(tmp_path / "private" / "file", b"x")
    finally:
        os.umask(before)
    assert files.read(tmp_path / "private" / "file", 1) == b"x"


def test_a_file_there_is_kept_by_create_and_replaced_by_replace(path):
    with pytest.raises(Conflict):
        files.create(path, b"new")
    assert files.read(path, 3) == b"old"
    files.replace(path, b"new")
    assert files.read(path, 3) == b"new"
    assert os.listdir(path.parent) == ["file"]


def test_what_a_crash_left_is_swept_by_the_next_write(path):
    (path.parent / ".file.0123.new").write_bytes(b"half")
    files.replace(path, b"new")
    assert os.listdir(path.parent) == ["file"]


def test_a_file_is_erased_and_another_put_in_its_place(path):
    successor = path.parent / "file.next"
    files.create(successor, b"new")
    os.link(successor, path.parent / ".file.next.0123.new")  # a crash came between link and unlink
    os.link(path, path.parent / "kept")
    files.supplant(path, successor)
    assert (path.read_bytes(), (path.parent / "kept").read_bytes()) == (b"new", bytes(3))
    assert sorted(os.listdir(path.parent)) == ["file", "kept"]
    path.unlink()
    files.create(successor, b"newer")
    files.supplant(path, successor)
    assert path.read_bytes() == b"newer"


def test_an_erased_file_is_gone_and_its_bytes_with_it(path):
    os.link(path, path.parent / "kept")
    files.erase(path)
    files.erase(path)
    assert (os.listdir(path.parent), (path.parent / "kept").read_bytes()) == (["kept"], bytes(3))
    files.erase(path.parent / "none" / "file")


def test_a_missing_file_and_a_missing_folder_are_not_found(path):
    for missing in (path.parent / "other", path.parent / "other" / "file"):
        with pytest.raises(NotFound):
            files.read(missing, 3)


def test_a_longer_file_is_refused(path):
    with pytest.raises(Integrity, match="longer"):
        files.read(path, 2)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o666])
def test_a_file_others_can_reach_is_refused(path, mode):
    path.chmod(mode)
    with pytest.raises(Integrity) as caught:
        files.read(path, 3)
    assert "chmod 600" in caught.value.hint


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o770, 0o777])
def test_a_folder_others_can_reach_is_refused_for_reading_and_writing(path, mode):
    path.parent.chmod(mode)
    for use in (
        lambda: files.read(path, 3),
        lambda: files.replace(path, b"new"),
        lambda: files.create(path.parent / "second", b"new"),
    ):
        with pytest.raises(Integrity) as caught:
            use()
        assert "chmod 700" in caught.value.hint
    path.parent.chmod(0o700)
    assert os.listdir(path.parent) == ["file"] and files.read(path, 3) == b"old"


def test_a_symlink_in_place_of_the_file_is_refused(path):
    path.rename(path.parent / "elsewhere")
    path.symlink_to("elsewhere")
    with pytest.raises(Integrity):
        files.read(path, 3)
    with pytest.raises(Conflict):
        files.create(path, b"new")
    files.replace(path, b"new")
    assert files.read(path.parent / "elsewhere", 3) == b"old"


def test_a_symlink_in_place_of_the_folder_is_refused(path):
    path.parent.rename(path.parent.parent / "elsewhere")
    path.parent.symlink_to("elsewhere")
    with pytest.raises(Integrity):
        files.read(path, 3)
    with pytest.raises(Integrity):
        files.replace(path, b"new")


def test_a_folder_or_a_pipe_in_place_of_the_file_is_refused(path):
    (path.parent / "folder").mkdir(mode=0o700)
    os.mkfifo(path.parent / "pipe", 0o600)
    for name in ("folder", "pipe"):
        with pytest.raises(Integrity):
            files.read(path.parent / name, 3)


def test_a_file_in_place_of_the_folder_is_refused(path):
    with pytest.raises(Integrity):
        files.read(path / "inner", 3)
    with pytest.raises(Integrity):
        files.create(path / "inner", b"x")


@AS_ROOT
def test_a_file_of_another_user_is_refused(path):
    os.chown(path, 65534, -1)
    with pytest.raises(Integrity, match="another user"):
        files.read(path, 3)


@AS_ROOT
def test_a_folder_of_another_user_is_refused(path):
    os.chown(path.parent, 65534, -1)
    with pytest.raises(Integrity, match="another user"):
        files.replace(path, b"new")


def test_a_path_with_a_nul_is_invalid(path):
    with pytest.raises(Invalid):
        files.read(path.parent / "a\0b", 3)


def test_a_medium_that_refuses_is_unavailable_and_leaves_the_old_file(path):
    name = path.parent / ("x" * 250)
    with pytest.raises(Unavailable):
        files.create(name, b"x")
    assert os.listdir(path.parent) == ["file"]


def test_a_write_that_fails_leaves_nothing_behind(path):
    os.mkdir(path.parent / "taken")
    with pytest.raises(Integrity):
        files.replace(path.parent / "taken", b"x")
    assert sorted(os.listdir(path.parent)) == ["file", "taken"]
