"""What is due is done by `tick`, or by a process that starts when an answer is out and that nobody waits for."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cli import background
from curator import shift
from substrate.home import Memory
from tests.cli.conftest import Cast
from tests.cli.terminal import Terminal

POLICY = "governance.auto_persona_trigger_every_n_memories"
ON = {"AI_MEMORY_WORKER": "on", "AI_MEMORY_MODEL": "extractive"}


@pytest.fixture
def paced(shell: Terminal) -> Terminal:
    """A store in which each second reflection on an entity makes its persona due."""
    shell.ok("space", "policy", "global", POLICY, "2")
    return shell


def said(cast: Cast, text: str, entity: str = "Nia") -> tuple[str, ...]:
    return ("reflect", "Noted", text, "--from", cast.moved, "--entity", entity)


def worker_ended(shell: Terminal) -> None:
    """Wait until no process has the shift."""
    fd = os.open(shell.home / shift.FILE, os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.close(fd)


@contextmanager
def silent_server() -> Iterator[str]:
    """Listen and never answer; whoever waits is cut off at the end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_tick_says_what_it_wrote_and_then_that_nothing_is_due(paced: Terminal, cast: Cast):
    for text in ("Nia tunes bells in Lisbon.", "Nia was born in Faro in 1980."):
        paced.ok(*said(cast, text))
    assert "pending: persona of nia in global" in paced("status").out
    [ran] = paced.ok("tick")["ran"]
    about = ("kind", "entity_id", "namespace", "outcome", "version")
    assert tuple(ran[name] for name in about) == ("persona", "nia", "global", "done", 1)
    assert paced("tick").out == "nothing was due\n"
    assert "pending" not in paced("status").out
    assert "Nia tunes bells in Lisbon." in paced("persona", "nia").out


