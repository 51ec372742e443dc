"""Measure the common operations at several sizes, each as `ai-memory bench` does, in a process of its own.

    python -m benchmarks.operations [--memories 1000 10000 ...] [--times 100] [--keep FILE]

Recall is by words, entities, times and links: no vector is made for so many memories. Exit 1 when a limit of
`ai-memory bench` is passed; ``--limit recall=0.001`` must fail.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from benchmarks import kept
from benchmarks.startup import ROOT, machine, version

CODE = "import sys; sys.argv[0] = 'ai-memory'; from cli.app import main; main()"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures of each size and answer the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operations")
    parser.add_argument("--memories", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--limit", action="append", default=[], metavar="WHAT=MS", help="as of `ai-memory bench`")
    kept.add_argument(parser)
    options = parser.parse_args(argv)
    sizes = []
    for memories in options.memories:
        sizes.append(measured(memories, options.times, options.limit))
        for row in sizes[-1]["operations"]:
            print(
                f"{memories:9,} {row['operation']:10} p50 {row['p50_ms']:8.2f}  p95 {row['p95_ms']:8.2f}"
                f"  p99 {row['p99_ms']:8.2f}  at most {row['limit_ms']:g}",
                flush=True,
            )
    print(f"command   {kept.command('benchmarks.operations', argv)}")
    print(f"machine   {machine()}")
    print(f"version   {version()}")
    kept.keep(options.keep, "benchmarks.operations", argv, {"n": options.times, "sizes": sizes})
    return int(not all(size["within"] for size in sizes))


def measured(memories: int, times: int, limits: Sequence[str]) -> Any:
    """Run the command for one size; its answer."""
    line = ["bench", "--memories", str(memories), "--times", str(times), "--words", "--json"]
    line += [word for limit in limits for word in ("--limit", limit)]
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        done = subprocess.run(
            [sys.executable, "-c", CODE, *line],
            env={**os.environ, "PYTHONPATH": str(ROOT), "AI_MEMORY_HOME": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
