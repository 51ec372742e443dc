"""Everything that can be wrong with a home is a named finding, and the command it names mends it.

Source: docs/spec/audit.md §2.4 and §5.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.cli.conftest import Cast
from tests.cli.terminal import ROOT, Terminal

KILLED = """
import os, sys
from pathlib import Path
from substrate.actions import memory as actions
from substrate.home import Memory

memory = Memory.open(Path(sys.argv[1]), state_dir=Path(sys.argv[2]))
for text in sys.argv[3:]:
    actions.remember(memory, text=text)
os._exit(0)
"""

Damage = Callable[[Terminal, Cast], object]
FILE = "memory.duckdb"


def edit(sql: str) -> Damage:
    """Run a statement behind the store's back; `?` is the id of a memory."""

    def run(shell: Terminal, cast: Cast) -> None:
        connection = duckdb.connect(str(shell.home / FILE))
        connection.execute(sql, [cast.moved] if "?" in sql else [])
        connection.close()

    return run


def put_back_an_older_copy(shell: Terminal, cast: Cast) -> None:
    shutil.copytree(shell.home, shell.home.parent / "older")
    shell.ok("remember", "Later.")
    shutil.rmtree(shell.home)
    shutil.copytree(shell.home.parent / "older", shell.home)


def go_on_in_a_copy(shell: Terminal, cast: Cast) -> None:
    copy = Terminal(shell.home.parent / "copy", shell.home.parent / "copied state")
    shutil.copytree(shell.home, copy.home)
    assert copy.process("remember", "Only in the copy.").code == 0
    shell.ok("remember", "Only in the original.")
    shutil.rmtree(shell.home)
    shutil.copytree(copy.home, shell.home)


