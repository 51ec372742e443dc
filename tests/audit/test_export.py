"""An exported log, verified by both verifiers: they agree on every log, genuine or not."""

import base64
import json
import random
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from audit import attestation, canonical, checkpoint, event, independent
from audit.export import verify_export, write_export
from tests.audit.logs import Log, commitment, key

GOLDEN = Path(__file__).parent / "golden" / "log.jsonl"
ROOT = Path(__file__).resolve().parents[2]


def story(signer):
    """Return a log with everything in it that a log can hold: removals, a rotation, a fork."""
    log = Log(signer).fill(9)
    log.rotate(key(2))
    log.fill(14)
    log.fork("sto-9")
    log.add("erased", commits=(("memories", "mem-1", commitment("tombstone")),), namespace=None, subject=None)
    log.add("memory_added", payload={"note": 'é "\\\n\x01\u2028\U0001f600', "n": -7, "deep": [[{}]], "flag": False})
    return log.fill(20)


def lines(log, **options):
    return list(write_export(log.rows, log.store_id, log.genesis_key, log.note(), **options))


def agreed(exported):
    """Return whether both verifiers accept an export, after seeing that they agree."""
    faults, _ = verify_export(exported)
    reason = independent.verify(exported)
    assert (faults == []) == (reason == ""), (faults[:3], reason)
    return reason == ""


