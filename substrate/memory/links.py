"""Link memories, and never let one rest on itself.

Source: DESIGN §3; docs/spec/audit.md §1.6; docs/spec/requirements.md S3-43.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from substrate import limits
from substrate.errors import Conflict, Invalid, Refused
from substrate.escape import quote
from substrate.memory import feed
from substrate.memory.metadata import check_period
from substrate.memory.references import AMONG, find
from substrate.memory.writing import new_link
from substrate.scopes import access
from substrate.scopes.caller import Caller
from substrate.store.model import LinkRow
from substrate.store.transaction import Reader, Transaction

LINEAGE = ("derived_from", "supersedes")
RELATIONS = (*LINEAGE, "contradicts", "related_to", "depends_on", "mentions")


def check_relation(relation: str) -> str:
    """Return a known relation unchanged; raise `Invalid` listing them for any other."""
    if relation not in RELATIONS:
        raise Invalid(
            f"{quote(relation)} is no relation", hint=f"one of: {', '.join(RELATIONS)}", fields={"relation": "choice"}
        )
    return relation


def link(
    tx: Transaction,
    caller: Caller,
    source: str,
    target: str,
    relation: str,
    *,
    valid_from: str | None = None,
    valid_until: str | None = None,
) -> LinkRow:
    """Record that one memory stands in a relation to another; return the link.

    The caller reads both and may change the source. A link that is there already is returned as it is, or takes the new
    times, and the level of a transaction that attests. A persona's own lineage is written when it is generated, and not
    here.

    Raises Invalid for an unknown relation and for a memory linked to itself, NotFound for an end the caller may not
    read, Conflict for a forgotten end, Refused for a lineage that would lead back to its own beginning.
    """
    check_relation(relation)
    start, end = check_period(valid_from, valid_until, tx.now)
    ends = find(tx, caller, source), find(tx, caller, target)
    if ends[0].id == ends[1].id:
        raise Invalid(
            f"memory {quote(ends[0].id)} cannot be linked to itself",
            hint="name two memories",
            fields={"target": "same"},
        )
    access.check_row(tx, caller, "edit", ends[0])
    for row in ends:
        if row.status == "deleted":
            raise Conflict(f"memory {quote(row.id)} was forgotten", hint="link another one", status="deleted")
    made = new_link(tx, caller, ends[0].id, ends[1].id, relation, valid_from=start, valid_until=end)
    before = tx.get(LinkRow, made.source_id, made.target_id, relation)
    if before is not None:
        vouched = made if tx.attests else before
        made = replace(
            before,
            valid_from=start or before.valid_from,
            valid_until=end or before.valid_until,
            attest_level=vouched.attest_level,
            key_id=vouched.key_id,
        )
        if made == before:
            return before
    elif relation in LINEAGE:
        if ends[0].memory_kind == "persona":
            raise Refused(
                f"memory {quote(ends[0].id)} is a persona: what it rests on is written with it",
                hint="regenerate it from its reflections",
            )
        if leads_to(tx, made.target_id, made.source_id):
            raise Refused(
                f"memory {quote(made.target_id)} already rests on {quote(made.source_id)}",
                hint="a memory cannot rest on what rests on it; use related_to",
                relation=relation,
            )
    tx.put(made)
    feed.linked(tx, caller, made, ends[0].namespace)
    return made


def leads_to(r: Reader, start: str, goal: str) -> bool:
    """Tell whether lineage links lead from one memory to another, hidden ones in between included.

    Raises Refused after `limits.LINEAGE_NODES` memories without an answer: what cannot be checked is not written.
    """
    seen = frontier = {start}
    while frontier:
        following = r.query(
            f"SELECT DISTINCT target_id FROM memory_links WHERE relation {AMONG} AND source_id {AMONG}",
            (LINEAGE, sorted(frontier)),
        )
        frontier = {id for (id,) in following} - seen
        if goal in frontier:
            return True
        seen = seen | frontier
        if len(seen) > limits.LINEAGE_NODES:
            raise Refused(
                f"the lineage of {quote(start)} is too large to check: over {limits.LINEAGE_NODES:,} memories",
                hint="use related_to",
            )
    return False


def stale(r: Reader, personas: Iterable[str]) -> frozenset[str]:
    """Tell which of these personas cite a memory that is no longer active: superseded, retired or forgotten.

    Computed on every read and stored nowhere. Source: S3-43.
    """
    ids = list(personas)
    found = r.query(
        "SELECT DISTINCT l.source_id FROM memory_links l LEFT JOIN memories m ON m.id = l.target_id"
        f" WHERE l.relation = 'derived_from' AND l.source_id {AMONG} AND coalesce(m.status, 'deleted') <> 'active'",
        (ids,),
    )
    return frozenset(id for (id,) in found)
