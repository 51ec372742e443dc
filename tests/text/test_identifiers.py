"""Ids, paths, names and tags: what is taken, what is refused, and what the refusal says."""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from substrate import limits
from substrate.errors import Invalid
from substrate.escape import line
from substrate.identifiers import (
    check_entity_id,
    check_line,
    check_name,
    check_namespace,
    check_tag,
    check_tags,
    check_text,
    fold,
)
from tests.text.refusal import refused
from tests.text.strategies import nasty

# --- folding -----------------------------------------------------------------------------------------------


@given(st.text())
@example("\u0345\u0390")
@example("ᾳ\u0345 İ ﬁ ẞ")
def test_folding_twice_is_folding_once(raw: str) -> None:
    assert fold(fold(raw)) == fold(raw)


@given(nasty)
def test_composed_and_decomposed_spellings_fold_to_one(raw: str) -> None:
    assert fold(unicodedata.normalize("NFD", raw)) == fold(unicodedata.normalize("NFC", raw))


@pytest.mark.parametrize("raw", ["Alice", " alice ", "ALICE", "ＡＬＩＣＥ", "\u00a0alice\n"])
def test_case_width_and_white_space_around_do_not_make_another_id(raw: str) -> None:
    assert fold(raw) == "alice"


def test_folding_follows_no_locale() -> None:
    assert fold("TITLE I") == "title i"
    assert fold("Straße") == fold("STRASSE")


# --- entity ids --------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-44")
@pytest.mark.parametrize(
    "raw", ["alice", "Alice B. Carroll", "../../etc/passwd", "Zoë", "李小龙", "Вася", "Ελένη", "-rf"]
)
def test_an_entity_id_is_kept_in_the_callers_spelling(raw: str) -> None:
    assert check_entity_id(raw) == raw


@pytest.mark.requirement("S3-44")
def test_white_space_around_an_entity_id_is_trimmed() -> None:
    assert check_entity_id("  alice\n") == "alice"
    assert check_entity_id("\u00a0alice\u3000") == "alice"


@pytest.mark.requirement("S3-44")
@pytest.mark.parametrize("raw", ["", "   ", "\n\t", "\u00a0\u3000"])
def test_a_blank_entity_id_is_refused(raw: str) -> None:
    refused(check_entity_id, raw, code="blank")


@pytest.mark.requirement("S3-44")
def test_an_entity_id_has_at_most_128_bytes() -> None:
    assert len(check_entity_id("é" * 64).encode()) == limits.ENTITY_ID_BYTES
    assert check_entity_id(f" {'a' * 128} ") == "a" * 128
    error = refused(check_entity_id, "é" * 64 + "a", code="too_long")
    assert "129 bytes, at most 128" in error.message
    refused(check_entity_id, "a" * 200_000, code="too_long")


@pytest.mark.requirement("S3-44")
@pytest.mark.parametrize("char", ["\x00", "\x07", "\n", "\r", "\x1b", "\x7f", "\x85", "\x9b"])
def test_a_control_character_in_an_entity_id_is_refused(char: str) -> None:
    refused(check_entity_id, f"al{char}ice", code="control_character")


@pytest.mark.requirement("S3-44")
@pytest.mark.parametrize(
    "char",
    [
        "\u200b",
        "\u200d",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\u202e",
        "\u2066",
        "\u061c",
        "\U000e0041",
        "\ufe0f",
        "\U000e0100",
        "\u2028",
        "\u115f",
        "\u3164",
        "\u2800",
        "\u034f",
    ],
)
def test_an_invisible_character_in_an_entity_id_is_refused_and_named(char: str) -> None:
    error = refused(check_entity_id, f"al{char}ice", code="invisible_character")
    assert f"U+{ord(char):04X}" in error.message
    refused(check_entity_id, char, code="invisible_character")


def test_a_lone_surrogate_in_an_entity_id_is_refused() -> None:
    refused(check_entity_id, "al\ud800ice", code="surrogate")


@pytest.mark.parametrize("raw", ["аlice", "Alicе", "pаypаl", "Νova", "bοb", "асе Smith", "ТНЕ admin", "ａlicе"])
def test_letters_of_another_alphabet_that_pass_for_latin_are_refused(raw: str) -> None:
    refused(check_entity_id, raw, code="mixed_scripts")


@pytest.mark.parametrize("raw", ["TNF-α", "μ-opioid", "Вася Smith", "Δt", "Ελένη P.", "сосна", "東京 office", "Ω3"])
def test_two_alphabets_that_deceive_nobody_are_taken(raw: str) -> None:
    assert check_entity_id(raw) == raw


def test_a_value_that_is_no_text_is_refused() -> None:
    for value in (None, 5, b"alice", ["alice"], {"id": "alice"}):
        refused(check_entity_id, value, code="type")


