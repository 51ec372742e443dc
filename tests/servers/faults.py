"""What a server can do wrong, each by name, with the ``reason`` of the error it has to end in."""

from tests.servers.sockets import Behaviour, Exchange

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def _silent(exchange: Exchange) -> None:
    exchange.until_gone()


def _drips_headers(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    exchange.drip(b"a")


def _drips_lines_of_headers(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    exchange.drip(b"HTTP/1.1 100 Continue\r\n\r\n")


def _drips_body(exchange: Exchange) -> None:
    exchange.send(HEAD + b"Content-Length: 1000000\r\n\r\n")
    exchange.drip(b" ")


def _drips_chunks(exchange: Exchange) -> None:
    exchange.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    exchange.drip(b"1\r\n \r\n", every_s=0.001)


def _resets(exchange: Exchange) -> None:
    exchange.reset()


def _closes(exchange: Exchange) -> None:
    exchange.connection.close()


def _stops_halfway(exchange: Exchange) -> None:
    exchange.send(HEAD + b'Content-Length: 1000\r\n\r\n{"message"')


def _stops_in_a_chunk(exchange: Exchange) -> None:
    exchange.send(HEAD + b'Transfer-Encoding: chunked\r\n\r\nff\r\n{"message"')


def _announces_too_much(exchange: Exchange) -> None:
    exchange.send(HEAD + b"Content-Length: 10000000\r\n\r\n")
    exchange.until_gone()


def _never_ends(exchange: Exchange) -> None:
    exchange.send(HEAD + b"\r\n")
    for _ in range(1_000):
        exchange.send(b" " * 65_536)


def _speaks_no_http(exchange: Exchange) -> None:
    exchange.send(b"\x00\xff\x1b]0;owned\x07\r\n\r\n")


def _fails(exchange: Exchange) -> None:
    exchange.reply({"error": "out of\x1b[2J memory\u202e " + "x" * 5_000}, 500)


def _is_forbidden(exchange: Exchange) -> None:
    exchange.reply(b"<html>no</html>", 403)


def _redirects(exchange: Exchange) -> None:
    exchange.reply({}, 302, Location="http://127.0.0.1:9/elsewhere")


def _has_no_model(exchange: Exchange) -> None:
    exchange.reply({"error": "model 'x' not found"}, 404)


def _breaks_utf8(exchange: Exchange) -> None:
    exchange.reply(b'{"message": {"role": "assistant", "content": "\xff\xfe"}, "choices": []}')


def _answers_text(exchange: Exchange) -> None:
    exchange.reply(b"Sure! Here you go.")


def _answers_another_json(exchange: Exchange) -> None:
    exchange.reply([1, 2, 3])


def _answers_with_nothing(exchange: Exchange) -> None:
    exchange.reply(b"")


def _nests(exchange: Exchange) -> None:
    exchange.reply(b"[" * 500_000)


FAULTS: dict[str, tuple[Behaviour, str]] = {
    "silent": (_silent, "timeout"),
    "drips headers": (_drips_headers, "timeout"),
    "drips lines of headers": (_drips_lines_of_headers, "timeout"),
    "drips body": (_drips_body, "timeout"),
    "drips chunks": (_drips_chunks, "timeout"),
    "resets": (_resets, "reset"),
    "closes": (_closes, "reset"),
    "stops halfway": (_stops_halfway, "reset"),
    "stops in a chunk": (_stops_in_a_chunk, "reset"),
    "announces too much": (_announces_too_much, "too_large"),
    "never ends": (_never_ends, "too_large"),
    "speaks no HTTP": (_speaks_no_http, "status"),
    "fails": (_fails, "status"),
    "is forbidden": (_is_forbidden, "status"),
    "redirects": (_redirects, "status"),
    "has no model": (_has_no_model, "missing"),
    "breaks UTF-8": (_breaks_utf8, "not_json"),
    "answers text": (_answers_text, "not_json"),
    "answers another JSON": (_answers_another_json, "not_json"),
    "answers with nothing": (_answers_with_nothing, "not_json"),
    "nests": (_nests, "not_json"),
}
