"""Ways to change a store behind its back: each takes a closed store that holds the story and leaves it closed."""

import shutil
from collections.abc import Callable
from dataclasses import replace

from substrate.store.database import Database
from substrate.store.model import row_id
from tests.store import forgery
from tests.store.rows import memory, record
from tests.store.stores import Store

Attack = Callable[[Store], object]


def sql(statement: str, *parameters: object) -> Attack:
    return lambda store: store.edit(statement, parameters)


def replay(store: Store) -> None:
    """Change a row, then put back the older one, which was genuine, with its own salt."""
    older = store.edit("SELECT * FROM memories WHERE id = 'mem-1'")[0]
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1", content="newer"))
    with store.raw() as raw:
        raw.execute("DELETE FROM memories WHERE id = 'mem-1'")
        raw.execute(f"INSERT INTO memories VALUES ({', '.join('?' * len(older))})", list(older))


def swap_contents(store: Store) -> None:
    """Give two genuine rows each other's text and salt."""
    with store.raw() as raw:
        one, two = raw.execute(
            "SELECT content, salt FROM memories WHERE id IN ('mem-1', 'mem-2') ORDER BY id"
        ).fetchall()
        raw.execute("UPDATE memories SET content = ?, salt = ? WHERE id = 'mem-1'", list(two))
        raw.execute("UPDATE memories SET content = ?, salt = ? WHERE id = 'mem-2'", list(one))


def forge(store: Store) -> None:
    with store.raw() as raw:
        forgery.insert(raw, memory("mem-1", content="forged"))


def edit_and_mend_the_state(store: Store) -> None:
    with store.raw() as raw:
        commitment = forgery.overwrite(raw, memory("mem-1", content="edited"))
        forgery.mend_state(raw, "memories", "mem-1", commitment)


def swallow_columns_into_the_salt(store: Store) -> None:
    """Write a row whose text holds the start of a row, then let the salt swallow everything before it.

    Both rows would hash to the same bytes if a salt could have any length.
    """
    inner = "8:memories2:id5:mem-19:namespace6:globalXXXX"
    with store.opened() as db, db.write(actor="hum-1") as tx:
        record(tx, memory("mem-1", content=inner))
    ((salt,),) = store.edit("SELECT salt FROM memories WHERE id = 'mem-1'")
    store.edit("UPDATE memories SET salt = ?, content = NULL WHERE id = 'mem-1'", [salt + inner])


ON_ONE_ROW: dict[str, Attack] = {
    "text edited": sql("UPDATE memories SET content = 'edited' WHERE id = 'mem-1'"),
    "text removed": sql("UPDATE memories SET content = NULL WHERE id = 'mem-1'"),
    "author edited": sql("UPDATE memories SET by_id = 'hum-2' WHERE id = 'mem-1'"),
    "status edited": sql("UPDATE memories SET status = 'retired' WHERE id = 'mem-1'"),
    "tags edited": sql("UPDATE memories SET tags = '[]' WHERE id = 'mem-1'"),
    "time edited": sql("UPDATE memories SET created_at = '2020-01-01T00:00:00.000000Z' WHERE id = 'mem-1'"),
    "order edited": sql("UPDATE memories SET sequence = 1 WHERE id = 'mem-1'"),
    "namespace edited": sql("UPDATE memories SET namespace = 'users/hum-2' WHERE id = 'mem-1'"),
    "salt edited": sql("UPDATE memories SET salt = ? WHERE id = 'mem-1'", "ab" * 32),
    "salt removed": sql("UPDATE memories SET salt = NULL WHERE id = 'mem-1'"),
    "salt emptied": sql("UPDATE memories SET salt = '' WHERE id = 'mem-1'"),
    "salt lengthened": swallow_columns_into_the_salt,
    "masked as a tombstone": sql("""UPDATE memories SET content = '{"__redacted__": true}' WHERE id = 'mem-1'"""),
    "masked as deleted": sql("UPDATE memories SET status = 'deleted', content = NULL, salt = NULL WHERE id = 'mem-1'"),
    "deleted": sql("DELETE FROM memories WHERE id = 'mem-1'"),
    "renamed": sql("UPDATE memories SET id = 'mem-7' WHERE id = 'mem-1'"),
    "replaced by an older genuine one": replay,
    "replaced by another genuine one": swap_contents,
    "commitment edited": sql("UPDATE state_entries SET commitment = ? WHERE id = 'mem-1'", "ab" * 32),
    "commitment deleted": sql("DELETE FROM state_entries WHERE id = 'mem-1'"),
    "commitment moved": sql("UPDATE state_entries SET bucket = (bucket + 1) % 4096 WHERE id = 'mem-1'"),
    "row and commitment deleted": lambda store: [
        store.edit("DELETE FROM memories WHERE id = 'mem-1'"),
        store.edit("DELETE FROM state_entries WHERE id = 'mem-1'"),
    ],
}


