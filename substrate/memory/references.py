"""Find memories by id or name, and only those the caller may see.

Whatever a caller may not read is answered like what does not exist: same error, same text.

Source: docs/spec/model.md §4 (Access); DESIGN §8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from substrate import limits
from substrate.errors import Conflict, Invalid
from substrate.escape import quote
from substrate.identifiers import check_line
from substrate.scopes import access, namespaces
from substrate.scopes.caller import Caller
from substrate.store.model import MemoryRow
from substrate.store.transaction import Reader

# What the store draws; nothing else may be named like it.
ID = re.compile(r"[a-z]+-[0-9a-hjkmnp-tv-z]{26}")
_FEW = 8  # ids up to which reading one by one costs less than working out all a caller may see
AMONG = "IN (SELECT unnest(?::TEXT[]))"


class Sight:
    """What one caller may see, worked out once for many rows."""

    def __init__(self, r: Reader, caller: Caller) -> None:
        self.r, self.caller = r, caller
        self.paths = access.readable(r, caller)
        # Where only the curator's rows are readable `readable` adds a mark behind '#', which no path holds.
        self._whole = sorted(path for path in self.paths if "#" not in path)
        self._partly = sorted(path.partition("#")[0] for path in self.paths if "#" in path)

    def rows(self, ids: Iterable[str]) -> dict[str, MemoryRow]:
        """Read the memories of these ids that exist and are visible, in the order of `ids`."""
        found = self.r.get_many(MemoryRow, list(dict.fromkeys(ids)))
        return {id: row for id, row in found.items() if self.sees(row)}

    def sees(self, row: MemoryRow) -> bool:
        """Tell whether this memory can be seen."""
        return access.visible(row, self.caller, self.paths)

    def find(self, refs: Sequence[str]) -> list[MemoryRow]:
        """Read what each of these stands for, as `find` does: ids together, names one by one."""
        rows = self.rows(ref for ref in refs if isinstance(ref, str) and ID.fullmatch(ref))
        return [rows[ref] if isinstance(ref, str) and ref in rows else find(self.r, self.caller, ref) for ref in refs]

    def ids(self, ids: Iterable[str]) -> frozenset[str]:
        """Tell which of these ids are visible; no content is read but of the few rows that decide for themselves."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return frozenset()
        plain, decided = set(), []
        for id, namespace, restricted in self.r.query(
            f"SELECT id, namespace, applies_to IS NOT NULL FROM memories WHERE id {AMONG}", (wanted,)
        ):
            if namespace in self.paths and not restricted:
                plain.add(id)
            elif namespace in self.paths or namespace in self._partly:
                decided.append(id)
        return frozenset(plain | self.rows(decided).keys()) if decided else frozenset(plain)

    def where(self) -> tuple[str, list[Sequence[str]]]:
        """Give a predicate on `memories` that holds for exactly the visible rows, and its parameters."""
        where = f"(applies_to IS NOT NULL AND namespace {AMONG}) OR (origin = 'curator' AND namespace {AMONG})"
        rows = self.r.select(MemoryRow, where, (self._whole, self._partly))
        single = [row.id for row in rows if self.sees(row)]
        return f"((namespace {AMONG} AND applies_to IS NULL) OR id {AMONG})", [self._whole, single]


def find(r: Reader, caller: Caller, ref: str, namespace: str | None = None) -> MemoryRow:
    """Read the memory that an id, or a name in use, stands for; tombstones and closed memories by id only.

    A name is looked up in `namespace`, or in all the caller may read when that is None. Raises NotFound for what is
    absent or not visible, Invalid for a name in use in several namespaces.
    """
    wanted = check_line("id", ref, limits.REF_BYTES)
    place = None if namespace is None else namespaces.resolve(r, namespace)
    row = r.get(MemoryRow, wanted)
    if row is not None:
        access.check_row(r, caller, "read", row)
        return row
    if ID.fullmatch(wanted):
        raise access.missing("memory", wanted)
    return _named(r, caller, wanted, place)


def find_all(r: Reader, caller: Caller, refs: Iterable[str]) -> list[MemoryRow]:
    """Read what each reference stands for, as `find` does, each memory once, in the order given."""
    given = list(refs)
    rows = Sight(r, caller).find(given) if len(given) > _FEW else [find(r, caller, ref) for ref in given]
    return list({row.id: row for row in rows}.values())


def live_named(r: Reader, caller: Caller, namespace: str, name: str) -> MemoryRow | None:
    """Read the active memory of this name in the namespace that the caller sees; the newest if there are several."""
    rows = r.select(
        MemoryRow,
        "namespace = ? AND name = ? AND status = 'active'",
        (namespace, name),
        order="sequence DESC, id DESC",
    )
    paths = access.readable(r, caller) if rows else frozenset()
    return next((row for row in rows if access.visible(row, caller, paths)), None)


def require_active(row: MemoryRow) -> MemoryRow:
    """Return the row; raise `Conflict` when it is closed, since a closed memory never becomes active again."""
    if row.status == "active":
        return row
    newer = f"its newer wording is {row.superseded_by}" if row.superseded_by else "write a new one instead"
    raise Conflict(f"memory {quote(row.id)} is {row.status}", hint=newer, status=row.status)


def _named(r: Reader, caller: Caller, name: str, namespace: str | None) -> MemoryRow:
    if namespace is not None:
        row = live_named(r, caller, namespace, name)
        if row is None:
            raise access.missing("memory", name)
        return row
    paths = access.readable(r, caller)
    rows = r.select(MemoryRow, "name = ? AND status = 'active'", (name,), order="sequence DESC, id DESC")
    seen = [row for row in rows if access.visible(row, caller, paths)]
    places = sorted({row.namespace for row in seen})
    if not seen:
        raise access.missing("memory", name)
    if len(places) > 1:
        raise Invalid(
            f"{quote(name)} is a name in several namespaces: {', '.join(places)}",
            hint="say which one with --namespace, or use the id",
            fields={"id": "ambiguous"},
        )
    return seen[0]
