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


def test_the_newest_of_several_takes_back():
    told = [source(f"Alice lives in {town}.", day) for day, town in enumerate(("Oslo", "Berlin", "Rome"), 1)]
    assert pairs(*told) == [(0, 2), (1, 2)]


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
