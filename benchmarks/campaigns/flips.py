"""Bits flipped anywhere in a home that is lived in: every answer stays the same, or an error says why there is none.

Half of the bits lie anywhere in the bytes there are, half in one file after another. Each is looked at in a copy, by a
process that may end over it: everything is asked, as each who is in the home, and then the whole store is verified.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from benchmarks.campaigns import _flips
from benchmarks.campaigns._flips import Flip
from benchmarks.campaigns.campaign import Campaign, Number, Outcome, Work
from substrate.recall import container
from tests.store.stores import Store


def run(work: Work) -> Outcome:
    """Flip as many bits as asked for, on every core; a fault is a flip after which something else was answered."""
    store = _flips.lived_in(work.folder / "lived-in")
    chosen = _flips.sampled(store, work.sizes["flips"], work.seed)
    cores = min(os.cpu_count() or 1, len(chosen))
    shares = [chosen[core::cores] for core in range(cores)]
    kinds: Counter[str] = Counter()
    endings = Counter(dict.fromkeys(_flips.ENDINGS, 0))
    faults = []
    look = partial(_followed, store.root, work.broken)
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        for share in pool.map(look, shares, [work.folder / f"core-{core}" for core in range(cores)]):
            for flip in share:
                endings[flip.ending] += 1
                kinds[_kind(flip.file)] += 1
                if flip.ending in _flips.FAULTS:
                    faults.append(f"{flip.file}, byte {flip.offset}, bit {flip.bit}: {flip.ending}: {flip.detail}")
    files: dict[str, Number | str] = {f"bits flipped in: {kind}": count for kind, count in sorted(kinds.items())}
    return Outcome({**files, **endings}, faults)


def _followed(root: Path, broken: str | None, flips: list[Flip], folder: Path) -> list[Flip]:
    """Say what became of one core's share."""
    with ExitStack() as wrong:
        if broken == "index":
            wrong.enter_context(patch.object(container, "hmac", SimpleNamespace(compare_digest=lambda *_: True)))
        return list(_flips.followed(Store(root), flips, folder))


def _kind(file: str) -> str:
    """Name a file by what it is, not by its id."""
    path = Path(file)
    if path.parent.name in ("keys", "anchors", "index"):
        return path.parent.name
    return {".wal": "write-ahead log", ".duckdb": "database", ".toml": "settings"}.get(path.suffix, path.name)


CAMPAIGN = Campaign(
    name="flips",
    title="Flipped bits",
    target="no flipped bit of any file changes an answer without an error",
    small={"flips": 200},
    full={"flips": 20_000},
    broken={"index": "the files of the index are believed, whatever their codes say"},
    run=run,
    parts=("flips", 20),
)
