"""An answer is one JSON value of the form asked for, or it is refused; whatever it is, nothing else comes of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.llm import answers
from substrate.errors import NoModel
from substrate.escape import line

ANY: dict[str, Any] = {}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
).filter(lambda value: isinstance(value, dict | list))


@given(
    VALUES,
    st.sampled_from(
        [
            "{}",
            "```json\n{}\n```",
            "```\n{}\n```",
            "Sure, here:\n```JSON\n{}\n```\nDone.",
            "Here it is: {}",
            "<think>{{ or [?</think>\n{}",
            "\ufeff {} \n",
        ]
    ),
)
def test_a_value_is_read_back_from_every_dress_that_is_tolerated(value: Any, dress: str):
    text = dress.replace("{{", "{").replace("{}", json.dumps(value))
    assert answers.read(text, ANY) == value


@given(st.text() | st.text(alphabet='{}[]",:0123456789eE+-.\\ul`\n nul tre fas json'))
def test_any_text_is_read_as_json_or_refused_and_nothing_else(text: str):
    try:
        value = answers.read(text, ANY)
    except NoModel as error:
        assert error.details["reason"] == "not_json"
        assert error.message == line(error.message)
    else:
        assert isinstance(value, dict | list)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot do that.",
        "3",
        '"text"',
        '{"n": 1',
        '{"n": 1} and more',
        '{"n": 1}{"n": 2}',
        '{"n": 1, "n": 2}',
        '{"n": NaN}',
        '{"n": -Infinity}',
        '{"n": 1e999}',
        '{"n": "\\ud800"}',
        '{"\\udfff": 1}',
        "{'n': 1}",
        '{"n": 1,}',
        "```json\n{}\n```\n```json\n{}\n```",
        "[" * 100_000,
        "[" * 33 + "]" * 33,
        '{"n": ' + "9" * 5_000 + "}",
    ],
)
def test_what_is_no_json_or_could_be_read_in_two_ways_is_refused(text: str):
    with pytest.raises(NoModel) as caught:
        answers.read(text, ANY)
    assert caught.value.details["reason"] == "not_json"
    assert len(caught.value.message) < 500


def test_a_fence_inside_a_text_of_the_answer_is_no_fence_of_the_answer():
    value = {"n": "```json\n{}\n```"}
    assert answers.read(json.dumps(value), ANY) == value
    assert answers.read("[" * 32 + "]" * 32, ANY)


@pytest.mark.parametrize("text", ['{"n": "1"}', "{}", '{"n": 1, "m": 2}', "[]", '{"n": 1.5}', '{"n": true}'])
def test_another_form_than_asked_for_is_refused_and_says_where(text: str):
    with pytest.raises(NoModel, match=r"'\$") as caught:
        answers.read(text, SCHEMA, output_tokens=3)
    assert caught.value.details == {"reason": "wrong_schema", "output_tokens": 3}


def test_what_a_model_says_cannot_act_on_the_terminal_that_shows_the_error():
    for text in ("\x1b]0;owned\x07{", '{"n": "\x1b[2J\u202e"}', '{"\x1b": 1}'):
        with pytest.raises(NoModel) as caught:
            answers.read(text, SCHEMA)
        assert caught.value.message == line(caught.value.message)
