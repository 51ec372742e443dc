"""The rest of the table of situations, by real folders and processes: strict policy, machines that share a store, media
that cannot be written, and reading round a row that does not match.

Source: docs/spec/audit.md §2.4; the rows not here are in test_anchor.py, the repairs in test_doctor.py.
"""

import json
import shutil
from pathlib import Path

import duckdb
import pytest

from audit import independent
from tests.cli.conftest import Cast
from tests.cli.terminal import Terminal

WARNING = "warning: this machine has no anchor for this store"
WRITES = (["remember", "text"], ["forget", "x"], ["rewrite"], ["space", "policy", "global", "language", "pt"])


def edit(shell: Terminal, sql: str, *parameters: str) -> None:
    connection = duckdb.connect(str(shell.home / "memory.duckdb"))
    connection.execute(sql, list(parameters))
    connection.close()


def test_a_strict_store_is_refused_where_it_is_new_until_it_is_adopted(shell: Terminal, cast: Cast, tmp_path: Path):
    shell.ok("space", "policy", "global", "strict", "true")
    note = tmp_path / "mailed.txt"
    note.write_text(shell("audit", "checkpoint").out)
    shell.ok("remember", "After the checkpoint.")
    shutil.rmtree(shell.state)
    for line in (["get", cast.moved], ["list"], ["status"], ["persona", "mara"], *WRITES[:1]):
        error = shell.fails(*line, code=7)
        assert (error["code"], error["details"]["situation"]) == ("integrity", "unanchored")
        assert "ai-memory audit adopt --checkpoint FILE" in error["details"]["hint"]
    assert not shell.state.exists()
    assert "anchor.missing" in shell("doctor").out
    sequence = shell.ok("audit", "adopt", "--checkpoint", str(note))["sequence"]
    assert shell("list").err == ""
    assert shell.ok("audit", "log", "--after", str(sequence - 1))["events"][0]["type"] == "checkpoint_adopted"
    shell.ok("space", "policy", "global", "strict", "false")
    shutil.rmtree(shell.state)
    assert WARNING in shell("list").err


def test_a_strict_store_does_not_believe_a_log_that_its_checkpoint_is_not_in(
    shell: Terminal, cast: Cast, tmp_path: Path
):
    shell.ok("space", "policy", "global", "strict", "true")
    shutil.copytree(shell.home, tmp_path / "older")
    shell.ok("remember", "Written after the copy.")
    note = tmp_path / "mailed.txt"
    note.write_text(shell("audit", "checkpoint").out)
    shutil.rmtree(shell.home)
    shutil.copytree(tmp_path / "older", shell.home)
    shutil.rmtree(shell.state)
    assert shell.fails("audit", "adopt", "--checkpoint", str(note), code=7)["code"] == "integrity"
    assert shell.fails("list", code=7)["details"]["situation"] == "unanchored"


def test_strict_belongs_to_global_and_is_true_or_false(shell: Terminal):
    shell.ok("space", "add", "team/alpha")
    assert shell.fails("space", "policy", "team/alpha", "strict", "true", code=2)["code"] == "invalid"
    assert shell.fails("space", "policy", "global", "strict", "maybe", code=2)["code"] == "invalid"


def test_a_process_that_is_at_work_stops_when_a_strict_store_loses_its_anchor(shell: Terminal, cast: Cast):
    shell.ok("space", "policy", "global", "strict", "true")
    from substrate.actions import memory as actions
    from substrate.errors import Integrity
    from substrate.home import Memory

    memory = Memory.open(shell.home, state_dir=shell.state)
    actions.remember(memory, text="Anchored.")
    shutil.rmtree(shell.state)
    with pytest.raises(Integrity, match="strict"):
        actions.remember(memory, text="Not anchored.")
    memory.close()


