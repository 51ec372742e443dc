"""Folders below a home: no link leads out of them, and a file in them is whole or not there."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pytest

from substrate.errors import AiMemoryError, Conflict, Integrity, NotFound
from substrate.texts import folders

BELOW = PurePosixPath("personas/team")
NAME = "ada.md"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "outside").mkdir(mode=0o700)
    (tmp_path / "outside" / "secret").write_text("theirs\n")
    return tmp_path / "home"


@contextmanager
def masked(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


def put(home: Path, data: bytes, *, new: bool) -> Path:
    place = home / BELOW / NAME
    with folders.opened(home, BELOW, make=True) as folder:
        folders.put(folder, place, data, new=new)
    return place


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_files_and_folders_are_for_their_owner_alone_whatever_the_mask(home: Path, umask: int):
    with masked(umask):
        place = put(home, b"one", new=True)
        put(home, b"two", new=False)
    assert place.read_bytes() == b"two"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (place.parent, place.parent.parent)} == {0o700}
    assert [path.name for path in place.parent.iterdir()] == [NAME]


def test_a_new_file_does_not_take_the_place_of_one_that_appeared(home: Path):
    put(home, b"theirs", new=True)
    with pytest.raises(Conflict) as caught:
        put(home, b"ours", new=True)
    assert caught.value.hint
    assert everything(home / BELOW) == {NAME: b"theirs"}


@pytest.mark.parametrize("depth", ["personas", "personas/team"])
@pytest.mark.parametrize("kind", ["link", "dangling", "file", "loose"])
def test_what_stands_in_the_place_of_a_folder_is_refused_and_nothing_outside_touched(home: Path, depth: str, kind: str):
    place = home / depth
    place.parent.mkdir(mode=0o700, exist_ok=True)
    match kind:
        case "link":
            place.symlink_to(home.parent / "outside", target_is_directory=True)
        case "dangling":
            place.symlink_to(home.parent / "nowhere")
        case "file":
            place.write_text("in the way")
        case _:
            place.mkdir()
            place.chmod(0o777)
    with pytest.raises(Integrity) as caught:
        put(home, b"ours", new=True)
    assert str(place) in caught.value.message and caught.value.hint
    assert everything(home.parent / "outside") == {"secret": b"theirs\n"}
    assert not (home.parent / "nowhere").exists()


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_stands_in_the_place_of_a_file_is_neither_read_nor_removed(home: Path, kind: str):
    place = home / BELOW / NAME
    place.parent.mkdir(parents=True, mode=0o700)
    (home / "personas").chmod(0o700)
    match kind:
        case "link":
            place.symlink_to(home.parent / "outside" / "secret")
        case "folder":
            place.mkdir()
        case _:
            os.mkfifo(place)
    with folders.opened(home, BELOW) as folder:
        for touch in (folders.digest, folders.remove):
            with pytest.raises(Integrity) as caught:
                touch(folder, place)
            assert caught.value.hint
    assert os.path.lexists(place) and everything(home.parent / "outside") == {"secret": b"theirs\n"}


def test_a_link_in_the_place_of_the_temporary_file_is_not_written_through(home: Path):
    place = put(home, b"one", new=True)
    draft = place.with_name(folders.temporary_name(NAME))
    draft.symlink_to(home.parent / "outside" / "secret")
    put(home, b"two", new=False)
    assert everything(home.parent / "outside") == {"secret": b"theirs\n"}
    assert everything(place.parent) == {NAME: b"two"}


def test_a_file_with_a_second_name_is_replaced_and_not_written_through(home: Path):
    place = put(home, b"one", new=True)
    twin = home.parent / "outside" / "twin"
    os.link(place, twin)
    put(home, b"two", new=False)
    assert (place.read_bytes(), twin.read_bytes()) == (b"two", b"one")
    os.unlink(twin)
    os.link(place, twin)
    with folders.opened(home, BELOW) as folder:
        assert folders.remove(folder, place) == 1
    assert twin.read_bytes() == b"two"


@pytest.mark.parametrize("by", ["a link", "another folder", "nothing"])
def test_a_folder_exchanged_meanwhile_is_noticed(home: Path, by: str):
    with folders.opened(home, BELOW, make=True) as folder:
        (home / BELOW).rename(home / "moved")
        if by == "a link":
            (home / BELOW).symlink_to(home.parent / "outside", target_is_directory=True)
        elif by == "another folder":
            (home / BELOW).mkdir(mode=0o700)
        folders.put(folder, home / BELOW / NAME, b"ours", new=True)
        with pytest.raises(AiMemoryError) as caught:
            folders.check_place(home, BELOW, folder)
    assert caught.value.code == ("not_found" if by == "nothing" else "integrity")
    assert everything(home.parent / "outside") == {"secret": b"theirs\n"}


def test_folders_go_as_far_as_they_are_empty(home: Path):
    place = put(home, b"one", new=True)
    (home / "personas" / "mine.txt").write_text("kept")
    place.unlink()
    folders.prune(home, BELOW)
    assert [path.name for path in (home / "personas").iterdir()] == ["mine.txt"]
    (home / "personas" / "mine.txt").unlink()
    folders.prune(home, PurePosixPath("personas"))
    assert list(home.iterdir()) == []


def test_a_folder_that_is_not_there_is_not_found_and_not_made(home: Path):
    with pytest.raises(NotFound):
        with folders.opened(home, BELOW):
            raise AssertionError("it was opened")
    assert list(home.iterdir()) == []
