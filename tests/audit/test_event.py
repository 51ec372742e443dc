"""One event: its fields, its bytes, its hash."""

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import canonical, event
from audit.errors import Invalid
from audit.event import Event
from tests.audit.logs import TIME
from tests.audit.test_canonical import KEYS, VALUES

HEX64 = st.text("0123456789abcdef", min_size=64, max_size=64)
WORD = st.text(min_size=1, max_size=12)
EVENTS = st.builds(
    Event,
    store_id=WORD,
    seq=st.integers(1, 2**53 - 1),
    prev=HEX64,
    epoch=st.integers(1, 1000),
    key_id=st.none() | st.text("0123456789abcdef", min_size=16, max_size=16),
    time=st.datetimes().map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").zfill(27)),
    actor=WORD,
    namespace=st.none() | st.text(max_size=12),
    type=st.sampled_from(sorted(event.TYPES)),
    subject=st.none() | st.text(max_size=12),
    payload=st.dictionaries(KEYS, VALUES, max_size=3),
    audience=st.lists(WORD | st.tuples(WORD, WORD), max_size=3).map(tuple),
    commits=st.lists(
        st.tuples(WORD, st.text(max_size=8), st.none() | HEX64), max_size=4, unique_by=lambda commit: commit[:2]
    ).map(tuple),
    state_root=HEX64,
)
ONE = Event(
    store_id="sto-1",
    seq=2,
    prev="a" * 64,
    epoch=1,
    key_id="b" * 16,
    time=TIME,
    actor="hum-1",
    namespace="global",
    type="memory_added",
    subject="mem-1",
    payload={"id": "mem-1"},
    audience=("all", ("team/alpha", "owner")),
    commits=(("memories", "mem-1", "c" * 64), ("claims", "mem-0", None)),
    state_root="d" * 64,
)


@given(EVENTS)
def test_an_event_comes_back_from_its_body(one):
    assert event.parse(event.body(one)) == one


def test_a_body_is_canonical_and_hashed_as_it_is():
    data = event.body(ONE)
    assert data == canonical.encode(json.loads(data))
    assert event.event_hash(data) == hashlib.sha256(data).hexdigest()


def test_the_types_are_those_of_the_model_and_of_the_log():
    assert {"memory_added", "persona_generated", "store_created", "memory_linked"} <= event.TYPES
    assert len(event.TYPES) == 36


BAD_FIELDS = [
    ("v", 99),
    ("v", True),
    ("v", "1"),
    ("store_id", ""),
    ("store_id", None),
    ("seq", 0),
    ("seq", True),
    ("seq", "1"),
    ("prev", "A" * 64),
    ("prev", "a" * 63),
    ("prev", None),
    ("epoch", 0),
    ("key_id", "b" * 17),
    ("key_id", ""),
    ("time", "2026-05-14T09:30:00Z"),
    ("time", "2026-02-30T09:30:00.000000Z"),
    ("time", "2026-05-14T09:30:60.000000Z"),
    ("time", "2026-05-14T24:00:00.000000Z"),
    ("time", "0000-05-14T09:30:00.000000Z"),
    ("time", "2026-05-14T09:30:00.000000+00:00"),
    ("time", "2026-05-14T09:30:00.00000٣Z"),
    ("time", None),
    ("actor", ""),
    ("namespace", 7),
    ("type", "memory_exploded"),
    ("type", ["memory_added"]),
    ("type", None),
    ("subject", ["mem-1"]),
    ("payload", None),
    ("payload", []),
    ("audience", None),
    ("audience", "all"),
    ("audience", [""]),
    ("audience", [["a", "b", "c"]]),
    ("audience", [["a", ""]]),
    ("audience", [7]),
    ("commits", {}),
    ("commits", ["memories"]),
    ("commits", [["memories", "mem-1"]]),
    ("commits", [["", "mem-1", None]]),
    ("commits", [["memories", 1, None]]),
    ("commits", [["memories", "mem-1", "c"]]),
    ("commits", [["memories", "mem-1", None], ["memories", "mem-1", None]]),
    ("state_root", "d"),
]


