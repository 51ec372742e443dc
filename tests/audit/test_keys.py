"""Keys: made once, kept private, good for one purpose at a time."""

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from audit import event, keys
from audit.errors import Conflict, Integrity, NotFound
from tests.audit.logs import key

ORDER = 2**252 + 27742317777372353535851937790883648493  # L, the order of the base point
PRIME = 2**255 - 19
SPECCHECK = json.loads((Path(__file__).parent / "speccheck.json").read_text())
SMALL_ORDER = [
    "00" * 32,
    "01" + "00" * 31,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    (PRIME - 1).to_bytes(32, "little").hex(),
    PRIME.to_bytes(32, "little").hex(),
    (PRIME + 1).to_bytes(32, "little").hex(),
]


def test_a_key_made_is_the_key_loaded(tmp_path):
    path = tmp_path / "keys" / "store.key"
    made, loaded = keys.create(path), keys.load(path)
    assert (made.public, made.key_id) == (loaded.public, loaded.key_id)
    assert keys.verify(made.public, "event", b"x", keys.sign(loaded, "event", b"x"))
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_a_key_id_is_the_start_of_the_hash_of_the_public_key():
    assert key(1).public == "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c"
    assert key(1).key_id == keys.key_id(key(1).public)
    assert len(key(1).key_id) == 16


def test_a_key_is_never_overwritten(tmp_path):
    path = tmp_path / "keys" / "store.key"
    made = keys.create(path)
    with pytest.raises(Conflict):
        keys.create(path)
    assert keys.load(path).public == made.public


def test_a_missing_key_is_not_found(tmp_path):
    with pytest.raises(NotFound, match="no key"):
        keys.load(tmp_path / "keys" / "store.key")


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_key_file_of_another_size_is_refused(tmp_path, size):
    path = tmp_path / "store.key"
    path.write_bytes(b"x" * size)
    path.chmod(0o600)
    with pytest.raises(Integrity):
        keys.load(path)


def test_a_seed_is_in_no_text(tmp_path):
    one = keys.create(tmp_path / "store.key")
    seed = (tmp_path / "store.key").read_bytes()
    for text in (repr(one), str(one), f"{one}", str(vars(keys))):
        assert seed.hex() not in text and repr(seed) not in text
    with pytest.raises(TypeError):
        pickle.dumps(one)


def test_the_speccheck_vectors_come_out_as_they_should():
    """The twelve vectors of "Taming the many EdDSAs", https://eprint.iacr.org/2020/1244."""
    verdicts = [
        keys.verify_raw(case["pub_key"], bytes.fromhex(case["message"]), bytes.fromhex(case["signature"]))
        for case in SPECCHECK
    ]
    assert "".join("V" if verdict else "X" for verdict in verdicts) == "XXXVXXXXXXXX"


@pytest.mark.parametrize("point", SMALL_ORDER)
@pytest.mark.parametrize("sign_bit", [0, 0x80])
def test_a_key_of_small_order_verifies_nothing(point, sign_bit):
    raw = bytearray(bytes.fromhex(point))
    raw[31] |= sign_bit
    for r in SMALL_ORDER:
        assert not keys.verify_raw(raw.hex(), b"message", bytes.fromhex(r) + bytes(32))


def test_a_signature_with_s_beyond_the_order_is_refused():
    message = b"message"
    signature = key().sign_raw(message)
    s = int.from_bytes(signature[32:], "little")
    assert keys.verify_raw(key().public, message, signature)
    for multiple in range(1, 15):
        forged = signature[:32] + (s + multiple * ORDER).to_bytes(32, "little")
        assert not keys.verify_raw(key().public, message, forged)


@pytest.mark.parametrize(
    "public", [key().public.upper(), key().public[:-1], key().public + "00", "zz" * 32, "", None, 7]
)
def test_a_malformed_public_key_verifies_nothing(public):
    assert not keys.verify(public, "event", b"x", keys.sign(key(), "event", b"x"))


@pytest.mark.parametrize("signature", [b"", b"x" * 63, b"x" * 65, None, "x" * 64])
def test_a_malformed_signature_is_just_false(signature):
    assert not keys.verify(key().public, "event", b"x", signature)


@given(st.binary(min_size=64, max_size=64), st.binary(max_size=40))
def test_random_bytes_are_no_signature(signature, payload):
    assert not keys.verify(key().public, "event", payload, signature)


@pytest.mark.parametrize("purpose", event.PURPOSES)
@pytest.mark.parametrize("other", [*event.PURPOSES, "speech"])
def test_a_signature_for_one_purpose_is_none_for_another(purpose, other):
    signature = keys.sign(key(), purpose, b"{}")
    assert keys.verify(key().public, purpose, b"{}", signature)
    assert keys.verify(key().public, other, b"{}", signature) == (purpose == other)
    assert not keys.verify_raw(key().public, b"{}", signature)


def test_a_signature_by_one_key_is_none_of_another():
    assert not keys.verify(key(2).public, "event", b"{}", keys.sign(key(1), "event", b"{}"))


def test_a_rotation_is_countersigned_for_one_store_one_epoch_and_one_predecessor():
    payload = keys.rotation("sto-1", 2, key(1).public, key(2))
    assert keys.rotated("sto-1", 2, key(1).public, payload) == key(2).public
    assert keys.rotated("sto-2", 2, key(1).public, payload) is None
    assert keys.rotated("sto-1", 3, key(1).public, payload) is None
    assert keys.rotated("sto-1", 3, key(1).public, payload | {"epoch": 3}) is None
    assert keys.rotated("sto-1", 2, key(3).public, payload) is None
    assert keys.rotated("sto-1", 2, None, payload) is None


@pytest.mark.parametrize(
    "change",
    [
        {"public_key": key(3).public},
        {"public_key": None},
        {"public_key": "xyz"},
        {"countersignature": None},
        {"countersignature": "00" * 64},
        {"countersignature": "zz" * 64},
        {"epoch": None},
    ],
)
def test_a_malformed_rotation_puts_no_key_in_place(change):
    payload = keys.rotation("sto-1", 2, key(1).public, key(2)) | change
    assert keys.rotated("sto-1", 2, key(1).public, payload) is None


def test_a_first_key_can_take_over_a_store_that_had_none():
    payload = keys.rotation("sto-1", 2, None, key(2))
    assert keys.rotated("sto-1", 2, None, payload) == key(2).public


def test_signing_agrees_with_the_first_vector_of_rfc_8032():
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    one = keys.Key(SigningKey(seed))
    assert one.public == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert one.sign_raw(b"").hex() == (
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
