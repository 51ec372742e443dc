"""Run a MiniLM sentence encoder with numpy alone: the same vectors as torch gives, without importing it."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class MiniLM:
    """Encode texts with a BERT encoder, mean pooling and normalisation, as sentence-transformers does.

    Loads in about 0.1 s, where importing torch takes seconds, and on one thread encodes as many short texts a second.
    Reads a folder in sentence-transformers' layout; the weights are mapped, not copied.
    Raises ValueError for a folder that holds another kind of model.
    """

    def __init__(self, folder: Path) -> None:
        from threadpoolctl import ThreadpoolController
        from tokenizers import Tokenizer

        steps = [step["type"].rpartition(".")[2] for step in json.loads((folder / "modules.json").read_text("utf-8"))]
        length = _settings(folder / "sentence_bert_config.json")
        if (
            steps not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
            or length["do_lower_case"]
        ):
            raise ValueError(f"{folder} does more than pool")
        config, pooling = _settings(folder / "config.json"), _settings(folder / "1_Pooling" / "config.json")
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            raise ValueError(f"{folder} holds no BERT encoder with exact GELU")
        if not pooling.get("pooling_mode_mean_tokens"):
            raise ValueError(f"{folder} does not pool by the mean")
        self.heads: int = config["num_attention_heads"]
        self.layers: int = config["num_hidden_layers"]
        self.dimension: int = config["hidden_size"]
        self.epsilon = np.float32(config["layer_norm_eps"])
        self.tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(length["max_seq_length"])
        self.tokenizer.no_padding()
        self.weights = read_safetensors(folder / "model.safetensors")
        self._threads = ThreadpoolController()

    def encode(self, text: str) -> Floats:
        """Return the unit vector of a text.

        A text is encoded alone, never in a batch: its vector is the same to the last bit whatever is encoded beside it.
        One thread does it, because two that wait for each other on a busy machine are ten times slower.
        """
        with self._threads.limit(limits=1):
            tokens = self.tokenizer.encode(text).ids
            words = self.weights["embeddings.word_embeddings.weight"][tokens]
            positions = self.weights["embeddings.position_embeddings.weight"][: len(tokens)]
            state = words + positions + self.weights["embeddings.token_type_embeddings.weight"][0]
            state = self._normalise(state, "embeddings.LayerNorm")
            for layer in range(self.layers):
                state = self._layer(state, f"encoder.layer.{layer}.")
            pooled = state.mean(axis=0)
            return np.asarray(pooled / max(float(np.linalg.norm(pooled)), 1e-12), np.float32)

    def _layer(self, state: Floats, name: str) -> Floats:
        query, key, value = (self._by_head(state, f"{name}attention.self.{part}") for part in ("query", "key", "value"))
        weights = softmax(query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(query.shape[-1])))
        context = (weights @ value).transpose(1, 0, 2).reshape(state.shape)
        mixed = state + self._linear(context, f"{name}attention.output.dense")
        state = self._normalise(mixed, f"{name}attention.output.LayerNorm")
        inner = gelu(self._linear(state, f"{name}intermediate.dense"))
        return self._normalise(state + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")

    def _by_head(self, state: Floats, name: str) -> Floats:
        return self._linear(state, name).reshape(len(state), self.heads, -1).transpose(1, 0, 2)

    def _linear(self, state: Floats, name: str) -> Floats:
        return np.asarray(state @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"])

    def _normalise(self, state: Floats, name: str) -> Floats:
        state = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.square(state).mean(axis=-1, keepdims=True) + self.epsilon)
        return np.asarray(state / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])


def softmax(scores: Floats) -> Floats:
    """Return the scores of the last axis as shares of one."""
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def gelu(x: Floats) -> Floats:
    """Return x·Φ(x), the exact GELU, with erf by Abramowitz and Stegun 7.1.26 (absolute error below 1.5e-7)."""
    magnitude = np.abs(x) * np.float32(np.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * magnitude)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = np.asarray(series * t + np.float32(factor))
    erf = np.copysign(1 - series * t * np.exp(-magnitude * magnitude), x)
    return np.asarray(x * np.float32(0.5) * (1 + erf), np.float32)


def read_safetensors(path: Path) -> dict[str, Floats]:
    """Map the float32 tensors of a safetensors file by name; tensors of other types are left out."""
    with path.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    data = np.memmap(path, np.uint8, "r", offset=8 + size)
    return {
        name: np.frombuffer(data[slice(*entry["data_offsets"])], np.float32).reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def _settings(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text("utf-8")))