def half(shell: Terminal, cast: Cast) -> None:
    os.truncate(shell.home / FILE, (shell.home / FILE).stat().st_size // 2)


def spoil_the_log(shell: Terminal, cast: Cast) -> None:
    """Die with writes in the write-ahead log alone, and flip a bit near its end."""
    killed(shell, "Written before a kill.")
    path = shell.home / f"{FILE}.wal"
    data = bytearray(path.read_bytes())
    data[len(data) * 9 // 10] ^= 4
    path.write_bytes(data)


def cut_the_log(shell: Terminal, cast: Cast) -> None:
    killed(shell, "Written before a kill.")
    path = shell.home / f"{FILE}.wal"
    os.truncate(path, path.stat().st_size * 3 // 4)


def killed(shell: Terminal, *texts: str) -> None:
    """Write memories in a process that dies before it can move them out of the write-ahead log."""
    line = [sys.executable, "-c", KILLED, str(shell.home), str(shell.state), *texts]
    subprocess.run(line, cwd=ROOT, check=True)
    assert (shell.home / f"{FILE}.wal").stat().st_size > 0


def anchor_file(shell: Terminal) -> Path:
    (found,) = (shell.state / "anchors").glob("*.json")
    return found


def leave(name: str) -> Damage:
    return lambda shell, cast: (shell.home / name).mkdir()


def chmod(name: str, mode: int) -> Damage:
    return lambda shell, cast: (shell.home / name).chmod(mode)


def take_away(name: str) -> Damage:
    return lambda shell, cast: (shell.home / name).unlink()


def leave_tickets(shell: Terminal, cast: Cast) -> None:
    queue = shell.home / "queue"
    queue.mkdir(exist_ok=True)
    for name in ("00000000000000000001-1-1-1", ".00000000000000000002-1-1-1"):
        (queue / name).touch()


RESTORE, KEEP, ADOPT = "ai-memory restore FILE", "ai-memory restore", "ai-memory audit adopt --checkpoint FILE"
CASES: dict[str, tuple[Damage, str, str]] = {
    "a folder open to others": (chmod("", 0o755), "folder.loose", "chmod"),
    "keys open to others": (chmod("keys", 0o755), "key.loose", "chmod"),
    "a key open to others": (chmod("keys/store.key", 0o644), "key.loose", "chmod"),
    "settings that others may write": (chmod("config.toml", 0o666), "settings.wrong", "chmod"),
    "no key": (take_away("keys/store.key"), "key.missing", "tar"),
    "another key": (
        lambda shell, cast: (shell.home / "keys" / "store.key").write_bytes(bytes(32)),
        "key.other",
        "tar",
    ),
    "half a key": (lambda shell, cast: (shell.home / "keys" / "store.key").write_bytes(b"x"), "key.damaged", "tar"),
    "a half-written file": (half, "file.damaged", RESTORE),
    "a file of zeros": (lambda shell, cast: (shell.home / FILE).write_bytes(bytes(100_000)), "file.damaged", RESTORE),
    "no file": (take_away(FILE), "file.missing", RESTORE),
    "a bit flipped in the write-ahead log": (spoil_the_log, "wal.damaged", RESTORE),
    "a bit flipped, and no backup": (spoil_the_log, "wal.damaged", KEEP),
    "a write-ahead log that was cut": (cut_the_log, "anchor.behind", RESTORE),
    "an older copy": (put_back_an_older_copy, "anchor.behind", RESTORE),
    "an older copy that is taken": (put_back_an_older_copy, "anchor.behind", "ai-memory audit recover"),
    "a copy that went on": (go_on_in_a_copy, "anchor.diverged", "ai-memory audit fork"),
    "a row edited": (edit("UPDATE memories SET content = 'Rome' WHERE id = ?"), "rows.differ", RESTORE),
    "a row edited, and no backup": (edit("UPDATE memories SET content = 'Rome' WHERE id = ?"), "rows.differ", KEEP),
    "a row deleted": (edit("DELETE FROM memories WHERE id = ?"), "rows.differ", RESTORE),
    "an event edited": (edit("UPDATE signed_events SET signature = NULL WHERE sequence = 5"), "log.broken", RESTORE),
    "commitments deleted": (edit("DELETE FROM state_entries"), "log.derived", KEEP),
    "a tree node changed": (
        edit("UPDATE signed_events SET nodes = 'x'::BLOB"),
        "log.derived",
        KEEP,
    ),
    "a table altered": (edit("ALTER TABLE memories ADD COLUMN more TEXT"), "tables.altered", RESTORE),
    "no anchor": (lambda shell, cast: shutil.rmtree(shell.state), "anchor.missing", ADOPT),
    "a damaged anchor": (lambda shell, cast: anchor_file(shell).write_text("{}"), "anchor.damaged", ADOPT),
    "an anchor open to others": (lambda shell, cast: anchor_file(shell).chmod(0o644), "anchor.loose", "chmod"),
    "tickets of the dead": (leave_tickets, "queue.stale", "rm "),
    "a draft of a store": (leave(".new"), "leftover", "rm -r"),
    "a draft of a rewrite": (leave(".rewrite"), "leftover", "rm -r"),
    "a draft of a backup": (leave(".backup-0123"), "leftover", "rm -r"),
    "a draft of a restore": (leave(".restore-0123"), "leftover", "rm -r"),
}


def wrong(shell: Terminal) -> dict[str, str]:
    """Name what the doctor finds wrong, with what mends it."""
    done = shell("--json", "doctor")
    found: list[dict[str, Any]] = __import__("json").loads(done.out)["findings"]
    bad = {item["name"]: item["mend"] for item in found if not item["ok"]}
    assert done.code == (7 if bad else 0)
    assert all(bad.values())
    return bad


@pytest.mark.parametrize(("damage", "name", "command"), CASES.values(), ids=CASES)
def test_what_is_wrong_has_a_name_and_its_command_mends_it(
    shell: Terminal, cast: Cast, tmp_path: Path, damage: Damage, name: str, command: str
):
    assert wrong(shell) == {}
    backup, note = tmp_path / "one.backup", tmp_path / "note.txt"
    shell.ok("backup", str(backup), "--keys")
    note.write_text(shell("audit", "checkpoint").out)
    damage(shell, cast)
    found = wrong(shell)
    assert name in found
    if not command.startswith("ai-memory"):
        (line,) = re.findall(rf"(?:^|: )({re.escape(command.strip())} .+)$", found[name])
        subprocess.run(line.replace("FILE", str(backup)), shell=True, check=True)
    else:
        assert f"`{command}`" in found[name]
        words = command.replace("FILE", str(note if "--checkpoint" in command else backup)).split()[1:]
        more = ["--accept-rollback"] if "recover" in command else []
        assert shell(*words, *more).code == 0
    assert wrong(shell) == {}
    assert shell("remember", "And on.").code == 0
    assert shell.ok("audit", "verify")["ok"] is True


def test_looking_changes_nothing(shell: Terminal, cast: Cast):
    cut_the_log(shell, cast)
    before = {path.name: path.read_bytes() for path in shell.home.iterdir() if path.name.startswith(FILE)}
    shell("doctor")
    shell("audit", "verify")
    shell("audit", "recover")
    assert {path.name: path.read_bytes() for path in shell.home.iterdir() if path.name.startswith(FILE)} == before


def test_words_tell_the_name_of_the_finding_and_the_command(shell: Terminal, cast: Cast):
    edit("DELETE FROM memories WHERE id = ?")(shell, cast)
    out = shell("doctor").out
    assert "BAD  rows.differ: memories" in out and cast.moved in out
    assert "mend: `ai-memory restore FILE`" in out


@pytest.mark.parametrize("seed", range(4))
def test_a_flip_or_a_cut_anywhere_in_the_write_ahead_log_is_named_and_mended(
    shell: Terminal, cast: Cast, tmp_path: Path, seed: int
):
    backup = tmp_path / "one.backup"
    shell.ok("backup", str(backup))
    killed(shell, *(f"Written before a kill, number {number}." for number in range(4)))
    path, chance = shell.home / f"{FILE}.wal", random.Random(seed)
    whole = path.read_bytes()
    before = {folder: tmp_path / f"{folder.name} before" for folder in (shell.home, shell.state)}
    for folder, kept in before.items():
        shutil.copytree(folder, kept)
    seen = shell.ok("audit", "recover")["events_seen"]
    for how in ("flip", "cut"):
        for folder, kept in before.items():
            shutil.rmtree(folder)
            shutil.copytree(kept, folder)
        data = bytearray(whole)
        place = chance.randrange(len(data))
        if how == "flip":
            data[place] ^= 1 << chance.randrange(8)
        else:
            del data[place:]
        path.write_bytes(data)
        found = wrong(shell)
        if not found:  # nothing that is read was hit
            assert shell.ok("list")["total"] == 9
            continue
        assert {*found} <= {"wal.damaged", "anchor.behind", "rows.differ", "log.derived", "file.damaged", "log.broken"}
        assert shell("list").code == 7
        done = shell.ok("restore", str(backup))
        assert wrong(shell) == {}
        last = done["backup_sequence"] + done["events_kept"]
        missing = done["missing_events"]
        assert missing == ([last + 1, seen] if last < seen else None)
        assert shell.ok("list")["total"] + (seen - last) + len(done["rows_missing"]) == 9
