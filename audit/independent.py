"""Verify an exported log with nothing but the standard library and libsodium.

    python -m audit.independent FILE

A second implementation of docs/spec/audit.md §2.5 and §2.7 that shares no code with the first and stops at the first
fault. Exit code: 0 the log holds, 7 it does not, 2 the file cannot be read.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from time import strptime
from typing import Any

from nacl.bindings import crypto_sign_open
from nacl.exceptions import CryptoError

TYPES = """
memory_added memory_deleted memory_superseded memory_retired soul_changed preferences_changed profile_changed
rules_changed request_filed request_answered request_withdrawn session_opened session_closed index_shown
persona_generated plan_applied pass_ended membership_changed key_added key_revoked store_rewritten store_created
persona_failed persona_refused erased key_rotated checkpoint_adopted rollback_accepted restored store_forked
entity_changed policy_changed session_redone decision_recorded memory_linked claim_pinned
"""
EVENT = "v store_id seq prev epoch key_id time actor namespace type subject payload audience commits state_root"
ANCHOR = "store_id sequence event_hash checkpoint genesis_key written_at verified_at"
DECISIONS = """membership_changed policy_changed claim_pinned key_added key_revoked key_rotated checkpoint_adopted
rollback_accepted store_forked restored"""
STAMP = "%Y-%m-%dT%H:%M:%S"
STORE = "[A-Za-z0-9][A-Za-z0-9_-]{0,127}"
HASH = "[0-9a-f]{64}"


class Rejected(Exception):
    """Say why the log does not hold."""


def need(condition: object, reason: str) -> None:
    if not condition:
        raise Rejected(reason)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def text(value: object, pattern: str = r"(?s:.+)") -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def time(value: object) -> bool:
    return text(value, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z") and strptime(str(value)[:19], STAMP).tm_sec < 60


def written(value: Any, depth: int = 0) -> str:
    """Write a value the one way it may be written, canonical JSON (§1.1)."""
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        need(abs(value) < 2**53, "an integer is too large")
        return str(value)
    need(isinstance(value, (list, dict)) and depth < 32, "a number is not whole, or nesting too deep")
    if isinstance(value, list):
        return "[" + ",".join(written(item, depth + 1) for item in value) + "]"
    need(all(key.isascii() for key in value), "a key is not ASCII")
    return "{" + ",".join(f"{written(key)}:{written(value[key], depth + 1)}" for key in sorted(value)) + "}"


def read_object(data: bytes) -> dict[str, Any]:
    value = json.loads(data.decode("utf-8"))
    need(isinstance(value, dict) and written(value).encode("utf-8") == data, "not a canonical object")
    return dict(value)


def read_base64(value: Any) -> bytes:
    data = base64.b64decode(value)
    need(base64.b64encode(data).decode() == value, "not base64")
    return data


def signed(public: str, message: bytes, signature: bytes) -> bool:
    try:
        return len(signature) == 64 and crypto_sign_open(signature + message, bytes.fromhex(public)) == message
    except CryptoError:
        return False


def envelope(purpose: str, payload: bytes) -> bytes:
    kind = f"application/vnd.ai-memory.{purpose}+json"
    return f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload


def check_note(note: str, stores: set[str], keys: list[str | None], leaves: list[bytes]) -> int:
    need(len(note) <= 128 * 1024 and not re.search(r"[\x00-\x09\x0b-\x1f]", note), "a checkpoint is malformed")
    head, blank, tail = note.rpartition("\n\n")
    lines, signatures = head.split("\n"), tail.split("\n")
    need(blank and len(lines) >= 3 and all(lines) and signatures.pop() == "", "a checkpoint is malformed")
    need(text(lines[1], r"0|[1-9][0-9]{0,15}"), "a checkpoint's size is malformed")
    origin, size, root, blobs = lines[0], int(lines[1]), read_base64(lines[2]), []
    for line in signatures:
        need(re.fullmatch(r"— [^\s+]+ \S+", line), "a signature line is malformed")
        blob = read_base64(line.split(" ")[2])
        need(len(blob) > 4, "a signature line is malformed")
        blobs += [blob] if line.split(" ")[1] == origin else []

    def signed_by(public: str) -> bool:
        key_hash = sha256(f"{origin}\n\x01".encode() + bytes.fromhex(public))[:4]
        ours = [blob[4:] for blob in blobs if blob[:4] == key_hash]
        return ours != [] and all(signed(public, f"{head}\n".encode(), signature) for signature in ours)

    need(origin in {f"ai-memory/{store}" for store in stores}, "a checkpoint is of another store")
    need(size <= len(leaves) and merkle_root(leaves[:size]) == root, "a checkpoint has another root")
    need(keys[size] is None or signed_by(keys[size] or ""), "a checkpoint is not signed by the key of its time")
    return size


def merkle_root(leaves: list[bytes]) -> bytes:
    while len(leaves) > 1:
        pairs = [sha256(b"\x01" + leaves[i] + leaves[i + 1]) for i in range(0, len(leaves) - 1, 2)]
        leaves = pairs + leaves[len(leaves) & ~1 :]  # an odd last node moves up as it is
    return leaves[0] if leaves else sha256(b"")


def sized(value: str) -> bytes:
    data = value.encode("utf-8")
    return str(len(data)).encode() + b":" + data


class Rows:
    """Hold every row's latest commitment in 4,096 buckets, and the root over them (§1.5)."""

    def __init__(self) -> None:
        self.buckets: list[dict[tuple[bytes, bytes], bytes]] = [{} for _ in range(4096)]
        self.digests = [sha256(b"")] * 4096
        self.groups = [self.group(number) for number in range(64)]

    def group(self, number: int) -> bytes:
        return sha256(b"state/group/v1" + b"".join(self.digests[number * 64 : number * 64 + 64]))

    def root_after(self, commits: list[list[str]]) -> str:
        for table, row_id, commitment in commits:
            number = int(hashlib.sha256(sized(table) + sized(row_id)).hexdigest()[:3], 16)
            bucket = self.buckets[number]
            key = (table.encode("utf-8"), row_id.encode("utf-8"))
            bucket.pop(key, None)
            if commitment is not None:
                bucket[key] = sized(table) + sized(row_id) + commitment.encode()
            self.digests[number] = sha256(b"".join(bucket[key] for key in sorted(bucket)))
            self.groups[number // 64] = self.group(number // 64)
        return sha256(b"state/root/v1" + b"".join(self.groups)).hex()


def read_event(body: bytes) -> dict[str, Any]:
    need(len(body) <= 64 * 1024, "a body is too long")
    event = read_object(body)
    need(event.keys() == set(EVENT.split()), "unknown or missing fields")
    need(type(event["v"]) is int and event["v"] == 1, "unknown version")
    need(event["type"] in TYPES.split(), "unknown event type")
    need(all(type(event[name]) is int and event[name] >= 1 for name in ("seq", "epoch")), "seq or epoch is malformed")
    need(text(event["prev"], HASH) and text(event["state_root"], HASH), "a hash is malformed")
    need(text(event["store_id"]) and text(event["actor"]) and time(event["time"]), "store, actor or time is malformed")
    need(all(isinstance(event[name], str | None) for name in ("namespace", "subject")), "a name is malformed")
    need(event["key_id"] is None or text(event["key_id"], "[0-9a-f]{16}"), "key_id is malformed")
    for name, kind in (("payload", dict), ("audience", list), ("commits", list)):
        need(isinstance(event[name], kind), f"{name} is malformed")
    for target in event["audience"]:
        pair = isinstance(target, list) and len(target) == 2 and text(target[0]) and text(target[1])
        need(pair or text(target), "audience is malformed")
    for commit in event["commits"]:
        need(isinstance(commit, list) and len(commit) == 3 and text(commit[0]), "commits are malformed")
        need(isinstance(commit[1], str) and (commit[2] is None or text(commit[2], HASH)), "commits are malformed")
    rows = {tuple(commit[:2]) for commit in event["commits"]}
    need(len(rows) == len(event["commits"]), "a row is committed twice in one event")
    return event


def next_key(event: dict[str, Any], epoch: int, previous: str | None) -> str:
    public, countersignature = event["payload"].get("public_key"), event["payload"].get("countersignature")
    need(text(public, HASH) and text(countersignature, "[0-9a-f]{128}"), "a rotation is malformed")
    need(event["payload"].get("epoch") == epoch, "a rotation names another epoch")
    manifest = {"epoch": epoch, "previous": previous, "public_key": public, "store_id": event["store_id"]}
    message = envelope("key-manifest", written(manifest).encode())
    need(signed(public, message, bytes.fromhex(countersignature)), "the new key did not sign the rotation")
    return str(public)


def check_witness(event: dict[str, Any], holders: dict[str, str], sealed: set[str]) -> None:
    """Check who vouches for an event (§1.6, §3), knowing which key is whose and who has sealed theirs."""
    payload, kind, by = dict(event["payload"]), event["type"], None
    if "attestation" in payload:
        said = payload.pop("attestation")
        need(isinstance(said, dict) and said.keys() == {"by", "public_key", "signature"}, "malformed attestation")
        need(text(said["public_key"], HASH) and text(said["signature"], "[0-9a-f]{128}"), "malformed attestation")
        by, message = said["by"], envelope("attestation", written(event | {"payload": payload}).encode())
        need(signed(said["public_key"], message, bytes.fromhex(said["signature"])), "an attestation is bad")
        held = holders.get(sha256(bytes.fromhex(said["public_key"])).hex()[:16])
        need(held is not None and held == by, "an attestation by a key that is not theirs")
    principal, key = payload.get("principal_id"), payload.get("key_id")
    deciders = (
        {event["actor"], principal if isinstance(principal, str) else None} if kind in DECISIONS.split() else set()
    )
    need(deciders & sealed <= {by}, "a decision for somebody whose key is sealed, without it")
    if isinstance(principal, str) and isinstance(key, str) and kind in ("key_added", "key_revoked"):
        holders.setdefault(key, principal) if kind == "key_added" else holders.pop(key, None)
    if isinstance(principal, str) and kind == "policy_changed" and isinstance(payload.get("sealed"), bool):
        (sealed.add if payload["sealed"] else sealed.discard)(principal)


def read_line(line: bytes) -> tuple[int, bytes, bytes | None, str | None]:
    document = read_object(line.removesuffix(b"\n"))
    need(document.keys() == {"seq", "body", "signature", "key_id"}, "a line has unknown or missing fields")
    need(type(document["seq"]) is int and isinstance(document["key_id"], str | None), "a line is malformed")
    signature = None if document["signature"] is None else read_base64(document["signature"])
    return document["seq"], read_base64(document["body"]), signature, document["key_id"]


def read_header(line: bytes) -> dict[str, Any]:
    header = read_object(line.removesuffix(b"\n"))
    need(header.keys() - {"anchor"} == {"v", "store_id", "genesis_key", "checkpoint"}, "the header is malformed")
    need(type(header["v"]) is int and header["v"] == 1, "the header is of an unknown version")
    need(isinstance(header["store_id"], str) and isinstance(header["checkpoint"], str), "the header is malformed")
    need(header["genesis_key"] is None or text(header["genesis_key"], HASH), "the header is malformed")
    if "anchor" in header:
        anchor = header["anchor"]
        need(isinstance(anchor, dict) and anchor.keys() == set(ANCHOR.split()), "the anchor is malformed")
        for name in ("store_id", "genesis_key"):
            need(anchor[name] == header[name], f"the anchor has another {name}")
        need(type(anchor["sequence"]) is int and anchor["sequence"] >= 1, "the anchor is malformed")
        named = text(anchor["event_hash"], HASH) and text(anchor["store_id"], STORE) and text(anchor["checkpoint"])
        need(named and time(anchor["written_at"]), "the anchor is malformed")
        need(anchor["verified_at"] is None or time(anchor["verified_at"]), "the anchor is malformed")
    return header


def walk(header: dict[str, Any], lines: Iterator[bytes]) -> None:
    key, epoch, prev, store = header["genesis_key"], 1, "0" * 64, None
    keys, stores, leaves, hashes, rows = [key], set(), [], [], Rows()  # keys: in force after so many events
    holders, sealed = dict[str, str](), set[str]()
    for number, line in enumerate(lines, start=1):
        sequence, body, signature, row_key_id = read_line(line)
        event = read_event(body)
        where = f"event {number}: "
        need(sequence == event["seq"] == number, where + "the numbering has a gap")
        need(event["prev"] == prev, where + "does not follow on the one before")
        need((event["type"] == "store_created") == (number == 1), where + "store_created begins a log, and only that")
        need(store in (None, event["store_id"]), where + "belongs to another store")
        key_id = sha256(bytes.fromhex(key)).hex()[:16] if key else None
        need(event["key_id"] == row_key_id == key_id and event["epoch"] == epoch, where + "names another key")
        holds = signature is None if key is None else signed(key, envelope("event", body), signature or b"")
        need(holds, where + "its signature is bad")
        need(rows.root_after(event["commits"]) == event["state_root"], where + "its state root is wrong")
        check_witness(event, holders, sealed)
        stores.add(store := event["store_id"])
        if event["type"] == "store_forked" and isinstance(event["payload"].get("store_id"), str):
            stores.add(store := event["payload"]["store_id"])
        if event["type"] == "key_rotated":
            epoch, key = epoch + 1, next_key(event, epoch + 1, key)
            need(key not in keys, where + "the key was in force before")
        keys.append(key)
        hashes.append(prev := sha256(body).hex())
        leaves.append(sha256(b"\x00" + body))
    need(leaves and store == header["store_id"], "the log is of another store, or empty")
    if "anchor" in header:
        at = header["anchor"]["sequence"]
        need(at <= len(hashes) and hashes[at - 1] == header["anchor"]["event_hash"], "the anchor saw another log")
        check_note(header["anchor"]["checkpoint"], stores, keys, leaves)
    size = check_note(header["checkpoint"], stores, keys, leaves)
    need(size == len(leaves), "the checkpoint does not cover the whole log")


def verify(lines: Iterable[bytes]) -> str:
    """Return "" when the exported log holds, else the reason why it does not."""
    try:
        lines = iter(lines)
        walk(read_header(next(lines, b"")), lines)
    except (Rejected, ValueError, TypeError, RecursionError) as fault:
        return str(fault) if isinstance(fault, Rejected) else "not canonical JSON"
    return ""


def main(arguments: list[str]) -> int:
    try:
        with open(arguments[0], "rb") as file:
            lines = file.readlines()
    except (OSError, IndexError) as error:
        print(f"usage: python -m audit.independent FILE ({error})", file=sys.stderr)
        return 2
    reason = verify(lines)
    print(reason or f"the log holds; compare its first key: {read_header(lines[0])['genesis_key']}")
    return 7 if reason else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
