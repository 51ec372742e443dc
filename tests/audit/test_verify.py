"""A log that holds is accepted whole; a log that does not names what is wrong, and where."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import checkpoint, event, keys
from audit.verify import verify_log
from tests.audit.logs import Log, commitment, key

SIGNED = Log(key(1)).fill(12)
UNSIGNED = Log(None).fill(12)


def kinds(rows, log=SIGNED, **options):
    """Return (kind, sequence) of every fault."""
    faults, summary = verify_log(rows, log.store_id, log.genesis_key, **options)
    assert summary.fault_count >= len(faults)
    return [(fault.kind, fault.sequence) for fault in faults]


def with_row(log, sequence, **changes):
    """Return the rows of a log with parts of one replaced."""
    names = ("sequence", "body", "signature", "key_id")
    return [
        tuple(changes.get(name, part) for name, part in zip(names, row, strict=True)) if row[0] == sequence else row
        for row in log.rows
    ]


def changed_body(log, sequence, **fields):
    return event.body(replace(event.parse(log.rows[sequence - 1][1]), **fields))


@pytest.mark.parametrize("log", [SIGNED, UNSIGNED], ids=["signed", "unsigned"])
def test_a_genuine_log_holds_and_says_what_it_holds(log):
    faults, summary = verify_log(log.rows, "sto-1", log.genesis_key, notes=[log.note()], anchor=log.anchor())
    assert faults == [] and summary.fault_count == 0 and summary.anchored
    assert (summary.store_id, summary.size) == ("sto-1", 12)
    assert summary.head_hash == event.event_hash(log.rows[-1][1])
    assert summary.root == log.tree.root() and summary.state_root == log.state.root()
    assert summary.commits == log.state.commits
    assert summary.keys == ((log.genesis_key,) if log.genesis_key else ())


def test_without_an_anchor_a_log_holds_and_is_not_anchored():
    assert not verify_log(SIGNED.rows, "sto-1", SIGNED.genesis_key)[1].anchored


@pytest.mark.requirement("S3-15")
@settings(max_examples=150)
@given(st.integers(1, 12), st.integers(0, 10_000), st.integers(1, 255))
def test_any_byte_of_any_body_changed_is_found_at_its_event(sequence, position, mask):
    body = bytearray(SIGNED.rows[sequence - 1][1])
    body[position % len(body)] ^= mask
    assert sequence in [at for _, at in kinds(with_row(SIGNED, sequence, body=bytes(body)))]


@settings(max_examples=100)
@given(st.integers(1, 12), st.integers(0, 63), st.integers(1, 255))
def test_any_byte_of_any_signature_changed_is_found_at_its_event(sequence, position, mask):
    signature = bytearray(SIGNED.rows[sequence - 1][2])
    signature[position] ^= mask
    assert kinds(with_row(SIGNED, sequence, signature=bytes(signature))) == [("signature", sequence)]


@settings(max_examples=100)
@given(st.integers(1, 12), st.integers(0, 10_000), st.integers(1, 255))
def test_without_a_key_a_changed_byte_is_found_by_chain_or_checkpoint(sequence, position, mask):
    body = bytearray(UNSIGNED.rows[sequence - 1][1])
    body[position % len(body)] ^= mask
    rows = with_row(UNSIGNED, sequence, body=bytes(body))
    assert kinds(rows, UNSIGNED, notes=[UNSIGNED.note()]) != []
    if sequence < 12:
        assert {at for _, at in kinds(rows, UNSIGNED)} & {sequence, sequence + 1}


@pytest.mark.parametrize(
    ("rows", "faults"),
    {
        "one event deleted": (SIGNED.rows[:5] + SIGNED.rows[6:], [("sequence", 6), ("state", 7)]),
        "the first event deleted": (SIGNED.rows[1:], [("sequence", 1), ("state", 3)]),
        "two events exchanged": (
            [*SIGNED.rows[:5], SIGNED.rows[6], SIGNED.rows[5], *SIGNED.rows[7:]],
            [("sequence", 6), ("state", 7), ("sequence", 6), ("sequence", 7)],
        ),
        "an event twice": (SIGNED.rows[:6] + SIGNED.rows[5:], [("sequence", 6)]),
        "nothing": ([], [("sequence", None)]),
    }.values(),
)
def test_a_log_with_events_missing_or_moved_says_which(rows, faults):
    found = kinds(rows)
    assert found[0] == faults[0]
    assert {kind for kind, _ in found} >= {"sequence"}


def test_events_missing_together_are_told_in_one_fault():
    faults, _ = verify_log(SIGNED.rows[:3] + SIGNED.rows[7:], "sto-1", SIGNED.genesis_key)
    assert faults[0].message == "events 4 to 7 are missing"
    faults, _ = verify_log(SIGNED.rows[:3] + SIGNED.rows[4:], "sto-1", SIGNED.genesis_key)
    assert faults[0].message == "event 4 is missing"


def test_an_event_deleted_and_the_rest_renumbered_is_found():
    rows = [(number, *row[1:]) for number, row in enumerate(SIGNED.rows[:5] + SIGNED.rows[6:], start=1)]
    assert ("sequence", 6) in kinds(rows)


def test_a_payload_edited_is_found_by_its_signature():
    rows = with_row(SIGNED, 6, body=changed_body(SIGNED, 6, payload={"id": "mem-6", "by": "hum-2"}))
    assert kinds(rows) == [("signature", 6), ("chain", 7)]


def test_an_edit_chained_anew_without_the_key_is_found_at_every_event_after():
    rows, prev = list(SIGNED.rows[:5]), None
    for sequence, _, signature, key_id in SIGNED.rows[5:]:
        fields = {"prev": prev} if prev else {"actor": "hum-2"}
        body = changed_body(SIGNED, sequence, **fields)
        rows.append((sequence, body, signature, key_id))
        prev = event.event_hash(body)
    assert kinds(rows) == [("signature", sequence) for sequence in range(6, 13)]


def test_an_edit_chained_anew_with_the_key_is_found_by_a_checkpoint_kept_elsewhere():
    forged = SIGNED.rewrite(6, lambda one: replace(one, actor="hum-2"))
    assert kinds(forged.rows) == []
    assert kinds(forged.rows, notes=[SIGNED.note()]) == [("checkpoint", None)]
    assert kinds(forged.rows, anchor=SIGNED.anchor()) == [("anchor", 12), ("checkpoint", None)]


def test_an_event_appended_by_somebody_else_is_found():
    forged = Log(key(1)).fill(12)
    forged.signer = key(2)
    forged.add()
    assert kinds(forged.rows) == [("key", 13), ("signature", 13)]


def test_a_tail_cut_off_is_found_by_checkpoint_and_anchor():
    assert kinds(SIGNED.rows[:9]) == []
    found = kinds(SIGNED.rows[:9], notes=[SIGNED.note()], anchor=SIGNED.anchor())
    assert found == [("anchor", 12), ("checkpoint", None), ("checkpoint", None)]


def test_a_log_rolled_back_and_written_on_is_found_by_the_anchor():
    other = Log(key(1)).fill(8)
    other.add("policy_changed")
    other.fill(14)
    assert kinds(other.rows) == []
    assert kinds(other.rows, anchor=SIGNED.anchor()) == [("anchor", 12), ("checkpoint", None)]


def test_another_stores_log_is_found():
    other = Log(key(1), "sto-2").fill(5)
    assert kinds(other.rows) == [("store", None)]
    faults, _ = verify_log(Log(key(2)).fill(3).rows, "sto-1", SIGNED.genesis_key)
    assert {fault.kind for fault in faults} == {"key", "signature"}


def test_a_record_of_another_store_is_found_even_when_signed_by_the_same_key():
    log = Log(key(1)).fill(5)
    log.add(store_id="sto-2")
    assert kinds(log.rows)[0] == ("store", 6)


def test_a_genuine_event_played_again_is_found():
    replayed = (13, *SIGNED.rows[3][1:])
    assert kinds([*SIGNED.rows, replayed])[0] == ("sequence", 13)


def test_a_replaced_key_is_found_by_the_pinned_one():
    forged = Log(key(2)).fill(12)
    found = kinds(forged.rows, anchor=SIGNED.anchor())
    assert ("key", 1) in found and ("anchor", 12) in found
    faults, summary = verify_log(forged.rows, "sto-1", forged.genesis_key, anchor=SIGNED.anchor())
    assert {fault.kind for fault in faults} == {"anchor", "checkpoint"} and not summary.anchored


def test_signatures_removed_are_found():
    rows = [(sequence, body, None, None) for sequence, body, _, _ in SIGNED.rows]
    assert {kind for kind, _ in kinds(rows)} == {"key", "signature"}


def test_a_signature_in_a_store_without_a_key_is_found():
    assert kinds(with_row(UNSIGNED, 4, signature=bytes(64)), UNSIGNED) == [("signature", 4)]


def test_a_key_id_changed_beside_the_body_is_found():
    assert kinds(with_row(SIGNED, 4, key_id=key(2).key_id)) == [("key", 4)]


def test_a_signature_for_another_purpose_is_found():
    body = SIGNED.rows[3][1]
    for purpose in event.PURPOSES[1:]:
        assert kinds(with_row(SIGNED, 4, signature=keys.sign(key(1), purpose, body))) == [("signature", 4)]


def test_a_state_root_that_does_not_follow_is_told_once():
    log = Log(key(1)).fill(5)
    log.add(commits=(("memories", "mem-9", commitment("a")),), state_root="0" * 64)
    log.fill(12)
    assert kinds(log.rows) == [("state", 6)]


def test_commits_changed_by_the_key_holder_are_found_where_they_were_changed():
    forged = SIGNED.rewrite(6, lambda one: replace(one, commits=(("memories", "mem-5", commitment("forged")),)))
    assert kinds(forged.rows) == [("state", 6)]


def test_an_unreadable_event_is_told_once_and_the_walk_goes_on():
    log = Log(key(1)).fill(5)
    log.append(b'{"v":99}', key(1).key_id)
    log.fill(8)
    rows = with_row(log, 7, signature=bytes(64))
    assert kinds(rows) == [("body", 6), ("signature", 7)]


def test_events_of_unknown_version_type_or_field_fail_closed():
    for body in (b'{"v":99}', SIGNED.rows[5][1].replace(b"memory_added", b"memory_eaten"), b'{"v":1}', b"[]", b""):
        assert kinds(with_row(SIGNED, 6, body=body))[0] == ("body", 6)


def test_a_log_begins_with_store_created_and_only_there():
    log = Log(key(1)).fill(3)
    log.add("store_created")
    assert kinds(log.rows) == [("sequence", 4)]
    headless = SIGNED.rewrite(1, lambda one: replace(one, type="memory_added"))
    assert kinds(headless.rows) == [("sequence", 1)]


def rotated(*numbers):
    log = Log(key(1)).fill(4)
    for number in numbers:
        log.rotate(key(number))
        log.fill(len(log.rows) + 3)
    return log


def test_a_rotated_log_holds_and_lists_its_keys():
    log = rotated(2, 3)
    faults, summary = verify_log(log.rows, "sto-1", key(1).public, notes=[log.note()], anchor=log.anchor())
    assert faults == [] and summary.keys == (key(1).public, key(2).public, key(3).public)


def test_a_first_key_may_be_put_into_a_store_without_one():
    log = Log(None).fill(3)
    log.rotate(key(2))
    log.fill(6)
    faults, summary = verify_log(log.rows, "sto-1", None, notes=[log.note()])
    assert faults == [] and summary.keys == (key(2).public,)


def test_after_a_rotation_the_old_key_signs_no_more():
    log = rotated(2)
    log.signer, log.epoch = key(1), 1
    log.add()
    assert kinds(log.rows, log) == [("key", 9), ("signature", 9)]


def test_a_rotation_the_new_key_did_not_sign_puts_nothing_in_place():
    log = Log(key(1)).fill(4)
    log.add("key_rotated", payload=keys.rotation("sto-2", 2, key(1).public, key(2)))
    log.add()
    assert kinds(log.rows) == [("rotation", 5)]


def test_an_older_rotation_played_again_is_found():
    log = rotated(2)
    log.add("key_rotated", payload=keys.rotation("sto-1", 2, key(1).public, key(1)))
    assert kinds(log.rows, log) == [("rotation", 9)]


def test_a_fork_renames_the_store_from_the_next_event_on():
    log = Log(key(1)).fill(4)
    before = log.note()
    log.fork("sto-9")
    log.fill(8)
    assert kinds(log.rows, log, notes=[before, log.note()], anchor=log.anchor()) == []
    assert verify_log(log.rows, "sto-1", key(1).public)[0][0].kind == "store"


def test_a_fork_without_a_name_renames_nothing():
    log = Log(key(1)).fill(4)
    log.add("store_forked", payload={"store_id": None})
    log.fill(7)
    assert kinds(log.rows) == []


def test_every_earlier_checkpoint_holds():
    notes, log = [], Log(key(1))
    while len(log.rows) < 9:
        notes.append(log.note())
        log.fill(len(log.rows) + 1)
    empty = checkpoint.sign(replace(log.checkpoint(), size=0, root=checkpoint.hashlib.sha256(b"").digest()), key(1))
    assert kinds(log.rows, notes=[empty, *notes]) == []


@pytest.mark.parametrize(
    "note",
    {
        "malformed": "nonsense",
        "of another store": Log(key(1), "sto-2").fill(12).note(),
        "signed by another key": checkpoint.sign(SIGNED.checkpoint(), key(2)),
        "unsigned": checkpoint.unsigned_note(SIGNED.checkpoint()),
        "with another root": checkpoint.sign(replace(SIGNED.checkpoint(), root=bytes(32)), key(1)),
        "of nothing, with a root": checkpoint.sign(replace(SIGNED.checkpoint(), size=0), key(1)),
        "of more than there is": checkpoint.sign(replace(SIGNED.checkpoint(), size=13), key(1)),
    }.items(),
    ids=lambda item: item[0],
)
def test_a_checkpoint_that_does_not_fit_is_a_fault(note):
    assert [kind for kind, _ in kinds(SIGNED.rows, notes=[note[1]])] == ["checkpoint"]


def test_an_anchor_of_another_store_is_a_fault():
    faults, summary = verify_log(SIGNED.rows, "sto-1", key(1).public, anchor=replace(SIGNED.anchor(), store_id="sto-2"))
    assert [fault.kind for fault in faults] == ["anchor"] and not summary.anchored


def test_faults_are_kept_up_to_a_limit_and_counted_beyond():
    rows = [(sequence, body, bytes(64), key_id) for sequence, body, _, key_id in SIGNED.rows]
    faults, summary = verify_log(rows, "sto-1", key(1).public, limit=5)
    assert len(faults) == 5 and summary.fault_count == 12


def test_faults_of_a_long_log_come_in_the_order_of_its_events():
    log = Log(key(1)).fill(300)
    bad = {5, 6, 256, 257, 300}
    rows = [(n, body, bytes(64) if n in bad else signature, key_id) for n, body, signature, key_id in log.rows]
    rows[5] = (6, changed_body(log, 6, actor="hum-2"), *rows[5][2:])
    assert kinds(rows) == [
        ("signature", 5),
        ("signature", 6),
        ("chain", 7),
        ("signature", 256),
        ("signature", 257),
        ("signature", 300),
    ]


def test_a_fault_names_the_subject():
    faults, _ = verify_log(with_row(SIGNED, 6, signature=bytes(64)), "sto-1", key(1).public)
    assert faults[0].subject == "mem-6" and "event 6" in faults[0].message
