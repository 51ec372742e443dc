"""The tree over the events, against its definition and its published vectors."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import merkle
from audit.errors import Invalid

# The reference vectors of Certificate Transparency: eight leaves and the roots of the trees over the first 1 to 8.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    bytes.fromhex(text)
    for text in (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    )
]


def split(count):
    """Return the largest power of two below `count`."""
    k = 1
    while k * 2 < count:
        k *= 2
    return k


def mth(data):
    """Compute the tree hash as RFC 6962 §2.1 reads."""
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    k = split(len(data))
    return hashlib.sha256(b"\x01" + mth(data[:k]) + mth(data[k:])).digest()


def audit_path(m, data):
    """Compute an inclusion path as RFC 6962 §2.1.1 reads."""
    if len(data) == 1:
        return []
    k = split(len(data))
    if m < k:
        return [*audit_path(m, data[:k]), mth(data[k:])]
    return [*audit_path(m - k, data[k:]), mth(data[:k])]


def subproof(m, data, complete):
    """Compute a consistency path as RFC 6962 §2.1.2 reads."""
    if m == len(data):
        return [] if complete else [mth(data)]
    k = split(len(data))
    if m <= k:
        return [*subproof(m, data[:k], complete), mth(data[k:])]
    return [*subproof(m - k, data[k:], False), mth(data[:k])]


def grow(data):
    """Return the frontier over `data` and the nodes it completed."""
    frontier, nodes = merkle.Frontier(), {}
    for item in data:
        for level, index, node in frontier.append(merkle.leaf_hash(item)):
            assert (level, index) not in nodes
            nodes[level, index] = node
    return frontier, nodes


def getter(nodes):
    return lambda level, index: nodes[level, index]


def numbered(count):
    return [str(number).encode() for number in range(count)]


def test_the_published_roots_come_out():
    for size in range(1, 9):
        assert grow(LEAVES[:size])[0].root() == ROOTS[size - 1] == mth(LEAVES[:size])


def test_the_published_paths_come_out():
    get = getter(grow(LEAVES)[1])
    assert [item.hex() for item in merkle.inclusion_path(0, 8, get)] == [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ]
    assert [item.hex() for item in merkle.consistency_path(6, 8, get)] == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]


def test_the_empty_tree_has_the_hash_of_nothing():
    assert merkle.Frontier().root() == merkle.EMPTY_ROOT == mth([])


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=8), max_size=70))
def test_a_tree_grown_leaf_by_leaf_is_the_tree_of_the_standard(data):
    frontier, nodes = grow(data)
    assert frontier.root() == mth(data)
    loaded = merkle.Frontier.load(len(data), getter(nodes))
    assert (loaded.size, loaded.peaks) == (frontier.size, frontier.peaks)
    assert loaded.append(merkle.leaf_hash(b"x")) == frontier.append(merkle.leaf_hash(b"x"))
    assert loaded.root() == mth([*data, b"x"])


@settings(max_examples=100)
@given(st.data())
def test_every_leaf_has_the_path_of_the_standard_and_only_there(data):
    size = data.draw(st.integers(1, 70))
    index = data.draw(st.integers(0, size - 1))
    leaves = numbered(size)
    frontier, nodes = grow(leaves)
    path = merkle.inclusion_path(index, size, getter(nodes))
    assert path == audit_path(index, leaves)
    leaf = merkle.leaf_hash(leaves[index])
    assert merkle.verify_inclusion(leaf, index, size, path, frontier.root())
    other = data.draw(st.integers(-2, size + 2).filter(lambda number: number != index))
    assert not merkle.verify_inclusion(leaf, other, size, path, frontier.root())
    assert not merkle.verify_inclusion(merkle.leaf_hash(b"forged"), index, size, path, frontier.root())
    assert not merkle.verify_inclusion(leaf, index, size, [*path, bytes(32)], frontier.root())
    assert not merkle.verify_inclusion(leaf, index, size, path, bytes(32))
    for position in range(len(path)):
        cut = path[:position] + path[position + 1 :]
        assert not merkle.verify_inclusion(leaf, index, size, cut, frontier.root())
        short = [*path[:position], path[position][:31], *path[position + 1 :]]
        assert not merkle.verify_inclusion(leaf, index, size, short, frontier.root())


@settings(max_examples=100)
@given(st.data())
def test_every_earlier_tree_has_the_proof_of_the_standard_and_only_that(data):
    new = data.draw(st.integers(1, 70))
    old = data.draw(st.integers(1, new))
    leaves = numbered(new)
    frontier, nodes = grow(leaves)
    root, old_root = frontier.root(), mth(leaves[:old])
    path = merkle.consistency_path(old, new, getter(nodes))
    assert path == subproof(old, leaves, True)
    assert merkle.verify_consistency(old, old_root, new, root, path)
    assert not merkle.verify_consistency(old, bytes(32), new, root, path)
    assert not merkle.verify_consistency(old, old_root, new, bytes(32), path)
    assert not merkle.verify_consistency(old, old_root, new, root, [*path, bytes(32)])
    for position in range(len(path)):
        assert not merkle.verify_consistency(old, old_root, new, root, path[:position] + path[position + 1 :])
    changed = [*leaves[: old - 1], b"forged", *leaves[old:]]
    assert not merkle.verify_consistency(old, old_root, new, mth(changed), subproof(old, changed, True))


def test_every_tree_extends_the_empty_one():
    assert merkle.consistency_path(0, 5, getter({})) == []
    assert merkle.verify_consistency(0, merkle.EMPTY_ROOT, 8, ROOTS[7], [])
    assert not merkle.verify_consistency(0, bytes(32), 8, ROOTS[7], [])
    assert not merkle.verify_consistency(0, merkle.EMPTY_ROOT, 8, ROOTS[7], [bytes(32)])


@pytest.mark.parametrize(("old", "new"), [(-1, 5), (6, 5)])
def test_no_tree_extends_a_larger_one(old, new):
    with pytest.raises(Invalid):
        merkle.consistency_path(old, new, getter({}))
    assert not merkle.verify_consistency(old, ROOTS[4], new, ROOTS[4], [])


@pytest.mark.parametrize(("index", "size"), [(-1, 5), (5, 5), (0, 0)])
def test_a_leaf_outside_the_tree_has_no_path(index, size):
    with pytest.raises(Invalid):
        merkle.inclusion_path(index, size, getter({}))
    assert not merkle.verify_inclusion(ROOTS[0], index, size, [], ROOTS[0])


def test_a_proof_of_nothing_proves_nothing():
    assert not merkle.verify_consistency(3, ROOTS[2], 8, ROOTS[7], [])
    assert not merkle.verify_consistency(3, ROOTS[2], 8, ROOTS[7], [b"short"])


def test_a_last_leaf_twice_is_another_tree():
    assert grow([b"a", b"b", b"c"])[0].root() != grow([b"a", b"b", b"c", b"c"])[0].root()


def test_an_inner_node_cannot_pass_for_a_leaf():
    left, right = merkle.leaf_hash(b"a"), merkle.leaf_hash(b"b")
    assert grow([left + right])[0].root() != grow([b"a", b"b"])[0].root()
    assert grow([b"\x01" + left + right])[0].root() != grow([b"a", b"b"])[0].root()
