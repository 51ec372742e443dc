"""Measure how much of the evidence recall finds, beside what simpler rankings find, in one run.

    python -m benchmarks.recall_quality [--data DIR] [--only locomo|realmem] [--limit N] [--ablations] [--json]

A figure is the mean share of a question's evidence among the first 5, 10 and 20 hits; each question asks its own
dialogue or person.
LoCoMo: evidence are turns. Only the turns are stored, and in a second store the facts made from them as reflections
(`with facts`; hits are turns still). Questions of category 5, which ask for what was never said, stand apart.
RealMem: evidence are facts, stored as reflections derived from what was said; hits are facts. Every system is asked in
the session the question comes from, before anything of that session is stored: it knows the sessions before, no more.

The interval beside R@10 holds 95 % of its means over questions drawn again with replacement (2,000 times, seed 0).

The settings are those of the product, one set for all data. The data is not part of the project; where it is absent
this says so and exits 0. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora, kept
from benchmarks.corpora import Question, Sample
from benchmarks.load_real import Loaded, Replay, add_arguments, load, moment, opened, shown
from substrate.home import Memory
from substrate.memory import memories
from substrate.recall import embedding, index
from substrate.recall.documents import document
from substrate.recall.question import ARMS
from substrate.recall.recall import recall
from substrate.recall.words import terms

DEPTHS = (5, 10, 20)
EVIDENCE = {"locomo": "observation", "realmem": "reflection"}  # the kind of memory that questions name
ABLATIONS = {
    "without names": ("entity",),
    "without times": ("time",),
    "without links": ("graph",),
    "without meaning": ("vector",),
    "without words": ("lexical",),
}
DRAWS, SEED = 2_000, 0  # of the interval
Ranker = Callable[[Question], Sequence[str]]  # question -> memory ids, best first
Result = dict[str, Any]


@dataclass(frozen=True)
class Shelf:
    """Hold a loaded sample: the store, the ids of what questions name, and the encoder all systems share."""

    memory: Memory
    loaded: Loaded
    encoder: Remembering

    @property
    def ids(self) -> dict[str, str]:
        """Map what questions name to the memory it became."""
        return self.loaded.turns if self.loaded.sample.data == "locomo" else self.loaded.facts

    def known(self, question: Question) -> Any:
        """Tell of each of `ids` whether it was stored when the question was asked."""
        if question.date is None or question.session is None:
            return np.ones(len(self.ids), bool)
        asked = (question.date, question.session)
        written = {fact.id: (fact.date, fact.session) for fact in self.loaded.sample.facts}
        return np.array([written[name] < asked for name in self.ids], bool)


class Remembering:
    """Encode each text once, so that every system compares the same vectors and none is timed for them."""

    def __init__(self, encoder: embedding.Embedder) -> None:
        self.encoder, self.source = encoder, encoder.source
        self.model_id, self.dimension = encoder.model_id, encoder.dimension
        self.known: dict[str, Any] = {}

    def encode(self, texts: Sequence[str], progress: embedding.Progress | None = None) -> Any:
        """See `Embedder`."""
        for text in texts:
            if text not in self.known:
                self.known[text] = self.encoder.encode([text])[0]
        return np.array([self.known[text] for text in texts], np.float32).reshape(-1, self.dimension)


def main(argv: list[str] | None = None) -> int:
    """Print a table a data set; answer the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recall_quality", description=(__doc__ or "").splitlines()[0]
    )
    add_arguments(parser)
    parser.add_argument("--ablations", action="store_true", help="also run with one arm left out at a time")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    kept.add_argument(parser)
    options = parser.parse_args(argv)
    try:
        samples = corpora.samples(options.data, options.only, options.limit)
    except corpora.Absent as absent:
        print(f"skipped: {absent}", file=sys.stderr)
        return 0
    results = measure(samples, Remembering(embedding.load()), options.ablations, quiet=options.json)
    if options.json:
        print(json.dumps(results, indent=2))
    kept.keep(options.keep, "benchmarks.recall_quality", argv, {"seed": SEED, "systems": results})
    return 0