HEADS: dict[str, Attack] = {
    "newest version deleted": sql("DELETE FROM memories WHERE id = 'per-2'"),
    "head deleted": sql("DELETE FROM persona_heads"),
    "head points to the older": sql("UPDATE persona_heads SET persona_id = 'per-1', version = 1"),
    "older made active": sql("UPDATE memories SET status = 'active', superseded_by = NULL WHERE id = 'per-1'"),
    "version deleted and head moved": lambda store: [
        store.edit("DELETE FROM memories WHERE id = 'per-2'"),
        store.edit("UPDATE persona_heads SET persona_id = 'per-1', version = 1"),
    ],
    "both with their commitments": lambda store: [
        store.edit("DELETE FROM memories WHERE id = 'per-2'"),
        store.edit("DELETE FROM persona_heads"),
        store.edit("DELETE FROM state_entries WHERE id IN ('per-2', ?)", [row_id("global", "alice")]),
    ],
}


def add(db: Database, *ids: str) -> None:
    for id in ids:
        with db.write(actor="hum-1") as tx:
            record(tx, memory(id), subject=id)


def cut_and_put_back_what_was_there_before(store: Store) -> None:
    """Bring the whole file back to an earlier state, genuine in itself, and leave the rest."""
    earlier = store.copy("earlier")
    with store.opened() as db:
        add(db, "mem-new")
    shutil.copyfile(earlier.file, store.file)


def replace_the_head(store: Store, key: forgery.keys.Key | None = None, **fields: object) -> None:
    with store.raw() as raw:
        head = forgery.events(raw)[-1]
        forgery.write_event(raw, replace(head, **fields), key)


def replace_the_head_by_an_older_genuine_event(store: Store) -> None:
    store.edit(
        "UPDATE signed_events SET body = o.body, signature = o.signature FROM (SELECT * FROM signed_events"
        " WHERE sequence = 3) o WHERE signed_events.sequence = (SELECT max(sequence) FROM signed_events)"
    )


def append_an_event_of_a_stranger(store: Store) -> None:
    with store.raw() as raw:
        head = forgery.events(raw)[-1]
        prev = forgery.event_hash(forgery.body(head))
        forgery.write_event(raw, replace(head, seq=head.seq + 1, prev=prev), forgery.STRANGER)


def sign_everything_with_another_key(store: Store) -> None:
    with store.raw() as raw:
        forgery.write_log_anew(raw, forgery.STRANGER)


def sign_everything_with_another_key_and_swap_the_key_file(store: Store) -> None:
    sign_everything_with_another_key(store)
    forgery.swap_key_file(store, forgery.STRANGER, b"\x07" * 32)


def bring_in_the_file_of_another_store(store: Store) -> None:
    other = Store(store.root.parent / "other")
    db = other.create()
    add(db, "mem-other")
    db.close()
    shutil.copyfile(other.file, store.file)


LOGS: dict[str, Attack] = {
    "newest event cut": sql("DELETE FROM signed_events WHERE sequence = (SELECT max(sequence) FROM signed_events)"),
    "half the log cut": sql("DELETE FROM signed_events WHERE sequence > 4"),
    "emptied": sql("DELETE FROM signed_events"),
    "an event in the middle deleted": sql("DELETE FROM signed_events WHERE sequence = 4"),
    "first event deleted": sql("DELETE FROM signed_events WHERE sequence = 1"),
    "deleted and renumbered": lambda store: [
        store.edit("DELETE FROM signed_events WHERE sequence = 4"),
        store.edit("INSERT INTO signed_events VALUES (0, 'x'::BLOB, NULL, NULL, NULL)"),
    ],
    "earlier file put back": cut_and_put_back_what_was_there_before,
    "head edited": lambda store: replace_the_head(store, actor="hum-2"),
    "head without signature": sql("UPDATE signed_events SET signature = NULL"),
    "head signed by a stranger": lambda store: replace_the_head(store, forgery.STRANGER),
    "head with another key id": sql("UPDATE signed_events SET key_id = '0123456789abcdef'"),
    "head is an older genuine event": replace_the_head_by_an_older_genuine_event,
    "head unreadable": sql("UPDATE signed_events SET body = 'no json'::BLOB WHERE sequence > 4"),
    "an event of a stranger appended": append_an_event_of_a_stranger,
    "everything signed by a stranger": sign_everything_with_another_key,
    "everything signed by a stranger, key file too": sign_everything_with_another_key_and_swap_the_key_file,
    "first event is no creation": lambda store: _change_first(store, type="memory_added"),
    "first event follows another": lambda store: _change_first(store, prev="ab" * 32),
    "another store's file": bring_in_the_file_of_another_store,
}


def _change_first(store: Store, **fields: object) -> None:
    with store.raw() as raw:
        forgery.write_event(raw, replace(forgery.events(raw)[0], **fields), store.key())
