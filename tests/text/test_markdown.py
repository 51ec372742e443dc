"""Stored text in Markdown: it shows as it is, and opens nothing, in three parsers and in every place it can stand."""

import pytest
from hypothesis import example, given

from substrate.escape import line, markdown, one_line, unescape_markdown
from tests.text.renderers import RENDERERS, places, seen
from tests.text.strategies import MARKUP, nasty

PLACES = dict(places())
EVERYWHERE = [pytest.param(parser, place, id=f"{parser}, {place}") for parser in RENDERERS for place in PLACES]


def assert_inert(parser: str, place: str, text: str) -> None:
    """Compare with the same page around one plain word: the same tags, and the text's own characters in its place."""
    render, template = RENDERERS[parser], PLACES[place]
    tags, shown = seen(render(template.format(markdown(text))))
    plain_tags, plain_shown = seen(render(template.format("plainword")))
    assert tags == plain_tags, markdown(text)
    assert shown == one_line(plain_shown.replace("plainword", line(text))), markdown(text)


@pytest.mark.parametrize(("parser", "place"), EVERYWHERE)
@given(text=nasty)
def test_text_renders_as_its_own_characters_and_opens_nothing(parser: str, place: str, text: str) -> None:
    if line(text):
        assert_inert(parser, place, text)


@pytest.mark.parametrize(("parser", "place"), EVERYWHERE)
def test_each_piece_of_markup_is_inert_alone(parser: str, place: str) -> None:
    for text in MARKUP:
        assert_inert(parser, place, text)


@given(nasty)
@example("&#92;u{202e}\u202e\\u{202e}")
def test_escaping_can_be_undone(text: str) -> None:
    assert unescape_markdown(markdown(text)) == one_line(text)


@pytest.mark.parametrize("number", ["110000", "fffffffff", "f" * 5_000, ""])
def test_what_is_no_character_is_left_as_it_is_written(number: str) -> None:
    assert unescape_markdown(f"a &#92;u{{{number}}} \\[") == f"a &#92;u{{{number}}} ["


@given(nasty)
def test_the_result_is_one_line_that_can_be_encoded(text: str) -> None:
    written = markdown(text)
    assert written.encode().decode() == written
    assert len(written.splitlines()) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "Alice moved to Porto in May.",
        "It costs $40, i.e. 10% less (v2.1)",
        "R & D",
        "a -> b = c",
        'don\'t; "yes"',
        "10:30",
    ],
)
def test_ordinary_sentences_are_written_as_they_are(text: str) -> None:
    assert markdown(text) == text
