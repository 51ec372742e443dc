"""Processes and threads that want the same file get it in turn, and one that cannot is told who has it."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from substrate.errors import Busy, Integrity, Unavailable
from substrate.store.baton import Baton
from substrate.store.model import MemoryRow
from tests.store.rows import memory, record
from tests.store.stores import Store

ROOT = Path(__file__).resolve().parents[2]
LONG = 60.0


def until(holds: Callable[[], object]) -> None:
    """Wait for what another process will do."""
    tick = threading.Event()
    for _ in range(12_000):
        if holds():
            return
        tick.wait(0.005)
    raise AssertionError("it never happened")


class Worker:
    """A process that wants the file, and holds it until it is told to let go."""

    def __init__(self, home: Path, name: str, wait: float = LONG) -> None:
        command = [sys.executable, str(ROOT / "tests/store/queue_up.py"), str(home), name, str(wait)]
        self.process = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.line() == "waiting"

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def let_go(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Worker]]:
    workers: list[Worker] = []

    def started(name: str, wait: float = LONG) -> Worker:
        workers.append(Worker(tmp_path, name, wait))
        return workers[-1]

    yield started
    for worker in workers:
        worker.kill()
        assert worker.process.stdin and worker.process.stdout
        worker.process.stdin.close()
        worker.process.stdout.close()


def tickets(home: Path) -> list[str]:
    queue = home / "queue"
    return sorted(name for name in os.listdir(queue) if not name.startswith(".")) if queue.exists() else []


def plain(home: Path, **options: float) -> Baton:
    return Baton(home, opened=lambda: None, closing=lambda: None, **options)


def test_those_who_wait_get_the_file_in_the_order_they_asked(tmp_path: Path, start: Callable[..., Worker]):
    holder = start("first")
    assert holder.line() == "holding"
    waiters = []
    for number in range(3):
        waiters.append(start(f"waiter-{number}"))
        until(lambda: len(tickets(tmp_path)) == len(waiters))
    for worker in [holder, *waiters]:
        worker.let_go()
        worker.process.wait()
    assert (tmp_path / "order").read_text().split() == ["first", "waiter-0", "waiter-1", "waiter-2"]
    assert tickets(tmp_path) == []


def test_the_ticket_of_a_dead_process_holds_nobody_up(tmp_path: Path, start: Callable[..., Worker]):
    holder = start("first")
    assert holder.line() == "holding"
    dead = start("dead")
    until(lambda: len(tickets(tmp_path)) == 1)
    alive = start("alive")
    until(lambda: len(tickets(tmp_path)) == 2)
    dead.kill()
    holder.let_go()
    assert alive.line() == "holding"
    alive.let_go()
    alive.process.wait()
    assert (tmp_path / "order").read_text().split() == ["first", "alive"]
    assert tickets(tmp_path) == []


def test_tickets_of_the_dead_are_swept_and_those_of_the_living_respected(tmp_path: Path):
    (tmp_path / "queue").mkdir()
    for name in (f"{1:020}-dead", f"{2:020}-dead"):
        (tmp_path / "queue" / name).touch()
    with plain(tmp_path).held():
        assert tickets(tmp_path) == []
    with (tmp_path / "queue" / f"{3:020}-alive").open("w") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        (tmp_path / "queue" / f"{4:020}-dead").touch()
        with pytest.raises(Busy), plain(tmp_path, wait_s=0.02).held():
            raise AssertionError("unreachable")
        assert tickets(tmp_path) == [f"{3:020}-alive", f"{4:020}-dead"]
    with plain(tmp_path).held():
        assert tickets(tmp_path) == []


def test_a_killed_holder_leaves_the_file_to_the_next(tmp_path: Path, start: Callable[..., Worker]):
    holder = start("killed")
    assert holder.line() == "holding"
    waiter = start("waiter")
    until(lambda: tickets(tmp_path))
    holder.kill()
    assert waiter.line() == "holding"


def test_a_wait_that_is_too_long_ends_in_an_error_that_names_who_has_the_file(
    tmp_path: Path, start: Callable[..., Worker]
):
    holder = start("first")
    assert holder.line() == "holding"
    with pytest.raises(Busy) as caught, plain(tmp_path, wait_s=0.05).held():
        raise AssertionError("unreachable")
    assert f"process {holder.process.pid} (queue_up.py)" in str(caught.value)
    assert "waited 0.05 s" in str(caught.value)
    assert caught.value.details["holder"] == {"pid": holder.process.pid, "command": "queue_up.py"}
    assert tickets(tmp_path) == []
    assert start("impatient", 0.05).line().startswith("busy: the store is in use by process")
    for unreadable in (b"", b"no json", b"[]", b'{"pid": 1}', b'"x"', b"\xff"):
        (tmp_path / "memory.lock").write_bytes(unreadable)
        with pytest.raises(Busy, match="another process"), plain(tmp_path, wait_s=0.0).held():
            raise AssertionError("unreachable")


def test_an_idle_holder_lets_go_by_itself(tmp_path: Path, start: Callable[..., Worker]):
    closed = threading.Event()
    baton = Baton(tmp_path, opened=lambda: None, closing=closed.set, idle_s=0.01)
    with baton.held():
        assert not closed.is_set()
    assert closed.wait(LONG)
    worker = start("next")
    assert worker.line() == "holding"


def test_a_holder_whose_slice_is_used_lets_go_when_somebody_waits(tmp_path: Path, start: Callable[..., Worker]):
    opened = []
    baton = Baton(tmp_path, opened=lambda: opened.append(1), closing=lambda: None, slice_s=0.0, idle_s=LONG)
    with baton.held():
        worker = start("next")
        until(lambda: tickets(tmp_path))
    assert worker.line() == "holding"
    worker.let_go()
    with baton.held():
        assert len(opened) == 2
    baton.close()


def test_a_holder_whom_somebody_waits_for_lets_go_also_without_a_further_operation(
    tmp_path: Path, start: Callable[..., Worker]
):
    baton = plain(tmp_path, slice_s=0.01, idle_s=LONG)
    with baton.held():
        pass
    worker = start("next")
    assert worker.line() == "holding"


def test_nobody_waiting_means_that_the_file_stays_open(tmp_path: Path):
    opened = []
    baton = Baton(tmp_path, opened=lambda: opened.append(1), closing=lambda: None, slice_s=0.0, idle_s=LONG)
    for _ in range(5):
        with baton.held(), baton.held():
            pass
    baton.close()
    baton.close()
    assert opened == [1]


def test_another_thread_that_keeps_the_file_too_long_is_busy(tmp_path: Path):
    baton = plain(tmp_path, wait_s=0.01)
    caught = []

    def want() -> None:
        try:
            with baton.held():
                pass
        except Busy as error:
            caught.append(str(error))

    with baton.held():
        thread = threading.Thread(target=want)
        thread.start()
        thread.join()
    baton.close()
    assert caught == ["another thread of this process is using the store"]


def test_a_file_that_does_not_open_is_given_up_at_once(tmp_path: Path, start: Callable[..., Worker]):
    def fail() -> None:
        raise Integrity("damaged")

    closed = []
    baton = Baton(tmp_path, opened=fail, closing=lambda: closed.append(1))
    for _ in range(2):
        with pytest.raises(Integrity), baton.held():
            raise AssertionError("unreachable")
    assert closed == [1, 1]
    assert start("next").line() == "holding"


@pytest.mark.parametrize("name", ["memory.lock", "queue"])
def test_a_folder_that_cannot_hold_the_lock_or_the_queue_is_unavailable(tmp_path: Path, name: str):
    if name == "memory.lock":
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
        waiting = plain(tmp_path)
    else:
        (tmp_path / name).write_text("a file")
        waiting = plain(tmp_path, wait_s=0.01)
    with pytest.raises(Unavailable), waiting.held():
        raise AssertionError("unreachable")
    assert not (tmp_path / "elsewhere").exists()


def test_threads_of_one_process_share_the_store_and_lose_nothing(store: Store):
    with store.opened() as db:
        failed = []

        def work(name: int) -> None:
            try:
                for number in range(5):
                    with db.write(actor="hum-1") as tx:
                        record(tx, memory(f"mem-{name}-{number}"))
                    with db.read() as r:
                        assert r.get(MemoryRow, f"mem-{name}-{number}")
            except BaseException as error:
                failed.append(error)
                raise

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        with db.read() as r:
            assert r.count(MemoryRow) == 20
            assert [event.seq for event in r.events()] == list(range(1, 22))


def test_two_processes_see_what_the_other_wrote(store: Store):
    """Each keeps what it has verified and brings it forward from the events of the other."""
    with store.opened() as one, store.opened() as other:
        for number in range(3):
            for db, name in ((one, "one"), (other, "other")):
                with db.write(actor="hum-1") as tx:
                    assert tx.select(MemoryRow, order="id") == tx.select(MemoryRow, order="id")
                    record(tx, memory(f"{name}-{number}"), memory("shared", content=f"{name} {number}"))
                db.close()
        for db in (one, other):
            with db.read() as r:
                assert r.require(MemoryRow, "shared").content == "other 2"
                assert r.count(MemoryRow) == 7
                assert [event.seq for event in r.events()] == list(range(1, 8))
            with db.connection() as connection:
                assert db.ledger.state.faults(connection) == []
                assert db.ledger.checkpoint(connection) == store.anchor().checkpoint
            db.close()


WRITER = """
import sys
from pathlib import Path
from substrate.store.database import Database
from tests.store.rows import memory, record
db = Database.open(Path(sys.argv[1]), state_dir=Path(sys.argv[2]))
for number in range(10_000):
    with db.write(actor="hum-1") as tx:
        record(tx, *[memory(f"mem-{number:05}-{part}") for part in range(20)])
    print(number, flush=True)
