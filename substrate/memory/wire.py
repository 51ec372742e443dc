"""Give memories the one JSON shape that every door answers with.

Pure. Source: docs/spec/model.md §5; docs/spec/requirements.md S1-32, S1-33, S1-36, S1-69.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from substrate.scopes import paths
from substrate.scopes.caller import Caller
from substrate.store.model import LinkRow, MemoryRow

_STORES = {"project": "community", "global": "plain"}


def wire(row: MemoryRow, derived_from: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the row as JSON: its columns, the author as one object `by`, and `deleted` for a tombstone, else null.

    `derived_from`, where it was asked for, lists the ids the memory rests on. `tags` and `sources` are never null.
    """
    document = {name: _plain(getattr(row, name)) for name in row.columns() if not name.startswith("by_")}
    document["tags"] = document["tags"] or []
    document["sources"] = document["sources"] or []
    document["by"] = author(row)
    gone = row.status == "deleted"
    document["deleted"] = {"by": row.status_by, "reason": row.status_reason, "at": row.status_at} if gone else None
    if derived_from is not None:
        document["derived_from"] = list(derived_from)
    return document


def wire_link(row: LinkRow) -> dict[str, Any]:
    """Return the link as JSON: its columns."""
    return {name: getattr(row, name) for name in row.columns()}


def author(row: MemoryRow) -> dict[str, str | None]:
    """Return who wrote the row, in the shape of `principal`."""
    return {
        "kind": row.by_kind,
        "id": row.by_id,
        "handle": row.by_handle,
        "instance": row.by_instance,
        "project": row.by_project,
        "session": row.by_session,
    }


def principal(caller: Caller) -> dict[str, str | None]:
    """Return a caller as the object `by` of rows and events: ids and names, no text."""
    return {
        "kind": caller.kind,
        "id": caller.id,
        "handle": caller.handle,
        "instance": caller.instance,
        "project": caller.project,
        "session": caller.session,
    }


def store_of(namespace: str) -> str:
    """Return the store a namespace is on the wire: agent, role, community, user or plain."""
    kind = paths.kind_of(namespace)
    return _STORES.get(kind, kind)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
