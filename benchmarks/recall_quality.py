"""Measure how much of the evidence recall finds, beside what simpler rankings find, in one run.

LoCoMo: five long dialogues; a question comes with the turns that hold its answer. Figures are the mean share of them
among the first 5, 10 and 20 hits, over the questions of categories 1 to 4, with those of category 5 (which ask for what
was never said) apart. Only the turns are stored, one namespace a dialogue, and each question asks its own.

    python benchmarks/recall_quality.py [--data FOLDER] [--ablations] [--json]

The data is not part of the project: AI_MEMORY_BENCH_DATA or --data names its folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from substrate.memory import memories
from substrate.recall import embedding, index
from substrate.recall.documents import Document, document
from substrate.recall.recall import recall
from substrate.recall.words import terms
from substrate.scopes import principals
from substrate.scopes.caller import Caller
from substrate.store.database import Database
from substrate.store.model import MemoryRow

DEPTHS = (5, 10, 20)
ROOT = Path(__file__).resolve().parent.parent
Ranker = Callable[[str], Sequence[str]]  # question -> dia ids, best first


@dataclass
class Dialogue:
    """Hold a dialogue's turns, in order, and its questions with the ids of the turns that answer them."""

    name: str
    turns: list[tuple[str, str, str]]  # dia id, RFC 3339 time, "speaker: text"
    questions: list[tuple[str, int, frozenset[str]]]  # question, category, evidence
    rows: dict[str, MemoryRow] = field(default_factory=dict)


