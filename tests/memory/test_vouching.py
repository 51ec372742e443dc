"""A human vouches for a link with a key of its own."""

from pathlib import Path

import pytest

from audit import independent
from audit.attestation import attester
from substrate.actions import audit, graph, memory, scopes
from substrate.errors import Forbidden
from substrate.home import Memory
from substrate.store import recovery


@pytest.fixture
def ann(tmp_path: Path):
    """A store of one human."""
    opened = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="ann")
    yield opened
    opened.close()


def test_a_link_that_its_writer_vouches_for_says_so(ann: Memory, tmp_path: Path):
    one, two = (memory.remember(ann, text=text)["id"] for text in ("The mill is shut.", "The miller said so."))
    plain = graph.link(ann, source=one, target=two, relation="derived_from")
    assert plain["attest_level"] == "self_signed"
    vouched = graph.link(ann, source=one, target=two, relation="derived_from", attest=True)
    assert vouched["attest_level"] == "peer_attested"
    assert graph.link(ann, source=one, target=two, relation="derived_from")["attest_level"] == "peer_attested"
    with ann.read() as r:
        event = r.events(types=("memory_linked",))[-1]
        shown = scopes.who_show(ann, principal="ann")["credentials"]
    assert attester(event) == (ann.caller.id, ann.witness.key.public)
    assert ann.witness.key.key_id == shown[0]["key_id"]
    assert recovery.verify(tmp_path / "home", state_dir=tmp_path / "state").ok
    assert independent.verify(line.encode() + b"\n" for line in audit.exported(ann)["lines"]) == ""


def test_nobody_vouches_without_a_key_at_hand(ann: Memory):
    one, two = (memory.remember(ann, text=text)["id"] for text in ("One.", "Two."))
    keyless = Memory(ann.db, ann.caller)
    with pytest.raises(Forbidden):
        graph.link(keyless, source=one, target=two, relation="related_to", attest=True)
    assert graph.link(keyless, source=one, target=two, relation="related_to")["attest_level"] == "self_signed"
