"""Arrays that grow at their end without being copied."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
ROOM = 1_024  # rows kept free behind an array that is copied, besides an eighth of it


class Column:
    """Hold an array whose last axis grows; `values` is what it holds now.

    Growing writes behind the end, so whoever holds the values from before keeps seeing what it saw. Of two that grow
    from one length the second is copied.
    """

    def __init__(self, values: Array) -> None:
        self.values, self._buffer, self._used = values, values, [values.shape[-1]]

    def grown(self, fresh: Array) -> Column:
        """Return the column with these values behind it."""
        held, size = len_of(self.values), len_of(self.values) + len_of(fresh)
        taken = self._used[0] != held or size > len_of(self._buffer)
        if taken or not np.can_cast(fresh.dtype, self._buffer.dtype, "safe"):
            joined = np.concatenate([self.values, fresh], axis=-1)
            grown = Column(np.empty((*joined.shape[:-1], size + size // 8 + ROOM), joined.dtype))
            grown._buffer[..., :size] = joined
        else:
            grown = Column(self._buffer)
            self._buffer[..., held:size] = fresh
            grown._used = self._used
        grown._used[0] = size
        grown.values = grown._buffer[..., :size]
        return grown


def len_of(array: Array) -> int:
    """Return how long the last axis is."""
    return int(array.shape[-1])
