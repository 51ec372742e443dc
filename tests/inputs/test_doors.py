"""The same texts through the command line and the MCP server as processes of their own: bytes in, bytes out."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.terminal import Done, Terminal
from tests.inputs.cases import CASES, TOKEN, Case
from tests.mcp.server import Server

CONTROL = re.compile(b"[\x00-\x08\x0b-\x1f\x7f]")
BY_ID = {case.id: case for case in CASES}
STORED = (
    "13 a turn of direction",
    "16 letters of tags",
    "46 the clipboard",
    "29 an open comment",
    "130 a Turkish letter",
)
REFUSED = ("89 nothing to see", "71 a token", "68 one on a line")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Give a shell without a store."""
    monkeypatch.setenv("LOGNAME", "ann")
    return Terminal(tmp_path / "home", tmp_path / "state")


def harmless(done: Done) -> bool:
    """Tell whether nothing on either stream acts on a terminal, turns a line round or is no UTF-8."""
    shown = done.stdout + done.stderr
    return not CONTROL.search(shown) and not re.search(
        "[\x80-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", shown.decode()
    )


def test_texts_on_a_command_line_are_stored_and_shown_harmless(shell: Terminal):
    for id in STORED:
        done = shell.process("remember", "--", BY_ID[id].text)
        assert done.code == 0 and harmless(done), done
    listed = shell.process("list", "--json")
    assert harmless(listed)
    assert {row["content"] for row in json.loads(listed.out)["items"]} == {BY_ID[id].text for id in STORED}
    assert harmless(shell.process("recall", "disregard Istanbul", "--max", "50", env={"LANG": "C", "LC_ALL": "C"}))


@pytest.mark.parametrize("id", REFUSED)
def test_texts_on_a_command_line_are_refused_with_a_hint(id: str, shell: Terminal):
    assert shell.process("remember", "The ferry is in the dock.").code == 0
    done = shell.process("--json", "remember", "--title", BY_ID[id].text, "--", "x")
    assert (done.code, done.stdout) == (2, b"") and harmless(done)
    assert done.error["details"]["hint"] and TOKEN not in done.err and "Traceback" not in done.err
    assert json.loads(shell.process("--json", "list").out)["total"] == 1


@pytest.mark.parametrize(
    "stdin", [b"\xff\xfe", b"\xc0\xaf", "\ufeff{}".encode("utf-16")], ids=["79", "80", "80 UTF-16"]
)
def test_79_80_bytes_that_are_no_text_are_refused(stdin: bytes, shell: Terminal):
    assert shell.process("remember", "The ferry is in the dock.").code == 0
    done = shell.process("--json", "remember", "-", stdin=stdin)
    assert (done.code, done.error["code"]) == (2, "invalid") and done.error["details"]["hint"]


def told(case: Case) -> bool:
    """Tell whether JSON of UTF-8 can say it."""
    return not re.search("[\ud800-\udfff]", case.text)


def test_every_text_through_one_server_is_a_result_or_a_typed_error(shell: Terminal):
    assert shell.process("remember", "The ferry is in the dock.", "--name", "ferry").code == 0
    stored = 0
    with Server(shell) as server:
        server.shake_hands()
        for case in filter(told, CASES):
            for tool, given in (
                ("memory_store", {"text": case.text, "metadata": {"note": case.text}}),
                ("memory_read", {"id": case.text}),
                ("memory_persona", {"entity_id": case.text}),
            ):
                result = server.call(tool, **given)
                data, (content,) = result["structuredContent"], result["content"]
                if result["isError"]:
                    assert data["error"]["code"] in ("invalid", "not_found"), (case.id, tool, data)
                    assert data["error"]["details"]["hint"]
                elif tool == "memory_store":
                    stored += 1
                    assert data["content"] == case.text and json.loads(content["text"]) == data
                assert not CONTROL.search(content["text"].encode()), (case.id, tool)
        assert server.end() == 0 and b"Traceback" not in server.stderr
    assert stored > 0.8 * len(CASES)
    assert json.loads(shell.process("--json", "list", "--limit", "1").out)["total"] == stored + 1
