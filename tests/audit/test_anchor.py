"""The head remembered outside the store."""

import json
import os
from dataclasses import replace

import pytest

from audit import anchor as anchors
from audit.anchor import Situation
from audit.errors import Integrity, Invalid
from tests.audit.logs import TIME, Log, key

LOG = Log(key(1)).fill(5)
ANCHOR = LOG.anchor()


@pytest.fixture
def path(tmp_path):
    """The place of the anchor, with the anchor there."""
    path = anchors.path(tmp_path / "state", "sto-1")
    anchors.write(path, ANCHOR)
    return path


def test_an_anchor_is_read_as_it_was_written(path):
    assert anchors.read(path) == ANCHOR
    newer = replace(ANCHOR, verified_at=TIME, genesis_key=None)
    anchors.write(path, newer)
    assert anchors.read(path) == newer
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert os.listdir(path.parent) == ["sto-1.json"]


def test_where_no_anchor_is_there_is_none(tmp_path):
    assert anchors.read(anchors.path(tmp_path / "state", "sto-1")) is None


@pytest.mark.parametrize("store_id", ["", "../x", "a/b", ".hidden", "a\0", "é", "x" * 129, "-a"])
def test_a_store_id_that_is_no_file_name_is_invalid(tmp_path, store_id):
    with pytest.raises(Invalid):
        anchors.path(tmp_path, store_id)


@pytest.mark.parametrize("data", [b"", b"{}", b"null", b"[]", b"not json", b"\xff" * 50, b"[" * 5000])
def test_a_malformed_anchor_is_an_integrity_error(path, data):
    path.write_bytes(data)
    with pytest.raises(Integrity) as caught:
        anchors.read(path)
    assert "audit adopt" in caught.value.hint


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("store_id", 7),
        ("store_id", "../x"),
        ("sequence", 0),
        ("sequence", True),
        ("sequence", "5"),
        ("event_hash", "xyz"),
        ("event_hash", None),
        ("checkpoint", None),
        ("genesis_key", ""),
        ("genesis_key", 7),
        ("written_at", None),
        ("written_at", "yesterday"),
        ("verified_at", ""),
        ("extra", 1),
    ],
)
def test_a_field_out_of_form_is_an_integrity_error(path, field, value):
    document = json.loads(path.read_text()) | {field: value}
    path.write_text(json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    with pytest.raises(Integrity):
        anchors.read(path)


def test_an_anchor_with_one_byte_cut_off_is_an_integrity_error(path):
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(Integrity):
        anchors.read(path)


def test_a_huge_anchor_is_an_integrity_error(path):
    path.write_bytes(b"x" * 200_000)
    with pytest.raises(Integrity):
        anchors.read(path)


def test_the_anchor_of_another_store_is_an_integrity_error(path):
    path.rename(path.with_name("sto-2.json"))
    with pytest.raises(Integrity, match="is of store sto-1"):
        anchors.read(path.with_name("sto-2.json"))


def test_a_loose_anchor_and_a_symlink_are_integrity_errors(path):
    path.chmod(0o644)
    with pytest.raises(Integrity):
        anchors.read(path)
    path.chmod(0o600)
    path.rename(path.with_name("real"))
    path.symlink_to("real")
    with pytest.raises(Integrity):
        anchors.read(path)


def test_an_anchor_out_of_form_is_not_written(path):
    with pytest.raises(Invalid):
        anchors.write(path, replace(ANCHOR, written_at="now"))
    assert anchors.read(path) == ANCHOR


def hash_at(sequence):
    hashes = {number: f"{number:064x}" for number in range(1, 11)}
    return hashes.get(sequence)


def at(sequence, event_hash=None):
    return replace(ANCHOR, sequence=sequence, event_hash=event_hash or hash_at(sequence))


@pytest.mark.parametrize(
    ("anchor", "head", "situation"),
    {
        "head equals anchor": (at(10), 10, Situation.OK),
        "log ahead of the anchor": (at(7), 10, Situation.AHEAD),
        "no anchor here": (None, 10, Situation.UNANCHORED),
        "log behind the anchor": (at(10), 9, Situation.BEHIND),
        "log emptied": (at(1), 0, Situation.BEHIND),
        "another event at the head": (at(10, "f" * 64), 10, Situation.DIVERGED),
        "rolled back, then written on": (at(8, "f" * 64), 10, Situation.DIVERGED),
    }.values(),
)
def test_the_head_is_judged_as_the_table_says(anchor, head, situation):
    assert anchors.judge(anchor, head, hash_at(head) or "0" * 64, hash_at) is situation


def test_an_anchored_event_that_is_gone_is_divergence():
    assert anchors.judge(at(7), 10, hash_at(10), lambda sequence: None) is Situation.DIVERGED
