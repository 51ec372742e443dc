"""The command ``bench``: how long the common operations take on this machine, in a store made for it and deleted.

Source: docs/benchmarks.md (how to read it).
"""

import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import settings
from cli.door import Answer, command, group, progress
from substrate.errors import Invalid

if TYPE_CHECKING:
    from substrate.home import Memory

app = group()

LIMITS: Mapping[str, float] = {
    "remember": 50,
    "recall": 100,
    "get": 20,
    "paths": 50,
    "graph": 50,
    "timeline": 50,
    "persona": 50,
}
"""What is measured, and the milliseconds that 95 of a hundred may take unless others are given."""
LEAST, MOST = 50, 1_000_000
BATCH, EACH = 500, 10  # memories written at a time, and those a reflection rests on
PEOPLE = ("ada", "ben", "cleo", "dora", "emil", "flora", "gus", "hana", "ivo", "june")
DOES = ("repairs", "paints", "sells", "collects", "lends", "counts", "plants", "ships", "sorts", "builds", "weighs")
THINGS = ("boats", "clocks", "maps", "kites", "lamps", "chairs", "bells", "roses", "books", "stamps", "jars", "coats")
PLACES = ("harbour", "market", "station", "garden", "library", "mill", "chapel", "school", "bridge", "square", "inn")


@command(app, lambda found: _table(found), "bench --memories 10000 --limit recall=50", opens=False)
def bench(
    memories: Annotated[
        int, typer.Option("--memories", metavar="N", help=f"How many the store has, {LEAST} to {MOST:,}.")
    ] = 1_000,
    times: Annotated[int, typer.Option("--times", metavar="N", help="How often each operation is done.")] = 50,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", metavar="WHAT=MS", help=f"Fail when more than 5 of 100 take longer; WHAT: {', '.join(LIMITS)}."
        ),
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="Recall without vectors, also where a model for them is installed.")
    ] = False,
) -> Answer:
    """Measure remember, recall, get, paths, graph, timeline and persona in a store of their own, beside your home.

    Exit code 1 when a limit is passed.
    """
    if not LEAST <= memories <= MOST or times < 1:
        raise Invalid(
            f"--memories is {LEAST} to {MOST:,}, and --times at least 1", hint="try --memories 1000 --times 50"
        )
    from substrate.recall.installed import available

    vectors = not words and available()[0]
    most = {**LIMITS, **dict(map(_limit, limit or ()))}
    with _scratch() as folder:
        from substrate.home import Memory

        memory = Memory.open(folder / "home", state_dir=folder / "state", human="bench")
        try:
            filled = _filled(memory, memories, vectors)
            taken = {what: _taken(do, times) for what, do in filled.works(times, vectors).items()}
        finally:
            memory.close()
    rows = [_row(what, seconds, most[what]) for what, seconds in taken.items()]
    return {
        "memories": memories,
        "vectors": vectors,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "operations": rows,
        "within": all(row["within"] for row in rows),
    }


def _limit(text: str) -> tuple[str, float]:
    what, _, number = text.partition("=")
    try:
        most = float(number)
    except ValueError:
        most = -1.0
    if what not in LIMITS or not 0 < most < float("inf"):
        raise Invalid(f"--limit {text} is not WHAT=MS", hint=f"WHAT is one of {', '.join(LIMITS)}, MS a number above 0")
    return what, most