"""


@pytest.mark.parametrize("acknowledged", [1, 4])
def test_a_holder_killed_in_the_middle_of_its_writes_loses_nothing_it_acknowledged(store: Store, acknowledged: int):
    command = [sys.executable, "-c", WRITER, str(store.home), str(store.state)]
    writer = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    for _ in range(acknowledged):
        writer.stdout.readline()
    writer.kill()
    last = acknowledged - 1 + len(writer.stdout.read().splitlines())
    writer.wait()
    with store.opened() as db, db.read() as r:
        whole = {row.id[:9] for row in r.select(MemoryRow)}
        assert {f"mem-{number:05}" for number in range(last + 1)} <= whole
        assert len(whole) <= last + 2
        assert r.count(MemoryRow) == 20 * len(whole) == 20 * (r.head.sequence - 1)
        assert len(r.events()) == r.head.sequence


def benchmark(*arguments: str) -> tuple[int, dict[str, object]]:
    command = [sys.executable, str(ROOT / "benchmarks/processes.py"), "--json", "--most-wait", "600", *arguments]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_eight_processes_write_while_four_read_and_nothing_is_lost():
    status, found = benchmark("--writers", "8", "--writes", "25", "--readers", "4")
    assert (status, found["acknowledged"], found["lost"], found["phantoms"]) == (0, 200, 0, 0)
    assert (found["errors"], found["faults"]) == ([], [])


def test_without_the_lock_the_same_measurement_fails():
    status, found = benchmark("--writers", "3", "--writes", "10", "--readers", "0", "--broken")
    assert status == 1
    assert found["failed"]
