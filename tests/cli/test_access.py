"""Who calls is proved by a key; what somebody may not read does not exist for them; errors have one exit code each."""

from pathlib import Path

import pytest

from audit import checkpoint
from audit.errors import ERRORS
from audit.merkle import Frontier
from tests.cli.conftest import Cast
from tests.cli.terminal import Done, Terminal

ABSENT = "mem-zzzzzzzzzzzzzzzzzzzzzzzzzz"


def test_as_names_a_principal_whose_key_lies_here(shell: Terminal, cast: Cast):
    for who in ("scout", cast.scout):
        assert shell.ok("status", "--as", who)["caller"]["id"] == cast.scout
        assert shell.ok("--as", who, "status")["caller"]["handle"] == "scout"
    assert shell.ok("--as", "ben", "status", "--as", "scout")["caller"]["handle"] == "scout"


def test_the_environment_names_who_acts_unless_the_line_does(
    shell: Terminal, cast: Cast, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AI_MEMORY_AS", "ben")
    assert shell.ok("status")["caller"]["handle"] == "ben"
    assert shell.ok("status", "--as", "scout")["caller"]["handle"] == "scout"


def test_as_without_a_key_is_forbidden(shell: Terminal, cast: Cast):
    (shell.home / "keys" / f"{cast.ben}.key").unlink()
    error = shell.fails("list", "--as", "ben", code=3)
    assert (error["code"], error["details"]["reason"]) == ("forbidden", "key")


def test_as_with_the_key_of_another_is_forbidden(shell: Terminal, cast: Cast):
    keys = shell.home / "keys"
    (keys / f"{cast.ben}.key").write_bytes((keys / f"{cast.ann}.key").read_bytes())
    assert shell.fails("list", "--as", "ben", code=3)["details"]["reason"] == "key"


def test_as_with_a_key_that_others_may_read_is_refused(shell: Terminal, cast: Cast):
    (shell.home / "keys" / f"{cast.ben}.key").chmod(0o644)
    assert shell.fails("list", "--as", "ben", code=7)["code"] == "integrity"


def test_a_revoked_key_and_a_retired_principal_act_no_more(shell: Terminal):
    key = shell.ok("who", "show", "scout")["credentials"][0]["id"]
    shell.ok("who", "revoke", key)
    assert shell.fails("list", "--as", "scout", code=3)["details"]["reason"] == "key"
    shell.ok("who", "add", "agent", "rook")
    shell.ok("who", "retire", "rook")
    assert shell.fails("list", "--as", "rook", code=3)["details"]["reason"] == "retired"


@pytest.mark.parametrize("who", ["nobody", "../keys/store", "scout/../ann", "", "#a", "store", "mem-x"])
def test_as_nobody_is_not_found(who: str, shell: Terminal):
    done = shell("--json", "list", "--as", who) if who else shell("--json", "list", "--as", " ")
    assert (done.code, done.error["code"]) == (4, "not_found")


def test_an_agent_acts_as_one_of_its_instances(shell: Terminal, cast: Cast):
    row = shell.ok("remember", "Seen from the night shift.", "--as", "scout#night-2")
    assert (row["by"]["id"], row["by"]["instance"]) == (cast.scout, "night-2")
    assert "scout#night-2" in shell("get", row["id"]).out
    assert shell.fails("list", "--as", "ben#x", code=2)["code"] == "invalid"
    assert shell.fails("list", "--as", "scout#", code=2)["code"] == "invalid"


def test_a_project_is_where_one_works(shell: Terminal):
    shell.ok("space", "add", "projects/ann/apollo")
    row = shell.ok("--project", "ann/apollo", "remember", "We launch in June.")
    assert row["by"]["project"] == "projects/ann/apollo"
    assert shell.fails("--project", "a//b", "list", code=2)["code"] == "invalid"


def unlike(done: Done, *names: str) -> tuple[int, bytes, bytes]:
    """Give an answer without the names that were asked for."""
    out, err = done.stdout, done.stderr
    for name in names:
        out, err = out.replace(name.encode(), b"X"), err.replace(name.encode(), b"X")
    return done.code, out, err


READING = [
    ["get", "ID"],
    ["edit", "ID", "new words"],
    ["retire", "ID", "why"],
    ["forget", "ID"],
    ["impact", "ID"],
    ["timeline", "ID"],
    ["graph", "ID"],
    ["paths", "ID", "ID"],
    ["paths", "moved", "ID"],
    ["link", "ID", "moved", "--relation", "related_to"],
    ["link", "moved", "ID", "--relation", "related_to"],
    ["reflect", "t", "About it.", "--from", "ID"],
    ["audit", "prove", "ID"],
]


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["words", "json"])
@pytest.mark.parametrize("line", READING, ids=" ".join)
def test_what_may_not_be_read_is_answered_like_what_is_absent(
    line: list[str], as_json: list[str], shell: Terminal, cast: Cast
):
    hidden, absent = (
        shell(*as_json, *[id if word == "ID" else word for word in line]) for id in (cast.private, ABSENT)
    )
    assert hidden.code == 4
    assert unlike(hidden, cast.private) == unlike(absent, ABSENT)
    assert shell("get", cast.private, "--as", "ben").code == 0


