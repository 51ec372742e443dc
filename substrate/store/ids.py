"""The real clock and the maker of ids; every other module is handed these two.

Source: docs/spec/model.md §4 (times and ids).
"""

from __future__ import annotations

import secrets
import threading
import time
from datetime import UTC, datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, lower case


def system_clock() -> str:
    """Give the time now as fixed-width RFC 3339 UTC text with microseconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class IdMaker:
    """Make ids such as ``mem-01k…``: a prefix, 48 bits of milliseconds, 80 random bits; later ids sort later."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def __call__(self, prefix: str) -> str:
        """Make the next id with this prefix."""
        with self._lock:
            value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
            value = self._last = max(value, self._last + 1)
        return f"{prefix}-{encode_id(value)}"


def encode_id(value: int) -> str:
    """Write a number below 2**130 as 26 characters that sort like the number."""
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))
