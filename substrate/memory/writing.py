"""Turn a checked draft into a row, and put rows, links and events together.

Source: docs/spec/model.md §4 (Lifecycle); DESIGN §4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from substrate.errors import Invalid
from substrate.escape import quote
from substrate.memory import caps, feed
from substrate.memory.draft import Draft
from substrate.scopes import namespaces
from substrate.scopes.caller import Caller
from substrate.store.model import LinkRow, MemoryRow
from substrate.store.transaction import Transaction

ORIGINS = {"human": "human", "agent": "agent", "curator": "curator", "hub": "import"}
_CARRIED = ("file", "import")


def new_row(tx: Transaction, caller: Caller, given: Draft, *, origin: str | None = None, **columns: Any) -> MemoryRow:
    """Make the row of a draft: id, time, number and author are the store's; the namespace is made if it has to be.

    `origin` is the caller's kind unless the text was carried here: file or import. `columns` are what we derive.
    """
    if origin is not None and origin not in _CARRIED:
        raise Invalid(
            f"{quote(origin)} is no origin to claim",
            hint=f"{' or '.join(_CARRIED)}; otherwise it follows from who calls",
            fields={"origin": "choice"},
        )
    namespaces.ensure(tx, caller, given.namespace)
    return MemoryRow(
        id=tx.new_id("mem"),
        origin=origin or ORIGINS[caller.kind],
        created_at=tx.now,
        updated_at=tx.now,
        sequence=tx.sequence,
        **given.columns(),
        **written_by(caller),
        **columns,
    )


def written_by(caller: Caller) -> dict[str, Any]:
    """Give the author's columns of a row."""
    return {
        "by_kind": caller.kind,
        "by_id": caller.id,
        "by_instance": caller.instance,
        "by_handle": caller.handle,
        "by_project": caller.project,
        "by_session": caller.session,
    }


def write(
    tx: Transaction,
    caller: Caller,
    row: MemoryRow,
    *,
    derived_from: Iterable[str] = (),
    old: MemoryRow | None = None,
) -> MemoryRow:
    """Put a new memory with its links, and close the wording it replaces; record what was done.

    Raises what `caps.check` raises, with nothing put.
    """
    caps.check(tx, row, old)
    links = [new_link(tx, caller, row.id, target, "derived_from") for target in derived_from]
    if old is None:
        tx.put(row, *links)
        feed.added(tx, caller, row)
        return row
    links.append(new_link(tx, caller, row.id, old.id, "supersedes"))
    tx.put(row, closed(tx, caller, old, "superseded", superseded_by=row.id), *links)
    feed.added(tx, caller, row)
    feed.superseded(tx, caller, old, row.id)
    return row


def closed(tx: Transaction, caller: Caller, row: MemoryRow, status: str, **columns: Any) -> MemoryRow:
    """Give the row as closed now by the caller: superseded, retired or deleted."""
    return replace(row, status=status, status_by=caller.id, status_at=tx.now, updated_at=tx.now, **columns)


def level(tx: Transaction) -> str:
    """Name the attestation level of what this transaction records."""
    if tx.attests and tx.witness is not None:
        return "peer_attested"
    return "self_signed" if tx.signed else "unsigned"


def new_link(
    tx: Transaction,
    caller: Caller,
    source: str,
    target: str,
    relation: str,
    *,
    valid_from: str | None = None,
    valid_until: str | None = None,
) -> LinkRow:
    """Make a link, attested by the key that will sign its event: a witness's, else the store's.

    Source: docs/spec/audit.md §1.6.
    """
    return LinkRow(
        source_id=source,
        target_id=target,
        relation=relation,
        attest_level=level(tx),
        key_id=tx.witness.key.key_id if tx.witness and tx.attests else tx.key_id,
        observed_by=caller.id,
        valid_from=valid_from,
        valid_until=valid_until,
        created_at=tx.now,
        sequence=tx.sequence,
    )
