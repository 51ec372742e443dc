"""Verify a whole log in one pass, and name every event that does not hold.

The steps V1 to V13 are those of docs/spec/audit.md §2.5. Nothing is read or written here; rows come in, faults go out.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from audit import checkpoint, keys, merkle
from audit.anchor import Anchor
from audit.attestation import Registry
from audit.errors import AiMemoryError, Invalid
from audit.event import FIRST_EPOCH, GENESIS_PREV, Event, event_hash, parse
from audit.state import State

Row = tuple[int, bytes, bytes | None, str | None]  # sequence, body, signature, key id

_BATCH = (
    256  # signatures a thread checks in one go: libsodium stays in the processor's cache and lets go of Python's lock
)
_THREADS = min(os.cpu_count() or 1, 8)


@dataclass(frozen=True, slots=True)
class Fault:
    """Name one thing that does not hold: what kind, at which event, about which subject.

    Kinds: sequence, body, chain, store, key, signature, rotation, attestation, state, checkpoint, anchor, export.
    """

    kind: str
    sequence: int | None
    subject: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Hold what the log says once it has been read to its end.

    `size` counts events, `commits` maps (table, row id) to the latest commitment, `keys` lists the public keys in
    order, `fault_count` counts every fault, also those beyond the limit; `anchored` says that an anchor was given
    and agrees; `registry` knows which key is whose and whose is sealed.
    """

    store_id: str | None
    size: int
    head_hash: str
    root: bytes
    state_root: str
    commits: dict[tuple[str, str], str]
    keys: tuple[str, ...]
    fault_count: int
    anchored: bool
    registry: Registry


def verify_log(
    rows: Iterable[Row],
    store_id: str,
    genesis_key: str | None,
    *,
    notes: Sequence[str] = (),
    anchor: Anchor | None = None,
    limit: int = 1000,
) -> tuple[list[Fault], Summary]:
    """Read the rows of a log in order; return its faults, at most `limit`, and what it says.

    Faults are sorted by sequence, those of no event last. `genesis_key` is the public key the store began with, in
    hex, or None for a store without a key. `notes` are checkpoints kept elsewhere; each has to be a state this log
    went through. The log holds when there is no fault.
    """
    with ThreadPoolExecutor(_THREADS) as threads:
        walk = _Walk(genesis_key, limit, set(), threads)
        checkpoints = walk.read_notes([*notes, anchor.checkpoint] if anchor else notes)
        for row in rows:
            walk.step(row, anchor.sequence if anchor else None)
        walk.check_signatures()
    walk.check_store(store_id)
    for note, claim in checkpoints:
        walk.check_checkpoint(note, claim)
    anchored = anchor is not None and walk.check_anchor(anchor, store_id, genesis_key)
    walk.faults.sort(key=lambda fault: fault.sequence or math.inf)
    return walk.faults, walk.summary(anchored)


