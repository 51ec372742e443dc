"""Lines are cut and read the same however they arrive, and nothing but a message passes."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.mcp_wire import DEPTH, Fault, Lines, Message, parse

IDS = st.integers() | st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6), st.integers(1, 40))
def test_lines_do_not_depend_on_how_their_bytes_arrive(data: bytes, cuts: list[int], most: int):
    whole, parts = Lines(most), Lines(most)
    at_once = [*whole.cut(data)]
    ends = [0, *sorted(cuts), len(data)]
    in_parts = [line for a, b in pairwise(ends) for line in parts.cut(data[a:b])]
    assert in_parts == at_once
    assert parts.rest() == whole.rest()
    *ended, rest = data.split(b"\n")
    expected = [line if len(line) <= most else None for line in ended] + ([None] if len(rest) > most else [])
    assert at_once == expected


@given(IDS, st.text(st.characters(exclude_categories=["Cs"])), st.dictionaries(st.text(), JSON, max_size=3))
def test_a_request_is_read_as_it_was_written(id: object, method: str, params: dict[str, object]):
    line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, ensure_ascii=False)
    try:
        data = line.encode()
    except UnicodeEncodeError:
        with pytest.raises(Fault):
            parse(json.dumps(json.loads(line)).encode())
    else:
        assert parse(data) == Message(method, params, id)


@given(st.binary())
def test_any_bytes_are_a_message_or_a_fault(data: bytes):
    try:
        found = parse(data)
    except Fault as fault:
        assert fault.code in (-32700, -32600, -32602)
        assert len(fault.reason) <= 200
    else:
        assert found is None or isinstance(found, Message)


@given(JSON)
def test_any_json_is_a_message_or_a_fault(value: object):
    try:
        found = parse(json.dumps(value).encode())
    except Fault as fault:
        assert fault.code == -32600
    else:
        assert found is None


@pytest.mark.parametrize(("depth", "passes"), [(DEPTH - 1, True), (DEPTH, False), (DEPTH + 500, False)])
def test_nesting_is_bounded(depth: int, passes: bool):
    line = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * depth + b"1" + b"}" * (depth + 1)
    if passes:
        assert parse(line) is not None
    else:
        with pytest.raises(Fault, match="nested"):
            parse(line)
