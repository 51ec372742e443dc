"""Find ids among many by halving, without a table beside them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.bytes_]
Slots = NDArray[np.int64]


def ordered(ids: Ids) -> Slots:
    """Return where the ids stand in sorted order; quick where they nearly are, as ids that begin with a time."""
    return np.argsort(ids, kind="stable")


def found(ids: Ids, order: NDArray[np.int32] | Slots, wanted: Ids) -> Slots:
    """Return where each wanted id stands among `ids`, of which `order` is the sorted order; -1 for one that is not."""
    if not len(order) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    alike = wanted.astype(ids.dtype)  # of one type with what is searched, or all of that is copied
    at = order[np.minimum(np.searchsorted(ids, alike, sorter=order), len(order) - 1)]
    return np.where(ids[at] == wanted, at, -1)
