"""The log's head in a note that can be mailed."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from audit import checkpoint, keys
from audit.checkpoint import Checkpoint
from audit.errors import AiMemoryError, Integrity, Invalid
from tests.audit.logs import key

ORIGIN = checkpoint.origin("sto-1")
CLAIM = Checkpoint(ORIGIN, 7, bytes(range(32)))
NOTE = checkpoint.sign(CLAIM, key(1))
KEYS = {ORIGIN: key(1).public}
TEXT, SIGNATURE = NOTE.split("\n\n")
# The examples of the C2SP signed-note page and of the reference implementation of the format.
EXAMPLE = (
    "This is an example message.\n\n— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)
EXAMPLE_KEY = base64.b64decode("AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")[1:].hex()
PETER_TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
PETER_SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
PETER_SIGNATURE = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
BEHIND_THE_SOFA = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "— example.com/behind-the-sofa "
    "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
)


def test_a_note_is_three_lines_a_blank_one_and_a_signature():
    assert NOTE.split("\n") == [
        "ai-memory/sto-1",
        "7",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "",
        NOTE.split("\n")[4],
        "",
    ]
    assert NOTE.split("\n")[4].startswith("— ai-memory/sto-1 ")
    assert checkpoint.parse(NOTE, KEYS) == CLAIM


def test_the_published_example_of_a_signed_note_verifies():
    text, [(name, blob)] = checkpoint._split(EXAMPLE)
    assert (text, name) == ("This is an example message.\n", "example.com/foo")
    assert blob[:4].hex() == "530d903a" == checkpoint._key_hash(name, EXAMPLE_KEY).hex()
    assert keys.verify_raw(EXAMPLE_KEY, text.encode(), blob[4:])


def test_signing_agrees_with_the_reference_implementation():
    peter = keys.Key(SigningKey(PETER_SEED))
    signature = checkpoint._key_hash("PeterNeumann", peter.public) + peter.sign_raw(PETER_TEXT.encode())
    assert base64.b64encode(signature).decode() == PETER_SIGNATURE


def test_the_published_example_of_a_checkpoint_is_read():
    claim = checkpoint.parse(BEHIND_THE_SOFA, None)
    assert (claim.origin, claim.size, claim.root[:2].hex()) == ("example.com/behind-the-sofa", 20852163, "0ac5")
    with pytest.raises(Integrity, match="not signed by the key"):
        checkpoint.parse(BEHIND_THE_SOFA, {"example.com/behind-the-sofa": key(1).public})


@given(st.integers(0, 10**16 - 1), st.binary(min_size=32, max_size=32), st.integers(1, 255))
def test_a_checkpoint_comes_back_from_its_note(size, root, number):
    claim = Checkpoint(ORIGIN, size, root)
    assert checkpoint.parse(checkpoint.sign(claim, key(number)), {ORIGIN: key(number).public}) == claim
    assert checkpoint.parse(checkpoint.unsigned_note(claim), None) == claim


@given(st.text(max_size=200) | st.text("ai-memory/sto1 +—AB=\n\n", max_size=60))
def test_any_other_text_is_refused_as_ours(text):
    with pytest.raises(AiMemoryError):
        checkpoint.parse(text, KEYS)


@given(st.integers(0, len(NOTE) - 1), st.characters(codec="utf-8"))
def test_a_note_with_one_character_changed_is_refused(position, character):
    changed = NOTE[:position] + character + NOTE[position + 1 :]
    if changed == NOTE:
        return
    with pytest.raises(AiMemoryError):
        checkpoint.parse(changed, KEYS)


def test_signatures_by_others_are_passed_over():
    stranger = "— witness.example/w1 " + base64.b64encode(b"abcd" + bytes(76)).decode() + "\n"
    colliding_name = "— ai-memory/sto-1 " + base64.b64encode(b"abcd" + bytes(64)).decode() + "\n"
    assert checkpoint.parse(NOTE + stranger + colliding_name, KEYS) == CLAIM
    assert checkpoint.parse(f"{TEXT}\n\n{stranger}{SIGNATURE}", KEYS) == CLAIM


def test_a_bad_signature_by_a_known_key_rejects_beside_a_good_one():
    key_hash = checkpoint._key_hash(ORIGIN, key(1).public)
    bad = f"— {ORIGIN} " + base64.b64encode(key_hash + bytes(64)).decode() + "\n"
    with pytest.raises(Integrity, match="is bad"):
        checkpoint.parse(NOTE + bad, KEYS)


def test_a_known_witness_does_not_stand_in_for_the_log():
    by_witness = f"{TEXT}\n\n" + SIGNATURE.replace(ORIGIN, "witness.example/w1")
    witness = key(2)
    signature = checkpoint._key_hash("witness.example/w1", witness.public) + witness.sign_raw(f"{TEXT}\n".encode())
    by_witness = f"{TEXT}\n\n— witness.example/w1 {base64.b64encode(signature).decode()}\n"
    known = {"witness.example/w1": witness.public}
    with pytest.raises(Integrity, match="not signed"):
        checkpoint.parse(by_witness, known)
    assert checkpoint.parse(by_witness + SIGNATURE, KEYS | known) == CLAIM


def test_a_note_without_a_signature_passes_only_where_no_key_is_known():
    note = checkpoint.unsigned_note(CLAIM)
    assert note == TEXT + "\n\n"
    assert checkpoint.parse(note, None) == CLAIM
    for known in (KEYS, {}, {ORIGIN: "not a key"}):
        with pytest.raises(Integrity):
            checkpoint.parse(note, known)


def test_extension_lines_are_signed_and_passed_over():
    text = CLAIM.text() + "extension\n"
    signature = checkpoint._key_hash(ORIGIN, key(1).public) + key(1).sign_raw(text.encode())
    note = f"{text}\n— {ORIGIN} {base64.b64encode(signature).decode()}\n"
    assert checkpoint.parse(note, KEYS) == CLAIM
    with pytest.raises(Integrity):
        checkpoint.parse(note.replace("extension", "Extension"), KEYS)


LINE = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


@pytest.mark.parametrize(
    "note",
    {
        "nothing": "",
        "no blank line": TEXT + "\n",
        "no newline at the end": NOTE[:-1],
        "two lines": "o\n1\n\n",
        "no origin": f"\n1\n{LINE}\n\n",
        "leading zero": f"o\n01\n{LINE}\n\n",
        "negative": f"o\n-1\n{LINE}\n\n",
        "size of another script": f"o\n٣\n{LINE}\n\n",
        "huge size": f"o\n{10**16}\n{LINE}\n\n",
        "short root": "o\n1\nAAEC\n\n",
        "root in another spelling": f"o\n1\n{LINE[:-1]}\n\n",
        "carriage returns": TEXT.replace("\n", "\r\n") + "\n\n",
        "NUL": f"o\0\n1\n{LINE}\n\n",
        "surrogate": f"o\ud800\n1\n{LINE}\n\n",
        "hyphen for the dash": NOTE.replace("—", "-"),
        "two spaces": NOTE.replace("— ", "—  "),
        "plus in the key name": f"{TEXT}\n\n— a+b AAAAAAAA\n",
        "signature too short": f"{TEXT}\n\n— a AAAAAA==\n",
        "signature not base64": f"{TEXT}\n\n— a !!!!\n",
        "too long": f"{TEXT}\n\n" + SIGNATURE * 2000,
    }.items(),
    ids=lambda item: item[0],
)
def test_a_malformed_note_is_invalid(note):
    with pytest.raises(Invalid):
        checkpoint.parse(note[1], None)


@pytest.mark.parametrize(
    "claim",
    [
        Checkpoint("", 1, bytes(32)),
        Checkpoint("a b", 1, bytes(32)),
        Checkpoint("a+b", 1, bytes(32)),
        Checkpoint("a\n999", 1, bytes(32)),
        Checkpoint("a\x00", 1, bytes(32)),
        Checkpoint(ORIGIN, -1, bytes(32)),
        Checkpoint(ORIGIN, 1, bytes(31)),
    ],
)
def test_a_checkpoint_that_could_not_be_read_back_is_not_signed(claim):
    with pytest.raises(Invalid):
        checkpoint.sign(claim, key(1))


def test_a_signature_over_a_note_is_none_over_an_event():
    signature = base64.b64decode(SIGNATURE.split(" ")[2])[4:]
    assert keys.verify_raw(key(1).public, CLAIM.text().encode(), signature)
    assert not any(keys.verify(key(1).public, purpose, CLAIM.text().encode(), signature) for purpose in keys.PURPOSES)