SIGNED, UNSIGNED = story(key(1)), Log(None).fill(12)
EXPORTS = {
    "signed": lines(SIGNED),
    "anchored": lines(SIGNED, anchor=SIGNED.anchor()),
    "unsigned": lines(UNSIGNED, anchor=UNSIGNED.anchor()),
    "later signed": lines(story(None)),
    "one event": lines(Log(key(1))),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_a_genuine_export_is_accepted(name):
    assert agreed(EXPORTS[name])
    _, summary = verify_export(EXPORTS[name])
    assert summary.size == len(EXPORTS[name]) - 1


def test_both_verifiers_know_the_same_words():
    assert set(independent.TYPES.split()) == event.TYPES
    assert tuple(independent.EVENT.split()) == event.FIELDS
    assert set(independent.DECISIONS.split()) == attestation.DECISIONS
    assert independent.ANCHOR.split() == list(asdict(SIGNED.anchor()))


def test_the_golden_export_is_written_and_accepted_as_ever():
    """Regenerate with `python -m tests.audit.test_export` when the format changes on purpose."""
    assert GOLDEN.read_bytes() == b"".join(EXPORTS["anchored"])
    assert agreed(GOLDEN.read_bytes().splitlines(keepends=True))


def resigned(log, position, **fields):
    """Return the export of a log whose key holder put other fields into one event, unchecked."""
    other = Log.__new__(Log)
    other.__dict__.update(log.__dict__)
    other.rows, other.tree, other.nodes, other.signer = [], type(log.tree)(), {}, key(1)
    for sequence, body, _, key_id in log.rows:
        document = json.loads(body)
        if sequence == position:
            document |= fields
        if other.rows:
            document["prev"] = event.event_hash(other.rows[-1][1])
        data = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        other.append(data, key_id)
    other.signer = log.signer
    return list(write_export(other.rows, other.store_id, other.genesis_key, other.note()))


PLAIN = Log(key(1)).fill(6)


def test_changing_nothing_is_accepted():
    assert agreed(resigned(PLAIN, 3, actor="hum-2"))


VALUES = [None, True, False, 0, 1, -1, 2, 1.5, 2**53, "", "x", "A" * 64, "a" * 63, "a" * 64, [], {}, [""], [[]], [None]]
SHAPES = [
    ["x", "y"],
    [["x", "y"]],
    [["x", "y", "z"]],
    [["x", "y", None]],
    [["", "y", None]],
    [["x", 1, None]],
    [["x", "y", None], ["x", "y", None]],
    [["x", "y", "a" * 64]],
    {"é": 1},
    {"a": 1.0},
    {"a": [[[[]]]]},
    "2026-02-30T00:00:00.000000Z",
    "2026-02-28T00:00:60.000000Z",
    "2026-02-28T24:00:00.000000Z",
    "2026-02- 8T00:00:00.000000Z",
    "2026-02-28T00:00:00.00000٣Z",
    "٢٠٢٦-02-28T00:00:00.000000Z",
    "0000-02-28T00:00:00.000000Z",
    "9999-12-31T23:59:59.999999Z",
    "memory_added\n",
    "store_created",
    "key_rotated",
    "store_forked",
]


@pytest.mark.parametrize("name", [*event.FIELDS, "extra"])
def test_the_verifiers_agree_on_every_value_in_every_field(name):
    """The key holder signs anything at all: what is accepted is a matter of form alone."""
    verdicts = [agreed(resigned(PLAIN, position, **{name: value})) for position in (1, 4) for value in VALUES + SHAPES]
    assert not all(verdicts)


@pytest.mark.parametrize("name", ["public_key", "countersignature", "epoch"])
def test_the_verifiers_agree_on_every_value_in_a_rotation(name):
    log = Log(key(1)).fill(4)
    log.rotate(key(2))
    payload = json.loads(log.rows[4][1])["payload"]
    assert agreed(resigned(log, 5))
    for value in [*VALUES, payload["public_key"].upper(), "00" * 64]:
        assert agreed(resigned(log, 5, payload=payload | {name: value})) == (value == payload[name])


def test_a_key_of_the_past_is_never_put_in_force_again():
    log = Log(key(1)).fill(4)
    log.rotate(key(2))
    log.fill(8)
    assert agreed(lines(log))
    log.rotate(key(1))
    assert not agreed(lines(log))
    assert [fault.kind for fault in verify_export(lines(log))[0]] == ["rotation", "checkpoint"]


def test_a_checkpoint_is_good_by_the_key_in_force_at_its_size_alone():
    log = Log(None).fill(3)
    notes = [(log.note(), None)]
    for number in (1, 2):
        log.rotate(key(number))
        log.fill(len(log.rows) + 3)
        notes.append((log.note(), number))
    for note, signer in notes:
        claim = checkpoint.parse(note, None)
        rows = log.rows[: claim.size]
        for number in (1, 2, 3):
            forged = checkpoint.sign(claim, key(number))
            exported = list(write_export(rows, log.store_id, None, forged))
            assert agreed(exported) == (signer in (None, number))
        assert agreed(list(write_export(rows, log.store_id, None, checkpoint.unsigned_note(claim)))) == (signer is None)


HEADER = json.loads(EXPORTS["anchored"][0])
NOTE = HEADER["checkpoint"]
NOTES = [
    "",
    "x",
    NOTE[:-1],
    NOTE + "\n",
    NOTE + "\n\n",
    NOTE.replace("—", "-"),
    NOTE.replace("sto-9", "sto-8"),
    NOTE.replace("sto-9", "sto-1"),
    NOTE.replace("\n20\n", "\n19\n"),
    NOTE.replace("\n20\n", "\n020\n"),
    NOTE.replace("\n20\n", "\n21\n"),
    NOTE.replace("\n\n", "\nextension\n\n"),
    NOTE.replace("\n\n", "\n\n\n"),
    NOTE + "— other AAAAAAAA\n",
    NOTE + "— ai-memory/sto-9 AAAAAAAA\n",
    NOTE + "— other  AAAAAAAA\n",
    NOTE + "— a+b AAAAAAAA\n",
    NOTE + "— o\u00a0r AAAAAAAA\n",
    NOTE + "— other AAAAAA==\n",
    NOTE + "— other é\n",
    NOTE + "\x00",
    NOTE + "— other AAAAAAAA",
    NOTE + NOTE.split("\n\n")[1],
    NOTE + NOTE.split("\n\n")[1][:-8] + "AAAAAAA=\n",
    "a\n" + NOTE,
    checkpoint.unsigned_note(SIGNED.checkpoint()),
    checkpoint.sign(SIGNED.checkpoint(), key(1)),
    checkpoint.sign(SIGNED.checkpoint(), key(3)),
    checkpoint.sign(replace(SIGNED.checkpoint(), origin="ai-memory/sto-1"), key(2)),
    checkpoint.sign(replace(SIGNED.checkpoint(), size=0), key(2)),
]


def with_header(document, rest=EXPORTS["anchored"][1:]):
    data = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return [data.encode() + b"\n", *rest]


def test_the_verifiers_agree_on_every_note():
    verdicts = [agreed(with_header(HEADER | {"checkpoint": note})) for note in NOTES]
    anchored = [agreed(with_header(HEADER | {"anchor": HEADER["anchor"] | {"checkpoint": note}})) for note in NOTES]
    assert 0 < sum(verdicts) < len(NOTES) and 0 < sum(anchored) < len(NOTES)


@pytest.mark.parametrize("name", [*HEADER, "extra"])
def test_the_verifiers_agree_on_every_value_in_the_header(name):
    assert not any(agreed(with_header(HEADER | {name: value})) for value in VALUES if (name, value) != ("v", 1))


@pytest.mark.parametrize("name", [*HEADER["anchor"], "extra"])
def test_the_verifiers_agree_on_every_value_in_the_anchor(name):
    verdicts = [
        agreed(with_header(HEADER | {"anchor": HEADER["anchor"] | {name: value}}))
        for value in [*VALUES, *SHAPES, 14, 20, 21, key(2).public]
    ]
    assert not all(verdicts)


def test_the_verifiers_agree_that_an_anchor_may_be_older_than_the_log():
    older = story(key(1))
    anchor = replace(Log(key(1)).fill(9).anchor(), store_id="sto-9")
    assert agreed(lines(older, anchor=anchor))
    assert not agreed(lines(older, anchor=replace(anchor, event_hash="0" * 64)))


def mutations(export, count, seed):
    """Yield ways to spoil an export: bytes flipped, lines moved, fields exchanged."""
    chance = random.Random(seed)
    for _ in range(count):
        spoiled = list(export)
        position, other = chance.randrange(len(spoiled)), chance.randrange(len(spoiled))
        way = chance.randrange(8)
        if way == 0:
            del spoiled[position]
        elif way == 1:
            spoiled[position], spoiled[other] = spoiled[other], spoiled[position]
        elif way == 2:
            spoiled.insert(position, spoiled[other])
        elif way == 3:
            spoiled = spoiled[:position]
        elif way == 4:
            data = bytearray(spoiled[position])
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            spoiled[position] = bytes(data)
        elif position == 0:
            spoiled[0] = export[0].replace(b"sto-", b"sta-", 1)
        else:
            spoiled[position] = spoiled_event(spoiled[position], spoiled[other], way, chance)
        if spoiled != export:
            yield spoiled


def spoiled_event(line, other, way, chance):
    """Return an event line with a byte of its body or signature flipped, or a part of another line in it."""
    document, source = json.loads(line), json.loads(other)
    part = chance.choice(["body", "signature"])
    if way == 5 and document[part]:
        data = bytearray(base64.b64decode(document[part]))
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        document[part] = canonical.to_base64(bytes(data))
    elif way == 6:
        part = chance.choice(["body", "signature", "key_id", "seq"])
        document[part] = source.get(part)
    else:
        document[chance.choice(["body", "signature", "key_id", "seq", "extra"])] = chance.choice(VALUES)
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize("name", ["signed", "anchored", "unsigned", "later signed"])
def test_the_verifiers_agree_on_hundreds_of_spoiled_logs(name):
    export, seen = EXPORTS[name], 0
    for spoiled in mutations(export, 150, seed=name):
        assert not agreed(spoiled)
        seen += 1
    assert seen > 120


@pytest.mark.parametrize("first", [b"", b"\n", b"{}", b"[]", b"\xff", b'{"v":1', b"[" * 100_000])
def test_a_header_that_cannot_be_read_is_a_fault(first):
    assert not agreed([first, *EXPORTS["signed"][1:]])
    assert verify_export([first])[1] is None


def test_an_empty_file_is_a_fault():
    assert not agreed([])


def test_a_header_alone_is_a_fault():
    assert not agreed(EXPORTS["signed"][:1])


def test_a_checkpoint_over_less_than_the_export_is_a_fault():
    log = Log(key(1)).fill(5)
    note = log.note()
    log.fill(7)
    assert not agreed(list(write_export(log.rows, "sto-1", log.genesis_key, note)))


def test_a_last_line_without_a_newline_is_accepted():
    assert agreed([*EXPORTS["signed"][:-1], EXPORTS["signed"][-1].rstrip(b"\n")])


def run(*arguments):
    command = [sys.executable, "-m", "audit.independent", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_independent_verifier_runs_on_a_file(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(b"".join(EXPORTS["signed"]))
    bad.write_bytes(b"".join(EXPORTS["signed"][:-1]))
    done = run(good)
    assert (done.returncode, done.stdout) == (0, f"the log holds; compare its first key: {key(1).public}\n")
    assert run(bad).returncode == 7
    assert run(tmp_path / "absent").returncode == 2 and run().returncode == 2


def test_the_independent_verifier_answers_in_process_too(tmp_path, capsys):
    good = tmp_path / "good"
    good.write_bytes(b"".join(EXPORTS["signed"]))
    assert independent.main([str(good)]) == 0
    assert independent.main([str(tmp_path)]) == 2
    assert independent.main([]) == 2
    bad = tmp_path / "bad"
    bad.write_bytes(b"")
    assert independent.main([str(bad)]) == 7
    holds, reason = capsys.readouterr().out.splitlines()
    assert holds.startswith("the log holds") and reason == "not canonical JSON"


def test_the_independent_verifier_shares_no_code_and_stays_short():
    source = Path(independent.__file__).read_text()
    assert len(source.splitlines()) < 300
    imports = [line.split()[1] for line in source.splitlines() if line.startswith(("import ", "from "))]
    assert not any(name.startswith("audit") for name in imports)


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_bytes(b"".join(EXPORTS["anchored"]))
