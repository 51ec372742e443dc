"""Answer access questions from the prose, in straight ifs: what the table of rules is compared with.

Nothing of `substrate.scopes` is used here but the names of callers and rows, so that a slip in the table or in the
relations shows as a difference.
"""

from dataclasses import dataclass, field

from substrate.scopes.caller import Caller
from substrate.store.model import MembershipRow, NamespaceRow, PrincipalRow

NOT_FOUND, FORBIDDEN, PROPOSE, YES = "NOT_FOUND", "FORBIDDEN", "PROPOSE", "YES"


@dataclass
class World:
    """Hold everything that exists: principals by id, namespaces by path, memberships past and present."""

    principals: dict[str, PrincipalRow] = field(default_factory=dict)
    namespaces: dict[str, NamespaceRow] = field(default_factory=dict)
    memberships: list[MembershipRow] = field(default_factory=list)

    def of(self, principal: str) -> list[MembershipRow]:
        return [m for m in self.memberships if m.principal_id == principal and m.left_at is None]

    def member(self, project: str, principal: str) -> MembershipRow | None:
        return next((m for m in self.of(principal) if m.project == project), None)


def answer(world: World, caller: Caller, action: str, path: str, author: str | None = None) -> str:
    """Say YES, PROPOSE, FORBIDDEN or NOT_FOUND."""
    parts = path.split("/")
    if caller.kind == "hub":
        return NOT_FOUND
    if caller.kind != "curator":
        principal = world.principals.get(caller.id)
        if principal is None or principal.retired_at is not None:
            return NOT_FOUND
    if parts[0] == "agents":
        found = of_agent(world, caller, action, path, parts[1])
    elif parts[0] == "users":
        found = of_user(world, caller, action, path, parts[1])
    elif parts[0] == "projects" and len(parts) == 3:
        found = of_project(world, caller, action, path)
    elif parts[0] == "projects":
        found = of_role(world, caller, action, path, "/".join(parts[:3]), parts[4])
    else:
        found = of_open(world, caller, action, path, author)
    return shut(world, action, path, parts, found)


MEMORY_READS = ("read", "read_curated")
MEMORY_CHANGES = ("write", "write_curated", "edit_curated", "forget", "forget_curated")


def shut(world: World, action: str, path: str, parts: list[str], found: str) -> str:
    """Hold the answer against what exists and what is switched off or read only."""
    if path != "global" and path not in world.namespaces:
        first_write = parts[0] not in ("agents", "users") and not (parts[0] == "projects" and len(parts) == 3)
        if action != "create" and not (first_write and action in ("write", "write_curated", "policy")):
            return NOT_FOUND
    around = ["/".join(parts[:3]), path] if parts[0] == "projects" else prefixes(parts)
    states = {world.namespaces[place].access for place in around if place in world.namespaces}
    if "off" in states and action in MEMORY_READS + MEMORY_CHANGES:
        return NOT_FOUND
    if "ro" in states and action in MEMORY_CHANGES and found in (YES, PROPOSE):
        return FORBIDDEN
    return found


def prefixes(parts: list[str]) -> list[str]:
    if parts[0] in ("agents", "users"):
        return ["/".join(parts)]
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def guest_now(world: World, caller: Caller) -> bool:
    """A caller is a guest in the project it names; naming none of its own, it is one if it is nothing better."""
    mine = world.of(caller.id)
    if caller.project:
        full = caller.project if caller.project.startswith("projects/") else "projects/" + caller.project
        here = world.member(full, caller.id)
        if here is not None:
            return here.trust == "guest"
    return len(mine) > 0 and not any(m.trust != "guest" for m in mine)


def isolated_now(world: World, caller: Caller) -> bool:
    mine = world.of(caller.id)
    if caller.project:
        full = caller.project if caller.project.startswith("projects/") else "projects/" + caller.project
        here = world.member(full, caller.id)
        if here is not None:
            return here.isolated
    return len(mine) > 0 and not any(not m.isolated for m in mine)


