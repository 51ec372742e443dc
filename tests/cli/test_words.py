"""What a person reads: one line a thing, headed by its author, plain without colour."""

import io
import re
import shutil
import sys
from pathlib import Path

import pytest

from cli.door import progress
from tests.cli.conftest import Cast
from tests.cli.terminal import Terminal


def test_what_was_written_is_said_in_one_line(shell: Terminal, cast: Cast):
    assert re.fullmatch(r"mem-\w{26}  active  The ferry\.\n", shell("remember", "The ferry.").out)
    done = shell("reflect", "Sea", "Mara swims.", "--from", "moved", "-e", "mara")
    assert re.fullmatch(r"mem-\w{26}  reflection about mara, rests on 1, depth 1\n", done.out)
    assert shell("edit", "moved", "I moved to Porto.").out.endswith("  active  I moved to Porto.\n")
    assert f"{cast.choir}  retired" in shell("retire", cast.choir, "over").out
    assert "(related_to" not in shell("link", cast.home, cast.tuesdays, "--relation", "related_to").out


def test_a_memory_is_shown_whole(shell: Terminal, cast: Cast):
    day = r"\d{4}-\d\d-\d\d"
    assert re.fullmatch(
        rf"Observation {cast.moved}, ann, {day}, global\nname: moved\ntags: travel\n> I moved to Lisbon in May\.\n",
        shell("get", "moved").out,
    )
    assert re.fullmatch(
        rf"Reflection {cast.tuesdays}, scout, {day}, global\ntitle: Tuesdays\nentity: mara\n"
        rf"derived from: {cast.choir}\n> Mara sings in a choir on Tuesdays\.\n",
        shell("get", cast.tuesdays).out,
    )
    shell("forget", cast.choir, "asked to")
    shown = shell("get", cast.choir).out
    assert f"Observation {cast.choir}, ann" in shown and ", deleted\n" in shown
    assert re.search(rf"\(forgotten by {cast.ann} on {day}: asked to\)", shown)


def test_lists_paths_and_neighbourhoods_name_authors(shell: Terminal, cast: Cast):
    listed = shell("list").out.splitlines()
    assert listed[-1] == "5 of 5"
    assert listed[0].split()[:2] == [cast.persona, "persona"] and listed[0].endswith("curator: Persona of Mara")
    assert shell("paths", cast.persona, cast.choir).out == (
        f"{cast.persona} -derived_from-> {cast.tuesdays} -derived_from-> {cast.choir}\n"
    )
    assert shell("paths", cast.moved, cast.choir, "--depth", "1").out == "no path\n"
    around = shell("graph", cast.tuesdays, "--depth", "1").out
    assert f"{cast.choir}  observation  ann: Tuesdays are for the choir" in around
    assert f"{cast.tuesdays} -derived_from-> {cast.choir}" in around
    assert f"by {cast.scout}  Tuesdays" in shell("timeline", "mara").out
    assert f"rests on it: {cast.tuesdays}  scout: Tuesdays" in shell("impact", cast.choir).out


def test_recall_says_how_it_found_what(shell: Terminal, cast: Cast):
    out = shell("recall", "Lisbon", "--max", "1").out
    assert re.search(r"score \d+\.\d{3} \([a-z]+ \d+\.\d\d", out)
    assert shell("recall", "zebra crossing quantum").out == "nothing found\n"
    assert "left out" in shell("recall", "Mara", "--chars", "10").out


def test_a_score_that_says_nothing_is_not_shown(empty: Terminal):
    empty.ok("remember", "I moved to Lisbon in May.")
    found = empty.ok("recall", "Lisbon")["hits"][0]
    assert found["score"] == 0, "the only memory there is stands at the mean"
    out = empty("recall", "Lisbon").out
    assert "score" not in out and re.search(r"^found by lexical \d+\.\d\d", out, re.MULTILINE)


def test_forgetting_says_what_went_and_what_is_stale(shell: Terminal, cast: Cast):
    first = shell("forget", cast.choir)
    assert f"forgotten: {cast.choir}\n" in first.out
    assert f"rests on it still: {cast.tuesdays}" in first.out
    assert f"this takes it too: ai-memory forget {cast.choir} --cascade\n" in first.out
    out = shell("forget", cast.choir, "asked to", "--cascade").out
    assert f"forgotten: {cast.tuesdays}\n" in out
    assert f"persona versions forgotten: {cast.persona}" in out
    assert "persona of mara in global: " in out


