"""One small world with somebody in every relation, and the matrix of what each of them may do.

`matrix.csv` beside this file is the golden copy: checked by hand against docs/spec/model.md, changed only on purpose.
`python -m tests.scopes.cast` writes it and docs/spec/access.md anew.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from substrate.scopes import access, paths
from substrate.scopes.caller import CURATOR, HUB, Caller
from substrate.scopes.relations import RELATIONS, Standing, Target
from substrate.scopes.rules import ACTIONS, CONDITIONS, RULES, Rule, Ruling, Verdict, rule
from substrate.store.model import MembershipRow, NamespaceRow, PrincipalRow
from tests.scopes.oracle import World

GOLDEN = Path(__file__).parent / "matrix.csv"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "spec" / "access.md"
HEADINGS = {
    "agent": "Agent memory: `agents/<id>`",
    "user": "User memory: `users/<id>`",
    "project": "Project memory: `projects/<owner>/<name>`",
    "role": "Role memory: `projects/<owner>/<name>/roles/<role>`",
    "plain": "Open namespaces: `global` and free paths",
}
INTRODUCTION = """# Access
<!-- Written by `python -m tests.scopes.cast`: change the rules in substrate/scopes/rules.py, then run it. -->

Every read and every write asks one function, and this page is the table it reads. A caller stands in *relations* to a
scope; a *grant* answers callers in one of its relations, where its condition holds; the best grant decides. Where no
grant applies, the answer is `forbidden` for a caller that may read there and `not_found` (shown as `·`) for one that
may not: what a caller may not read does not exist for it, down to the words of the error.

Two things stand above the table. A namespace whose access is `off` shows no memory to anybody, and in one that is `ro`
none changes; both hold beneath the path too. A row restricted to some agents (`applies_to`) does not exist for the
others, and the curator sees it only while it works for one of them.

