"""Documents of a named time stand higher, and of two equal ones the one told later."""

import math
from datetime import date
from functools import partial

import numpy as np
import pytest

from substrate.recall import fusion, moments
from substrate.recall.candidates import likely
from substrate.recall.fusion import Scores
from substrate.recall.segment import Bools
from substrate.recall.view import View
from tests.memory.house import House
from tests.recall.corpora import cut, documents, row, whole
from tests.recall.test_recall import asked, ids

TODAY = date(2023, 5, 10)
ARMS = ("lexical", "time")


def view(*days: str) -> View:
    rows = [row(n, f"word{n}", valid_from=f"{day}T09:00:00.000000Z") for n, day in enumerate(days, 1)]
    return whole(cut(documents(rows), []))


def named(shown: View, query: str) -> tuple[Scores, Bools]:
    days = shown.corpus.column("day")
    found = moments.named(shown, query, TODAY, partial(likely, shown))
    return found.scores(days), found.bounded(days)


def test_a_named_time_counts_like_a_word_of_its_documents() -> None:
    scores, bounded = named(view("2023-05-02", "2023-04-01", "2022-05-02"), "last week")
    assert scores.tolist() == pytest.approx([math.log(1 + 2.5 / 1.5), 0, 0])
    assert bounded.tolist() == [True, False, False]


def test_a_time_without_end_ranks_and_is_no_evidence() -> None:
    scores, bounded = named(view("2023-05-02", "2023-04-01", "2022-05-02"), "since April 2023")
    assert (scores > 0).tolist() == [True, True, False]
    assert not bounded.any()


def test_an_event_is_dated_by_the_memory_that_tells_of_it() -> None:
    scores, _ = named(view("2022-01-01", "2022-06-01", "2023-01-01"), "before the word2")
    assert (scores > 0).tolist() == [True, False, False]


def test_age_counts_in_whole_days_and_what_is_to_come_is_of_today() -> None:
    found = moments.recent(view("2023-05-10", "2023-06-01", "2023-05-09", "2001-01-01").corpus.column("day"), TODAY)
    assert found[0] == found[1] == moments.RECENT
    assert found[2] == pytest.approx(moments.RECENT * math.exp(-1 / moments.FADES))
    assert found[3] == pytest.approx(0, abs=1e-12)


def test_a_neighbour_raises_a_cosine_and_lowers_none() -> None:
    cosines = np.array([0.2, 0.6, -0.4, np.nan])
    found = fusion.beside(cosines, np.array([np.nan, 0.2, 0.6, -0.4]), np.array([0.6, -0.4, np.nan, np.nan]))
    assert found[:3].tolist() == pytest.approx([0.5, 0.7, -0.1])
    assert np.isnan(found[3])


def test_relative_times_are_seen_from_the_day_asked_about(house: House) -> None:
    first = house.remember("Lunch with the team.", valid_from="2021-03-02T12:00:00Z", name="a")
    second = house.remember("Lunch with the team.", valid_from="2022-08-02T12:00:00Z", name="b")
    assert ids(asked(house, "lunch a week ago", arms=ARMS, as_of="2021-03-09"))[0] == first.id
    found = asked(house, "lunch a week ago", arms=ARMS, as_of="2022-08-09")
    assert ids(found) == [second.id, first.id]
    assert set(found.hits[0].arms) == {"lexical", "time"}
    assert asked(house, "lunch", arms=ARMS).arms["time"].why_not == "the query names no time that holds a memory"


def test_a_named_time_alone_finds_what_was_then(house: House) -> None:
    house.remember("The kettle broke.", valid_from="2021-03-02T12:00:00Z")
    wanted = house.remember("A zebra crossed.", valid_from="2022-08-02T12:00:00Z")
    assert ids(asked(house, "what about last week?", arms=ARMS, as_of="2022-08-09")) == [wanted.id]


def test_of_two_memories_alike_the_later_stands_higher(house: House) -> None:
    old = house.remember("Porto is where she lives.", valid_from="2022-01-01", name="x")
    new = house.remember("Rome is where she lives.", valid_from="2022-07-30", name="y")
    rows = ids(asked(house, "where she lives", arms=ARMS, as_of="2022-08-01"))
    assert rows == [new.id, old.id]
