"""What time a question asks about, as seen from a Wednesday: 10 May 2023."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.recall import times
from substrate.recall.times import Span, spans

TODAY = date(2023, 5, 10)


def read(text: str, *, held: tuple[date, date] = (date.min, date.max), move: date | None = None) -> list[str]:
    def holds(span: Span) -> bool:
        return held[0] < span.end and span.first <= held[1]

    found = spans(text, TODAY, holds, lambda event: move if "move" in event else None)
    return [f"{span.first}/{span.end}" for span in found]


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("What was said on 8 May, 2023?", "2023-05-08", "2023-05-09"),
        ("What was said on the 8th of May 2023?", "2023-05-08", "2023-05-09"),
        ("May 8th, 2021", "2021-05-08", "2021-05-09"),
        ("on 2022-12-31", "2022-12-31", "2023-01-01"),
        ("2022-12", "2022-12-01", "2023-01-01"),
        ("in Sept. 2022", "2022-09-01", "2022-10-01"),
        ("February of 2024", "2024-02-01", "2024-03-01"),
        ("in 2019", "2019-01-01", "2020-01-01"),
        ("yesterday", "2023-05-09", "2023-05-10"),
        ("the day before yesterday", "2023-05-08", "2023-05-09"),
        ("last week", "2023-05-01", "2023-05-08"),
        ("this month", "2023-05-01", "2023-06-01"),
        ("last weekend", "2023-05-06", "2023-05-08"),
        ("next year", "2024-01-01", "2025-01-01"),
        ("three months ago", "2023-02-01", "2023-03-01"),
        ("a couple of weeks ago", "2023-04-24", "2023-05-01"),
        ("in the last 10 days", "2023-04-30", "2023-05-11"),
        ("last Friday", "2023-05-05", "2023-05-06"),
        ("on Wednesday", "2023-05-03", "2023-05-04"),
        ("next Wednesday", "2023-05-17", "2023-05-18"),
        ("between 11 August and 15 August 2022", "2022-08-11", "2022-08-16"),
        ("from May 2022 until July 2022", "2022-05-01", "2022-08-01"),
        ("before 8 May 2023", "0001-01-01", "2023-05-08"),
        ("until May 2023", "0001-01-01", "2023-06-01"),
        ("after 2020", "2021-01-01", "9999-12-31"),
        ("since March 2023", "2023-03-01", "9999-12-31"),
        ("two weeks before 11 August 2022", "2022-07-28", "2022-08-12"),
        ("the week after 11 August 2022", "2022-08-11", "2022-08-19"),
    ],
)
def test_a_time_is_read_as_people_mean_it(text: str, first: str, end: str) -> None:
    assert read(text) == [f"{first}/{end}"]


@pytest.mark.parametrize(
    "text",
    [
        "May I march on?",
        "the year 1066",
        "route 2020",
        "after he left",
        "a week",
        "on 31 June 2023 x".replace("31", "77"),
    ],
)
def test_what_is_no_day_of_the_calendar_names_no_day(text: str) -> None:
    assert all(found == "2023-06-01/2023-07-01" for found in read(text))


def test_a_month_without_a_year_is_the_latest_that_holds_something() -> None:
    assert read("in June") == ["2022-06-01/2022-07-01"]
    assert read("in June", held=(date(2019, 1, 1), date(2020, 12, 31))) == ["2020-06-01/2020-07-01"]
    assert read("on 3 June", held=(date(1900, 1, 1), date(1900, 1, 2))) == ["2022-06-03/2022-06-04"]


def test_words_that_are_no_time_stand_for_an_event() -> None:
    moved = date(2022, 3, 5)
    assert read("Where did she live before the move?", move=moved) == ["0001-01-01/2022-03-05"]
    assert read("since her move, what?", move=moved) == ["2022-03-05/9999-12-31"]
    assert read("after the wedding", move=moved) == []
    assert read("before the move") == []


def test_the_last_day_of_a_shorter_month_stands_for_one_that_is_not_there() -> None:
    assert times.shifted(date(2023, 3, 31), -1, "month") == date(2023, 2, 28)
    assert times.shifted(date(2024, 2, 29), 1, "year") == date(2025, 2, 28)


@given(st.text(max_size=60), st.dates())
def test_any_text_is_read_on_any_day(text: str, today: date) -> None:
    for span in spans(text + " last week 999 years ago next month before 2020", today, lambda _: False, lambda _: None):
        assert span.first <= span.end
