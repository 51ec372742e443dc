"""Which key signs which events: one after another, each put in force by an event that the one before has signed.

The list is built from the events alone. What the file says beside them only tells where to look.
Source: docs/spec/audit.md §3.
"""

from __future__ import annotations

from dataclasses import dataclass

from audit import keys
from audit.errors import Integrity
from audit.event import FIRST_EPOCH, Event
from substrate.store.db import Connection
from substrate.store.log import VERIFY, EventRow, event_rows, parsed


@dataclass(frozen=True, slots=True)
class Epoch:
    """The number of an epoch, its public key (None in a store without one), the first event of it."""

    number: int
    public: str | None
    first: int

    @property
    def key_id(self) -> str | None:
        """The short name of its key."""
        return keys.key_id(self.public) if self.public is not None else None


Epochs = tuple[Epoch, ...]


def begin(public: str | None) -> Epochs:
    """Give the epochs of a log that is about to begin."""
    return (Epoch(FIRST_EPOCH, public, 1),)


def at(epochs: Epochs, sequence: int) -> Epoch:
    """Give the epoch of an event."""
    return next(epoch for epoch in reversed(epochs) if epoch.first <= sequence)


def after(epochs: Epochs, sequence: int) -> Epochs:
    """Give the epochs as they were known after an event."""
    return tuple(epoch for epoch in epochs if epoch.first <= sequence + 1)


def followed(epochs: Epochs, event: Event) -> Epochs:
    """Give the epochs after the next event. Raises Integrity for a rotation that puts no new key in force."""
    if event.type != "key_rotated":
        return epochs
    last = epochs[-1]
    public = keys.rotated(event.store_id, last.number + 1, last.public, event.payload)
    if public is None or public in {epoch.public for epoch in epochs}:
        raise Integrity(f"event {event.seq} puts no new key in force", hint=VERIFY, sequence=event.seq)
    return (*epochs, Epoch(last.number + 1, public, event.seq + 1))


def learned(connection: Connection, genesis: str | None) -> Epochs:
    """Give the epochs of a log from the key it began with, reading no events but the last of each key.

    Raises Integrity where one of them is no rotation. Events are not looked for that somebody hid: the head and the
    anchor's checkpoint have to be signed by the key found last.
    """
    epochs = begin(genesis)
    *ends, head = connection.rows("SELECT max(sequence) FROM signed_events GROUP BY key_id ORDER BY 1")
    for (sequence,) in ends:
        before, epochs = epochs, followed(epochs, checked(event_rows(connection, sequence - 1, 1)[0], epochs))
        if epochs == before:
            raise Integrity(f"event {sequence + 1} is signed by another key", hint=VERIFY, sequence=sequence + 1)
    return followed(epochs, checked(event_rows(connection, head[0] - 1, 1)[0], epochs))


def checked(row: EventRow, epochs: Epochs) -> Event:
    """Parse one event and verify its number, its epoch and its signature (docs/spec/audit.md §1.1-1.3).

    Raises Integrity naming it.
    """
    sequence, data, signature, key_id = row
    event = parsed(row)
    if event.seq != sequence:
        raise Integrity(f"event {sequence} does not belong to this place in this log", hint=VERIFY, sequence=sequence)
    epoch = at(epochs, sequence)
    good = (event.epoch, event.key_id, key_id) == (epoch.number, epoch.key_id, epoch.key_id)
    if epoch.public is None:
        good = good and signature is None
    else:
        good = good and signature is not None and keys.verify(epoch.public, "event", bytes(data), bytes(signature))
    if not good:
        raise Integrity(f"event {sequence} is not signed by this store's key", hint=VERIFY, sequence=sequence)
    return event
