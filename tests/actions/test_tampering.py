"""What is not done with a store that was tampered with: it is not made over, its log not handed out as whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from audit.export import verify_export
from substrate.actions import audit, memory
from substrate.errors import Integrity
from substrate.home import Memory
from substrate.store import recovery
from tests.store import forgery
from tests.store.stores import Store

Attack = Callable[[Store], object]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A closed store of one human with a few memories."""
    store = Store(tmp_path)
    with opened(store, create=True) as ann:
        for text in ("The mill is shut.", "The ferry runs.", "The bridge is up."):
            memory.remember(ann, text=text)
    return store


@contextmanager
def opened(store: Store, *, create: bool = False, tolerant: bool = False) -> Iterator[Memory]:
    found = Memory.open(
        store.home,
        state_dir=store.state,
        human="ann",
        clock=store.clock,
        new_id=store.ids,
        create=create,
        tolerant=tolerant,
    )
    try:
        yield found
    finally:
        found.close()


def edit_a_row(store: Store) -> None:
    store.edit("UPDATE memories SET content = 'The ferry is gone.' WHERE content = 'The ferry runs.'")


def edit_an_event(store: Store) -> None:
    with store.raw() as raw:
        forgery.write_event(raw, replace(forgery.events(raw)[3], actor="hum-2"), None)


def flip_a_signature(store: Store, sequence: int = 4) -> None:
    with store.raw() as raw:
        ((found,),) = raw.execute("SELECT signature FROM signed_events WHERE sequence = ?", [sequence]).fetchall()
        raw.execute(
            "UPDATE signed_events SET signature = ? WHERE sequence = ?", [bytes([found[0] ^ 1]) + found[1:], sequence]
        )


def swap_a_node(store: Store) -> None:
    store.edit("UPDATE signed_events SET nodes = ? WHERE sequence = 2", [bytes(32)])


UNSIGNED = "UPDATE signed_events SET signature = NULL WHERE sequence = 4"
ATTACKS: dict[str, tuple[Attack, str]] = {
    "row": (edit_a_row, "memories mem-"),
    "event": (edit_an_event, "event 4"),
    "signature": (flip_a_signature, "signature of event 4"),
    "node": (swap_a_node, "event 2 completes"),
}


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("kind", ATTACKS)
def test_a_store_that_was_tampered_with_is_not_rewritten(store: Store, kind: str):
    attack, named = ATTACKS[kind]
    attack(store)
    with opened(store) as ann, pytest.raises(Integrity, match=named) as caught:
        audit.rewrite(ann)
    assert "audit verify" in (caught.value.hint or "")
    report = recovery.verify(store.home, state_dir=store.state)
    assert any(named in fault.message for fault in report.faults)
    assert not any(event.type == "store_rewritten" for event in events(store))


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("kind", ["row", "event", "signature"])
def test_the_log_of_a_store_that_was_tampered_with_is_not_exported(store: Store, kind: str):
    attack, named = ATTACKS[kind]
    attack(store)
    with opened(store) as ann, pytest.raises(Integrity, match=named) as caught:
        audit.export(ann)
    assert ("--tolerate" if kind == "row" else "audit verify") in (caught.value.hint or "")


def test_a_log_that_holds_is_exported_past_a_row_that_does_not_if_that_is_tolerated(store: Store):
    edit_a_row(store)
    with opened(store, tolerant=True) as ann:
        assert verify_export(audit.export(ann))[0] == []
        assert [table for table, _, _ in ann.db.left_out] == ["memories"]
    flip_a_signature(store)
    with opened(store, tolerant=True) as ann, pytest.raises(Integrity, match="signature of event 4"):
        audit.export(ann)


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("spoil", [flip_a_signature, lambda store: store.edit(UNSIGNED)], ids=["flipped", "none"])
def test_an_event_within_a_page_is_not_shown_when_its_signature_is_bad(store: Store, spoil: Attack):
    spoil(store)
    subject = events(store)[3].subject
    with opened(store) as ann:
        for ask in ({}, {"after": 2}, {"after": 3, "limit": 2}, {"subject": subject}):
            with pytest.raises(Integrity, match="event 4 is not signed"):
                audit.log(ann, **ask)
        assert [event["seq"] for event in audit.log(ann, limit=3)["events"]] == [1, 2, 3]
        assert audit.log(ann, after=4)["events"]


def events(store: Store) -> list[forgery.Event]:
    with store.raw() as raw:
        return forgery.events(raw)
