"""The same input under other hash seeds, languages and time zones gives the same personas and files, byte for byte.

Each run is a process of its own that tells the same story and prints a hash of every persona and exported file.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from curator import export
from substrate.texts import projections
from tests.curator.views import ask, files
from tests.curator.workshop import FACTS, opened

LANGUAGES = ("C", "C.UTF-8", "tr_TR.UTF-8", "de_DE.UTF-8")
ZONES = ("UTC", "Pacific/Kiritimati", "America/St_Johns", "Asia/Kathmandu")
NAMES = ("Ada", "İnci", "straße")


def run(work: Work) -> Outcome:
    """Tell the story in as many surroundings as asked for and compare what came out."""
    answers: dict[str, list[str]] = {}
    for number, around in zip(range(work.sizes["runs"]), _surroundings(work.seed), strict=False):
        told = json.dumps(_apart(work, number, around), sort_keys=True)
        answers.setdefault(told, []).append(" ".join(f"{name}={value}" for name, value in around.items()))
    first, *others = answers.items()
    faults = [
        f"{', '.join(sorted(_differing(first[0], told)))} differ between {first[1][0]} and {around[0]}"
        for told, around in others
    ]
    count = len(json.loads(first[0]))
    return Outcome({"runs": work.sizes["runs"], "personas and files in each": count, "answers": len(answers)}, faults)


def _surroundings(seed: int) -> Iterator[dict[str, str]]:
    for number, (zone, language) in enumerate(product(ZONES * 2, LANGUAGES)):
        yield {"PYTHONHASHSEED": str(seed * 1_000 + number), "LC_ALL": language, "TZ": zone}


def _apart(work: Work, number: int, around: dict[str, str]) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(work.folder / str(number)), work.broken or ""],
        env={**os.environ, **around, "PYTHONUTF8": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def _differing(one: str, other: str) -> set[str]:
    left, right = json.loads(one), json.loads(other)
    return {name for name in left.keys() | right.keys() if left.get(name) != right.get(name)}


def tell(folder: Path) -> dict[str, str]:
    """Tell the story and give the hash of each persona and file by name."""
    with opened(folder) as shop:
        ask(shop)
        for number, name in enumerate(NAMES):
            for fact in FACTS[number:]:
                shop.reflect(fact.replace("Ada", name), entity=name)
        texts = {f"persona of {name}": (shop.generate(name).row.content or "").encode() for name in NAMES}
        export.catch_up(shop.memory)
        texts |= files(shop.memory.db.home)
    return {name: hashlib.sha256(data).hexdigest() for name, data in texts.items()}


CAMPAIGN = Campaign(
    name="determinism",
    title="The same input in other surroundings",
    target="every persona and every file has the same bytes",
    small={"runs": 3},
    full={"runs": 24},
    broken={"hash": "names of files follow the hash of a text"},
    run=run,
)

if __name__ == "__main__":
    if sys.argv[2] == "hash":
        projections.filename = lambda text: str(abs(hash(text)))
    print(json.dumps(tell(Path(sys.argv[1]))))
