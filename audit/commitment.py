"""Bind a row's content by a salted hash that outlives the content.

Source: docs/spec/audit.md §1.4.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from audit.errors import Invalid

_SALT = re.compile(r"[0-9a-f]{64}").fullmatch


def commitment(salt_hex: str, table: str, columns: Sequence[tuple[str, str | None]]) -> str:
    """Return the commitment to a row, in hex; SQL computes the same from the row.

    SHA-256 over "content/v1", the salt's 64 hex digits, net(table), then net(name) and net(value) of each column in
    the given order whose value is not None. net(s) is the number of UTF-8 bytes of s in decimal, a colon, s: no
    value can run into the next. Values come as text: numbers in decimal, booleans as true or false.
    """
    if not _SALT(salt_hex):
        raise Invalid("a salt is 64 hex digits")
    parts = ["content/v1", salt_hex, net(table)]
    for name, value in columns:
        if value is not None:
            parts += (net(name), net(value))
    return hashlib.sha256("".join(parts).encode("utf-8")).hexdigest()


def net(text: str) -> str:
    """Return `text` behind its length in UTF-8 bytes and a colon.

    >>> net("naïve")
    '6:naïve'
    """
    if text.isascii():
        return f"{len(text)}:{text}"
    try:
        return f"{len(text.encode('utf-8'))}:{text}"
    except UnicodeEncodeError as error:
        raise Invalid("text holds a lone surrogate", hint="store well-formed Unicode") from error
