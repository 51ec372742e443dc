"""Kill processes at random moments of mixed work on one store, and cut the power; what was acknowledged has to stay.

A few processes write, reflect, draw personas, forget and rewrite, alone and in batches, some with idempotency keys. An
operation counts as acknowledged when its process has said so over a pipe, after the product returned. At a random
moment one of them is killed and the others are let finish; every fourth time all are killed at once and the power is
cut (see ``_medium``). Another process then opens the store, which is timed, and holds every row against what was
acknowledged: nothing lost, nothing that nobody wrote, nothing back that was forgotten, a batch whole or not at all. It
repeats what was under way with its key, which has to be there once. Every tenth time it verifies the whole store.

Source: docs/spec/audit.md §5 and §6.
"""

from __future__ import annotations

import mmap
import random
import select
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.campaigns import _medium
from benchmarks.campaigns._apart import PATIENCE, Child, Say, apart, timed
from benchmarks.campaigns._medium import Disk
from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from curator.persona.persona import generate
from substrate.errors import AiMemoryError, Conflict, NotFound, Refused
from substrate.home import Memory
from substrate.memory import forgetting, memories, reflections
from substrate.store import recovery
from substrate.store.model import MemoryRow

PROCESSES = 3
CUT = 4  # every so many kills it is a power cut
VERIFIED = 10  # and every so many the whole store is verified
STORE = 100  # kills one store lives through
RECOVERY_S = 1.0
ENTITIES = ("Ada", "Ben", "Cleo")
CHANCES = {"remember": 70, "batch": 10, "reflect": 12, "forget": 5, "persona": 1, "rewrite": 1}


@dataclass
class Known:
    """What was acknowledged in one store: the text by id of the row, the ids that were forgotten."""

    texts: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def learn(self, told: dict[str, Any]) -> None:
        """Take in one acknowledgement."""
        self.texts |= told["rows"]
        self.gone |= set(told["gone"])


@dataclass
class Tally:
    """The figures of a run so far."""

    counts: Counter[str] = field(default_factory=Counter)
    recovery: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    rows: int = 0


def run(work: Work) -> Outcome:
    """Run the campaign in a process that the medium is loaded into."""
    return _medium.driven(__name__, work)


def drive(work: Work) -> Outcome:
    """Kill so many times; see ``run``."""
    chance, tally = random.Random(work.seed), Tally()
    known = Known()
    for kill in range(work.sizes["kills"]):
        root = work.folder / f"store-{kill // STORE}"
        if kill % STORE == 0:
            known = Known()
            assert apart(lambda say, root=root: _open(root).close()).status == 0  # type: ignore[misc]
        last = kill + 1 == work.sizes["kills"] or (kill + 1) % STORE == 0
        _round(work, chance, tally, known, root, kill, whole=last or kill % VERIFIED == 0)
        if last:
            tally.rows = max(tally.rows, len(known.texts))
            shutil.rmtree(root)
    return _outcome(tally)


