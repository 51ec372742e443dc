"""A backup is one private, verified file, made while others write, without what was forgotten."""

import io
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from substrate.errors import Conflict, Integrity, Invalid, NotFound, Unavailable
from substrate.memory.forgetting import erase_again
from substrate.store import backup
from substrate.store.db import FILE
from substrate.store.inspection import inspect
from substrate.store.model import MemoryRow
from tests.store.rows import memory, record
from tests.store.stores import Store
from tests.store.test_restore import add, back_up, bring_back, ids, sound

ROOT = Path(__file__).resolve().parents[2]
WRITER = """
import sys
from pathlib import Path
from substrate.store.database import Database
from tests.store.rows import memory, record

db = Database.open(Path(sys.argv[1]), state_dir=Path(sys.argv[2]))
print("open", flush=True)
number = 0
while not Path(sys.argv[3]).exists():
    with db.write(actor="hum-1") as tx:
        record(tx, memory(f"busy-{number}"))
    number += 1
db.close()
print(number, flush=True)
"""


def names(path: Path) -> list[str]:
    with tarfile.open(path) as archive:
        return archive.getnames()


def test_a_backup_is_one_private_file_that_holds_the_store_and_no_key(story: Store):
    (story.home / "config.toml").write_text("")
    path = back_up(story)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(path) == ["backup.json", "backup.sig", "config.toml", FILE]
    assert sorted(file.name for file in path.parent.iterdir()) == ["one.backup", "store"]
    assert [file.name for file in story.home.iterdir() if file.name.startswith(".")] == []


def test_keys_are_in_it_when_they_are_asked_for(story: Store):
    (story.home / "keys" / "hum-1.key").write_bytes(bytes(32))
    (story.home / "keys" / "strange").symlink_to("/etc/hostname")
    assert names(back_up(story, with_keys=True))[2:] == ["keys/hum-1.key", "keys/store.key", FILE]


def test_a_backup_is_taken_while_another_process_writes(story: Store, tmp_path: Path):
    stop = tmp_path / "stop"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(story.home), str(story.state), str(stop)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    before = len(ids(story))
    made = [back_up(story, f"{number}.backup") for number in range(3)]
    stop.touch()
    written = int(writer.stdout.readline())
    writer.stdout.close()
    assert writer.wait() == 0
    counts = []
    for number, path in enumerate(made):
        away = Store(tmp_path / f"away-{number}")
        bring_back(away, path)
        counts.append(len(ids(away)))
    assert before <= counts[0] < counts[1] < counts[2] <= 6 + written
    sound(story)


def test_forgotten_text_is_in_no_backup_made_after(story: Store, tmp_path: Path):
    text = "the word that has to go away"
    with story.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-secret", content=text))
    with story.opened() as db, db.write(actor="hum-1") as tx:
        erase_again(tx, ["mem-secret"])
    with story.opened():
        pass
    path = back_up(story)
    with tarfile.open(path) as archive:
        held = archive.extractfile(FILE)
        assert held is not None
        assert text.encode() not in held.read()


def test_a_name_that_is_taken_a_link_and_the_home_are_refused(story: Store, tmp_path: Path):
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").symlink_to(tmp_path)
    with story.opened() as db:
        for target, kind in (
            (tmp_path / "taken", Conflict),
            (tmp_path / "dangling", Invalid),
            (tmp_path / "folder", Invalid),
            (story.home, Invalid),
            (story.home / "keys" / "b", Invalid),
            (tmp_path / "none" / "b", NotFound),
        ):
            with pytest.raises(kind) as caught:
                backup.make(db, target)
            assert caught.value.hint
    assert (tmp_path / "taken").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_gets_a_backup_with_a_name_of_its_own(story: Store, tmp_path: Path):
    (tmp_path / "disk").mkdir()
    with story.opened() as db:
        one, manifest = backup.make(db, tmp_path / "disk")
        story.clock.advance(hours=1)
        two, _ = backup.make(db, tmp_path / "disk")
    assert one != two
    assert one.name.startswith(manifest.store_id) and one.suffix == ".backup"
    assert manifest.sequence == 8


def test_a_store_that_does_not_hold_gives_no_backup(story: Store, tmp_path: Path):
    story.edit("UPDATE memories SET content = 'edited' WHERE id = 'mem-1'")
    with story.opened() as db, pytest.raises(Integrity, match="mem-1"):
        backup.make(db, tmp_path / "bad.backup")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]


