"""Words and values have one form for many wordings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.persona import values, when, words
from curator.persona.values import Day
from tests.curator.persona.stories import composed, source


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("Alice's self-care isn't new", 4),
        ("tea — and coffee", 3),
        ("爱丽丝住在柏林", 7),
        ("Bob 住 Oslo", 3),
        ("تعيش أليس في برلين", 4),
        ("... - # *", 0),
    ],
)
def test_words_are_counted_as_a_reader_counts_them(text: str, number: int):
    assert words.count(text) == number


def test_content_words_share_a_stem():
    assert words.stems("She was running and runs") == words.stems("run")


def test_runs_without_spaces_are_compared_by_letter_pairs():
    assert words.stems("住在柏林") == {"住在", "在柏", "柏林"}


@pytest.mark.parametrize("text", ["Alice never smokes.", "Alice doesn’t smoke.", "他不喝咖啡", "Alice raucht nicht."])
def test_denials_are_heard(text: str):
    assert words.negated(text)


def test_names_are_capitals_inside_a_sentence():
    assert list(words.names("Yesterday Alice met “Old Bob” in Oslo, and I left. WhatsApp works.")) == [
        "alice",
        "bob",
        "oslo",
        "whatsapp",
    ]


def test_quotations_are_found_in_every_kind_of_marks():
    assert words.quotations("He read 'Dune' and “It's late”, \"so so\", «alors», 「はい」.") == [
        "Dune",
        "It's late",
        "so so",
        "alors",
        "はい",
    ]


def test_a_name_is_mentioned_in_full_or_by_a_capitalised_part():
    assert words.mentions("kenta tanaka sleeps", "Kenta Tanaka")
    assert words.mentions("Kenta's train", "Kenta Tanaka")
    assert not words.mentions("will kenta come", "Kenta Tanaka")
    assert not words.mentions("Alice", "Ali")
    assert not words.mentions("Alice", "")


def test_the_names_a_text_mentions_are_found_among_many():
    assert words.among("Kenta met bob and Carol.", ["Carol", "Kenta Tanaka", "Bob", "Dan"]) == [
        "Carol",
        "Kenta Tanaka",
        "Bob",
    ]


def test_no_text_is_remembered_for_longer_than_it_is_worked_on():
    words.stems("Alice keeps a secret.")
    values.numbers("Alice keeps 3 secrets.")
    words.forget()
    assert words.stems.cache_info().currsize == values.numbers.cache_info().currsize == 0
    composed([source("Alice keeps a secret.")])
    assert words.stems.cache_info().currsize == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("two children and 1,000 euros", {"2", "1000"}),
        ("twenty-five or two hundred and fifty", {"25", "250"}),
        ("a hundred and one nights", {"101"}),
        ("a 5k run, $20, 40% and 2.50", {"5000", "20", "40", "2.5"}),
        ("the third of them, 1st and one of us", {"3", "1"}),
        ("three four", {"3", "4"}),
        ("on 3 May 2026", set()),
        ("nothing", set()),
    ],
)
def test_numbers_have_one_form(text: str, found: set[str]):
    assert values.numbers(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on 14 May 2026", Day(2026, 5, 14)),
        ("May 14th, 2026", Day(2026, 5, 14)),
        ("2026-05-14", Day(2026, 5, 14)),
        ("the 3rd of June", Day(0, 6, 3)),
        ("in May", Day(0, 5, 0)),
        ("March 2025", Day(2025, 3, 0)),
    ],
)
def test_dates_have_one_form(text: str, found: Day):
    assert values.days(text) == {found}


def test_may_and_march_are_no_dates_as_verbs():
    assert values.days("she may march on") == frozenset()


def test_sources_support_the_dates_they_point_to():
    today = source("Alice moved yesterday, will travel next month, and met Bob last Friday.", day=14)
    told = when.told([today], [today.text])
    assert {Day(2026, 5, 13), Day(2026, 6, 0), Day(2026, 5, 8)} <= told
    assert Day(2026, 5, 14) not in told


def test_a_date_covers_what_it_states():
    assert Day(2026, 5, 14).covers(Day(0, 5, 14))
    assert not Day(2026, 5, 0).covers(Day(2026, 5, 14))


@given(st.text())
def test_every_text_can_be_taken_apart(text: str):
    parts = [*words.words(text), *words.names(text), *words.quotations(text)]
    assert all(isinstance(part, str) for part in parts)
    assert words.count(text) >= 0 and values.numbers(text) is not None and values.days(text) is not None