def of_agent(world: World, c: Caller, action: str, path: str, agent_id: str) -> str:
    if action == "create":
        if c.kind == "human":
            return YES
        return FORBIDDEN if c.kind == "agent" else may_read_agent_at_all(world, c, path, agent_id)
    agent = world.principals.get(agent_id)
    if agent is None or agent.kind != "agent":
        agent = None
    itself = agent is not None and c.id == agent_id
    owner = agent is not None and c.kind == "human" and agent.owner_id == c.id
    lead = agent is not None and not itself and agent.lead_id == c.id
    curator = c.kind == "curator" and c.instance in (None, agent_id)
    reads_some = may_read_agent_at_all(world, c, path, agent_id)

    if action == "read":
        # S1-41: the agent, its owner, members:admin humans; the roster by policy; the lead only what is curated
        if curator or itself or owner or admin_over(world, c, agent) or roster(world, c, path):
            return YES
        return reads_some
    if action == "read_curated":
        return YES if reads_some == FORBIDDEN else NOT_FOUND
    if action == "write":
        # S1-37, S1-38: only the agent itself, and not as a guest; the curator by operation
        if curator or (itself and not guest_now(world, c)):
            return YES
        return reads_some
    if action == "write_curated":
        return YES if curator else reads_some
    if action == "forget":
        # S1-39: any instance of the agent, its owner, members:admin humans
        if (itself and not guest_now(world, c)) or owner or admin_over(world, c, agent):
            return YES
        return reads_some
    if action == "edit_curated":
        # C5, S0-79: owner or lead; never the agent itself; the curator by operation
        return YES if owner or lead or curator else reads_some
    if action in ("forget_curated", "policy", "credentials"):
        return YES if owner else reads_some
    return of_soul(world, c, action, agent, itself, owner)


def of_soul(world: World, c: Caller, action: str, agent: PrincipalRow | None, itself: bool, owner: bool) -> str:
    public = agent is not None and agent.public_page and c.kind in ("human", "agent")
    reads = itself or owner or public
    if action == "read_soul":
        return YES if reads else NOT_FOUND
    if action == "read_soul_outline":
        # the briefing view is for humans; an admin sees who and when, not the text
        trusted = (
            agent is not None
            and c.kind == "human"
            and any(
                m.trust in ("owner", "admin") or "members:admin" in m.scopes for m, _ in together(world, c.id, agent.id)
            )
        )
        return YES if itself or owner or trusted else FORBIDDEN if reads else NOT_FOUND
    if action in ("read_soul_versions", "rollback_soul"):
        return YES if owner else FORBIDDEN if reads else NOT_FOUND
    if action == "write_soul":
        # S1-19, S1-20: any instance from any membership but an isolated one
        if owner or (itself and not isolated_now(world, c)):
            return YES
        return FORBIDDEN if reads else NOT_FOUND
    return NOT_FOUND


def may_read_agent_at_all(world: World, c: Caller, path: str, agent_id: str) -> str:
    """FORBIDDEN for those who read something here and therefore know of it, NOT_FOUND for the rest."""
    if c.kind == "curator":
        return FORBIDDEN if c.instance in (None, agent_id) else NOT_FOUND
    agent = world.principals.get(agent_id)
    if agent is not None and agent.kind == "agent":
        if c.id == agent_id or agent.lead_id == c.id:
            return FORBIDDEN
        if c.kind == "human" and (agent.owner_id == c.id or admin_over(world, c, agent)):
            return FORBIDDEN
    return FORBIDDEN if roster(world, c, path) else NOT_FOUND


def roster(world: World, c: Caller, path: str) -> bool:
    return c.kind == "human" and path in world.namespaces and world.namespaces[path].policy.get("readers") == "roster"


def together(world: World, mine: str, theirs: str) -> list[tuple[MembershipRow, MembershipRow]]:
    """Pair the memberships of two principals in a project both are in and in which the second takes part."""
    return [(m, t) for m in world.of(mine) for t in world.of(theirs) if m.project == t.project and not t.paused]


def admin_over(world: World, c: Caller, agent: PrincipalRow | None) -> bool:
    """G3: humans with members:admin in a project the agent is in; trust alone gives nothing."""
    if agent is None or c.kind != "human":
        return False
    return any("members:admin" in m.scopes for m, _ in together(world, c.id, agent.id))


def of_user(world: World, c: Caller, action: str, path: str, human_id: str) -> str:
    if action == "create" and c.kind != "curator":
        return YES if c.kind == "human" else FORBIDDEN
    human = world.principals.get(human_id)
    human = human if human is not None and human.kind == "human" else None
    itself = human is not None and c.id == human_id
    agent_reads = human is not None and c.kind == "agent" and agent_reads_user(world, c, human_id)
    curator = c.kind == "curator"
    knows = FORBIDDEN if itself or agent_reads or curator else NOT_FOUND
    if action in ("read", "read_curated"):
        return YES if knows == FORBIDDEN else NOT_FOUND
    if action in ("write", "edit_curated"):
        return YES if itself or curator else knows
    if action == "write_curated":
        return YES if curator else knows
    if action in ("forget", "forget_curated", "policy", "credentials"):
        return YES if itself else knows
    if action == "create":
        return knows
    if action == "read_preferences":
        return YES if itself or agent_reads else NOT_FOUND
    if action == "write_preferences":
        return YES if itself else FORBIDDEN if agent_reads else NOT_FOUND
    if action == "propose_preferences":
        if human is not None and c.kind == "agent":
            pairs = together(world, c.id, human_id)
            if any(m.trust in ("owner", "admin") for m, _ in pairs):
                return YES
            if any(m.proxy_for == human_id and t.trust == "owner" for m, t in pairs):
                return YES
            if pairs:
                return FORBIDDEN
        return FORBIDDEN if itself or agent_reads else NOT_FOUND
    return NOT_FOUND


