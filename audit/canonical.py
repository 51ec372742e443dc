"""Turn values into the one byte string that stands for them, and back.

The form is RFC 8785 canonical JSON with fewer things allowed: ASCII keys, no floating-point numbers, integers
within ±(2⁵³−1), no lone surrogates, at most 32 containers inside one another. Source: docs/spec/audit.md §1.1.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import NoReturn

from audit.errors import Invalid

MAX_DEPTH = 32
MAX_INTEGER = 2**53 - 1
MAX_EVENT_BYTES = 64 * 1024
_TOO_LARGE = "an integer beyond ±(2^53−1)"


def encode(value: object, *, limit: int | None = None) -> bytes:
    """Return the canonical bytes of a JSON value; tuples count as arrays.

    Raises `Invalid` for anything outside the restricted form and for more than `limit` bytes.
    """
    _check(value)
    data = _render(value)
    if limit is not None and len(data) > limit:
        raise Invalid(f"{len(data)} bytes of JSON, allowed are {limit}", hint="split it", size=len(data), limit=limit)
    return data


def decode(data: bytes, *, limit: int | None = None) -> object:
    """Return the value whose canonical form is exactly `data`.

    Raises `Invalid` for bytes that are not UTF-8 JSON, that are longer than `limit`, or that `encode` would not
    have written: duplicate or unsorted keys, spaces, needless escapes, floats, `-0`, a byte order mark.
    """
    if limit is not None and len(data) > limit:
        raise Invalid(f"{len(data)} bytes of JSON, allowed are {limit}", size=len(data), limit=limit)
    try:
        value = _DECODER.decode(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Invalid("not JSON in UTF-8", hint="the bytes were changed or cut") from error
    if not data.isascii() or data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        _check(value)  # only such bytes can hold a key that is not ASCII, or nest too deep
    if _render(value) != data:
        raise Invalid("JSON that is not in canonical form", hint="the bytes were changed after they were written")
    return value


def to_base64(data: bytes) -> str:
    """Return standard base64 with padding, the only form `from_base64` reads."""
    return base64.b64encode(data).decode("ascii")


def from_base64(text: object) -> bytes:
    """Return the bytes that `to_base64` writes as `text`; raises `Invalid` for every other spelling."""
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError as error:  # binascii.Error, or a character beyond ASCII
        raise Invalid("not base64") from error
    if to_base64(data) != text:
        raise Invalid("not base64")
    return data


def _refuse_number(text: str) -> NoReturn:
    raise Invalid(f"number {text[:40]} is not an integer", hint="write it as text")


def _read_integer(text: str) -> int:
    number = int(text)
    if not -MAX_INTEGER <= number <= MAX_INTEGER:
        raise Invalid(_TOO_LARGE, hint="write it as text")
    return number


_DECODER = json.JSONDecoder(parse_int=_read_integer, parse_float=_refuse_number, parse_constant=_refuse_number)
# Within the restricted form the standard library's C encoder writes what the library `rfc8785` writes, at a tenth of
# the time; every write encodes an event and verification all of a log. A test holds the two equal.
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False)


def _render(value: object) -> bytes:
    try:
        return _ENCODER.encode(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Invalid("text holds a lone surrogate", hint="store well-formed Unicode") from error


def _check(value: object) -> None:
    """Refuse what the restricted form leaves out, level by level; surrogates are left to the encoders."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 1):
        containers = False
        inner: list[object] = []
        for item in level:
            if item is None or isinstance(item, (str, bool)):
                continue
            if isinstance(item, int):
                if not -MAX_INTEGER <= item <= MAX_INTEGER:
                    raise Invalid(_TOO_LARGE, hint="write it as text")
                continue
            containers = True
            if isinstance(item, dict):
                if not _are_ascii(item):
                    raise Invalid("an object key is not ASCII text")
                inner.extend(item.values())
            elif isinstance(item, (list, tuple)):
                inner.extend(item)
            else:
                raise Invalid(f"a {type(item).__name__} has no canonical form", hint="use text or whole numbers")
        if not containers:
            return
        level = inner
    raise Invalid(f"more than {MAX_DEPTH} containers inside one another")


def _are_ascii(keys: Iterable[str]) -> bool:
    try:
        return all(map(str.isascii, keys))
    except TypeError:  # a key that is no text
        return False
