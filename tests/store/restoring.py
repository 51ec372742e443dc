"""Back a store up, bring it back, and look at what came."""

from pathlib import Path

from substrate.memory.forgetting import erase_again
from substrate.store import backup, recovery
from substrate.store.model import MemoryRow
from substrate.store.restore import Restored, restore
from tests.store.rows import memory, record
from tests.store.stores import Store


def back_up(store: Store, name: str = "one.backup", *, with_keys: bool = False) -> Path:
    with store.opened() as db:
        return backup.make(db, store.root.parent / name, with_keys=with_keys)[0]


def bring_back(store: Store, source: Path | None, **options: bool) -> Restored:
    return restore(
        store.home,
        source,
        state_dir=store.state,
        decider=lambda _: "hum-1",
        erase=erase_again,
        clock=store.clock,
        **options,
    )


def add(store: Store, *ids: str) -> None:
    with store.opened() as db:
        for id in ids:
            with db.write(actor="hum-1") as tx:
                record(tx, memory(id))


def forget(store: Store, id: str) -> None:
    with store.opened() as db, db.write(actor="hum-1") as tx:
        assert erase_again(tx, [id]) == (id,)


def ids(store: Store) -> list[str]:
    with store.opened() as db, db.read() as r:
        return [row.id for row in r.select(MemoryRow, "status <> 'deleted'", order="id")]


def sound(store: Store) -> None:
    """See that a store verifies whole, is anchored, and takes another write."""
    report = recovery.verify(store.home, state_dir=store.state)
    assert (report.faults, report.anchored) == ((), True)
    add(store, "mem-after")
    assert recovery.verify(store.home, state_dir=store.state).ok


def spoil(store: Store, id: str) -> None:
    store.edit("UPDATE memories SET content = 'not what was written' WHERE id = ?", [id])
