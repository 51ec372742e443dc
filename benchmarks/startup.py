"""Measure what it costs to read a persona as a whole process, beside importing the database engine alone.

    python benchmarks/startup.py [--runs 20] [--broken]

The two commands run in turn; compared are the medians of their processor time, user and system together, which other
work on the machine disturbs less than the time on the wall; that is printed too. Exits 1 when reading costs more than
``LIMIT`` times the import. ``--broken`` lets every read import numpy and networkx first and must fail: it shows that
the bound binds.
"""

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 2.5
ENGINE = "import duckdb"
READ = "import sys; sys.argv = ['ai-memory', 'persona', 'mara']; from cli.app import main; main()"
STORY = (
    ("remember", "I moved to Lisbon in May.", "--name", "moved"),
    ("reflect", "Home", "Mara has lived in Lisbon since May.", "--from", "moved", "--entity", "mara"),
    ("persona", "mara", "--regenerate"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="runs of each of the two commands")
    parser.add_argument("--broken", action="store_true", help="import numpy and networkx first, and fail")
    asked = parser.parse_args()
    read = f"import numpy, networkx; {READ}" if asked.broken else READ
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "AI_MEMORY_HOME": f"{folder}/home"}
        env |= {"AI_MEMORY_STATE": f"{folder}/state"}
        for line in STORY:
            code = f"import sys; sys.argv = {['ai-memory', *line]!r}; from cli.app import main; main()"
            subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True)
        taken = [[cost(code, env) for code in (ENGINE, read)] for _ in range(asked.runs + 1)][1:]  # the first warms up
    engine, persona = (statistics.median(pair[at][0] for pair in taken) for at in (0, 1))
    walls = [statistics.median(pair[at][1] for pair in taken) for at in (0, 1)]
    ratio = persona / engine
    first = " after importing numpy and networkx" if asked.broken else ""
    print(f"command   ai-memory persona mara{first}, against: {ENGINE}")
    print(f"processor {1000 * persona:.0f} ms against {1000 * engine:.0f} ms: {ratio:.2f} times, at most {LIMIT:g}")
    print(f"wall      {1000 * walls[1]:.0f} ms against {1000 * walls[0]:.0f} ms: {walls[1] / walls[0]:.2f} times")
    print(f"n         {asked.runs} runs of each in turn, medians")
    print(f"machine   {machine()}")
    print(f"version   {version()}")
    return int(ratio > LIMIT)


def cost(code: str, env: dict[str, str]) -> tuple[float, float]:
    """Run code in a fresh interpreter; give its processor time and its time on the wall, in seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=env, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def machine() -> str:
    """Name the processor's kind, how many there are and how busy they were."""
    load = os.getloadavg()[0]
    return f"{platform.machine()}, {os.cpu_count()} processors, load {load:.1f}, Python {platform.python_version()}"


def version() -> str:
    """Name the commit that was measured."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
