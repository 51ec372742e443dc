"""A text of any length is taken apart into sentences that are short, or told nowhere."""

import pytest

from benchmarks.scaling import PIECES
from curator.persona import words
from curator.persona.sentences import LONGEST, sentences, standing


@pytest.mark.parametrize("piece", PIECES)
def test_no_sentence_is_longer_than_one_is(piece: str):
    assert all(len(sentence) <= LONGEST + 1 for sentence in sentences(f"Ada sings. {piece * (30_000 // len(piece))}"))


def test_a_sentence_without_an_end_is_read_whole_and_told_nowhere():
    text = "Ada and " * 400 + "Bob sing."
    pieces = list(sentences(text))
    assert [word for piece in pieces for word in words.words(piece)] == list(words.words(text))
    assert list(standing(text, "Ada")) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("One.\n```\nTwo.\n```\nThree.", ["One.", "Three."]),
        ("One.\n  ~~~ py\nTwo.\n```\nThree.\n~~~\nFour.", ["One.", "Four."]),
        ("One.\n~~~\nTwo.", ["One."]),
        ("One 【two】 three.", ["One.", "three."]),
        ("One. 【two", ["One.", "【two."]),
    ],
)
def test_fences_and_labels_are_left_out(text: str, left: list[str]):
    assert list(sentences(text)) == left
