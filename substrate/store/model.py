"""The rows of the store: one frozen dataclass a table, its fields the table's columns.

Times are fixed-width RFC 3339 UTC text and sort as text. Lists and objects are kept as canonical JSON text in the file
and come back as tuples and dicts. The column ``salt`` exists in every committed table and in no dataclass: the store
makes it, keeps it beside the text and erases it with the text.

Source: docs/spec/model.md §4.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from audit.commitment import net

Json = Mapping[str, Any]


class Row:
    """What every row shares: its table, its key columns and the way to and from column values."""

    __slots__ = ()
    TABLE: ClassVar[str]
    KEY: ClassVar[tuple[str, ...]]
    # The part of a key by which the engine finds rows: it scans a table for several at once, even those of an index.
    INDEX: ClassVar[str | None] = None

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Name the columns in table order, salt excluded."""
        found = _COLUMNS.get(cls)
        if found is None:
            found = _COLUMNS[cls] = tuple(f.name for f in fields(cls))  # type: ignore[arg-type]
        return found

    @classmethod
    def types(cls) -> dict[str, str]:
        """Name the engine's types of the columns that are not text, from their annotations."""
        types: dict[str, str] = {}
        for column in cls.columns():
            annotation = str(cls.__annotations__[column])
            if annotation.startswith("int"):
                types[column] = "BIGINT"
            elif annotation.startswith("bool"):
                types[column] = "BOOLEAN"
        return types

    @classmethod
    def json_columns(cls) -> frozenset[str]:
        """Name the columns that hold JSON text: those annotated as tuples or objects."""
        found = _JSON_COLUMNS.get(cls)
        if found is None:
            found = _JSON_COLUMNS[cls] = frozenset(
                name for name, kind in cls.__annotations__.items() if "Json" in kind or "tuple" in kind
            )
        return found

    @classmethod
    def from_values(cls, values: Sequence[Any]) -> Self:
        """Build a row from column values in ``columns()`` order."""
        names, as_json = cls.columns(), cls.json_columns()
        return cls(**{n: from_json(v) if n in as_json else v for n, v in zip(names, values, strict=True)})

    def values(self) -> list[Any]:
        """Give the column values in ``columns()`` order, JSON columns as canonical text."""
        as_json = self.json_columns()
        return [to_json(v) if n in as_json else v for n in self.columns() for v in (getattr(self, n),)]

    @property
    def row_id(self) -> str:
        """Name the row in the signed state (see :func:`row_id`)."""
        return row_id(*(getattr(self, k) for k in self.KEY))


_COLUMNS: dict[type, tuple[str, ...]] = {}
_JSON_COLUMNS: dict[type, frozenset[str]] = {}


def row_id(*key: Any) -> str:
    """Name a row by its key: the key itself, or its parts each behind their length in bytes (``6:global5:alice``).

    Raises Invalid for text with a lone surrogate.
    """
    if len(key) == 1:
        return str(key[0])
    return "".join(net(str(part)) for part in key)


def key_of(kind: type[Row], name: str) -> tuple[str, ...]:
    """Take the name of a row apart: the texts of its key that :func:`row_id` made it from."""
    if len(kind.KEY) == 1:
        return (name,)
    parts, rest = [], name.encode()
    for _ in kind.KEY:
        size, _, rest = rest.partition(b":")
        parts.append(rest[: int(size)].decode())
        rest = rest[int(size) :]
    return tuple(parts)


