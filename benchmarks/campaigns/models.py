"""Models that fail, answer garbage, or answer lies: the last good persona is served, and nothing half-written is left.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from benchmarks.model_path import unchecked
from curator.llm.model import Model
from curator.llm.ollama import Ollama
from curator.llm.scripted import Scripted
from substrate.config import Models
from substrate.errors import NoModel, Refused
from substrate.store import recovery
from substrate.store.model import ClaimRow, LinkRow, MemoryRow
from tests.curator.lies import HOSTILE, INVALID, LIES
from tests.curator.scribe import answer
from tests.curator.workshop import FACTS, Workshop, opened
from tests.servers.faults import FAULTS
from tests.servers.sockets import served

PATIENCE = Models(timeout_s=0.5)


def _kinds() -> dict[str, Callable[[ExitStack], Model]]:
    """Give every way to be bad, by name, as what makes such a model."""

    def behind(behave: Callable[..., None], stack: ExitStack) -> Model:
        return Ollama("x", url=stack.enter_context(served(behave)).url)

    def saying(said: list[object], stack: ExitStack) -> Model:
        return Scripted(said * 2)

    servers = {f"server: {name}": partial(behind, behave) for name, (behave, _) in FAULTS.items()}
    lies = {f"draft: {name}": partial(saying, list(said)) for name, said in LIES.items()}
    invalid = {f"answer: {name}": partial(saying, [said]) for name, (said, _) in INVALID.items()}
    return servers | lies | invalid


def run(work: Work) -> Outcome:
    """Let every bad model write about the same person, round after round, each round in a store of its own."""
    chance, counts, faults = random.Random(work.seed), Counter[str](), []
    kinds = _kinds()
    with unchecked() if work.broken else ExitStack():
        for number in range(work.sizes["rounds"]):
            folder = work.folder / str(number)
            with opened(folder) as shop:
                for fact in chance.sample(FACTS, chance.randint(3, len(FACTS))):
                    shop.reflect(fact)
                shop.generate()
                shop.reflect(HOSTILE)
                for name in chance.sample(sorted(kinds), len(kinds)):
                    faults += [f"round {number}, {name}: {fault}" for fault in _tried(shop, kinds[name], counts)]
                good = Scripted([answer(*((text, (at,)) for at, text in enumerate(_facts(shop), 1))), answer()])
                shop.generate(model=good, full=True)
                counts["good drafts stored after all of them"] += 1
            report = recovery.verify(folder / "home", state_dir=folder / "state", notes=[])
            faults += [f"round {number}: {fault.message}" for fault in report.faults]
    return Outcome({"kinds": len(kinds), **dict(sorted(counts.items()))}, faults)


def _facts(shop: Workshop) -> list[str]:
    with shop.memory.read() as r:
        rows = r.select(MemoryRow, "memory_kind = 'reflection'", order="sequence")
    return [row.content for row in rows if row.content and row.content != HOSTILE]


def _tried(shop: Workshop, make: Callable[[ExitStack], Model], counts: Counter[str]) -> Iterator[str]:
    """Ask one bad model for a persona and look at what is left."""
    before, rows, events = shop.persona(), _rows(shop), len(shop.events())
    counts["generations"] += 1
    with ExitStack() as stack:
        try:
            shop.generate(model=make(stack), models=PATIENCE, full=True)
            yield "a persona was stored"
        except (NoModel, Refused) as error:
            counts["refused for a reason"] += 1
            if not error.details.get("reason") or not error.hint:
                yield f"no reason or no hint: {error.message}"
        except Exception as error:  # anything else is what must not happen
            yield f"{type(error).__name__}: {error}"
    if shop.persona() != before:
        yield "another persona is served"
    if _rows(shop) != rows:
        yield "rows are left behind"
    new = [event.type for event in shop.events()[events:]]
    if new != ["persona_failed"]:
        yield f"the log says {new}"


def _rows(shop: Workshop) -> list[object]:
    with shop.memory.read() as r:
        return [r.select(kind, order="1, 2") for kind in (MemoryRow, LinkRow, ClaimRow)]


CAMPAIGN = Campaign(
    name="models",
    title="Models that fail, answer garbage, or answer lies",
    target="the last good persona is served each time, nothing is left behind, no lie is stored",
    small={"rounds": 1},
    full={"rounds": 50},
    broken={"checks": "claims are stored unchecked"},
    run=run,
)
