"""Spoil a log in ways an attacker might, and ask both verifiers about it.

A log is taken apart into the documents of its events; some are changed, dropped, doubled, moved or exchanged; then as
much of the chain, of the state roots, of the numbers, of the attestations, of the signatures and of the checkpoint is
made good again as the attacker happens to manage, with the right keys or with others; last, a byte of the file may
turn. Some logs come out whole, most do not, and the two verifiers have to say the same of each.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, product

from audit import attestation, canonical, checkpoint, event, independent, keys, merkle, state
from audit.errors import AiMemoryError
from audit.export import verify_export
from tests.audit.logs import key
from tests.audit.spoilers import (
    ATTESTED,
    CHANGES,
    KEYS,
    PLAIN,
    VOUCHED,
    WITNESSES,
    Draft,
    Json,
    Left,
    attest,
    columns,
    flipped,
    other_anchor,
    said_of,
    taken_apart,
)

PARTS = ("numbers", "states", "keys", "chain", "attestations", "signatures", "note", "anchor")


def bytes_of(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def some_parts(chance: random.Random) -> set[str]:
    """Choose everything but one part, or everything, or what comes."""
    careful = chance.random() < 0.9
    left = chance.choice([None, None, *PARTS]) if careful else None
    return {part for part in PARTS if part != left and (careful or chance.random() < 0.5)}


def mend(draft: Draft, parts: set[str], chance: random.Random) -> None:
    """Make parts good again; places before what is computed over them."""
    if "numbers" in parts:
        for number, one in enumerate(draft.events, start=1):
            draft.numbers[number - 1] = one["seq"] = number
    if "states" in parts:
        _follow_state(draft)
    if "keys" in parts:
        _follow_keys(draft)
    for before, one in zip([None, *draft.events[:-1]], draft.events, strict=True):
        if "chain" in parts:
            one["prev"] = event.GENESIS_PREV if before is None else event.event_hash(bytes_of(before))
        if "attestations" in parts:
            _vouch(one)
    if "signatures" in parts:
        _sign(draft, chance)
    if "note" in parts:
        _note(draft, chance)
    if "anchor" in parts and chance.random() < 0.3:
        draft.header.pop("anchor", None)


def _follow_state(draft: Draft) -> None:
    held = state.State()
    for one in draft.events:
        try:
            held.apply([(table, row, commit) for table, row, commit in one["commits"]])
        except (KeyError, TypeError, ValueError, AttributeError):
            return
        one["state_root"] = held.root()


def _in_force(draft: Draft) -> Iterator[tuple[int, Json, keys.Key | None]]:
    """Walk through the events with the key that each should be signed by, if rotations were not looked at closely."""
    genesis = draft.header.get("genesis_key")
    held = KEYS.get(genesis) if isinstance(genesis, str) else None
    for at, one in enumerate(draft.events):
        yield at, one, held
        payload = one.get("payload")
        if one.get("type") == "key_rotated" and isinstance(payload, dict):
            public = payload.get("public_key")
            held = KEYS.get(public, held) if isinstance(public, str) else held


def _follow_keys(draft: Draft) -> None:
    epoch = event.FIRST_EPOCH
    for at, one, held in _in_force(draft):
        draft.key_ids[at] = one["key_id"] = held.key_id if held else None
        one["epoch"] = epoch
        epoch += one.get("type") == "key_rotated"


def _vouch(one: Json) -> None:
    """Sign an attestation anew with the key that it names."""
    said = said_of(one)
    witness = WITNESSES.get(said["public_key"]) if said is not None and not isinstance(said, Left) else None
    if said is not None and witness is not None:
        attest(one, None)
        signature = keys.sign(witness.key, attestation.PURPOSE, bytes_of(one)).hex()
        attest(one, said | {"signature": signature})


def _sign(draft: Draft, chance: random.Random) -> None:
    thief = key(5) if chance.random() < 0.1 else None
    for at, one, held in _in_force(draft):
        signer = thief or held
        draft.signatures[at] = keys.sign(signer, "event", bytes_of(one)) if signer else None


def _note(draft: Draft, chance: random.Random) -> None:
    """Write the checkpoint anew: mostly over the whole log and with the last key."""
    tree = merkle.Frontier()
    for one in draft.events[: None if chance.random() < 0.95 else chance.randrange(len(draft.events))]:
        tree.append(merkle.leaf_hash(bytes_of(one)))
    *_, (_, _, signer) = _in_force(draft)
    if chance.random() < 0.05:
        signer = chance.choice([*KEYS.values()])
    store = draft.header.get("store_id")
    origin = checkpoint.origin(store if isinstance(store, str) else "sto-1")
    claim = checkpoint.Checkpoint(origin, tree.size, tree.root())
    try:
        draft.header["checkpoint"] = checkpoint.sign(claim, signer) if signer else checkpoint.unsigned_note(claim)
    except AiMemoryError:
        return  # a store id that no checkpoint can carry


def file_of(draft: Draft) -> list[bytes]:
    """Write the parts as the lines of an export, whatever they hold."""
    lines = [bytes_of(draft.header) + b"\n"]
    for one, signature, number, key_id in zip(*columns(draft), strict=True):
        line = {
            "seq": number,
            "body": canonical.to_base64(bytes_of(one)),
            "signature": None if signature is None else canonical.to_base64(signature),
            "key_id": key_id,
        }
        lines.append(bytes_of(line) + b"\n")
    return lines


def flip(lines: list[bytes], chance: random.Random) -> None:
    """Turn one bit: of a line as it stands, or of the bytes behind the base64 in it."""
    at = chance.randrange(len(lines))
    document = json.loads(lines[at])
    part = chance.choice(["line", "body", "signature"])
    if part == "line" or not document.get(part):
        lines[at] = flipped(lines[at], chance)
        return
    document[part] = canonical.to_base64(flipped(base64.b64decode(document[part]), chance))
    lines[at] = bytes_of(document) + b"\n"


def spoiled(seed: int, count: int) -> Iterator[tuple[str, list[bytes]]]:
    """Yield logs with what was done to each; the same seed gives the same logs.

    Of two, one is changed as it comes; to the other one thing is done and everything made good but one part, in turn.
    """
    chance = random.Random(seed)
    turns = cycle(product(dict.fromkeys((*CHANGES, *ATTESTED)), (None, *PARTS)))
    for number in range(count):
        if number % 2:
            change, left = next(turns)
            log = chance.choice(VOUCHED if change in ATTESTED else (*PLAIN, *VOUCHED))
            draft, changes = taken_apart(log, anchored=change is other_anchor), [change]
            parts = {*PARTS} - {left}
        else:
            log = chance.choice((*PLAIN, *VOUCHED))
            draft = taken_apart(log, anchored=chance.random() < 0.5)
            known = (*CHANGES, *ATTESTED, *ATTESTED) if log in VOUCHED else CHANGES
            changes = chance.choices(known, k=chance.choice([0, 1, 1, 1, 2, 3]))
            parts = some_parts(chance) if chance.random() < 0.9 else set()
        for change in changes:
            change(draft, chance)
        if parts:
            mend(draft, parts, chance)
        lines = file_of(draft)
        turned = not number % 2 and chance.random() < 0.2
        if turned:
            flip(lines, chance)
        done = [change.__name__ for change in changes] + ["mend"] * bool(parts) + ["flip"] * turned
        yield " + ".join(done) or "nothing", lines


@dataclass(frozen=True)
class Verdict:
    """What both verifiers say of one log."""

    faults: tuple[str, ...]
    reason: str

    @property
    def ok(self) -> bool:
        return not self.faults

    @property
    def agree(self) -> bool:
        return self.ok == (self.reason == "")


def judged(lines: list[bytes]) -> Verdict:
    """Ask both."""
    faults, _ = verify_export(lines)
    return Verdict(tuple(f"{fault.kind}: {fault.message}" for fault in faults), independent.verify(lines))
