"""Measure the personas of real people on the store path: citations, coverage, faithfulness, stability, and baselines.

    python -m benchmarks.persona_quality [--data DIR] [--only locomo|realmem] [--limit N] [--home DIR] [--pure]
                                         [--no-embedder] [--seed N] [--broken]

The development data is loaded session by session (`load_real`), and each speaker and person gets three personas:
`grown`, regenerated as sessions come in (every one, RealMem every tenth); `fresh`, made from everything at once; and
one more after a reflection that says something new. Figures are of `fresh` unless they say otherwise:

    uncited  claims that cite nothing                 faults   what `persona --verify` finds in all three
    named    sections of which a third of the claims holds a word of the heading
    frag     claims that are no sentence              faith    claims that the cited reflections and their turns hold
    ground   claims that the turns alone hold, beside the longest facts
    kept     claims kept word for word after one more reflection, and whether the persona now states that one
    same     whether a second process wrote the same bytes
    sec      seconds of the processor for one generation, without encoding
    then the share of gold events that is stated (LoCoMo), beside two baselines of the same length: the longest facts,
    and the newest with a list of sources

The second process has another hash seed and loads the same data into a store of its own. `--pure` composes without a
store, for quick looks. `--broken` shuffles the citations and must fail.

Exit 1 when a target is missed. The data is not part of the project (AI_MEMORY_BENCH_DATA names its folder); where it is
absent this says so and exits 0. Claims that were judged doubtful are written out.

Source: docs/spec/persona.md §9.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import corpora
from benchmarks.corpora import Sample
from benchmarks.figures import Result, missed, result, table
from benchmarks.judge import Remembered
from benchmarks.load_real import Replay, add_arguments, opened, refuse_used, shown
from benchmarks.portraits import Portraits, Pure, Stored, portray
from substrate.errors import AiMemoryError
from substrate.recall import embedding

People = Iterator[tuple[Sample, Mapping[str, Portraits]]]


def main(argv: list[str] | None = None) -> int:
    """Print the figures and answer the exit code."""
    options = arguments().parse_args(argv)
    usable, why_not = embedding.available()
    try:
        samples = corpora.samples(options.data, options.only, options.limit)
    except corpora.Absent as absent:
        usable, why_not = False, str(absent)
    if not usable:
        print(f"skipped: {why_not}", file=sys.stderr)
        return 0
    if options.fingerprints:
        made = portraits(options, samples, Remembered(), grow=False)
        print(json.dumps(dict(pair for found in made for pair in fingerprints(*found).items())))
        return 0
    header(options, samples, sys.argv[1:] if argv is None else argv)
    try:
        results = measure(options, samples)
    except AiMemoryError as error:
        print(f"error: {error.message}\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code
    table(results)
    write_doubtful(options.doubtful, results)
    failures = list(missed(results))
    for failure in failures:
        print("missed:", failure)
    return 1 if failures else 0


def arguments() -> argparse.ArgumentParser:
    """Name the options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.persona_quality", description=(__doc__ or "").splitlines()[0]
    )
    add_arguments(parser)
    parser.add_argument("--home", type=Path, help="keep the store in this folder")
    parser.add_argument("--pure", action="store_true", help="compose without a store")
    parser.add_argument("--no-embedder", action="store_true", help="compose by overlap of words; MiniLM still judges")
    parser.add_argument("--seed", type=int, default=20260514)
    parser.add_argument("--broken", action="store_true", help="shuffle the citations; must fail")
    parser.add_argument("--doubtful", type=Path, default=corpora.ROOT / "build" / "persona_doubtful.tsv")
    parser.add_argument("--fingerprints", action="store_true", help=argparse.SUPPRESS)  # what the second process does
    return parser


def measure(options: argparse.Namespace, samples: Sequence[Sample]) -> list[Result]:
    """Make all personas and take their figures, while a second process makes them too."""
    encode = Remembered()
    second = None if options.pure else start_second(options)
    results: list[Result] = []
    prints: dict[str, str] = {}
    try:
        for sample, people in portraits(options, samples, encode, grow=True):
            prints |= fingerprints(sample, people)
            broken = options.seed if options.broken else None
            results += [result(sample, person, made, encode, broken=broken) for person, made in people.items()]
    except BaseException:
        if second is not None:
            second.kill()
        raise
    if second is not None:
        other = json.loads(second.communicate()[0] or "{}")
        for found in results:
            found.same = prints[found.name] == other.get(found.name)
    return results


def portraits(options: argparse.Namespace, samples: Sequence[Sample], encode: Remembered, *, grow: bool) -> People:
    """Yield the personas of each sample, all in one store or without any."""
    embed = None if options.no_embedder else encode
    if options.pure:
        for sample in samples:
            yield sample, portray(Pure(sample, encode, embed, options.seed), sample, grow=grow, seed=options.seed)
        return
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay()
        kept = None if options.fingerprints else options.home
        memory = opened(kept or Path(folder, "home"), replay, None if kept else Path(folder, "state"))
        try:
            refuse_used(memory, samples)
            for done, sample in enumerate(samples, 1):
                way = Stored(memory, replay, sample, encode, embed)
                yield sample, portray(way, sample, grow=grow, seed=options.seed)
                shown("namespaces with personas", done, len(samples))
        finally:
            memory.close()


def start_second(options: argparse.Namespace) -> subprocess.Popen[str]:
    """Start a process with another hash seed that makes the same personas in another store."""
    command = [sys.executable, "-m", "benchmarks.persona_quality", "--fingerprints", f"--data={options.data}"]
    command += [f"--seed={options.seed}"] + (["--no-embedder"] if options.no_embedder else [])
    command += [f"--only={options.only}"] if options.only else []
    command += [f"--limit={options.limit}"] if options.limit is not None else []
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = os.environ | {"PYTHONHASHSEED": seed}
    return subprocess.Popen(
        command, cwd=corpora.ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def fingerprints(sample: Sample, people: Mapping[str, Portraits]) -> dict[str, str]:
    """Map each person to a hash of their documents, of the fresh one and the one after."""
    return {
        f"{sample.name} {person}": hashlib.sha256(f"{made.fresh.body}\0{made.later.body}".encode()).hexdigest()
        for person, made in people.items()
    }


def header(options: argparse.Namespace, samples: Sequence[Sample], argv: Sequence[str]) -> None:
    """Say what is measured, by which command, of which version, where."""
    people = sum(len(sample.people) for sample in samples)
    facts, turns = sum(len(sample.facts) for sample in samples), sum(len(sample.turns) for sample in samples)
    version = tomllib.loads((corpora.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    print("command:", "python -m benchmarks.persona_quality", *argv)
    print(
        f"ai-memory {version}, seed {options.seed}; {len(samples)} namespaces, {people} people,"
        f" {facts:,} reflections on {turns:,} observations"
    )
    print(
        f"python {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()};"
        f" {embedding.DEFAULT_MODEL}, composed {'by words' if options.no_embedder else 'by meaning'}"
        f" {'without a store' if options.pure else 'through the store'}; model calls 0, tokens 0"
    )


def write_doubtful(path: Path, results: Sequence[Result]) -> None:
    """Write every claim that was judged doubtful, for people to read: who, why, the claim, what it cites."""
    lines = [line for found in results for line in found.doubtful]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} doubtful claims in {path}")


if __name__ == "__main__":
    sys.exit(main())
