"""Drive one system, in a process and with a Python of its own, and print what it took as JSON.

    python -m benchmarks.peers.measure work|again|after NAME PLACE GIVEN HOME

The three are steps, each of a process of its own, on the same `HOME`, where the system keeps its files. `PLACE` is
what the system was named with (see ``__main__``), `GIVEN` the folder of the texts. Times are seconds on the wall.
Nothing of the project is imported but what lies in this folder, unless the system is `ours`.
"""

import importlib
import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmarks.peers.given import Given, Vector

BATCH, HITS, WARM = 500, 10, 10
Item = tuple[str, str, Vector]  # an id, a text, its vector


class System(Protocol):
    """A memory that is measured; `version` names it."""

    version: str

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
    """Do one of the steps and print what it found."""
    step, name, place, given, home = sys.argv[1], sys.argv[2], sys.argv[3], Given.load(Path(sys.argv[4])), sys.argv[5]
    make = importlib.import_module(f"benchmarks.peers.systems.{name}").System
    print(json.dumps(STEPS[step](lambda: make(Path(home), given, place), given)), flush=True)
    if step == "again":
        signal.pause()  # until it is killed


def work(opened: Callable[[], System], given: Given) -> dict[str, Any]:
    """Load, settle, ask, and write all but the last one by one."""
    system = opened()
    told: dict[str, Any] = {"version": system.version}
    items = [(f"m{number}", *pair) for number, pair in enumerate(pairs(given.texts, given.vectors))]
    told["load"] = taken(lambda: load(system, items))
    told["settle"] = taken(system.settle)
    asked = pairs(given.questions, given.question_vectors)
    for question in asked[:WARM]:
        system.recall(*question)
    told["recall"], found = each(system.recall, asked)
    told["found"] = share(found, [f"m{number}" for number in given.about])
    more = written(given)
    told["store"], _ = each(lambda *item: system.store(item), more[:-1])
    told["at once"] = more[-2][0] in system.recall(*given.last[0])
    system.close()
    return told


def again(opened: Callable[[], System], given: Given) -> dict[str, Any]:
    """Open it anew and ask for what was written last, then write one more; whoever started this kills it."""
    more, (before, _) = written(given), given.last
    started = time.perf_counter()
    system = opened()
    found = system.recall(*before)
    first = time.perf_counter() - started
    system.store(more[-1])
    return {"first": first, "kept": more[-2][0] in found}


def after(opened: Callable[[], System], given: Given) -> dict[str, Any]:
    """Open what a killed process left and ask for what it had written."""
    system = opened()
    found = system.recall(*given.last[1])
    system.close()
    return {"lasts": written(given)[-1][0] in found}


STEPS = {"work": work, "again": again, "after": after}


def written(given: Given) -> list[Item]:
    """Give what is written one by one."""
    return [(f"n{number}", *pair) for number, pair in enumerate(pairs(given.more, given.more_vectors))]


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
