"""Actions on the signed log of an open store.

Source: docs/spec/audit.md §2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from audit import anchor as anchors
from audit import proof
from audit.event import Event
from audit.export import write_export
from audit.merkle import inclusion_path
from substrate.actions.registry import Json, action
from substrate.errors import Forbidden, Invalid
from substrate.home import Memory
from substrate.identifiers import check_limit
from substrate.memory import memories
from substrate.scopes import access, paths
from substrate.store.log import event_rows, iterate_events, node_reader


@action("audit_log", writes=False)
def log(memory: Memory, *, after: int = 0, limit: int | None = None, subject: str | None = None) -> Json:
    """List events after a number, oldest first; one the caller may not see is its number and hash only."""
    most = check_limit(limit)
    with memory.read() as r:
        seen = access.readable(r, memory.caller)
        found = r.events(after, most, subject=subject)
    return {"events": [_shown(event, access.sees(event, seen)) for event in found]}


def _shown(event: Event, visible: bool) -> dict[str, Any]:
    if not visible:
        return {"seq": event.seq, "hidden": True}
    shown = asdict(event)
    shown["commits"] = len(event.commits)
    return shown


@action("audit_checkpoint", writes=False)
def checkpoint(memory: Memory) -> Json:
    """Give the signed note over the whole log: four lines to keep elsewhere."""
    with memory.db.connection() as connection:
        return {"checkpoint": memory.db.ledger.checkpoint(connection)}


@action("audit_prove", writes=False)
def prove(memory: Memory, *, id: str) -> Json:
    """Prove that the event which wrote a memory (or an event, by number) is in the log; needs no store to check."""
    number = int(id) if id.isascii() and id.isdigit() else None
    if number is None:
        with memory.read() as r:
            number = memories.get(r, memory.caller, id).sequence
    with memory.db.connection() as connection:
        ledger = memory.db.ledger
        rows = event_rows(connection, number - 1, 1)
        if not rows or rows[0][0] != number:
            raise Invalid(
                f"there is no event {number}", hint="`ai-memory audit log` lists them", fields={"id": "unknown"}
            )
        size = ledger.frontier(connection).size
        path = inclusion_path(number - 1, size, node_reader(connection))
        text = proof.make(rows[0][1], rows[0][2], path, ledger.checkpoint(connection), ledger.genesis_key)
    return {"proof": text}


@action("audit_keys", writes=False)
def keys(memory: Memory) -> Json:
    """Show the keys that sign this store's events."""
    ledger = memory.db.ledger
    with memory.read() as r:
        here = r.key_id
    return {
        "store_id": ledger.store_id,
        "genesis_key": ledger.genesis_key,
        "key_id": here,
        "key_here": ledger.key is not None,
    }


@action("status", writes=False)
def status(memory: Memory) -> Json:
    """Show the store: where it is, how much it holds, how it stands to this machine's anchor, who you are."""
    db = memory.db
    with memory.read() as r:
        head = r.head.sequence
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
        "events": head,
        "memories": [{"memory_kind": kind, "status": state, "count": count} for kind, state, count in kinds],
        "situation": db.situation.value,
        "signed": db.ledger.genesis_key is not None,
        "read_only": db.read_only,
        "anchored_at": anchor.written_at if anchor else None,
        "verified_at": anchor.verified_at if anchor else None,
    }


@action("rewrite", writes=True)
def rewrite(memory: Memory) -> Json:
    """Copy the file into a fresh one so that forgotten text is gone from it, and from the recall index beside it."""
    if memory.caller.kind != "human":
        raise Forbidden("only a human rewrites the file", hint="ask a human", reason="humans_only")
    before, after = memory.db.rewrite()
    if (memory.db.home / "index").exists():
        from substrate.recall import index

        index.of(memory.db).catch_up(memory.db)
    with memory.write() as tx:
        payload = {"by": memory.caller.id, "before": before, "after": after}
        tx.event("store_rewritten", subject=memory.db.store_id, namespace=None, payload=payload)
    return {"bytes_before": before, "bytes_after": after}


def export(memory: Memory) -> Iterator[bytes]:
    """Give the lines of the exported log, for ``audit.independent`` and for anyone who verifies without this program.

    Raises Forbidden for a caller that may not read every event.
    """
    with memory.read() as r:
        access.check(r, memory.caller, "policy", paths.GLOBAL)
    with memory.db.connection() as connection:
        ledger = memory.db.ledger
        rows = list(iterate_events(connection))
        note = ledger.checkpoint(connection)
    yield from write_export(rows, ledger.store_id, ledger.genesis_key, note)
