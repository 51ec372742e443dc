"""What an attacker may do to the parts of a log, and the logs it is done to; see `tests.audit.spoiled`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from audit import attestation, event, keys
from tests.audit.logs import Log, commitment, key

Json = dict[str, Any]

KEYS = {key(number).public: key(number) for number in range(1, 6)}
HEX, OTHER_HEX = "0" * 64, commitment("another")
VALUES: tuple[Any, ...] = (None, True, 0, 1, -1, 2**53, "", "x", HEX, OTHER_HEX, [], {}, [[]], ["x"], {"a": 1.5}, "é")


def story(signer: keys.Key | None, store_id: str = "sto-1") -> Log:
    """Return a log with removals, two rotations and a fork in it."""
    log = Log(signer, store_id).fill(5)
    log.rotate(key(2))
    log.fill(9)
    log.fork("sto-9")
    log.add("erased", commits=(("memories", "mem-1", commitment("tombstone")),), namespace=None, subject=None)
    log.rotate(key(3))
    return log.fill(14)


ANN, BOB, EVE = (attestation.Witness(f"hum-{name}", key(n)) for n, name in enumerate(("ann", "bob", "eve"), start=11))
WITNESSES = {witness.key.public: witness for witness in (ANN, BOB, EVE)}


def vouched(signer: keys.Key | None) -> Log:
    """Return a log of two people, one of whom has sealed her key and decides with it; a third is not registered."""
    log = Log(signer).fill(2)
    for witness in (ANN, BOB):
        log.register(witness.principal_id, witness.key)
    ann = {"principal_id": ANN.principal_id}
    log.add("policy_changed", payload=ann | {"sealed": True}, actor=ANN.principal_id, witness=ANN)
    log.add("memory_linked", witness=BOB)
    for type in ("membership_changed", "policy_changed", "claim_pinned", "key_revoked", "restored"):
        log.add(type, actor=ANN.principal_id, witness=ANN)
    log.fill(13)
    log.add("key_added", payload=ann | {"key_id": key(4).key_id}, actor=BOB.principal_id, witness=ANN)
    log.add("claim_pinned", actor=BOB.principal_id)
    return log.fill(16)


PLAIN = (story(key(1)), story(None), Log(key(1)).fill(8), Log(None).fill(6), Log(key(4)))
VOUCHED = (vouched(key(1)), vouched(None))
STRANGER = story(key(5), "sto-2")
"""Another store's log, to take genuine events from."""


@dataclass
class Draft:
    """A log taken apart: the document of each event, the key that signs it, and the header."""

    events: list[Json]
    signatures: list[bytes | None]
    numbers: list[int]
    key_ids: list[str | None]
    header: Json


def taken_apart(log: Log, anchored: bool) -> Draft:
    """Give a genuine log in parts."""
    header: Json = {"v": 1, "store_id": log.store_id, "genesis_key": log.genesis_key, "checkpoint": log.note()}
    if anchored:
        header["anchor"] = asdict(log.anchor())
    numbers, bodies, signatures, key_ids = (list(column) for column in zip(*log.rows, strict=True))
    return Draft([json.loads(body) for body in bodies], signatures, numbers, key_ids, header)


# What is done to the parts


def drop(draft: Draft, chance: random.Random) -> None:
    _take(draft, chance.randrange(len(draft.events)))


def cut(draft: Draft, chance: random.Random) -> None:
    for _ in range(chance.randint(1, len(draft.events))):
        _take(draft, len(draft.events) - 1)


def double(draft: Draft, chance: random.Random) -> None:
    source, target = (chance.randrange(len(draft.events)) for _ in range(2))
    for column in columns(draft):
        column.insert(target, column[source])
    draft.events[target] = dict(draft.events[target])


def exchange(draft: Draft, chance: random.Random) -> None:
    one, other = (chance.randrange(len(draft.events)) for _ in range(2))
    for column in columns(draft):
        column[one], column[other] = column[other], column[one]


def swap_field(draft: Draft, chance: random.Random) -> None:
    one, other = (chance.choice(draft.events) for _ in range(2))
    name = chance.choice(event.FIELDS)
    one[name], other[name] = other.get(name), one.get(name)


