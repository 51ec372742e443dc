"""Small servers on real sockets: what one does with a request is a function."""

import http.client
import json
import select
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

PATIENCE_S = 10.0  # after which a server ends the connection: a client that should have gone before is found out


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Exchange:
    """One request and the connection to answer it on."""

    request: Request
    connection: socket.socket

    def reply(self, body: object, status: int = 200, **headers: str) -> None:
        """Answer as a server should; what is no bytes is written as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status} So\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n{more}\r\n"
        self.send(head.encode() + data)

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def drip(self, data: bytes, every_s: float = 0.01) -> None:
        """Send a byte at a time, from the beginning again and again, until the client has gone or patience ends."""
        for byte in islice(cycle(data), int(PATIENCE_S / every_s)):
            self.send(bytes([byte]))
            if select.select([self.connection], [], [], every_s)[0]:
                return

    def until_gone(self) -> None:
        """Wait for the client to go, or for patience to end."""
        self.connection.settimeout(PATIENCE_S)
        self.connection.recv(1)

    def reset(self) -> None:
        """End the connection the hard way."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


Behaviour = Callable[[Exchange], None]


class Server:
    """A server on a free port of this machine; ``requests`` holds what it was sent, oldest first."""

    def __init__(self, behave: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self._behave, self._tls = behave, tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed
                return
            self._connections.append(connection)
            self._threads.append(threading.Thread(target=self._serve, args=(connection,), daemon=True))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), self._secured(connection) as connection:  # a client may go whenever it likes
            request = _read(connection)
            if request is not None:
                self.requests.append(request)
                self._behave(Exchange(request, connection))

    def _secured(self, connection: socket.socket) -> socket.socket:
        return self._tls.wrap_socket(connection, server_side=True) if self._tls else connection


def _read(connection: socket.socket) -> Request | None:
    stream = connection.makefile("rb")
    first = stream.readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers = {name.lower(): value for name, value in http.client.parse_headers(stream).items()}
    return Request(first[0], first[1], headers, stream.read(int(headers.get("content-length", 0))))


@contextmanager
def served(behave: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run a server while the block runs."""
    server = Server(behave, tls)
    try:
        yield server
    finally:
        server.close()


def unused() -> str:
    """Give an address of this machine at which nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
