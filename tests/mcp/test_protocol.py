"""The stream holds the protocol and nothing else, whatever comes in and whatever goes wrong."""

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from tests.cli.terminal import ROOT, SCRIPT, Terminal
from tests.mcp.server import BROKEN, NOISY, Server

PING = {"jsonrpc": "2.0", "method": "ping"}
WRONG: dict[str, tuple[bytes, int]] = {
    "not JSON": (b"nonsense", -32700),
    "not UTF-8": (b'{"jsonrpc":"2.0","id":"a","method":"\xff"}', -32700),
    "overlong UTF-8": (b"\xc0\xaf", -32700),
    "a byte order mark": (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"a","method":"ping"}', -32700),
    "no number": (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"a":NaN}}', -32700),
    "a number out of range": (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"a":1e400}}', -32700),
    "nested 10,000 deep": (b"[" * 10_000 + b"]" * 10_000, -32700),
    "a batch": (json.dumps([{**PING, "id": "a"}]).encode(), -32600),
    "no object": (b"5", -32600),
    "no id": (json.dumps({**PING, "id": None}).encode(), -32600),
    "a fraction as id": (json.dumps({**PING, "id": 1.5}).encode(), -32600),
    "an object as id": (json.dumps({**PING, "id": {}}).encode(), -32600),
    "true as id": (json.dumps({**PING, "id": True}).encode(), -32600),
    "an id twice": (b'{"jsonrpc":"2.0","id":"a","id":"b","method":"ping"}', -32600),
    "half a character in the id": (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', -32600),
}
NAMED: dict[str, tuple[dict[str, Any] | bytes, int]] = {
    "no version": ({"id": "a", "method": "ping"}, -32600),
    "another version": ({"jsonrpc": "1.0", "id": "a", "method": "ping"}, -32600),
    "no method": ({"jsonrpc": "2.0", "id": "a"}, -32600),
    "a number as method": ({"jsonrpc": "2.0", "id": "a", "method": 5}, -32600),
    "params in a list": ({**PING, "id": "a", "params": []}, -32602),
    "params as text": ({**PING, "id": "a", "params": "x"}, -32600),
    "a key twice": (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"b":1,"b":2}}', -32600),
    "nested 100 deep": (
        b'{"jsonrpc":"2.0","id":"a","method":"ping","params":' + b'{"a":' * 100 + b"1" + b"}" * 101,
        -32600,
    ),
    "half a character": (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"b":"\\ud800"}}', -32600),
    "an unknown method": ({"jsonrpc": "2.0", "id": "a", "method": "tools/steal"}, -32601),
    "an unknown tool": ({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "rm"}}, -32602),
    "no tool": ({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {}}, -32602),
    "a cursor": ({"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": {"cursor": "2"}}, -32602),
}