def set_field(draft: Draft, chance: random.Random) -> None:
    one = chance.choice(draft.events)
    name = chance.choice([*event.FIELDS, "extra"])
    one[name] = chance.choice([*VALUES, "memory_added", "key_rotated", "store_forked", "store_created", key(3).key_id])


def drop_field(draft: Draft, chance: random.Random) -> None:
    chance.choice(draft.events).pop(chance.choice(event.FIELDS), None)


def reword(draft: Draft, chance: random.Random) -> None:
    """Change what an event says and nothing that a log is held together by: whoever has the key may do that."""
    chance.choice(draft.events)["actor"] = f"hum-{chance.randrange(9)}"


def commit_otherwise(draft: Draft, chance: random.Random) -> None:
    commits = [["memories", f"mem-{chance.randrange(9)}", chance.choice([None, OTHER_HEX, HEX.upper(), "A" * 64])]]
    chance.choice(draft.events)["commits"] = commits * chance.choice([1, 1, 1, 2])


def spoil_rotation(draft: Draft, chance: random.Random) -> None:
    """Put another key in the place of the one a rotation names, countersigned for these terms but one."""
    rotations = _rotations(draft.events)
    if not rotations:
        return
    at = chance.randrange(len(rotations))
    store, epoch, previous = rotations[at].get("store_id"), at + 2, _key_before(draft, rotations, at)
    new, wrong = chance.choice([*KEYS.values()]), chance.choice(["store", "epoch", "previous", "key", "value", "none"])
    if wrong == "value":
        rotations[at]["payload"] |= {chance.choice([*rotations[at]["payload"]]): chance.choice(VALUES)}
    elif isinstance(store, str) and (previous is None or previous in KEYS):
        payload = keys.rotation(
            "sto-8" if wrong == "store" else store,
            epoch + 1 if wrong == "epoch" else epoch,
            key(4).public if wrong == "previous" else previous,
            new,
        )
        said = {"epoch": epoch} | ({"public_key": key(1).public} if wrong == "key" else {})
        rotations[at]["payload"] |= payload | said


def _rotations(events: list[Json]) -> list[Json]:
    return [one for one in events if one.get("type") == "key_rotated" and isinstance(one.get("payload"), dict)]


def _key_before(draft: Draft, rotations: list[Json], at: int) -> Any:
    return rotations[at - 1]["payload"].get("public_key") if at else draft.header.get("genesis_key")


def rotate_again(draft: Draft, chance: random.Random) -> None:
    """Make a rotation of a plain event, with terms that fit its place."""
    at = chance.randrange(len(draft.events))
    before = _rotations(draft.events[:at])
    previous, store = _key_before(draft, before, len(before)), draft.events[at].get("store_id")
    if isinstance(store, str) and (previous is None or previous in KEYS):
        payload = keys.rotation(store, len(before) + 2, previous, key(5))
        draft.events[at] |= {"type": "key_rotated", "payload": payload}


def take_from_another(draft: Draft, chance: random.Random) -> None:
    """Put a genuine event of another store in a place of this one."""
    at, (number, body, signature, key_id) = chance.randrange(len(draft.events)), chance.choice(STRANGER.rows)
    draft.events[at], draft.signatures[at] = json.loads(body), signature
    draft.numbers[at], draft.key_ids[at] = number, key_id


def strip_signatures(draft: Draft, chance: random.Random) -> None:
    for at in range(len(draft.events)) if chance.random() < 0.5 else [chance.randrange(len(draft.events))]:
        draft.signatures[at] = chance.choice([None, bytes(64), bytes(63)])


def mix_signatures(draft: Draft, chance: random.Random) -> None:
    draft.signatures[chance.randrange(len(draft.events))] = chance.choice(draft.signatures)


class Left(dict[str, Any]):
    """An attestation that was spoiled: nobody signs it anew."""


def flip_attestation(draft: Draft, chance: random.Random) -> None:
    for one, said in _attested(draft, chance):
        signature = flipped(bytes.fromhex(said["signature"]), chance).hex()
        attest(one, Left(said | {"signature": signature}))