def test_two_machines_write_one_store_in_turn(shell: Terminal, cast: Cast, tmp_path: Path):
    other = {"AI_MEMORY_STATE": str(tmp_path / "other")}
    assert WARNING in shell.process("list", env=other).err
    assert shell.process("audit", "adopt", env=other).code == 0
    for number in range(3):
        assert shell.process("remember", f"Here, {number}.").err == ""
        assert shell.process("remember", f"There, {number}.", env=other).err == ""
    for env in ({}, other):
        done = shell.process("--json", "status", env=env)
        assert done.json["situation"] == "ok"
        assert shell.process("audit", "verify", env=env).code == 0


def test_two_machines_notice_a_copy_that_one_of_them_puts_back(shell: Terminal, cast: Cast, tmp_path: Path):
    other = {"AI_MEMORY_STATE": str(tmp_path / "other")}
    assert shell.process("audit", "adopt", env=other).code == 0
    assert shell.process("list").code == 0
    shutil.copytree(shell.home, tmp_path / "older")
    assert shell.process("remember", "Only this machine saw it.").code == 0
    shutil.rmtree(shell.home)
    shutil.copytree(tmp_path / "older", shell.home)
    assert shell.process("list").code == 7
    assert shell.process("remember", "The other machine goes on.", env=other).code == 0
    error = shell.process("--json", "list").error
    assert error["details"]["situation"] == "diverged"


def test_a_home_that_was_moved_is_the_same_store(shell: Terminal, cast: Cast, tmp_path: Path):
    moved = {"AI_MEMORY_HOME": str(tmp_path / "elsewhere")}
    shell.home.rename(tmp_path / "elsewhere")
    assert shell.process("remember", "Moved.", env=moved).err == ""
    assert shell.process("--json", "status", env=moved).json["situation"] == "ok"


def test_of_a_home_and_its_copy_the_first_to_write_goes_on(shell: Terminal, cast: Cast, tmp_path: Path):
    copy = {"AI_MEMORY_HOME": str(tmp_path / "copy")}
    shutil.copytree(shell.home, tmp_path / "copy")
    assert shell.process("list", env=copy).err == ""
    assert shell.process("remember", "In the copy.", env=copy).code == 0
    error = shell.process("--json", "list").error
    assert (error["code"], error["details"]["situation"]) == ("integrity", "behind")
    assert shell.process("audit", "fork").code == 0
    assert shell.process("remember", "In the fork.").err == ""
    assert shell.process("remember", "In the copy again.", env=copy).err == ""


def test_without_a_state_folder_a_store_is_read_and_not_written(shell: Terminal, cast: Cast, tmp_path: Path):
    (tmp_path / "a file").write_text("")
    none = {"AI_MEMORY_STATE": "", "HOME": str(tmp_path / "a file")}
    before = (shell.home / "memory.duckdb").read_bytes()
    done = shell.process("--json", "status", env=none)
    assert (done.json["read_only"], done.json["situation"]) == (True, "unanchored")
    assert shell.process("get", cast.moved, env=none).code == 0
    for line in (["remember", "text"], ["rewrite"], ["audit", "adopt"]):
        done = shell.process("--json", *line, env=none)
        error = json.loads(done.err.splitlines()[-1])["error"]  # behind the warning
        assert (done.code, error["code"]) == (6, "unavailable")
        assert "AI_MEMORY_STATE" in error["details"]["hint"]
    assert "state.unwritable" in shell.process("doctor", env=none).out
    assert (shell.home / "memory.duckdb").read_bytes() == before
    new = {"AI_MEMORY_HOME": str(tmp_path / "new"), **none}
    assert shell.process("remember", "text", env=new).code == 6
    assert shell.process("remember", "text").code == 0


def test_an_anchor_that_can_only_be_read_is_compared_and_left(shell: Terminal, cast: Cast, tmp_path: Path):
    shutil.copytree(shell.home, tmp_path / "older")
    shell.ok("remember", "Written after the copy.")
    (tmp_path / "older").rename(tmp_path / "medium")
    shell.home.rename(tmp_path / "newer")
    medium = {"AI_MEMORY_HOME": str(tmp_path / "medium")}
    assert shell.process("--json", "list", env=medium).error["details"]["situation"] == "behind"


