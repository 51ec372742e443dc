"""The one access function: every read and every write asks here.

The rules are data in `rules`; this module gathers the facts they look at. What a caller may not read is answered like
what does not exist: same error, same text.

Source: docs/spec/model.md §1.10 and §4 (Access); DESIGN §8.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from audit.event import Event
from substrate.errors import Forbidden, NotFound
from substrate.escape import quote
from substrate.scopes import paths, policies
from substrate.scopes.caller import Caller
from substrate.scopes.relations import Standing, Target
from substrate.scopes.rules import ACTIONS, Ruling, Verdict, rule
from substrate.store.model import MembershipRow, MemoryRow, NamespaceRow, PrincipalRow
from substrate.store.transaction import Reader, Transaction

# What an action on one row asks, for rows the curator wrote and for all others.
_ROW_ACTIONS: Final = {
    "read": ("read_curated", "read"),
    "write": ("edit_curated", "write"),
    "edit": ("edit_curated", "write"),
    "retire": ("edit_curated", "write"),
    "forget": ("forget_curated", "forget"),
}
_CURATED: Final = "#curated"  # marks a path of which only the curator's rows are readable; no path holds a '#'
_ACCESS_ORDER: Final = ("rw", "ro", "off")
_LOOKED_AT: Final = frozenset(row.TABLE for row in (NamespaceRow, PrincipalRow, MembershipRow))
_ANSWERS: Final = 256  # answers kept, and events looked through to see whether one still holds
_answers: dict[tuple[str, Caller], tuple[int, str, frozenset[str]]] = {}
_HINTS: Final = {
    "propose": "file a proposal; a human with project:admin answers it",
    "guest": "a guest membership reads and does not write",
    "isolated": "write it from a membership that is not isolated",
    "curated": "what the curator wrote is corrected by the owner or the lead",
    "humans_only": "ask a human to do it",
    "read_only": "the namespace is read only: its access is ro",
    "project_admin_only": "it takes a human with project:admin",
    "members_admin_only": "it takes a human with members:admin",
    "not_the_author": "an agent erases what it wrote itself; a human erases the rest",
    "may_not_propose": "an admin agent, or the human's proxy, proposes preferences",
}


def missing(what: str, ref: object) -> NotFound:
    """Make the one answer for what is absent and for what the caller may not read; `what` is a word such as memory."""
    return NotFound(
        f"no {what} {quote(ref)}", hint="check the spelling; what you may not read is answered the same way"
    )


def check(r: Reader, caller: Caller, action: str, namespace: str) -> None:
    """Raise unless the caller may do this in the namespace.

    `NotFound` when it may not even read there, `Forbidden` (details.reason) when it may; PROPOSE counts as forbidden
    with the reason `propose`. "read" asks for the whole namespace: rows still pass `visible`. An open namespace need
    not exist yet to be written.
    """
    enforce(ruling(r, caller, action, namespace), action, "namespace", namespace)


def check_row(r: Reader, caller: Caller, action: str, row: MemoryRow) -> None:
    """Raise unless the caller may "read", "edit", "retire" or "forget" this memory, as `check` does.

    Here the row counts too: who wrote it, whether the curator did, and whom it applies to.
    """
    curated = row.origin == "curator"
    reading = _ROW_ACTIONS["read"][not _open_to_leads(row)]
    action = reading if action == "read" else _ROW_ACTIONS[action][not curated]
    stands, scope = facts_of(r, caller, row.namespace)
    scope = replace(scope, author=row.by_id)
    if rule(stands, reading, scope).verdict < Verdict.YES or not _applies(row, caller):
        raise missing("memory", row.id)
    enforce(rule(stands, action, scope), action, "memory", row.id)


def ruling(r: Reader, caller: Caller, action: str, namespace: str) -> Ruling:
    """Answer with the verdict itself, for callers that act on PROPOSE or on a reason."""
    stands, scope = facts_of(r, caller, namespace)
    return rule(stands, action, scope)


def enforce(found: Ruling, action: str, what: str, ref: str) -> None:
    """Raise what a ruling other than YES stands for."""
    if found.verdict == Verdict.NOT_FOUND:
        raise missing(what, ref)
    if found.verdict < Verdict.YES:
        raise Forbidden(
            f"you may not do this to {what} {quote(ref)}: {ACTIONS[action]}",
            hint=_HINTS.get(found.reason, "ask somebody who may"),
            reason=found.reason,
        )


def readable(r: Reader, caller: Caller) -> frozenset[str]:
    """Name every namespace the caller may read; `global` always exists.

    Of a namespace where only the curator's rows are readable the path stands with a mark that no path can hold, so it
    matches no namespace in a query and `visible` still finds it. Three bulk reads, whatever the number of namespaces;
    none while no event since the last answer touched what access looks at.
    """
    if isinstance(r, Transaction):
        return _readable(r, caller)
    key, head = (r.store_id, caller), r.head
    sequence, event_hash, found = _answers.get(key, (0, "", frozenset()))
    if event_hash != head.event_hash:
        if not (event_hash and untouched(r, sequence, event_hash, _LOOKED_AT)):
            found = _readable(r, caller)
        if len(_answers) >= _ANSWERS:
            _answers.clear()
        _answers[key] = (head.sequence, head.event_hash, found)
    return found


def untouched(r: Reader, sequence: int, event_hash: str, tables: Collection[str]) -> bool:
    """Tell whether no event after this one changed a row of these tables. A long way back counts as changed."""
    if r.head.sequence - sequence > _ANSWERS:
        return False
    events = r.events(after=sequence)
    touched = any(commit[0] in tables for event in events for commit in event.commits)
    return bool(events) and events[0].prev == event_hash and not touched


def _readable(r: Reader, caller: Caller) -> frozenset[str]:
    rows = {row.path: row for row in r.select(NamespaceRow)}
    subjects = {row.id: row for row in r.select(PrincipalRow)}
    memberships: dict[str, list[MembershipRow]] = {}
    for membership in r.select(MembershipRow, "left_at IS NULL"):
        memberships.setdefault(membership.principal_id, []).append(membership)
    stands = standing(caller, subjects.get(caller.id), memberships.get(caller.id, ()))
    found = set()
    for path in rows.keys() | {paths.GLOBAL}:
        subject = paths.subject_of(path) or ""
        scope = target(path, rows, subjects.get(subject), memberships.get(subject, ()))
        if rule(stands, "read", scope).verdict == Verdict.YES:
            found.add(path)
        elif rule(stands, "read_curated", scope).verdict == Verdict.YES:
            found.add(path + _CURATED)
    return frozenset(found)


def visible(row: MemoryRow, caller: Caller, paths: Collection[str]) -> bool:
    """Tell whether the caller may read this memory, given what `readable` answered. Pure."""
    within = row.namespace in paths or (_open_to_leads(row) and row.namespace + _CURATED in paths)
    return within and _applies(row, caller)


def renders(row: MemoryRow) -> bool:
    """Tell whether the curator only says in a row what its sources say: a persona, or a reflection on observations.

    Such a row belongs to its sources: it has no more readers than they, and falls with them.
    """
    distilled = row.memory_kind == "reflection" and row.memory_type == "fact"
    return row.origin == "curator" and (row.memory_kind == "persona" or distilled)


def _open_to_leads(row: MemoryRow) -> bool:
    """Tell whether a row is the curator's own, such as an episode or a lesson."""
    return row.origin == "curator" and not renders(row)


