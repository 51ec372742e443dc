"""A newer sentence takes an older one back, or stands beside it."""

import pytest

from curator.persona import changes, similarity
from curator.persona.candidates import Candidate
from curator.persona.changes import takes_back
from curator.persona.sentences import Rank
from tests.curator.persona.stories import source


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Alice lives in Oslo.", "Alice lives in Berlin."),
        ("Alice now lives in Oslo, near the harbour.", "Alice lives in Berlin with her cat."),
        ("Alice moved to Oslo.", "Alice lives in Berlin."),
        ("Alice works at Globex.", "Alice works as an engineer at Acme."),
        ("Alice has three children.", "Alice has two children."),
        ("Alice no longer eats meat.", "Alice eats meat."),
        ("Alice is not vegetarian anymore.", "Alice is vegetarian."),
        ("Alice stopped playing tennis.", "Alice plays tennis."),
        ("Alice's favourite colour is green.", "Alice's favourite colour is blue."),
        ("Alice's manager is Carol.", "Alice's manager is Bob."),
        ("The deadline is 10 June.", "The deadline is 3 May."),
        ("The team meets on Thursdays.", "The team meets on Tuesdays."),
        ("The server runs on port 9090.", "The server runs on port 8080."),
        ("Alice uses Emacs now.", "Alice uses Vim."),
    ],
)
def test_a_value_that_holds_one_at_a_time_is_taken_back(newer: str, older: str):
    assert takes_back(newer, older, "Alice")


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Alice visited Paris.", "Alice visited Rome."),
        ("Alice likes coffee.", "Alice likes tea."),
        ("Alice scored 40 points in a game.", "Alice scored 30 points in a game."),
        ("Alice is a painter.", "Alice is a runner."),
        ("Alice has a dog named Luna.", "Alice has a dog named Max."),
        ("Alice lives in Oslo.", "Alice lives in Oslo with a cat."),
        ("Alice does not like rain.", "Alice plays tennis."),
        ("Alice lives in Oslo.", "Alice lives in Oslo."),
    ],
)
def test_what_can_be_true_beside_it_is_not(newer: str, older: str):
    assert not takes_back(newer, older, "Alice")


def pairs(*sources):
    by_id = {one.id: one for one in sources}
    candidates = [Candidate(one.text, (one.id,), Rank.NAMED) for one in sources]
    close = similarity.matrix([one.text for one in sources], None)
    return changes.find(candidates, close, False, "Alice", by_id)


def test_only_what_is_newer_takes_back():
    assert pairs(source("Alice lives in Oslo.", 1), source("Alice lives in Berlin.", 2)) == [(0, 1)]


def test_where_somebody_moved_to_ends_nothing_that_is_done_there():
    told = [source("Alice repairs organs around Braga.", 1), source("Alice moved to Braga.", 2)]
    assert pairs(*told) == []


def test_the_newest_of_several_takes_back():
    told = [source(f"Alice lives in {town}.", day) for day, town in enumerate(("Oslo", "Berlin", "Rome"), 1)]
    assert pairs(*told) == [(0, 2), (1, 2)]


def test_the_newest_takes_back_however_often_the_same_was_said():
    told = [source(f"Alice lives in {town}.", day) for day, town in enumerate((*"ABCDEFGHIJKLMNOPQRSTUVWXYZ",), 1)]
    assert pairs(*told) == [(older, len(told) - 1) for older in range(len(told) - 1)]


def test_a_link_counts_as_found_whatever_the_words():
    older = source("Alice likes quiet evenings.", 1)
    newer = source("Alice dances every night.", 2, contradicts=frozenset({older.id}))
    assert pairs(older, newer) == [(0, 1)]
    assert pairs(
        source("Alice likes quiet evenings.", 1, contradicts=frozenset({"mem-0002"})), source("Alice dances.", 2)
    ) == [(0, 1)]
    assert pairs(older, source("Alice dances every night.", 2, supersedes=frozenset({older.id}))) == [(0, 1)]


def test_a_link_to_what_is_no_source_counts_for_nothing():
    assert pairs(source("Alice dances.", 2, contradicts=frozenset({"mem-7777"}))) == []


def test_what_a_sentence_says_is_paused_is_looked_for_in_all_that_was_said_before():
    told = [
        source("Alice teaches a pottery course for beginners on Monday evenings in the old town hall.", 1),
        source("Alice paints her boat.", 2),
        source("The pottery course for beginners is paused because the kiln broke and a new one costs 900 euros.", 9),
    ]
    assert pairs(*told) == [(0, 2)]


def test_what_is_named_as_giving_way_is_the_end():
    told = [
        source("The shortlist holds the Bergmann kiln and the Ventura kiln.", 1),
        source("Alice orders clay from Limoges.", 2),
        source("Alice bought the Lindqvist kiln, replacing the Ventura kiln.", 9),
    ]
    assert pairs(*told) == [(0, 2)]


def test_the_same_pause_told_again_takes_nothing_back_again():
    told = [
        source("Alice teaches a pottery course for beginners.", 1),
        source("The pottery course for beginners is paused.", 5),
        source("The pottery course for beginners has been paused.", 9),
    ]
    assert pairs(*told) == [(0, 1)]


def test_only_what_was_halted_is_resumed():
    told = [
        source("Alice teaches a pottery course for beginners.", 1),
        source("The pottery course for beginners is paused.", 5),
        source("The pottery course for beginners has been resumed.", 9),
    ]
    assert (1, 2) in pairs(*told) and (0, 2) not in pairs(*told)


def test_a_measure_said_before_is_not_set_anew():
    told = [
        source("The loan budget is 40 euros.", 1),
        source("The stall budget is 300 euros.", 2),
        source("The stall budget is 300 euros now.", 9),
    ]
    assert pairs(*told) == []


def test_a_choice_for_the_same_purpose_ends_the_one_before():
    told = [
        source("Alice has chosen Limoges porcelain as the first clay to document.", 1),
        source("Alice has chosen Westerwald stoneware as the first clay to document.", 9),
    ]
    assert pairs(*told) == [(0, 1)]
