"""Check the JSON values a caller attaches to a memory: metadata, provenance, periods.

Pure. Nothing a caller sends can state what the store itself states about a row.

Source: docs/spec/model.md §4 (memories); docs/spec/audit.md §1.1 (numbers every reader agrees on).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from substrate import limits
from substrate.errors import Invalid
from substrate.escape import quote
from substrate.identifiers import check_line, check_text, check_time
from substrate.store.model import Json, MemoryRow, to_json

# What the store itself says about a row, and words that vouch for one. A caller's own columns are not among them.
_COLUMNS = """
    memory_type name title description content tags metadata entity_id applies_to sources valid_from valid_until
"""
_WORDS = "agent_id attest_level attested author by persona signature source trust trusted verified"
RESERVED = frozenset(MemoryRow.columns()) - set(_COLUMNS.split()) | set(_WORDS.split())
SOURCE_KINDS = ("session", "turn", "work_item", "thread", "file", "url")


def check_metadata(metadata: Mapping[str, Any] | None) -> Json | None:
    """Return a JSON object as given, None for none.

    Refused: keys that are reserved, blank or hold control characters; numbers that JSON readers differ on; nesting over
    `limits.METADATA_DEPTH`; more than `limits.METADATA_BYTES` of compact JSON.
    """
    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        _refuse("metadata", "type", f"metadata {quote(metadata)} is not an object", 'pass an object: {"team": "blue"}')
    taken = sorted(key for key in metadata if isinstance(key, str) and key.casefold() in RESERVED)
    if taken:
        _refuse(
            "metadata",
            "reserved",
            f"metadata may not set {', '.join(quote(key) for key in taken[:5])}",
            "the store sets this itself; say where a memory comes from with sources, or use another key",
        )
    value = _json(metadata, 1)
    size = len((to_json(value) or "").encode())
    if size > limits.METADATA_BYTES:
        _refuse(
            "metadata",
            "too_long",
            f"metadata has {size:,} bytes as JSON, at most {limits.METADATA_BYTES:,}",
            "keep long text in the content",
        )
    return dict(value)


def check_sources(sources: Iterable[Mapping[str, Any]] | None, now: str) -> tuple[Json, ...] | None:
    """Return where a memory comes from, outside this store: `{kind, ref, at?}` in the order given, None for nothing."""
    if sources is None:
        return None
    if not isinstance(sources, Sequence) or isinstance(sources, str):
        _refuse("sources", "type", f"sources {quote(sources)} is not a list", 'pass [{"kind": "url", "ref": "…"}]')
    if len(sources) > limits.BATCH_MAX:
        _refuse("sources", "too_many", f"{len(sources)} sources, at most {limits.BATCH_MAX}", "keep those that matter")
    return tuple(_source(item, now) for item in sources) or None


def check_period(valid_from: str | None, valid_until: str | None, now: str) -> tuple[str | None, str | None]:
    """Return both ends of the time something held in the world; an end is never before its beginning."""
    start = None if valid_from is None else check_time("valid_from", valid_from, now)
    end = None if valid_until is None else check_time("valid_until", valid_until, now)
    if start is not None and end is not None and end < start:
        _refuse("valid_until", "order", f"valid until {end} is before valid from {start}", "swap the two")
    return start, end


def _json(value: Any, depth: int) -> Any:
    """Return a JSON value with mappings as dicts and sequences as lists; refuse what has no one form."""
    if isinstance(value, str):
        if value:
            _text(value)
        return value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if not math.isfinite(value) or (isinstance(value, int) and abs(value) > limits.METADATA_INTEGER):
            _refuse("metadata", "number", f"metadata holds the number {quote(value)}", "write it as text")
        return value
    if depth > limits.METADATA_DEPTH:
        _refuse("metadata", "depth", f"metadata is nested over {limits.METADATA_DEPTH} deep", "flatten it")
    if isinstance(value, Mapping):
        return {_key(key): _json(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner, depth + 1) for inner in value]
    _refuse("metadata", "type", f"metadata holds a {type(value).__name__}", "use text, numbers, lists and objects")


def _key(key: object) -> str:
    if not isinstance(key, str):
        _refuse("metadata", "type", f"metadata key {quote(key)} is not text", "write keys as text")
    if check_line("metadata", key) != key:
        _refuse("metadata", "pattern", f"metadata key {quote(key)} has white space around it", "trim it")
    return key


def _text(value: str) -> None:
    """Refuse what cannot be stored in metadata; white space alone can."""
    check_text("metadata", f"-{value}", limits.METADATA_BYTES + 1)


def _source(item: Mapping[str, Any], now: str) -> Json:
    known = isinstance(item, Mapping) and {"kind", "ref"} <= item.keys() <= {"kind", "ref", "at"}
    if not known:
        _refuse("sources", "shape", f"source {quote(item)} has not the shape of one", "write {kind, ref, at}")
    if item["kind"] not in SOURCE_KINDS:
        _refuse("sources", "choice", f"{quote(item['kind'])} is no kind of source", ", ".join(SOURCE_KINDS))
    found = {"kind": item["kind"], "ref": check_line("sources", item["ref"], limits.REF_BYTES)}
    return found if item.get("at") is None else found | {"at": check_time("sources", item["at"], now)}


def _refuse(field: str, code: str, message: str, hint: str) -> NoReturn:
    raise Invalid(message, hint=hint, fields={field: code})
