"""Actions on namespaces, memberships and principals.

Source: docs/spec/model.md §5 (space, who).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from audit import keys
from substrate.actions.registry import Json, action
from substrate.home import Memory, new_key
from substrate.scopes import access, credentials, memberships, namespaces, paths, principals
from substrate.scopes.rules import Verdict
from substrate.store.model import CredentialRow, PrincipalRow
from substrate.texts import projections

_LOG = logging.getLogger("substrate.texts")


@action("space_add", writes=True)
def space_add(memory: Memory, *, path: str) -> Json:
    """Make a namespace; a new project gets the human who makes it as its first admin."""
    with memory.write() as tx:
        return asdict(namespaces.create(tx, memory.caller, path))


@action("space_list", writes=False)
def space_list(memory: Memory) -> Json:
    """List the namespaces the caller may read, with the number of active memories in each."""
    with memory.read() as r:
        rows = namespaces.list_(r, memory.caller)
        counts = dict(r.query("SELECT namespace, count(*) FROM memories WHERE status = 'active' GROUP BY namespace"))
    return {"items": [asdict(row) | {"memories": counts.get(row.path, 0)} for row in rows]}


@action("space_show", writes=False)
def space_show(memory: Memory, *, path: str) -> Json:
    """Show a namespace: its access, the policy in force and where each part of it comes from, its members."""
    with memory.read() as r:
        place = namespaces.resolve(r, path)
        access.check(r, memory.caller, "read", place)
        policy = namespaces.effective(r, memory.caller, place)
        project = paths.project_of(place)
        members = memberships.of(r, memory.caller, project) if project else []
        row = next((row for row in namespaces.list_(r, memory.caller) if row.path == place), None)
    return {
        "path": place,
        "kind": paths.kind_of(place),
        "access": row.access if row else "rw",
        "exists": row is not None,
        "policy": {name: {"value": value, "from": origin} for name, (value, origin) in policy.items()},
        "members": [asdict(member) for member in members],
    }


@action("space_policy", writes=True)
def space_policy(memory: Memory, *, path: str, field: str, value: Any) -> Json:
    """Set one field of a namespace's policy; null takes it away, so that the namespace above decides again."""
    with memory.write() as tx:
        row = namespaces.set_policy(tx, memory.caller, path, field, value)
    _tidy(memory)
    return asdict(row)


@action("space_access", writes=True)
def space_access(memory: Memory, *, path: str, access: str) -> Json:
    """Make a namespace read-write (rw), read-only (ro) or closed (off)."""
    with memory.write() as tx:
        row = namespaces.set_access(tx, memory.caller, path, access)
    _tidy(memory)
    return asdict(row)


def _tidy(memory: Memory) -> None:
    """Take away the files that are no longer asked for, and warn of those that stay."""
    swept = projections.tidy(memory.db)
    for error in (*swept.kept, *swept.left):
        _LOG.warning("%s; hint: %s", error.message, error.hint)


@action("space_member", writes=True)
def space_member(
    memory: Memory,
    *,
    project: str,
    principal: str,
    trust: str = "member",
    role: str | None = None,
    scopes: Sequence[str] = (),
    leave: bool = False,
) -> Json:
    """Add a principal to a project or change its terms there; ``leave`` ends the membership."""
    with memory.write() as tx:
        if leave:
            return asdict(memberships.leave(tx, memory.caller, project, principal))
        return asdict(memberships.add(tx, memory.caller, project, principal, trust=trust, role=role, scopes=scopes))


@action("space_accept", writes=True)
def space_accept(memory: Memory, *, project: str, principal: str | None = None) -> Json:
    """Agree to a membership that somebody else made: the human itself does, for an agent its owner."""
    with memory.write() as tx:
        return asdict(
            memberships.accept(tx, memory.caller, project, memory.caller.id if principal is None else principal)
        )


@action("who_add", writes=True)
def who_add(memory: Memory, *, kind: str, handle: str, owner: str | None = None, lead: str | None = None) -> Json:
    """Add a human or an agent, with a key of its own in this home's folder of keys."""
    principals.check_handle(handle)
    with memory.read() as r:
        access.check(r, memory.caller, "write", paths.GLOBAL)
    principal_id = memory.db.new_id(principals.PREFIXES.get(kind, "agt"))
    with new_key(memory.db, principal_id) as key, memory.write() as tx:
        row = principals.register(
            tx, memory.caller, kind, handle, owner=owner, lead=lead, public_key=key.public, id=principal_id
        )
    return _principal(row) | {"key_id": key.key_id}


@action("who_list", writes=False)
def who_list(memory: Memory) -> Json:
    """List the principals of this store by handle."""
    with memory.read() as r:
        return {"items": [_principal(row) for row in principals.everyone(r)]}


@action("who_show", writes=False)
def who_show(memory: Memory, *, principal: str) -> Json:
    """Show a principal, whether its key is sealed and, to whoever may change them, its credentials."""
    with memory.read() as r:
        row = principals.by_handle_or_id(r, principal)
        scope = paths.scope_of(row.kind, row.id)
        may = access.ruling(r, memory.caller, "credentials", scope).verdict == Verdict.YES
        held = credentials.of(r, memory.caller, row.id) if may else []
    return _principal(row) | {"credentials": [_credential(item) for item in held]}


@action("who_token", writes=True)
def who_token(memory: Memory, *, principal: str, instance: str | None = None) -> Json:
    """Make a bearer token; it is shown this once and kept only as a hash."""
    with memory.write() as tx:
        row = principals.by_handle_or_id(tx, principal)
        credential, token = credentials.add_token(tx, memory.caller, row.id, instance=instance)
    return _credential(credential) | {"token": token}


@action("who_key", writes=True)
def who_key(memory: Memory, *, principal: str, public_key: str, instance: str | None = None) -> Json:
    """Register a public key of a principal."""
    with memory.write() as tx:
        row = principals.by_handle_or_id(tx, principal)
        return _credential(credentials.add_key(tx, memory.caller, row.id, public_key, instance=instance))


@action("who_revoke", writes=True)
def who_revoke(memory: Memory, *, credential: str) -> Json:
    """End a credential."""
    with memory.write() as tx:
        return _credential(credentials.revoke(tx, memory.caller, credential))


@action("who_retire", writes=True)
def who_retire(memory: Memory, *, principal: str) -> Json:
    """End a principal: it reads and writes nothing any more, and what it wrote stays."""
    with memory.write() as tx:
        return _principal(principals.retire(tx, memory.caller, principal))


def _principal(row: PrincipalRow) -> Json:
    return {
        "id": row.id,
        "kind": row.kind,
        "handle": row.handle,
        "owner_id": row.owner_id,
        "lead_id": row.lead_id,
        "sealed": row.sealed,
        "created_at": row.created_at,
        "retired_at": row.retired_at,
    }


def _credential(row: CredentialRow) -> Json:
    """Show a credential without what proves it."""
    return {
        "id": row.id,
        "principal_id": row.principal_id,
        "kind": row.kind,
        "instance": row.instance,
        "key_id": keys.key_id(row.public_key) if row.public_key else None,
        "created_at": row.created_at,
        "revoked_at": row.revoked_at,
    }
