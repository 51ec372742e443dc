"""A key under a passphrase: opened by it alone, and by no file that was changed."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from audit import canonical, files, keys, sealing
from audit.errors import Forbidden, Integrity, Invalid, NotFound
from audit.sealing import Sealed
from tests.store import crash

CHEAP = {"ops": 1, "mem": 8192}
WORD = "four words of Ann's"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "hum-1.key"


@pytest.fixture
def key(path: Path) -> keys.Key:
    return keys.create(path)


def sealed(path: Path) -> Sealed:
    found = sealing.load(path)
    assert isinstance(found, Sealed)
    return found


def test_a_sealed_key_shows_its_public_half_and_opens_with_its_passphrase(path: Path, key: keys.Key):
    os.link(path, path.parent / "kept")
    seed = key.seed()
    sealing.seal(path, key, WORD, **CHEAP)
    assert (sealed(path).public, path.stat().st_mode & 0o777) == (key.public, 0o600)
    assert seed not in path.read_bytes()
    assert (path.parent / "kept").read_bytes() == bytes(32)
    assert sealing.opened(sealed(path), WORD).seed() == seed
    with pytest.raises(Integrity):
        keys.load(path)
    sealing.seal(path, key, "another four words", **CHEAP)
    with pytest.raises(Forbidden):
        sealing.opened(sealed(path), WORD)
    sealing.unseal(path, key)
    assert keys.load(path).public == key.public
    found = sealing.load(path)
    assert isinstance(found, keys.Key)


def test_a_sealing_that_dies_leaves_the_seed_or_the_sealed_key_and_is_finished_by_the_next(path: Path, key: keys.Key):
    def die() -> None:
        raise KeyboardInterrupt

    seen = set()
    for number in range(1, 20):
        files.replace(path, key.seed())
        crash.die_before(number, die)
        try:
            sealing.seal(path, key, WORD, **CHEAP)
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        found = sealing.load(path)
        seen.add(type(found))
        assert (sealing.opened(found, WORD) if isinstance(found, Sealed) else found).seed() == key.seed()
    assert seen == {keys.Key, Sealed}
    assert os.listdir(path.parent) == [path.name]


def test_a_passphrase_is_the_same_however_its_letters_are_composed(path: Path, key: keys.Key):
    sealing.seal(path, key, "un caf\u00e9 tr\u00e8s noir", **CHEAP)
    assert sealing.opened(sealed(path), "un cafe\u0301 tre\u0300s noir").public == key.public


@pytest.mark.parametrize("word", ["", " " * 20, "short", "a" * 16, "ab" * 9, "x\ud800yz" * 5, "wxyz" * 300])
def test_a_weak_passphrase_is_refused_and_nothing_changes(path: Path, key: keys.Key, word: str):
    with pytest.raises(Invalid):
        sealing.seal(path, key, word, **CHEAP)
    assert path.read_bytes() == key.seed()


def test_a_wrong_passphrase_and_a_changed_file_get_the_same_answer(path: Path, key: keys.Key):
    sealing.seal(path, key, WORD, **CHEAP)
    whole = canonical.decode(path.read_bytes())
    assert isinstance(whole, dict)
    other = keys.create(path.parent / "other.key")
    answers = set()
    changes: list[dict[str, Any]] = [{}]
    changes += [{"public_key": other.public}, {"ops": 2}, {"mem": 16384}]
    changes += [{name: canonical.to_base64(bytes(len(canonical.from_base64(whole[name]))))} for name in ("salt", "box")]
    for number, change in enumerate(changes):
        files.replace(path, canonical.encode({**whole, **change}))
        with pytest.raises(Forbidden) as caught:
            sealing.opened(sealed(path), WORD if number else "not the four words")
        answers.add((caught.value.message, caught.value.hint, str(caught.value.details)))
    with pytest.raises(Forbidden) as caught:
        sealing.opened(sealed(path), "")
    answers.add((caught.value.message, caught.value.hint, str(caught.value.details)))
    assert len(answers) == 1


@pytest.mark.parametrize(
    "change",
    [
        *({"v": 2}, {"v": True}, {"public_key": "x"}, {"ops": 0}, {"ops": 17}, {"ops": "3"}, {"mem": 4096}),
        *({"mem": 2**31}, {"mem": None}, {"salt": "AAAA"}, {"box": "AAAA"}, {"box": "%"}, {"salt": 1}, {"more": 1}),
    ],
)
def test_a_file_out_of_form_is_no_key(path: Path, key: keys.Key, change: dict[str, Any]):
    sealing.seal(path, key, WORD, **CHEAP)
    whole = canonical.decode(path.read_bytes())
    assert isinstance(whole, dict)
    files.replace(path, canonical.encode({**whole, **change}))
    with pytest.raises(Integrity):
        sealing.load(path)


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b"x" * 31, b"x" * 33, b'{"v":1}\n', b"{" * 200])
def test_what_is_neither_a_seed_nor_a_sealed_one_is_no_key(path: Path, key: keys.Key, data: bytes):
    files.replace(path, data)
    with pytest.raises(Integrity):
        sealing.load(path)


def test_a_seed_that_looks_like_the_beginning_of_an_object_is_a_seed(path: Path, key: keys.Key):
    files.replace(path, b"{" * 32)
    assert isinstance(sealing.load(path), keys.Key)
    path.unlink()
    with pytest.raises(NotFound):
        sealing.load(path)
