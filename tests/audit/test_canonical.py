"""One value, one byte string."""

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from audit import canonical
from audit.errors import Invalid

KEYS = st.text(st.characters(max_codepoint=127), max_size=8)
LEAVES = st.none() | st.booleans() | st.integers(-canonical.MAX_INTEGER, canonical.MAX_INTEGER) | st.text(max_size=20)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))


@given(VALUES)
def test_a_value_comes_back_from_its_bytes(value):
    assert canonical.decode(canonical.encode(value)) == value


@given(VALUES)
def test_the_fast_encoder_writes_what_rfc_8785_says(value):
    assert canonical._render(value) == rfc8785.dumps(value) == canonical.encode(value)


@given(st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_decoding_accepts_nothing_that_encoding_would_not_write(data):
    try:
        value = canonical.decode(data)
    except Invalid:
        return
    assert canonical.encode(value) == data


def test_tuples_are_arrays():
    assert canonical.encode((1, ("a",))) == b'[1,["a"]]'


def test_keys_are_sorted_and_controls_escaped_as_the_standard_says():
    assert canonical.encode({"b": "\x00\n\x1f\x7f\u2028é", "a": 1}) == (
        b'{"a":1,"b":"\\u0000\\n\\u001f\x7f' + "\u2028é".encode() + b'"}'
    )


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        0.0,
        -0.0,
        1e300,
        float("nan"),
        float("inf"),
        2**53,
        -(2**53),
        "\ud800",
        {"\ud800": 1},
        {"é": 1},
        {1: 1},
        b"bytes",
        {1, 2},
        pytest.param(object(), id="an object"),
        nested(33),
    ],
    ids=repr,
)
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(Invalid):
        canonical.encode({"x": value})


def test_thirty_two_levels_are_allowed():
    data = canonical.encode(nested(32))
    assert canonical.decode(data) == nested(32)


@pytest.mark.parametrize(
    "data",
    {
        "duplicate key": b'{"seq":1,"seq":2}',
        "the same key twice": b'{"a":1,"a":1}',
        "unsorted": b'{"b":1,"a":1}',
        "space": b'{"a": 1}',
        "newline": b'{"a":1}\n',
        "float": b"1.0",
        "exponent": b"1e400",
        "minus zero": b"-0",
        "leading zero": b"01",
        "NaN": b"NaN",
        "Infinity": b"-Infinity",
        "too large": b"9007199254740992",
        "thousands of digits": b"1" * 5000,
        "ten thousand brackets": b"[" * 10_000,
        "33 levels": b"[" * 33 + b"]" * 33,
        "byte order mark": b'\xef\xbb\xbf{"a":1}',
        "UTF-16": '{"a":1}'.encode("utf-16"),
        "overlong": b'"\xc0\xaf"',
        "encoded surrogate": b'"\xed\xa0\x80"',
        "escaped surrogate": b'"\\ud800"',
        "needless escape": b'"\\u0061"',
        "upper-case escape": b'"\\u001F"',
        "escaped slash": b'"\\/"',
        "non-ASCII key": '{"é":1}'.encode(),
        "control": b'"\x01"',
        "cut": b'{"a":',
        "nothing": b"",
        "two values": b"1 1",
    }.items(),
    ids=lambda item: item[0],
)
def test_bytes_in_another_form_are_refused(data):
    with pytest.raises(Invalid):
        canonical.decode(data[1])


def test_size_is_bounded_both_ways():
    assert len(canonical.encode("a" * 8, limit=10)) == 10
    with pytest.raises(Invalid) as caught:
        canonical.encode("a" * 9, limit=10)
    assert caught.value.details == {"size": 11, "limit": 10}
    with pytest.raises(Invalid):
        canonical.decode(b'"' + b"a" * 9 + b'"', limit=10)


@given(st.binary(max_size=40))
def test_bytes_come_back_from_base64(data):
    assert canonical.from_base64(canonical.to_base64(data)) == data


@pytest.mark.parametrize("text", ["YQ", "YR==", "YQ==\n", "Y Q==", "-_==", "YQ===", "é", None, 7])
def test_base64_has_one_spelling(text):
    with pytest.raises(Invalid):
        canonical.from_base64(text)
