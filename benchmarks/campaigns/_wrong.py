"""Builds of the store that are wrong on purpose: one check of tampering taken away while a block runs.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import audit.anchor
import audit.keys
import audit.verify
import substrate.store.inspection
import substrate.store.state
import substrate.store.transaction
from audit.anchor import Situation
from substrate.store.model import Row

WRONG = {
    "rows": "rows are not held against their commitments",
    "anchor": "the head is not held against the anchor",
    "signatures": "any signature passes",
}


@contextmanager
def build(name: str | None) -> Iterator[None]:
    """Run a block with the check called ``name`` taken away; None takes none."""
    with ExitStack() as stack:
        for module, function, instead in _CHANGES[name] if name else ():
            stack.enter_context(patch.object(module, function, instead))
        yield


def _unchecked(kind: type[Row], rows: Sequence[Sequence[Any]], expected: object) -> list[Row]:
    return [kind.from_values(values[:-1]) for values in rows]


_CHANGES: dict[str, tuple[tuple[Any, str, Callable[..., Any]], ...]] = {
    "rows": (
        (substrate.store.transaction, "verified", _unchecked),
        (substrate.store.state, "table_faults", lambda *_: []),
        (substrate.store.inspection, "table_faults", lambda *_: []),
    ),
    "anchor": (
        (audit.anchor, "judge", lambda *_: Situation.OK),
        (audit.verify._Walk, "check_anchor", lambda *_: True),
    ),
    "signatures": ((audit.keys, "verify_raw", lambda *_: True),),
}
