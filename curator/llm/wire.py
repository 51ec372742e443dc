"""Speak HTTP with a model's server: one exchange, bounded in time and in size as a whole.

The time is that of the whole exchange, whatever the server does with it: one that sends a byte a second ends at the
same moment as one that sends nothing. No proxy is asked, no redirect is followed, no connection is kept.

Source: docs/adr/0020-models-talk-through-one-room.md.
"""

from __future__ import annotations

import http.client
import io
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from substrate import limits
from substrate.config import is_url
from substrate.errors import Invalid, NoModel
from substrate.escape import quote

_TOLD_CHARS = 200  # characters of a server's own complaint in a message


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered."""

    status: int
    body: bytes


def exchange(
    method: str,
    url: str,
    *,
    timeout_s: float,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    who: str = "the server",
) -> Reply:
    """Send one request to a server, ``who`` in messages, and read its whole answer of `limits.ANSWER_BYTES` at most.

    Raises Invalid for an address that is none, and NoModel with ``reason``: unreachable, timeout, reset (the
    connection ended before the answer), too_large, status (no HTTP, or a redirect). How long a name takes to resolve is
    up to the system.
    """
    end = time.monotonic() + timeout_s
    at = f"{who} at {quote(origin(url), 200)}"
    try:
        with _connected(url, end) as stream:
            try:
                reply = _exchanged(stream, end, method, url, body, headers or {}, at)
            except http.client.IncompleteRead as error:
                raise ConnectionResetError from error
    except TimeoutError as error:
        raise NoModel(
            f"{at} did not answer within {timeout_s:.3g} s",
            hint="wait until it is less busy, choose a smaller model, or raise timeout_s in [models] of config.toml",
            reason="timeout",
        ) from error
    except (ConnectionResetError, BrokenPipeError, ConnectionAbortedError) as error:
        raise NoModel(
            f"{at} ended the connection before its answer", hint="look into the server's log", reason="reset"
        ) from error
    except OSError as error:
        told = error.strerror or str(error)
        raise NoModel(
            f"{at} cannot be reached: {quote(told)}", hint="start it, or correct its address", reason="unreachable"
        ) from error
    except (http.client.HTTPException, ValueError) as error:
        raise NoModel(f"{at} does not speak HTTP", hint="correct its address", reason="status") from error
    if 300 <= reply.status < 400:
        raise NoModel(
            f"{at} answers with a redirect ({reply.status}), and none is followed",
            hint="give the address it leads to",
            reason="status",
            status=reply.status,
        )
    return reply


def origin(url: str) -> str:
    """Give the part of an address that names the server. Raises Invalid for an address that is none."""
    if not is_url(url):
        raise Invalid(f"{quote(url)} is not the address of a server", hint="give one such as http://127.0.0.1:11434")
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def complaint(reply: Reply, key: str | None = None) -> str:
    """Quote what a server says about a request it declined: the ``error`` in its JSON, else the beginning.

    A key that it repeats is left out.
    """
    text = reply.body.decode("utf-8", "replace")
    try:
        found: Any = json.loads(text)["error"]
        said = found["message"] if isinstance(found, dict) else found
    except (ValueError, KeyError, TypeError, RecursionError):
        said = text
    told = said if isinstance(said, str) else text
    return quote(told.replace(key, "[key]") if key else told, _TOLD_CHARS)


def declined(reply: Reply, who: str, complaint: str, hint: str = "look into the server's log") -> NoModel:
    """Make the error for an answer that is no success."""
    return NoModel(f"{who} answered {reply.status}: {complaint}", hint=hint, reason="status", status=reply.status)


def _connected(url: str, end: float) -> socket.socket:
    """Connect to the first address of the server that lets us."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    last: OSError = OSError("it has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM):
        stream = socket.socket(family, kind, protocol)
        try:
            stream.settimeout(_left(end))
            stream.connect(address)
            return _secured(stream, cast(str, parts.hostname)) if parts.scheme == "https" else stream
        except OSError as error:
            stream.close()
            last = error
    raise last


def _secured(stream: socket.socket, host: str) -> socket.socket:
    import ssl  # most servers of models are on this machine

    return ssl.create_default_context().wrap_socket(stream, server_hostname=host)


def _exchanged(
    stream: socket.socket, end: float, method: str, url: str, body: bytes | None, headers: Mapping[str, str], at: str
) -> Reply:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(cast(str, parts.hostname), parts.port)
    connection.default_port = 443 if parts.scheme == "https" else 80
    connection.sock = cast(Any, _Timed(stream, end))
    connection.request(method, parts.path or "/", body, {**headers, "Connection": "close"})
    answer = connection.getresponse()
    if (answer.length or 0) <= limits.ANSWER_BYTES:
        data = answer.read(limits.ANSWER_BYTES + 1)
        if len(data) <= limits.ANSWER_BYTES:
            if answer.length:  # fewer bytes came than were announced
                raise ConnectionResetError
            return Reply(answer.status, data)
    raise NoModel(
        f"{at} answered with more than {limits.ANSWER_BYTES} bytes, and was cut off",
        hint="choose another model",
        reason="too_large",
    )


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Timed(io.RawIOBase):
    """A socket, as far as ``http.client`` uses one, every step of which ends at the same moment."""

    def __init__(self, stream: socket.socket, end: float) -> None:
        self._stream, self._end = stream, end

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        self._stream.settimeout(_left(self._end))
        self._stream.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Give the side to read from, which outlives this one: ``http.client`` closes the other before it reads."""
        return io.BufferedReader(_Timed(self._stream, self._end))

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what has come, at least a byte of it."""
        self._stream.settimeout(_left(self._end))
        return self._stream.recv_into(buffer)
