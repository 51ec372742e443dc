"""Each row of the table of situations between a store and this machine's anchor, at the command line.

Source: docs/spec/audit.md §2.4; the other rows are in test_situations.py, repairs in test_doctor.py.
"""

import shutil
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Cast
from tests.cli.terminal import Terminal

WARNING = "warning: this machine has no anchor for this store"


@pytest.fixture
def older(shell: Terminal, tmp_path: Path) -> Path:
    """Copy the folder as it is now, then go on by two memories."""
    copy = tmp_path / "older"
    shutil.copytree(shell.home, copy)
    shell.ok("remember", "Written after the copy.")
    shell.ok("remember", "And one more.")
    return copy


def put_back(shell: Terminal, copy: Path) -> None:
    shutil.rmtree(shell.home)
    shutil.copytree(copy, shell.home)


def test_head_and_anchor_agree(shell: Terminal):
    assert shell.ok("status")["situation"] == "ok"
    assert shell("list").err == ""


def test_a_log_that_is_ahead_by_signed_events_is_anchored_anew(shell: Terminal, tmp_path: Path):
    before = tmp_path / "before"
    shutil.copytree(shell.state, before)
    shell.ok("remember", "Written while the anchor was not.")
    shutil.rmtree(shell.state)
    shutil.copytree(before, shell.state)
    done = shell("list")
    assert (done.code, done.err) == (0, "")
    assert shell.ok("status")["situation"] == "ok"
    assert shell.ok("audit", "verify")["anchored"] is True


def test_a_store_that_is_new_here_works_with_one_warning_a_command(shell: Terminal, cast: Cast):
    shutil.rmtree(shell.state)
    for line in (["get", cast.moved], ["list"], ["remember", "text"], ["persona", "mara"], ["recall", "Lisbon"]):
        done = shell(*line)
        assert done.code == 0
        assert done.err.count(WARNING) == 1
    assert WARNING in shell("get", cast.moved, "--json").err
    assert shell.ok("status")["situation"] == "unanchored"
    report = shell.ok("audit", "verify")
    assert (report["ok"], report["anchored"]) == (True, False)
    assert shell("doctor").code == 7


def test_adopt_anchors_a_store_that_is_new_here(shell: Terminal, tmp_path: Path):
    note = tmp_path / "mailed.txt"
    note.write_text(shell("audit", "checkpoint").out)
    shutil.rmtree(shell.state)
    adopted = shell.ok("audit", "adopt", "--checkpoint", str(note))
    assert adopted.keys() == {"adopted", "sequence"}
    assert WARNING not in shell("list").err
    assert shell.ok("status")["situation"] == "ok"
    event = shell.ok("audit", "log", "--after", str(adopted["sequence"] - 1))["events"][0]
    assert event["type"] == "checkpoint_adopted"


def test_adopt_refuses_a_store_that_lacks_what_the_checkpoint_saw(shell: Terminal, older: Path, tmp_path: Path):
    note = tmp_path / "mailed.txt"
    note.write_text(shell("audit", "checkpoint").out)
    put_back(shell, older)
    shutil.rmtree(shell.state)
    assert shell.fails("audit", "adopt", "--checkpoint", str(note), code=7)["code"] == "integrity"
    done = shell("audit", "verify", "--checkpoint", str(note), "--json")
    assert done.code == 7
    assert WARNING in shell("list").err


def test_an_older_copy_put_back_is_refused_until_the_loss_is_accepted(shell: Terminal, older: Path, cast: Cast):
    put_back(shell, older)
    for line in (["list"], ["get", cast.moved], ["persona", "mara"], ["remember", "text"], ["status"], ["rewrite"]):
        error = shell.fails(*line, code=7)
        assert error["code"] == "integrity"
        assert error["details"]["situation"] == "behind"
        assert "ai-memory audit recover" in error["details"]["hint"]
    assert shell("audit", "verify").code == 7
    lost = shell.ok("audit", "recover")
    assert lost.keys() == {"situation", "events_here", "events_seen", "missing_events", "rows", "accepted"}
    assert (lost["situation"], lost["accepted"]) == ("behind", None)
    assert lost["missing_events"] == [lost["events_here"] + 1, lost["events_here"] + 2]
    assert shell("list").code == 7

    accepted = shell.ok("audit", "recover", "--accept-rollback")["accepted"]
    assert accepted == lost["events_here"] + 1
    assert shell.ok("list")["total"] == 5
    event = shell.ok("audit", "log", "--after", str(lost["events_here"]))["events"][0]
    assert (event["type"], event["actor"]) == ("rollback_accepted", cast.ann)
    assert shell.ok("audit", "verify")["ok"] is True


