"""What the threat model says is shown is shown: the tests it names are there."""

import ast
import re

from tests.house.test_docs import ROOT

PAGE = ROOT / "docs" / "concepts" / "threat-model.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
RISKS = [f"ASI{number:02}" for number in range(1, 11)]


def missing(text: str) -> list[str]:
    """List the tests that a text names and that are not there."""
    gone = []
    for path, test in NAMED.findall(text):
        file = ROOT / path
        known = (
            {n.name for n in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(n, ast.FunctionDef)}
            if file.exists()
            else set()
        )
        if not any(name.startswith("test_") for name in known) or (test and test not in known):
            gone.append(f"{path}::{test}")
    return gone


def test_every_test_that_the_threat_model_names_is_there() -> None:
    assert missing(PAGE.read_text("utf-8")) == []


def test_a_test_that_is_not_there_would_be_noticed() -> None:
    assert missing("`tests/house/test_docs.py::test_nothing` and `tests/none.py`") == [
        "tests/house/test_docs.py::test_nothing",
        "tests/none.py::",
    ]


def test_every_row_names_a_test_and_every_risk_has_a_row() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.startswith(("| access", "| risk"))]
    assert [row for row in rows if not NAMED.search(row)] == []
    assert [row[2:7] for row in rows if row.startswith("| ASI")] == RISKS
