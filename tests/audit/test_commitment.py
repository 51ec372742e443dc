"""A row bound by a hash that outlives its content."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.commitment import commitment, net
from audit.errors import Invalid

SALT = "5a" * 32
COLUMNS = st.lists(st.tuples(st.text(max_size=6), st.none() | st.text(max_size=6)), max_size=4)


def test_the_definition_is_the_one_sql_computes():
    expected = hashlib.sha256(f"content/v1{SALT}8:memories2:id5:mem-17:content6:naïve".encode()).hexdigest()
    columns = [("id", "mem-1"), ("title", None), ("content", "naïve")]
    assert commitment(SALT, "memories", columns) == expected


def test_the_golden_commitment_never_changes():
    columns = [("id", "mem-1"), ("size_bytes", "12"), ("pinned", "true"), ("content", "")]
    assert commitment(SALT, "memories", columns) == "d2aa88a3bf0fe77e482bc260bedb965216f82da306a987094fbac9a7b1c1ba53"


@given(COLUMNS, COLUMNS)
def test_no_two_rows_share_a_commitment(one, other):
    present = [[column for column in columns if column[1] is not None] for columns in (one, other)]
    same = commitment(SALT, "t", one) == commitment(SALT, "t", other)
    assert same == (present[0] == present[1])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([("a", "b\0c")], [("a", "b"), ("c", "")]),
        ([("a", "1:b")], [("a", "1"), ("b", "")]),
        ([("ab", "c")], [("a", "bc")]),
        ([("a", "")], [("a", None)]),
        ([("a", "1")], [("a", "01")]),
    ],
)
def test_a_value_cannot_run_into_the_next(one, other):
    assert commitment(SALT, "t", one) != commitment(SALT, "t", other)


def test_salt_table_name_and_order_count():
    base = commitment(SALT, "t", [("a", "1"), ("b", "2")])
    assert commitment("5b" + SALT[2:], "t", [("a", "1"), ("b", "2")]) != base
    assert commitment(SALT, "u", [("a", "1"), ("b", "2")]) != base
    assert commitment(SALT, "t", [("b", "2"), ("a", "1")]) != base


@pytest.mark.parametrize("salt", ["", "5a" * 31, "5A" * 32, "zz" * 32])
def test_a_malformed_salt_is_refused(salt):
    with pytest.raises(Invalid):
        commitment(salt, "t", [])


def test_a_lone_surrogate_is_refused():
    with pytest.raises(Invalid):
        commitment(SALT, "t", [("a", "\ud800")])


def test_length_counts_bytes():
    assert net("") == "0:" and net("é") == "2:é" and net("\U0001f600") == "4:\U0001f600"
