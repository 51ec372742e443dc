"""Build logs to verify: genuine ones, with real keys that are the same in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nacl.signing import SigningKey

from audit import attestation, checkpoint, event, keys, merkle, state
from audit.anchor import Anchor
from audit.event import Event
from audit.verify import Row

TIME = "2026-05-14T09:30:00.000000Z"


def key(number: int = 1) -> keys.Key:
    """Return one of 255 fixed keys."""
    return keys.Key(SigningKey(bytes([number]) * 32))


def commitment(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Log:
    """Write a log event by event, keeping everything a store would keep."""

    def __init__(self, signer: keys.Key | None, store_id: str = "sto-1") -> None:
        self.signer, self.store_id, self.epoch = signer, store_id, event.FIRST_EPOCH
        self.genesis_key = signer.public if signer else None
        self.rows: list[Row] = []
        self.state = state.State()
        self.tree = merkle.Frontier()
        self.nodes: dict[tuple[int, int], bytes] = {}
        self.add("store_created", payload={"public_key": self.genesis_key})

    def add(
        self,
        type: str = "memory_added",
        commits: tuple[event.Commit, ...] = (),
        *,
        witness: attestation.Witness | None = None,
        **fields: Any,
    ) -> Event:
        """Append one event over `commits`; `fields` replace what the log would have written."""
        self.state.apply(commits)
        sequence = len(self.rows) + 1
        one = Event(
            store_id=self.store_id,
            seq=sequence,
            prev=event.event_hash(self.rows[-1][1]) if self.rows else event.GENESIS_PREV,
            epoch=self.epoch,
            key_id=self.signer.key_id if self.signer else None,
            time=TIME,
            actor="hum-1",
            namespace="global",
            type=type,
            subject=f"mem-{sequence}",
            payload={"id": f"mem-{sequence}", "by": "hum-1"},
            commits=commits,
            state_root=self.state.root(),
        )
        one = replace(one, **fields)
        if witness is not None:
            one = attestation.attested(one, witness)
        self.append(event.body(one), one.key_id)
        return one

    def append(self, body: bytes, key_id: str | None) -> None:
        """Sign a body as it is and put it at the end."""
        signature = keys.sign(self.signer, "event", body) if self.signer else None
        self.rows.append((len(self.rows) + 1, body, signature, key_id))
        for level, index, node in self.tree.append(merkle.leaf_hash(body)):
            self.nodes[level, index] = node

    def fill(self, count: int) -> Log:
        """Add events until there are `count`: rows added, changed, removed."""
        while len(self.rows) < count:
            n = len(self.rows)
            commits: list[event.Commit] = [("memories", f"mem-{n}", commitment(f"{n}"))]
            if n % 3 == 0:
                commits.append(("memory_links", f"mem-{n} mem-1 derived_from", commitment(f"link {n}")))
            if n % 4 == 0:
                commits.append(("memories", f"mem-{n - 2}", commitment(f"tombstone {n - 2}")))
            if n % 5 == 0:
                commits.append(("claims", f"mem-{n - 5}", None))
            self.add(commits=tuple(commits), audience=("all", ("team/alpha", "member:agt-1")))
        return self

    def register(self, principal_id: str, held: keys.Key) -> Event:
        """Record that a key is a principal's."""
        return self.add("key_added", payload={"principal_id": principal_id, "key_id": held.key_id}, actor=principal_id)

    def rotate(self, new: keys.Key) -> None:
        """Put a new key in the place of the present one."""
        payload = keys.rotation(self.store_id, self.epoch + 1, self.signer.public if self.signer else None, new)
        self.add("key_rotated", payload=payload)
        self.signer, self.epoch = new, self.epoch + 1

    def fork(self, store_id: str) -> None:
        """Give the log another store id from the next event on."""
        self.add("store_forked", payload={"store_id": store_id})
        self.store_id = store_id

    def get(self, level: int, index: int) -> bytes:
        return self.nodes[level, index]

    def checkpoint(self) -> checkpoint.Checkpoint:
        return checkpoint.Checkpoint(checkpoint.origin(self.store_id), self.tree.size, self.tree.root())

    def note(self) -> str:
        """Return the note over the log as it stands."""
        if self.signer is None:
            return checkpoint.unsigned_note(self.checkpoint())
        return checkpoint.sign(self.checkpoint(), self.signer)

    def anchor(self) -> Anchor:
        """Return the anchor for the log as it stands."""
        return Anchor(
            store_id=self.store_id,
            sequence=len(self.rows),
            event_hash=event.event_hash(self.rows[-1][1]),
            checkpoint=self.note(),
            genesis_key=self.genesis_key,
            written_at=TIME,
        )

    def rewrite(self, position: int, change: Callable[[Event], Event]) -> Log:
        """Return a log in which somebody with the key changed one event and wrote everything after it anew."""
        other = Log.__new__(Log)
        other.__dict__.update(self.__dict__)
        other.rows, other.tree, other.nodes = [], merkle.Frontier(), {}
        for sequence, body, _, key_id in self.rows:
            one = event.parse(body)
            if sequence == position:
                one = change(one)
            if other.rows:
                one = replace(one, prev=event.event_hash(other.rows[-1][1]))
            other.append(event.body(one), key_id)
        return other
