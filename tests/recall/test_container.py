"""A file of arrays reads back as it was written, or not at all."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from substrate.recall.container import Damaged, decode, encode, read, write

KEY = b"k" * 32
SAMPLE = {"a": np.arange(5, dtype=np.int64), "b": np.array([b"x", b"yz"]), "none": np.zeros((0, 16), np.uint8)}


@given(
    st.dictionaries(
        st.text(max_size=5),
        arrays.arrays(
            st.sampled_from([np.int64, np.int32, np.float32, np.uint8, np.dtype("S7")]),
            arrays.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=5),
        ),
        max_size=4,
    ),
    st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.text())),
)
def test_what_was_encoded_is_decoded(given_arrays: dict[str, np.ndarray], meta: dict[str, object]) -> None:  # type: ignore[type-arg]
    data = encode(KEY, "kind", meta, given_arrays)
    found_meta, found, code = decode(data, KEY, "kind", "file")
    assert found_meta == meta
    assert code == data[-32:].hex()
    assert list(found) == list(given_arrays)
    for name, array in given_arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


def test_a_written_file_is_mapped_back(tmp_path: Path) -> None:
    code = write(tmp_path / "index" / "x", KEY, "kind", {"n": 1}, SAMPLE)
    meta, found, again = read(tmp_path / "index" / "x", KEY, "kind")
    assert (meta, again) == ({"n": 1}, code)
    assert found["b"].tolist() == [b"x", b"yz"]
    with pytest.raises(ValueError, match="read-only"):
        found["a"][0] = 1


def test_every_flipped_bit_and_every_cut_is_damage() -> None:
    data = encode(KEY, "kind", {"n": 1}, SAMPLE)
    for place in range(len(data)):
        with pytest.raises(Damaged):
            decode(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :], KEY, "kind", "file")
        with pytest.raises(Damaged):
            decode(data[:place], KEY, "kind", "file")


def test_another_key_another_kind_and_no_file_are_damage(tmp_path: Path) -> None:
    write(tmp_path / "index" / "x", KEY, "kind", {}, SAMPLE)
    with pytest.raises(Damaged):
        read(tmp_path / "index" / "x", b"j" * 32, "kind")
    with pytest.raises(Damaged):
        read(tmp_path / "index" / "x", KEY, "other")
    with pytest.raises(Damaged):
        read(tmp_path / "index" / "y", KEY, "kind")
    (tmp_path / "index" / "link").symlink_to("x")
    with pytest.raises(Damaged):
        read(tmp_path / "index" / "link", KEY, "kind")
    (tmp_path / "index" / "empty").touch()
    with pytest.raises(Damaged):
        read(tmp_path / "index" / "empty", KEY, "kind")