def measure(samples: Sequence[Sample], encoder: Remembering, ablations: bool, *, quiet: bool) -> dict[str, Result]:
    """Return the figures of every system over every data set there is, by name, and print them unless `quiet`."""
    results: dict[str, Result] = {}
    for data in dict.fromkeys(sample.data for sample in samples):
        chosen = [sample for sample in samples if sample.data == data]
        if data == "locomo":
            bare = [replace(sample, facts=()) for sample in chosen]
            results |= measured(f"{data}: ", bare, encoder, {**BASELINES, **ours(ablations)}, quiet)
            results |= measured(f"{data}, with facts: ", chosen, encoder, ours(False), quiet)
        else:
            results |= measured(f"{data}: ", chosen, encoder, {**BASELINES, **ours(ablations)}, quiet)
    return results


def measured(
    title: str,
    samples: Sequence[Sample],
    encoder: Remembering,
    systems: Mapping[str, Callable[[Shelf], Ranker]],
    quiet: bool,
) -> dict[str, Result]:
    """Load the samples into a store of their own, give every memory its vector, and ask every system everything."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay()
        memory = opened(Path(folder, "home"), replay, Path(folder, "state"))
        shelves = [Shelf(memory, loaded, encoder) for loaded in load(memory, replay, samples, shown)]
        index.of(memory.db).encode(memory.db, encoder, progress=shown)
        for name, system in systems.items():
            results[title + name] = asked(shelves, system)
            if not quiet:
                print(line(title + name, results[title + name]), flush=True)
        memory.close()
    return results


def asked(shelves: Sequence[Shelf], system: Callable[[Shelf], Ranker]) -> Result:
    """Return the mean recall at each depth, over all questions but the adversarial, each kind, each sample; and times.

    `interval` holds the bounds of R@10 over all; `median_ms` is the time of a question.
    """
    shares, times = defaultdict(list), []
    for shelf in shelves:
        ranker = system(shelf)
        for question in shelf.loaded.sample.questions:
            evidence = {shelf.ids[id] for id in question.evidence}
            started = time.perf_counter()
            ranked = list(ranker(question))
            times.append(1000 * (time.perf_counter() - started))
            share = [len(evidence & set(ranked[:depth])) / len(evidence) for depth in DEPTHS]
            if question.kind != corpora.ADVERSARIAL:
                shares["all"].append(share)
                shares[shelf.loaded.sample.namespace].append(share)
            shares[question.kind].append(share)
    means = {kind: [round(float(x), 4) for x in np.mean(rows, axis=0)] for kind, rows in sorted(shares.items())}
    return {
        "recall": means,
        "interval": interval([share[DEPTHS.index(10)] for share in shares["all"]]),
        "questions": len(shares["all"]),
        "median_ms": round(float(np.median(times)), 1),
    }


def interval(shares: Sequence[float]) -> list[float]:
    """Return the bounds that hold 95 % of the means of as many shares drawn from these with replacement."""
    drawn = np.random.default_rng(SEED).integers(0, len(shares), (DRAWS, len(shares)))
    return [round(float(bound), 4) for bound in np.quantile(np.array(shares)[drawn].mean(axis=1), (0.025, 0.975))]


def line(name: str, result: Result) -> str:
    """Return one row of the table."""

    def triple(kind: str) -> str:
        return "/".join(f"{share:.3f}".removeprefix("0") for share in result["recall"][kind])

    kinds = [kind for kind in result["recall"] if kind not in ("all", corpora.ADVERSARIAL, "query") and "/" not in kind]
    apart = f"  adversarial {triple(corpora.ADVERSARIAL)}" if corpora.ADVERSARIAL in result["recall"] else ""
    each = "  R@10" + "".join(f" {kind}:{result['recall'][kind][1]:.2f}" for kind in kinds) if kinds else ""
    low, high = result["interval"]
    return f"{name:44} {triple('all')} [{low:.3f}, {high:.3f}]{apart}{each}  {result['median_ms']:6.1f} ms"


# --- the systems ---------------------------------------------------------------------------------------------


def ours(ablations: bool) -> dict[str, Callable[[Shelf], Ranker]]:
    """Return recall itself, and with `ablations` recall without one of its arms at a time."""

    def system(arms: Sequence[str]) -> Callable[[Shelf], Ranker]:
        def start(shelf: Shelf) -> Ranker:
            memory, sample = shelf.memory, shelf.loaded.sample

            def rank(question: Question) -> list[str]:
                asked = question.date and moment(question.date, (question.session or 1) - 1)
                found = recall(
                    memory.db,
                    memory.caller,
                    question.text[:4_000],
                    namespace=sample.namespace,
                    kinds=(EVIDENCE[sample.data],),
                    known_at=asked,
                    arms=arms,
                    embedder=shelf.encoder,
                    max_hits=max(DEPTHS),
                    chars=100_000,
                )
                return [hit.memory.id for hit in found.hits]

            return rank

        return start

    without = {
        f"ai-memory, {name}": system([arm for arm in ARMS if arm not in left]) for name, left in ABLATIONS.items()
    }
    return {"ai-memory": system(ARMS), **(without if ablations else {})}


Scoring = Callable[[str, Any], Any]  # question, numbers of the memories known -> a score for each of them


def bm25(shelf: Shelf) -> Scoring:
    """Score whole memories the plain way, k1 = 1.2 and b = 0.75, over the words recall indexes."""
    found = [document(row, b"").terms for row in rows(shelf)]

    def scores(question: str, known: Any) -> Any:
        documents = [found[number] for number in known]
        lengths = np.array([sum(counts.values()) for counts in documents], float)
        norm = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
        total = np.zeros(len(documents))
        for term in terms(question, query=True):
            counts = np.array([counts.get(term, 0) for counts in documents], float)
            df = np.count_nonzero(counts)
            total += np.log(1 + (len(documents) - df + 0.5) / (df + 0.5)) * counts * 2.2 / (counts + norm)
        return total

    return scores


def minilm(shelf: Shelf) -> Scoring:
    """Score memories by the cosine of the vectors recall compares."""
    matrix = shelf.encoder.encode([document(row, b"").passage for row in rows(shelf)])
    return lambda question, known: matrix[known] @ shelf.encoder.encode([question])[0]


def fusion(shelf: Shelf) -> Scoring:
    """Score memories by the reciprocal ranks of both, k = 60."""
    both = bm25(shelf), minilm(shelf)

    def scores(question: str, known: Any) -> Any:
        ranks = [np.argsort(np.argsort(-arm(question, known), kind="stable")) for arm in both]
        return sum(1 / (61 + rank) for rank in ranks)

    return scores


def ranker(scoring: Callable[[Shelf], Scoring]) -> Callable[[Shelf], Ranker]:
    """Return the system that ranks what is known by these scores."""

    def start(shelf: Shelf) -> Ranker:
        ids, scores = list(shelf.ids.values()), scoring(shelf)

        def rank(question: Question) -> list[str]:
            known = np.flatnonzero(shelf.known(question))
            if not len(known):
                return []
            best = np.argsort(-scores(question.text, known), kind="stable")[: max(DEPTHS)]
            return [ids[known[number]] for number in best]

        return rank

    return start


def rows(shelf: Shelf) -> list[Any]:
    """Read the memories that questions name."""
    ids = list(shelf.ids.values())
    with shelf.memory.read() as r:
        found = memories.by_ids(r, shelf.memory.caller, ids)
    return [found[id] for id in ids]


BASELINES = {"BM25": ranker(bm25), "MiniLM": ranker(minilm), "rank fusion": ranker(fusion)}


if __name__ == "__main__":
    sys.exit(main())