def test_without_the_store_key_there_is_no_backup(story: Store, tmp_path: Path):
    (story.home / "keys" / "store.key").unlink()
    with story.opened() as db, pytest.raises(Unavailable, match=r"store\.key"):
        backup.make(db, tmp_path / "bad.backup")


def test_a_store_without_a_key_is_backed_up_and_restored(tmp_path: Path):
    store = Store(tmp_path / "store")
    store.create(signed=False).close()
    add(store, "mem-1")
    source = back_up(store)
    shutil.rmtree(store.home)
    assert bring_back(store, source).sequence == 3
    sound(store)


def test_what_dead_processes_left_is_taken_away_and_the_living_are_let_be(story: Store, tmp_path: Path):
    dead, draft = story.home / ".backup-dead", tmp_path / ".ai-memory-backup-dead.new"
    (dead / "copy").mkdir(parents=True)
    draft.write_text("half")
    code = (
        "import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], 0), fcntl.LOCK_EX); print(flush=True);"
        " sys.stdin.readline()"
    )
    living = story.home / ".backup-living"
    living.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(living)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    back_up(story)
    process.communicate("\n")
    assert (dead.exists(), draft.exists(), living.exists()) == (False, False, True)


def repacked(path: Path, to: Path, change: dict[str, bytes | None]) -> Path:
    """Pack a backup again with other bytes for some of its files; the rest stays as it is."""
    with tarfile.open(path) as old, tarfile.open(to, "w:gz") as new:
        for header in old.getmembers():
            file = old.extractfile(header)
            assert file is not None
            data = change.get(header.name, file.read())
            if data is not None:
                header.size = len(data)
                new.addfile(header, io.BytesIO(data))
    return to


def test_a_file_or_manifest_that_was_exchanged_is_refused(story: Store, tmp_path: Path):
    (story.home / "config.toml").write_text("")
    path = back_up(story, with_keys=True)
    add(story, "mem-later")
    newer = back_up(story, "newer.backup")
    with tarfile.open(newer) as archive:
        manifest, signature, file = (archive.extractfile(name) for name in ("backup.json", "backup.sig", FILE))
        assert manifest is not None and signature is not None and file is not None
        mine, signed, data = manifest.read(), signature.read(), file.read()
    forged = mine.replace(b'"sequence":9', b'"sequence":8')
    for number, change in enumerate(
        (
            {"config.toml": b'principal = "hum-2"'},
            {"keys/store.key": bytes(32)},
            {FILE: data},
            {"backup.json": mine},
            {"backup.json": forged, "backup.sig": signed},
            {"backup.sig": b""},
            {"backup.sig": signed},
            {"backup.json": b"{}"},
            {"config.toml": None},
        )
    ):
        bad = repacked(path, tmp_path / f"{number}.backup", change)
        with pytest.raises(Integrity):
            bring_back(Store(tmp_path / f"store-{number}"), bad)
    good = repacked(path, tmp_path / "good.backup", {})
    assert bring_back(Store(tmp_path / "store-good"), good).sequence == 9


def test_a_member_that_leads_out_of_the_folder_is_refused(story: Store, tmp_path: Path):
    path = back_up(story)
    for name, kind in (("../evil", tarfile.REGTYPE), ("evil", tarfile.SYMTYPE)):
        shutil.copyfile(path, tmp_path / "bad.backup")
        with tarfile.open(path) as old, tarfile.open(tmp_path / "bad.backup", "w:gz") as new:
            for header in old.getmembers():
                new.addfile(header, old.extractfile(header))
            extra = tarfile.TarInfo(name)
            extra.type, extra.linkname = kind, "/etc/passwd"
            new.addfile(extra)
        with pytest.raises(Integrity, match="more than it lists"):
            bring_back(Store(tmp_path / "away"), tmp_path / "bad.backup")
    assert not (tmp_path / "evil").exists() and not (tmp_path / "away" / "evil").exists()


def test_a_backup_verifies_with_the_checkpoint_it_names(story: Store, tmp_path: Path):
    with story.opened() as db:
        _, manifest = backup.make(db, tmp_path / "one.backup")
    assert inspect(story.home, state_dir=story.state, notes=[manifest.checkpoint]).faults == ()
    with story.opened() as db, db.read() as r:
        assert r.get(MemoryRow, "mem-1") is not None
    assert os.listdir(story.home) and not (story.home / ".backup").exists()
