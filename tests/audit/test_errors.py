"""One tree of errors, one table."""

import pytest

from audit import errors
from audit.errors import ERRORS, AiMemoryError, Invalid


@pytest.mark.parametrize(
    ("name", "code", "http_status", "exit_code"),
    [
        ("Invalid", "invalid", 422, 2),
        ("NotFound", "not_found", 404, 4),
        ("Forbidden", "forbidden", 403, 3),
        ("Conflict", "conflict", 409, 5),
        ("MemoryFull", "memory_full", 409, 3),
        ("RateLimited", "rate_limited", 429, 3),
        ("Refused", "refused", 422, 3),
        ("NoModel", "no_model", 503, 2),
        ("Busy", "busy", 503, 6),
        ("Integrity", "integrity", 500, 7),
        ("Unavailable", "unavailable", 503, 6),
    ],
)
def test_every_error_has_its_codes(name, code, http_status, exit_code):
    error = getattr(errors, name)
    assert error in ERRORS and issubclass(error, AiMemoryError)
    assert (error.code, error.http_status, error.exit_code) == (code, http_status, exit_code)


def test_the_table_lists_every_error_once():
    assert set(ERRORS) == set(AiMemoryError.__subclasses__())
    assert len({error.code for error in ERRORS}) == len(ERRORS)


def test_an_error_says_what_happened_and_keeps_the_hint_apart():
    error = Invalid("name 'ä' is not a name", hint="use a to z", field="name")
    assert str(error) == "name 'ä' is not a name"
    assert error.as_json() == {
        "error": {
            "code": "invalid",
            "message": "name 'ä' is not a name",
            "details": {"field": "name", "hint": "use a to z"},
        }
    }


def test_an_error_without_a_hint_has_none_in_its_details():
    assert Invalid("no").as_json() == {"error": {"code": "invalid", "message": "no", "details": {}}}