def to_json(value: Any) -> str | None:
    """Write a column value as canonical JSON text: sorted keys, no blanks; None stays None."""
    if value is None:
        return None
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(text: str | None) -> Any:
    """Read a JSON column; a list becomes a tuple."""
    if text is None:
        return None
    value = json.loads(text)
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class PrincipalRow(Row):
    """A human, an agent or the hub."""

    TABLE: ClassVar[str] = "principals"
    KEY: ClassVar[tuple[str, ...]] = ("id",)
    id: str
    kind: str
    handle: str
    owner_id: str | None = None
    lead_id: str | None = None
    public_page: bool = False
    language: str | None = None
    discuss_first: bool = False
    knowledge: tuple[str, ...] | None = None
    settings: Json | None = None
    external_ids: tuple[Json, ...] | None = None
    created_at: str
    retired_at: str | None = None

    @property
    def sealed(self) -> bool:
        """Whether its key is sealed with a passphrase."""
        return bool((self.settings or {}).get("sealed"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialRow(Row):
    """A signing key or a bearer token of a principal."""

    TABLE: ClassVar[str] = "credentials"
    KEY: ClassVar[tuple[str, ...]] = ("id",)
    id: str
    principal_id: str
    instance: str | None = None
    kind: str
    public_key: str | None = None
    token_sha256: str | None = None
    created_at: str
    revoked_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceRow(Row):
    """A scope, with its own part of the policy."""

    TABLE: ClassVar[str] = "namespaces"
    KEY: ClassVar[tuple[str, ...]] = ("path",)
    path: str
    kind: str
    access: str = "rw"
    policy: Json = field(default_factory=dict)
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipRow(Row):
    """A principal in a project."""

    TABLE: ClassVar[str] = "memberships"
    KEY: ClassVar[tuple[str, ...]] = ("project", "principal_id")
    project: str
    principal_id: str
    trust: str
    role: str | None = None
    scopes: tuple[str, ...] = ()
    proxy_for: str | None = None
    paused: bool = False
    isolated: bool = False
    preferences_included: bool = True
    owner_preferences: bool = False
    discuss_first: bool | None = None
    joined_at: str
    left_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow(Row):
    """One memory: an observation, a reflection or a persona version."""

    TABLE: ClassVar[str] = "memories"
    KEY: ClassVar[tuple[str, ...]] = ("id",)
    id: str
    namespace: str
    memory_kind: str
    memory_type: str
    name: str | None = None
    title: str | None = None
    description: str | None = None
    content: str | None = None
    size_bytes: int = 0
    tags: tuple[str, ...] | None = ()
    metadata: Json | None = None
    entity_id: str | None = None
    persona_version: int | None = None
    mentioned_entity_id: str | None = None
    reflection_depth: int = 0
    applies_to: tuple[str, ...] | None = None
    times_seen: int = 1
    last_seen_at: str | None = None
    origin: str
    by_kind: str
    by_id: str
    by_instance: str | None = None
    by_handle: str | None = None
    by_project: str | None = None
    by_session: str | None = None
    confirmed_by: str | None = None
    request_id: str | None = None
    sources: tuple[Json, ...] | None = None
    status: str = "active"
    status_reason: str | None = None
    status_by: str | None = None
    status_at: str | None = None
    superseded_by: str | None = None
    promoted_at: str | None = None
    promoted_seen: int | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    created_at: str
    updated_at: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow(Row):
    """An edge between two memories."""

    TABLE: ClassVar[str] = "memory_links"
    KEY: ClassVar[tuple[str, ...]] = ("source_id", "target_id", "relation")
    INDEX: ClassVar[str | None] = "target_id"
    source_id: str
    target_id: str
    relation: str
    attest_level: str = "unsigned"
    key_id: str | None = None
    observed_by: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    created_at: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRow(Row):
    """A registered entity; ``merged_into`` names the survivor of a merge."""

    TABLE: ClassVar[str] = "entities"
    KEY: ClassVar[tuple[str, ...]] = ("namespace", "entity_id")
    namespace: str
    entity_id: str
    kind: str | None = None
    canonical_name: str
    created_at: str
    merged_into: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasRow(Row):
    """A folded name that stands for a registered entity."""

    TABLE: ClassVar[str] = "entity_aliases"
    KEY: ClassVar[tuple[str, ...]] = ("namespace", "alias_folded")
    namespace: str
    alias_folded: str
    entity_id: str
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaHeadRow(Row):
    """The newest persona of an entity in a namespace, so that its deletion cannot promote an older one."""

    TABLE: ClassVar[str] = "persona_heads"
    KEY: ClassVar[tuple[str, ...]] = ("namespace", "entity_id")
    namespace: str
    entity_id: str
    persona_id: str | None = None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow(Row):
    """One claim of one persona version, in reading order."""

    TABLE: ClassVar[str] = "claims"
    KEY: ClassVar[tuple[str, ...]] = ("persona_id", "position")
    persona_id: str
    position: int
    claim_id: str
    section: str | None = None
    text: str | None = None
    sources: tuple[str, ...] = ()
    pinned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyRow(Row):
    """The answer already given to a write that carried this key."""

    TABLE: ClassVar[str] = "idempotency"
    KEY: ClassVar[tuple[str, ...]] = ("principal_id", "key")
    principal_id: str
    key: str
    fingerprint: str | None = None
    subject_id: str
    created_at: str


ROWS: tuple[type[Row], ...] = (
    PrincipalRow,
    CredentialRow,
    NamespaceRow,
    MembershipRow,
    MemoryRow,
    LinkRow,
    EntityRow,
    AliasRow,
    PersonaHeadRow,
    ClaimRow,
    IdempotencyRow,
)
