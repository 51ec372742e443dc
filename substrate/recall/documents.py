"""Say what of a memory is searched: its terms, the text an encoder reads, and the columns recall filters by."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from substrate.recall.words import date_words, terms, words
from substrate.store.model import MemoryRow

NEVER = -(2**62)  # microseconds: before every time there is
FOREVER = 2**62
LABELS = ("partition", "kind", "type", "status", "entity", "session")
TIMES = ("sequence", "when", "created", "ended", "valid_from", "valid_until")


@dataclass(frozen=True, slots=True)
class Document:
    """Hold a memory as recall sees it.

    `labels` and `times` are keyed by LABELS and TIMES. `entity` is whom the memory is about, or who speaks in it; times
    are microseconds since 1970, `sequence` is the number of the event that created the row. `digest` tells whether the
    searched text changed; it is keyed, so it tells no more.
    """

    id: str
    labels: Mapping[str, str]
    times: Mapping[str, int]
    terms: Mapping[str, int]
    passage: str
    digest: bytes


def document(row: MemoryRow, key: bytes) -> Document:
    """Return what recall keeps of a row; a tombstone has no document and must not get here."""
    when = row.valid_from or row.created_at
    entity = row.mentioned_entity_id or row.entity_id or _speaker(row)
    shown = "\n".join(part for part in (row.title, row.description, row.content) if part)
    day = date_words(when[:10] + "T00:00:00")
    searched = "\n".join([row.name or "", shown, " ".join(row.tags or ()), entity, day])
    passage = f"[{date_words(when)}] {shown}"
    return Document(
        id=row.id,
        labels={
            "partition": partition(row),
            "kind": row.memory_kind,
            "type": row.memory_type,
            "status": row.status,
            "entity": entity,
            "session": row.by_session or "",
        },
        times={
            "sequence": row.sequence,
            "when": microseconds(when),
            "created": microseconds(row.created_at),
            "ended": microseconds(row.status_at) if row.status_at and row.status != "active" else FOREVER,
            "valid_from": microseconds(row.valid_from) if row.valid_from else NEVER,
            "valid_until": microseconds(row.valid_until) if row.valid_until else FOREVER,
        },
        terms=Counter(terms(searched)),
        passage=passage,
        digest=hashlib.blake2b(f"{len(searched)}:{searched}{passage}".encode(), key=key, digest_size=16).digest(),
    )


def partition(row: MemoryRow) -> str:
    """Name the group of memories that the same callers may read: its namespace, its restriction, who wrote it."""
    return json.dumps([row.namespace, row.applies_to, row.origin == "curator"], ensure_ascii=False)


def member(name: str) -> MemoryRow:
    """Return a memory without content that is read by those who read the group `partition` named so."""
    namespace, applies_to, curated = json.loads(name)
    return MemoryRow(
        id="",
        namespace=namespace,
        memory_kind="observation",
        memory_type="fact",
        applies_to=None if applies_to is None else tuple(applies_to),
        origin="curator" if curated else "agent",
        by_kind="agent",
        by_id="",
        created_at="",
        updated_at="",
        sequence=0,
    )


def microseconds(time: str) -> int:
    """Return a fixed-width RFC 3339 UTC time as microseconds since 1970."""
    moment = datetime.fromisoformat(time).replace(tzinfo=UTC) - _EPOCH
    return (moment.days * 86_400 + moment.seconds) * 1_000_000 + moment.microseconds


def _speaker(row: MemoryRow) -> str:
    """Return who speaks: the metadata's `speaker`, else the name before a line of a transcript (`Alice: …`)."""
    stated = (row.metadata or {}).get("speaker")
    match = _SPEAKER.match(row.content or "")
    return " ".join(words(stated if isinstance(stated, str) else match[1] if match else ""))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPEAKER = re.compile(r"\s*(?:\[[^\]\n]{0,60}\]\s*)?([^\W\d_][^:\n]{0,40}):\s")
