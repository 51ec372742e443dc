"""The worker runs what is ready, one process at a time; what fails waits longer each time and reaches nobody."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from curator import actions, encoding, jobs, shift, worker
from curator.jobs import PAUSES, Job, Means
from curator.llm.model import Completion, Message, Model, Schema
from curator.llm.scripted import Scripted
from curator.persona import cadence
from substrate.actions import registry
from substrate.config import Search
from substrate.errors import Conflict, Invalid, NoModel
from substrate.home import Memory
from substrate.scopes import namespaces
from substrate.store.model import MemoryRow, to_json
from tests.curator.test_cadence import every, said, versions, waiting
from tests.curator.workshop import FACTS, Workshop, opened

ROOT = Path(__file__).resolve().parents[2]


class Watching(Model):
    """A model that looks at the store while it is asked, and then is not there."""

    name = "scripted/watching"

    def __init__(self, shop: Workshop) -> None:
        self.shop, self.free = shop, []

    def complete(
        self, messages: Sequence[Message], *, schema: Schema | None = None, timeout_s: float = 120.0
    ) -> Completion:
        self.free.append(not self.shop.memory.db.held)
        raise NoModel("the model went home", hint="ask later", reason="missing")


@pytest.fixture
def ready(shop: Workshop) -> Workshop:
    """A workshop in which Ada's persona is due."""
    every(shop, 3)
    for fact in FACTS[:3]:
        said(shop, fact)
    return shop


def gone() -> Scripted:
    """Give a model that is never there."""
    return Scripted(lambda messages: NoModel("no model answers", hint="start one", reason="missing"))


def job(shop: Workshop) -> dict[str, Any]:
    [found] = actions.waiting(shop.memory)["jobs"]
    return dict(found)


@pytest.mark.requirement("S3-24")
def test_reflecting_asks_no_model_and_the_worker_asks_holding_nothing(ready: Workshop):
    model = Watching(ready)
    assert versions(ready) == []
    worker.tick(ready.memory, model=model)
    assert model.free and all(model.free)


@pytest.mark.requirement("S3-25")
def test_a_model_that_fails_leaves_the_job_one_warning_and_one_event(ready: Workshop, caplog: pytest.LogCaptureFixture):
    with caplog.at_level("WARNING"):
        [one] = worker.tick(ready.memory, model=gone())["ran"]
    assert (one["outcome"], one["reason"], one["attempt"]) == ("waiting", "missing", 1)
    assert [record.name for record in caplog.records] == ["post_reflect.auto_persona"]
    assert [event.payload["reason"] for event in ready.events("persona_failed")] == ["missing"]
    found = job(ready)
    assert (found["state"], found["attempts"], found["reason"]) == ("pending", 1, "missing")
    assert found["next_attempt_at"] == jobs.later(ready.clock(), PAUSES[0])
    assert actions.waiting(ready.memory)["due"] == []
    assert worker.tick(ready.memory, model=gone())["ran"] == []


@pytest.mark.requirement("S3-25")
def test_attempts_wait_longer_each_time_and_end_failed_and_visible(ready: Workshop):
    for number, pause in enumerate(PAUSES, start=1):
        assert [one["outcome"] for one in worker.tick(ready.memory, model=gone())["ran"]] == ["waiting"]
        assert job(ready)["next_attempt_at"] == jobs.later(ready.clock(), pause)
        ready.clock.advance(seconds=pause - 1)
        assert worker.tick(ready.memory, model=gone())["ran"] == []
        ready.clock.advance(seconds=1)
        assert len(ready.events("persona_failed")) == number
    assert [one["outcome"] for one in worker.tick(ready.memory, model=gone())["ran"]] == ["failed"]
    ready.clock.advance(days=30)
    assert worker.tick(ready.memory, model=gone())["ran"] == []
    assert (job(ready)["state"], job(ready)["attempts"]) == ("failed", len(PAUSES) + 1)


def test_a_failed_job_comes_back_with_as_many_newer_reflections(ready: Workshop):
    for pause in (*PAUSES, 0):
        worker.tick(ready.memory, model=gone())
        ready.clock.advance(seconds=pause)
    assert job(ready)["state"] == "failed"
    assert [said(ready, fact)["persona_due"] for fact in FACTS[3:]] == [False, False, True]
    assert (job(ready)["state"], job(ready)["attempts"], job(ready)["reason"]) == ("pending", 0, None)
    worker.tick(ready.memory)
    assert waiting(ready) == [] and versions(ready) == [("ada", 1)]


def test_a_model_that_comes_back_writes_the_persona_that_waited(ready: Workshop):
    worker.tick(ready.memory, model=gone())
    ready.clock.advance(seconds=PAUSES[0])
    assert [one["outcome"] for one in worker.tick(ready.memory)["ran"]] == ["done"]
    assert versions(ready) == [("ada", 1)] and waiting(ready) == []


