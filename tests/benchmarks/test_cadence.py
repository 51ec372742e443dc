"""The campaign finds what breaks the cadence, and passes where it holds."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import delay
from benchmarks.cadence import breaking, look
from curator import jobs, shift, worker
from curator.persona import cadence
from curator.persona.persona import generate
from substrate.scopes.caller import CURATOR
from tests.curator.test_cadence import every, said
from tests.curator.workshop import FACTS, Workshop, opened

ROOT = Path(__file__).resolve().parents[2]


def campaign(*arguments: str) -> tuple[int, dict[str, Any]]:
    line = [sys.executable, "-m", "benchmarks.cadence", "--json", *arguments]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def shop(tmp_path: Path):
    with opened(tmp_path) as workshop:
        every(workshop, 5)
        yield workshop


def test_two_processes_one_of_them_killed_in_a_tick_leave_nothing_due_lost_or_doubled():
    code, found = campaign("--rounds", "2", "--seed", "3")
    assert (code, found["faults"], found["killed"], found["merges"]) == (0, [], 1, 1)
    assert found["reflections"] > 0 and found["by_cadence"] > 0


@pytest.mark.parametrize(("how", "part"), [("guard", "standing"), ("count", "newest")])
def test_a_broken_worker_is_found(shop: Workshop, monkeypatch: pytest.MonkeyPatch, how: str, part: str):
    monkeypatch.setattr(cadence, part, getattr(cadence, part))  # put back what `breaking` takes away
    written = [said(shop, fact) for fact in FACTS[:5]]
    if how == "guard":
        shop.generate()
    breaking(how)
    worker.tick(shop.memory)
    written.append(said(shop, FACTS[5]))
    worker.tick(shop.memory)
    follows = {"guard": 0, "count": 1}[how]
    assert f"version 2 of ada in global follows {follows}" in look(shop.memory, 5, written)["faults"]


def test_a_persona_that_follows_too_few_reflections_is_found(shop: Workshop):
    written = [said(shop, fact) for fact in FACTS[:5]]
    worker.tick(shop.memory)
    assert look(shop.memory, 5, written)["faults"] == []
    said(shop, FACTS[5])
    generate(shop.memory.db, CURATOR, "Ada")
    assert look(shop.memory, 5, written)["faults"] == ["version 2 of ada in global follows 1"]


def test_what_is_due_waits_or_was_lost_is_found(shop: Workshop):
    for fact in FACTS[:5]:
        said(shop, fact)
    with shop.memory.write() as tx:
        [job] = jobs.ready(tx, tx.now, ["persona"])
        jobs.begin(tx, job)
    faults = look(shop.memory, 5, [{"id": "mem-nowhere"}])["faults"]
    assert [fault.partition(":")[0] for fault in faults] == ["due after the tick", "running after the tick", "lost"]


def test_the_delay_is_measured_against_a_model_that_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("AI_MEMORY_WORKER", "AI_MEMORY_MODEL", "OLLAMA_HOST"):
        monkeypatch.setenv(name, "")
    found = delay.measure(tmp_path, 10, 1.0, seed=1)
    assert found["workers_started"] >= 1 and found["reflections_each_way"] == 10
    assert found["p95_ms_with"] > 0 and found["p95_ms_without"] > 0
    mine = shift.take(tmp_path / "with" / "home")
    assert mine is not None, "the worker is left behind"
    mine.close()
