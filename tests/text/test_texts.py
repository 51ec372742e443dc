"""Texts, lines, times and page bounds: what is taken, and what is refused."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate import limits
from substrate.errors import Invalid
from substrate.identifiers import check_limit, check_line, check_offset, check_text, check_time
from tests.text.refusal import refused
from tests.text.strategies import nasty

NOW = "2026-05-14T09:30:00.000000Z"


# --- texts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a", " padded \n", "tab\there", "\x1b[31mred", "\u202eabc", "# <b>", "a" * 65_536])
def test_text_is_stored_as_given(text: str) -> None:
    assert check_text("content", text) == text


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u200b", " \u200b\ufeff\n", "\u3164", "\U000e0041", "\x1b"])
def test_text_that_shows_nothing_is_refused(text: str) -> None:
    refused(check_text, "content", text, code="blank")


def test_text_is_unicode_without_nul() -> None:
    refused(check_text, "content", "a\x00b", code="nul")
    refused(check_text, "content", "a\udc80b", code="surrogate")
    refused(check_text, "content", b"bytes", code="type")


def test_text_is_measured_in_bytes() -> None:
    assert check_text("content", "é" * 4, 8)
    error = refused(check_text, "content", "é" * 5, 8, code="too_long")
    assert error.message == "content has 10 bytes, at most 8"


def test_a_line_is_trimmed_and_has_no_break() -> None:
    assert check_line("title", "  A title \n") == "A title"
    for text in ("a\nb", "a\rb", "a\tb", "a\x1bb", "a\u2028b", "a\x85b"):
        refused(check_line, "title", text, code="control_character")
    refused(check_line, "title", " ", code="blank")


def test_a_line_is_measured_in_characters() -> None:
    assert check_line("title", "é" * 300) == "é" * 300
    refused(check_line, "title", "é" * 301, code="too_long")
    refused(check_line, "description", "a" * 501, limits.DESCRIPTION_CHARS, code="too_long")
    refused(check_line, "title", "a" * 70_000, code="too_long")


# --- times -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("2026-05-14", "2026-05-14T00:00:00.000000Z"),
        ("2026-05-14T09:30:00Z", NOW),
        ("2026-05-14t09:30z", NOW),
        ("2026-05-14 11:30:00+02:00", NOW),
        ("2026-05-14T09:30:00.123456789Z", "2026-05-14T09:30:00.123456Z"),
        ("2026-05-14T09:30:00.5Z", "2026-05-14T09:30:00.500000Z"),
        ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000000Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        (" 2024-02-29 ", "2024-02-29T00:00:00.000000Z"),
    ],
)
def test_a_time_becomes_fixed_width_utc(text: str, normal: str) -> None:
    assert check_time("valid_from", text) == normal
    assert check_time("valid_from", normal) == normal


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("yesterday", "pattern"),
        ("", "pattern"),
        ("14.05.2026", "pattern"),
        ("2026-5-14", "pattern"),
        ("٢٠٢٦-٠٥-١٤", "pattern"),
        ("2026-05-14T", "pattern"),
        ("2026-05-14T9:30Z", "pattern"),
        ("20260514", "pattern"),
        ("2026-05-14T09:30:00", "no_offset"),
        ("2026-02-30", "no_such_time"),
        ("2026-13-01", "no_such_time"),
        ("0000-01-01", "no_such_time"),
        ("2025-02-29", "no_such_time"),
        ("2026-05-14T24:00:00Z", "no_such_time"),
        ("2016-12-31T23:59:60Z", "no_such_time"),
        ("2026-05-14T09:30:00+25:00", "no_such_time"),
        ("0001-01-01T00:00:00+02:00", "no_such_time"),
        ("9999-12-31T23:59:59-02:00", "no_such_time"),
    ],
)
def test_what_is_no_time_is_refused(text: str, code: str) -> None:
    refused(check_time, "valid_from", text, code=code)


def test_a_time_far_ahead_is_refused_only_where_it_must_have_happened() -> None:
    assert check_time("created_at", "2036-05-14T09:30:00Z", NOW) == "2036-05-14T09:30:00.000000Z"
    refused(check_time, "created_at", "2036-05-14T09:30:01Z", NOW, code="future")
    assert check_time("valid_until", "2036-05-14T09:30:01Z")


@given(st.datetimes(), st.sampled_from(["Z", "+00:00"]))
def test_every_utc_date_time_reads_back(moment: datetime, zone: str) -> None:
    text = moment.isoformat(timespec="microseconds")
    assert check_time("valid_from", text + zone) == f"{text}Z"


@given(nasty)
def test_whatever_is_given_is_a_time_or_a_refusal(text: str) -> None:
    with pytest.raises(Invalid):
        check_time("valid_from", f"{text}x")


# --- page bounds -------------------------------------------------------------------------------------------


def test_page_bounds_take_whole_numbers_and_their_digits() -> None:
    assert check_limit(None) == limits.LIST_DEFAULT
    assert check_limit("7") == check_limit(7) == 7
    assert check_limit(1_000) == 1_000
    assert check_limit(100, most=limits.RECALL_MAX) == 100
    assert check_offset(None) == check_offset(0) == 0
    assert check_offset("2147483647") == limits.OFFSET_MAX


@pytest.mark.parametrize("value", [-1, 0, 1_001, 2**63, "1e9", "-1", "", " 5", "٥", 5.0, True, [5], float("nan")])
def test_another_limit_is_refused(value: object) -> None:
    refused(check_limit, value, code="range")


@pytest.mark.parametrize("value", [-1, 2**31, 2**63, "1e9", "9" * 5_000, 0.5, False])
def test_another_offset_is_refused(value: object) -> None:
    refused(check_offset, value, code="range")
