"""Drive one system, in a process and with a Python of its own, and print what it took as JSON.

    python -m benchmarks.peers.measure NAME PLACE GIVEN HOME

`PLACE` is what the system was named with (see ``__main__``), `GIVEN` the folder of the texts, `HOME` where it keeps
its files. Times are seconds on the wall. Nothing of the project is imported but what lies in this folder, unless the
system is `ours`.
"""

import importlib
import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmarks.peers.given import Given, Vector

BATCH, HITS, WARM = 500, 10, 10
Item = tuple[str, str, Vector]  # an id, a text, its vector


class System(Protocol):
    """A memory that is measured. `version` names it; `keeps` says what a write has done when it returns."""

    version: str
    keeps: str

    def load(self, items: Sequence[Item]) -> None:
        """Take in some memories at once."""

    def settle(self) -> None:
        """Do what has to be done once after loading."""

    def store(self, item: Item) -> None:
        """Take in one memory, for good if the system keeps any."""

    def recall(self, question: str, vector: Vector) -> Sequence[str]:
        """Answer the ids of the `HITS` best, or as many as it gives."""

    def close(self) -> None:
        """Let go of the files."""


def main() -> None:
    """Load, settle, ask, write and ask again what was written, open anew and ask."""
    name, place, given, home = sys.argv[1], sys.argv[2], Given.load(Path(sys.argv[3])), Path(sys.argv[4])
    make = importlib.import_module(f"benchmarks.peers.systems.{name}").System
    home.mkdir(exist_ok=True)
    opened = lambda: make(home, given, place)  # noqa: E731
    system: System = opened()
    items = [(f"m{number}", text, vector) for number, (text, vector) in enumerate(pairs(given.texts, given.vectors))]
    told: dict[str, Any] = {"version": system.version, "keeps": system.keeps}
    told["load"] = taken(lambda: load(system, items))
    told["settle"] = taken(system.settle)
    asked = pairs(given.questions, given.question_vectors)
    for question in asked[:WARM]:
        system.recall(*question)
    told["recall"], found = each(system.recall, asked)
    told["found"] = share(found, [f"m{number}" for number in given.about])
    more = [(f"n{number}", text, vector) for number, (text, vector) in enumerate(pairs(given.more, given.more_vectors))]
    told["store"], _ = each(lambda *item: system.store(item), more)
    told["at once"] = f"n{len(more) - 1}" in system.recall(*given.last)
    system.close()
    started = time.perf_counter()
    system = opened()
    told["kept"] = f"n{len(more) - 1}" in system.recall(*given.last)
    told["first"] = time.perf_counter() - started
    system.close()
    told["bytes"] = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    told["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(told), flush=True)


def pairs(these: Sequence[Any], those: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Give what belongs together."""
    return list(zip(these, those, strict=True))


def load(system: System, items: Sequence[Item]) -> None:
    """Give it all of them, some at a time."""
    for start in range(0, len(items), BATCH):
        system.load(items[start : start + BATCH])


def taken(do: Callable[[], Any]) -> float:
    """Give the seconds something takes."""
    started = time.perf_counter()
    do()
    return time.perf_counter() - started


def each(do: Callable[..., Any], works: Sequence[tuple[Any, ...]]) -> tuple[list[float], list[Any]]:
    """Give the seconds of each, and what each answered."""
    seconds, answers = [], []
    for work in works:
        started = time.perf_counter()
        answers.append(do(*work))
        seconds.append(time.perf_counter() - started)
    return seconds, answers


def share(found: Sequence[Sequence[str]], wanted: Sequence[str]) -> float:
    """Give the share of questions whose memory is among the hits."""
    return sum(id in some for some, id in pairs(found, wanted)) / len(wanted)


if __name__ == "__main__":
    main()
