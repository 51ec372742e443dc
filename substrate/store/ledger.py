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
from audit.errors import Integrity, Unavailable
from audit.event import GENESIS_PREV, Event, Target, body, event_hash
from audit.merkle import Frontier, leaf_hash
from audit.state import bucket_of
from substrate.store.db import Connection
from substrate.store.log import EventRow, event_rows, hash_at, newest, parsed, peaks, prev_of, store_after
from substrate.store.state import Change, SignedState

EPOCH = 1
_PAGE = 500  # events read at once
_VERIFY = "run `ai-memory audit verify` to see what differs"


@dataclass(frozen=True)
class Head:
    """The newest event: its number, the hash of its body, the state root it signs, its time."""

    sequence: int
    event_hash: str
    state_root: str
    time: str


class Ledger:
    """What this process knows of the log, and the state that the log's head signs."""

    def __init__(self, state_dir: Path, key: keys.Key | None, *, read_only: bool = False) -> None:
        self.state_dir, self.key, self.read_only = state_dir, key, read_only
        self.state = SignedState()
        self.head: Head | None = None
        self.store_id = ""
        self.genesis_key: str | None = None
        self.situation = Situation.UNANCHORED
        self._anchor: Anchor | None = None
        self._frontier: Frontier | None = None

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
        self._learn_genesis(connection)
        event = self._checked(row)
        first, count = connection.rows("SELECT min(sequence), count(*) FROM signed_events")[0]
        if (first, count) != (1, row[0]):
            raise Integrity(f"the log holds {count} events but its newest is number {row[0]}", hint=_VERIFY)
        head = Head(row[0], event_hash(row[1]), event.state_root, event.time)
        fresh = self._extension(connection, known.sequence, known.event_hash, head) if known else None
        self.store_id = store_after(event)
        found = self._judge(connection, head) if anchored else self.situation
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

    def _learn_genesis(self, connection: Connection) -> None:
        """Read the key the store began with, and the identity it has now, which only a fork changes."""
        rows = event_rows(connection, 0, 1)
        if not rows:
            raise Integrity(
                "the log is empty", hint="restore a backup; `ai-memory audit recover` lists what is missing"
            )
        first = parsed(rows[0])
        if first.type != "store_created" or first.seq != 1 or first.prev != GENESIS_PREV:
            raise Integrity("the first event does not create a store", hint=_VERIFY)
        self.genesis_key = first.payload.get("public_key")
        if self.key is not None and self.key.public != self.genesis_key:
            raise Integrity("keys/store.key is not the key of this store", hint="put the store's own key back")

    def _checked(self, row: EventRow) -> Event:
        """Parse one event and verify its number, store, hash and signature (docs/spec/audit.md §1.1-1.3)."""
        sequence, data, signature, key_id = row
        event = parsed(row)
        if event.seq != sequence or event.key_id != key_id:
            raise Integrity(
                f"event {sequence} does not belong to this place in this log", hint=_VERIFY, sequence=sequence
            )
        if self.genesis_key is None:
            good = signature is None
        else:
            good = signature is not None and keys.verify(self.genesis_key, "event", bytes(data), bytes(signature))
        if not good:
            raise Integrity(f"event {sequence} is not signed by this store's key", hint=_VERIFY, sequence=sequence)
        return event

    def _extension(
        self, connection: Connection, sequence: int, known_hash: str, head: Head
    ) -> list[tuple[EventRow, Event]]:
        """Verify that the log up to ``head`` goes on from the event whose hash is known; give the events after it."""
        if head.sequence < sequence:
            raise Integrity(
                f"the log ends at event {head.sequence}, this process has seen event {sequence}",
                hint="the store was rolled back; `ai-memory audit recover` lists what is missing",
            )
        previous, found = known_hash, []
        for row in event_rows(connection, sequence - 1):
            event = self._checked(row)
            if row[0] == sequence:
                if event_hash(row[1]) != known_hash:
                    raise Integrity(f"event {sequence} was replaced", hint=_VERIFY, sequence=sequence)
                continue
            if event.prev != previous:
                raise Integrity(f"event {row[0]} does not follow event {row[0] - 1}", hint=_VERIFY, sequence=row[0])
            previous = event_hash(row[1])
            found.append((row, event))
        return found

    def _judge(self, connection: Connection, head: Head) -> Situation:
        anchor = anchors.read(anchors.path(self.state_dir, self.store_id))
        if anchor is not None and anchor.genesis_key != self.genesis_key:
            raise Integrity("the store's key is not the one this machine has known", hint="`ai-memory audit recover`")
        self._anchor = anchor
        self.situation = anchors.judge(anchor, head.sequence, head.event_hash, hash_at(connection))
        if self.situation is Situation.BEHIND:
            raise Integrity(
                f"the store is behind what this machine has seen: it ends at event {head.sequence}",
                hint="it was rolled back to an older copy; `ai-memory audit recover` lists what is missing",
                situation="behind",
            )
        if self.situation is Situation.DIVERGED:
            raise Integrity(
                "the log is not an extension of the one this machine has seen",
                hint="a copy of this store went on by itself; `ai-memory audit fork` gives a copy its own identity",
                situation="diverged",
            )
        if anchor is not None and self.situation is Situation.AHEAD:
            self._extension(connection, anchor.sequence, anchor.event_hash, head)
        return self.situation

    def feed(
        self, connection: Connection, after: int, wanted: Callable[[bytes], bool], first: int | None = None
    ) -> Iterator[Event]:
        """Give the events after a sequence whose body is ``wanted``, in order, each verified as a part of this log.

        ``first`` is how many are read to begin with, where no more may be needed.

        A page of events is sound when they are numbered without a gap, each follows the one before, and the last of
        them is the head or signed. Raises Integrity naming the first that is not.
        """
        sequence, previous, page = max(after, 0), "", min(first or _PAGE, _PAGE)
        while sequence < self._head().sequence:
            rows, page = event_rows(connection, sequence, page), _PAGE
            for row in rows:
                if row[0] != sequence + 1 or (previous and prev_of(row[1]) != previous):
                    raise Integrity(f"event {row[0]} does not follow event {sequence}", hint=_VERIFY, sequence=row[0])
                sequence, previous = row[0], event_hash(row[1])
            if not rows or (sequence == self._head().sequence and previous != self._head().event_hash):
                raise Integrity(f"the events after {sequence} are not those of this log", hint=_VERIFY)
            if sequence < self._head().sequence:
                self._checked(rows[-1])
            yield from (parsed(row) for row in rows if wanted(row[1]))

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
    ) -> int:
        """Append one event inside the open transaction and return its number."""
        if self.key is None and self.genesis_key is not None:
            raise Unavailable(
                "keys/store.key is missing, so nothing can be signed", hint="put the store's key file back"
            )
        root = self.state.apply(connection, changes) if changes else self.state.root
        sequence = self.head.sequence + 1 if self.head else 1
        event = Event(
            v=1,
            store_id=self.store_id,
            seq=sequence,
            prev=self.head.event_hash if self.head else GENESIS_PREV,
            epoch=EPOCH,
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
        data = body(event)
        signature = keys.sign(self.key, "event", data) if self.key else None
        connection.insert(
            "signed_events",
            ("sequence", "body", "signature", "key_id"),
            [(sequence, data, signature, event.key_id)],
            {},
        )
        nodes = self.frontier(connection).append(leaf_hash(data))
        connection.insert(
            "merkle_nodes",
            ("level", "position", "hash"),
            [(level, position, digest.hex()) for level, position, digest in nodes],
            {"level": "INTEGER", "position": "BIGINT"},
        )
        self.head = Head(sequence, event_hash(data), root, time)
        return sequence

    def settle(self, connection: Connection) -> None:
        """Write the anchor for the head, if this machine keeps one for this store."""
        if self.situation is Situation.UNANCHORED or self.read_only:
            return
        self.adopt(connection)

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
        self._anchor, self.situation = anchor, Situation.OK

    def checkpoint(self, connection: Connection) -> str:
        """Give the signed note over the whole log as it stands."""
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
            raise Integrity("the log's tree is not the one this machine has seen", hint=_VERIFY)
        for row in event_rows(connection, start, size - start):
            tree.append(leaf_hash(row[1]))
        return tree

    def revert(self, connection: Connection, head: Head) -> None:
        """Go back to ``head`` after a transaction that did not commit; raises Integrity when the log is not there."""
        if event_hash(newest(connection)[1]) != head.event_hash:
            raise Integrity("the log went on although the write failed", hint="try again")
        if self.head != head:
            self.head, self._frontier = head, None
        self.state.load(connection, head.state_root)

    def distrust(self, head: Head | None) -> None:
        """Keep nothing but the head that was seen: what the file holds is read and verified anew."""
        self.head, self._frontier, self.state = head, None, SignedState()

    def _head(self) -> Head:
        if self.head is None:
            raise RuntimeError("the log was not read yet")
        return self.head


def state_folder(home: Path) -> Path:
    """Give the folder for anchors when the caller names none: the user's own state folder, outside every store."""
    return Path(os.path.expanduser("~")) / ".local" / "state" / "ai-memory"
