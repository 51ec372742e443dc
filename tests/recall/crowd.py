"""Make up memories by the hundred thousand, as segments of an index and vectors, without texts or a store."""

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from substrate.recall.documents import FOREVER, LABELS, NEVER, Document
from substrate.recall.segment import Segment, indexed
from substrate.recall.state import State, VectorPart, advance
from substrate.recall.vectors import build, combine
from substrate.recall.words import MONTHS, terms

DAY = 86_400_000_000
WORDS, RARE = 200_000, 1.05  # words there are, and how much rarer each is than the one before (Zipf)
TERMS = 14  # words of a memory
TOPICS, DIMENSION = 3_000, 384
NAMESPACES, NAMES, DAYS = 10, 400, 1_000
_START = int(datetime(2022, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
_GAP = 60_000_000  # microseconds between two memories of a conversation


class Crowd:
    """Draw memories and questions about them; the same seed gives the same ones."""

    def __init__(self, seed: int, dimension: int = DIMENSION) -> None:
        self.rng = np.random.default_rng(seed)
        weights = 1 / (np.arange(WORDS) + 20.0) ** RARE
        self.shares = np.cumsum(weights / weights.sum())
        self.words = np.array([f"q{number:06d}z".encode() for number in range(WORDS)])
        scale = 1 / np.sqrt(1 + np.arange(dimension) / 24)
        self.scale = scale.astype(np.float32)
        self.topics = self._gauss(TOPICS)
        self.written_rows = 0
        self.readable = frozenset(f"pond/{number}" for number in range(NAMESPACES - 2)) | {"global"}
        self.last: list[tuple[list[str], NDArray[np.float32]]] = []

    def segment(self, count: int) -> tuple[Segment, NDArray[np.float32]]:
        """Return so many more memories as a segment, and their vectors."""
        first, rng = self.written_rows, self.rng
        self.written_rows += count
        numbers = np.arange(first, first + count)
        words = np.searchsorted(self.shares, rng.random((count, TERMS))).astype(np.int64)
        when = _START + (numbers * (DAYS * DAY // 1_000_000) // _GAP) * _GAP
        days = when // DAY
        names = rng.integers(0, NAMES, count)
        tables, labels = self._labels(names, count)
        dated = np.array([f"{d.day} {d:%B} {d:%Y}" for d in map(_date, np.unique(days))])
        extra = [[t.encode() for t in terms(text)] for text in dated.tolist()]
        vocabulary, columns = self._vocabulary(words, extra, np.unique(days, return_inverse=True)[1], names)
        arrays = {
            "ids": np.array([f"mem-{number:026d}".encode() for number in numbers]),
            "digests": np.frombuffer(rng.bytes(16 * count), np.uint8).reshape(-1, 16),
            "lengths": np.full(count, columns.shape[1], np.int32),
            "sequence": numbers + 1,
            "when": when,
            "created": when,
            "ended": np.full(count, FOREVER),
            "valid_from": np.full(count, NEVER),
            "valid_until": np.full(count, FOREVER),
            **labels,
            **_postings(vocabulary, columns),
        }
        matrix = self._vectors(count)
        self.last = [
            ([vocabulary[number].decode() for number in columns[at]], matrix[at])
            for at in rng.integers(0, count, 1_000).tolist()
        ]
        return Segment(arrays, tables), matrix

    def questions(self, count: int) -> list[tuple[str, NDArray[np.float32]]]:
        """Return questions with their vectors: some words of a memory and some others, often a name or a time."""
        made = []
        for _ in range(count):
            held, near = self.last[int(self.rng.integers(len(self.last)))]
            words = [held[n] for n in self.rng.choice(TERMS, int(self.rng.integers(1, 5)), replace=False).tolist()]
            others = np.searchsorted(self.shares, self.rng.random(int(self.rng.integers(0, 4))))
            words += [self.words[number].decode() for number in others.tolist()]
            chance = self.rng.random(2)
            words += [f"name{int(self.rng.integers(NAMES))}"] if chance[0] < 0.3 else []
            month = MONTHS[int(self.rng.integers(12))]
            words += [f"in {month} {2022 + int(self.rng.integers(2))}"] if chance[1] < 0.2 else []
            vector = near + 0.8 * self._gauss(1)[0]
            made.append((" ".join(words), (vector / np.linalg.norm(vector)).astype(np.float32)))
        return made

    def written(self, state: State, model: str) -> State:
        """Return the state with one more memory and its vector."""
        number = self.written_rows
        self.written_rows += 1
        held, vector = self.last[number % len(self.last)]
        name = f"mem-{number:026d}"
        document = Document(
            id=name,
            labels=self._label(number),
            times={
                **dict.fromkeys(("when", "created"), _START + DAYS * DAY),
                "sequence": number + 1,
                "ended": FOREVER,
                "valid_from": NEVER,
                "valid_until": FOREVER,
            },
            terms=dict.fromkeys(held, 1),
            passage="",
            digest=number.to_bytes(16, "big"),
        )
        moved, _ = advance(state, {name: document}, state.cursor + 1, "")
        fresh = build(model, [name], [document.digest], vector[None])
        tail = [(part.vectors, np.ones(len(part.vectors), np.bool_)) for part in moved.vectors if not part.file]
        files = tuple(part for part in moved.vectors if part.file)
        fresh = combine([*tail, (fresh, np.ones(1, np.bool_))])
        return State(moved.cursor, "", moved.parts, (*files, VectorPart(fresh)))

    def _gauss(self, count: int) -> NDArray[np.float32]:
        rows = self.rng.standard_normal((count, len(self.scale)), np.float32) * self.scale
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _vectors(self, count: int) -> NDArray[np.float32]:
        rows = np.empty((count, len(self.scale)), np.float32)
        for start in range(0, count, 20_000):
            size = min(20_000, count - start)
            rows[start : start + size] = self.topics[self.rng.integers(0, TOPICS, size)] + self._gauss(size)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def _label(self, number: int) -> dict[str, str]:
        kind = "reflection" if number % 10 == 9 else "observation"
        return {
            "partition": _partition(number // 40 % NAMESPACES),
            "kind": kind,
            "type": "fact",
            "status": "active",
            "entity": f"name{number % NAMES}",
            "session": f"ses-{number // 400}",
        }

    def _labels(self, names: NDArray[np.int64], count: int) -> tuple[dict[str, list[str]], dict[str, Any]]:
        first = self.written_rows - count
        numbers = np.arange(first, first + count)
        sessions, session = np.unique(numbers // 400, return_inverse=True)
        tables = {
            "partition": [_partition(number) for number in range(NAMESPACES)],
            "kind": ["observation", "reflection"],
            "type": ["fact"],
            "status": ["active"],
            "entity": [f"name{number}" for number in range(NAMES)],
            "session": [f"ses-{number}" for number in sessions.tolist()],
        }
        columns = {
            "partition": numbers // 40 % NAMESPACES,
            "kind": (numbers % 10 == 9),
            "type": np.zeros(count),
            "status": np.zeros(count),
            "entity": names,
            "session": session,
        }
        return tables, {name: columns[name].astype(np.int32) for name in LABELS}

    def _vocabulary(
        self, words: NDArray[np.int64], extra: list[list[bytes]], day: NDArray[np.int64], names: NDArray[np.int64]
    ) -> tuple[list[bytes], NDArray[np.int64]]:
        """Return the sorted terms of some memories, and which of them each holds."""
        plain = [self.words[number] for number in np.unique(words).tolist()]
        dated = sorted({term for some in extra for term in some})
        named = [f"name{number}".encode() for number in range(NAMES)]
        vocabulary = sorted({*map(bytes, plain), *dated, *named})
        place = {term: number for number, term in enumerate(vocabulary)}
        of_word = np.zeros(WORDS, np.int64)
        for number in np.unique(words).tolist():
            of_word[number] = place[bytes(self.words[number])]
        of_day = np.array([[place[term] for term in some] for some in extra])
        of_name = np.array([place[term] for term in named])
        return vocabulary, np.concatenate([of_word[words], of_day[day], of_name[names][:, None]], axis=1)


def _postings(vocabulary: list[bytes], columns: NDArray[np.int64]) -> dict[str, Any]:
    count, width = columns.shape
    keys = columns.ravel() * count + np.repeat(np.arange(count), width)
    pairs, counts = np.unique(keys, return_counts=True)
    found, docs = np.divmod(pairs, count)
    sizes = np.bincount(found, minlength=len(vocabulary))
    used = np.flatnonzero(sizes)
    names = [vocabulary[number] for number in used.tolist()]
    return indexed(names, docs.astype(np.int32), counts.astype(np.int32), sizes[used])


def _partition(number: int) -> str:
    return json.dumps([f"pond/{number}", None, False])


def _date(day: int) -> datetime:
    return datetime.fromtimestamp(int(day) * 86_400, UTC)
