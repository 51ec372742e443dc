"""Expect a refusal, and hold it to what every refusal must be."""

from collections.abc import Callable

import pytest

from substrate.errors import Invalid
from substrate.escape import line


def refused(check: Callable[..., object], *given: object, code: str, **options: object) -> Invalid:
    """Expect a refusal with this code, a hint, and a message that is one printable line; return it."""
    with pytest.raises(Invalid) as caught:
        check(*given, **options)
    error = caught.value
    assert list(error.details["fields"].values()) == [code]  # type: ignore[attr-defined]
    assert error.hint
    assert error.message == line(error.message) and len(error.message) < 400
    return error
