"""Actions on the signed log of an open store.

Source: docs/spec/audit.md §2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from audit import anchor as anchors
from audit import proof
from audit.event import Event, body
from audit.export import write_export
from audit.merkle import inclusion_path, leaf_hash
from audit.verify import Fault, verify_log
from substrate.actions.registry import Json, action
from substrate.errors import Forbidden, Integrity, Invalid
from substrate.home import Memory
from substrate.identifiers import check_limit, check_line, check_offset
from substrate.memory import memories
from substrate.scopes import access, paths, principals
from substrate.store import epochs, recovery
from substrate.store.inspection import Report, inspected
from substrate.store.log import VERIFY, event_rows, iterate_events, node_reader
from substrate.texts import projections


@action("audit_log", writes=False)
def log(memory: Memory, *, after: int = 0, limit: int | None = None, subject: str | None = None) -> Json:
    """List events after a number, oldest first, each with its leaf hash; of one the caller may not see nothing more.

    So whoever lists them all can hash the tree and hold it against a checkpoint, whatever is hidden.
    """
    after, most = check_offset(after, field="after"), check_limit(limit)
    if subject is not None:
        check_line("subject", subject)
    with memory.read() as r:
        seen = access.readable(r, memory.caller)
        found = r.events(after, most, subject=subject, signed=True)
        if subject is not None:  # that there is a hidden event about an id would tell that the id exists
            found = [event for event in found if access.sees(event, seen)]
    return {"events": [_shown(event, access.sees(event, seen)) for event in found]}


def _shown(event: Event, visible: bool) -> dict[str, Any]:
    leaf = leaf_hash(body(event)).hex()
    if not visible:
        return {"seq": event.seq, "hidden": True, "leaf": leaf}
    return {**asdict(event), "commits": len(event.commits), "leaf": leaf}


@action("audit_checkpoint", writes=False)
def checkpoint(memory: Memory) -> Json:
    """Give the signed note over the whole log: four lines to keep elsewhere."""
    with memory.db.connection() as connection:
        return {"checkpoint": memory.db.ledger.checkpoint(connection)}


@action("audit_prove", writes=False)
def prove(memory: Memory, *, id: str) -> Json:
    """Prove that the event which wrote a memory (or an event, by number) is in the log; needs no store to check."""
    with memory.read() as r:
        if not (id.isascii() and id.isdigit() and len(id) < 16):
            id = str(memories.get(r, memory.caller, id).sequence)
        number, seen = int(id), access.readable(r, memory.caller)
        found = r.events(number - 1, 1) if number else []
    if not found or found[0].seq != number:
        raise Invalid(f"there is no event {number}", hint="`ai-memory audit log` lists them", fields={"id": "unknown"})
    if not access.sees(found[0], seen):
        raise Forbidden(f"event {number} is not yours to see", hint="ask somebody who may", reason="hidden")
    with memory.db.connection() as connection:
        ledger = memory.db.ledger
        _, data, signature, _ = event_rows(connection, number - 1, 1)[0]
        signer = epochs.at(ledger.epochs, number).public
        path = inclusion_path(number - 1, ledger.frontier(connection).size, node_reader(connection))
        text = proof.make(data, signature, path, ledger.checkpoint(connection), signer, ledger.public_key)
    return {"proof": text}


@action("audit_keys", writes=False)
def keys(memory: Memory) -> Json:
    """Show the keys that signed this store's events, one after another; the last one signs now."""
    ledger = memory.db.ledger
    with memory.read() as r:
        here = r.key_id
    return {
        "store_id": ledger.store_id,
        "genesis_key": ledger.genesis_key,
        "key_id": here,
        "key_here": ledger.key is not None,
        "epochs": [
            {"epoch": one.number, "public_key": one.public, "key_id": one.key_id, "from_sequence": one.first}
            for one in ledger.epochs
        ],
    }


@action("audit_rotate", writes=True)
def rotate(memory: Memory) -> Json:
    """Have a new key sign from now on and erase the old one, so that it signs nothing any more, whoever has it.

    For a human who may set the policy of ``global``. In a store without a key this is the first.
    """
    if memory.caller.kind != "human":
        raise Forbidden("only a human replaces the store's key", hint="ask a human", reason="humans_only")
    with memory.write() as tx:
        access.check(tx, memory.caller, "policy", paths.GLOBAL)
        sequence = tx.rotate_key()
    epoch = memory.db.ledger.epochs[-1]
    return {"sequence": sequence, "epoch": epoch.number, "public_key": epoch.public, "key_id": epoch.key_id}


