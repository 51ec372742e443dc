"""An encoder whose vectors are sums of one fixed direction a word: near texts share words, and it costs nothing."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from substrate.recall.embedding import DEFAULT_MODEL, Floats, Progress
from substrate.recall.words import words


class WordVectors:
    """Encode a text as the normalised sum of its words' directions; a blank one as zeros."""

    def __init__(self, model_id: str = "words/1", dimension: int = 48, source: str = DEFAULT_MODEL) -> None:
        self.model_id, self.dimension, self.source = model_id, dimension, source
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> Floats:
        self.encoded += texts
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for number, text in enumerate(texts):
            for word in words(text):
                rows[number] += self._direction(word)
            rows[number] /= max(float(np.linalg.norm(rows[number])), 1e-9)
            if progress is not None:
                progress(number + 1, len(texts))
        return rows

    def _direction(self, word: str) -> Floats:
        return _direction(self.model_id, self.dimension, word)


@lru_cache
def _direction(model_id: str, dimension: int, word: str) -> Floats:
    seed = int.from_bytes(hashlib.blake2b(f"{model_id} {word}".encode(), digest_size=8).digest())
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
