"""Fuzz one parser, or each in turn: `python -m tests.fuzz [TARGET] --seconds 60 --seed 1`.

With the optional package `atheris` the changes are guided by the code they reach; without it they are made blindly, as
in the suite. Exit status 1 when something was found; the input is shown.
"""

import argparse
import importlib
import subprocess
import sys
import time
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.mutations import mutated


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", nargs="?")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blind", action="store_true", help="not guided, even where atheris is installed")
    asked = parser.parse_args()
    guided = find_spec("atheris") is not None and not asked.blind
    if asked.target is None:
        return _each(sys.argv[1:])
    return (_guided if guided else _blind)(asked.target, asked.seconds, asked.seed)


def _each(options: list[str]) -> int:
    from tests.fuzz.targets import TARGETS

    lines = ([sys.executable, "-m", "tests.fuzz", name, *options] for name in TARGETS)
    return max(subprocess.run(line, check=False).returncode != 0 for line in lines)


def _blind(name: str, seconds: int, seed: int) -> int:
    from tests.fuzz.targets import TARGETS

    target, ends, tried, taken = TARGETS[name], time.monotonic() + seconds, 0, 0
    for round in count(seed):
        for data in mutated(target.seeds, round, 500):
            try:
                taken += target.run(data)
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {error}\n  {data!r}")
                return 1
            tried += 1
            if time.monotonic() > ends:
                print(f"{name}: {tried} inputs, {taken} taken, nothing found (not guided, seed {seed}, {seconds} s)")
                return 0
    raise AssertionError("rounds have no end")


def _guided(name: str, seconds: int, seed: int) -> int:
    import atheris

    with atheris.instrument_imports(include=["audit", "substrate", "curator", "cli"], enable_loader_override=False):
        target = importlib.import_module("tests.fuzz.targets").TARGETS[name]
    with TemporaryDirectory() as folder:
        for number, data in enumerate(target.seeds):
            (Path(folder) / f"seed-{number}").write_bytes(data)
        options = [
            f"-max_total_time={seconds}",
            f"-seed={seed}",
            "-max_len=8192",
            "-print_final_stats=1",
            "-timeout=20",
        ]
        atheris.Setup(
            [sys.argv[0], *options, f"-artifact_prefix={folder}/", folder], lambda data: target.run(data) and 0
        )
        atheris.Fuzz()  # ends the process
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
