"""Pin a claim of a persona, so that every later version keeps it word for word. Source: docs/spec/persona.md §3."""

from __future__ import annotations

from dataclasses import replace

from curator.persona.reading import Read
from substrate.errors import Invalid, NotFound
from substrate.escape import quote
from substrate.memory import feed
from substrate.memory.wire import principal
from substrate.scopes import access
from substrate.scopes.caller import Caller
from substrate.store.model import ClaimRow
from substrate.store.transaction import Transaction

_DIGITS = 9  # of a number in reading order at most


def pin(tx: Transaction, caller: Caller, persona: Read, claim: str, *, pinned: bool) -> ClaimRow:
    """Pin a claim of the newest version, or let go of it; `claim` is its id or its number in reading order, from 1.

    A pinned claim stays, even where it is contradicted or there is little room, until it is let go or a source goes.
    What is so already is not written again. Raises Forbidden, NotFound for no such id, Invalid for no such number.
    """
    access.check(tx, caller, "write", persona.row.namespace)
    row = find(persona, claim)
    if row.pinned == pinned:
        return row
    changed = replace(row, pinned=pinned)
    tx.put(changed)
    tx.event(
        "claim_pinned",
        subject=row.persona_id,
        namespace=persona.row.namespace,
        payload={
            "persona_id": row.persona_id,
            "claim_id": row.claim_id,
            "pinned": pinned,
            "by": principal(caller),
        },
        audience=feed.audience(tx, persona.row.namespace),
        actor=caller.id,
    )
    return changed


def find(persona: Read, claim: str) -> ClaimRow:
    """Find a claim of a version by its id or its number in reading order."""
    asked = claim.strip()
    hint = "`ai-memory persona ENTITY --claims` lists them"
    if asked.isascii() and asked.isdigit():
        number = int(asked[: _DIGITS + 1])
        if not 1 <= number <= len(persona.claims):
            raise Invalid(f"this persona has no claim {quote(asked)}; it has {len(persona.claims)}", hint=hint)
        return persona.claims[number - 1]
    found = next((row for row in persona.claims if row.claim_id == asked), None)
    if found is None:
        raise NotFound(f"no claim {quote(asked)} in version {persona.row.persona_version} of this persona", hint=hint)
    return found