@pytest.mark.parametrize(("field", "value"), BAD_FIELDS)
def test_a_field_out_of_form_is_refused(field, value):
    document = json.loads(event.body(ONE)) | {field: value}
    with pytest.raises(Invalid):
        event.parse(canonical.encode(document))


def test_an_event_that_could_not_be_read_back_is_not_written():
    for bad in (replace(ONE, type="memory_exploded"), replace(ONE, v=2), replace(ONE, payload={"score": 0.5})):
        with pytest.raises(Invalid):
            event.body(bad)


def test_a_newer_version_asks_for_a_newer_release():
    with pytest.raises(Invalid, match="version 99") as caught:
        event.parse(canonical.encode(json.loads(event.body(ONE)) | {"v": 99}))
    assert "newer release" in caught.value.hint


@pytest.mark.parametrize("name", event.FIELDS)
def test_a_missing_field_is_refused(name):
    document = json.loads(event.body(ONE))
    del document[name]
    with pytest.raises(Invalid):
        event.parse(canonical.encode(document))


@pytest.mark.parametrize("document", [{"critical": 1}, {"__proto__": {}}, {"Seq": 2}])
def test_an_unknown_field_is_refused(document):
    with pytest.raises(Invalid, match="unknown or missing"):
        event.parse(canonical.encode(json.loads(event.body(ONE)) | document))


@pytest.mark.parametrize("data", [b"[]", b"null", b'"x"', b"{}", b"", b"\xff"])
def test_what_is_not_an_event_is_refused(data):
    with pytest.raises(Invalid):
        event.parse(data)


def test_a_body_is_at_most_64_kib():
    with pytest.raises(Invalid, match="65536"):
        event.body(replace(ONE, payload={"ids": ["x" * 1000] * 66}))
    with pytest.raises(Invalid, match="65536"):
        event.parse(b" " * 65537)


def test_pre_authentication_is_the_encoding_of_dsse():
    assert event.pre_authentication("event", b"{}") == b"DSSEv1 36 application/vnd.ai-memory.event+json 2 {}"
    with pytest.raises(Invalid):
        event.pre_authentication("speech", b"{}")


@given(st.sampled_from(event.PURPOSES), st.binary(max_size=30), st.sampled_from(event.PURPOSES), st.binary(max_size=30))
def test_no_two_messages_share_a_pre_authentication(purpose, payload, other_purpose, other_payload):
    same = (purpose, payload) == (other_purpose, other_payload)
    encodings = event.pre_authentication(purpose, payload), event.pre_authentication(other_purpose, other_payload)
    assert (encodings[0] == encodings[1]) == same


def test_the_payload_hash_of_a_persona_covers_its_id_and_its_sources_in_order():
    parts = [b"\0\0\0\0\0\0\0\x05mem-3", b"\0\0\0\0\0\0\0\x05mem-1", b"\0\0\0\0\0\0\0\x06mem-\xc3\xa9"]
    expected = hashlib.sha256(b"".join(parts)).hexdigest()
    assert event.payload_hash("persona_generated", {}, ("mem-3", ["mem-1", "mem-é"])) == expected
    assert event.payload_hash("persona_generated", {}, ("mem-3", ["mem-é", "mem-1"])) != expected


@given(st.lists(WORD, min_size=1, max_size=4), st.lists(WORD, min_size=1, max_size=4))
def test_no_two_personas_share_a_payload_hash(one, other):
    hashes = [event.payload_hash("persona_generated", {}, (ids[0], ids[1:])) for ids in (one, other)]
    assert (hashes[0] == hashes[1]) == (one == other)


def test_the_payload_hash_of_everything_else_covers_the_payload():
    assert event.payload_hash("memory_added", {"b": 1, "a": 2}) == hashlib.sha256(b'{"a":2,"b":1}').hexdigest()


@pytest.mark.parametrize(("kind", "persona"), [("persona_generated", None), ("memory_added", ("mem-1", []))])
def test_a_payload_hash_needs_a_persona_exactly_when_it_is_about_one(kind, persona):
    with pytest.raises(Invalid):
        event.payload_hash(kind, {}, persona)