@contextmanager
def _scratch() -> Iterator[Path]:
    """Make a folder beside the home, so on its disk, for as long as the block runs."""
    disk = next(one for one in settings.read().home.parents if one.is_dir())
    try:
        folder = Path(tempfile.mkdtemp(prefix=".ai-memory-bench-", dir=disk))
    except OSError:  # nobody may write there
        folder = Path(tempfile.mkdtemp(prefix="ai-memory-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Filled:
    """The store, and the ids of what is in it."""

    def __init__(self, memory: "Memory", ids: Sequence[str], reflections: Sequence[str]) -> None:
        self.memory, self.ids, self.reflections = memory, ids, reflections

    def works(self, times: int, vectors: bool) -> Mapping[str, Callable[[int], object]]:
        """Give each operation, done the n-th time to something else than before."""
        import curator.actions  # noqa: F401  (registers reflect and persona)
        from substrate.actions.registry import call
        from substrate.recall.question import ARMS
        from substrate.recall.recall import recall

        arms = [arm for arm in ARMS if vectors or arm != "vector"]

        def one(number: int) -> str:
            return self.ids[number * len(self.ids) // (times + 1) % len(self.ids)]

        def above(number: int) -> str:
            return self.reflections[number * 7 % len(self.reflections)]

        def each(name: str, given: Callable[[int], Mapping[str, Any]]) -> Callable[[int], object]:
            return lambda number: call(self.memory, name, given(number))

        return {
            "remember": each("remember", lambda number: {"text": _text(len(self.ids) + number)}),
            "recall": lambda number: recall(self.memory.db, self.memory.caller, _question(number), arms=arms),
            "get": each("get", lambda number: {"id": one(number)}),
            "paths": each("paths", lambda number: {"source": above(number), "target": above(number + 1), "depth": 4}),
            "graph": each("graph", lambda number: {"id": above(number), "depth": 2}),
            "timeline": each("timeline", lambda number: {"id": one(number)}),
            "persona": each("persona", lambda number: {"entity": PEOPLE[number % len(PEOPLE)]}),
        }


def _filled(memory: "Memory", count: int, vectors: bool) -> _Filled:
    """Fill the store: memories, a reflection on every ten of them that shares one with the next, and a persona each."""
    from curator.persona.persona import generate
    from substrate.memory.memories import remember
    from substrate.memory.reflections import reflect

    ids: list[str] = []
    reflections: list[str] = []
    for start in range(0, count, BATCH):
        with memory.write() as tx:
            for number in range(start, min(start + BATCH, count)):
                ids.append(remember(tx, memory.caller, _text(number)).id)
                if len(ids) % EACH == 0:
                    at = len(reflections)
                    sources = ids[max(at * EACH - 1, 0) : (at + 1) * EACH]
                    who = PEOPLE[at % len(PEOPLE)]
                    made = reflect(tx, memory.caller, _text(number), _text(number), sources=sources, entity_id=who)
                    reflections.append(made.row.id)
        progress("filling", min(start + BATCH, count), count)
    for who in PEOPLE[: len(reflections)]:
        generate(memory.db, memory.caller, who)
    if vectors:
        from substrate.recall import embedding, index

        index.of(memory.db).encode(memory.db, embedding.load(), progress=progress)
    return _Filled(memory, ids, reflections)


def _text(number: int) -> str:
    who, does, thing, place = _words(number)
    return f"{who.capitalize()} {does} {thing} at the {place} for order {number}."


def _question(number: int) -> str:
    who, does, thing, place = _words(number * 13 + 5)
    return f"Which {thing} at the {place} has {who.capitalize()} for those who {does}?"


def _words(number: int) -> tuple[str, ...]:
    return tuple(some[number // step % len(some)] for some, step in ((PEOPLE, 1), (DOES, 1), (THINGS, 3), (PLACES, 5)))


def _taken(do: Callable[[int], object], times: int) -> list[float]:
    """Do it once to warm up, then give the seconds each time takes."""
    do(0)
    seconds = []
    for number in range(1, times + 1):
        began = time.perf_counter()
        do(number)
        seconds.append(time.perf_counter() - began)
    return seconds


def _row(what: str, seconds: Sequence[float], most: float) -> dict[str, Any]:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive") if len(seconds) > 1 else [seconds[0]] * 99
    p50, p95, p99 = (round(1_000 * cuts[at - 1], 2) for at in (50, 95, 99))
    return {
        "operation": what,
        "n": len(seconds),
        "p50_ms": p50,
        "p95_ms": p95,
        "p99_ms": p99,
        "limit_ms": most,
        "within": p95 <= most,
    }


def _table(found: Answer) -> str:
    rows = [f"{found['memories']:,} memories{', with vectors' if found['vectors'] else ''}; milliseconds on the wall"]
    rows.append(f"{'':10} {'p50':>8} {'p95':>8} {'p99':>8} {'limit':>8}   n")
    for row in found["operations"]:
        told = "" if row["within"] else "  above its limit"
        rows.append(
            f"{row['operation']:10} {row['p50_ms']:8.2f} {row['p95_ms']:8.2f} {row['p99_ms']:8.2f}"
            f" {row['limit_ms']:8g} {row['n']:3}{told}"
        )
    return "\n".join(rows)