def sees(event: Event, paths: Collection[str]) -> bool:
    """Tell whether somebody who reads `paths` may read an event, and not only its hash. One of no namespace is open."""
    return event.namespace is None or event.namespace in paths


def _applies(row: MemoryRow, caller: Caller) -> bool:
    """Hold a row's restriction to agents against the caller: humans see every row.

    The curator sees a restricted row only while it works for one of the agents named, so that nothing derived from it
    reaches another.
    """
    if not row.applies_to or caller.kind == "human":
        return True
    return (caller.instance if caller.kind == "curator" else caller.id) in row.applies_to


def facts_of(r: Reader, caller: Caller, path: str) -> tuple[Standing, Target]:
    """Gather what the rules look at in a caller and in a namespace that need not exist. Raises Invalid for no path."""
    scope = _target_of(r, paths.parse(path))
    return _standing_of(r, caller, path), scope


def _standing_of(r: Reader, caller: Caller, path: str) -> Standing:
    """Read no more than the rules for this path look at: a row by its key costs least."""
    if caller.kind in ("curator", "hub"):
        return Standing(caller=caller)
    row, project = r.get(PrincipalRow, caller.id), paths.project_of(path)
    if project is not None:
        membership = r.get(MembershipRow, project, caller.id)
        return standing(caller, row, [membership] if membership and membership.left_at is None else [])
    if caller.kind == "human" and paths.kind_of(path) != "agent":
        return standing(caller, row, [])
    return standing(caller, row, memberships_of(r, caller.id))


def _target_of(r: Reader, path: str) -> Target:
    rows = {place: row for place in paths.chain(path) if (row := r.get(NamespaceRow, place))}
    subject = paths.subject_of(path)
    if subject is None:
        return target(path, rows, None, ())
    return target(path, rows, r.get(PrincipalRow, subject), memberships_of(r, subject))


def memberships_of(r: Reader, principal_id: str) -> list[MembershipRow]:
    """Read the live memberships of a principal, by project."""
    return r.select(MembershipRow, "principal_id = ? AND left_at IS NULL", (principal_id,), order="project")


def standing(caller: Caller, row: PrincipalRow | None, memberships: Iterable[MembershipRow]) -> Standing:
    """Put together what is known of a caller: its principal's row and its live memberships. Pure."""
    live = row is not None and row.retired_at is None and row.kind == caller.kind
    return Standing(
        caller=caller, registered=live, owner_id=row.owner_id if row else None, memberships=tuple(memberships)
    )


def target(
    path: str,
    rows: Mapping[str, NamespaceRow],
    subject: PrincipalRow | None,
    memberships: Iterable[MembershipRow],
) -> Target:
    """Put together what is known of a namespace: policy leaf first, access the strictest along the path. Pure.

    `rows` are those namespaces of the path's chain that exist; `memberships` are the subject's live ones.
    """
    chain = [row for place in paths.chain(path) if (row := rows.get(place))]
    own = {row.path: row.policy for row in chain}
    kind = paths.kind_of(path)
    return Target(
        path=path,
        exists=path in rows or path == paths.GLOBAL,
        access=max((row.access for row in chain), key=_ACCESS_ORDER.index, default="rw"),
        policy={field: policies.resolve(own, path, field)[0] for field in policies.ACCESS_FIELDS.get(kind, ())},
        subject=subject if subject is not None and paths.scope_of(subject.kind, subject.id) == path else None,
        memberships=tuple(memberships),
    )