@pytest.mark.requirement("S3-25")
def test_an_unforeseen_fault_in_one_job_stays_with_it_and_the_next_one_runs(
    ready: Workshop, caplog: pytest.LogCaptureFixture
):
    for fact in FACTS[:3]:
        said(ready, fact.replace("Ada", "Ben"), "Ben", "team")
    calls = iter([ValueError("a secret text"), NoModel("away", reason="missing")])
    ran = worker.tick(ready.memory, model=Scripted(lambda messages: next(calls)))["ran"]
    assert [(one["reason"], one["outcome"]) for one in ran] == [("ValueError", "waiting"), ("missing", "waiting")]
    assert [event.payload["reason"] for event in ready.events("persona_failed")] == ["unforeseen", "missing"]
    assert "a secret text" not in caplog.text and "a secret text" not in ready.columns()


def test_namespaces_take_turns(shop: Workshop):
    every(shop, 1)
    for entity, place in (("A", "one"), ("B", "one"), ("C", "one"), ("D", "two"), ("E", "three")):
        said(shop, f"{entity} repairs organs in May.", entity, place)
    ran = worker.tick(shop.memory)["ran"]
    assert [one["namespace"] for one in ran] == ["one", "two", "three", "one", "one"]
    assert all(one["outcome"] == "done" for one in ran)


def test_a_job_whose_persona_changes_under_it_is_tried_again_later(ready: Workshop):
    def meddle(messages: Sequence[Message]) -> NoModel | Conflict:
        return Conflict("the sources changed", hint="try again")

    [one] = worker.tick(ready.memory, model=Scripted(meddle))["ran"]
    assert (one["outcome"], one["reason"]) == ("waiting", "conflict")
    assert [event.payload["reason"] for event in ready.events("persona_failed")] == ["conflict"]


def test_the_answer_names_only_what_the_caller_may_read(ready: Workshop):
    with ready.memory.write() as tx:
        me = ready.memory.caller
        row = namespaces.create(tx, me, "secret")
        assert row.path == "secret"
        namespaces.set_policy(tx, me, "secret", "readers", [me.id])
    for fact in FACTS[:3]:
        said(ready, fact, "Spy", "secret")
    ben = registry.call(ready.memory, "who_add", {"kind": "human", "handle": "ben"})
    stranger = ready.memory.as_(ben["id"])
    assert {place for place, _, _ in waiting(ready)} == {"global", "secret"}
    assert [one["namespace"] for one in actions.waiting(stranger)["jobs"]] == ["global"]
    assert [one["namespace"] for one in worker.tick(stranger)["ran"]] == ["global"]
    assert versions(ready, "secret") == [("spy", 1)]


def test_a_second_worker_names_the_first_and_does_nothing(ready: Workshop):
    mine = shift.take(ready.memory.db.home)
    assert mine is not None
    with mine:
        found = worker.tick(ready.memory)
        assert (found["ran"], found["held_by"]) == ([], {"pid": os.getpid()})
    assert versions(ready) == []
    assert worker.tick(ready.memory)["held_by"] is None
    assert versions(ready) == [("ada", 1)]