@pytest.fixture(scope="module")
def talking(template: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Share one server between the tests of single messages: it has to outlive all of them."""
    folder = tmp_path_factory.mktemp("talking")
    with Server(Terminal(folder / "home", folder / "state")) as server:
        server.shake_hands()
        yield server
        assert server.end() == 0
        assert b"Traceback" not in server.stderr


@pytest.mark.parametrize(("line", "code"), WRONG.values(), ids=WRONG)
def test_what_is_no_message_is_an_error_without_id_and_the_server_lives(talking: Server, line: bytes, code: int):
    talking.send(line)
    answer = talking.answer(None)
    assert (answer["error"]["code"], answer["id"]) == (code, None)
    assert talking.ask("ping")["result"] == {}


@pytest.mark.parametrize(("message", "code"), NAMED.values(), ids=NAMED)
def test_a_wrong_request_is_answered_under_its_id(talking: Server, message: Any, code: int):
    talking.send(message)
    assert talking.answer("a")["error"]["code"] == code
    assert talking.ask("ping")["result"] == {}


def test_a_line_of_fifty_megabytes_is_an_error_and_never_held(talking: Server):
    before = _memory(talking)
    part = b"x" * 1_000_000
    assert talking.process.stdin is not None
    for _ in range(50):
        talking.process.stdin.write(part)
    talking.send(b"")
    assert talking.answer(None)["error"]["code"] == -32600
    assert talking.ask("ping")["result"] == {}
    assert _memory(talking) - before < 20_000


def _memory(server: Server) -> int:
    """Give the kilobytes the process holds."""
    with open(f"/proc/{server.process.pid}/status") as file:
        return int(next(line.split()[1] for line in file if line.startswith("VmRSS")))


def test_empty_lines_and_answers_to_nothing_are_passed_over(talking: Server):
    talking.send(b"")
    talking.send(b"  \r")
    talking.send({"jsonrpc": "2.0", "id": 7, "result": {}})
    talking.send({"jsonrpc": "2.0", "method": "notifications/unknown"})
    talking.send(b'{"jsonrpc":"2.0","id":"z","method":"ping"}\r')
    talking.send({"jsonrpc": "2.0", "id": "y", "method": "ping", "params": None})
    assert [talking.read()["id"] for _ in range(2)] == ["z", "y"]


def test_a_call_before_the_handshake_is_an_error(empty: Terminal):
    with Server(empty) as server:
        assert server.ask("tools/list")["error"]["code"] == -32602
        assert server.ask("ping")["result"] == {}
        assert server.shake_hands()["serverInfo"]["name"] == "ai-memory"
        assert len(server.ask("tools/list")["result"]["tools"]) == 8
        assert server.end() == 0


def test_what_a_library_prints_does_not_reach_the_stream(shell: Terminal):
    with Server(shell, before=NOISY) as server:
        server.shake_hands()
        assert server.call("memory_read", id="moved")["structuredContent"]["content"] == "I moved to Lisbon in May."
        assert server.end() == 0
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)
        assert server.stderr.count(b"noise") == 3


def test_a_server_that_lets_a_library_print_would_be_noticed(shell: Terminal):
    with Server(shell, before=BROKEN) as server:
        server.shake_hands()
        with pytest.raises(json.JSONDecodeError):
            server.call("memory_read", id="moved")


def test_requests_sent_before_the_end_of_input_are_all_answered(shell: Terminal):
    with Server(shell) as server:
        server.shake_hands()
        for number in range(20):
            arguments = {"name": "memory_store", "arguments": {"text": f"Ferry {number} leaves."}}
            server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": arguments})
        server.close_stdin()
        rows = [server.answer(number)["result"]["structuredContent"] for number in range(20)]
        assert server.process.wait(60) == 0
    assert [row["content"] for row in rows] == [f"Ferry {number} leaves." for number in range(20)]


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_well(shell: Terminal, told: signal.Signals):
    with Server(shell) as server:
        server.shake_hands()
        server.call("memory_store", text="The ferry leaves at nine.")
        server.process.send_signal(told)
        assert server.process.wait(20) == 0
        assert server.stderr == b""
    assert shell("audit", "verify").code == 0


def test_a_client_that_vanishes_ends_the_server_well(shell: Terminal):
    process = shell.start("mcp", stdin=subprocess.PIPE)
    with process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        process.stdin.flush()
        assert process.wait(20) == 0
        assert process.stderr is not None and process.stderr.read() == b""


SLOW = """
from cli import mcp_tools
quick = mcp_tools.Tool.call
def call(tool, memory, given, progress):
    if tool.name == "memory_search":
        while not (memory.db.home / "go").exists():
            pass
    return quick(tool, memory, given, progress)
mcp_tools.Tool.call = call
"""


def test_a_ping_is_answered_and_a_call_can_be_cancelled_while_another_runs(shell: Terminal):
    search = {"name": "memory_search", "arguments": {"query": "ferry"}}
    store = {"name": "memory_store", "arguments": {"text": "The ferry leaves at ten."}}
    with Server(shell, before=SLOW) as server:
        server.shake_hands()
        server.send({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": search})
        server.send({"jsonrpc": "2.0", "id": "waits", "method": "tools/call", "params": store})
        assert server.ask("ping")["result"] == {}
        for id in ("waits", "slow"):
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        assert server.ask("ping")["result"] == {}
        (shell.home / "go").touch()
        assert server.call("memory_read", id="moved")["isError"] is False
        assert server.end() == 0
        assert not {"slow", "waits"} & {json.loads(line).get("id") for line in server.lines}
    assert "The ferry leaves at ten." not in shell("list").out


TELLING = """
from cli import mcp_tools
quiet = mcp_tools.Tool.call
def call(tool, memory, given, progress):
    for done in (1, 1, 2):
        progress("reading", done, 2)
    return quiet(tool, memory, given, progress)
mcp_tools.Tool.call = call
"""


def test_progress_is_told_to_a_client_that_asks_for_it(shell: Terminal):
    call = {"name": "memory_read", "arguments": {"id": "moved"}}
    with Server(shell, before=TELLING) as server:
        server.shake_hands()
        assert "result" in server.ask("tools/call", call)
        assert not any(b"notifications/progress" in line for line in server.lines)
        assert "result" in server.ask("tools/call", call | {"_meta": {"progressToken": "t"}})
        assert server.end() == 0
        told = [json.loads(line)["params"] for line in server.lines if b"notifications/progress" in line]
    assert told == [{"progressToken": "t", "progress": done, "total": 2, "message": "reading"} for done in (1, 2)]


ENDLESS = TELLING.replace(
    "for done in (1, 1, 2):", "for done in range(1, 10**9) if tool.name == 'memory_search' else ():"
)


def test_a_cancelled_call_ends_where_it_next_tells_how_far_it_is(shell: Terminal):
    search = {"name": "memory_search", "arguments": {"query": "ferry"}}
    with Server(shell, before=ENDLESS) as server:
        server.shake_hands()
        server.send({"jsonrpc": "2.0", "id": "endless", "method": "tools/call", "params": search})
        assert server.ask("ping")["result"] == {}
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "endless"}})
        assert server.call("memory_read", id="moved")["isError"] is False
        assert server.end() == 0
        assert not any(b"endless" in line for line in server.lines)
        assert server.stderr == b""


def test_without_a_store_reading_says_so_and_the_first_write_makes_one(empty: Terminal):
    with Server(empty) as server:
        server.shake_hands()
        refused = server.call("memory_read", id="moved")
        assert refused["structuredContent"]["error"] == empty.fails("get", "moved", code=4)
        stored = server.call("memory_store", text="I moved to Lisbon in May.", name="moved")["structuredContent"]
        assert server.call("memory_read", id="moved")["structuredContent"]["id"] == stored["id"]
        assert server.end() == 0


def test_two_servers_and_the_command_line_work_on_one_store(shell: Terminal):
    count = 15
    with Server(shell) as one, Server(shell, "--as", "scout", "mcp") as two:
        for server in (one, two):
            server.shake_hands()
        found: list[dict[str, Any]] = []
        threads = [
            threading.Thread(
                target=lambda s=server, n=name: found.extend(
                    s.call("memory_store", text=f"{n} saw ferry {number}.") for number in range(count)
                )
            )
            for server, name in ((one, "Ann"), (two, "Scout"))
        ]
        for thread in threads:
            thread.start()
        lines = [shell.process("--json", "remember", f"The shell saw ferry {number}.") for number in range(3)]
        for thread in threads:
            thread.join()
        assert [result["isError"] for result in found] == [False] * 2 * count
        assert [done.code for done in lines] == [0, 0, 0]
        assert one.end() == two.end() == 0
    assert shell.ok("list", "--kind", "observation", "--limit", "100")["total"] == 1 + 2 * count + 3


def test_a_key_that_is_taken_away_lets_nobody_in_any_more(shell: Terminal):
    scout = next(row for row in shell.ok("who", "list")["items"] if row["handle"] == "scout")
    with Server(shell, "--as", "scout", "mcp") as server:
        server.shake_hands()
        assert server.call("memory_read", id="moved")["isError"] is False
        key = shell.ok("who", "show", "scout")["credentials"][0]
        shell.ok("who", "revoke", key["id"])
        refused = server.call("memory_read", id="moved")
        assert refused["structuredContent"]["error"]["code"] == "forbidden", scout
        assert server.end() == 0


def test_a_fault_nobody_foresaw_is_an_error_without_traceback(shell: Terminal):
    before = "from cli import mcp_tools\nmcp_tools.Tool.call = lambda *_: 1 / 0\n"
    with Server(shell, before=before) as server:
        server.shake_hands()
        result = server.call("memory_read", id="moved")
        assert (result["isError"], result["structuredContent"]["error"]["code"]) == (True, "error")
        assert "ZeroDivisionError" in result["content"][0]["text"]
        assert server.end() == 0
        assert server.stderr == b""


def test_a_closed_stream_is_told_and_not_served(shell: Terminal):
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    for closed in ("<&-", ">&-"):
        line = ["sh", "-c", f'exec "$0" -c "$1" mcp {closed}', sys.executable, SCRIPT]
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, env=env, check=False)
        assert (done.returncode, done.stdout) == (6, b"")
        assert b"closed" in done.stderr and b"Traceback" not in done.stderr
