"""Check everything a caller gives for one memory before anything of it is written.

Source: docs/spec/model.md §4 (Kinds and types); docs/spec/requirements.md S1-8, S1-34, S1-35, S2-4, S2-5, S2-12.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from substrate import limits, secrets
from substrate.errors import Invalid
from substrate.escape import quote
from substrate.identifiers import check_line, check_name, check_tags, check_text
from substrate.memory.metadata import check_metadata, check_period, check_sources
from substrate.memory.references import ID
from substrate.scopes import access, namespaces, paths, principals
from substrate.scopes.caller import Caller
from substrate.store.model import Json, MemoryRow
from substrate.store.transaction import Reader, Transaction

TYPES = {
    "observation": ("fact", "preference", "decision", "procedure", "document"),
    "reflection": ("fact", "decision", "procedure"),
}
# What only the curator writes: the line about a finished session, and the lessons drawn from it.
CURATED = {"observation": ("episode",), "reflection": ("lesson", "anti_pattern", "preference", "friction")}
MEMORY_TYPES = tuple(dict.fromkeys(name for table in (TYPES, CURATED) for names in table.values() for name in names))
STORES = ("agent", "role", "project")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a new memory will hold, checked."""

    content: str
    namespace: str
    memory_kind: str
    memory_type: str
    name: str | None = None
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Json | None = None
    applies_to: tuple[str, ...] | None = None
    sources: tuple[Json, ...] | None = None
    valid_from: str | None = None
    valid_until: str | None = None

    def columns(self) -> dict[str, Any]:
        """Give the draft as columns of a memory row."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"size_bytes": len(self.content.encode())}


def draft(
    tx: Transaction,
    caller: Caller,
    content: str,
    *,
    kind: str,
    namespace: str,
    memory_type: str = "fact",
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    tags: Iterable[str] = (),
    metadata: Mapping[str, Any] | None = None,
    applies_to: Iterable[str] | None = None,
    sources: Iterable[Mapping[str, Any]] | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
) -> Draft:
    """Check identifiers, sizes, types and credentials, then the right to write there; nothing is written.

    Raises Invalid naming the field, NotFound and Forbidden as `access.check` does.
    """
    path = namespaces.resolve(tx, namespace)
    start, end = check_period(valid_from, valid_until, tx.now)
    found = Draft(
        title=None if title is None else check_line("title", title),
        content=check_text("content", content, most_bytes(path, kind, memory_type)),
        namespace=path,
        memory_kind=kind,
        memory_type=_type(caller, kind, memory_type),
        name=None if name is None else _name(name),
        description=None if description is None else check_line("description", description, limits.DESCRIPTION_CHARS),
        tags=check_tags(tags),
        metadata=check_metadata(metadata),
        applies_to=_agents(applies_to),
        sources=check_sources(sources, tx.now),
        valid_from=start,
        valid_until=end,
    )
    secrets.refuse_all(
        {
            field: getattr(found, field)
            for field in ("title", "content", "description", "name", "tags", "metadata", "sources", "applies_to")
        }
    )
    curated = caller.kind == "curator" and (kind != "observation" or found.memory_type == "episode")
    access.check(tx, caller, "write_curated" if curated else "write", path)
    return replace(found, applies_to=_known_agents(tx, found.applies_to))


def is_entry(row: MemoryRow | Draft) -> bool:
    """Tell whether a memory is a plain entry, the kind that caps count; episodes and documents are not. Source: C9."""
    return row.memory_kind == "observation" and row.memory_type not in ("episode", "document")


def most_bytes(path: str, kind: str, memory_type: str) -> int:
    """Return how many bytes of content one memory may have by its place and type alone. Source: S1-35."""
    entry = kind == "observation" and memory_type not in ("episode", "document")
    return limits.ENTRY_BYTES if entry and paths.kind_of(path) in STORES else limits.MEMORY_BYTES


def check_reason(why: str | None) -> str | None:
    """Return a reason for a change: one line without a credential, None for none."""
    if why is None:
        return None
    reason = check_line("reason", why, limits.REASON_CHARS)
    secrets.refuse("reason", reason)
    return reason


def _type(caller: Caller, kind: str, memory_type: str) -> str:
    if memory_type in TYPES[kind] or (caller.kind == "curator" and memory_type in CURATED[kind]):
        return memory_type
    hint = f"one of: {', '.join(TYPES[kind])}"
    if memory_type in CURATED[kind]:
        hint += f"; {memory_type} is written by the curator"
    raise Invalid(f"{quote(memory_type)} is no type of {kind}", hint=hint, fields={"memory_type": "choice"})


def _name(name: str) -> str:
    checked = check_name(name)
    if ID.fullmatch(checked):
        raise Invalid(f"name {quote(checked)} looks like an id", hint="choose a word", fields={"name": "pattern"})
    return checked


def _agents(applies_to: Iterable[str] | None) -> tuple[str, ...] | None:
    if applies_to is None:
        return None
    if isinstance(applies_to, str) or not isinstance(applies_to, Iterable):
        raise Invalid(
            f"applies to {quote(applies_to)} is not a list", hint="pass agent ids", fields={"applies_to": "type"}
        )
    agents = tuple(dict.fromkeys(check_line("applies_to", agent, limits.REF_BYTES) for agent in applies_to))
    if len(agents) > limits.APPLIES_TO:
        raise Invalid(
            f"applies to {len(agents)} agents, at most {limits.APPLIES_TO}",
            hint="leave it out to reach every reader",
            fields={"applies_to": "too_many"},
        )
    return agents or None


def _known_agents(r: Reader, agents: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return the ids that ids or handles of agents stand for, each once."""
    found: list[str] = []
    for agent in agents or ():
        row = principals.find(r, agent)
        if row is None or row.kind != "agent":
            raise access.missing("agent", agent)
        found.append(row.id)
    return tuple(dict.fromkeys(found)) or None
