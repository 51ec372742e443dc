"""Hold what a store may keep against what it keeps, inside the writing transaction.

Agent, role and project memory have caps of their own; elsewhere only a policy sets one. Only live entries count: see
`draft.is_entry`. Nothing is ever pushed out to make room.

Source: docs/spec/requirements.md S1-35, S1-56, S1-57, S1-58; docs/spec/model.md §3 C9.
"""

from __future__ import annotations

from substrate import limits
from substrate.errors import Invalid, MemoryFull
from substrate.memory.draft import STORES, is_entry
from substrate.memory.wire import store_of
from substrate.scopes import namespaces, paths
from substrate.store.model import MemoryRow
from substrate.store.transaction import Transaction

_LIVE = (
    "SELECT coalesce(sum(size_bytes), 0) FROM memories WHERE namespace = ? AND status = 'active'"
    " AND memory_kind = 'observation' AND memory_type NOT IN ('episode', 'document') AND origin IN ('agent', 'human')"
)


def check(tx: Transaction, row: MemoryRow, old: MemoryRow | None = None) -> None:
    """Raise when one entry more does not fit; `old` is the entry it replaces, whose bytes it frees.

    Invalid when the entry alone is over the namespace's cap, MemoryFull (details store, cap, used) over the total.
    """
    if not is_entry(row):
        return
    most = namespaces.policy(tx, row.namespace, "caps.entry_bytes")
    if most is not None and row.size_bytes > most:
        raise Invalid(
            f"content has {row.size_bytes:,} bytes, at most {most:,} in {row.namespace}",
            hint="shorten it, or split it into several",
            fields={"content": "too_long"},
        )
    cap = namespaces.policy(tx, row.namespace, "caps.total_bytes")
    if cap is None:
        cap = limits.STORE_BYTES if paths.kind_of(row.namespace) in STORES else None
    if cap is None or row.origin not in ("agent", "human"):
        return
    freed = old.size_bytes if old is not None and is_entry(old) and old.origin in ("agent", "human") else 0
    used = int(tx.query(_LIVE, (row.namespace,))[0][0]) - freed
    if used + row.size_bytes > cap:
        raise MemoryFull(
            f"{row.namespace} is full: {used:,} of {cap:,} bytes are used and this entry has {row.size_bytes:,}",
            hint="forget or retire what is no longer needed; nothing is removed by itself",
            store=store_of(row.namespace),
            cap=cap,
            used=used,
        )
