"""Data on standard output, everything else on standard error; any terminal, any pipe, any bytes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from substrate.store.baton import Baton
from tests.cli.conftest import Cast
from tests.cli.terminal import ROOT, Terminal

LISBON = "Я живу в Лиссабоне — ünïcödé, 日本, 😀, İstanbul ı"


def test_warnings_and_notes_leave_standard_output_alone(shell: Terminal, cast: Cast):
    done = shell("forget", cast.choir, "--json")
    assert json.loads(done.out)["id"] == cast.choir
    assert "ai-memory rewrite" in done.err


def test_an_error_leaves_standard_output_empty(shell: Terminal):
    done = shell("get", "nothing")
    assert (done.code, done.out) == (4, "")
    assert done.err.splitlines()[0].startswith("error: no memory 'nothing'")
    assert done.err.splitlines()[1].startswith("hint: ")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-16"])
def test_a_terminal_that_lacks_a_character_gets_it_spelled_out(encoding: str, shell: Terminal):
    id = shell.ok("remember", LISBON)["id"]
    done = shell("get", id, encoding=encoding)
    assert (done.code, done.stderr) == (0, b"")
    assert "> " in done.stdout.decode(encoding)
    answer = shell("get", id, "--json", encoding=encoding)
    assert json.loads(answer.stdout.decode(encoding))["content"] == LISBON
    wrong = shell("get", LISBON, "--json", encoding=encoding)
    assert json.loads(wrong.stderr.decode(encoding))["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "tr_TR.UTF-8"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "cp1252:strict"},
        {"NO_COLOR": "1", "TERM": "dumb"},
    ],
    ids=str,
)
def test_any_locale_reads_writes_and_explains(env: dict[str, str], shell: Terminal):
    written = shell.process("remember", LISBON.encode(), "--title", "İı", "--json", env=env)
    assert (written.code, written.stderr) == (0, b"")
    assert json.loads(written.stdout)["content"] == LISBON
    assert shell.process("get", json.loads(written.stdout)["id"], env=env).code == 0
    assert shell.process("remember", "--help", env=env).code == 0
    assert shell.process("get", "ünknown".encode(), env=env).code == 4


def test_nothing_is_coloured(shell: Terminal):
    for line in (["--help"], ["persona", "mara"], ["nosuch"]):
        done = shell.process(*line, env={"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color"})
        assert b"\x1b" not in done.stdout + done.stderr


def test_a_dash_reads_standard_input(shell: Terminal):
    row = json.loads(shell("remember", "-", "--json", stdin="two\nlines — ü\n".encode()).out)
    assert row["content"] == "two\nlines — ü"
    edited = json.loads(shell("edit", row["id"], "-", "--json", stdin=b"one line").out)
    assert edited["content"] == "one line"
    thought = shell("reflect", "Lines", "-", "--from", edited["id"], "--json", stdin=b"It had two lines.")
    assert shell.ok("get", json.loads(thought.out)["id"])["content"] == "It had two lines."


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b"caf\xe9", "encoding"),
        (b"\xc0\xaf", "encoding"),
        (b"\xff\xfea\x00", "encoding"),
        (b"x" * 1_048_577, "too_long"),
    ],
    ids=["latin-1", "overlong", "utf-16", "too long"],
)
def test_standard_input_that_is_no_text_of_ours_is_invalid(given: bytes, reason: str, shell: Terminal):
    done = shell("remember", "-", "--json", stdin=given)
    assert done.code == 2
    assert (done.error["code"], done.error["details"]["fields"]) == ("invalid", {"text": reason})


@pytest.mark.parametrize("given", [b"", b" \n", "\u200b".encode(), b"a\x00b"])
def test_standard_input_without_a_text_is_invalid(given: bytes, shell: Terminal):
    assert shell("remember", "-", "--json", stdin=given).error["code"] == "invalid"


def test_arguments_that_are_not_utf8_are_invalid_and_shown_escaped(shell: Terminal, cast: Cast):
    for line in (
        ["remember", b"caf\xe9"],
        ["remember", "text", "--title", b"\xff"],
        ["edit", cast.moved, b"\xfe"],
        ["who", "show", b"\xff\xfe"],
    ):
        done = shell.process(*line, "--json")
        assert (done.code, done.error["code"]) == (2, "invalid"), done
        done.stderr.decode("ascii")


def test_a_text_may_begin_with_a_dash(shell: Terminal):
    refused = shell("remember", "-rf is dangerous")
    assert refused.code == 2
    assert "put -- before a text that begins with a dash" in refused.err
    done = shell("remember", "--title=-x", "--json", "--", "-rf is dangerous")
    assert (json.loads(done.out)["content"], json.loads(done.out)["title"]) == ("-rf is dangerous", "-x")


def test_a_reader_that_went_away_ends_the_command_quietly(shell: Terminal):
    for line in (["list"], ["list", "--json"], ["get", "nothing"]):
        reading, writing = os.pipe()
        os.close(reading)
        stream = "stderr" if line[0] == "get" else "stdout"
        started = shell.start(*line, **{stream: writing})
        os.close(writing)
        out, err = started.communicate(timeout=60)
        assert (started.returncode, out or b"", err or b"") == (4 if line[0] == "get" else 141, b"", b"")


def test_an_answer_that_cannot_be_written_is_told(shell: Terminal):
    with Path("/dev/full").open("wb") as full:
        started = shell.start("list", stdout=full)
        _, err = started.communicate(timeout=60)
    assert started.returncode == 6
    assert err.startswith(b"error: the answer could not be written: No space left")
    assert b"Traceback" not in err and b"Exception ignored" not in err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_break_nothing(closed: str, shell: Terminal, tmp_path: Path):
    script = tmp_path / "ai-memory"
    script.write_text(f'exec {" ".join(map(repr, _line()))} "$@" {closed}\n')
    started = subprocess.run(["sh", script, "list"], env=_env(shell), capture_output=True, timeout=60, check=False)
    assert (started.returncode, started.stderr) == (0, b"")


def test_an_interrupt_ends_the_command_without_a_traceback(shell: Terminal):
    holder = Baton(shell.home, opened=lambda: None, closing=lambda: None)
    with holder.held():
        # a suite in the background of a shell has interrupts ignored, and a child would inherit that
        started = shell.start("list", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        while not any((shell.home / "queue").glob("[0-9]*")):  # until it waits for the store
            assert started.poll() is None
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    holder.close()
    assert (started.returncode, out, err) == (130, b"", b"interrupted\n")
    assert shell("list").code == 0


def _line() -> list[str]:
    import sys

    from tests.cli.terminal import SCRIPT

    return [sys.executable, "-c", SCRIPT.replace("'", '"')]


def _env(shell: Terminal) -> dict[str, str]:
    from tests.cli.terminal import ROOT

    shared = {"PYTHONPATH": str(ROOT), "AI_MEMORY_HOME": str(shell.home), "AI_MEMORY_STATE": str(shell.state)}
    return {**os.environ, **shared}


def test_an_interrupt_while_the_program_is_being_loaded_is_told_in_words_too():
    code = (
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'cli.app': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from cli.entry import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted\n")
