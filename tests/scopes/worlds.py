"""Draw small worlds in which most relations and policies occur, and the questions to ask in them."""

from hypothesis import strategies as st

from substrate.scopes.caller import Caller
from substrate.store.model import MembershipRow, NamespaceRow, PrincipalRow
from tests.scopes.oracle import World

THEN = "2026-05-14T09:30:00.000000Z"
HUMANS = ("hum-1", "hum-2", "hum-3")
AGENTS = ("agt-1", "agt-2", "agt-3")
PROJECTS = ("projects/acme/one", "projects/acme/two")
ROLES = ("builder", "reviewer")
PATHS = (
    "global",
    *(f"agents/{id}" for id in (*AGENTS, "agt-nobody", "hum-1")),
    *(f"users/{id}" for id in (*HUMANS, "hum-nobody", "agt-1")),
    *PROJECTS,
    "projects/acme/absent",
    *(f"{project}/roles/{role}" for project in PROJECTS for role in ROLES),
    "team",
    "team/alpha",
    "team/alpha/notes",
    "elsewhere",
)


def some(values: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from(values)


def maybe(values: tuple[str, ...]) -> st.SearchStrategy[str | None]:
    return st.none() | some(values)


def lists() -> st.SearchStrategy[str | list[str]]:
    return st.just("all") | st.lists(some(HUMANS + AGENTS), min_size=1, max_size=3, unique=True)


def policies(path: str) -> st.SearchStrategy[dict[str, object]]:
    if path.startswith("agents/"):
        fields = {"readers": st.sampled_from(["owner", "roster"])}
    elif path in PROJECTS:
        fields = {"agent_write": st.sampled_from(["propose", "direct"])}
    elif path.startswith(("users/", "projects/")):
        fields = {}
    else:
        fields = {"readers": lists(), "write": lists()}
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def principals(draw: st.DrawFn, id: str) -> PrincipalRow:
    agent = id.startswith("agt")
    return PrincipalRow(
        id=id,
        kind="agent" if agent else "human",
        handle=id.replace("-", ""),
        owner_id=draw(some(HUMANS)) if agent else None,
        lead_id=draw(maybe(HUMANS + AGENTS)) if agent else None,
        public_page=agent and draw(st.booleans()),
        created_at=THEN,
        retired_at=draw(st.sampled_from([None, None, None, THEN])),
    )


@st.composite
def memberships(draw: st.DrawFn, project: str, principal: str) -> MembershipRow:
    return MembershipRow(
        project=project,
        principal_id=principal,
        trust=draw(some(("owner", "admin", "member", "guest"))),
        role=draw(maybe(ROLES)),
        scopes=draw(st.sampled_from([(), ("members:admin",), ("project:admin",), ("members:admin", "project:admin")])),
        proxy_for=draw(maybe(HUMANS)) if principal.startswith("agt") else None,
        paused=draw(st.sampled_from([False, False, True])),
        isolated=draw(st.booleans()),
        preferences_included=draw(st.booleans()),
        owner_preferences=draw(st.booleans()),
        joined_at=THEN,
        left_at=draw(st.sampled_from([None, None, None, THEN])),
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    world = World({id: draw(principals(id)) for id in HUMANS + AGENTS})
    for path in PATHS:
        if not path.endswith(("nobody", "absent", "agents/hum-1", "users/agt-1")) and draw(st.integers(0, 4)):
            access = draw(st.sampled_from(["rw", "rw", "rw", "ro", "off"]))
            world.namespaces[path] = NamespaceRow(
                path=path, kind=kind(path), access=access, policy=draw(policies(path)), created_at=THEN
            )
    pairs = [(project, id) for project in PROJECTS for id in HUMANS + AGENTS]
    for project, id in draw(st.lists(st.sampled_from(pairs), max_size=9, unique=True)):
        world.memberships.append(draw(memberships(project, id)))
    return world


def kind(path: str) -> str:
    if path.startswith("projects/"):
        return "role" if "/roles/" in path else "project"
    return {"global": "global", "agents": "agent", "users": "user"}.get(path.split("/")[0], "plain")


@st.composite
def callers(draw: st.DrawFn) -> Caller:
    who = draw(some(("human", "agent", "curator", "hub", "stranger")))
    project = draw(st.sampled_from([None, *PROJECTS, "acme/one", "acme/elsewhere"]))
    if who == "curator":
        return Caller("ai:curator", "curator", "curator", instance=draw(maybe(AGENTS)))
    if who == "hub":
        return Caller("hub", "hub", "hub")
    if who == "stranger":
        return Caller("hum-stranger", "human", "stranger", project=project)
    id = draw(some(HUMANS if who == "human" else AGENTS))
    return Caller(id, "human" if who == "human" else "agent", id.replace("-", ""), project=project)
