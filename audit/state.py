"""Keep the root over all rows, so that an old but genuine row is refused.

Rows fall into 4,096 buckets; 64 bucket digests make a group, 64 groups the root. Source: docs/spec/audit.md §1.5.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from audit.commitment import net
from audit.errors import Invalid

BUCKETS = 4096
_GROUP = 64

Entry = tuple[str, str, str]  # table, row id, commitment


def bucket_of(table: str, row_id: str) -> int:
    """Return the bucket of a row: the first 12 bits of SHA-256(net(table) + net(row_id))."""
    return _bucket((net(table) + net(row_id)).encode("utf-8"))


def bucket_digest(entries: Iterable[Entry]) -> str:
    """Return the digest of a bucket's (table, row id, commitment) entries, in hex; their order does not matter.

    SHA-256 over net(table) + net(row_id) + commitment of each, sorted by the UTF-8 bytes of table, then row id; text in
    order of its code points is in that order.
    """
    return hashlib.sha256("".join([net(t) + net(i) + c for t, i, c in sorted(entries)]).encode("utf-8")).hexdigest()


EMPTY_BUCKET = bucket_digest([])


def state_root(digests: Sequence[str]) -> str:
    """Return the root over the 4,096 bucket digests, in hex.

    A group is SHA-256("state/group/v1" + 64 raw digests), the root SHA-256("state/root/v1" + 64 raw groups).
    """
    return StateTree(digests).root()


class StateTree:
    """Hold 4,096 bucket digests and give their root, hashing again only the groups that changed."""

    def __init__(self, digests: Sequence[str] | None = None) -> None:
        """Start from `digests`, in bucket order, or from empty buckets."""
        if digests is not None and len(digests) != BUCKETS:
            raise Invalid(f"{len(digests)} bucket digests, there are {BUCKETS} buckets")
        self._digests = [_EMPTY] * BUCKETS if digests is None else _all_raw(digests)
        self._groups = [b""] * (BUCKETS // _GROUP)
        self._stale = set(range(BUCKETS // _GROUP))

    def __getitem__(self, bucket: int) -> str:
        """Return the digest of a bucket, in hex."""
        return self._digests[bucket].hex()

    def differing(self, digests: Mapping[int, str]) -> list[int]:
        """List the buckets that have another digest than these, in order; one that is not named has to be empty."""
        wanted = [_EMPTY] * BUCKETS
        for bucket, digest in digests.items():
            wanted[bucket] = _raw(digest)
        if wanted == self._digests:
            return []
        return [bucket for bucket, pair in enumerate(zip(wanted, self._digests, strict=True)) if pair[0] != pair[1]]

    def update(self, changes: Mapping[int, str]) -> None:
        """Set the digests of some buckets; on `Invalid` nothing has changed."""
        raw = {bucket: _raw(digest) for bucket, digest in changes.items()}
        if not all(0 <= bucket < BUCKETS for bucket in raw):
            raise Invalid(f"buckets are numbered 0 to {BUCKETS - 1}")
        for bucket, digest in raw.items():
            self._set(bucket, digest)

    def _set(self, bucket: int, digest: bytes) -> None:
        self._digests[bucket] = digest
        self._stale.add(bucket // _GROUP)

    def root(self) -> str:
        """Return the root, in hex."""
        for group in self._stale:
            members = self._digests[group * _GROUP : (group + 1) * _GROUP]
            self._groups[group] = hashlib.sha256(b"state/group/v1" + b"".join(members)).digest()
        self._stale.clear()
        return hashlib.sha256(b"state/root/v1" + b"".join(self._groups)).hexdigest()

    def copy(self) -> StateTree:
        """Return a tree that changes on its own: for a transaction that may be rolled back."""
        twin = StateTree.__new__(StateTree)
        twin._digests, twin._groups, twin._stale = self._digests.copy(), self._groups.copy(), self._stale.copy()
        return twin


class State:
    """Hold the latest commitment of every row and the tree over them, brought forward event by event."""

    def __init__(self) -> None:
        self.commits: dict[tuple[str, str], str] = {}
        self.tree = StateTree()
        # per bucket: the rows' keys in byte order, and beside each what it adds to the digest
        self._keys: defaultdict[int, list[tuple[bytes, bytes]]] = defaultdict(list)
        self._entries: defaultdict[int, list[bytes]] = defaultdict(list)

    def apply(self, commits: Iterable[tuple[str, str, str | None]]) -> None:
        """Record the commits of one event: a commitment for a row, or None for a row that was removed."""
        touched = set()
        for table, row_id, commitment in commits:
            name = (net(table) + net(row_id)).encode("utf-8")
            bucket = _bucket(name)
            touched.add(bucket)
            key = (table.encode("utf-8"), row_id.encode("utf-8"))
            keys, entries = self._keys[bucket], self._entries[bucket]
            at = bisect_left(keys, key)
            if at < len(keys) and keys[at] == key:
                del keys[at], entries[at]
            if commitment is None:
                self.commits.pop((table, row_id), None)
            else:
                self.commits[table, row_id] = commitment
                keys.insert(at, key)
                entries.insert(at, name + commitment.encode("ascii"))
        for bucket in touched:
            self.tree._set(bucket, hashlib.sha256(b"".join(self._entries[bucket])).digest())

    def root(self) -> str:
        """Return the root over the rows recorded so far, in hex."""
        return self.tree.root()


def _bucket(name: bytes) -> int:
    return int.from_bytes(hashlib.sha256(name).digest()[:2], "big") >> 4


def _all_raw(digests: Sequence[str]) -> list[bytes]:
    """Decode them in one go, as every start does; one by one where that does not come out even, to refuse the same."""
    try:
        raw = bytes.fromhex("".join(digests))
    except ValueError:
        raw = b""
    if len(raw) != 32 * len(digests) or set(map(len, digests)) != {64}:
        return [_raw(digest) for digest in digests]
    return [raw[at : at + 32] for at in range(0, len(raw), 32)]


def _raw(digest: str) -> bytes:
    try:
        raw = bytes.fromhex(digest)
    except ValueError:
        raw = b""
    if len(raw) != 32:
        raise Invalid("a bucket digest is 64 hex digits")
    return raw


_EMPTY = _raw(EMPTY_BUCKET)
