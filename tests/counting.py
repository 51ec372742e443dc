"""Measure work by counting it, which says the same on every machine and under every load."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from curator.persona import words


def calls(work: Callable[[], object]) -> int:
    """Count the calls of functions, of Python and of C, in work that remembers no text it has seen.

    What a function of C does inside is not counted: that of a pattern is for `benchmarks/scaling.py` to measure.
    """
    count = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    words.forget()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