@pytest.mark.parametrize("damage", ["UPDATE memories SET content = 'Rome'", "DELETE FROM memories"])
def test_the_others_stay_readable_and_what_is_left_out_is_named(shell: Terminal, cast: Cast, damage: str):
    everything = shell.ok("list")["items"]
    edit(shell, f"{damage} WHERE id = ?", cast.moved)
    assert shell.fails("list", code=7)["code"] == "integrity"
    found = shell("--json", "list", "--tolerate")
    assert found.code == 0
    left = found.json["rows_left_out"]
    assert [(item["table"], item["id"]) for item in left] == [("memories", cast.moved)]
    shown = [row["id"] for row in found.json["items"]]
    assert shown == [row["id"] for row in everything if row["id"] != cast.moved]
    assert "left out: 1 rows" in found.err and cast.moved in found.err
    assert shell("get", cast.moved, "--tolerate").code == 4
    for line in (
        ["get", cast.choir],
        ["recall", "choir"],
        ["timeline", "mara"],
        ["graph", cast.choir],
        ["persona", "mara"],
    ):
        done = shell(*line, "--tolerate")
        assert done.code == 0, done
        assert "Rome" not in done.out
    assert shell("recall", "choir").code == 7


def test_an_export_past_a_row_is_asked_for_and_says_so(shell: Terminal, cast: Cast, tmp_path: Path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"of yesterday")
    edit(shell, "UPDATE memories SET content = 'Rome' WHERE id = ?", cast.moved)
    assert cast.moved in shell.fails("audit", "export", str(log), code=7)["message"]
    assert log.read_bytes() == b"of yesterday"
    assert [row["id"] for row in shell.ok("audit", "export", str(log), "--tolerate")["rows_left_out"]] == [cast.moved]
    done = shell("audit", "export", "-", "--tolerate")
    assert (done.code, done.stdout) == (0, log.read_bytes())
    assert "left out: 1 rows" in done.err and cast.moved in done.err
    assert independent.verify(log.read_bytes().splitlines(keepends=True)) == ""


def test_nothing_is_written_round_a_row(shell: Terminal, cast: Cast):
    edit(shell, "DELETE FROM memories WHERE id = ?", cast.moved)
    for line in WRITES:
        assert shell.fails(*line, "--tolerate", code=2)["code"] == "invalid"
    error = shell.fails("persona", "mara", "--regenerate", "--tolerate", code=2)
    assert "--tolerate is for reading" in error["message"]


def test_who_may_read_is_never_passed_over(shell: Terminal, cast: Cast):
    shell.ok("space", "policy", "global", "language", "pt")
    edit(shell, "UPDATE namespaces SET policy = '{}', access = 'rw'")
    for line in (["list"], ["get", cast.moved], ["recall", "Lisbon"]):
        assert shell.fails(*line, "--tolerate", code=7)["code"] == "integrity"


def test_a_whole_store_leaves_nothing_out(shell: Terminal):
    done = shell("--json", "list", "--tolerate")
    assert (done.json["rows_left_out"], done.err) == ([], "")


def test_what_recall_left_out_is_found_again_when_it_is_back(shell: Terminal, cast: Cast, tmp_path: Path):
    backup = tmp_path / "one.backup"
    shell.ok("backup", str(backup))
    file = (shell.home / "memory.duckdb").read_bytes()
    edit(shell, "UPDATE memories SET content = 'Rome' WHERE id = ?", cast.moved)
    assert cast.moved not in shell("recall", "Lisbon", "--tolerate").out
    (shell.home / "memory.duckdb").write_bytes(file)
    assert cast.moved in shell("recall", "I moved to Lisbon in May").out
