"""Record what happened to a memory: one event a change, ids only.

An event binds every row put since the one before it, so the caller puts its rows first and records here last.

Source: docs/spec/requirements.md S1-69, S1-70, S1-73; docs/spec/model.md §4 (Events).
"""

from __future__ import annotations

from typing import Any

from audit.event import Target
from substrate.memory.wire import principal, store_of
from substrate.scopes import access, paths
from substrate.scopes.caller import Caller
from substrate.store.model import LinkRow, MemoryRow, PrincipalRow
from substrate.store.transaction import Reader, Transaction


def added(tx: Transaction, caller: Caller, row: MemoryRow) -> None:
    """Record that a memory was written."""
    _record(tx, caller, "memory_added", row)


def superseded(tx: Transaction, caller: Caller, row: MemoryRow, by: str) -> None:
    """Record that the memory `by` took this one's place."""
    _record(tx, caller, "memory_superseded", row, superseded_by=by)


def retired(tx: Transaction, caller: Caller, row: MemoryRow) -> None:
    """Record that a memory was closed; its reason stands in the row."""
    _record(tx, caller, "memory_retired", row)


def deleted(tx: Transaction, caller: Caller, row: MemoryRow) -> None:
    """Record that a memory was forgotten."""
    _record(tx, caller, "memory_deleted", row)


def linked(tx: Transaction, caller: Caller, row: LinkRow, namespace: str) -> None:
    """Record that a link between two memories was written in the namespace of its source."""
    payload = {"id": row.source_id, "target_id": row.target_id, "relation": row.relation, "by": principal(caller)}
    tx.event("memory_linked", subject=row.source_id, namespace=namespace, payload=payload, actor=caller.id)


def entry(caller: Caller, row: MemoryRow) -> dict[str, Any]:
    """Return the payload of an event about a memory: exactly id, store, member_id, role and by. Source: S1-69."""
    agent = paths.kind_of(row.namespace) == "agent"
    return {
        "id": row.id,
        "store": store_of(row.namespace),
        "member_id": paths.subject_of(row.namespace) if agent else None,
        "role": paths.role_of(row.namespace),
        "by": principal(caller),
    }


def audience(r: Reader, namespace: str) -> list[Target]:
    """List who is told of a change in a namespace.

    An agent's memory: the agent and, where it is a member too, its owner, in every project of the agent. A role's: the
    role. A project's: all its members. A user's: the user. Any other: all. Source: S1-70.
    """
    kind, subject, project = paths.kind_of(namespace), paths.subject_of(namespace), paths.project_of(namespace)
    if kind == "agent" and subject is not None:
        return _of_agent(r, subject)
    if kind == "user":
        return [f"member:{subject}"]
    if project is None:
        return ["all"]
    role = paths.role_of(namespace)
    return [(project, f"role:{role}" if role else "all")]


def _of_agent(r: Reader, agent: str) -> list[Target]:
    row = r.get(PrincipalRow, agent)
    owner = row.owner_id if row else None
    owned = {m.project for m in access.memberships_of(r, owner)} if owner else set()
    told: list[Target] = [f"member:{agent}"]
    for membership in access.memberships_of(r, agent):
        told.append((membership.project, f"member:{agent}"))
        if membership.project in owned:
            told.append((membership.project, f"member:{owner}"))
    return told


def _record(tx: Transaction, caller: Caller, type: str, row: MemoryRow, **more: str) -> None:
    told = audience(tx, row.namespace)
    payload = entry(caller, row) | more
    tx.event(type, subject=row.id, namespace=row.namespace, payload=payload, audience=told, actor=caller.id)
