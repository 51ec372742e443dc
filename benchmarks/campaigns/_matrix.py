"""Every attack of the specification on a store of its own, by each writer who can make it, and who has to notice.

A writer of rows changes rows alone. A writer of rows and log then makes commitments, digests, tree and log agree with
them again, for want of the key under a signature that was there (`forgery.mend`). What changes what a read returns or
moves the head has to be refused by the read; what only the inside of the log shows, by the reading of the log; all of
it is named by a whole verification.

Source: docs/spec/audit.md §4.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from audit import keys
from audit.anchor import Situation
from audit.event import body
from substrate.errors import Integrity
from substrate.store import schema
from substrate.store.inspection import inspect
from substrate.store.model import ROWS, MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader
from tests.store import attacks, forgery
from tests.store.attacks import Attack
from tests.store.rows import memory, record, tell
from tests.store.stores import Store

ORDER = 2**252 + 27742317777372353535851937790883648493  # of the group Ed25519 signs in
READ = frozenset({"read", "verify"})
LOG = frozenset({"log", "verify"})


@dataclass(frozen=True)
class Trial:
    """An attack by one writer, and which doors have to notice it."""

    name: str
    writer: str
    attack: Attack
    noticed: frozenset[str] = READ


def told(folder: Path) -> Store:
    """Make the store that is attacked: closed, with a story and a few events after it."""
    store = Store(folder / "told")
    with closing(store.create()) as db:
        with db.write(actor="hum-1") as tx:
            tell(tx)
        attacks.add(db, "mem-4", "mem-5")
    return store


def unnoticed(trial: Trial, told: Store, folder: Path) -> list[str]:
    """Make an attack on a copy and name the doors that had to notice and did not."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(told.root, folder / "store")
    store = Store(folder / "store")
    note = store.anchor().checkpoint
    store_id = store.anchor_file().stem
    trial.attack(store)
    doors: dict[str, Callable[[], bool]] = {
        "read": lambda: _refused(store, _read),
        "log": lambda: _refused(store, lambda r: r.events()),
        "told": lambda: _situation(store) is Situation.UNANCHORED,
        "verify": lambda: _faulty(store, store_id),
        "mailed checkpoint": lambda: _faulty(store, store_id, note),
    }
    return [door for door in sorted(trial.noticed) if not doors[door]()]


