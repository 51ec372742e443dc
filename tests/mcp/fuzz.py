"""Send a server what no client should, and see that it lives, answers, and writes nothing but its protocol.

`python -m tests.mcp.fuzz --seed 1 --messages 1000`; with `--broken` the server lets a library print to standard output,
which has to be found.
"""

import argparse
import copy
import json
import random
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.cli.terminal import Terminal
from tests.mcp.server import BROKEN, Json, Server

TEXTS = (
    *("", " ", "a", "alice", "\x00", "\u202e", "é" * 300, "\U0001f9ea", "a\nb", "{}", "../../etc/passwd", "1; DROP"),
    *("[^1]: x", "\ufeff", "\u200b", "x" * 70_000, "mem-" + "0" * 26, "1e400", "__class__"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2**31, 2**63, 10**40, [], {}, [[]], [None], {"a": {"b": []}}, *TEXTS),
    [1] * 2_000,
)
CALLS: tuple[tuple[str, Json], ...] = (
    ("memory_store", {"text": "The ferry leaves at nine.", "tags": ["ferry"], "metadata": {"a": 1}}),
    ("memory_search", {"query": "ferry", "max": 3, "kind": "observation"}),
    ("memory_read", {"id": "moved"}),
    ("memory_forget", {"id": "mem-00000000000000000000000000", "why": "asked to", "cascade": True}),
    ("memory_reflect", {"title": "Ferry", "text": "Alice takes it.", "sources": ["moved"], "entity_id": "alice"}),
    ("memory_persona", {"entity_id": "mara", "namespace": "global", "version": 1}),
    ("memory_persona_generate", {"entity_id": "nobody"}),
    ("memory_find_paths", {"source": "moved", "target": "moved", "depth": 2}),
    ("memory_nothing", {}),
)
METHODS = ("ping", "tools/list", "resources/list", "prompts/get", "server/discover", "initialize", "x/y", "tools/call")
RAW = (
    *(b"", b" ", b"null", b"[]", b"{}", b"[1,2]", b"nonsense", b"\xff\xfe", b"\xc0\xaf", b"\xef\xbb\xbf{}", b"{" * 9),
    *(b'"\\ud800"', b"NaN", b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000, b"1" * 5_000),
    *(b"x" * 1_500_000, b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', b"\x00\x01\x02", b"\r", b"{}\r"),
    b'{"jsonrpc":"2.0","id":"nan","method":"ping","params":{"a":NaN}}',
    b'{"jsonrpc":"2.0","id":"half-\\ud800","method":"ping"}',
)


def messages(seed: int, count: int) -> Iterator[bytes]:
    """Yield lines: whole messages, ones with a part changed, ones with bytes changed, and what is none."""
    chance = random.Random(seed)
    for number in range(count):
        kind = chance.random()
        if kind < 0.15:
            yield chance.choice(RAW)
            continue
        message = whole(chance, f"m-{number}")
        if kind > 0.35:
            for _ in range(chance.randint(1, 3)):
                change(chance, message)
        line = json.dumps(message, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
        yield damaged(chance, line) if kind > 0.85 else line.replace(b"\n", b" ")


def whole(chance: random.Random, id: str) -> Json:
    """Make a message as a client would."""
    message: Json = {"jsonrpc": "2.0", "id": id}
    kind = chance.random()
    if kind < 0.6:
        name, arguments = chance.choice(CALLS)
        return message | {"method": "tools/call", "params": {"name": name, "arguments": copy.deepcopy(arguments)}}
    if kind < 0.9:
        return message | {"method": chance.choice(METHODS), "params": {"cursor": chance.choice(TEXTS)}}
    if kind < 0.95:
        return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": chance.choice(TEXTS)}}
    return message | {"result": {}}


def change(chance: random.Random, message: Json) -> None:
    """Change one value somewhere in a message, drop it, or put another beside it."""
    places: list[Json] = [message]
    for place in places:
        places += [value for value in place.values() if isinstance(value, dict)]
    place = chance.choice(places)
    key = chance.choice([*place, chance.choice(TEXTS)])
    if chance.random() < 0.2:
        place.pop(key, None)
    else:
        place[key] = copy.deepcopy(chance.choice(VALUES))


def damaged(chance: random.Random, line: bytes) -> bytes:
    """Change, drop or add bytes; never a line break."""
    data = bytearray(line)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        data[at : at + chance.randint(0, 3)] = bytes(chance.randrange(256) for _ in range(chance.randint(0, 3)))
    return bytes(data).replace(b"\n", b" ")


def has_to_be_answered(line: bytes) -> Any:
    """Give the id of a line that is a request beyond doubt, else None."""
    if len(line) > 1_000_000:
        return None
    try:
        found = json.loads(line.decode(), parse_constant=int, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0" or not isinstance(found.get("method"), str):
        return None
    id = found.get("id")
    plain = isinstance(id, int) and not isinstance(id, bool)
    named = isinstance(id, str) and not any(unicodedata.category(c) == "Cs" for c in id)
    return id if plain or named else None


def _once(pairs: list[tuple[str, Any]]) -> Json:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("twice")
    return dict(pairs)


def attack(shell: Terminal, seed: int, count: int, before: str = "") -> list[str]:
    """Send the messages and list everything that is wrong; nothing is the good answer."""
    owed: Counter[str] = Counter()
    cancelled: set[str] = set()
    with Server(shell, before=before) as server:
        try:
            server.shake_hands()
            for line in messages(seed, count):
                if (id := has_to_be_answered(line)) is not None:
                    owed[json.dumps(id)] += 1
                elif b"cancelled" in line:
                    cancelled |= {json.dumps(value) for value in VALUES}
                server.send(line)
            alive = server.ask("ping").get("result") == {}
            code = server.end()
        except (ValueError, OSError, EOFError) as error:
            return [f"the conversation broke off: {error!r:.300}"]
        wrong = [] if alive and code == 0 else [f"ping answered: {alive}, exit {code}"]
        wrong += [f"on standard error: {server.stderr[-500:]!r}"] if b"Traceback" in server.stderr else []
        for line in server.lines:
            try:
                wrong += check(json.loads(line), owed)
            except ValueError:
                wrong.append(f"no JSON on standard output: {line[:80]!r}")
    return wrong + [f"never answered: {id:.80}" for id, n in owed.items() if n > 0 and id not in cancelled]


def check(message: Any, owed: Counter[str]) -> list[str]:
    """List what is wrong with an answer, and take it off what is owed."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or "method" in message:
        return [f"no answer: {message!r:.80}"]
    if ("result" in message) == ("error" in message) or "id" not in message:
        return [f"no answer: {message!r:.80}"]
    owed[json.dumps(message["id"])] -= 1
    if "error" in message and not isinstance(message["error"].get("code"), int):
        return [f"an error without a code: {message!r:.80}"]
    result = message.get("result", {})
    if result.get("isError") and result["structuredContent"]["error"]["code"] == "error":
        return [f"unforeseen: {result['structuredContent']['error']['message']:.200}"]
    return []


def main() -> int:
    """Run one campaign on a store of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--broken", action="store_true", help="attack a server that lets a library print")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shell = Terminal(Path(folder) / "home", Path(folder) / "state")
        assert shell.process("remember", "I moved to Lisbon in May.", "--name", "moved").code == 0
        wrong = attack(shell, asked.seed, asked.messages, BROKEN if asked.broken else "")
    print(f"seed {asked.seed}: {asked.messages} messages, {len(wrong)} faults", *wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
