"""Put ai-memory and its peers over the same memories, in one run, each in a process of its own.

    python -m benchmarks.peers [--rows 10000] [--writes 100] [--questions 100] [--seed 0] [--peer NAME=PLACE ...]
                               [--keep FILE] [--broken]

Texts, questions and vectors are made up and the same for all (see ``given``); vectors are handed to each peer's own
encoder, so that no model is timed. `PLACE` is a Python that has the peer, or for ``mcp_reference`` the folder of
node_modules in which its package is; ``ours`` and ``sqlite``, what one would write oneself, run without being asked
for. Times are on the wall, in milliseconds:

    recall     one question answered, from the text to the ids of ten memories
    store      one memory written, for good where the system keeps any
    found      the share of questions whose memory is among the ten
    at once    whether a memory is found by the question after its write
    first      opening in another process and the first answer there
    kept       whether that answer has the memory written last
    lasts      whether one more memory is there after its process was killed as soon as the write had returned; a
               server that it started may have lived on

Ours has to recall faster at the median and the 95th percentile than every peer that keeps what it is given, and to
store faster at the median than every peer whose writes last. Exit 1 where a peer wins; the table says so.
``--broken`` makes our view of the index anew for every question, and must fail.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import kept
from benchmarks.peers.given import made
from benchmarks.startup import ROOT, machine, version

OURS = "ours"
KNOWN = sorted(path.stem for path in (Path(__file__).parent / "systems").glob("[a-z]*.py"))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table and answer the exit code."""
    options = _options(argv)
    places = {OURS: sys.executable, "sqlite": sys.executable, **dict(options.peer)}
    print(f"{'':40}  recall p50     p95   store p50     p95  found  first  disk  at once  kept  lasts")
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        given = made(options.rows, options.writes, options.questions, options.seed)
        given.save(Path(folder))
        for name, place in places.items():
            found = driven(name, place, Path(folder), options.broken)
            told[name] = found
            print(line(name, found), flush=True)
    failures = list(lost(told))
    n = f"{options.questions} questions, {options.writes} writes"
    print(f"command   {kept.command('benchmarks.peers', argv)}")
    print(f"n         {n}, {options.rows:,} memories")
    print(f"seed      {options.seed}")
    print(f"machine   {machine()}")
    print(f"version   {version()}")
    for failure in failures:
        print("missed:", failure)
    figures = {"rows": options.rows, "n": n, "seed": options.seed, "systems": told, "missed": failures}
    kept.keep(options.keep, "benchmarks.peers", argv, figures)
    return int(bool(failures))


def driven(name: str, place: str, given: Path, broken: bool) -> dict[str, Any]:
    """Run one system; answer what it took, quantiles in milliseconds, or why it did not run."""
    with tempfile.TemporaryDirectory() as home:
        found: dict[str, Any] = {}
        for step in ("work", "again", "after"):
            told, wrong = _step(step, name, place, [str(given), home], broken)
            if told is None:
                return {"failed": (wrong.strip().splitlines() or ["no word"])[-1][:200]}
            found |= told
            if step == "work":
                found["bytes"] = sum(path.stat().st_size for path in Path(home).rglob("*") if path.is_file())
    for what in ("recall", "store"):
        seconds = found.pop(what)
        found[what] = {name: round(1000 * float(np.quantile(seconds, q)), 3) for name, q in QUANTILES.items()}
    return found


def _step(step: str, name: str, place: str, where: list[str], broken: bool) -> tuple[dict[str, Any] | None, str]:
    """Run one step in a process of its own and kill it with all it started; answer what it told, or its last words."""
    python = place if "python" in Path(place).name else sys.executable
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [python, "-m", "benchmarks.peers.measure", step, name, place, *where],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **({"BROKEN": "1"} if broken else {})},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        assert process.stdout
        told = next((line for line in process.stdout if line.startswith("{")), None)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        errors.seek(0)
        return (json.loads(told) if told else None), errors.read()


QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def line(name: str, found: Mapping[str, Any]) -> str:
    """Return one row of the table."""
    if "failed" in found:
        return f"{name:40}  did not run: {found['failed']}"
    recall, store = ("{p50:11.2f} {p95:7.2f}".format(**found[what]) for what in ("recall", "store"))
    return (
        f"{found['version'][:40]:40} {recall} {store}"
        f" {found['found']:6.2f} {1000 * found['first']:6.0f} {found['bytes'] / 2**20:5.0f}"
        f"  {_yes(found['at once']):7}  {_yes(found['kept']):4}  {_yes(found['lasts']):5}"
    )


def lost(told: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield each figure in which a peer is faster than ours, and each peer that did not run."""
    ours = told[OURS]
    for name, found in told.items():
        if "failed" in found:
            yield f"{name} did not run: {found['failed']}"
        elif name != OURS and found["kept"] and "failed" not in ours:
            for what, quantile in (
                ("recall", "p50"),
                ("recall", "p95"),
                *([("store", "p50")] if found["lasts"] else []),
            ):
                mine, theirs = ours[what][quantile], found[what][quantile]
                if mine > theirs:
                    yield f"{found['version']}: {what} {quantile} {theirs:.2f} ms, ours {mine:.2f} ms"


def _yes(held: bool) -> str:
    return "yes" if held else "no"


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--writes", type=int, default=100)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--peer", type=_peer, action="append", default=[], metavar="NAME=PLACE")
    kept.add_argument(parser)
    parser.add_argument("--broken", action="store_true", help="make our view anew for every question, and fail")
    return parser.parse_args(argv)


def _peer(text: str) -> tuple[str, str]:
    name, _, place = text.partition("=")
    if name not in KNOWN or not place:
        raise argparse.ArgumentTypeError(f"NAME=PLACE, where NAME is one of {', '.join(KNOWN)}")
    return name, place


if __name__ == "__main__":
    sys.exit(main())