def test_what_would_fall_tells_a_claim_once_however_many_versions_hold_it(shell: Terminal, cast: Cast):
    shell.ok("persona", "mara", "--regenerate", "--full")
    told = shell("impact", cast.choir).out
    assert told.count("claim: Mara sings in a choir on Tuesdays.") == 1
    assert "claim: Mara sings in a choir on Tuesdays. (in 2 versions)\n" in told


def test_scopes_are_tables_and_lines(shell: Terminal, cast: Cast):
    shell.ok("space", "add", "projects/ann/apollo")
    shell.ok("space", "member", "projects/ann/apollo", "scout", "--trust", "guest", "--role", "build")
    table = shell("space", "list").out.splitlines()
    assert table[0].split() == ["path", "kind", "access", "memories"]
    assert any(row.split() == ["global", "global", "rw", "5"] for row in table)
    shown = shell("space", "show", "projects/ann/apollo").out
    assert shown.startswith("projects/ann/apollo: project, rw\n")
    assert f"member: {cast.ann}, owner, members:admin, project:admin" in shown
    assert f"member: {cast.scout}, guest, build" in shown
    assert re.search(r"agent_write: \"propose\" \(default\)", shown)
    assert shell("space", "show", "team/none").code == 4
    who = shell("who", "show", "scout").out
    assert "handle: scout" in who and re.search(r"credential: cred-\w+, ed25519, [0-9a-f]{16}", who)
    token = shell("who", "token", "scout", "--instance", "night")
    assert re.fullmatch(r"[\w-]{40,}\n", token.out) and "keep it now" in token.err
    assert "token, " in shell("who", "show", "scout").out and "for night" in shell("who", "show", "scout").out
    assert shell("who", "list").out.splitlines()[0].split()[:2] == ["handle", "kind"]


def test_status_and_the_log_are_told_in_lines(shell: Terminal, cast: Cast):
    status = shell("status").out
    assert "holds: 2 observations, 1 persona, 2 reflections" in status
    assert f"you: ann ({cast.ann})" in status
    log = shell("audit", "log", "--limit", "50").out
    assert re.search(rf"\d+  \S+  memory_added +{cast.ann}  {cast.moved}", log)
    assert "(not yours to see)  " in log
    assert "last whole verification: never" in status
    shell("audit", "verify")
    assert "last whole verification: 20" in shell("status").out


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_and_nowhere_else(capfd: pytest.CaptureFixture[str]):
    progress("encoding", 1, 2)
    assert capfd.readouterr() == ("", "")
    before, sys.stderr = sys.stderr, Screen()
    try:
        progress("encoding", 1, 2)
        half = sys.stderr.getvalue()
        progress("encoding", 2, 2)
        whole = sys.stderr.getvalue()
    finally:
        sys.stderr = before
    assert half == f"\rencoding [{'#' * 15:<30}] 1 of 2 "
    assert whole.endswith(" \r")


def test_the_demo_tells_its_story_in_order_on_standard_output(empty: Terminal, tmp_path: Path):
    folder = tmp_path / "tides"
    done = empty("demo", "--home", str(folder))
    assert (done.code, done.err) == (0, "")
    *steps, last = re.findall(r"^\$ (\S*ai-memory .*|export .*)$", done.out, re.MULTILINE)
    place = str(Path(sys.executable).with_name("ai-memory"))
    away = Path(place).exists() and shutil.which("ai-memory") != place
    assert last == f"{place if away else 'ai-memory'} list", "what is copied from here runs"
    assert [step.split()[1] for step in steps if step.startswith("ai-memory")] == [
        *("recall", "persona", "persona", "persona", "paths", "impact", "forget", "persona", "rewrite", "audit"),
        *("graph", "graph"),
    ]
    before, after = done.out.split("--- The persona without it")
    assert "interview at the port authority.[^" in before
    assert "port authority.[^" not in after
    assert "graph TD" in after and "ok: " in after
    assert (folder / "mara.svg").read_text().startswith("<svg")
    story = Terminal(folder / "home", folder / "state")
    for step in steps[1:3]:
        assert step.startswith("ai-memory persona mara")
    shown = story.process("persona", "mara")
    assert shown.code == 0
    assert "# Mara" in shown.out


def test_the_demo_answers_json_and_keeps_out_of_a_used_folder(empty: Terminal, tmp_path: Path):
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "a").touch()
    assert empty.fails("demo", "--home", str(tmp_path / "used"), code=5)["code"] == "conflict"
    assert empty.fails("demo", "--home", str(tmp_path / "used" / "a"), code=5)["code"] == "conflict"
    found = empty.ok("demo", "--home", str(tmp_path / "new"))
    assert found.keys() == {"ok", "home", "state", "picture"}
    assert not empty.home.exists()
