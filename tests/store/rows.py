"""Make rows to store: one of every kind, and a story of two personas that the attacks are tried on."""

from __future__ import annotations

from typing import Any

from substrate.store.model import (
    AliasRow,
    ClaimRow,
    CredentialRow,
    EntityRow,
    IdempotencyRow,
    LinkRow,
    MembershipRow,
    MemoryRow,
    NamespaceRow,
    PersonaHeadRow,
    PrincipalRow,
    Row,
)
from substrate.store.transaction import Transaction

TIME = "2026-05-14T09:30:00.000000Z"
EVENT: dict[str, Any] = {"subject": None, "namespace": None, "payload": {}}


def memory(id: str, **fields: Any) -> MemoryRow:
    """Make an observation in `global`; `fields` replace what it would say."""
    common = {"namespace": "global", "memory_kind": "observation", "memory_type": "fact", "origin": "human"}
    by = {"by_kind": "human", "by_id": "hum-1", "created_at": TIME, "updated_at": TIME, "sequence": 2}
    return MemoryRow(**{**common, **by, "content": f"what {id} says", **fields, "id": id})


def link(source: str, target: str, relation: str = "derived_from") -> LinkRow:
    return LinkRow(source_id=source, target_id=target, relation=relation, created_at=TIME, sequence=2)


def one_of_each() -> list[Row]:
    """Make one row for every table that has a dataclass."""
    return [
        PrincipalRow(id="hum-1", kind="human", handle="ann", knowledge=("hiking",), created_at=TIME),
        CredentialRow(id="cre-1", principal_id="hum-1", kind="bearer", token_sha256="0" * 64, created_at=TIME),
        NamespaceRow(path="global", kind="global", policy={"readers": ["all"]}, created_at=TIME),
        MembershipRow(project="projects/acme/web", principal_id="hum-1", trust="owner", joined_at=TIME),
        memory("mem-1"),
        link("mem-1", "mem-2"),
        EntityRow(namespace="global", entity_id="alice", canonical_name="Alice", created_at=TIME),
        AliasRow(namespace="global", alias_folded="al", entity_id="alice", created_at=TIME),
        PersonaHeadRow(namespace="global", entity_id="alice", persona_id="mem-9", version=1),
        ClaimRow(persona_id="mem-9", position=1, claim_id="c1", text="Alice hikes.", sources=("mem-1",)),
        IdempotencyRow(principal_id="hum-1", key="k", fingerprint="f", subject_id="mem-1", created_at=TIME),
    ]


def persona(number: int, **fields: Any) -> MemoryRow:
    shape = {"memory_kind": "persona", "memory_type": "document", "entity_id": "alice", "persona_version": number}
    return memory(f"per-{number}", **{**shape, "content": f"Alice, version {number}.[^1]", **fields})


def record(tx: Transaction, *rows: Row, type: str = "memory_added", **fields: Any) -> int:
    """Put rows and the event that binds them."""
    tx.put(*rows)
    return tx.event(type, **{**EVENT, **fields})


def tell(tx: Transaction) -> None:
    """Write the story: three observations, a reflection, two versions of a persona, each an event of its own."""
    record(tx, *one_of_each()[:4], type="entity_changed")
    for number in (1, 2, 3):
        record(tx, memory(f"mem-{number}", status="active", tags=("trail",), by_id="hum-1"))
    record(tx, memory("ref-1", memory_kind="reflection", entity_id="alice"), link("ref-1", "mem-1"))
    for number in (1, 2):
        before = [persona(number - 1, status="superseded", superseded_by=f"per-{number}")] if number > 1 else []
        head = PersonaHeadRow(namespace="global", entity_id="alice", persona_id=f"per-{number}", version=number)
        claim = ClaimRow(persona_id=f"per-{number}", position=1, claim_id="c1", text="Alice hikes.", sources=("ref-1",))
        record(tx, *before, persona(number), head, claim, type="persona_generated")
