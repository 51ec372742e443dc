"""What every system is given: memories with vectors, questions with vectors, and which memory each is about.

Only numpy and the standard library are imported here and in `measure`, which run with each peer's own Python.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DIMENSION, TOPICS, RARE = 384, 3_000, 20_000
WHO, DOES, WHAT, WHERE = (
    [word.replace("_", " ") for word in line.split()]
    for line in (
        "Alda Bran Ciro Dora Elin Fenn Gale Hedy Ivor Jora Kurt Lena Milo Nell Orin Petra Quill Runa Sten Tove",
        "mends buys sells paints counts lends orders ships stores tests waters tunes weighs prints maps",
        "brass_lamps oak_tables wool_coats river_charts copper_wire clay_pots fruit_trees sail_cloth church_bells",
        "harbour mill market station orchard chapel workshop library quarry garden",
    )
)

Vector = Any  # numpy.ndarray of DIMENSION float32, of length one


@dataclass(frozen=True)
class Given:
    """Hold texts, more texts to write one by one, and questions, each with vectors; `about` numbers the text asked for.

    `vector_of` gives the vector of each text and question.
    """

    texts: list[str]
    vectors: Any
    more: list[str]
    more_vectors: Any
    questions: list[str]
    question_vectors: Any
    about: list[int]

    @property
    def vector_of(self) -> Mapping[str, Vector]:
        """The vector of each text and of each question."""
        sets = ((self.texts, self.vectors), (self.more, self.more_vectors), (self.questions, self.question_vectors))
        known = {text: vector for texts, vectors in sets for text, vector in zip(texts, vectors, strict=True)}
        return known | dict(self.last)

    @property
    def last(self) -> list[tuple[str, Vector]]:
        """Questions about the two that are written last, and their vectors."""
        return [(asked(text), vector) for text, vector in zip(self.more[-2:], self.more_vectors[-2:], strict=True)]

    def save(self, folder: Path) -> None:
        """Write it down for another process."""
        lists = {name: value for name, value in vars(self).items() if isinstance(value, list)}
        (folder / "given.json").write_text(json.dumps(lists))
        arrays = {name: value for name, value in vars(self).items() if not isinstance(value, list)}
        np.savez(folder / "given.npz", **arrays)

    @classmethod
    def load(cls, folder: Path) -> "Given":
        """Read what `save` wrote."""
        with np.load(folder / "given.npz") as arrays:
            return cls(**json.loads((folder / "given.json").read_text()), **arrays)


def made(rows: int, writes: int, count: int, seed: int) -> Given:
    """Make up memories about twenty people; a question is most of the words of one, and a vector near its own."""
    rng = np.random.default_rng(seed)
    scale = 1 / np.sqrt(1 + np.arange(DIMENSION, dtype=np.float32) / 24)
    gauss = lambda count: _unit(rng.standard_normal((count, DIMENSION), np.float32) * scale)  # noqa: E731
    topics = gauss(TOPICS)
    texts = [_text(rng, number) for number in range(rows + writes)]
    vectors = _unit(topics[rng.integers(0, TOPICS, rows + writes)] + gauss(rows + writes))
    about = rng.choice(rows, count, replace=False).tolist()
    near = _unit(vectors[about] + 0.8 * gauss(count))
    return Given(
        texts[:rows], vectors[:rows], texts[rows:], vectors[rows:], [asked(texts[n]) for n in about], near, about
    )


def asked(text: str) -> str:
    """Ask for a text by its words, without its number."""
    return text.partition(" (")[0] + "?"


def _text(rng: np.random.Generator, number: int) -> str:
    who, does, what, where = (str(rng.choice(some)) for some in (WHO, DOES, WHAT, WHERE))
    rare = np.floor(RARE ** rng.random(2)).astype(int)  # as rare as their rank
    return f"{who} {does} {what} at the {where} of q{rare[0]}ville for order q{rare[1]}z (entry {number:07d})"


def _unit(rows: Any) -> Any:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
