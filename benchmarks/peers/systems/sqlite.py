"""What one would write oneself: SQLite with FTS5, every vector in numpy, the two ranks added up."""

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.peers.given import DIMENSION, Given, Vector
from benchmarks.peers.measure import HITS, Item

DEEP, FLAT = 100, 60  # hits of each arm, and the constant of rank fusion


class System:
    """See `benchmarks.peers.measure.System`."""

    version = f"SQLite {sqlite3.sqlite_version} + numpy"

    def __init__(self, home: Path, given: Given, place: str) -> None:
        self.base = sqlite3.connect(home / "m.db")
        self.base.executescript(
            "PRAGMA journal_mode=wal; PRAGMA synchronous=full; CREATE TABLE IF NOT EXISTS m (n INTEGER PRIMARY KEY,"
            " id TEXT UNIQUE, text TEXT, vector BLOB); CREATE VIRTUAL TABLE IF NOT EXISTS f USING fts5(text)"
        )
        rows = self.base.execute("SELECT id, vector FROM m ORDER BY n").fetchall()
        self.ids = [id for id, _ in rows]
        self.matrix = np.frombuffer(b"".join(raw for _, raw in rows), np.float32).reshape(-1, DIMENSION).copy()

    def load(self, items: Sequence[Item]) -> None:
        """Insert them in one transaction."""
        first = len(self.ids) + 1
        numbered = list(enumerate(items, first))
        with self.base:
            self.base.executemany(
                "INSERT INTO m VALUES (?, ?, ?, ?)", ((n, id, text, v.tobytes()) for n, (id, text, v) in numbered)
            )
            self.base.executemany("INSERT INTO f (rowid, text) VALUES (?, ?)", ((n, t) for n, (_, t, _) in numbered))
        self.ids += [id for id, _, _ in items]
        room = len(self.matrix)
        if len(self.ids) > room:
            grown = np.zeros((max(2 * room, len(self.ids)), DIMENSION), np.float32)
            grown[:room] = self.matrix
            self.matrix = grown
        self.matrix[first - 1 : len(self.ids)] = [vector for _, _, vector in items]

    def settle(self) -> None:
        """Nothing is left to do."""

    def store(self, item: Item) -> None:
        """Insert one."""
        self.load([item])

    def recall(self, question: str, vector: Vector) -> list[str]:
        """Fuse the ranks of bm25 and of an exact scan, and read the rows."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        lexical = self.base.execute(
            "SELECT rowid FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT ?", (words, DEEP)
        ).fetchall()
        scores = self.matrix[: len(self.ids)] @ vector
        near = np.argpartition(-scores, min(DEEP, len(scores) - 1))[:DEEP]
        ranks: dict[int, float] = {}
        for order in ([n for (n,) in lexical], (near[np.argsort(-scores[near])] + 1).tolist()):
            for rank, n in enumerate(order):
                ranks[n] = ranks.get(n, 0.0) + 1 / (FLAT + rank)
        best = sorted(ranks, key=lambda n: -ranks[n])[:HITS]
        rows = self.base.execute(f"SELECT id, text FROM m WHERE n IN ({','.join('?' * len(best))})", best)
        return [id for id, _ in rows]

    def close(self) -> None:
        """Close the file."""
        self.base.close()