def main() -> int:
    """Print the table; exit 2 when the data is not there."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    default = os.environ.get("AI_MEMORY_BENCH_DATA") or ROOT.parent / "shared" / "data"
    arguments.add_argument("--data", type=Path, default=Path(default))
    arguments.add_argument("--ablations", action="store_true", help="also run with single arms left out")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    path = given.data / "locomo" / "locomo_dev.json"
    if not path.exists():
        print(f"no development data at {path}", file=sys.stderr)
        return 2
    dialogues = [dialogue(sample) for sample in json.loads(path.read_text("utf-8"))]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        db, caller = stored(dialogues, Path(folder))
        systems = {**baselines(dialogues), **ours(db, caller, given.ablations)}
        for name, ranker in systems.items():
            started = time.perf_counter()
            results[name] = measured(dialogues, ranker)
            results[name]["ms"] = 1000 * (time.perf_counter() - started) / sum(len(d.questions) for d in dialogues)
            if not given.json:
                print(line(name, results[name]), flush=True)
        db.close()
    if given.json:
        print(json.dumps(results, indent=2))
    return 0


def dialogue(sample: dict[str, Any]) -> Dialogue:
    """Read one LoCoMo sample; evidence that names no turn is dropped, and questions left without any."""
    talk, turns = sample["conversation"], []
    sessions = sorted((int(key.split("_")[1]) for key in talk if re.fullmatch(r"session_\d+", key)))
    for number in sessions:
        moment = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in talk[f"session_{number}"]:
            caption = f" [shared image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{caption}"
            turns.append((turn["dia_id"], f"{moment:%Y-%m-%dT%H:%M:00.000000Z}", text))
    known = {dia_id for dia_id, _, _ in turns}
    questions = []
    for qa in sample["qa"]:
        evidence = frozenset(repaired(qa.get("evidence") or [])) & known
        if evidence:
            questions.append((qa["question"], qa["category"], evidence))
    return Dialogue(sample["sample_id"], turns, questions)


def repaired(evidence: Sequence[str]) -> Iterator[str]:
    """Yield turn ids from evidence strings: several in one, `D:11:26`, leading zeros."""
    for part in re.split(r"[;,\s]+", " ".join(evidence)):
        if match := re.fullmatch(r"D:?(\d+):0*(\d+)", part):
            yield f"D{match[1]}:{match[2]}"


def stored(dialogues: Sequence[Dialogue], folder: Path) -> tuple[Database, Caller]:
    """Store every turn as an observation, time and all, and give it its vector."""
    db = Database.create(folder / "home", state_dir=folder / "state")
    with db.write("hub") as tx:
        human = principals.first_human(tx, "bench", None)
    caller = Caller(human.id, "human", "bench")
    for talk in dialogues:
        with db.write(caller.id) as tx:
            for dia_id, moment, text in talk.turns:
                row = memories.remember(tx, caller, text, namespace=f"bench/{talk.name}", valid_from=moment)
                talk.rows[dia_id] = row
    index.of(db).encode(db, embedding.load(), progress=shown)
    return db, caller


def shown(what: str, done: int, of: int) -> None:
    """Show progress on standard error."""
    print(f"\r{what} {done:,} of {of:,}", end="" if done < of else "\n", file=sys.stderr, flush=True)


def measured(dialogues: Sequence[Dialogue], system: Callable[[Dialogue], Ranker]) -> dict[str, Any]:
    """Return the mean recall at each depth: for categories 1-4 together, for 5, and for each."""
    shares = defaultdict(list)
    for talk in dialogues:
        ranker = system(talk)
        for question, category, evidence in talk.questions:
            ranked = list(ranker(question))
            share = [len(evidence & set(ranked[:depth])) / len(evidence) for depth in DEPTHS]
            shares["adversarial" if category == 5 else "all"].append(share)
            shares[f"category {category}"].append(share)
    return {name: [round(float(x), 4) for x in np.mean(rows, axis=0)] for name, rows in sorted(shares.items())}


def line(name: str, result: dict[str, Any]) -> str:
    """Return one row of the table."""

    def triple(key: str) -> str:
        return "/".join(f"{x:.3f}".lstrip("0") for x in result[key])

    kinds = "  ".join(f"{n}: {result[f'category {n}'][1]:.3f}" for n in (1, 2, 3, 4))
    return f"{name:34} {triple('all')}   adversarial {triple('adversarial')}   R@10 {kinds}   {result['ms']:.1f} ms"


# --- the systems ---------------------------------------------------------------------------------------------


def ours(db: Database, caller: Caller, ablations: bool) -> dict[str, Callable[[Dialogue], Ranker]]:
    """Return recall itself, and with `ablations` recall by fewer arms."""
    choices = {"ai-memory": ("lexical", "vector", "graph", "entity")}
    if ablations:
        choices["ai-memory, words alone"] = ("lexical", "graph", "entity")
        choices["ai-memory, meaning alone"] = ("vector", "graph", "entity")
        choices["ai-memory, names not looked for"] = ("lexical", "vector", "graph")

    def system(arms: tuple[str, ...]) -> Callable[[Dialogue], Ranker]:
        def start(talk: Dialogue) -> Ranker:
            names = {row.id: dia_id for dia_id, row in talk.rows.items()}

            def rank(question: str) -> list[str]:
                found = recall(db, caller, question, namespace=f"bench/{talk.name}", arms=arms, max_hits=20, chars=100_000)
                return [names[hit.memory.id] for hit in found.hits]

            return rank

        return start

    return {name: system(arms) for name, arms in choices.items()}


def baselines(dialogues: Sequence[Dialogue]) -> dict[str, Callable[[Dialogue], Ranker]]:
    """Return BM25, the encoder, and their reciprocal rank fusion, each over the same words and vectors as ours."""
    cache: dict[str, tuple[list[Document], Any, Any]] = {}

    def prepared(talk: Dialogue) -> tuple[list[Document], Any, Any]:
        if talk.name not in cache:
            documents = [document(row, b"") for row in talk.rows.values()]
            rows = embedding.load().encode([item.passage for item in documents])
            cache[talk.name] = documents, Bm25([item.terms for item in documents]), rows
        return cache[talk.name]

    def by_words(talk: Dialogue, question: str) -> Any:
        return prepared(talk)[1].scores(terms(question, query=True))

    def by_meaning(talk: Dialogue, question: str) -> Any:
        return prepared(talk)[2] @ embedding.load().encode([question])[0]

    def fused(talk: Dialogue, question: str) -> Any:
        ranks = [np.argsort(np.argsort(-scores(talk, question), kind="stable")) for scores in (by_words, by_meaning)]
        return sum(1 / (61 + rank) for rank in ranks)

    def system(scores: Callable[[Dialogue, str], Any]) -> Callable[[Dialogue], Ranker]:
        def start(talk: Dialogue) -> Ranker:
            names = list(talk.rows)
            return lambda question: [names[n] for n in np.argsort(-scores(talk, question), kind="stable")[:20]]

        return start

    return {"BM25": system(by_words), "MiniLM": system(by_meaning), "rank fusion (k = 60)": system(fused)}


class Bm25:
    """Score whole documents the plain way, k1 = 1.2 and b = 0.75."""

    def __init__(self, documents: Sequence[Counter[str]]) -> None:
        self.documents = documents
        self.lengths = np.array([sum(document.values()) for document in documents], float)
        self.frequencies = Counter(term for document in documents for term in document)

    def scores(self, query: Sequence[str]) -> Any:
        """Return a score a document."""
        scores, n = np.zeros(len(self.documents)), len(self.documents)
        norm = 1.2 * (0.25 + 0.75 * self.lengths / self.lengths.mean())
        for term in query:
            counts = np.array([document[term] for document in self.documents], float)
            df = self.frequencies[term]
            scores += np.log(1 + (n - df + 0.5) / (df + 0.5)) * counts * 2.2 / (counts + norm)
        return scores


if __name__ == "__main__":
    sys.exit(main())
