"""Namespaces: making them, finding them, reading and setting their policy.

Source: docs/spec/model.md §3 C5-C9, §4; docs/spec/requirements.md S3-26, S4-41 to S4-44.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from substrate.errors import Conflict, Invalid, Refused
from substrate.escape import quote
from substrate.scopes import access, paths, policies, principals
from substrate.scopes.caller import Caller
from substrate.scopes.paths import kind_of, parse
from substrate.store.model import MembershipRow, NamespaceRow
from substrate.store.transaction import Reader, Transaction

__all__ = [
    "create",
    "effective",
    "ensure",
    "kind_of",
    "list_",
    "parse",
    "policy",
    "resolve",
    "set_access",
    "set_policy",
    "target_namespace",
]

ACCESS: Final = ("rw", "ro", "off")
TARGETS: Final = ("user", "current_workspace", "agent")


def resolve(r: Reader, path: str) -> str:
    """Return a path as it is stored: in `agents/…` and `users/…` a handle becomes the id it stands for."""
    head, _, name = parse(path).partition("/")
    if kind_of(path) not in ("agent", "user"):
        return path
    row = principals.find(r, name)
    return f"{head}/{row.id}" if row is not None else path


def target_namespace(caller: Caller, target: str) -> str:
    """Return the namespace of a write target: `user`, `current_workspace` or `agent`. Pure. Source: S4-41.

    A human is its own user by its credential. An agent speaks with many users: whose memory it writes is for a host's
    identity resolver to say, so here `user` is `Refused`.
    """
    if target == "user":
        if caller.kind != "human":
            raise Refused(
                "no trusted identity says which user this is",
                hint="write as the human, or let the host resolve the user",
                reason="no_resolver",
            )
        return paths.scope_of("user", caller.id)
    if target == "current_workspace":
        if not caller.project:
            raise Invalid(
                "there is no current workspace",
                hint="name a project: --project owner/name",
                fields={"target": "project"},
            )
        return paths.project_path(caller.project)
    if target == "agent":
        if caller.kind != "agent":
            raise Invalid(
                f"{caller.handle} is no agent", hint="write as the agent: --as AGENT", fields={"target": "agent"}
            )
        return paths.scope_of("agent", caller.id)
    raise Invalid(f"{quote(target)} is no target", hint=", ".join(TARGETS), fields={"target": "choice"})


def ensure(tx: Transaction, caller: Caller, path: str) -> NamespaceRow:
    """Return the namespace, made now if it is an open one or a role's that nobody wrote to yet.

    Records no event: the caller's own binds the row. Raises NotFound for an agent, user or project that does not
    exist, and what `access.check` raises when the caller may not make it.
    """
    if row := tx.get(NamespaceRow, path):
        return row
    if kind_of(parse(path)) not in ("global", "plain", "role"):
        raise access.missing("namespace", path)
    access.check(tx, caller, "create", path)
    row = NamespaceRow(path=path, kind=kind_of(path), created_at=tx.now)
    tx.put(row)
    return row


def create(tx: Transaction, caller: Caller, path: str) -> NamespaceRow:
    """Make a namespace before anything is written to it. `Conflict` when it exists.

    A project is made by a human, who joins it with trust owner and both scopes, members:admin and project:admin.
    Agents and users get their namespace when they are registered.
    """
    kind = kind_of(parse(path))
    if kind in ("agent", "user"):
        raise Invalid(f"{quote(path)} is made by registering a principal", hint="`ai-memory who add`")
    access.check(tx, caller, "create", path)
    if tx.get(NamespaceRow, path):
        raise Conflict(f"namespace {quote(path)} exists already", hint="choose another path")
    row = NamespaceRow(path=path, kind=kind, created_at=tx.now)
    tx.put(row)
    if kind != "project":
        tx.event("policy_changed", subject=path, namespace=path, payload={"namespace": path})
        return row
    scopes = ("members:admin", "project:admin")
    tx.put(MembershipRow(project=path, principal_id=caller.id, trust="owner", scopes=scopes, joined_at=tx.now))
    payload = {"project": path, "member_id": caller.id, "trust": "owner", "scopes": list(scopes)}
    tx.event("membership_changed", subject=caller.id, namespace=path, payload=payload, audience=[(path, "all")])
    return row


def list_(r: Reader, caller: Caller) -> list[NamespaceRow]:
    """List the namespaces the caller may read, by path."""
    found = access.readable(r, caller)
    return [row for row in r.select(NamespaceRow, order="path") if row.path in found]


def policy(r: Reader, path: str, field: str, default: Any = None) -> Any:
    """Return the value of a policy field that holds for a namespace: the nearest that is set, else `default`.

    Without a `default` it is the field's own. Raises Invalid for a field this kind of namespace does not know.
    """
    value, place = policies.resolve(_policies(r, path, field), path, field)
    return default if place is None and default is not None else value


def effective(r: Reader, caller: Caller, path: str) -> dict[str, tuple[Any, str | None]]:
    """Map each field a namespace knows to the value that holds and the namespace that set it, None for a default."""
    path = resolve(r, path)
    access.check(r, caller, "read", path)
    names = policies.names_of(path)
    return {name: policies.resolve(_policies(r, path, name), path, name) for name in names}


def set_policy(tx: Transaction, caller: Caller, path: str, field: str, value: Any) -> NamespaceRow:
    """Set one policy field, or with None leave it to the namespaces around; the rest stays.

    Principals in lists are given as handles or ids and kept as ids. A value that stands already records nothing.
    """
    path = resolve(tx, path)
    value = policies.check(path, field, value)
    access.check(tx, caller, "policy", path)
    if isinstance(value, list):
        value = sorted({principals.by_handle_or_id(tx, ref).id for ref in value})
        if field == "readers" and caller.id not in value:
            raise Invalid(
                "this would shut you out, and nobody could undo it for you", hint="put yourself on the list of readers"
            )
    before = tx.get(NamespaceRow, path)
    row = before or ensure(tx, caller, path)
    kept = {name: old for name, old in row.policy.items() if name != field}
    return _change(tx, before, replace(row, policy=kept if value is None else kept | {field: value}), field)


def set_access(tx: Transaction, caller: Caller, path: str, access_: str) -> NamespaceRow:
    """Set a namespace's access: rw, ro (no memory changes) or off (no memory shows). It holds beneath the path too."""
    path = resolve(tx, path)
    if access_ not in ACCESS:
        raise Invalid(f"{quote(access_)} is no access", hint=", ".join(ACCESS), fields={"access": "choice"})
    access.check(tx, caller, "policy", path)
    before = tx.get(NamespaceRow, path)
    return _change(tx, before, replace(before or ensure(tx, caller, path), access=access_), "access")


def _change(tx: Transaction, before: NamespaceRow | None, after: NamespaceRow, field: str) -> NamespaceRow:
    if after != before:
        tx.put(after)
        payload = {"namespace": after.path, "field": field}
        tx.event("policy_changed", subject=after.path, namespace=after.path, payload=payload)
    return after


def _policies(r: Reader, path: str, field: str) -> dict[str, policies.Policy]:
    return {place: row.policy for place in policies.asked(path, field) if (row := r.get(NamespaceRow, place))}
