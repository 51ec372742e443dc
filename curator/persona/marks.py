"""Know what the log says and no row does: when a persona was last tried in vain, and when entities were merged.

The log is read once: what was found stands in ``cursors``, with how far it was read, and comes from the first event
again when it is gone.

Source: docs/spec/persona.md §8.
"""

from __future__ import annotations

from dataclasses import dataclass

from audit.event import Event
from substrate.store.model import row_id
from substrate.store.transaction import Reader, Transaction

READ = "cadence"
_TRIED, _MERGED = "cadence.tried.", "cadence.merged."
_TYPES = ("entity_changed", "persona_failed", "persona_refused")


@dataclass(frozen=True)
class Marks:
    """Event numbers by name, as of the newest event."""

    positions: dict[str, int]

    def tried(self, namespace: str, entity_id: str) -> int:
        """Give the number of the last attempt that failed or was refused, 0 for none."""
        return self.positions.get(_TRIED + row_id(namespace, entity_id), 0)

    def attempts(self) -> dict[tuple[str, str], int]:
        """Map each namespace and entity whose persona was tried in vain to the number of the last such attempt."""
        named = {name.removeprefix(_TRIED): at for name, at in self.positions.items() if name.startswith(_TRIED)}
        return {_parts(name): at for name, at in named.items()}

    def merged(self, namespace: str, gone: str) -> int:
        """Give the number of the event that merged an id of this namespace into another, 0 for none."""
        return self.positions.get(_MERGED + row_id(namespace, gone), 0)


def marks(r: Reader) -> Marks:
    """Read on to the newest event; inside a transaction what was found is kept."""
    known = dict(r.query("SELECT name, position FROM cursors WHERE name = ? OR name LIKE 'cadence.%'", (READ,)))
    if known.get(READ, 0) > r.head.sequence:  # the log is another one
        known = {}
    after = known.get(READ, 0)
    if after == r.head.sequence:
        return Marks(known)
    found = {READ: r.head.sequence}
    for event in r.events(after=after, types=_TYPES):
        if name := _name(event):
            found[name] = event.seq
    if isinstance(r, Transaction):
        if not after:
            r.derived("DELETE FROM cursors WHERE name LIKE 'cadence.%'")
        for name, position in found.items():
            r.derived(
                "INSERT INTO cursors (name, position, updated_at) VALUES (?, ?, ?) ON CONFLICT (name)"
                " DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at",
                (name, position, r.now),
            )
    return Marks(known | found)


def _parts(name: str) -> tuple[str, str]:
    """Take the name of a row with two keys apart."""
    length, _, rest = name.partition(":")
    place = rest.encode()[: int(length)].decode()
    return place, rest[len(place) :].partition(":")[2]


def _name(event: Event) -> str | None:
    if event.namespace is None or event.subject is None:
        return None
    if event.type != "entity_changed":
        return _TRIED + row_id(event.namespace, event.subject)
    return _MERGED + row_id(event.namespace, event.subject) if event.payload.get("change") == "merged" else None