def drop_attestation(draft: Draft, chance: random.Random) -> None:
    for one, _ in _attested(draft, chance):
        attest(one, None)


def move_attestation(draft: Draft, chance: random.Random) -> None:
    """Put the attestation of one event on another, in the place of its own if it has one."""
    for _, said in _attested(draft, chance):
        attest(chance.choice(draft.events), Left(said))


def other_witness(draft: Draft, chance: random.Random) -> None:
    """Let somebody else vouch, or name somebody whose key it is not; the signature will be good."""
    for one, said in _attested(draft, chance):
        by, signer = (chance.choice((ANN, BOB, EVE)) for _ in range(2))
        attest(one, said | {"by": by.principal_id, "public_key": signer.key.public})


def odd_attestation(draft: Draft, chance: random.Random) -> None:
    for one, said in _attested(draft, chance):
        odd = Left(said | {chance.choice([*said, "extra"]): chance.choice([*VALUES, said["signature"].upper()])})
        attest(one, chance.choice([odd, odd, odd, *VALUES]))


def _attested(draft: Draft, chance: random.Random) -> list[tuple[Json, Json]]:
    """Choose one of the events that somebody vouches for, and give it with what is said; none where there is none."""
    found = [(one, said) for one in draft.events if (said := said_of(one)) is not None and not isinstance(said, Left)]
    return [chance.choice(found)] if found else []


def said_of(one: Json) -> Json | None:
    payload = one.get("payload")
    said = payload.get(attestation.FIELD) if isinstance(payload, dict) else None
    return said if isinstance(said, dict) and {"by", "public_key", "signature"} <= said.keys() else None


def attest(one: Json, said: Any) -> None:
    """Put an attestation into an event, or take it away with None; the payload may be another event's too."""
    bare = {name: value for name, value in one["payload"].items() if name != attestation.FIELD}
    one["payload"] = bare if said is None else bare | {attestation.FIELD: said}


def other_key_id(draft: Draft, chance: random.Random) -> None:
    draft.key_ids[chance.randrange(len(draft.events))] = chance.choice([None, "", *(k.key_id for k in KEYS.values())])


def other_header(draft: Draft, chance: random.Random) -> None:
    name = chance.choice([*draft.header, "extra"])
    draft.header[name] = chance.choice([*VALUES, *KEYS, "sto-1", "sto-9", "sto-2", STRANGER.note()])


def other_anchor(draft: Draft, chance: random.Random) -> None:
    """Change one thing the anchor says: to something it could have seen, or to something malformed."""
    anchor = draft.header.get("anchor")
    if isinstance(anchor, dict):
        seen = [{"event_hash": OTHER_HEX}, {"sequence": 3}, {"genesis_key": key(3).public}, {"store_id": "sto-1"}]
        odd = [{chance.choice([*anchor, "extra"]): value} for value in (*VALUES, "2026-02-30T00:00:00.000000Z")]
        draft.header["anchor"] = anchor | chance.choice(seen if chance.random() < 0.5 else odd)


CHANGES: tuple[Callable[[Draft, random.Random], None], ...] = (
    *(drop, cut, double, exchange, swap_field, set_field, drop_field, reword, commit_otherwise, spoil_rotation),
    *(spoil_rotation, spoil_rotation, other_anchor, other_anchor),
    *(rotate_again, take_from_another, strip_signatures, mix_signatures, other_key_id, other_header, other_anchor),
)
ATTESTED = (flip_attestation, drop_attestation, move_attestation, other_witness, odd_attestation)
"""What is done, beside those, to a log in which somebody vouches."""


def columns(draft: Draft) -> tuple[list[Any], ...]:
    return draft.events, draft.signatures, draft.numbers, draft.key_ids


def _take(draft: Draft, at: int) -> None:
    for column in columns(draft):
        if len(column) > 1:
            del column[at]


def flipped(data: bytes, chance: random.Random) -> bytes:
    spoiled = bytearray(data)
    spoiled[chance.randrange(len(spoiled))] ^= 1 << chance.randrange(8)
    return bytes(spoiled)