def _outcome(tally: Tally) -> Outcome:
    counts, times = tally.counts, sorted(tally.recovery)
    p99 = times[int(len(times) * 0.99)]
    if p99 >= RECOVERY_S:
        tally.faults.append(f"recovery took {p99:.2f} s at p99")
    figures: dict[str, Any] = {"processes killed": counts["killed"], "of these at power cuts": counts["cut"]}
    figures |= {"writes lost in the caches at power cuts": counts["dropped"]}
    figures |= {"acknowledged operations": counts["acknowledged"]}
    figures |= {f"of these {name}": counts[name] for name in CHANCES}
    figures |= {"rows in acknowledged batches": counts["batch rows"]}
    figures |= {"operations refused (sources forgotten meanwhile)": counts["refused"]}
    figures |= {"under way when killed": counts["under way"], "of these found done": counts["found done"]}
    figures |= {"acknowledged and lost, back, or not whole": len(tally.faults)}
    figures |= {"most rows in a store": tally.rows, "whole verifications": counts["verified"]}
    figures |= {"recovery, median s": round(times[len(times) // 2], 3), "recovery, p99 s": round(p99, 3)}
    figures |= {"recovery, longest s": round(times[-1], 3)}
    return Outcome(figures, tally.faults)


def _round(
    work: Work, chance: random.Random, tally: Tally, known: Known, root: Path, kill: int, *, whole: bool
) -> None:
    """Let the processes work, kill, and look."""
    journal = work.folder / f"journal-{kill}" if kill % CUT == CUT - 1 else None
    disk = Disk(root) if journal else None
    stop = mmap.mmap(-1, 1)
    workers = [_Worker(work, known, root, f"{work.seed}-{kill}-{part}", stop, journal) for part in range(PROCESSES)]
    children = [Child(worker.work) for worker in workers]
    spoke = _listen(children, chance.randint(1, 2 * work.sizes["writes"]))
    if chance.random() < 0.5:  # else the one that has just acknowledged something
        time.sleep(chance.random() * 0.02)
        spoke = chance.choice(children)
    victims = children if journal else [spoke]
    for child in victims:
        child.kill()
    stop[0] = 1
    for child in children:
        status = child.end()
        if status not in ((0, -9) if child in victims else (0,)):
            tally.faults.append(f"kill {kill}: a process that was not killed ended with {status}")
        tally.counts["killed"] += status == -9
        tally.counts["cut"] += status == -9 and journal is not None
    under_way = [told for child in children for told in _heard(child, known, tally)]
    if disk and journal:
        tally.counts["dropped"] += disk.cut(journal, chance)
        journal.unlink(missing_ok=True)
    after = apart(lambda say: _look(say, root, known, under_way, whole))
    told = after.said if after.status == 0 else [*after.said, {"fault": f"looking at it ended with {after.status}"}]
    for one in told:
        if "fault" in one:
            tally.faults.append(f"kill {kill}{' (power cut)' if journal else ''}: {one['fault']}")
        if "rows" in one:
            known.learn(one)
            tally.counts["found done"] += one["found"]
        if "seconds" in one:
            tally.recovery.append(one["seconds"])
    tally.counts["under way"] += len(under_way)
    tally.counts["verified"] += whole
    if any("fault" in one for one in told):  # do not count the same loss again
        known.texts.clear()
        known.gone.clear()
        shutil.rmtree(root)
        assert apart(lambda say: _open(root).close()).status == 0


def _listen(children: Sequence[Child], acknowledged: int) -> Child:
    """Hear the processes until so many acknowledgements have come; give the process that the last one is of."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        for child in children:
            if select.select([child.fd], [], [], 0.002)[0]:
                child.hear()
                if (
                    child.said
                    and "done" in child.said[-1]
                    and sum(len(one.said) for one in children) >= 2 * acknowledged
                ):
                    return child
    return children[0]


def _heard(child: Child, known: Known, tally: Tally) -> Iterator[dict[str, Any]]:
    """Learn what a process acknowledged; give what it had begun and not finished."""
    begun = None
    for told in child.said:
        if "begun" in told:
            begun = told
        elif told.get("refused"):
            tally.counts["refused"] += 1
            begun = None
        else:
            known.learn(told)
            tally.counts["acknowledged"] += 1
            tally.counts[told["done"]] += 1
            tally.counts["batch rows"] += len(told["rows"]) if told["done"] == "batch" else 0
            begun = None
    if begun:
        yield begun


def _open(root: Path) -> Memory:
    return Memory.open(root / "home", state_dir=root / "state", human="ann")


class _Worker:
    """One process: what it does is told by its seed, which also stands in its texts."""

    def __init__(self, work: Work, known: Known, root: Path, name: str, stop: mmap.mmap, journal: Path | None) -> None:
        self._early, self._lying = work.broken == "early", work.broken == "no-fsync"
        self._root, self._name, self._stop, self._journal = root, name, stop, journal
        self._chance = random.Random(name)
        self._ids = [id for id, text in known.texts.items() if id not in known.gone and text.startswith("Seen")]
        self._say: Say = lambda told: None

    def work(self, say: Say) -> None:
        """Do one thing after another until told to stop."""
        self._say = say
        _medium.begin(self._root, lying=self._lying, journal=self._journal)
        memory = _open(self._root)
        turn = 0
        while not self._stop[0]:
            turn += 1
            (name,) = self._chance.choices(list(CHANCES), list(CHANCES.values()))
            if name in ("forget", "reflect") and not self._ids:
                name = "remember"
            request = self._request(name, f"{self._name}-{turn}")
            say({"begun": name, **request})
            try:
                self._done(name, memory, request)
            except (NotFound, Conflict, Refused):
                say({"refused": True})
        memory.close()

    def _request(self, name: str, text: str) -> dict[str, Any]:
        """Say what is to be done; the texts of rows to come stand in it, and the key it is done under, if any."""
        key = f"key-{text}" if self._chance.random() < 0.5 else None
        if name == "batch":
            return {"texts": [f"Seen: {text}-{part}." for part in range(self._chance.randint(2, 10))], "key": key}
        if name == "reflect":
            about = self._chance.choice((*ENTITIES, None, None, None, None))
            told = f"{about or 'Somebody'} keeps the notebook numbered {text} in a drawer of its own."
            return {"texts": [told], "about": about, "from": self._chance.sample(self._ids, 1), "key": key}
        if name == "forget":
            return {"texts": [], "id": self._ids.pop(self._chance.randrange(len(self._ids))), "key": None}
        if name == "persona":
            return {"texts": [], "about": self._chance.choice(ENTITIES), "key": None}
        return {"texts": [f"Seen: {text}."] if name == "remember" else [], "key": key if name == "remember" else None}

    def _done(self, name: str, memory: Memory, request: dict[str, Any]) -> None:
        """Do it, and acknowledge it."""
        if name == "rewrite":
            memory.db.rewrite()
            self._say({"done": name, "rows": {}, "gone": []})
        elif name == "persona":
            row = generate(memory.db, memory.caller, request["about"]).row
            self._say({"done": name, "rows": {row.id: row.content}, "gone": []})
        else:
            with memory.write() as tx:
                rows, gone = write(tx, memory, request)
                told = {"done": "forget" if gone else name, "rows": rows, "gone": gone}
                if self._early:
                    self._say(told)
            if not self._early:
                self._say(told)
            self._ids += [id for id, text in rows.items() if text.startswith("Seen")]


def write(tx: Any, memory: Memory, request: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Do a request inside a transaction; give the rows it made, by id, and the ids it forgot.

    A request whose key is known was done before: its first row is found again.
    """
    if "id" in request:
        fallen = forgetting.forget(tx, memory.caller, request["id"], cascade=True)
        return {}, [*fallen.ids, *fallen.personas]
    key = request["key"]
    earlier = tx.once(key, {"texts": request["texts"]}) if key else None
    if earlier is not None:
        return {earlier: str(tx.require(MemoryRow, earlier).content)}, []
    made = {}
    for text in request["texts"]:
        if "from" in request:
            given = {"sources": request["from"], "entity_id": request["about"]}
            row = reflections.reflect(tx, memory.caller, "A note", text, **given).row
        else:
            row = memories.remember(tx, memory.caller, text)
        made[row.id] = text
    return made, []


# --- what is left ---------------------------------------------------------------------------------------------------


def _look(say: Say, root: Path, known: Known, under_way: Sequence[dict[str, Any]], whole: bool) -> None:
    """Open the store in a process that has seen nothing, and say what does not hold and what was done after all."""
    try:
        seconds, memory = timed(lambda: _open(root))
    except AiMemoryError as error:
        say({"fault": f"it does not open: {error.message}"})
        return
    say({"seconds": seconds})
    try:
        for fault in _differing(say, memory, known, under_way):
            say({"fault": fault})
    except AiMemoryError as error:
        say({"fault": f"it cannot be read: {error.message}"})
    memory.close()
    if whole:
        for found in recovery.verify(root / "home", state_dir=root / "state").faults:
            say({"fault": f"{found.kind}: {found.message}"})


def _rows(memory: Memory) -> dict[str, MemoryRow]:
    with memory.read() as r:
        return {row.id: row for row in r.select(MemoryRow)}


def _differing(say: Say, memory: Memory, known: Known, under_way: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Hold every row against what was acknowledged; resolve what was under way, and tell what became of it."""
    rows = _rows(memory)
    for id, text in known.texts.items():
        row = rows.get(id)
        if row is None:
            yield f"{id} was acknowledged and is lost"
        elif row.status != "deleted" and row.content != text:
            yield f"{id} is not what was acknowledged"
    for id in known.gone:
        if id in rows and (rows[id].status != "deleted" or rows[id].content):
            yield f"{id} was forgotten and is back"
    fallen = {id for id, row in rows.items() if row.status == "deleted" and id not in known.gone}
    forgetting_now = {told["id"] for told in under_way if "id" in told}
    if fallen and not fallen & forgetting_now:
        yield f"{len(fallen)} rows were forgotten by nobody"
    for told in under_way:
        found = {id: row for id, row in rows.items() if id not in known.texts and row.content in told["texts"]}
        if told["texts"] and len(found) not in (0, len(told["texts"])):
            yield f"{len(found)} of {len(told['texts'])} rows of a batch are there"
        yield from _repeated(memory, told, bool(found))
    expected = {text for told in under_way for text in told["texts"]}
    now = _rows(memory)
    fresh = {id: row for id, row in now.items() if id not in known.texts and row.status != "deleted"}
    drawing = any(told["begun"] == "persona" for told in under_way)
    for id, row in fresh.items():
        if row.content not in expected and not (row.memory_kind == "persona" and drawing):
            yield f"{id} was written by nobody"
    texts = Counter(row.content for row in fresh.values())
    yield from (f"written twice: {text}" for text in expected if texts[text] > 1)
    done = sum(1 for told in under_way if told["texts"] and told["texts"][0] in {r.content for r in rows.values()})
    gone = [id for id, row in now.items() if row.status == "deleted" and id not in known.gone]
    say({"rows": {id: row.content for id, row in fresh.items()}, "gone": gone, "found": done})


def _repeated(memory: Memory, told: dict[str, Any], found: bool) -> Iterator[str]:
    """Do a request with a key again; one that had been done is found again."""
    if not told["key"]:
        return
    try:
        with memory.write() as tx:
            write(tx, memory, told)
    except (NotFound, Conflict):
        if found:
            yield f"{told['key']} was done, and its repetition is refused"


CAMPAIGN = Campaign(
    name="kills",
    title="Kills and power cuts during mixed work",
    target=f"0 acknowledged writes lost, recovery p99 below {RECOVERY_S:g} s",
    small={"kills": 50, "writes": 20},
    full={"kills": 1000, "writes": 110},
    broken={
        "no-fsync": "a sync says that it was done and does nothing",
        "early": "a write is acknowledged before its commit",
    },
    run=run,
    unable=_medium.unable,
    parts=("kills", 20),
)
