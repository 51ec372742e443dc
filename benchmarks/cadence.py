"""Regenerate personas by cadence through whatever a day brings, and look in the log whether each followed enough.

Reflections come in bursts under three names of one entity and about two others that are merged, some are forgotten,
personas are written by hand in between, two processes reflect and tick at once, and one of them is killed in a tick.
After one last tick: every persona that the cadence made follows at least --every reflections since the one before
(tombstones included) or a merge, no version stands twice, nothing is due, no job runs or waits, and nothing that was
acknowledged is lost.

    python -m benchmarks.cadence [--seed 1] [--rounds 4] [--every 5] [--broken guard|count|jobs] [--json]

Each --broken worker must be caught, or the checks are worth nothing: without the guard that asks whether a persona is
still warranted, counting from the version before the newest, or leaving what a dead worker left.

    python -m benchmarks.cadence --delay [--reflections 200] [--seconds 30] [--json]

measures the other half: how long a reflection takes while a worker waits for a model that answers after so many
seconds, against the same without a model, in blocks that take turns. Exit status 1 when the 95th percentile with the
model is more than 1.1 times the one without, or a check failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from audit.event import Event
from benchmarks import delay
from curator import actions, jobs, worker
from curator.persona import cadence, sweep
from substrate.config import Models
from substrate.errors import AiMemoryError
from substrate.home import Memory
from substrate.memory import entities
from substrate.scopes import namespaces
from substrate.store.model import MemoryRow
from substrate.store.transaction import Reader

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("Ada", "A. Byron", "the countess")  # one entity
OTHERS = ("Ben", "Benjamin")  # merged half way
PLACES = ("global", "team/organs")
MODELS = Models(persona="extractive", reflect="off")


def main() -> int:
    """Run the campaign, or the measurement of delay, and print what came out."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--rounds", type=int, default=4, help="rounds of each of the two processes")
    arguments.add_argument("--every", type=int, default=5, help="the policy")
    arguments.add_argument("--broken", choices=("guard", "count", "jobs"))
    arguments.add_argument("--delay", action="store_true", help="measure how long a reflection takes")
    arguments.add_argument("--reflections", type=int, default=200, help="reflections measured each way")
    arguments.add_argument("--seconds", type=float, default=30.0, help="how long the model takes")
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--work", nargs=2, metavar=("HOME", "STATE"), help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.work:
        breaking(options.broken)
        return work(options)
    with tempfile.TemporaryDirectory() as folder:
        if options.delay:
            found = delay.measure(Path(folder), options.reflections, options.seconds, options.seed)
        else:
            found = campaign(options, Path(folder))
    failed = bool(found["faults"])
    print(json.dumps(found) if options.json else table(found, options))
    return int(failed)


def breaking(how: str | None) -> None:
    """Take away what the campaign should miss."""
    if how == "guard":  # a persona is written whatever was written meanwhile
        cadence.standing = _always(cadence.standing)
    elif how == "count":
        cadence.newest = _before(cadence.newest)
    elif how == "jobs":
        jobs.put_back = lambda tx: []


def _always(honest: Any) -> Any:
    def standing(r: Reader, entity_id: str, namespace: str) -> Any:
        found = honest(r, entity_id, namespace)
        return replace(found, merged=True) if not hasattr(r, "put") else found

    return standing


def _before(honest: Any) -> Any:
    def newest(r: Reader, entity_id: str, namespace: str) -> int:
        where = "memory_kind = 'persona' AND entity_id = ? AND namespace = ? AND sequence < ?"
        last = honest(r, entity_id, namespace)
        rows = r.query(f"SELECT coalesce(max(sequence), 0) FROM memories WHERE {where}", (entity_id, namespace, last))
        return int(rows[0][0])

    return newest


