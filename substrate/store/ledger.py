"""The log inside the file: its head, its tree, its anchor, and the one place that appends to it.

Order of a write, under the file lock: head compared with the anchor, rows and event committed, anchor written,
acknowledged. Source: docs/spec/audit.md §1 and §2.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit import anchor as anchors
from audit import checkpoint as checkpoints
from audit import keys
from audit.anchor import Anchor, Situation
from audit.attestation import Witness, attested
from audit.errors import Integrity, Invalid, Unavailable
from audit.event import GENESIS_PREV, Event, Target, body, event_hash
from audit.merkle import Frontier, leaf_hash
from audit.state import bucket_of
from substrate.store.db import Connection
from substrate.store.epochs import Epochs, after, at, begin, checked, followed, learned
from substrate.store.keyring import Keyring
from substrate.store.log import (
    VERIFY,
    EventRow,
    completed,
    event_rows,
    hash_at,
    insert_events,
    newest,
    parsed,
    peaks,
    prev_of,
    store_after,
)
from substrate.store.model import Row
from substrate.store.state import Change, SignedState

_PAGE = 500  # events read at once


@dataclass(frozen=True)
class Head:
    """The newest event: its number, the hash of its body, the state root it signs, its time."""

    sequence: int
    event_hash: str
    state_root: str
    time: str


class Ledger:
    """What this process knows of the log, and the state that the log's head signs."""

    def __init__(self, state_dir: Path, keyring: Keyring, *, read_only: bool = False) -> None:
        self.state_dir, self.keyring, self.read_only = state_dir, keyring, read_only
        self.state = SignedState()
        self.head: Head | None = None
        self.store_id = ""
        self.epochs: Epochs = ()
        self.situation = Situation.UNANCHORED
        self._anchor: Anchor | None = None
        self._note = ""  # the anchor's checkpoint whose signature was verified
        self._frontier: Frontier | None = None
        self.familiar: dict[str, Row] = {}  # rows that every command asks for, by their commitment

    def begin(self, store_id: str) -> None:
        """Be the log of a new store, before its first event."""
        self.store_id, self.epochs = store_id, begin(self.key.public if self.key else None)

    @property
    def key(self) -> keys.Key | None:
        """The key that signs; None in a store without one, and where its file is missing."""
        return self.keyring.key

    @property
    def genesis_key(self) -> str | None:
        """The public key the store began with."""
        return self.epochs[0].public if self.epochs else None

    @property
    def public_key(self) -> str | None:
        """The public key in force."""
        return self.epochs[-1].public if self.epochs else None

    def refresh(self, connection: Connection, *, anchored: bool = True) -> None:
        """Read the head, hold it against the anchor and against what was seen before, and load the state it signs.

        Raises Integrity when anything differs; nothing is written but the anchor of a log that is validly ahead of it.
        Without ``anchored`` the anchor is neither asked nor written: a person has decided to go on from this log.
        """
        row, known = newest(connection), self.head
        if known is not None and event_hash(row[1]) == known.event_hash and self.state.loaded:
            if anchored:
                self.compare(connection)
            return
        genesis = _genesis(connection)
        fresh = None
        if known is None:
            epochs = learned(connection, genesis)
        else:
            fresh, epochs = self._extension(connection, known.sequence, known.event_hash, row[0])
        event = checked(row, epochs)
        first, count = connection.rows("SELECT min(sequence), count(*) FROM signed_events")[0]
        if (first, count) != (1, row[0]):
            raise Integrity(f"the log holds {count} events but its newest is number {row[0]}", hint=VERIFY)
        head = Head(row[0], event_hash(row[1]), event.state_root, event.time)
        self.store_id, self.epochs = store_after(event), epochs
        found = self._judge(connection, head) if anchored else self.situation
        self.keyring.settle(self.public_key, sure=anchored and found is Situation.OK)
        touched = None if fresh is None else {bucket_of(t, i) for _, e in fresh for t, i, _ in e.commits}
        self.state.load(connection, head.state_root, touched)
        self.head = head
        if self._frontier is not None and fresh is not None:
            for (_, data, _, _), _ in fresh:
                self._frontier.append(leaf_hash(data))
        if found is Situation.AHEAD:
            self.settle(connection)

    def compare(self, connection: Connection) -> None:
        """Hold the head against the anchor as it lies there now; a log validly ahead of it is anchored anew.

        Raises Integrity for a log that is behind the anchor or not an extension of it: a copy of the store, or the
        store this is a copy of, may have gone on by itself.
        """
        if self._judge(connection, self._head()) is Situation.AHEAD:
            self.settle(connection)

    def _extension(
        self, connection: Connection, sequence: int, known_hash: str, end: int
    ) -> tuple[list[tuple[EventRow, Event]], Epochs]:
        """Verify that the log up to event ``end`` goes on from the event whose hash is known.

        Gives the events after it, and the epochs they lead to from those known at it.
        """
        if end < sequence:
            raise Integrity(
                f"the log ends at event {end}, this process has seen event {sequence}",
                hint="the store was rolled back; `ai-memory audit recover` lists what is missing",
            )
        previous, epochs, found = known_hash, after(self.epochs, sequence), []
        for row in event_rows(connection, sequence - 1):
            event = checked(row, epochs)
            if row[0] == sequence:
                if event_hash(row[1]) != known_hash:
                    raise Integrity(f"event {sequence} was replaced", hint=VERIFY, sequence=sequence)
                continue
            if event.prev != previous:
                raise Integrity(f"event {row[0]} does not follow event {row[0] - 1}", hint=VERIFY, sequence=row[0])
            previous, epochs = event_hash(row[1]), followed(epochs, event)
            found.append((row, event))
        return found, epochs

    def _judge(self, connection: Connection, head: Head) -> Situation:
        anchor = anchors.read(anchors.path(self.state_dir, self.store_id))
        if anchor is not None and anchor.genesis_key != self.genesis_key:
            raise Integrity("the store's key is not the one this machine has known", hint="`ai-memory audit recover`")
        self._anchor = anchor
        self.situation = anchors.judge(anchor, head.sequence, head.event_hash, hash_at(connection))
        if self.situation is Situation.BEHIND:
            raise Integrity(
                f"the store is behind what this machine has seen: it ends at event {head.sequence}",
                hint="it is an older copy, or its write-ahead log was cut: `ai-memory audit recover` lists what is"
                " missing, `ai-memory restore` brings a backup back",
                situation="behind",
            )
        if self.situation is Situation.DIVERGED:
            raise Integrity(
                "the log is not an extension of the one this machine has seen",
                hint="a copy of this store went on by itself; `ai-memory audit fork` gives a copy its own identity",
                situation="diverged",
            )
        if anchor is not None:
            self._check_note(anchor)
            if self.situation is Situation.AHEAD:
                _, epochs = self._extension(connection, anchor.sequence, anchor.event_hash, head.sequence)
                if epochs != self.epochs:
                    raise Integrity("the log's keys are not those its events put in force", hint=VERIFY)
        return self.situation

    def _check_note(self, anchor: Anchor) -> None:
        """See that the key in force after the anchored event signed the anchor's checkpoint.

        A log whose rotations somebody hid, to sign with a key from before them, is refused here.
        """
        if anchor.checkpoint == self._note:
            return
        public = at(self.epochs, anchor.sequence + 1).public
        name = checkpoints.origin(self.store_id)
        try:
            checkpoints.parse(anchor.checkpoint, {name: public} if public is not None else None)
        except (Integrity, Invalid) as error:
            raise Integrity(
                f"the anchor does not fit the keys of this log: {error.message}", hint="`ai-memory audit recover`"
            ) from error
        self._note = anchor.checkpoint

    def feed(
        self,
        connection: Connection,
        after: int,
        wanted: Callable[[bytes], bool],
        first: int | None = None,
        *,
        signed: bool = False,
    ) -> Iterator[Event]:
        """Give the events after a sequence whose body is ``wanted``, in order, each verified as a part of this log.

        ``first`` is how many are read to begin with, where no more may be needed.

        A page of events is sound when they are numbered without a gap, each follows the one before, and the last of
        them is the head or signed. With ``signed`` the signature of each event given is verified too, at 0.1 ms.
        Raises Integrity naming the first that is not sound.
        """
        sequence, previous, page = max(after, 0), "", min(first or _PAGE, _PAGE)
        while sequence < self._head().sequence:
            rows, page = event_rows(connection, sequence, page), _PAGE
            for row in rows:
                if row[0] != sequence + 1 or (previous and prev_of(row[1]) != previous):
                    raise Integrity(f"event {row[0]} does not follow event {sequence}", hint=VERIFY, sequence=row[0])
                sequence, previous = row[0], event_hash(row[1])
            if not rows or (sequence == self._head().sequence and previous != self._head().event_hash):
                raise Integrity(f"the events after {sequence} are not those of this log", hint=VERIFY)
            if sequence < self._head().sequence:
                checked(rows[-1], self.epochs)
            found = (row for row in rows if wanted(row[1]))
            yield from (checked(row, self.epochs) if signed else parsed(row) for row in found)

    def append(
        self,
        connection: Connection,
        *,
        time: str,
        actor: str,
        type: str,
        namespace: str | None,
        subject: str | None,
        payload: Mapping[str, Any],
        audience: Sequence[Target],
        changes: Sequence[Change],
        witness: Witness | None = None,
    ) -> int:
        """Append one event inside the open transaction, vouched for by a witness if there is one; return its number."""
        if not self.signs:
            raise _keyless()
        root = self.state.apply(connection, changes) if changes else self.state.root
        sequence = self.head.sequence + 1 if self.head else 1
        event = Event(
            v=1,
            store_id=self.store_id,
            seq=sequence,
            prev=self.head.event_hash if self.head else GENESIS_PREV,
            epoch=self.epochs[-1].number,
            key_id=self.key.key_id if self.key else None,
            time=time,
            actor=actor,
            namespace=namespace,
            type=type,
            subject=subject,
            payload=dict(payload),
            audience=tuple(audience),
            commits=tuple(changes),
            state_root=root,
        )
        if witness is not None:
            event = attested(event, witness)
        data = body(event)
        signature = keys.sign(self.key, "event", data) if self.key else None
        nodes = completed(self.frontier(connection).append(leaf_hash(data)))
        insert_events(connection, [(sequence, data, signature, event.key_id, nodes)])
        self.head = Head(sequence, event_hash(data), root, time)
        before, self.epochs = self.epochs, followed(self.epochs, event)
        if self.epochs != before:
            self.keyring.take_up()
        return sequence

    def prepare_rotation(self) -> dict[str, object]:
        """Make the key that is to follow and give the payload of the event that puts it in force."""
        last = self.epochs[-1]
        return keys.rotation(self.store_id, last.number + 1, last.public, self.keyring.prepare())

    @property
    def signs(self) -> bool:
        """Whether events can be appended: the key is here, or there is none."""
        return self.key is not None or self.public_key is None

    def settle(self, connection: Connection) -> None:
        """Write the anchor for the head, if this machine keeps one for this store and can sign it.

        Then the seed of a key that was rotated is erased.
        """
        if self.situation is not Situation.UNANCHORED and not self.read_only and self.signs:
            self.adopt(connection)
        self.keyring.finish()

    def adopt(self, connection: Connection, verified_at: str | None = None) -> None:
        """Make the head this machine's anchor, keeping the time of the last whole verification."""
        head = self._head()
        path = anchors.path(self.state_dir, self.store_id)
        anchor = Anchor(
            store_id=self.store_id,
            sequence=head.sequence,
            event_hash=head.event_hash,
            checkpoint=self.checkpoint(connection),
            genesis_key=self.genesis_key,
            written_at=head.time,
            verified_at=verified_at or (self._anchor.verified_at if self._anchor else None),
        )
        anchors.write(path, anchor)
        self._anchor, self._note, self.situation = anchor, anchor.checkpoint, Situation.OK

    def checkpoint(self, connection: Connection) -> str:
        """Give the note over the whole log as it stands, signed by the key in force. Raises Unavailable without it."""
        if not self.signs:
            raise _keyless()
        tree = self.frontier(connection)
        note = checkpoints.Checkpoint(checkpoints.origin(self.store_id), tree.size, tree.root())
        return checkpoints.sign(note, self.key) if self.key else checkpoints.unsigned_note(note)

    def frontier(self, connection: Connection) -> Frontier:
        """Give the peaks of the tree over the log up to the head.

        Raises Integrity when the tree kept in the file is not the one of the anchor's checkpoint: nothing may be signed
        over it then.
        """
        size = self.head.sequence if self.head else 0
        if self._frontier is None or self._frontier.size != size:
            self._frontier = self._load_frontier(connection, size)
        return self._frontier

    def _load_frontier(self, connection: Connection, size: int) -> Frontier:
        if self._anchor is None or self._anchor.sequence > size:
            return Frontier.load(size, peaks(connection, size))
        start = self._anchor.sequence
        tree = Frontier.load(start, peaks(connection, start))
        if checkpoints.parse(self._anchor.checkpoint, None).root != tree.root():
            raise Integrity("the log's tree is not the one this machine has seen", hint=VERIFY)
        for row in event_rows(connection, start, size - start):
            tree.append(leaf_hash(row[1]))
        return tree

    def revert(self, connection: Connection, head: Head) -> None:
        """Go back to ``head`` after a transaction that did not commit; raises Integrity when the log is not there."""
        if event_hash(newest(connection)[1]) != head.event_hash:
            raise Integrity("the log went on although the write failed", hint="try again")
        if self.head != head:
            self.head, self._frontier = head, None
            self.epochs = after(self.epochs, head.sequence)
            self.keyring.settle(self.public_key, sure=True)
        self.state.load(connection, head.state_root)

    def distrust(self, head: Head | None) -> None:
        """Keep nothing but the head that was seen: what the file holds is read and verified anew."""
        self.head, self._frontier, self.state = head, None, SignedState()

    def _head(self) -> Head:
        if self.head is None:
            raise RuntimeError("the log was not read yet")
        return self.head


def _genesis(connection: Connection) -> str | None:
    """Read the key the store began with."""
    rows = event_rows(connection, 0, 1)
    if not rows:
        raise Integrity("the log is empty", hint="restore a backup; `ai-memory audit recover` lists what is missing")
    first = parsed(rows[0])
    if first.type != "store_created" or first.seq != 1 or first.prev != GENESIS_PREV:
        raise Integrity("the first event does not create a store", hint=VERIFY)
    public: str | None = first.payload.get("public_key")
    return public


def _keyless() -> Unavailable:
    return Unavailable("keys/store.key is missing, so nothing can be signed", hint="put the store's key file back")


def state_folder(home: Path) -> Path:
    """Give the folder for anchors when the caller names none: the user's own state folder, outside every store."""
    return Path(os.path.expanduser("~")) / ".local" / "state" / "ai-memory"
