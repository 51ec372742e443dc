"""The page on quoting shows what the functions do."""

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "concepts" / "quoting.md"


def test_every_example_on_the_page_is_what_the_code_answers() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried >= 14
    assert failed == 0
