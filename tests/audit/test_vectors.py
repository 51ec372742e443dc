"""Published test vectors, through both implementations of the log.

The vectors of C2SP stand in test_checkpoint.py, the trees' roots in test_merkle.py, the twelve of speccheck in
speccheck.json.
"""

import hashlib
import json
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from audit import canonical, independent, keys, merkle
from audit.errors import Invalid
from tests.audit.test_merkle import LEAVES, ROOTS, getter, grow

# RFC 8032 §7.1: seed, public key, message, signature
ED25519 = {
    "TEST 1": (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    "TEST 2": (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
    "TEST 3": (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
        "4a7c15e9716ed28dc027beceea1ec40a",
    ),
    "TEST SHA(abc)": (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").hexdigest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
        "3dca179c138ac17ad9bef1177331a704",
    ),
}


@pytest.mark.parametrize("name", ED25519)
def test_signatures_are_those_of_rfc_8032(name: str):
    seed, public, message, signature = ED25519[name]
    one = keys.Key(SigningKey(bytes.fromhex(seed)))
    data, signed = bytes.fromhex(message), bytes.fromhex(signature)
    assert (one.public, one.sign_raw(data)) == (public, signed)
    assert keys.verify_raw(public, data, signed) and independent.signed(public, data, signed)
    for position in (0, 31, 32, 63):
        other = bytearray(signed)
        other[position] ^= 1
        assert not keys.verify_raw(public, data, bytes(other)) and not independent.signed(public, data, bytes(other))
    assert not keys.verify_raw(public, data + b"x", signed) and not independent.signed(public, data + b"x", signed)


def test_both_implementations_take_the_one_speccheck_vector_that_should_be_taken():
    cases = json.loads((Path(__file__).parent / "speccheck.json").read_text())
    given = [(case["pub_key"], bytes.fromhex(case["message"]), bytes.fromhex(case["signature"])) for case in cases]
    assert [keys.verify_raw(*one) for one in given] == [independent.signed(*one) for one in given]
    assert "".join("XV"[independent.signed(*one)] for one in given) == "XXXVXXXXXXXX"


def test_both_implementations_compute_the_published_roots():
    """The roots over the eight leaves of certificate-transparency's tests of RFC 6962."""
    leaves = [merkle.leaf_hash(leaf) for leaf in LEAVES]
    for size in range(1, 9):
        assert independent.merkle_root(leaves[:size]) == ROOTS[size - 1] == grow(LEAVES[:size])[0].root()


# Of the same tests: leaf, size of the tree, path; and old size, new size, path
INCLUSION = [
    (0, 1, []),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (
        1,
        5,
        [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
    (
        5,
        8,
        [
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
]
CONSISTENCY = [
    (1, 1, []),
    (
        1,
        8,
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        2,
        5,
        [
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
]


@pytest.mark.parametrize(("leaf", "size", "path"), INCLUSION)
def test_the_published_inclusion_paths_come_out_and_verify(leaf: int, size: int, path: list[str]):
    found = merkle.inclusion_path(leaf, size, getter(grow(LEAVES)[1]))
    assert [item.hex() for item in found] == path
    root, hashed = ROOTS[size - 1], merkle.leaf_hash(LEAVES[leaf])
    assert merkle.verify_inclusion(hashed, leaf, size, found, root)
    assert not merkle.verify_inclusion(hashed, leaf, size, [*found, root], root)


@pytest.mark.parametrize(("old", "new", "path"), CONSISTENCY)
def test_the_published_consistency_paths_come_out_and_verify(old: int, new: int, path: list[str]):
    found = merkle.consistency_path(old, new, getter(grow(LEAVES)[1]))
    assert [item.hex() for item in found] == path
    roots = [ROOTS[size - 1] for size in (old, new)]
    assert merkle.verify_consistency(old, roots[0], new, roots[1], found)


def test_canonical_json_is_that_of_rfc_8785_as_far_as_its_values_are_allowed():
    """The strings and literals of §3.2.2 and the ASCII keys of §3.2.3; its fractions have no form here."""
    literals = json.loads(
        '{"string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/", "literals": [null, true, false]}'
    )
    written = '{"literals":[null,true,false],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'.encode()
    assert canonical.encode(literals) == written and canonical.decode(written) == literals
    assert independent.read_object(written) == literals
    assert canonical.encode({"1": "One", "\r": "Carriage Return"}) == b'{"\\r":"Carriage Return","1":"One"}'
    for number in ("333333333.33333329", "1E30", "4.50", "2e-3", "0.000000000000000000000000001", "-0"):
        with pytest.raises(Invalid):
            canonical.decode(b'{"numbers":[' + number.encode() + b"]}")
        with pytest.raises(independent.Rejected):
            independent.read_object(b'{"numbers":[' + number.encode() + b"]}")
