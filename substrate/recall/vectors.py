"""Hold vectors as a matrix that is mapped, not read, and compare a query with the rows a caller may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Vectors:
    """Hold unit rows of one model's space: `ids` (n, bytes), `digests` of the texts (n × 16), `matrix` (n × d)."""

    model_id: str
    ids: NDArray[np.bytes_]
    digests: NDArray[np.uint8]
    matrix: Floats

    def __len__(self) -> int:
        return len(self.ids)


def build(model_id: str, ids: Sequence[str], digests: Sequence[bytes], matrix: Floats) -> Vectors:
    """Return the vectors of some documents, in the order given."""
    names = np.array([name.encode() for name in ids], dtype=np.bytes_)
    return Vectors(model_id, names, np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 16), matrix)


def combine(parts: Sequence[tuple[Vectors, Bools]]) -> Vectors:
    """Return the rows kept of each part, in order; the parts are of one model, and there is at least one."""
    return Vectors(
        parts[0][0].model_id,
        np.concatenate([part.ids[keep] for part, keep in parts]),
        np.concatenate([part.digests[keep] for part, keep in parts]),
        np.concatenate([part.matrix[keep] for part, keep in parts]),
    )


def cosines(matrix: Floats, query: Floats) -> NDArray[np.float64]:
    """Return the cosine of each row with the query.

    Each row's sum is formed by itself, so that it does not depend, to the last bit, on which rows stand beside it; the
    matrix product of a linear algebra library does.
    """
    return np.asarray(np.einsum("ij,j->i", matrix, query), np.float64)
