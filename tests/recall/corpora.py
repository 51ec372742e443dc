"""Made-up documents, and the plain-Python answers that ranking is held against."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np
from hypothesis import strategies as st

from substrate.recall import segment
from substrate.recall.corpus import Corpus
from substrate.recall.documents import Document, document
from substrate.recall.segment import Segment
from substrate.recall.space import Space
from substrate.recall.state import VectorPart
from substrate.recall.vectors import Vectors, build
from substrate.recall.view import View
from substrate.store.model import MemoryRow
from tests.recall.encoder import WordVectors

VOCABULARY = "apple pear plum cherry grape melon fig date lime kiwi".split()  # noqa: SIM905
KEY = b"k" * 32


def row(number: int, content: str, **columns: object) -> MemoryRow:
    """Make a memory row, written a minute after the one numbered before."""
    time = f"2026-05-14T{9 + number // 60:02d}:{number % 60:02d}:00.000000Z"
    given: dict[str, object] = {
        "id": f"mem-{number:026d}",
        "namespace": "global",
        "memory_kind": "observation",
        "memory_type": "fact",
        "content": content,
        "origin": "human",
        "by_kind": "human",
        "by_id": "hum-1",
        "created_at": time,
        "updated_at": time,
        "sequence": number,
    }
    return MemoryRow(**{**given, **columns})  # type: ignore[arg-type]


def documents(rows: Sequence[MemoryRow]) -> list[Document]:
    return [document(item, KEY) for item in rows]


def cut(items: Sequence[Document], places: Sequence[int]) -> list[Segment]:
    """Build segments of the documents between these places."""
    bounds = [0, *sorted({place % (len(items) + 1) for place in places}), len(items)]
    return [segment.build(items[a:b]) for a, b in pairwise(bounds) if b > a]


def vectors(items: Sequence[Document]) -> Vectors:
    encoder = WordVectors()
    rows = encoder.encode([item.passage for item in items])
    return build(encoder.model_id, [item.id for item in items], [item.digest for item in items], rows)


def corpus(parts: Sequence[Segment]) -> Corpus:
    return Corpus([(part, np.ones(len(part), np.bool_)) for part in parts])


def whole(parts: Sequence[Segment], encoded: Sequence[Vectors] = ()) -> View:
    """Return a view of every document of some segments."""
    shown = corpus(parts)
    return View(shown, Space(shown, encoded), np.ones(len(shown), np.bool_))


texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8).map(" ".join)


@st.composite
def rows(draw: st.DrawFn, namespaces: Sequence[str] = ("global",), most: int = 14) -> list[MemoryRow]:
    """Draw memories in the order they were written: some close in time, some from one session, some reflections."""
    count = draw(st.integers(0, most))
    return [
        row(
            number + 1,
            draw(texts),
            namespace=draw(st.sampled_from(list(namespaces))),
            memory_kind=draw(st.sampled_from(("observation", "observation", "observation", "reflection"))),
            valid_from=draw(st.sampled_from((None, "2023-05-08T13:56:00.000000Z", "2023-06-01T00:00:00.000000Z"))),
            by_session=draw(st.sampled_from((None, "ses-1"))),
        )
        for number in range(count)
    ]


def drawn(chance: Random, namespaces: Sequence[str], most: int) -> list[MemoryRow]:
    """Draw what `rows` draws, with less ado: for the many examples of a promise that must hold exactly."""
    return [
        row(
            number + 1,
            " ".join(chance.choices(VOCABULARY, k=chance.randint(1, 6))),
            namespace=chance.choice(namespaces),
            memory_kind=chance.choice(("observation", "observation", "observation", "reflection")),
            valid_from=chance.choice((None, "2023-05-08T13:56:00.000000Z", "2023-06-01T00:00:00.000000Z")),
            by_session=chance.choice((None, "ses-1")),
        )
        for number in range(chance.randint(0, most))
    ]


@dataclass
class Oracle:
    """Rank by BM25 with neighbours, written out as the formula says, a document at a time."""

    documents: Sequence[Document]

    def neighbours(self, n: int) -> tuple[int | None, int | None]:
        """Return who stands before and after in the same conversation, in the order of the documents."""
        chain: dict[int, int] = {}
        last: dict[str, int] = {}
        for number, item in enumerate(self.documents):
            if item.labels["kind"] != "observation":
                continue
            before = last.get(item.labels["partition"])
            last[item.labels["partition"]] = number
            if before is None:
                continue
            other = self.documents[before]
            near = abs(item.times["when"] - other.times["when"]) <= 3_600_000_000
            if near and item.labels["session"] == other.labels["session"]:
                chain[number] = before
        return chain.get(n), next((after for after, before in chain.items() if before == n), None)

    def widened(self, n: int, term: str | None) -> float:
        """Return the count of a term, or with None the length, with that of two neighbours on either side."""

        def count(number: int) -> int:
            terms = self.documents[number].terms
            return sum(terms.values()) if term is None else terms.get(term, 0)

        total = float(count(n))
        for side, weights in ((0, (0.7, 0.35)), (1, (0.3, 0.15))):
            there: int | None = n
            for weight in weights:
                there = None if there is None else self.neighbours(there)[side]
                total += 0.0 if there is None else weight * count(there)
        return total

    def scores(self, query: Counter[str]) -> list[float]:
        total = len(self.documents)
        lengths = [self.widened(n, None) for n in range(total)]
        found = [0.0] * total
        for term, times in query.items():
            counts = [self.widened(n, term) for n in range(total)]
            df = sum(1 for count in counts if count > 0)
            idf = math.log(1 + (total - df + 0.5) / (df + 0.5))
            for n, count in enumerate(counts):
                if count:
                    norm = 0.9 * (0.6 + 0.4 * lengths[n] / (sum(lengths) / total))
                    found[n] += times * idf * count * 1.9 / (count + norm)
        return found


def kept(items: Sequence[Document]) -> tuple[VectorPart, ...]:
    """Return the vectors of some documents as a state keeps them; nothing for none."""
    return (VectorPart(vectors(items)),) if items else ()
