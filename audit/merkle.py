"""Grow and prove the RFC 6962 Merkle tree over the events of a log.

A node is addressed by (level, index): it covers the leaves index·2^level up to (index+1)·2^level, all present. `get`
fetches such a node's hash. The leaf of an event is the hash of its body. Source: docs/spec/audit.md §2.1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from audit.errors import Invalid

Get = Callable[[int, int], bytes]

NODE_BYTES = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf: SHA-256(0x00 + data)."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node: SHA-256(0x01 + left + right)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """Hold the roots of the complete subtrees of a growing tree, largest first: all that appending needs."""

    def __init__(self) -> None:
        self.size = 0
        self.peaks: list[bytes] = []

    @classmethod
    def load(cls, size: int, get: Get) -> Frontier:
        """Return the frontier of a tree of `size` leaves from its stored nodes."""
        frontier = cls()
        frontier.size = size
        start = 0
        for level in reversed(range(size.bit_length())):
            if size >> level & 1:
                frontier.peaks.append(get(level, start >> level))
                start += 1 << level
        return frontier

    def append(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf hash and return the nodes it completed as (level, index, hash), the leaf itself first."""
        level, index, node = 0, self.size, leaf
        completed = [(level, index, node)]
        while index & 1:
            node = node_hash(self.peaks.pop(), node)
            level, index = level + 1, index >> 1
            completed.append((level, index, node))
        self.peaks.append(node)
        self.size += 1
        return completed

    def root(self) -> bytes:
        """Return the root of the whole tree; of an empty tree, SHA-256 of nothing."""
        if not self.peaks:
            return EMPTY_ROOT
        node = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            node = node_hash(peak, node)
        return node


def inclusion_path(index: int, size: int, get: Get) -> list[bytes]:
    """Return the sibling hashes from leaf `index` up to the root of the first `size` leaves, lowest first."""
    if not 0 <= index < size:
        raise Invalid(f"leaf {index} is not in a tree of {size} leaves")
    path: list[bytes] = []
    low, high = 0, size
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(_subtree(middle, high, get))
            high = middle
        else:
            path.append(_subtree(low, middle, get))
            low = middle
    return path[::-1]


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Tell whether `path` proves that leaf hash `leaf` stands at `index` in the tree of `size` leaves with `root`."""
    if not 0 <= index < size:
        return False
    node, position, last = leaf, index, size - 1
    for sibling in path:
        if len(sibling) != NODE_BYTES or last == 0:
            return False
        if position & 1 or position == last:
            node = node_hash(sibling, node)
            # a node without a right sibling moves up unhashed, until it is a right child
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            node = node_hash(node, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and node == root


def consistency_path(old: int, new: int, get: Get) -> list[bytes]:
    """Return the hashes that prove the first `old` leaves unchanged in the tree of `new` leaves.

    Empty when `old` is 0 or `new`: nothing then needs a proof.
    """
    if not 0 <= old <= new:
        raise Invalid(f"a tree of {new} leaves does not extend one of {old}")
    if old in (0, new):
        return []
    path: list[bytes] = []
    low, high, whole = 0, new, True
    while old != high:
        middle = low + _split(high - low)
        if old <= middle:
            path.append(_subtree(middle, high, get))
            high = middle
        else:
            path.append(_subtree(low, middle, get))
            low, whole = middle, False
    if not whole:
        path.append(_subtree(low, high, get))
    return path[::-1]


def verify_consistency(old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Tell whether `path` proves that the tree (new_size, new_root) extends the tree (old_size, old_root)."""
    if not 0 <= old_size <= new_size:
        return False
    if old_size == new_size:
        return not path and old_root == new_root
    if old_size == 0:
        return not path and old_root == EMPTY_ROOT
    hashes = list(path)
    if old_size & (old_size - 1) == 0:
        hashes.insert(0, old_root)  # a complete old tree is itself a node of the new one
    if not hashes or any(len(item) != NODE_BYTES for item in hashes):
        return False
    position, last = old_size - 1, new_size - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and old == old_root and new == new_root


def _split(count: int) -> int:
    """Return the largest power of two below `count` (≥ 2)."""
    return 1 << ((count - 1).bit_length() - 1)


def _subtree(low: int, high: int, get: Get) -> bytes:
    """Return the hash over the leaves from `low` up to `high`; a complete part is one stored node."""
    count = high - low
    if count & (count - 1) == 0:
        level = count.bit_length() - 1
        return get(level, low >> level)
    middle = low + _split(count)
    return node_hash(_subtree(low, middle, get), _subtree(middle, high, get))
