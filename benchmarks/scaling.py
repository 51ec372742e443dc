"""Measure how the time of reading texts grows: at n, 2n and 4n characters, and the ratio of the last to the first.

    python -m benchmarks.scaling [--only WORK] [--readings 3] [--broken]

Anybody who may write a memory may choose its text, so what reads one may not take the square of its length. Each
reader is given texts of one short piece again and again, the longest as long as a memory may be; shown is the piece
that did worst. The other rows have more and more sources, sentences or registered names in place of characters.

In proportion the ratio is 4, squared it is 16; it may be `LIMIT` at most, and the time at 4n `MOST` seconds. Composing
compares all pairs of sentences, so there the square is allowed and no more. Work that takes less than `FLOOR` seconds
at 4n passes whatever its ratio. Times are of the processor, each the least of ``--readings``.

Exit 1 when a limit is passed. ``--broken`` lets every reader compare all pairs of stretches of a text, and must fail.

Source: docs/spec/persona.md §9.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from benchmarks.startup import machine, version
from curator.persona import words
from curator.persona.checks import check
from curator.persona.claims import Claim
from curator.persona.directives import directs
from curator.persona.sentences import clean, sentences, standing
from curator.persona.when import told
from curator.reflections import quotation, talk
from curator.reflections.names import Names
from curator.reflections.speech import Note, lines
from substrate.limits import MEMORY_BYTES
from tests.curator.persona.stories import composed, source

LIMIT: Final = 10.0
SQUARE: Final = 20.0
MOST: Final = 3.0  # seconds at 4n
FLOOR: Final = 0.02  # seconds at 4n below which growth is not told from noise
STRETCH: Final = 50  # characters compared at once by the broken build

Work = Callable[[], object]
Cost = Callable[[Work], float]
Reader = Callable[[str], object]

PIECES: Final = (
    *("**a ", "__a ", "*a ", "*", "【", "【a", "[", "(", " ", "\t", "\n ", "~~~x\n", "```\n", "- ", "> ", "=", "."),
    *("a", "A", "a-", "1", "Ada ", "'", "’", "“", "“a", "a: ", "A. ", ", ", "in a ", "a day ago ", "\u0e01", "<a"),
    *("A.b", "Ada: ", "12:30 ", "Bob - ", ", said", "a:", "x;\t", "a. ", "'a ", "( a. ", "the the the noun of "),
    *("1,000 two hundred and ", "[^1] ", "a\u0301", "。", "Alice says that Bob "),
)
_KNOWN = Names.of([("ada", "ada"), ("Bob", "bob")], {"ada": "Ada", "bob": "Bob"})

READERS: Final[Mapping[str, Reader]] = {
    "sentences": lambda text: list(sentences(text)),
    "standing": lambda text: list(standing(text, "Ada")),
    "clean": clean,
    "directs": directs,
    "quotations": words.quotations,
    "names": lambda text: list(words.names(text)),
    "days": lambda text: told([source(text)], [text]),
    "outside": quotation.outside,
    "steers": talk.steers,
    "unanswered": talk.unanswered,
    "lines": lambda text: list(lines(Note("mem-1", 1, None, text, {"speaker": "ada"}, None, "human"), _KNOWN)),
    "composed": lambda text: composed([source(text), source("Alice likes tea.", 2)], other_names=("Bob",)),
}


@dataclass(frozen=True)
class Row:
    """One kind of work: `make` takes a shape and a size, and prepares the work that is measured at n, 2n and 4n."""

    name: str
    unit: str
    n: int
    make: Callable[[str, int], Work]
    shapes: Sequence[str] = ("",)
    limit: float = LIMIT


@dataclass(frozen=True)
class Growth:
    """What work of one shape cost at n, 2n and 4n, in seconds unless something else is counted."""

    shape: str
    costs: tuple[float, float, float]

    @property
    def ratio(self) -> float:
        """Divide the cost at 4n by that at n."""
        return self.costs[2] / self.costs[0] if self.costs[0] else 0.0


def main(argv: Sequence[str] | None = None, cost: Cost | None = None) -> int:
    """Print a row for each kind of work and answer the exit code; `cost` measures in place of the processor's clock."""
    options = _options(argv)
    measure = cost or partial(seconds, readings=options.readings)
    chosen = [row for row in rows(options.broken) if options.only in (None, row.name)]
    print("work        n        unit          at n     at 2n     at 4n  ratio  limit  shape")
    failures = []
    for row in chosen:
        worst = max((grown(row, shape, measure) for shape in row.shapes), key=weight)
        costs = " ".join(f"{1000 * cost:6.1f} ms" for cost in worst.costs)
        print(f"{row.name:11} {row.n:<8,} {row.unit:10} {costs} {worst.ratio:6.2f} {row.limit:6g}  {worst.shape!a}")
        failures += [f"{row.name}: {told}" for told in missed(row, worst)]
    print(f"command     python -m benchmarks.scaling {' '.join(sys.argv[1:] if argv is None else argv)}".rstrip())
    print(f"machine     {machine()}")
    print(f"version     {version()}")
    for failure in failures:
        print("missed:", failure)
    return int(bool(failures))


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=[row.name for row in rows()], help="one kind of work")
    parser.add_argument("--readings", type=int, default=3, help="readings of each time, of which the least counts")
    parser.add_argument("--broken", action="store_true", help="let each reader take the square, and fail")
    return parser.parse_args(argv)


