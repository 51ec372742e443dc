"""Texts and queries meet in the same terms, in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.recall.documents import document, microseconds
from substrate.recall.words import TERM_CHARS, date_words, fold, terms, words
from tests.recall.corpora import row


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running, runs and RAN", ["run", "run", "ran"]),
        ("Alice's cat didn't, we'll see", ["alic", "cat", "see"]),
        ("O'Brien’s café", ["obrien", "cafe"]),
        ("snake_case merge-base v3.11", ["snake", "case", "merg", "base", "v3", "11"]),
        ("ﬁne Straße İstanbul", ["fine", "strass", "istanbul"]),
        ("i\u200bgnore\u00ad it", ["ignor"]),
        ("\u202egpj.exe", ["gpj", "exe"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("שָׁלוֹם مُحَمَّد", ["שלום", "محمد"]),
        ("猫", ["猫"]),
        ("黒い猫", ["黒", "い", "猫", "黒い", "い猫"]),
        ("abc猫def", ["abc", "猫", "def"]),
        ("안녕 세계", ["안", "녕", "안녕", "세", "계", "세계"]),
        ("May I?", ["may"]),
        ("🎉 !!", []),
        ("", []),
        ("x" * 200, ["x" * TERM_CHARS]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_query_in_a_script_without_spaces_looks_for_pairs() -> None:
    assert terms("黒い猫", query=True) == ["黒い", "い猫"]
    assert terms("猫", query=True) == ["猫"]


def test_words_keep_stop_words_and_are_not_stemmed() -> None:
    assert words("Who is O'Neil's Running-mate?") == ["who", "is", "oneil", "running", "mate"]


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_terms_are_short_and_hold_no_space(text: str) -> None:
    for term in terms(text):
        assert term
        assert len(term) <= TERM_CHARS
        assert not any(char.isspace() for char in term)


@given(st.text())
def test_a_query_finds_the_text_it_is_equal_to(text: str) -> None:
    assert set(terms(text, query=True)) <= set(terms(text))


@given(st.text(alphabet="abcDE é猫"))
def test_case_and_accents_do_not_matter(text: str) -> None:
    assert terms(text.upper()) == terms(text) == terms(text.replace("é", "e"))


def test_times_are_spoken_as_people_write_them() -> None:
    assert date_words("2023-05-08T13:56:00.000000Z") == "1:56 pm on 8 May 2023"
    assert date_words("2023-12-01T00:05:00.000000Z") == "12:05 am on 1 December 2023"
    assert date_words("2023-12-01T12:00:00.000000Z") == "12:00 pm on 1 December 2023"
    assert date_words("2023-12-01T00:00:00.000000Z") == "1 December 2023"


def test_times_count_microseconds() -> None:
    assert microseconds("1970-01-01T00:00:01.000002Z") == 1_000_002
    assert microseconds("1969-12-31T23:59:59.000000Z") == -1_000_000


@pytest.mark.parametrize(
    ("columns", "entity"),
    [
        ({"content": "Alice: hello"}, "alice"),
        ({"content": "[8 May 2023] Dr. Smith: hello"}, "dr smith"),
        ({"content": "at 10:30 we left"}, ""),
        ({"content": "https://example.org"}, ""),
        ({"content": "Alice: hello", "metadata": {"speaker": "Bob Stone"}}, "bob stone"),
        ({"content": "hello", "metadata": {"speaker": 7}}, ""),
        ({"content": "Alice: hello", "mentioned_entity_id": "carol"}, "carol"),
        ({"content": "Alice: hello", "entity_id": "dave"}, "dave"),
        ({"content": None}, ""),
    ],
)
def test_whom_a_memory_is_about(columns: dict[str, object], entity: str) -> None:
    assert document(row(1, **columns), b"").labels["entity"] == entity  # type: ignore[arg-type]