def test_nothing_is_accepted_where_nothing_was_lost(shell: Terminal):
    assert shell.ok("audit", "recover")["situation"] == "ok"
    assert shell.fails("audit", "recover", "--accept-rollback", code=5)["code"] == "conflict"


def test_a_loss_is_accepted_by_a_human_whose_key_is_here(shell: Terminal, older: Path, cast: Cast):
    put_back(shell, older)
    for who in (cast.scout, "somebody", "hum-zzzzzzzzzzzzzzzzzzzzzzzzzz", "hum-../../x", "ann"):
        error = shell.fails("audit", "recover", "--accept-rollback", "--as", who, code=3)
        assert error["details"]["reason"] == "key"
    (shell.home / "config.toml").unlink()
    assert shell.fails("audit", "recover", "--accept-rollback", code=3)["code"] == "forbidden"
    assert shell.ok("audit", "recover", "--accept-rollback", "--as", cast.ben)["accepted"] is not None


def test_a_copy_that_went_on_by_itself_needs_an_identity_of_its_own(
    shell: Terminal, older: Path, monkeypatch: pytest.MonkeyPatch
):
    original = shell.ok("status")
    monkeypatch.setenv("AI_MEMORY_HOME", str(older))
    monkeypatch.setenv("AI_MEMORY_STATE", str(older.parent / "elsewhere"))
    shell.ok("remember", "The copy goes on where nothing is known of the original.")
    shell.ok("remember", "Twice.")
    shell.ok("remember", "And once more.")
    monkeypatch.setenv("AI_MEMORY_STATE", str(shell.state))
    error = shell.fails("list", code=7)
    assert error["details"]["situation"] == "diverged"
    assert "ai-memory audit fork" in error["details"]["hint"]

    forked = shell.ok("audit", "fork")
    assert forked["store_id"] != original["store_id"]
    assert shell.ok("status")["store_id"] == forked["store_id"]
    assert shell.ok("list")["total"] == 8
    assert shell.ok("audit", "verify")["ok"] is True
    monkeypatch.setenv("AI_MEMORY_HOME", str(shell.home))
    assert shell.ok("status")["store_id"] == original["store_id"]
    assert shell.ok("list")["total"] == 7


@pytest.mark.requirement("S3-15")
def test_a_row_that_was_edited_is_refused_and_named(shell: Terminal, cast: Cast):
    connection = duckdb.connect(str(shell.home / "memory.duckdb"))
    connection.execute("UPDATE memories SET content = 'I moved to Rome.' WHERE id = ?", [cast.moved])
    connection.close()
    error = shell.fails("get", cast.moved, code=7)
    assert (error["code"], error["details"]["id"]) == ("integrity", cast.moved)
    done = shell("audit", "verify", "--json")
    assert done.code == 7
    assert cast.moved in done.out and "row_edited" in done.out
    told = shell("audit", "verify")
    assert told.code == 7
    assert f"memories {cast.moved}" in told.out
    assert shell("list").code == 7
    assert shell("persona", "mara").code == 0  # rests on other rows
    assert "rows.differ" in shell("doctor").out


def test_a_checkpoint_and_a_proof_can_be_checked_elsewhere(shell: Terminal, cast: Cast, tmp_path: Path):
    note, proof, log = (tmp_path / name for name in ("note.txt", "proof.json", "log.jsonl"))
    note.write_text(shell("audit", "checkpoint").out)
    assert len(note.read_text().splitlines()) == 5
    proof.write_text(shell("audit", "prove", cast.moved).out)
    shell.ok("remember", "Later.")
    assert shell.ok("audit", "verify", "--checkpoint", str(note))["ok"] is True
    key = shell.ok("audit", "keys")["genesis_key"]
    found = shell.ok("audit", "verify-proof", str(proof), "--key", key)
    assert (found["ok"], found["pinned"], found["subject"]) == (True, True, cast.moved)
    assert "which you have to know from elsewhere" in shell("audit", "verify-proof", str(proof)).out
    assert shell("audit", "verify-proof", str(proof), "--key", "ab" * 32).code == 7
    proof.write_text(proof.read_text().replace("a", "b", 3))
    assert shell("audit", "verify-proof", str(proof)).code == 7
    for number in ("0", "99", "9" * 15, "9" * 40):
        assert shell("audit", "prove", number).code in (2, 4)
    assert shell.ok("audit", "export", str(log)).keys() == {"path", "events"}
    assert shell("audit", "export", "-").stdout == log.read_bytes()
    assert shell("audit", "verify", "--checkpoint", str(tmp_path / "none")).code == 4
    assert shell("audit", "verify-proof", str(shell.home / "memory.duckdb")).code == 2
