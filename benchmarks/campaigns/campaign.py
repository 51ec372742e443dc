"""What a campaign is, and what one run of it leaves.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path

import duckdb

RESULTS = Path(__file__).resolve().parent / "results"
SIZES = ("small", "full")
Number = int | float


@dataclass(frozen=True)
class Outcome:
    """What one run found: figures by name, in the order they are shown, and a sentence for every fault."""

    figures: Mapping[str, Number | str]
    faults: Sequence[str] = ()


@dataclass(frozen=True)
class Work:
    """What a run is given: its sizes by name, its seed, the broken build to use if any, and an empty folder."""

    sizes: Mapping[str, int]
    seed: int
    broken: str | None
    folder: Path


@dataclass(frozen=True)
class Campaign:
    """One campaign. Every module of this package that is one has it as ``CAMPAIGN``.

    ``small`` is the size for every change, ``full`` the one to publish; both have the same names. ``broken`` are the
    builds that have to be caught, by what is wrong with each. ``unable`` says why this machine cannot run it, or None.
    ``parts`` names the size that the full run can be done in parts of, and how many: hours of work that may be spread.
    """

    name: str
    title: str
    target: str
    small: Mapping[str, int]
    full: Mapping[str, int]
    broken: Mapping[str, str]
    run: Callable[[Work], Outcome]
    unable: Callable[[], str | None] = lambda: None
    parts: tuple[str, int] | None = None

    def sizes(self, size: str) -> Mapping[str, int]:
        """Give the sizes called ``small`` or ``full``."""
        return self.small if size == "small" else self.full

    def share(self) -> Mapping[str, int]:
        """Give the sizes of one part of the full run. Raises ValueError for a campaign without parts."""
        if self.parts is None:
            raise ValueError(f"{self.name} has no parts")
        name, count = self.parts
        return {**self.full, name: self.full[name] // count}


@dataclass(frozen=True)
class Result:
    """A run as it is kept: what was run, on what, when, and what came out. ``faults`` are the first hundred."""

    campaign: str
    command: str
    size: str
    sizes: Mapping[str, int]
    seed: int
    broken: str | None
    date: str
    seconds: float
    version: str
    machine: str
    figures: Mapping[str, Number | str]
    faults: Sequence[str] = field(default=())
    part: int | None = None

    def write(self) -> Path:
        """Keep it as the newest of its campaign and size (and part, or broken build)."""
        RESULTS.mkdir(exist_ok=True)
        part = f"{self.part:02}" if self.part else None
        name = "-".join(filter(None, (self.campaign, self.size, part, self.broken)))
        path = RESULTS / f"{name}.json"
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def campaigns() -> dict[str, Campaign]:
    """Give every campaign of the package by its name, in the order of names."""
    package = importlib.import_module("benchmarks.campaigns")
    found = {}
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("_"):
            continue
        campaign = getattr(importlib.import_module(f"benchmarks.campaigns.{module.name}"), "CAMPAIGN", None)
        if isinstance(campaign, Campaign):
            found[campaign.name] = campaign
    return dict(sorted(found.items()))


def results() -> list[Result]:
    """Read the results that were kept, by name of the file."""
    return [Result(**json.loads(path.read_text(encoding="utf-8"))) for path in sorted(RESULTS.glob("*.json"))]


def together(parts: Sequence[Result]) -> Result:
    """Add up the parts of one full run: whole numbers are summed, others given from the least to the greatest.

    What differs between the parts in words (a date, a machine) is listed.
    """
    parts = sorted(parts, key=lambda result: result.part or 0)
    first = parts[0]
    figures: dict[str, Number | str] = {}
    for name in dict.fromkeys(name for part in parts for name in part.figures):
        values = [part.figures[name] for part in parts if name in part.figures]
        if all(isinstance(value, int) for value in values):
            figures[name] = sum(int(value) for value in values)
        elif any(isinstance(value, str) for value in values):
            figures[name] = ", ".join(dict.fromkeys(str(value) for value in values))
        else:
            figures[name] = f"{min(map(float, values)):g} to {max(map(float, values)):g}"
    return replace(
        first,
        command=first.command.rpartition(" ")[0] + f" {_numbers([part.part or 0 for part in parts])}",
        date=", ".join(dict.fromkeys(part.date for part in parts)),
        seconds=round(sum(part.seconds for part in parts), 1),
        version=", ".join(dict.fromkeys(part.version for part in parts)),
        machine="; ".join(dict.fromkeys(part.machine for part in parts)),
        figures=figures,
        faults=[f"part {part.part}: {fault}" for part in parts for fault in part.faults],
    )


def _numbers(numbers: Sequence[int]) -> str:
    """Write ascending numbers shortly: 1-3,5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def machine() -> str:
    """Say what the run ran on: cores, memory, system, and the versions that matter."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    return (
        f"{os.cpu_count()} cores, {memory} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, DuckDB {duckdb.__version__}"
    )


def version() -> str:
    """Give the version of ai-memory that ran."""
    return metadata.version("ai-memory")