def agent_reads_user(world: World, c: Caller, human_id: str) -> bool:
    """S1-120 to S1-124: co-members while inclusion is on; an agent that its owner gave the owner's preferences."""
    if any(t.preferences_included for _, t in together(world, c.id, human_id)):
        return True
    return world.principals[c.id].owner_id == human_id and any(m.owner_preferences for m in world.of(c.id))


def of_project(world: World, c: Caller, action: str, path: str) -> str:
    if action == "create" and c.kind != "curator":
        return YES if c.kind == "human" else FORBIDDEN
    ns = world.namespaces.get(path)
    direct = ns is not None and ns.policy.get("agent_write") == "direct"
    if c.kind == "curator":
        if action == "write":
            return YES if direct else PROPOSE
        if action in ("read", "read_curated", "write_curated", "edit_curated"):
            return YES
        return FORBIDDEN if action in ("forget", "forget_curated", "policy", "create", "members") else NOT_FOUND
    me = world.member(path, c.id)
    if me is None:
        return NOT_FOUND
    if action in ("read", "read_curated"):
        return YES
    admin = c.kind == "human" and "project:admin" in me.scopes
    if action == "write":
        if admin:
            return YES
        if c.kind == "human":
            return FORBIDDEN  # S1-148
        return YES if direct and me.trust != "guest" else PROPOSE  # S1-49, S1-50, C7
    if action in ("edit_curated", "forget", "forget_curated", "policy"):
        return YES if admin else FORBIDDEN  # S1-48, S1-54
    if action == "members":
        return YES if c.kind == "human" and "members:admin" in me.scopes else FORBIDDEN
    return FORBIDDEN if action == "write_curated" else NOT_FOUND


def of_role(world: World, c: Caller, action: str, path: str, project: str, role: str) -> str:
    me = world.member(project, c.id)
    if c.kind == "curator" or me is None:
        return NOT_FOUND
    trusted = me.trust in ("owner", "admin")
    holds = me.role == role
    knows = FORBIDDEN if trusted or holds else NOT_FOUND
    admin = c.kind == "human" and "project:admin" in me.scopes
    if action in ("read", "read_curated"):
        return YES if knows == FORBIDDEN else NOT_FOUND  # S1-43, S1-44, S1-147
    if action in ("write", "forget"):
        return YES if trusted or (holds and me.trust != "guest") else knows
    if action in ("edit_curated", "forget_curated"):
        return YES if trusted and c.kind == "human" else knows
    if action == "policy":
        return YES if admin else knows
    if action == "create":
        return YES if trusted or admin or (holds and me.trust != "guest") else knows
    return knows if action == "write_curated" else NOT_FOUND


def of_open(world: World, c: Caller, action: str, path: str, author: str | None) -> str:
    if action not in MEMORY_READS + MEMORY_CHANGES + ("policy", "create"):
        return NOT_FOUND
    if c.kind == "curator":
        return FORBIDDEN if action in ("forget", "forget_curated", "policy") else YES
    if not on_list(world, path, "readers", c.id):
        return NOT_FOUND
    if action in MEMORY_READS:
        return YES
    if c.kind == "human":
        if action in ("write", "create"):
            return YES if on_list(world, path, "write", c.id) else FORBIDDEN
        return FORBIDDEN if action == "write_curated" else YES
    if guest_now(world, c):
        return FORBIDDEN
    if action in ("write", "create"):
        return YES if on_list(world, path, "write", c.id) else FORBIDDEN
    return YES if action == "forget" and author == c.id else FORBIDDEN


def on_list(world: World, path: str, name: str, who: str) -> bool:
    """Ask the nearest namespace on the path that says anything."""
    parts = path.split("/")
    while parts:
        ns = world.namespaces.get("/".join(parts))
        if ns is not None and name in ns.policy:
            return ns.policy[name] == "all" or who in ns.policy[name]
        parts.pop()
    return True
