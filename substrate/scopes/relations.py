"""Tell how a caller stands to a scope, from facts alone.

Pure: `access` gathers the facts, `rules` says what each relation admits.

Source: docs/spec/model.md §4 (Access, the columns); docs/spec/requirements.md S1-37 to S1-50, S1-101, S1-120, S1-121.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from substrate.scopes import paths
from substrate.scopes.caller import Caller
from substrate.store.model import MembershipRow, PrincipalRow

RELATIONS: Final = {
    "self": "the agent (S) or the human whose scope it is",
    "guest": "an agent acting as a guest, in its own scope (G), a project or an open namespace; a guest holding a role",
    "owner": "the human who owns the agent (O)",
    "lead": "the principal named as the agent's lead (L)",
    "holder": "a member who holds the role and is no guest (R)",
    "trusted": "a member with trust owner or admin (T); of an agent: in a project the agent is in",
    "members_admin": "a human with the scope members:admin (M); of an agent: in a project the agent is in",
    "project_admin": "a human with the scope project:admin (P)",
    "member": "any member of the project",
    "agent_member": "an agent that is a member and no guest",
    "included": "an agent in a project where the human is a member and lets preferences be included",
    "given": "an agent the human owns and lets have the owner's preferences in a project",
    "co_member": "an agent in a project where the human is a member",
    "proposer": "a co-member with trust owner or admin, or the human's proxy where the human has trust owner",
    "human": "any registered human",
    "agent": "any other registered agent (A); in an open namespace one that is no guest",
    "author": "an agent that is no guest, of a row it wrote itself",
    "curator": "the curator (C); in an agent's scope not while it works on another agent's session",
}
SCOPES: Final = {"members:admin": "members_admin", "project:admin": "project_admin"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of the caller: whether it is registered, who owns it, and its live memberships."""

    caller: Caller
    registered: bool = True
    owner_id: str | None = None
    memberships: tuple[MembershipRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is known of a scope: its row, the policy that holds for it, and the principal whose scope it is.

    `memberships` are the live memberships of that principal; `author` is the writer of the row in question, if any.
    """

    path: str
    exists: bool = True
    access: str = "rw"
    policy: Mapping[str, Any] = field(default_factory=dict)
    subject: PrincipalRow | None = None
    memberships: tuple[MembershipRow, ...] = ()
    author: str | None = None


def relations(standing: Standing, target: Target) -> frozenset[str]:
    """Name every relation the caller stands in to the scope; none for the unregistered, the retired and the hub."""
    caller, kind = standing.caller, paths.kind_of(target.path)
    if caller.kind == "curator":
        elsewhere = kind == "agent" and caller.instance not in (None, paths.subject_of(target.path))
        return frozenset() if elsewhere else frozenset({"curator"})
    if caller.kind == "hub" or not standing.registered:
        return frozenset()
    if kind == "agent":
        return frozenset(_to_agent(standing, target))
    if kind == "user":
        return frozenset({caller.kind} | _to_user(standing, target))
    if kind in ("project", "role"):
        return frozenset({caller.kind} | _to_project(standing, target.path))
    if caller.kind == "agent" and acts_as_guest(standing):
        return frozenset({"guest"})
    wrote = caller.kind == "agent" and target.author == caller.id
    return frozenset({caller.kind, "author"} if wrote else {caller.kind})


def acts_as_guest(standing: Standing) -> bool:
    """Tell whether the caller acts as a guest."""
    return _acts(standing, lambda membership: membership.trust == "guest")


def acts_isolated(standing: Standing) -> bool:
    """Tell whether the caller acts from an isolated membership."""
    return _acts(standing, lambda membership: membership.isolated)


def _acts(standing: Standing, how: Callable[[MembershipRow], bool]) -> bool:
    """Ask the membership the caller acts in. One that names none of its projects is what all its memberships make it,
    so leaving the project out does not free an agent that is a guest wherever it is.
    """
    named = standing.caller.project or ""
    project = named if named.startswith("projects/") else f"projects/{named}"
    acting = [m for m in standing.memberships if m.project == project] or standing.memberships
    return bool(acting) and all(how(membership) for membership in acting)


def _to_agent(standing: Standing, target: Target) -> set[str]:
    caller, agent = standing.caller, target.subject
    if agent is not None and caller.id == agent.id:
        return {"guest"} if acts_as_guest(standing) else {"self"}
    found: set[str] = {caller.kind}
    if agent is None:
        return found
    if agent.lead_id == caller.id:
        found.add("lead")
    if agent.owner_id == caller.id and caller.kind == "human":
        found.add("owner")
    for mine, _ in _shared(standing.memberships, target.memberships):
        if mine.trust in ("owner", "admin"):
            found.add("trusted")
        if caller.kind == "human" and "members:admin" in mine.scopes:
            found.add("members_admin")
    return found


def _to_user(standing: Standing, target: Target) -> set[str]:
    caller, human = standing.caller, target.subject
    if human is None or caller.kind == "human":
        return {"self"} if human is not None and caller.id == human.id else set()
    found: set[str] = set()
    if standing.owner_id == human.id and any(m.owner_preferences for m in standing.memberships):
        found.add("given")
    for mine, theirs in _shared(standing.memberships, target.memberships):
        found.add("co_member")
        if theirs.preferences_included:
            found.add("included")
        if mine.trust in ("owner", "admin") or (mine.proxy_for == human.id and theirs.trust == "owner"):
            found.add("proposer")
    return found


def _to_project(standing: Standing, path: str) -> set[str]:
    project, role, human = paths.project_of(path), paths.role_of(path), standing.caller.kind == "human"
    mine = next((membership for membership in standing.memberships if membership.project == project), None)
    if mine is None:
        return set()
    guest, holds = mine.trust == "guest", role is not None and mine.role == role
    found = {"member"}
    if guest and (holds or (role is None and not human)):
        found.add("guest")
    if not guest and not human:
        found.add("agent_member")
    if not guest and holds:
        found.add("holder")
    if mine.trust in ("owner", "admin"):
        found.add("trusted")
    if human:
        found |= {SCOPES[scope] for scope in mine.scopes if scope in SCOPES}
    return found


def _shared(
    mine: Iterable[MembershipRow], theirs: Iterable[MembershipRow]
) -> Iterable[tuple[MembershipRow, MembershipRow]]:
    """Pair memberships in one project. Where somebody is paused, nobody has a right over them through that project."""
    by_project = {membership.project: membership for membership in theirs if not membership.paused}
    return ((membership, by_project[membership.project]) for membership in mine if membership.project in by_project)
