"""Read JSON-RPC as strictly as it is written: one line of UTF-8 is one message, and nothing else passes.

A line is bounded before it is parsed, a value before it is believed; what is wrong is named with the code that JSON-RPC
gives it, and with the request's id where that can be told. Source: docs/adr/0024-mcp-by-the-official-library.md.
"""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from substrate import limits
from substrate.errors import Unavailable

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
DEPTH = 64  # objects and lists inside each other; what is stored may have fewer
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

Id = int | str | None


class Fault(Exception):
    """Carry why a line is no message: the code, the reason, and the id of the request if it has one."""

    def __init__(self, code: int, reason: str, id: Id = None) -> None:
        super().__init__(reason)
        self.code, self.reason, self.id = code, reason, id


@dataclass(frozen=True)
class Message:
    """Hold a request, or with ``id`` None a notification."""

    method: str
    params: dict[str, Any] | None
    id: Id


class Lines:
    """Cut a stream of bytes into lines, never holding more than ``most`` bytes of one."""

    def __init__(self, most: int = limits.JSON_BYTES) -> None:
        self._most = most
        self._held = bytearray()
        self._passing = False  # the rest of a line that was too long is on its way

    def cut(self, data: bytes) -> Iterator[bytes | None]:
        """Yield the lines that ``data`` ends, without their breaks; None for one that is too long, as soon as it is."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            yield from self._take(part)
            if not self._passing:
                yield bytes(self._held)
            self._held.clear()
            self._passing = False
        yield from self._take(rest)

    def rest(self) -> bytes:
        """Give what stands after the last line break."""
        return bytes(self._held)

    def _take(self, part: bytes) -> Iterator[None]:
        if self._passing:
            return
        if len(self._held) + len(part) > self._most:
            self._held.clear()
            self._passing = True
            yield None
        else:
            self._held += part


def too_long() -> Fault:
    """Make the fault of a line that is over the bound."""
    return Fault(INVALID_REQUEST, f"a message is over {limits.JSON_BYTES:,} bytes")


def parse(line: bytes) -> Message | None:
    """Read a line; None for an empty one, and for an answer to a question nobody asked. Raises Fault."""
    if not line.strip():
        return None
    found, twice = _json(line)
    if isinstance(found, list):
        raise Fault(INVALID_REQUEST, "a batch is not served: send one message a line")
    if not isinstance(found, dict):
        raise Fault(INVALID_REQUEST, "a message is a JSON object")
    id = None if "id" in twice else _id(found)
    if twice:
        raise Fault(INVALID_REQUEST, f"a key stands twice: {twice[0]!r:.80}", id)
    if _deep(found, line):
        raise Fault(INVALID_REQUEST, f"nested more than {DEPTH} deep", id)
    if _SURROGATE.search(line) and not _encodes(found):
        raise Fault(INVALID_REQUEST, "half a character: an unpaired surrogate", id if _encodes(id) else None)
    return _message(found, id)


def _json(line: bytes) -> tuple[Any, list[str]]:
    """Read JSON as RFC 8259 has it; beside it the keys that stand twice in one object."""
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            names = [name for name, _ in items]
            twice.extend(name for name in found if names.count(name) > 1)
        return found

    try:
        text = line.decode()
        return json.loads(text, object_pairs_hook=pairs, parse_constant=_no_number, parse_float=_finite), twice
    except UnicodeDecodeError as error:
        raise Fault(PARSE_ERROR, f"not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise Fault(PARSE_ERROR, f"nested more than {DEPTH} deep") from error
    except ValueError as error:
        raise Fault(PARSE_ERROR, f"not JSON: {error}"[:200]) from error


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is out of range")
    return number


def _message(found: dict[str, Any], id: Id) -> Message | None:
    if found.get("jsonrpc") != "2.0":
        raise Fault(INVALID_REQUEST, '"jsonrpc" has to be "2.0"', id)
    if "method" not in found:
        if "id" in found and ("result" in found) != ("error" in found):
            return None
        raise Fault(INVALID_REQUEST, '"method" is missing', id)
    if "id" in found and id is None:
        raise Fault(INVALID_REQUEST, '"id" has to be a text or a whole number')
    method, params = found["method"], found.get("params")
    if not isinstance(method, str):
        raise Fault(INVALID_REQUEST, '"method" has to be a text', id)
    if not isinstance(params, dict | None):  # null is how some clients leave them out
        code = INVALID_PARAMS if isinstance(params, list) else INVALID_REQUEST
        raise Fault(code, '"params" has to be an object', id)
    return Message(method, params, id)


def _id(found: dict[str, Any]) -> Id:
    id = found.get("id")
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def _deep(found: Any, line: bytes) -> bool:
    if line.count(b"{") + line.count(b"[") <= DEPTH:
        return False
    level = [found]
    for _ in range(DEPTH):
        parts = (value.values() if isinstance(value, dict) else value for value in level)
        level = [inner for part in parts for inner in part if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _encodes(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def claim() -> tuple[int, int]:
    """Keep standard input and output for the protocol alone: give descriptors of their own for them.

    From then on what reads standard input finds its end, and what is printed on standard output, by whatever library
    or child, goes to standard error. Raises Unavailable when one of the two is closed.
    """
    if sys.stdin is None or sys.stdout is None:  # whatever has its number by now is no stream of a client
        raise Unavailable(
            "standard input or output is closed", hint="a client starts `ai-memory mcp` with pipes on both"
        )
    inlet, outlet = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error either
        os.dup2(nothing, 1)
    if nothing > 2:
        os.close(nothing)
    return inlet, outlet


def write_all(fd: int, data: bytes) -> bool:
    """Write all of it; False when the reader has gone away."""
    try:
        while data:
            data = data[os.write(fd, data) :]
    except OSError as error:
        if error.errno in (errno.EPIPE, errno.EBADF, errno.ECONNRESET):
            return False
        raise
    return True
