"""A kept reason is one of a fixed few, whatever it quotes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.persona.reasons import _CODES, OTHER, code

CODES = {OTHER, *(known for _, known in _CODES)}


@given(st.text(max_size=60), st.sampled_from(["", *(start for start, _ in _CODES)]))
def test_a_code_holds_no_word_of_the_reason(quoted: str, start: str):
    assert code(f"{start}{quoted}") in CODES


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        ("says “lupus”, which its sources do not", OTHER),
        ("names Lisbon, whom or which its sources do not", "name"),
        ("cites nothing", "uncited"),
        ("cites mem-1, which is no source", "unknown_source"),
        ("addresses its reader", "order"),
    ],
)
def test_each_reason_has_its_code(reason: str, kept: str):
    assert code(reason) == kept and re.fullmatch("[a-z_]+", kept)