`tests/scopes/matrix.csv` holds the answers in every state, policies included; an oracle written from the prose alone
is compared with the table over random worlds.
"""
THEN = "2026-05-14T09:30:00.000000Z"
AGENT, USER, PROJECT, ROLE, PLAIN = (
    "agents/agt-x",
    "users/hum-u",
    "projects/a/one",
    "projects/a/one/roles/r",
    "team/alpha",
)
ONE, TWO, THREE, FOUR, FIVE = (f"projects/a/{name}" for name in ("one", "two", "three", "four", "five"))

# name: (principal, its fields, its memberships, the project it acts in)
CAST: dict[str, tuple[str, dict[str, str], dict[str, dict[str, object]], str | None]] = {
    "agent X, holds role r": (
        "agt-x",
        {"owner_id": "hum-owner", "lead_id": "hum-lead"},
        {
            ONE: {"role": "r"},
            TWO: {"trust": "guest", "role": "r"},
            THREE: {"isolated": True},
            FIVE: {"trust": "guest", "isolated": True},
        },
        ONE,
    ),
    "agent X, as a guest elsewhere": ("agt-x", {}, {}, TWO),
    "agent X, isolated elsewhere": ("agt-x", {}, {}, THREE),
    "agent X, an isolated guest elsewhere": ("agt-x", {}, {}, FIVE),
    "owner of X": ("hum-owner", {}, {}, None),
    "lead of X": ("hum-lead", {}, {}, None),
    "human U, trust owner": (
        "hum-u",
        {},
        {ONE: {"trust": "owner"}, TWO: {"preferences_included": False}, FOUR: {}},
        None,
    ),
    "human, trust admin, no scopes": ("hum-trusted", {}, {ONE: {"trust": "admin"}}, None),
    "human, members:admin": ("hum-members", {}, {ONE: {"scopes": ("members:admin",)}}, None),
    "human, project:admin": ("hum-project", {}, {ONE: {"scopes": ("project:admin",)}}, None),
    "human, member, holds role r": ("hum-member", {}, {ONE: {"role": "r"}}, None),
    "human, guest, holds role r": ("hum-guest", {}, {ONE: {"trust": "guest", "role": "r"}}, None),
    "human, both scopes elsewhere": (
        "hum-elsewhere",
        {},
        {FOUR: {"trust": "owner", "role": "r", "scopes": ("members:admin", "project:admin")}},
        None,
    ),
    "human of no project": ("hum-none", {}, {}, None),
    "human, both scopes, retired": (
        "hum-retired",
        {"retired_at": THEN},
        {ONE: {"trust": "owner", "scopes": ("members:admin", "project:admin")}},
        None,
    ),
    "human, not registered": ("hum-nobody", {}, {}, None),
    "agent, trust admin": ("agt-admin", {}, {ONE: {"trust": "admin"}}, None),
    "agent, guest, holds role r": ("agt-guest", {}, {ONE: {"trust": "guest", "role": "r"}}, None),
    "agent, other role": (
        "agt-other",
        {},
        {ONE: {"role": "q", "scopes": ("members:admin", "project:admin")}},  # scopes an agent cannot use
        None,
    ),
    "agent, proxy of U in one": ("agt-proxy", {}, {ONE: {"role": "proxy", "proxy_for": "hum-u"}}, None),
    "agent, proxy of U in four": ("agt-proxy4", {}, {FOUR: {"role": "proxy", "proxy_for": "hum-u"}}, None),
    "agent, with U where U is not included": ("agt-two", {}, {TWO: {}}, None),
    "agent of U, given preferences": ("agt-given", {"owner_id": "hum-u"}, {THREE: {"owner_preferences": True}}, None),
    "agent of U, not given": ("agt-own", {"owner_id": "hum-u"}, {THREE: {}}, None),
    "agent of no project": ("agt-none", {}, {}, None),
    "agent that left": ("agt-left", {}, {ONE: {"trust": "admin", "role": "r", "left_at": THEN}}, None),
}
SYSTEM = {
    "curator": CURATOR,
    "curator, session of X": replace(CURATOR, instance="agt-x"),
    "curator, other session": replace(CURATOR, instance="agt-other"),
    "hub": HUB,
}
LISTED = ["agt-x", "hum-member", "hum-none"]
# scope: {state: (fields of the namespace's row, what else differs)}
SCOPES: dict[str, dict[str, dict[str, object]]] = {
    AGENT: {"default": {}, "readers: roster": {"policy": {"readers": "roster"}}, "public page": {}},
    USER: {"default": {}},
    PROJECT: {"default": {}, "agent_write: direct": {"policy": {"agent_write": "direct"}}},
    ROLE: {"default": {}},
    "global": {"default": {}},
    PLAIN: {
        "default": {},
        "of a row the caller wrote": {},
        "readers: X, member, human": {"policy": {"readers": LISTED}},
        "write: X, member, human": {"policy": {"write": LISTED}},
        "absent": {},
    },
}
for _states in SCOPES.values():
    _states |= {"access: ro": {"access": "ro"}, "access: off": {"access": "off"}}


def principal(id: str, **fields: object) -> PrincipalRow:
    human = id.startswith("hum")
    row = PrincipalRow(id=id, kind="human" if human else "agent", handle=id, created_at=THEN)
    return replace(row, **({} if human else {"owner_id": "hum-owner"}) | fields)


def world() -> World:
    made = World()
    for id, fields, memberships, _ in CAST.values():
        if id not in made.principals and id != "hum-nobody":
            made.principals[id] = principal(id, **fields)
        for project, terms in memberships.items():
            made.memberships.append(
                MembershipRow(project=project, principal_id=id, joined_at=THEN, **{"trust": "member"} | terms)
            )
    return made


def callers() -> dict[str, Caller]:
    named = {
        name: Caller(id, "human" if id.startswith("hum") else "agent", id, project=project)
        for name, (id, _, _, project) in CAST.items()
    }
    return named | SYSTEM


def facts(world: World, caller: Caller, path: str, author: str | None = None) -> tuple[Standing, Target]:
    """Gather from a world what `access` gathers from a store."""
    subject = paths.subject_of(path) or ""
    target = access.target(path, world.namespaces, world.principals.get(subject), world.of(subject))
    return access.standing(caller, world.principals.get(caller.id), world.of(caller.id)), replace(target, author=author)


def states() -> Iterator[tuple[str, str, World]]:
    """Yield each scope in each of its states."""
    for path, variants in SCOPES.items():
        for state, fields in variants.items():
            made = world()
            if state != "absent":
                kind = paths.kind_of(path)
                made.namespaces[path] = replace(NamespaceRow(path=path, kind=kind, created_at=THEN), **fields)
            if state == "public page":
                made.principals["agt-x"] = replace(made.principals["agt-x"], public_page=True)
            yield path, state, made


def cell(found: Ruling) -> str:
    """Write a ruling in a word: yes, propose, no with its reason, or `·` for what does not exist."""
    if found.verdict == Verdict.FORBIDDEN:
        return f"no: {found.reason}" if found.reason != "not_allowed" else "no"
    return {Verdict.YES: "yes", Verdict.PROPOSE: "propose", Verdict.NOT_FOUND: "·"}[found.verdict]


def matrix(kind: str = "", *asked: str) -> Iterator[tuple[str, ...]]:
    """Yield a row for each scope (of one kind), state and caller: what each action (or those asked) answers."""
    actions = asked or tuple(ACTIONS)
    yield ("scope", "state", "caller", *actions)
    for path, state, made in states():
        if kind in ("", paths.kind_of(path)):
            for name, caller in callers().items():
                author = caller.id if state == "of a row the caller wrote" else None
                standing, target = facts(made, caller, path, author)
                yield (path, state, name, *(cell(rule(standing, action, target)) for action in actions))


def golden() -> str:
    """Write the whole matrix as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(matrix())
    return out.getvalue()


def page() -> str:
    """Write docs/spec/access.md: the rules in words, and the matrix where no policy is set."""
    text = INTRODUCTION
    text += "\n## Relations\n\n" + table(("relation", "who"), RELATIONS.items())
    text += "\n## Actions\n\n" + table(("action", "what it is"), ACTIONS.items())
    text += "\n## Conditions\n\n" + table(("condition", "holds when"), ((n, c[0]) for n, c in CONDITIONS.items()))
    for kind, heading in HEADINGS.items():
        text += f"\n## {heading}\n\n" + table(("action", "grants"), ((a, grants(r)) for a, r in RULES[kind].items()))
        text += "\nIn the small world of the tests, without a policy:\n\n" + example(kind)
    return text


def grants(rule_: Rule) -> str:
    """Write a rule as a line of text."""
    parts = []
    for grant in rule_:
        answer = "no" if grant.verdict == Verdict.FORBIDDEN else grant.verdict.name.lower()
        answer += f" (`{grant.reason}`)" if grant.verdict == Verdict.FORBIDDEN else ""
        names = ", ".join(name for name in RELATIONS if name in grant.relations)
        parts.append(f"{answer}: {names}" + (f", where {grant.when}" if grant.when else ""))
    return "; ".join(parts) or "nobody"


def example(kind: str) -> str:
    """Write the default state of the first scope of a kind as a table of callers and actions."""
    head, *rows = matrix(kind, *RULES[kind])
    body = [row[2:] for row in rows if row[1] == "default"]
    return table(("caller", *(name.replace("_", " ") for name in head[3:])), body)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    GOLDEN.write_text(golden(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