@dataclass
class _Walk:
    """Stand at one event of a log, knowing what the next has to be."""

    key: str | None
    limit: int
    wanted_sizes: set[int]
    threads: ThreadPoolExecutor
    expected: int = 1
    prev: str = GENESIS_PREV
    epoch: int = FIRST_EPOCH
    key_id: str | None = None
    state_holds: bool = True
    waiting: list[tuple[Event, bytes, bytes | None]] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    signers: dict[int, str | None] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    fault_count: int = 0
    anchored_hash: str | None = None
    roots: dict[int, bytes] = field(default_factory=dict)
    frontier: merkle.Frontier = field(default_factory=merkle.Frontier)
    state: State = field(default_factory=State)
    registry: Registry = field(default_factory=Registry)

    def __post_init__(self) -> None:
        self._use(self.key)
        self.signers[0] = self.key

    def _use(self, key: str | None) -> None:
        """Put a key in force, after the one before has answered for its events."""
        self.check_signatures()
        self.key, self.key_id = key, keys.key_id(key) if key else None
        if key is not None:
            self.keys.append(key)

    def fault(self, kind: str, message: str, sequence: int | None = None, subject: str | None = None) -> None:
        self.fault_count += 1
        if len(self.faults) < self.limit:
            self.faults.append(Fault(kind, sequence, subject, message))

    def step(self, row: Row, anchored_at: int | None) -> None:
        """Verify one event and move on behind it."""
        sequence, body, signature, row_key_id = row
        gap = self._check_number(sequence)
        digest = event_hash(body)
        if sequence == anchored_at:
            self.anchored_hash = digest
        event = self._parse(sequence, body)
        if event is not None:
            if not gap:
                self._check_chain(event)
            self._check_store(event)
            self._check_key(event, body, signature, row_key_id)
            self._follow(event)
            self._check_state(event)
            self._check_attestation(event)
        self.prev = digest
        # V9: every body is a leaf, also one that does not hold: the tree is over the bytes
        self.frontier.append(merkle.leaf_hash(body))
        if self.frontier.size in self.wanted_sizes:
            self.roots[self.frontier.size] = self.frontier.root()
            self.signers[self.frontier.size] = self.key

    def _check_number(self, sequence: int) -> bool:
        """V1: events are numbered from 1 without a gap."""
        expected, self.expected = self.expected, sequence + 1
        if sequence == expected:
            return False
        if sequence > expected:
            missing = f"event {expected} is" if sequence == expected + 1 else f"events {expected} to {sequence - 1} are"
            self.fault("sequence", f"{missing} missing", expected)
        else:
            self.fault("sequence", f"event {sequence} stands where event {expected} belongs", sequence)
        return True

    def _parse(self, sequence: int, body: bytes) -> Event | None:
        """V2: the body is canonical, complete, of a known version and type, and says its own number."""
        try:
            event = parse(body)
        except Invalid as error:
            self.fault("body", f"event {sequence} cannot be read: {error}", sequence)
            self.state_holds = False  # its commits are unknown: no root can be computed from here on
            return None
        if event.seq != sequence:
            self.fault("sequence", f"event {sequence} says that it is event {event.seq}", sequence, event.subject)
            self.state_holds = False
            return None
        if (event.type == "store_created") != (sequence == 1):
            self.fault("sequence", f"event {sequence} is {event.type}: a log begins with store_created", sequence)
        return event

    def _check_chain(self, event: Event) -> None:
        """V3: `prev` is the hash of the body before."""
        if event.prev != self.prev:
            before = f"event {event.seq - 1}" if event.seq > 1 else "nothing"
            message = f"event {event.seq} does not follow on {before}: one of the two was changed"
            self.fault("chain", message, event.seq, event.subject)

    def _check_store(self, event: Event) -> None:
        """V4: every event is of one store, which only `store_forked` renames."""
        if not self.stores:
            self.stores.append(event.store_id)
        elif event.store_id != self.stores[-1]:
            message = f"event {event.seq} belongs to store {event.store_id}, not {self.stores[-1]}"
            self.fault("store", message, event.seq, event.subject)

    def _check_key(self, event: Event, body: bytes, signature: bytes | None, row_key_id: str | None) -> None:
        """V5: epoch and key id are those in force, and without a key nothing is signed."""
        if event.epoch != self.epoch or not event.key_id == row_key_id == self.key_id:
            message = f"event {event.seq} names key {event.key_id} of epoch {event.epoch}, in force is {self.key_id}"
            self.fault("key", f"{message} of epoch {self.epoch}", event.seq, event.subject)
        if self.key is not None:
            self.waiting.append((event, body, signature))
            if len(self.waiting) == _BATCH * _THREADS:
                self.check_signatures()
        elif signature is not None:
            self.fault("signature", f"event {event.seq} is signed in a store without a key", event.seq, event.subject)

    def check_signatures(self) -> None:
        """V6: the key in force signed the bodies that wait."""
        if not self.waiting:
            return
        parts = [self.waiting[first : first + _BATCH] for first in range(0, len(self.waiting), _BATCH)]
        for event in chain.from_iterable(self.threads.map(partial(_badly_signed, self.key or ""), parts)):
            self.fault("signature", f"the signature of event {event.seq} is bad", event.seq, event.subject)
        self.waiting.clear()

    def _follow(self, event: Event) -> None:
        """V7: a rotation is countersigned by a key that was never in force; it is from the next event on."""
        if event.type == "store_forked" and isinstance(event.payload.get("store_id"), str):
            self.stores.append(event.payload["store_id"])
        if event.type != "key_rotated":
            return
        public = keys.rotated(event.store_id, self.epoch + 1, self.key, event.payload)
        if public is None or public in self.keys:
            self.fault("rotation", f"event {event.seq}: no new key signed the rotation", event.seq)
            return
        self._use(public)
        self.epoch += 1

    def _check_state(self, event: Event) -> None:
        """V8: the rows' commitments so far give the `state_root` the event carries."""
        self.state.apply(event.commits)
        held, self.state_holds = self.state_holds, self.state.root() == event.state_root
        if held and not self.state_holds:  # later events build on this one: say it once
            message = f"the state root of event {event.seq} does not follow from the commits up to it"
            self.fault("state", message, event.seq, event.subject)

    def _check_attestation(self, event: Event) -> None:
        """V13: who vouches for the event signed it with a key of its own, and who has sealed that key always does."""
        if message := self.registry.fault(event):
            self.fault("attestation", message, event.seq, event.subject)

    def check_store(self, store_id: str) -> None:
        """V10: there is a log, and it ends as the log of the store asked for."""
        if self.frontier.size == 0:
            self.fault("sequence", "the log is empty")
        elif not self.stores or self.stores[-1] != store_id:
            found = self.stores[-1] if self.stores else "no store"
            self.fault("store", f"the log belongs to {found}, not to {store_id}")

    def read_notes(self, notes: Sequence[str]) -> list[tuple[str, checkpoint.Checkpoint]]:
        """Read what the notes claim, before any key is known, and want the roots at those sizes."""
        checkpoints = []
        for note in notes:
            try:
                checkpoints.append((note, checkpoint.parse(note, None)))
            except Invalid as error:
                self.fault("checkpoint", str(error))
        self.wanted_sizes.update(claim.size for _, claim in checkpoints)
        return checkpoints

    def check_checkpoint(self, note: str, claim: checkpoint.Checkpoint) -> None:
        """V11: a checkpoint is signed by the key in force at its size, for this store, and the tree had that root."""
        message, signers = "", [self.signers[claim.size]] if claim.size in self.signers else self.keys
        if claim.origin not in {checkpoint.origin(store) for store in self.stores}:
            message = f"the checkpoint is of {claim.origin}"
        elif signers and not any(key is None or _signed(note, claim, key) for key in signers):
            message = f"the checkpoint at {claim.size} is not signed by the key of this log at that size"
        elif claim.size > self.frontier.size:
            message = f"the checkpoint counts {claim.size} events, the log has {self.frontier.size}: the rest is gone"
        elif self.roots.get(claim.size, merkle.EMPTY_ROOT) != claim.root:
            message = f"the first {claim.size} events are not those of the checkpoint"
        if message:
            self.fault("checkpoint", message)

    def check_anchor(self, anchor: Anchor, store_id: str, genesis_key: str | None) -> bool:
        """V12: the anchor is this store's, began with the same key, and the anchored event is in its place."""
        before = self.fault_count
        if anchor.store_id != store_id or anchor.genesis_key != genesis_key:
            self.fault("anchor", "the anchor is of another store, or of this one with another key")
        if self.anchored_hash is None:
            message = f"the anchor saw event {anchor.sequence}, which is not in the log"
            self.fault("anchor", message, anchor.sequence)
        elif self.anchored_hash != anchor.event_hash:
            self.fault("anchor", f"event {anchor.sequence} is not the one the anchor saw", anchor.sequence)
        return self.fault_count == before

    def summary(self, anchored: bool) -> Summary:
        return Summary(
            store_id=self.stores[-1] if self.stores else None,
            size=self.frontier.size,
            head_hash=self.prev,
            root=self.frontier.root(),
            state_root=self.state.root(),
            commits=self.state.commits,
            keys=tuple(self.keys),
            fault_count=self.fault_count,
            anchored=anchored,
            registry=self.registry,
        )


def _signed(note: str, claim: checkpoint.Checkpoint, key: str) -> bool:
    try:
        checkpoint.parse(note, {claim.origin: key})
    except AiMemoryError:
        return False
    return True


def _badly_signed(key: str, waiting: Sequence[tuple[Event, bytes, bytes | None]]) -> list[Event]:
    return [
        event
        for event, body, signature in waiting
        if signature is None or not keys.verify(key, "event", body, signature)
    ]