def rows(broken: bool = False) -> list[Row]:
    """List the kinds of work that are measured."""
    n = MEMORY_BYTES // 4
    return [
        *(Row(name, "characters", n, partial(_read, read, broken), PIECES) for name, read in READERS.items()),
        Row("sources", "sources", 100, _sources, limit=SQUARE),
        Row("checks", "sentences", 225, _checks),
        Row("among", "names", 1_250, _among),
    ]


def _read(read: Reader, broken: bool, piece: str, size: int) -> Work:
    text = f"Ada repairs organs. {piece * (size // len(piece))}"[:size]
    return (lambda: (read(text), pairs(text))) if broken else (lambda: read(text))


def pairs(text: str) -> int:
    """Count the pairs of equal stretches of a text, one by one: what a reader may not do."""
    stretches = [text[at : at + STRETCH] for at in range(0, len(text), STRETCH)]
    return sum(_same(one, other) for one in stretches for other in stretches)


def _same(one: str, other: str) -> bool:
    return one == other


def _sources(_: str, size: int) -> Work:
    """Compose a persona from so many reflections, each of which says something else."""
    kinds, places = ("red", "old", "tall", "dark", "wet"), ("Oslo", "Rome", "Lima", "Cairo", "Quito", "Delhi", "Perth")
    texts = [
        f"Alice painted the {kinds[at % len(kinds)]} door {at} of the school in {places[at % len(places)]}."
        for at in range(size)
    ]
    read = [source(text, 1 + at % 28, at + 1) for at, text in enumerate(texts)]
    return lambda: composed(read)


def _checks(_: str, size: int) -> Work:
    """Check so many claims that are sentences of their source, which has as many."""
    texts = [f"Nora planted tree number {number} beside the old canal." for number in range(size)]
    one = source(" ".join(texts))
    claims = [Claim(f"clm-{at}", text, (one.id,)) for at, text in enumerate(texts)]
    return lambda: [check(claim, {one.id: one}, name="Nora") for claim in claims]


def _among(_: str, size: int) -> Work:
    """Look for so many registered names in fifty texts."""
    names = [f"Entity Number{number}" for number in range(size)]
    texts = [f"Alice met Entity Number{number} in Oslo." for number in range(50)]
    return lambda: [words.among(text, names) for text in texts]


def grown(row: Row, shape: str, cost: Cost) -> Growth:
    """Measure work of one shape at n, 2n and 4n."""
    first, second, last = (cost(row.make(shape, row.n * times)) for times in (1, 2, 4))
    return Growth(shape, (first, second, last))


def seconds(work: Work, readings: int, clock: Callable[[], float] = time.process_time) -> float:
    """Measure the processor's seconds of work that remembers nothing of the last time, the least of some readings."""
    found = []
    for _ in range(readings):
        words.forget()
        started = clock()
        work()
        found.append(clock() - started)
    return min(found)


def weight(growth: Growth) -> tuple[bool, float]:
    """Order growth by how bad it is: by its ratio where the time tells, then by the time."""
    told = growth.costs[2] >= FLOOR
    return told, growth.ratio if told else growth.costs[2]


def missed(row: Row, worst: Growth) -> Iterator[str]:
    """Yield each limit that is passed."""
    if worst.costs[2] >= FLOOR and worst.ratio > row.limit:
        yield f"four times as many {row.unit} take {worst.ratio:.1f} times as long, at most {row.limit:g}"
    if worst.costs[2] > MOST:
        yield f"{4 * row.n:,} {row.unit} take {worst.costs[2]:.1f} s, at most {MOST:g}"


if __name__ == "__main__":
    sys.exit(main())
