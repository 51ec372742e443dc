"""Random histories beside a plain model: operations, kills, reopenings, tampering, rollbacks, erasures,
backups and restores.

Each history is told to a real store in a folder and to a dictionary. After every step both must say the same about
every memory; what was tampered with or rolled back must be refused; what was erased must be in no file. Hypothesis
chooses and shortens the histories.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import replace
from multiprocessing import get_context
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import get_state_machine_test

from audit import anchor as anchors
from audit.anchor import Situation
from benchmarks.campaigns import _killed
from benchmarks.campaigns._history import History
from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from substrate.errors import AiMemoryError
from substrate.home import Memory
from substrate.memory import forgetting
from substrate.store import transaction
from substrate.store.remains import Remains


@contextmanager
def _build(broken: str | None) -> Iterator[None]:
    """Have the store as it is, or wrong in one way."""
    with ExitStack() as wrong:
        match broken:
            case "early":
                wrong.enter_context(mock.patch.object(_killed, "EARLY", True))
            case "rows":
                sound = transaction.verified

                def believing(kind: type[Any], rows: Sequence[Sequence[Any]], expected: Mapping[str, str]) -> list[Any]:
                    names = [transaction.row_id(*key) for key in transaction.keys_of(kind, rows)]
                    given = [transaction.commit(kind, values[:-1], values[-1]) for values in rows]
                    return sound(kind, rows, dict(zip(names, given, strict=True)))

                wrong.enter_context(mock.patch.object(transaction, "verified", believing))
                wrong.enter_context(mock.patch.object(transaction.Reader, "verify_whole", lambda *_: None))
            case "anchor":
                wrong.enter_context(mock.patch.object(anchors, "judge", lambda *_: Situation.OK))
            case "restore":
                wrong.enter_context(mock.patch.object(Remains, "events", lambda *_: []))
            case "cascade":
                whole = forgetting.closure

                def short(*arguments: Any, **options: Any) -> Any:
                    return replace(whole(*arguments, **options), memories=())

                wrong.enter_context(mock.patch.object(forgetting, "closure", short))
        yield


def run(work: Work) -> Outcome:
    """Tell as many histories as asked for, on every core; the first that goes wrong is shortened and told in words."""
    template = work.folder / "template"
    plain = {"force_compression": "uncompressed"}  # so that a search of the bytes finds what is there
    Memory.open(template / "home", state_dir=template / "state", human="ann", engine=plain).close()
    cores = min(os.cpu_count() or 1, work.sizes["histories"])
    parts = []
    for core in range(cores):
        folder = work.folder / f"core-{core}"
        folder.mkdir()
        share = len(range(core, work.sizes["histories"], cores))
        parts.append(
            replace(work, sizes={**work.sizes, "histories": share}, seed=work.seed * 100 + core, folder=folder)
        )
    book, faults = Counter[str](), []
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        for counts, fault in pool.map(_tell, parts):
            book += counts
            faults += fault
    return Outcome({"histories begun": book.pop("histories", 0), **dict(sorted(book.items()))}, faults)


def _tell(work: Work) -> tuple[Counter[str], list[str]]:
    """Tell one core's share; answer what was done and what went wrong."""
    book = Counter[str]()
    template = work.folder.parent / "template"
    machine = type("Told", (History,), {"template": template, "folder": work.folder, "book": book})
    test = seed(work.seed)(get_state_machine_test(machine, settings=_settings(work)))
    with _build(work.broken), redirect_stdout(io.StringIO()):
        try:
            test()
        except Exception as error:  # whatever a history ends in that it should not
            if work.broken and not isinstance(error, AssertionError | AiMemoryError):
                raise  # then it is the broken build that does not run, and nothing was caught
            steps = " ".join(line.strip() for line in getattr(error, "__notes__", ()))
            return book, [f"seed {work.seed}: {type(error).__name__}: {error}: {steps}"]
    return book, []


def _settings(work: Work) -> settings:
    return settings(
        max_examples=work.sizes["histories"],
        stateful_step_count=work.sizes["steps"],
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        phases=(Phase.generate,) if work.broken else (Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


CAMPAIGN = Campaign(
    name="histories",
    title="Random histories beside a plain model",
    target="no history in which the store and the model differ, or in which what was altered is answered",
    small={"histories": 20, "steps": 30},
    full={"histories": 10_000, "steps": 50},
    broken={
        "early": "a write is acknowledged before it is committed",
        "rows": "rows are not held against their commitments",
        "anchor": "the log is not held against the anchor",
        "cascade": "forgetting leaves what was derived",
        "restore": "a restore leaves out what the log says after the backup",
    },
    run=run,
    parts=("histories", 40),
)
