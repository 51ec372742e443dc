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
from dataclasses import asdict, dataclass, field
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
    """

    name: str
    title: str
    target: str
    small: Mapping[str, int]
    full: Mapping[str, int]
    broken: Mapping[str, str]
    run: Callable[[Work], Outcome]
    unable: Callable[[], str | None] = lambda: None

    def sizes(self, size: str) -> Mapping[str, int]:
        """Give the sizes called ``small`` or ``full``."""
        return self.small if size == "small" else self.full


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

    def write(self) -> Path:
        """Keep it as the newest of its campaign and size (and broken build)."""
        RESULTS.mkdir(exist_ok=True)
        name = "-".join(filter(None, (self.campaign, self.size, self.broken)))
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
