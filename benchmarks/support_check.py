"""Measure what the support check accepts, on claims labelled before it was built.

    python -m benchmarks.support_check [--set held-out|development|development-2] [--broken off|shuffled]
        [--kind KIND …] [--by-words] [--json]

Each pair goes through `curator.persona.checks.check`, the one every claim passes, with and without the encoder, where
one is installed. A rate is the share accepted, with Wilson's 95 % interval. The target is on the held-out set: at least
90 % of the faithful claims, and at most 2 % of all others together. It exits 1 when that is missed.

`--broken` is the control, which has to miss: `off` accepts everything, `shuffled` cites another pair's sources.
Tune on the development set alone; of the held-out set only rates are printed. `--kind` prints development pairs of that
kind that are judged wrongly.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import random
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curator.persona.checks import check
from curator.persona.claims import Claim
from curator.persona.similarity import Embed
from curator.persona.source import Source
from substrate.recall import embedding

FOLDER = Path(__file__).parent / "support"
SETS = {
    "held-out": "held_out.jsonl",
    "development": "development.jsonl",
    "development-2": "development_2.jsonl",
}
SEED = 20260514
FAITHFUL = "faithful"
ACCEPTED, LET_THROUGH = 0.90, 0.02
Judge = Callable[["Pair"], str | None]


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold a claim, what it cites, and whether that supports it."""

    id: str
    kind: str
    name: str
    claim: str
    sources: tuple[Source, ...]
    supported: bool


@dataclass(frozen=True, slots=True)
class Rate:
    """Hold how many of how many were accepted."""

    accepted: int
    total: int

    @property
    def share(self) -> float:
        """Answer the share; 0.0 of nothing."""
        return self.accepted / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Answer Wilson's 95 % interval; 0 to 1 of nothing."""
        if not self.total:
            return 0.0, 1.0
        z, n, share = 1.959964, self.total, self.share
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(0.0, middle - reach), min(1.0, middle + reach)

    def __str__(self) -> str:
        """Answer `57/60  95.0 % (86.3–98.3)`."""
        low, high = self.interval
        return f"{self.accepted:4}/{self.total:<4}{100 * self.share:6.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def pairs(path: Path) -> list[Pair]:
    """Read a set of labelled pairs."""
    return [_pair(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _pair(row: dict[str, Any]) -> Pair:
    told = tuple(
        Source(
            id=f"mem-{number}",
            text=source["text"],
            title=None,
            date=f"{source['date']}T09:00:00.000000Z",
            sequence=number,
            times_seen=1,
            ancestors=frozenset(),
            supersedes=frozenset(),
            contradicts=frozenset(),
        )
        for number, source in enumerate(row["sources"], 1)
    )
    return Pair(row["id"], row["kind"], row["name"], row["claim"], told, row["supported"])


def judge(embed: Embed | None) -> Judge:
    """Make the product's own judge: why a pair's claim is dropped, or None."""

    def judged(pair: Pair) -> str | None:
        claim = Claim("clm-1", pair.claim, tuple(source.id for source in pair.sources))
        return check(claim, {source.id: source for source in pair.sources}, name=pair.name, embed=embed)

    return judged


def shuffled(given: Sequence[Pair], seed: int) -> list[Pair]:
    """Give each pair the sources of another."""
    order = list(range(len(given)))
    random.Random(seed).shuffle(order)
    after = dict(zip(order, (*order[1:], order[0]), strict=True))
    return [
        Pair(pair.id, pair.kind, pair.name, pair.claim, given[after[at]].sources, False)
        for at, pair in enumerate(given)
    ]


def rates(given: Sequence[Pair], judged: Judge) -> dict[str, Rate]:
    """Answer the rate of each kind, in the order the kinds appear, and last of all that is not faithful."""
    accepted = [(pair, judged(pair) is None) for pair in given]
    kinds = list(dict.fromkeys(pair.kind for pair in given))
    found = {kind: _rate([good for pair, good in accepted if pair.kind == kind]) for kind in kinds}
    return found | {"false": _rate([good for pair, good in accepted if pair.kind != FAITHFUL])}


def _rate(accepted: Sequence[bool]) -> Rate:
    return Rate(sum(accepted), len(accepted))


def met(found: dict[str, Rate]) -> bool:
    """Tell whether the target is reached."""
    return found[FAITHFUL].share >= ACCEPTED and found["false"].share <= LET_THROUGH


def embedder() -> Embed | None:
    """Load the encoder, or answer None where none is installed."""
    possible, _ = embedding.available()
    return embedding.load().encode if possible else None


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and answer 1 where the target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.support_check", description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, default="held-out")
    parser.add_argument("--broken", choices=("off", "shuffled"))
    parser.add_argument("--kind", nargs="+", default=())
    parser.add_argument("--by-words", action="store_true", help="leave the encoder out")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    given = pairs(FOLDER / SETS[args.set])
    if args.broken == "shuffled":
        given = shuffled(given, SEED)
    embed = None if args.by_words else embedder()
    judges: dict[str, Judge] = {"by words": judge(None)} | ({"with encoder": judge(embed)} if embed else {})
    if args.broken == "off":
        judges = dict.fromkeys(judges, lambda pair: None)
    measured = {label: rates(given, judged) for label, judged in judges.items()}
    reached = all(map(met, measured.values()))
    if args.json:
        shown = {
            label: {kind: [one.accepted, one.total] for kind, one in found.items()} for label, found in measured.items()
        }
        print(json.dumps({"set": args.set, "broken": args.broken, "accepted": shown, "met": reached}))
    else:
        _show(args, measured, len(given), reached)
    if args.set == "development":
        for pair in given:
            why = judges["by words"](pair)
            if pair.kind in args.kind and (why is None) != pair.supported:
                print(f"{pair.id} {pair.claim} | {' | '.join(source.text for source in pair.sources)} -> {why}")
    return 0 if reached else 1


def _show(args: argparse.Namespace, measured: dict[str, dict[str, Rate]], total: int, reached: bool) -> None:
    broken = f" --broken {args.broken}" if args.broken else ""
    print(f"command: python -m benchmarks.support_check --set {args.set}{broken}")
    model = embedding.DEFAULT_MODEL if len(measured) > 1 else "no encoder"
    project = tomllib.loads((FOLDER.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    print(f"ai-memory {project['version']}, python {platform.python_version()}, {model}, seed {SEED}; n {total}")
    for label, found in measured.items():
        print(f"\naccepted, {label}")
        for kind, one in found.items():
            print(f"  {kind:16}{one}")
    verdict = "met" if reached else "missed"
    print(f"\n{verdict}: at least {ACCEPTED:.0%} of faithful claims, at most {LET_THROUGH:.0%} of false ones")


if __name__ == "__main__":
    sys.exit(main())
