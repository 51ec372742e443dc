"""Hold vectors as a matrix that is mapped, not read, and compare a query with the rows a caller may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from substrate.recall import codes
from substrate.recall.codes import Codes
from substrate.recall.ids import found, ordered

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Vectors:
    """Hold unit rows of one model's space: `ids` (n, bytes), `digests` of the texts (n × 16), `matrix` (n × d).

    `codes` (words × n) stand for the rows where there are too many to compare them all.
    """

    model_id: str
    ids: NDArray[np.bytes_]
    digests: NDArray[np.uint8]
    matrix: Floats
    codes: Codes

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def order(self) -> Ints:
        """The rows in order of their ids."""
        return ordered(self.ids)

    def rows(self, ids: NDArray[np.bytes_]) -> Ints:
        """Return the rows of those of these documents that have one here, ascending."""
        rows = found(self.ids, self.order, ids)
        return np.sort(rows[rows >= 0])


def build(model_id: str, ids: Sequence[str], digests: Sequence[bytes], matrix: Floats) -> Vectors:
    """Return the vectors of some documents, in the order given."""
    names = np.array([name.encode() for name in ids], dtype=np.bytes_)
    return of(model_id, names, np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 16), matrix)


def of(model_id: str, ids: NDArray[np.bytes_], digests: NDArray[np.uint8], matrix: Floats) -> Vectors:
    """Return vectors with the codes of their rows."""
    return Vectors(model_id, ids, digests, matrix, codes.encoded(matrix))


def combine(parts: Sequence[tuple[Vectors, Bools]]) -> Vectors:
    """Return the rows kept of each part, in order; the parts are of one model, and there is at least one."""
    return Vectors(
        parts[0][0].model_id,
        np.concatenate([part.ids[keep] for part, keep in parts]),
        np.concatenate([part.digests[keep] for part, keep in parts]),
        np.concatenate([part.matrix[keep] for part, keep in parts]),
        np.concatenate([part.codes[:, keep] for part, keep in parts], axis=1),
    )


def cosines(matrix: Floats, query: Floats) -> NDArray[np.float64]:
    """Return the cosine of each row with the query.

    Each row's sum is formed by itself, so that it does not depend, to the last bit, on which rows stand beside it; the
    matrix product of a linear algebra library does.
    """
    return np.asarray(np.einsum("ij,j->i", matrix, query), np.float64)