def campaign(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Let two processes work on one store, kill one in a tick, let it begin again, tick once more, and look."""
    home, state = folder / "home", folder / "state"
    memory = Memory.open(home, state_dir=state, human="ann")
    with memory.write() as tx:
        namespaces.set_policy(tx, memory.caller, "global", cadence.POLICY, options.every)
        for name in NAMES[1:]:
            entities.alias(tx, memory.caller, name, NAMES[0])
    memory.close()
    chance = random.Random(options.seed)
    steady, victim = start(options, home, state, 0), start(options, home, state, 1)
    said: list[dict[str, Any]] = []
    killed = 0
    for turn in range(options.rounds):
        tell(steady, merge=turn == options.rounds // 2)
        tell(victim)
        if turn % 2:  # end it somewhere in its tick
            heed(victim, said, until="ticking")
            signal.sigtimedwait([], chance.uniform(0.0, 0.3))
            victim.kill()
            victim.communicate()
            victim = start(options, home, state, 100 + turn)
            killed += 1
        else:
            heed(victim, said, until="done")
        heed(steady, said, until="done")
    for process in (steady, victim):
        process.communicate()
    breaking(options.broken)
    memory = Memory.open(home, state_dir=state)
    last = worker.tick(memory, models=MODELS)
    found = look(memory, options.every, said)
    memory.close()
    return found | {"killed": killed, "last_tick": dict(Counter(one["outcome"] for one in last["ran"]))}


def start(options: argparse.Namespace, home: Path, state: Path, number: int) -> subprocess.Popen[str]:
    """Start one process; it waits for a line before each round."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.cadence",
        "--work",
        str(home),
        str(state),
        "--every",
        str(options.every),
    ]
    command += ["--seed", str(options.seed * 100 + number), *(["--broken", options.broken] if options.broken else [])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def tell(process: subprocess.Popen[str], merge: bool = False) -> None:
    """Begin a round."""
    assert process.stdin
    process.stdin.write(json.dumps({"merge": merge}) + "\n")
    process.stdin.flush()


def heed(process: subprocess.Popen[str], said: list[dict[str, Any]], until: str) -> None:
    """Write down what a process acknowledges until it says a word."""
    assert process.stdout
    for row in process.stdout:
        told = json.loads(row)
        if told.get("word") == until:
            return
        if "word" not in told:
            said.append(told)
    raise SystemExit("a process ended without a word")


def work(options: argparse.Namespace) -> int:
    """Be one process: a burst of reflections, something in between, a tick; acknowledge each reflection."""
    memory = Memory.open(options.work[0], state_dir=Path(options.work[1]))
    chance = random.Random(options.seed)
    for order in sys.stdin:
        for told in burst(memory, chance):
            print(json.dumps(told), flush=True)
        if json.loads(order)["merge"]:
            merge(memory)
        between(memory, chance)
        print(json.dumps({"word": "ticking"}), flush=True)
        worker.tick(memory, models=MODELS)
        print(json.dumps({"word": "done"}), flush=True)
    memory.close()
    return 0


def burst(memory: Memory, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Reflect 1 to 40 times, mostly about the entity with three names."""
    place = chance.choice(PLACES)
    seen = note(memory, place)
    for _ in range(chance.randint(1, 40)):
        name = chance.choice((*NAMES, *NAMES, *OTHERS))
        text = f"{name} restored organ number {chance.randrange(10**6)} in a village near Braga."
        done = actions.reflect(memory, title="Noted", text=text, sources=[seen], entity_id=name, namespace=place)
        yield {"id": done["id"], "entity_id": done["entity_id"], "namespace": place}


def note(memory: Memory, place: str) -> str:
    """Write down something to reflect on."""
    from substrate.actions import memory as observed

    return str(observed.remember(memory, text="A walk through the villages.", namespace=place)["id"])


def between(memory: Memory, chance: random.Random) -> None:
    """Forget a few reflections, and now and then write a persona by hand."""
    with memory.read() as r:
        rows = r.query(
            "SELECT id FROM memories WHERE memory_kind = 'reflection' AND status = 'active' ORDER BY sequence"
        )
    for (id,) in chance.sample(rows, min(len(rows), chance.randint(0, 3))):
        try:
            actions.forget(memory, id=id, cascade=chance.random() < 0.2)
        except AiMemoryError:
            continue  # the other process was faster
    if chance.random() < 0.5:
        try:
            actions.persona_generate(memory, entity=chance.choice(NAMES), namespace=chance.choice(PLACES))
        except AiMemoryError:
            return


def merge(memory: Memory) -> None:
    """Make one of the two others the other."""
    with memory.write() as tx:
        entities.merge(tx, memory.caller, OTHERS[1], OTHERS[0])


def look(memory: Memory, every: int, said: list[dict[str, Any]]) -> dict[str, Any]:
    """Hold the log and the rows against what the cadence promises."""
    with memory.read() as r:
        events = r.events(types=("persona_generated", "entity_changed"))
        rows = {row.id: row for row in r.select(MemoryRow)}
        due = [one for one in sweep.candidates(r) if cadence.due(r, one[1], one[0])]
        left = jobs.unfinished(r)
    reflections = [row for row in rows.values() if row.memory_kind == "reflection"]
    personas = [row for row in rows.values() if row.memory_kind == "persona"]
    merged = [event.seq for event in events if event.payload.get("change") == "merged"]
    made = [event for event in events if event.type == "persona_generated"]
    follows = list(followed(made, reflections, merged))
    faults = [
        f"version {event.payload['version']} of {event.payload['entity_id']} in {event.namespace} follows {count}"
        for event, count, by_merge in follows
        if count < every and not by_merge
    ]
    versions = Counter((row.namespace, row.entity_id, row.persona_version) for row in personas)
    faults += [f"twice: {key}" for key, count in versions.items() if count > 1]
    faults += [f"due after the tick: {one}" for one in due]
    faults += [f"{job.state} after the tick: {job.plan}" for job in left if job.state in jobs.OPEN]
    faults += [f"lost: {one['id']}" for one in said if one["id"] not in rows]
    return {
        "reflections": len(reflections),
        "forgotten": sum(row.status == "deleted" for row in reflections),
        "personas": len(made),
        "by_cadence": len(follows),
        "merges": len(merged),
        "faults": faults,
    }


def followed(
    made: Sequence[Event], reflections: Sequence[MemoryRow], merged: Sequence[int]
) -> Iterator[tuple[Event, int, bool]]:
    """Yield each persona the cadence made, how many reflections it follows, and whether a merge asked for it.

    An id that was merged counts for the survivor from then on; the names of the first entity led to it from the start.
    """
    last: dict[tuple[str | None, str], int] = {}
    survivor, gone = (name.casefold() for name in OTHERS)
    for event in made:
        entity = str(event.payload["entity_id"])
        since = last.get((event.namespace, entity), 0)
        last[event.namespace, entity] = event.seq
        if event.payload["by"]["kind"] != "curator":
            continue
        names = {entity} | ({gone} if entity == survivor and any(number < event.seq for number in merged) else set())
        count = sum(
            row.namespace == event.namespace and row.mentioned_entity_id in names and since < row.sequence < event.seq
            for row in reflections
        )
        yield event, count, entity == survivor and any(since < number < event.seq for number in merged)


def table(found: dict[str, Any], options: argparse.Namespace) -> str:
    """Render the figures, with what is needed to run them again."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    faults = found.pop("faults")
    lines = [
        f"command  python -m benchmarks.cadence {' '.join(sys.argv[1:])}",
        f"version  ai-memory {version}, duckdb {metadata.version('duckdb')}, python {platform.python_version()}",
        f"machine  {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        f"seed     {options.seed}",
        *(f"{name.replace('_', ' '):<22} {value}" for name, value in found.items()),
        f"{'faults':<22} {len(faults)}",
        *(f"  {fault}" for fault in faults[:8]),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
