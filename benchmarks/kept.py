"""Keep what a benchmark measured, with what it takes to repeat it, for `benchmarks.page`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.startup import machine, version

FOLDER = Path(__file__).with_name("results")


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--keep``, the place of what was measured."""
    parser.add_argument("--keep", metavar="FILE", type=Path, help="write what was measured as JSON")


def command(module: str, argv: Sequence[str] | None) -> str:
    """Return the command that was run, without where its result was kept."""
    words = list(sys.argv[1:] if argv is None else argv)
    if "--keep" in words:
        at = words.index("--keep")
        del words[at : at + 2]
    return " ".join(["python -m", module, *map(_plain, words)])


def _plain(word: str) -> str:
    """Leave out where on this machine something is."""
    name, equals, value = word.rpartition("=")
    return f"{name}{equals}…" if value.startswith("/") else word


def keep(place: Path | None, module: str, argv: Sequence[str] | None, figures: Mapping[str, Any]) -> None:
    """Write figures with command, date, machine and version; nothing without a place."""
    if place is None:
        return
    run = {"command": command(module, argv), "date": datetime.now(UTC).date().isoformat()}
    run |= {"machine": machine(), "version": version()}
    place.write_text(json.dumps({**run, **figures}, indent=1) + "\n", encoding="utf-8")
