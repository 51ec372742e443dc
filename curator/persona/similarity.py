"""Measure how close texts are, by meaning where there is an embedder, by their words where there is none.

numpy is imported where it is needed: reading a persona must not load it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from curator.persona import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

Embed = Callable[[Sequence[str]], "Matrix"]
"""Turns n texts into n unit rows."""

DECIMALS: Final = 5  # of a similarity: finer differences are noise of the machine and must not decide anything


def matrix(texts: Sequence[str], embed: Embed | None, without: frozenset[str] = frozenset()) -> Matrix:
    """Answer the n × n similarities, 0 to 1, each text 1.0 with itself; stems in `without` do not count."""
    import numpy as np

    if not texts:
        return np.zeros((0, 0), np.float32)
    rows = (
        np.asarray(embed(list(texts)), np.float32) if embed else _rows([words.stems(text) - without for text in texts])
    )
    close = np.clip(np.round(rows @ rows.T, DECIMALS), 0.0, 1.0)
    np.fill_diagonal(close, 1.0)
    return close


def _rows(bags: Sequence[frozenset[str]]) -> Matrix:
    """Turn bags of stems into unit rows, a rare stem weighing more."""
    import numpy as np

    seen = Counter(stem for bag in bags for stem in bag)
    column = {stem: at for at, stem in enumerate(sorted(seen))}
    rows = np.zeros((len(bags), max(1, len(column))), np.float32)
    for at, bag in enumerate(bags):
        for stem in bag:
            rows[at, column[stem]] = math.log(1 + len(bags) / seen[stem])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), np.float32)


def remembering(embed: Embed | None) -> Embed | None:
    """Give an embedder that encodes each text once; None stays None."""
    if embed is None:
        return None
    import numpy as np

    rows: dict[str, Matrix] = {}

    def encode(texts: Sequence[str]) -> Matrix:
        new = [text for text in dict.fromkeys(texts) if text not in rows]
        rows.update(zip(new, embed(new) if new else (), strict=True))
        return np.stack([rows[text] for text in texts])

    return encode


def reach(close: Matrix, embedded: bool) -> Matrix:
    """Turn similarities into how far one text states another: nearly nothing below half-way, nearly all above it."""
    import numpy as np

    middle, width = (STATES, STATES_WIDTH) if embedded else (SHARES, SHARES_WIDTH)
    return np.asarray(1.0 / (1.0 + np.exp((middle - close) / width)), np.float32)


STATES: Final = 0.65  # cosine at which one sentence half states another
STATES_WIDTH: Final = 0.10
SHARES: Final = 0.30  # the same for overlap of words
SHARES_WIDTH: Final = 0.08