@pytest.mark.parametrize("line", [["list", "-n", "NS"], ["recall", "flat", "-n", "NS"], ["persona", "x", "-n", "NS"]])
def test_a_namespace_that_may_not_be_read_is_answered_like_one_that_is_not_there(
    line: list[str], shell: Terminal, cast: Cast
):
    own, none = f"users/{cast.ben}", "users/hum-zzzzzzzzzzzzzzzzzzzzzzzzzz"
    hidden, absent = (shell(*[place if word == "NS" else word for word in line]) for place in (own, none))
    assert hidden.code == 4
    assert unlike(hidden, own) == unlike(absent, none)


def test_nothing_hidden_is_listed_recalled_or_counted(shell: Terminal, cast: Cast):
    for line in (["list", "--all", "--limit", "100"], ["recall", "flat look"], ["space", "list"], ["who", "list"]):
        done = shell(*line)
        assert done.code == 0
        assert cast.private not in done.out and "flat" not in done.out
    assert f"users/{cast.ben}" not in shell("space", "list").out
    events = shell.ok("audit", "log", "--limit", "100")["events"]
    assert cast.private not in str(events)
    hidden = [event for event in events if "hidden" in event]
    assert [event.keys() for event in hidden] == [{"seq", "hidden", "leaf"}] * len(hidden)
    own = shell.ok("audit", "log", "--after", str(hidden[-1]["seq"] - 1), "--limit", "1", "--as", "ben")["events"]
    assert own[0]["seq"] == hidden[-1]["seq"] and "hidden" not in own[0]
    assert shell.fails("audit", "prove", str(hidden[-1]["seq"]), code=3)["details"]["reason"] == "hidden"
    assert shell.ok("audit", "prove", str(hidden[-1]["seq"]), "--as", "ben")["proof"]


def test_who_may_not_see_all_events_can_still_hold_the_log_against_a_checkpoint(shell: Terminal):
    note = shell.ok("audit", "checkpoint")["checkpoint"]
    events, tree = shell.ok("audit", "log", "--limit", "100")["events"], Frontier()
    assert any("hidden" in event for event in events) and not all("hidden" in event for event in events)
    for event in events:
        tree.append(bytes.fromhex(event["leaf"]))
    claim = checkpoint.parse(note, None)
    assert (tree.size, tree.root()) == (claim.size, claim.root)
    tree.append(bytes.fromhex(events[-1]["leaf"]))
    assert tree.root() != claim.root


