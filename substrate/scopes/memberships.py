"""Members of a project: who they are, joining, changing, leaving.

Source: docs/spec/model.md §4; docs/spec/requirements.md S1-46, S1-47.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from substrate.errors import Invalid, Refused
from substrate.escape import quote
from substrate.scopes import access, paths, principals
from substrate.scopes.caller import Caller
from substrate.scopes.relations import SCOPES
from substrate.scopes.rules import Verdict
from substrate.store.model import MembershipRow, NamespaceRow, PrincipalRow
from substrate.store.transaction import Reader, Transaction

TRUST: Final = ("owner", "admin", "member", "guest")


def add(
    tx: Transaction,
    caller: Caller,
    project: str,
    principal: str,
    *,
    trust: str = "member",
    role: str | None = None,
    scopes: Sequence[str] = (),
    proxy_for: str | None = None,
    isolated: bool = False,
) -> MembershipRow:
    """Make a principal (handle or id) a member, or change the terms of one; what it chose itself stays.

    It takes a human with members:admin. Scopes go to humans only and never follow from trust; the last human with
    members:admin keeps that scope. A role's namespace is made with its first holder.

    Whoever is added by somebody else is paused until `accept`: it may read the project at once, but being a member
    gives nobody a right over its own memory before it, or the agent's owner, agrees.
    """
    path = paths.project_path(project)
    access.check(tx, caller, "members", path)
    member = principals.by_handle_or_id(tx, principal)
    _check_terms(member, trust, scopes, isolated)
    human = principals.by_handle_or_id(tx, proxy_for) if proxy_for else None
    if human is not None and human.kind != "human":
        raise Invalid(
            f"{human.handle} is an agent", hint="a proxy stands for a human", fields={"proxy_for": "humans_only"}
        )
    before = tx.get(MembershipRow, path, member.id)
    if before is None or before.left_at is not None:
        paused = not _is_own(tx, caller, member)
        before = MembershipRow(project=path, principal_id=member.id, trust=trust, paused=paused, joined_at=tx.now)
    after = replace(
        before,
        trust=trust,
        role=role,
        scopes=tuple(sorted(set(scopes))),
        proxy_for=human.id if human else None,
        isolated=isolated,
    )
    _keep_an_admin(tx, before, after)
    tx.put(after)
    if role is not None:
        _make_role(tx, f"{path}/roles/{role}")
    _record(tx, after)
    return after


def accept(tx: Transaction, caller: Caller, project: str, principal: str) -> MembershipRow:
    """Agree to a membership that somebody else made: the human itself does, for an agent its owner."""
    path = paths.project_path(project)
    member = principals.by_handle_or_id(tx, principal)
    access.check(tx, caller, "policy", paths.scope_of(member.kind, member.id))
    row = tx.get(MembershipRow, path, member.id)
    if row is None or row.left_at is not None:
        raise access.missing("member", principal)
    if not row.paused:
        return row
    row = replace(row, paused=False)
    tx.put(row)
    _record(tx, row)
    return row


def leave(tx: Transaction, caller: Caller, project: str, principal: str) -> MembershipRow:
    """End a membership. A human with members:admin may, the member itself when human, and an agent's owner."""
    path = paths.project_path(project)
    member = principals.by_handle_or_id(tx, principal)
    row = tx.get(MembershipRow, path, member.id)
    if row is None or row.left_at is not None:
        access.check(tx, caller, "members", path)
        raise access.missing("member", principal)
    if not _is_own(tx, caller, member):
        access.check(tx, caller, "members", path)
    after = replace(row, left_at=tx.now)
    _keep_an_admin(tx, row, after)
    tx.put(after)
    _record(tx, after)
    return after


def of(r: Reader, caller: Caller, project: str) -> list[MembershipRow]:
    """List the live members of a project to whoever reads it, in the order they joined."""
    path = paths.project_path(project)
    access.check(r, caller, "read", path)
    return r.select(MembershipRow, "project = ? AND left_at IS NULL", (path,), order="joined_at, principal_id")


def _is_own(tx: Transaction, caller: Caller, member: PrincipalRow) -> bool:
    return access.ruling(tx, caller, "policy", paths.scope_of(member.kind, member.id)).verdict == Verdict.YES


def _check_terms(member: PrincipalRow, trust: str, scopes: Sequence[str], isolated: bool) -> None:
    if member.retired_at is not None:
        raise Invalid(f"{member.handle} is retired", hint="name somebody else")
    if trust not in TRUST:
        raise Invalid(f"{quote(trust)} is no trust", hint=", ".join(TRUST), fields={"trust": "choice"})
    if unknown := sorted(set(scopes) - SCOPES.keys()):
        raise Invalid(f"{quote(unknown[0])} is no scope", hint=", ".join(SCOPES), fields={"scopes": "choice"})
    if scopes and member.kind != "human":
        raise Invalid(f"{member.handle} is an agent", hint="scopes go to humans", fields={"scopes": "humans_only"})
    if isolated and member.kind != "agent":
        raise Invalid(f"{member.handle} is a human", hint="agents are isolated", fields={"isolated": "agents_only"})


def _keep_an_admin(tx: Transaction, before: MembershipRow, after: MembershipRow) -> None:
    admin = "members:admin"
    if admin not in before.scopes or (admin in after.scopes and after.left_at is None):
        return
    others = tx.select(MembershipRow, "project = ? AND left_at IS NULL", (before.project,))
    if not any(admin in row.scopes for row in others if row.principal_id != before.principal_id):
        raise Refused(f"nobody else has members:admin in {quote(before.project)}", hint="give it to somebody first")


def _make_role(tx: Transaction, path: str) -> None:
    if tx.get(NamespaceRow, paths.parse(path)) is None:
        tx.put(NamespaceRow(path=path, kind="role", created_at=tx.now))


def _record(tx: Transaction, row: MembershipRow) -> None:
    payload: dict[str, object] = {"project": row.project, "member_id": row.principal_id}
    payload |= {"trust": row.trust, "role": row.role, "scopes": list(row.scopes)}
    payload |= {"paused": row.paused, "left": row.left_at is not None}
    tx.event(
        "membership_changed",
        subject=row.principal_id,
        namespace=row.project,
        payload=payload,
        audience=[(row.project, "all")],
    )
