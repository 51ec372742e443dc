"""Which history a restore goes on from: the one this machine has seen, whatever a copy of the store went on with."""

import shutil

import pytest

from substrate.errors import Integrity
from substrate.store import recovery
from tests.store.restoring import add, back_up, bring_back, ids, sound, spoil
from tests.store.stores import Store, refused


def test_a_backup_of_another_history_is_refused(story: Store):
    twin = story.copy("twin")
    add(twin, "mem-twin")
    source = back_up(twin)
    add(story, "mem-here")
    spoil(story, "mem-1")
    with pytest.raises(Integrity, match="another history") as caught:
        bring_back(story, source)
    assert caught.value.details["situation"] == "diverged"
    assert "fork" in caught.value.hint


@pytest.mark.parametrize("later", [("mem-later",), ("mem-later", "mem-last", "mem-very-last")])
def test_a_restore_that_died_before_its_anchor_was_written_is_done_again(story: Store, later: tuple[str, ...]):
    source = back_up(story, with_keys=True)
    add(story, *later)
    shutil.rmtree(story.home)
    seen = story.anchor_file().read_bytes()
    first = bring_back(story, source)
    story.anchor_file().write_bytes(seen)
    assert refused(story, lambda r: r.head).details["situation"] in ("behind", "diverged")
    second = bring_back(story, source)
    assert first.missing_events == second.missing_events == (9, 8 + len(later))
    assert (second.kept, second.sequence) == (1, 10)
    sound(story)
    spoil(story, "mem-1")
    assert bring_back(story, source).missing_events is None  # what is missing was told


@pytest.mark.parametrize("damaged", [True, False])
def test_what_a_copy_wrote_by_itself_does_not_take_the_place_of_what_this_machine_has_seen(story: Store, damaged: bool):
    source = back_up(story)
    twin = story.copy("twin")
    add(story, "mem-here")
    add(twin, "mem-twin", "mem-twin-2")
    shutil.copyfile(twin.file, story.file)
    if damaged:
        spoil(story, "mem-1")
    before, anchor = story.file.read_bytes(), story.anchor()
    with pytest.raises(Integrity, match="event 9 here is not the one this machine has seen") as caught:
        bring_back(story, source)
    assert caught.value.details["situation"] == "diverged"
    assert "fork" in (caught.value.hint or "")
    assert (story.file.read_bytes(), story.anchor()) == (before, anchor)
    story.file.rename(story.root / "of-the-copy")  # what the hint says
    assert bring_back(story, source).missing_events == (9, 9)
    assert "mem-twin" not in ids(story)
    sound(story)


def test_a_copy_with_an_identity_of_its_own_keeps_it(story: Store):
    source = back_up(story)
    twin = story.copy("twin")
    recovery.fork(twin.home, "hum-1", twin.clock, "store-twin", state_dir=twin.state)
    add(twin, "mem-twin")
    spoil(twin, "mem-1")
    found = bring_back(twin, source)
    assert (found.store_id, found.kept, found.missing_events) == ("store-twin", 2, None)
    assert "mem-twin" in ids(twin)
    assert recovery.verify(twin.home, state_dir=twin.state).ok


def test_an_older_copy_gives_way_to_the_backup_and_is_kept(story: Store):
    older = story.copy_home("older")
    add(story, "mem-later")
    source = back_up(story)
    add(story, "mem-last")
    refused(older, lambda r: r.head)
    found = bring_back(older, source)
    assert (found.missing_events, found.kept) == ((10, 10), 0)
    assert "mem-later" in ids(older)
    assert refused(story, lambda r: r.head).details["situation"] == "diverged"