@given(nasty)
def test_whatever_is_given_is_an_id_or_a_refusal(raw: str) -> None:
    try:
        checked = check_entity_id(raw)
    except Invalid as error:
        assert error.message == line(error.message) and error.hint
    else:
        assert checked == raw.strip() and fold(checked)
        assert check_entity_id(checked) == checked


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ("content", "write what should be remembered"),
        ("query", "say in words what to look for"),
        ("id", "give the id or the name of a memory"),
        ("title", "give a title, one line"),
        ("description", "give the description, or leave it out"),
    ],
)
def test_a_blank_field_is_told_what_belongs_there(field: str, hint: str) -> None:
    for check in (check_text, check_line):
        with pytest.raises(Invalid, match="is blank") as caught:
            check(field, " ")
        assert caught.value.hint == hint


def test_a_refusal_does_not_repeat_a_credential() -> None:
    token = "ghp_" + "a1B2" * 9
    assert token not in refused(check_entity_id, f"{token}\x07", code="control_character").message
    assert "[credential]" in refused(check_namespace, token, code="pattern").message


# --- namespaces, names, tags -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["global", "team/alpha", "agents/agt-1", "projects/acme/web.shop_2/roles/ops", "a", "0"]
)
def test_a_namespace_is_taken_as_it_is(path: str) -> None:
    assert check_namespace(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        "a/../b",
        "..",
        "a..b",
        "A",
        "team/Alpha",
        "*",
        "team/*",
        "a b",
        "a\n",
        "é",
        "-a",
        ".a",
        "a/.b",
        "a\\b",
        "%2e",
        "a" * 65,
        "_a",
        "a\u200b",
        "null\x00",
    ],
)
def test_what_is_no_namespace_path_is_refused(path: str) -> None:
    refused(check_namespace, path, code="pattern")


def test_a_namespace_has_at_most_256_bytes() -> None:
    longest = "/".join(["a" * 50] * 5) + "/b"
    assert len(longest) == limits.NAMESPACE_BYTES
    assert check_namespace(longest) == longest
    refused(check_namespace, longest + "c", code="too_long")


@given(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,63}(/[a-z0-9][a-z0-9._-]{0,63}){0,2}", fullmatch=True))
def test_every_path_of_the_grammar_is_taken_unless_it_steps_up(path: str) -> None:
    assume(".." not in path and len(path) <= limits.NAMESPACE_BYTES)
    assert check_namespace(path) == path


@pytest.mark.requirement("S2-4")
@pytest.mark.parametrize("name", ["deploy-notes", "a", "0", "2026-05-14", "a" * 64])
def test_a_plain_name_is_taken(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.requirement("S2-4")
@pytest.mark.parametrize(
    "name", ["", ".hidden", "a/b", "a\\b", "a b", "Deploy", "-a", "a.md", "a_b", "a" * 65, "é", "a\n"]
)
def test_a_name_that_is_not_plain_is_refused(name: str) -> None:
    refused(check_name, name, code="pattern")


@pytest.mark.requirement("S2-4")
@pytest.mark.parametrize(
    ("name", "proposed"),
    [("Deploy Notes", "deploy-notes"), ("a/b.md", "a-b-md"), ("ÀB", None), ("../Index", None), ("x" * 99, "x" * 64)],
)
def test_a_refused_name_comes_with_one_that_works(name: str, proposed: str | None) -> None:
    hint = refused(check_name, name, code="pattern").hint
    if proposed:
        assert f"try '{proposed}'" in hint
        assert check_name(proposed) == proposed


@given(nasty)
def test_every_proposed_name_is_taken(name: str) -> None:
    try:
        assert check_name(name) == name
    except Invalid as error:
        if "try '" in error.hint:
            assert check_name(error.hint.split("try '")[1].rstrip("'"))


@pytest.mark.requirement("S2-5")
def test_the_name_of_the_index_is_reserved() -> None:
    refused(check_name, "index", code="reserved")
    assert "try" not in refused(check_name, "INDEX", code="pattern").hint


@pytest.mark.requirement("S1-34")
def test_at_most_five_tags_of_the_pattern_are_taken() -> None:
    assert check_tags(["billing", "a-1", "x" * 32]) == ("billing", "a-1", "x" * 32)
    assert check_tags(iter("abcde")) == tuple("abcde")
    assert check_tags([]) == ()
    refused(check_tags, list("abcdef"), code="too_many")
    for tag in ("", "A", "a b", "é", "x" * 33, "a_b", "a\n"):
        refused(check_tag, tag, code="pattern")
        refused(check_tags, ["ok", tag], code="pattern")


def test_a_repeated_tag_counts_once() -> None:
    assert check_tags(["b", "a", "b", "a", "b", "a"]) == ("b", "a")


def test_tags_come_as_a_list() -> None:
    for value in ("billing", b"billing", 5, None):
        refused(check_tags, value, code="type")
    refused(check_tags, [5], code="type")