def test_a_shift_is_handed_to_a_process_before_it_runs(tmp_path: Path):
    mine = shift.take(tmp_path)
    assert mine is not None
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from curator import shift; from pathlib import Path;"
    script += f"s = shift.adopt(Path({str(tmp_path)!r}), {mine.fd}); print(s is not None, flush=True); input()"
    theirs = subprocess.Popen(
        [sys.executable, "-c", script],
        pass_fds=(mine.fd,),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    mine.close()
    assert shift.take(tmp_path) is None
    assert theirs.stdout is not None and theirs.stdout.readline() == "True\n"
    assert shift.holder(tmp_path) == {"pid": theirs.pid}
    theirs.communicate("\n", timeout=60)
    again = shift.take(tmp_path)
    assert again is not None
    again.close()


def test_a_lock_of_another_store_is_not_adopted(tmp_path: Path):
    (tmp_path / "other").mkdir()
    other, mine = shift.take(tmp_path / "other"), shift.take(tmp_path)
    assert other is not None and mine is not None
    assert shift.adopt(tmp_path, other.fd) is None
    assert shift.adopt(tmp_path, 987) is None
    assert shift.holder(tmp_path / "nowhere") == {"pid": None}
    other.close()
    mine.close()


KILLED = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from curator import worker
from curator.llm.scripted import Scripted
from substrate.home import Memory
def asked(messages):
    print("asked", flush=True)
    input()
memory = Memory.open({home!r}, state_dir=Path({state!r}))
worker.tick(memory, model=Scripted(asked))
"""


@pytest.mark.requirement("S3-23")
def test_the_job_of_a_worker_that_was_killed_is_run_by_the_next_one(tmp_path: Path):
    with opened(tmp_path) as shop:
        every(shop, 3)
        for fact in FACTS[:3]:
            said(shop, fact)
        home, state = str(shop.memory.db.home), str(shop.memory.db.ledger.state_dir)
    code = KILLED.format(root=str(ROOT), home=home, state=state)
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "asked\n"
    memory = Memory.open(home, state_dir=Path(state))
    assert [one["state"] for one in actions.waiting(memory)["jobs"]] == ["running"]
    assert worker.tick(memory)["held_by"] == {"pid": process.pid}
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    [one] = worker.tick(memory)["ran"]
    assert (one["outcome"], one["attempt"], one["version"]) == ("done", 2, 1)
    assert actions.waiting(memory)["jobs"] == []
    memory.close()


def test_a_job_that_ends_every_worker_is_given_up(ready: Workshop):
    with ready.memory.write() as tx:
        tx.derived("UPDATE jobs SET state = 'running', attempts = ?", (len(PAUSES) + 1,))
    assert worker.tick(ready.memory)["ran"] == []
    assert (job(ready)["state"], job(ready)["reason"]) == ("failed", "interrupted")
    assert [event.payload["reason"] for event in ready.events("persona_failed")] == ["interrupted"]


def test_a_job_of_a_kind_nobody_knows_is_left_alone(ready: Workshop):
    with ready.memory.write() as tx:
        jobs.open_(tx, "dreams", "global", "ada", entity_id="ada")
    assert [one["kind"] for one in worker.tick(ready.memory)["ran"]] == ["persona"]
    assert [one["kind"] for one in actions.waiting(ready.memory)["jobs"]] == ["dreams"]


def test_a_kind_of_job_is_a_line_in_a_table(ready: Workshop):
    def dream(means: Means, job: Job) -> dict[str, Any]:
        return {"dreamt": job.plan["entity_id"]}

    worker.KINDS["dreams"] = dream
    try:
        with ready.memory.write() as tx:
            jobs.open_(tx, "dreams", "global", "ada", entity_id="ada")
        ran = worker.tick(ready.memory)["ran"]
    finally:
        del worker.KINDS["dreams"]
    assert {one["kind"]: one.get("dreamt") for one in ran} == {"persona": None, "dreams": "ada"}


def test_what_has_no_vector_gets_it_by_a_job(shop: Workshop, monkeypatch: pytest.MonkeyPatch):
    class Letters:
        source, model_id, dimension = Search.model, "letters", 4

        def encode(self, texts: Sequence[str], progress: Any = None) -> Any:
            import numpy as np

            rows = np.array([[len(text), text.count("a"), text.count("e"), 1] for text in texts], np.float32)
            return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    from substrate.recall import index

    encoder = Letters()
    for number in range(7):
        shop.observe(f"thing {number} lay in the yard")
    monkeypatch.setattr(encoding, "TEXTS", 5)  # so that a job stops halfway and is opened again
    found = worker.tick(shop.memory, encoder=encoder)
    assert (found["encoded"], found["ran"], found["waiting"]) == (7, [], [])
    assert index.of(shop.memory.db).encode(shop.memory.db, encoder, limit=0) == 0
    assert worker.tick(shop.memory, encoder=encoder)["encoded"] == 0


def test_a_model_of_vectors_that_does_not_load_waits_and_is_tried_again(shop: Workshop):
    class Broken:
        source, model_id, dimension = Search.model, "broken", 4

        def encode(self, texts: Sequence[str], progress: Any = None) -> Any:
            raise Invalid("the folder does not load", hint="give another one")

    shop.observe("a thing lay in the yard")
    [one] = worker.tick(shop.memory, encoder=Broken())["ran"]
    assert (one["kind"], one["outcome"], one["reason"]) == ("encode", "waiting", "no_embedder")
    [waits] = actions.waiting(shop.memory)["jobs"]
    assert (waits["state"], waits["message"]) == ("pending", "the model that makes vectors does not load")
    assert worker.tick(shop.memory, encoder=Broken())["ran"] == []


def test_jobs_hold_ids_and_no_text(ready: Workshop):
    worker.tick(ready.memory, model=gone())
    with ready.memory.read() as r:
        rows = repr(r.query("SELECT * FROM jobs"))
        texts = [row.content for row in r.select(MemoryRow) if row.content]
    assert to_json({"code": "missing"}) in rows
    assert not any(text in rows for text in texts)
    assert cadence.KIND in rows


@pytest.mark.parametrize(
    ("column", "value"),
    [("plan", value) for value in ("{", "[]", "null", '{"namespace": 7}', '"x"')]
    + [("last_error", value) for value in ("{", "[]", '{"code": 7}', '"x"')],
)
def test_a_row_that_is_no_job_is_thrown_away(ready: Workshop, column: str, value: str):
    with ready.memory.write() as tx:
        tx.derived(f"UPDATE jobs SET {column} = ?", (value,))
    assert actions.waiting(ready.memory)["jobs"] == []
    worker.tick(ready.memory)
    assert len(versions(ready)) == 1


def test_a_model_that_repeats_what_it_read_leaves_none_of_it_with_the_job(ready: Workshop):
    worker.tick(ready.memory, model=Scripted([f"not JSON, but {FACTS[0]}"] * 3))
    with ready.memory.read() as r:
        assert FACTS[0] not in repr(r.query("SELECT * FROM jobs"))
    assert job(ready)["message"] == "the model's answer was no JSON"