def trials(told: Store, columns: int) -> Iterator[Trial]:
    """Give every attack; of those on single columns every n-th, so that about ``columns`` are left."""
    for name, attack in {**attacks.ON_ONE_ROW, **attacks.HEADS, "added": _add_a_row}.items():
        yield Trial(f"row: {name}", "rows", attack)
        if not name.startswith("commitment"):  # for who can mend them these are no attack
            yield Trial(f"row: {name}", "rows and log", _and_mend(attack))
    edits = list(_column_edits(told))
    for name, attack in edits[:: max(1, len(edits) // columns)]:
        yield Trial(name, "rows", attack)
        yield Trial(name, "rows and log", _and_mend(attack))
    for name, attack in {**attacks.LOGS, **OF_THE_HEAD}.items():
        yield Trial(f"log: {name}", "rows and log", attack)
    for name, attack in INSIDE.items():
        yield Trial(f"log: {name}", "rows and log", attack, LOG)
    yield Trial("tree: a node in the place of another", "rows and log", _node_elsewhere, frozenset({"verify"}))
    for name, attack in FOLDERS.items():
        yield Trial(f"folder: {name}", "rows and log", attack, frozenset({"read"}))
    yield Trial("anchor: deleted", "all files", _delete_the_anchor, frozenset({"told"}))
    yield Trial("anchor: put back with the folder", "all files", _put_all_back, frozenset({"mailed checkpoint"}))


def _read(r: Reader) -> None:
    for kind in ROWS:
        r.select(kind)
    head = r.require(PersonaHeadRow, "global", "alice")
    r.require(MemoryRow, head.persona_id)


def _refused(store: Store, read: Callable[[Reader], object]) -> bool:
    try:
        with store.opened() as db, db.read() as r:
            read(r)
    except Integrity as error:
        return bool(error.hint)
    except Exception:  # what fails in another way noticed nothing
        return False
    return False


def _situation(store: Store) -> Situation:
    with store.opened() as db:
        return db.situation


def _faulty(store: Store, store_id: str, *notes: str) -> bool:
    report = inspect(store.home, state_dir=store.state, notes=notes)
    return bool(report.faults) or report.store_id != store_id


def _add_a_row(store: Store) -> None:
    with store.raw() as raw:
        forgery.insert(raw, memory("mem-9", content="forged"))


def _and_mend(attack: Attack) -> Attack:
    def both(store: Store) -> None:
        attack(store)
        with store.raw() as raw:
            forgery.mend(raw)

    return both


def _column_edits(told: Store) -> Iterator[tuple[str, Attack]]:
    """Give an edit of each column of a row, for every table that holds one."""
    with told.raw() as raw:
        for table in schema.COMMITTED:
            found = raw.execute(f"SELECT * FROM {table} LIMIT 1")
            names = [(column[0], str(column[1])) for column in found.description or ()]
            for row in found.fetchall():
                for (column, kind), value in zip(names, row, strict=True):
                    if column not in CHECKED:
                        yield f"column: {table}.{column}", _edit(table, column, kind, value)


CHECKED = {"kind", "access", "trust", "memory_kind", "memory_type", "origin", "status", "relation", "attest_level"}
"""Columns of which the file itself allows a few words only; the edits of single rows change those."""


def _edit(table: str, column: str, kind: str, value: object) -> Attack:
    changed = {"BIGINT": f"coalesce({column}, 0) + 1", "BOOLEAN": f"NOT coalesce({column}, false)"}.get(
        kind, f"coalesce({column}, '') || chr(0) || 'x'"
    )
    same = f"{column} IS NOT DISTINCT FROM ?"
    return attacks.sql(
        f"UPDATE {table} SET {column} = {changed} WHERE rowid = (SELECT min(rowid) FROM {table} WHERE {same})", value
    )


def _sign_for_another_purpose(store: Store) -> None:
    with store.raw() as raw:
        head = replace(forgery.events(raw)[-1], actor="hum-2")
        signature = keys.sign(store.key(), "export", body(head))
        raw.execute(
            "UPDATE signed_events SET body = ?, signature = ? WHERE sequence = ?", [body(head), signature, head.seq]
        )


def _add_the_order_to_a_signature(store: Store) -> None:
    """Make another signature that a careless verifier takes: S + L in the place of S."""
    with store.raw() as raw:
        number, signature = raw.execute(
            "SELECT sequence, signature FROM signed_events ORDER BY sequence DESC LIMIT 1"
        ).fetchall()[0]
        scalar = int.from_bytes(signature[32:], "little") + ORDER
        malleated = bytes(signature[:32]) + scalar.to_bytes(32, "little")
        raw.execute("UPDATE signed_events SET signature = ? WHERE sequence = ?", [malleated, number])


def _write_anew_with_the_key(store: Store) -> None:
    with store.raw() as raw:
        forgery.write_log_anew(raw, store.key(), actor="hum-2")
        forgery.write_tree(raw)


def _chain_again(change: Callable[[list[forgery.Event]], list[forgery.Event]]) -> Attack:
    """Change the list of events, number and chain it again, and sign it with another key."""

    def attack(store: Store) -> None:
        with store.raw() as raw:
            log = change(forgery.events(raw))
            raw.execute("DELETE FROM signed_events")
            prev = log[0].prev
            for number, event in enumerate(log, 1):
                prev = forgery.write_event(raw, replace(event, seq=number, prev=prev), forgery.STRANGER)
            forgery.write_tree(raw)

    return attack


def _append(**fields: object) -> Attack:
    def attack(store: Store) -> None:
        with store.raw() as raw:
            forgery.append(raw, commits=(), **fields)
            forgery.write_tree(raw)

    return attack


def _rotate_to_a_strangers_key(store: Store) -> None:
    """Append an older list of keys, one that puts another key in the place of the store's own."""
    with store.raw() as raw:
        first = forgery.events(raw)[0]
        payload = keys.rotation(first.store_id, 2, store.key().public, forgery.STRANGER)
        forgery.append(raw, commits=(), type="key_rotated", payload=payload)


OF_THE_HEAD: dict[str, Attack] = {
    "edited and chained again": _chain_again(lambda log: [*log[:3], replace(log[3], subject="mem-2"), *log[4:]]),
    "an event deleted and chained again": _chain_again(lambda log: [*log[:3], *log[4:]]),
    "reordered and chained again": _chain_again(lambda log: [*log[:3], log[4], log[3], *log[5:]]),
    "written anew by who holds the key": _write_anew_with_the_key,
    "cut, and the rest made to agree": lambda store: [
        store.edit("DELETE FROM memories WHERE id = 'mem-5'"),
        _and_mend(lambda _: None)(store),
    ],
    "last leaf repeated": attacks.sql(
        "INSERT INTO signed_events SELECT sequence + 1, body, signature, key_id, nodes FROM signed_events"
        " ORDER BY sequence DESC LIMIT 1"
    ),
    "signature for another purpose": _sign_for_another_purpose,
    "signature with the group's order added": _add_the_order_to_a_signature,
    "a forged event at the end": _append(actor="hum-2"),
    "a forged restore at the end": _append(type="rollback_accepted", payload={}),
    "an older list of keys at the end": _rotate_to_a_strangers_key,
}


def _edit_inside(**fields: object) -> Attack:
    def attack(store: Store) -> None:
        with store.raw() as raw:
            event = replace(forgery.events(raw)[3], **fields)
            raw.execute("UPDATE signed_events SET body = ? WHERE sequence = 4", [body(event)])

    return attack


def _swap_bodies(store: Store) -> None:
    with store.raw() as raw:
        rows = raw.execute(
            "SELECT body, signature FROM signed_events WHERE sequence IN (4, 5) ORDER BY sequence"
        ).fetchall()
        for number, (data, signature) in zip((5, 4), rows, strict=True):
            raw.execute(
                "UPDATE signed_events SET body = ?, signature = ? WHERE sequence = ?", [data, signature, number]
            )


INSIDE: dict[str, Attack] = {
    "an event inside edited": _edit_inside(subject="mem-2"),
    "an event inside edited, its time": _edit_inside(time="2020-01-01T00:00:00.000000Z"),
    "an event inside edited, its author": _edit_inside(actor="hum-2"),
    "two events inside reordered": _swap_bodies,
    "a body inside that is no event": attacks.sql("UPDATE signed_events SET body = '{}'::BLOB WHERE sequence = 4"),
}


def _node_elsewhere(store: Store) -> None:
    store.edit(
        "UPDATE signed_events SET nodes = (SELECT nodes FROM signed_events WHERE sequence = 2) WHERE sequence = 6"
    )


def _go_on(store: Store) -> None:
    with store.opened() as db:
        attacks.add(db, "mem-later")


def _put_back(store: Store) -> None:
    earlier = store.copy_home("earlier")
    _go_on(store)
    shutil.rmtree(store.home)
    shutil.copytree(earlier.home, store.home)


def _put_back_and_write(store: Store) -> None:
    """Go on from the older copy where this machine's anchor is not known, then bring the result here."""
    elsewhere = store.copy("elsewhere")
    _go_on(store)
    shutil.rmtree(elsewhere.state)
    with elsewhere.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-genuine"))
    shutil.rmtree(store.home)
    shutil.copytree(elsewhere.home, store.home)


def _anchors_that_disagree(store: Store) -> None:
    """Let a copy with an anchor of its own go on by itself, then give its file to the machine that went on too."""
    twin = store.copy("twin")
    with twin.opened() as db:
        attacks.add(db, "mem-twin")
    _go_on(store)
    shutil.copyfile(twin.file, store.file)


FOLDERS: dict[str, Attack] = {
    "put back to an older copy": _put_back,
    "put back, then a genuine write": _put_back_and_write,
    "two anchors that disagree": _anchors_that_disagree,
}


def _delete_the_anchor(store: Store) -> None:
    shutil.rmtree(store.state)


def _put_all_back(store: Store) -> None:
    """Cut the log and put back the anchor that belongs to it: on this machine nothing is left that knows better."""
    with store.raw() as raw:
        raw.execute("DELETE FROM memories WHERE id = 'mem-5'")
        forgery.mend(raw)
    shutil.rmtree(store.state)