def test_a_quiet_tick_says_nothing(paced: Terminal, cast: Cast):
    for text in ("Nia tunes bells in Lisbon.", "Nia was born in Faro in 1980."):
        paced.ok(*said(cast, text))
    done = paced.process("tick", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert paced("persona", "nia").code == 0


def test_a_tick_beside_another_names_it_and_succeeds(paced: Terminal):
    mine = shift.take(paced.home)
    assert mine is not None
    with mine:
        done = paced("tick")
        assert paced.ok("tick")["held_by"] == {"pid": os.getpid()}
    assert (done.code, done.out) == (
        0,
        f"another process is at it (pid {os.getpid()}); nothing done here, `ai-memory status` shows what is left\n",
    )


def test_a_policy_set_later_shows_as_due_in_the_status(shell: Terminal, cast: Cast):
    shell.ok(*said(cast, "Nia tunes bells in Lisbon."))
    shell.ok("space", "policy", "global", POLICY, "1")
    assert shell.ok("status")["due"] == [{"namespace": "global", "entity_id": "nia"}]
    assert "due now: persona of nia in global" in shell("status").out
    shell.ok("tick")
    assert shell.ok("status")["due"] == []


def test_below_the_tier_smart_a_tick_is_refused(paced: Terminal):
    assert paced.fails("--tier", "semantic", "tick", code=3)["details"]["reason"] == "tier"


@pytest.mark.requirement("S3-22", "S3-24")
def test_a_reflection_that_makes_a_persona_due_has_it_written_by_a_process_of_its_own(paced: Terminal, cast: Cast):
    assert not paced.process("--json", *said(cast, "Nia tunes bells in Lisbon."), env=ON).json["persona_due"]
    done = paced.process("--json", *said(cast, "Nia was born in Faro in 1980."), env=ON)
    assert done.json["persona_due"] and done.err == ""
    worker_ended(paced)
    assert paced.ok("status")["jobs"] == []
    found = paced.ok("persona", "nia")["persona"]
    assert (found["version"], len(found["sources"])) == (1, 2)
    assert paced.ok("persona", "nia", "--verify")["ok"]


@pytest.mark.requirement("S3-24", "S3-25")
def test_a_model_that_does_not_answer_is_waited_for_by_the_worker_alone(paced: Terminal, cast: Cast):
    paced.ok(*said(cast, "Nia tunes bells in Lisbon."))
    with silent_server() as address:
        slow = {"AI_MEMORY_WORKER": "on", "AI_MEMORY_MODEL": "ollama/any", "OLLAMA_HOST": address}
        done = paced.process("--json", *said(cast, "Nia was born in Faro in 1980."), env=slow)
        assert done.json["persona_due"] and done.err == ""
        assert shift.take(paced.home) is None
        assert paced.ok("remember", "Meanwhile the store is free.")["id"]
    worker_ended(paced)
    [job] = paced.ok("status")["jobs"]
    assert (job["entity_id"], job["state"], job["attempts"]) == ("nia", "pending", 1)
    events = paced.ok("audit", "log", "--limit", "100")["events"]
    assert [event.get("type") for event in events].count("persona_failed") == 1


def test_a_merge_starts_the_worker_too(paced: Terminal, cast: Cast):
    for entity in ("Nia", "N. A."):
        paced.ok(*said(cast, f"{entity} tunes bells in Lisbon.", entity))
    assert paced.process("entity", "merge", "N. A.", "Nia", env=ON).code == 0
    worker_ended(paced)
    assert paced.ok("persona", "nia")["persona"]["version"] == 1


def test_switched_off_no_process_is_started_and_the_job_waits(paced: Terminal, cast: Cast):
    for text in ("Nia tunes bells in Lisbon.", "Nia was born in Faro in 1980."):
        assert paced.process(*said(cast, text), env={"AI_MEMORY_WORKER": "off"}).code == 0
    assert not (paced.home / shift.FILE).exists()
    assert [job["state"] for job in paced.ok("status")["jobs"]] == ["pending"]


def test_of_many_starts_at_once_one_begins(paced: Terminal, cast: Cast, monkeypatch: pytest.MonkeyPatch):
    for name, value in ON.items():
        monkeypatch.setenv(name, value)
    with silent_server() as address:
        monkeypatch.setenv("AI_MEMORY_MODEL", "ollama/any")
        monkeypatch.setenv("OLLAMA_HOST", address)
        for text in ("Nia tunes bells in Lisbon.", "Nia was born in Faro in 1980."):
            paced.ok(*said(cast, text))
        memory = Memory.open(paced.home, state_dir=paced.state)
        started = [background.start(memory) for _ in range(50)]
        assert sum(started) == 0  # the second reflection has started it
        memory.close()
    worker_ended(paced)
    assert [job["attempts"] for job in paced.ok("status")["jobs"]] == [1]


def test_a_start_that_fails_is_nobodys_fault(paced: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AI_MEMORY_WORKER", "on")
    memory = Memory.open(paced.home, state_dir=paced.state)
    (paced.home / shift.FILE).mkdir()
    assert not background.start(memory)
    assert paced.fails("tick", code=6)["code"] == "unavailable"
    memory.close()


def test_what_waits_is_named_and_tried_at_once_when_asked(paced: Terminal, cast: Cast, monkeypatch: pytest.MonkeyPatch):
    for text in ("Nia tunes bells in Lisbon.", "Nia was born in Faro in 1980."):
        paced.ok(*said(cast, text))
    monkeypatch.setenv("AI_MEMORY_MODEL", "ollama/away")
    [ran] = paced.ok("tick")["ran"]
    assert (ran["outcome"], ran["reason"]) == ("waiting", "unreachable")
    monkeypatch.setenv("AI_MEMORY_MODEL", "extractive")
    [waits] = paced.ok("tick")["waiting"]
    assert (waits["kind"], waits["entity_id"], waits["namespace"]) == ("persona", "nia", "global")
    told = paced("tick").out
    assert told.startswith("nothing was due\nwaits until 20")
    assert "persona of nia in global\n`ai-memory tick --now` does not wait" in told
    found = paced.ok("tick", "--now")
    assert ([one["outcome"] for one in found["ran"]], found["waiting"]) == (["done"], [])
