"""Hold the access rules of every scope as data, and apply them.

A rule is one (kind of scope, action) with its grants. A grant admits a caller by a relation it stands in, under at most
one condition. The best grant that applies decides. Where none does, the answer is FORBIDDEN when the caller may read
there and NOT_FOUND when not: what a caller may not read does not exist for it.

Pure. docs/spec/access.md is generated from this table.

Source: docs/spec/model.md §4 (Scopes, Access) and §3 C5-C9; docs/spec/requirements.md S1-19 to S1-21, S1-29, S1-30,
S1-37 to S1-50, S1-85, S1-100 to S1-102, S1-120, S1-147, S1-148, S4-41 to S4-44.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from substrate.scopes import paths
from substrate.scopes.relations import Standing, Target, acts_isolated, relations


class Verdict(IntEnum):
    """What a rule answers, the better the higher."""

    NOT_FOUND = 0
    FORBIDDEN = 1
    PROPOSE = 2
    YES = 3


class Ruling(NamedTuple):
    """A verdict, and in one word why it is no YES."""

    verdict: Verdict
    reason: str = ""


class Grant(NamedTuple):
    """Answer `verdict` to callers in one of `relations`, where the condition named by `when` holds."""

    relations: frozenset[str]
    verdict: Verdict
    when: str = ""
    reason: str = ""


Rule = tuple[Grant, ...]


def _yes(relations: str, when: str = "") -> Grant:
    return Grant(frozenset(relations.split()), Verdict.YES, when)


def _propose(relations: str) -> Grant:
    return Grant(frozenset(relations.split()), Verdict.PROPOSE, reason="propose")


def _no(relations: str, reason: str, when: str = "") -> Grant:
    return Grant(frozenset(relations.split()), Verdict.FORBIDDEN, when, reason)


ACTIONS: Final = {
    "read": "read any memory of the scope",
    "read_curated": "read what the curator wrote: episodes, lessons, personas",
    "write": "add a memory; edit or retire one that people, agents or files wrote",
    "write_curated": "add what is derived from the scope's memories: personas, lessons, episodes",
    "edit_curated": "edit or retire what the curator wrote",
    "forget": "erase a memory that people, agents or files wrote",
    "forget_curated": "erase what the curator wrote",
    "policy": "set policy and access",
    "create": "make the scope (for agents and users: register the principal)",
    "credentials": "add and revoke keys and tokens",
    "members": "add and remove members",
    "read_soul": "read the newest soul",
    "read_soul_versions": "read every version of the soul",
    "read_soul_outline": "see version, writer and time of the soul in the briefing view",
    "write_soul": "write the soul",
    "rollback_soul": "roll the soul back",
    "read_preferences": "read the preferences text",
    "write_preferences": "write the preferences text",
    "propose_preferences": "propose a preferences text",
}

CONDITIONS: Final[Mapping[str, tuple[str, Callable[[Standing, Target], bool]]]] = {
    "roster": ("policy readers is roster", lambda s, t: t.policy.get("readers") == "roster"),
    "direct": ("policy agent_write is direct", lambda s, t: t.policy.get("agent_write") == "direct"),
    "reader": ("policy readers admits the caller", lambda s, t: _admits(s, t, "readers")),
    "writer": (
        "policies readers and write admit the caller",
        lambda s, t: _admits(s, t, "readers") and _admits(s, t, "write"),
    ),
    "public_page": ("the agent has a public page", lambda s, t: t.subject is not None and t.subject.public_page),
    "not_isolated": ("the membership is not isolated", lambda s, t: not acts_isolated(s)),
    "by_human": ("the caller is a human", lambda s, t: s.caller.kind == "human"),
}


def _admits(standing: Standing, target: Target, field: str) -> bool:
    listed = target.policy.get(field, "all")
    return listed == "all" or standing.caller.id in listed


_AGENT_READERS = (_yes("self guest owner members_admin curator"), _yes("human", "roster"))
_AGENT: dict[str, Rule] = {
    "read": _AGENT_READERS,
    "read_curated": (*_AGENT_READERS, _yes("lead")),
    "write": (_yes("self curator"), _no("guest", "guest")),
    "write_curated": (_yes("curator"),),
    "edit_curated": (_yes("owner lead curator"), _no("self guest", "curated")),
    "forget": (_yes("self owner members_admin"), _no("guest", "guest")),
    "forget_curated": (_yes("owner"), _no("self guest", "curated")),
    "policy": (_yes("owner"), _no("self guest", "humans_only")),
    "create": (_yes("human"), _no("self guest agent", "humans_only")),
    "credentials": (_yes("owner"), _no("self guest", "humans_only")),
    "read_soul": (_yes("self guest owner"), _yes("human agent", "public_page")),
    "read_soul_versions": (_yes("owner"),),
    "read_soul_outline": (_yes("self guest owner"), _yes("trusted members_admin", "by_human")),
    "write_soul": (_yes("owner"), _yes("self guest", "not_isolated"), _no("self guest", "isolated")),
    "rollback_soul": (_yes("owner"),),
}

_USER_READERS = (_yes("self included given curator"),)
_USER: dict[str, Rule] = {
    "read": _USER_READERS,
    "read_curated": _USER_READERS,
    "write": (_yes("self curator"),),
    "write_curated": (_yes("curator"),),
    "edit_curated": (_yes("self curator"), _no("included given", "curated")),
    "forget": (_yes("self"),),
    "forget_curated": (_yes("self"), _no("included given", "curated")),
    "policy": (_yes("self"),),
    "create": (_yes("human"), _no("agent", "humans_only")),
    "credentials": (_yes("self"),),
    "read_preferences": (_yes("self included given"),),
    "write_preferences": (_yes("self"), _no("included given", "humans_only")),
    "propose_preferences": (_yes("proposer"), _no("co_member", "may_not_propose")),
}

_PROJECT: dict[str, Rule] = {
    "read": (_yes("member curator"),),
    "read_curated": (_yes("member curator"),),
    "write": (
        _yes("project_admin"),
        _yes("agent_member curator", "direct"),
        _propose("agent_member guest curator"),
        _no("member", "project_admin_only"),
    ),
    "write_curated": (_yes("curator"),),
    "edit_curated": (_yes("project_admin curator"), _no("agent_member guest", "curated")),
    "forget": (_yes("project_admin"), _no("member", "project_admin_only")),
    "forget_curated": (_yes("project_admin"), _no("agent_member guest", "curated")),
    "policy": (_yes("project_admin"), _no("member", "project_admin_only")),
    "create": (_yes("human"), _no("agent", "humans_only")),
    "members": (_yes("members_admin"), _no("member", "members_admin_only")),
}

_ROLE_READERS = (_yes("holder guest trusted"),)
_ROLE: dict[str, Rule] = {
    "read": _ROLE_READERS,
    "read_curated": _ROLE_READERS,
    "write": (_yes("holder trusted"), _no("guest", "guest")),
    "write_curated": (),
    "edit_curated": (_yes("trusted", "by_human"), _no("holder guest trusted", "curated")),
    "forget": (_yes("holder trusted"), _no("guest", "guest")),
    "forget_curated": (_yes("trusted", "by_human"), _no("holder guest trusted", "curated")),
    "policy": (_yes("project_admin"), _no("holder guest trusted", "project_admin_only")),
    "create": (_yes("holder trusted project_admin"), _no("guest", "guest")),
}

_OPEN_READERS = (_yes("human agent guest", "reader"), _yes("curator"))
_OPEN_WRITERS = (_yes("human agent", "writer"), _yes("curator"), _no("guest", "guest", "reader"))
_OPEN: dict[str, Rule] = {
    "read": _OPEN_READERS,
    "read_curated": _OPEN_READERS,
    "write": _OPEN_WRITERS,
    "write_curated": (_yes("curator"),),
    "edit_curated": (_yes("human", "reader"), _yes("curator"), _no("agent guest", "curated", "reader")),
    "forget": (
        _yes("human author", "reader"),
        _no("agent", "not_the_author", "reader"),
        _no("guest", "guest", "reader"),
    ),
    "forget_curated": (_yes("human", "reader"), _no("agent guest", "curated", "reader")),
    "policy": (_yes("human", "reader"), _no("agent guest", "humans_only", "reader")),
    "create": _OPEN_WRITERS,
}

RULES: Final[Mapping[str, Mapping[str, Rule]]] = {
    "agent": _AGENT,
    "user": _USER,
    "project": _PROJECT,
    "role": _ROLE,
    "global": _OPEN,
    "plain": _OPEN,
}

READS: Final = frozenset({"read", "read_curated"})
CHANGES: Final = frozenset({"write", "write_curated", "edit_curated", "forget", "forget_curated"})
# What one has to be able to read for a refusal to say FORBIDDEN; memory, where nothing else is named.
_KNOWN_BY: Final = {
    **dict.fromkeys((action for action in ACTIONS if action.endswith(("_soul", "_versions", "_outline"))), "read_soul"),
    **dict.fromkeys((action for action in ACTIONS if action.endswith("_preferences")), "read_preferences"),
}
_MADE_BY_USE: Final = frozenset({"plain", "role"})
_BEFORE_IT_EXISTS: Final = frozenset({"write", "write_curated", "policy"})


def rule(standing: Standing, action: str, target: Target) -> Ruling:
    """Answer one question. An action that the kind of scope does not know admits nobody.

    A scope whose access is `off` shows no memory to anybody; in one that is `ro` none changes.
    """
    kind = paths.kind_of(target.path)
    absent = not target.exists and not (kind in _MADE_BY_USE and action in _BEFORE_IT_EXISTS) and action != "create"
    if absent or action not in RULES[kind] or (target.access == "off" and action in READS | CHANGES):
        return Ruling(Verdict.NOT_FOUND)
    stands = relations(standing, target)

    def best(asked: str) -> Ruling:
        found = Ruling(Verdict.NOT_FOUND)
        for grant in RULES[kind][asked]:
            better = grant.verdict > found.verdict and grant.relations & stands
            if better and (not grant.when or CONDITIONS[grant.when][1](standing, target)):
                found = Ruling(grant.verdict, grant.reason)
        return found

    found = best(action)
    if found.verdict == Verdict.NOT_FOUND and best(_KNOWN_BY.get(action, "read_curated")).verdict == Verdict.YES:
        return Ruling(Verdict.FORBIDDEN, "not_allowed")
    if target.access == "ro" and action in CHANGES and found.verdict > Verdict.FORBIDDEN:
        return Ruling(Verdict.FORBIDDEN, "read_only")
    return found
