"""The root over all rows: any row changed, replaced or gone moves it."""

import hashlib
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import state
from audit.errors import Invalid
from tests.audit.logs import commitment

ROWS = st.tuples(st.sampled_from(["memories", "claims", "t"]), st.text(max_size=4))
CHANGES = st.lists(st.tuples(ROWS, st.none() | st.integers(0, 3)), max_size=30)


def root_from_scratch(rows):
    """Compute the root as the definition reads, without any of the code under test."""
    buckets = defaultdict(list)
    for (table, row_id), value in rows.items():
        name = "".join(f"{len(part.encode())}:{part}" for part in (table, row_id))
        number = int(hashlib.sha256(name.encode()).hexdigest()[:3], 16)
        buckets[number].append((table.encode(), row_id.encode(), (name + value).encode()))
    digests = [
        hashlib.sha256(b"".join(entry[2] for entry in sorted(buckets[number]))).digest() for number in range(4096)
    ]
    groups = [hashlib.sha256(b"state/group/v1" + b"".join(digests[i : i + 64])).digest() for i in range(0, 4096, 64)]
    return hashlib.sha256(b"state/root/v1" + b"".join(groups)).hexdigest()


@settings(max_examples=30)
@given(CHANGES)
def test_the_state_follows_its_definition_through_every_change(changes):
    held, rows = state.State(), {}
    for (table, row_id), version in changes:
        value = None if version is None else commitment(str(version))
        held.apply([(table, row_id, value)])
        rows.pop((table, row_id), None)
        if value is not None:
            rows[table, row_id] = value
    assert held.commits == rows
    assert held.root() == root_from_scratch(rows)
    digests = [state.bucket_digest([]) for _ in range(state.BUCKETS)]
    for number in {state.bucket_of(*row) for row in rows}:
        digests[number] = state.bucket_digest(
            [(*row, value) for row, value in rows.items() if state.bucket_of(*row) == number]
        )
    assert state.state_root(digests) == held.root()


def test_a_bucket_is_the_first_twelve_bits():
    digest = hashlib.sha256(b"8:memories5:mem-1").hexdigest()
    assert state.bucket_of("memories", "mem-1") == int(digest[:3], 16)


def test_the_digest_of_a_bucket_does_not_depend_on_the_order_of_its_entries():
    entries = [("b", "é", "0" * 64), ("b", "z", "1" * 64), ("a", "z", "2" * 64)]
    expected = hashlib.sha256(("1:a1:z" + "2" * 64 + "1:b1:z" + "1" * 64 + "1:b2:é" + "0" * 64).encode()).hexdigest()
    assert state.bucket_digest(entries) == state.bucket_digest(entries[::-1]) == expected


def test_an_empty_store_has_a_fixed_root():
    assert hashlib.sha256(b"").hexdigest() == state.EMPTY_BUCKET
    assert state.StateTree().root() == root_from_scratch({})
    assert state.StateTree().root() == "32bf4a7b01842af09c90fef8a6996a43f4d9389d71f9b8678fa05992ce572073"


def test_rows_removed_leave_no_trace():
    held = state.State()
    held.apply([("memories", "mem-1", commitment("a")), ("memories", "mem-2", commitment("b"))])
    held.apply([("memories", "mem-1", None), ("memories", "mem-9", None)])
    held.apply([("memories", "mem-2", None)])
    assert held.root() == state.StateTree().root() and held.commits == {}


def test_a_copy_changes_on_its_own():
    tree = state.StateTree()
    before = tree.root()
    twin = tree.copy()
    twin.update({7: commitment("a")})
    assert tree.root() == before != twin.root()
    assert (tree[7], twin[7]) == (state.EMPTY_BUCKET, commitment("a"))


def test_a_refused_update_changes_nothing():
    tree = state.StateTree()
    before = tree.root()
    for changes in (
        {1: commitment("a"), 2: "xyz"},
        {1: commitment("a"), 4096: commitment("b")},
        {-1: commitment("a")},
        {1: "00"},
    ):
        with pytest.raises(Invalid):
            tree.update(changes)
    assert tree.root() == before


def test_there_are_4096_digests():
    with pytest.raises(Invalid):
        state.state_root([state.EMPTY_BUCKET] * 4095)


def test_what_differs_from_the_tree_is_listed_and_what_is_not_named_has_to_be_empty():
    tree = state.StateTree()
    tree.update({3: "ab" * 32, 4000: "cd" * 32})
    assert tree.differing({3: "ab" * 32, 4000: "cd" * 32}) == []
    assert tree.differing({3: "cd" * 32, 7: "ab" * 32}) == [3, 7, 4000]