@action("status", writes=False)
def status(memory: Memory) -> Json:
    """Show the store: where it is, what it holds, how it stands to this machine's anchor, and whose key is sealed."""
    db = memory.db
    with memory.read() as r:
        head = r.head.sequence
        people = principals.people(r)
        seen = sorted(access.readable(r, memory.caller))
        kinds = r.query(
            "SELECT memory_kind, status, count(*) FROM memories WHERE namespace IN (SELECT unnest(?::TEXT[]))"
            " GROUP BY ALL ORDER BY ALL",
            (seen,),
        )
    anchor = anchors.read(anchors.path(db.ledger.state_dir, db.store_id))
    return {
        "home": str(db.home),
        "store_id": db.store_id,
        "caller": {"id": memory.caller.id, "handle": memory.caller.handle, "kind": memory.caller.kind},
        "people": [{"id": row.id, "handle": row.handle, "sealed": row.sealed} for row in people],
        "events": head,
        "memories": [{"memory_kind": kind, "status": state, "count": count} for kind, state, count in kinds],
        "situation": db.situation.value,
        "signed": db.ledger.public_key is not None,
        "epoch": db.ledger.epochs[-1].number,
        "read_only": db.read_only,
        "anchored_at": anchor.written_at if anchor else None,
        "verified_at": anchor.verified_at if anchor else None,
    }


@action("rewrite", writes=True)
def rewrite(memory: Memory) -> Json:
    """Copy the file into a fresh one so that forgotten text is gone from it, and with it the files beside it.

    What was tampered with is not made over, for the old file may show how: raises Integrity when anything differs.
    """
    if memory.caller.kind != "human":
        raise Forbidden("only a human rewrites the file", hint="ask a human", reason="humans_only")
    with memory.db.connection() as connection:
        _hold(inspected(connection, memory.db.ledger.state_dir).faults)
    left = projections.tidy(memory.db).left
    before, after = memory.db.rewrite()
    if (memory.db.home / "index").exists():
        from substrate.recall import index

        index.of(memory.db).catch_up(memory.db)
    with memory.write() as tx:
        payload = {"by": memory.caller.id, "before": before, "after": after}
        tx.event("store_rewritten", subject=memory.db.store_id, namespace=None, payload=payload)
    return {"bytes_before": before, "bytes_after": after, "files_left": [error.message for error in left]}


@action("audit_verify", writes=False)
def verify(memory: Memory, *, checkpoints: Sequence[str] = ()) -> Json:
    """Verify everything: every event, every row, the tree, the anchor, and checkpoints kept elsewhere.

    For whoever may set the policy of ``global``: faults name rows in every namespace.
    """
    _check_reads_all(memory)
    db = memory.db
    db.close()  # a verification opens the file by itself; the next operation opens it here again
    return verified(recovery.verify(db.home, state_dir=db.ledger.state_dir, notes=checkpoints))


def verified(report: Report) -> Json:
    """Give the report of a whole verification as JSON; ``ok`` and ``anchored`` are separate answers."""
    return {
        "ok": report.ok,
        "anchored": report.anchored,
        "store_id": report.store_id,
        "events": report.events,
        "head": report.head,
        "faults": [
            {"kind": fault.kind, "sequence": fault.sequence, "subject": fault.subject, "message": fault.message}
            for fault in report.faults
        ],
    }


@action("audit_export", writes=False)
def exported(memory: Memory) -> Json:
    """Give the whole log as lines for verifiers that do not need this program, such as ``audit.independent``.

    For whoever may set the policy of ``global``: it holds every event.
    """
    return {"lines": [line.decode().removesuffix("\n") for line in export(memory)]}


def export(memory: Memory) -> Iterator[bytes]:
    """Give the lines of the exported log one by one, each with its newline.

    Raises, before the first, Forbidden, and Integrity for a log that does not hold and a row that does not match it; a
    tolerant store passes over the row.
    """
    _check_reads_all(memory)
    with memory.read() as r:
        r.verify_whole()
    with memory.db.connection() as connection:
        ledger = memory.db.ledger
        rows = list(iterate_events(connection))
        note = ledger.checkpoint(connection)
    _hold(verify_log(rows, ledger.store_id, ledger.genesis_key, notes=[note])[0])
    return write_export(rows, ledger.store_id, ledger.genesis_key, note)


def backup(memory: Memory, target: Path, *, with_keys: bool = False) -> Json:
    """Write a backup to a new file or into a folder (see ``store.backup``).

    For whoever may set the policy of ``global``: it holds every namespace.
    """
    from substrate.store.backup import make  # a command that reads does not pay for it

    _check_reads_all(memory)
    place, manifest = make(memory.db, target, with_keys=with_keys)
    return {
        "path": str(place),
        "bytes": place.stat().st_size,
        "store_id": manifest.store_id,
        "sequence": manifest.sequence,
        "checkpoint": manifest.checkpoint,
        "keys": manifest.keys,
    }


def _hold(faults: Sequence[Fault]) -> None:
    """Raise Integrity for the first fault, if there is one."""
    if faults:
        raise Integrity(f"the store does not hold: {faults[0].message}", hint=VERIFY, kind=faults[0].kind)


def _check_reads_all(memory: Memory) -> None:
    with memory.read() as r:
        access.check(r, memory.caller, "policy", paths.GLOBAL)
