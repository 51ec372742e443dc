"""Count the tokens a language model will make of a text: exactly by a tokenizer that is named, else never too few.

Without one the count is a bound. A tokenizer that works on bytes makes at most one token of a byte, and one that knows
words makes at most one of a letter; so a text costs its bytes of UTF-8, but a common English word together with the
space before it costs one. Which words are common is in `common_words.txt`: those that are a single token, so written,
in each tokenizer that `benchmarks/token_bound.py` tries.

Source: docs/concepts/recall.md (a budget).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from substrate.errors import Invalid, NoModel
from substrate.escape import quote

Count = Callable[[str], int]

BOUND = "bound"
WORDS = "common_words.txt"
_WORD = re.compile(r" ([^\W\d_]+)")  # with the space before it, and nothing that is part of a word beside it


def counter(tokenizer: str | None = None) -> tuple[str, Count]:
    """Return the name of a way to count, and the count: of the tokenizer in this file (`tokenizer.json`), or the bound.

    Raises NoModel without the library that runs it, Invalid for a file that holds none.
    """
    return (BOUND, bound) if tokenizer is None else (tokenizer, _exact(tokenizer))


def bound(text: str) -> int:
    """Return a number of tokens that no tokenizer in view exceeds for this text."""
    common = _common()
    return len(text.encode()) - sum(len(word) for word in _WORD.findall(text) if word in common)


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    return frozenset(resources.files(__package__).joinpath(WORDS).read_text("utf-8").split())


@lru_cache(maxsize=4)
def _exact(tokenizer: str) -> Count:
    hint = "give the file tokenizer.json of a model"
    try:
        held = json.loads(Path(tokenizer).expanduser().read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Invalid(
            f"{quote(tokenizer)} holds no tokenizer: {error}", hint=hint, fields={"tokenizer": "form"}
        ) from error
    if not isinstance(held, dict) or not isinstance(held.get("model"), dict):
        raise Invalid(f"{quote(tokenizer)} holds no tokenizer", hint=hint, fields={"tokenizer": "form"})
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise NoModel(
            "tokens cannot be counted exactly", hint="pip install tokenizers, or name no tokenizer"
        ) from error
    found: Any = Tokenizer.from_str(json.dumps(held))
    found.no_truncation()
    found.no_padding()
    return lambda text: len(found.encode(text, add_special_tokens=False).ids)
