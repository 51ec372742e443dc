"""Stand for a vector by the signs of its coordinates after a fixed rotation, to find the likely nearest in little time.

A code depends on its own row alone, to the last bit, and the distance of two codes on nothing else: so what is found
among some rows does not depend on which other rows there are. The rotation flips signs that are drawn once and for all
and mixes the coordinates by a Walsh-Hadamard transform, twice.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint64]  # words × rows

_SEED = 20_260_801
_ROWS = 4_096  # rows encoded at a time
_BLOCK = 32_768  # rows compared at a time, so that what lies between stays in the processor's cache


def width(dimension: int) -> int:
    """Return how many bits stand for a vector of so many coordinates: the next power of two, at least 64."""
    return max(64, 1 << (dimension - 1).bit_length())


def encoded(matrix: NDArray[np.float32]) -> Codes:
    """Return the codes of some vectors, given as rows: words × rows."""
    codes = np.empty((width(matrix.shape[1]) // 64, len(matrix)), np.uint64)
    for start in range(0, len(matrix), _ROWS):
        turned = _turned(matrix[start : start + _ROWS])
        codes[:, start : start + _ROWS] = np.packbits(turned > 0, axis=1).view(np.uint64).T
    return codes


def distances(codes: Codes, query: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return in how many bits each code differs from that of a query."""
    asked = np.packbits(query @ _rotation(len(query)) > 0).view(np.uint64)
    found = np.empty(codes.shape[1], np.uint16)
    for start in range(0, codes.shape[1], _BLOCK):
        block = codes[:, start : start + _BLOCK]
        total = found[start : start + _BLOCK]
        total[:] = np.bitwise_count(block[0] ^ asked[0])
        for word in range(1, len(block)):
            total += np.bitwise_count(block[word] ^ asked[word])
    return found


def _turned(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return each row turned: coordinate by coordinate, so that none depends on the rows beside it."""
    bits = width(rows.shape[1])
    turned = np.zeros((len(rows), bits), np.float32)
    turned[:, : rows.shape[1]] = rows
    for signs in np.random.default_rng(_SEED).choice(np.array([-1, 1], np.float32), (2, bits)):
        turned = _mixed(turned * signs)
    return turned


@lru_cache(maxsize=4)
def _rotation(dimension: int) -> NDArray[np.float32]:
    """Return the same as a matrix, quicker for the single row of a query."""
    return _turned(np.eye(dimension, dtype=np.float32))


def _mixed(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the Walsh-Hadamard transform of each row, by sums and differences of whole columns."""
    step, (count, bits) = 1, rows.shape
    while step < bits:
        pairs = rows.reshape(count, bits // (2 * step), 2, step)
        left, right = pairs[:, :, 0], pairs[:, :, 1]
        rows = np.stack([left + right, left - right], axis=2).reshape(count, bits)
        step *= 2
    return rows
