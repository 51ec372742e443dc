"""Read a persona back: the newest or an older version, and what changed between two.

Nothing here loads numpy, networkx or a model. Source: docs/spec/persona.md §7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from substrate.errors import NotFound
from substrate.escape import quote
from substrate.identifiers import check_time
from substrate.memory import entity_names
from substrate.scopes import access, namespaces
from substrate.scopes.caller import Caller
from substrate.store.model import ClaimRow, MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader

_DAY = 10  # characters of a date


@dataclass(frozen=True)
class Read:
    """One version of a persona as it stands now; ``left_out`` counts claims whose sources the reader may not see."""

    row: MemoryRow
    claims: tuple[ClaimRow, ...]
    stale: bool
    left_out: int

    @property
    def envelope(self) -> dict[str, Any]:
        """The persona's metadata."""
        return dict((self.row.metadata or {}).get("persona", {}))

    @property
    def sources(self) -> list[str]:
        """The ids of the cited reflections, in the order of their footnotes."""
        return list(self.envelope.get("sources", ()))

    def wire(self) -> dict[str, Any]:
        """Give the persona in the JSON shape of every door."""
        envelope = self.envelope
        return {
            "id": self.row.id,
            "entity_id": self.row.entity_id,
            "namespace": self.row.namespace,
            "version": self.row.persona_version,
            "body_md": self.row.content,
            "sources": self.sources,
            "generated_at": envelope.get("generated_at"),
            "attest_level": envelope.get("attest_level"),
            "stale": self.stale,
            "model": envelope.get("model"),
            "claims": [
                {
                    "id": claim.claim_id,
                    "section": claim.section,
                    "text": claim.text,
                    "sources": list(claim.sources),
                    "footnotes": [self.sources.index(id) + 1 for id in claim.sources],
                    "pinned": claim.pinned,
                }
                for claim in self.claims
            ],
            "left_out": self.left_out,
            "envelope": envelope,
        }


def newest(r: Reader, caller: Caller, entity: str, namespace: str) -> Read | None:
    """Read the newest version through the committed head row; None when there is none.

    Raises NotFound for a namespace the caller may not read.
    """
    path, resolved = _place(r, caller, entity, namespace)
    head = r.get(PersonaHeadRow, path, resolved)
    if head is None or head.persona_id is None:
        return None
    return _read(r, caller, r.require(MemoryRow, head.persona_id))


def version(r: Reader, caller: Caller, entity: str, namespace: str, number: int) -> Read:
    """Read one version by its number. Raises NotFound when it never was or was forgotten."""
    path, resolved = _place(r, caller, entity, namespace)
    rows = r.select(
        MemoryRow, "entity_id = ? AND namespace = ? AND persona_version = ?", (resolved, path, number), limit=1
    )
    if not rows or rows[0].content is None:
        raise NotFound(
            f"no version {number} of the persona of {quote(entity)} in {path}",
            hint="`ai-memory persona ENTITY --history` lists the versions",
        )
    return _read(r, caller, rows[0])


def as_of(r: Reader, caller: Caller, entity: str, namespace: str, date: str) -> Read:
    """Read the version that was the newest at a time; a date alone means its end in UTC.

    Raises NotFound before the first version and for one that was forgotten, Invalid for what is no date.
    """
    moment = check_time("as_of", date)
    until = moment if len(date.strip()) > _DAY else f"{moment[:_DAY]}T23:59:59.999999Z"
    versions = history(r, caller, entity, namespace)
    then = next((row for row in versions if row.created_at <= until), None)
    if then is None or then.content is None:
        first = f"the first is of {versions[-1].created_at}" if versions else "there was never one"
        told = "that version was forgotten" if then is not None else first
        raise NotFound(
            f"no persona of {quote(entity)} as of {until}: {told}",
            hint="`ai-memory persona ENTITY --history` lists the versions",
        )
    return _read(r, caller, then)


def history(r: Reader, caller: Caller, entity: str, namespace: str) -> list[MemoryRow]:
    """Read the rows of all versions, newest first; forgotten ones are tombstones without text."""
    path, resolved = _place(r, caller, entity, namespace)
    return r.select(
        MemoryRow,
        "entity_id = ? AND namespace = ? AND memory_kind = 'persona'",
        (resolved, path),
        order="persona_version DESC",
    )


@dataclass(frozen=True)
class Difference:
    """What one version says and the other does not, claim by claim."""

    before: int
    after: int
    added: tuple[ClaimRow, ...]
    dropped: tuple[ClaimRow, ...]
    recited: tuple[tuple[ClaimRow, ClaimRow], ...]
    kept: int

    def wire(self) -> dict[str, Any]:
        """Give the difference as JSON."""
        return {
            "before": self.before,
            "after": self.after,
            "added": [_claim(claim) for claim in self.added],
            "dropped": [_claim(claim) for claim in self.dropped],
            "recited": [{"before": _claim(old), "after": _claim(new)} for old, new in self.recited],
            "kept": self.kept,
        }


def diff(before: Read, after: Read) -> Difference:
    """Compare two versions by the wording of their claims; pure."""
    old = {claim.text: claim for claim in before.claims}
    new = {claim.text: claim for claim in after.claims}
    both = [text for text in new if text in old]
    return Difference(
        before=before.row.persona_version or 0,
        after=after.row.persona_version or 0,
        added=tuple(claim for text, claim in new.items() if text not in old),
        dropped=tuple(claim for text, claim in old.items() if text not in new),
        recited=tuple((old[t], new[t]) for t in both if set(old[t].sources) != set(new[t].sources)),
        kept=len(both),
    )


def _place(r: Reader, caller: Caller, entity: str, namespace: str) -> tuple[str, str]:
    path = namespaces.resolve(r, namespace)
    access.check(r, caller, "read", path)
    return path, entity_names.resolve(r, entity, path).entity_id


def _read(r: Reader, caller: Caller, row: MemoryRow) -> Read:
    access.check_row(r, caller, "read", row)
    cited = list((row.metadata or {}).get("persona", {}).get("sources", ()))
    rows = r.get_many(MemoryRow, cited)
    stale = any(id not in rows or rows[id].status != "active" for id in cited)
    claims = _claims(r, row)
    return Read(row, claims, stale, 0)


def _claims(r: Reader, row: MemoryRow) -> tuple[ClaimRow, ...]:
    count = int((row.metadata or {}).get("persona", {}).get("claims", 0))
    return tuple(r.get_many(ClaimRow, [(row.id, position) for position in range(1, count + 1)]).values())


def _claim(claim: ClaimRow) -> dict[str, Any]:
    return {"id": claim.claim_id, "section": claim.section, "text": claim.text, "sources": list(claim.sources)}