def test_what_may_be_read_and_not_done_is_forbidden(shell: Terminal, cast: Cast):
    for line in (
        ["rewrite", "--as", "scout"],
        ["backup", str(shell.state), "--as", "scout"],
        ["space", "policy", "global", "language", "pt", "--as", "scout"],
        ["who", "add", "agent", "rook", "--as", "scout"],
        ["audit", "export", "-", "--as", "scout"],
    ):
        assert shell.fails(*line, code=3)["code"] == "forbidden"
    assert shell("audit", "export", "-", "--as", "scout").out == ""


def test_every_error_class_has_the_exit_code_of_the_table():
    assert {error.code: error.exit_code for error in ERRORS} == {
        "invalid": 2,
        "no_model": 2,
        "forbidden": 3,
        "memory_full": 3,
        "rate_limited": 3,
        "refused": 3,
        "not_found": 4,
        "conflict": 5,
        "busy": 6,
        "unavailable": 6,
        "integrity": 7,
    }


def test_errors_of_the_classes_that_a_command_meets_exit_as_the_table_says(shell: Terminal, cast: Cast, tmp_path: Path):
    assert shell.fails("remember", " ", code=2)["code"] == "invalid"
    assert shell.fails("rewrite", "--as", "scout", code=3)["code"] == "forbidden"
    assert shell.fails("edit", cast.persona, "new", code=3)["code"] == "refused"
    assert shell.fails("get", ABSENT, code=4)["code"] == "not_found"
    shell.ok("retire", cast.moved, "gone")
    assert shell.fails("edit", cast.moved, "new", code=5)["code"] == "conflict"
    nowhere = str(tmp_path / "nowhere" / "a.svg")
    assert shell.fails("graph", cast.home, "--picture", nowhere, code=6)["code"] == "unavailable"
    full = shell.ok("who", "add", "agent", "rook")["id"]
    for _ in range(32):
        shell.ok("remember", "x" * 2048, "--namespace", f"agents/{full}", "--as", "rook")
    assert (
        shell.fails("remember", "x", "--namespace", f"agents/{full}", "--as", "rook", code=3)["code"] == "memory_full"
    )


def test_self_links_cycles_and_reflections_over_nothing_are_refused(shell: Terminal, cast: Cast):
    assert shell.fails("link", cast.home, cast.home, "--relation", "related_to", code=2)["code"] == "invalid"
    assert shell("link", cast.moved, cast.home, "--relation", "derived_from").code in (3, 5)
    assert shell.fails("reflect", "t", "Over nothing.", "--from", ABSENT, code=4)["code"] == "not_found"
    assert shell.fails("reflect", "t", "Over nothing.", "--from", "", code=2)["code"] == "invalid"
    assert shell("reflect", "t", "Over nothing.").code == 2
    assert shell.fails("link", cast.home, cast.moved, "--relation", "loves", code=2)["code"] == "invalid"


def test_a_write_with_a_key_is_done_once(shell: Terminal, cast: Cast):
    line = ["remember", "Once.", "--idempotency-key", "k1"]
    first, before = shell.ok(*line), shell.ok("list")["total"]
    assert shell.ok(*line)["id"] == first["id"]
    assert shell.ok("list")["total"] == before
    error = shell.fails("remember", "Otherwise.", "--idempotency-key", "k1", code=5)
    assert error["code"] == "conflict"
    thought = ["reflect", "t", "A thought.", "--from", first["id"], "--idempotency-key", "k2"]
    assert shell.ok(*thought) == shell.ok(*thought)
    assert shell.fails(*thought, "--tag", "new", code=5)["code"] == "conflict"
    assert shell.ok(*line, "--as", "scout")["id"] != first["id"]


@pytest.mark.parametrize("given", ["{", "[1]", '"x"', '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 10_000, '{"a": 1e400}'])
def test_metadata_that_is_no_json_object_is_invalid(given: str, shell: Terminal):
    assert shell.fails("remember", "text", "--metadata", given, code=2)["code"] == "invalid"
    assert shell.ok("remember", "text", "--metadata", '{"a": [1, {"b": null}]}')["metadata"] == {"a": [1, {"b": None}]}
