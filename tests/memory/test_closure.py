"""When one text repeats another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.memory.closure import repeats

WORDS = st.lists(st.sampled_from(["she", "sleeps", "in", "class", "often", "é", "ﬁn"]), min_size=5, max_size=12)


@given(words=WORDS, before=st.text(max_size=20), after=st.text(max_size=20))
def test_a_text_repeats_another_whatever_stands_around_it(words: list[str], before: str, after: str):
    erased = " ".join(words)
    assert repeats(f"{before} {erased.upper()}. {after}", erased)


@pytest.mark.parametrize(
    ("text", "erased", "answer"),
    [
        ("She sails.", "She sleeps.", False),
        ("ok then", "ok", False),
        ("It was narcolepsy.", "Narcolepsy", True),
        ("She often sleeps in class now", "He often sleeps in class now", True),
        ("one two three four six", "one two three four five", False),
        ("", "", False),
    ],
)
def test_a_repeat_is_the_whole_text_or_five_words_in_a_row(text: str, erased: str, answer: bool):
    assert repeats(text, erased) is answer
