"""The manifest and the tests say the same: nothing is claimed without a test, nothing tested without a claim."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.requirements import Requirement, claims, load

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT.parent / "shared" / "spec" / "requirements.csv"


def faults(manifest: Mapping[str, Requirement], claimed: Iterable[str]) -> list[str]:
    """List each disagreement between the manifest and the ids that tests carry."""
    claimed = set(claimed)
    found = [f"{id}: a test names it, the manifest does not" for id in sorted(claimed - manifest.keys())]
    for line in manifest.values():
        if line.status == "deferred" and line.id in claimed:
            found.append(f"{line.id}: deferred, but a test proves it: take it out of its deferred list")
        if line.status != "deferred" and line.id not in claimed:
            found.append(f"{line.id}: no test carries it and no reason is written")
        if line.status != "proved" and len(line.reason) < 10:
            found.append(f"{line.id}: {line.status} without a reason")
    return found


def test_every_requirement_has_a_test_or_a_written_reason():
    assert faults(load(), claims()) == []


PROVED = Requirement("S9-1", "S9 Example", "A sentence.")
DEFERRED = replace(PROVED, status="deferred", reason="The door is not built yet.")


@pytest.mark.parametrize(
    ("line", "claimed", "fault"),
    [
        (PROVED, [], "no test carries it"),
        (replace(PROVED, status="partial", reason="The other half is open."), [], "no test carries it"),
        (DEFERRED, ["S9-1"], "take it out"),
        (replace(DEFERRED, reason=""), [], "without a reason"),
        (PROVED, ["S9-1", "S9-2"], "S9-2: a test names it"),
    ],
)
def test_each_disagreement_between_manifest_and_tests_is_found(line: Requirement, claimed: list[str], fault: str):
    assert [fault in text for text in faults({line.id: line}, claimed)] == [True]


def test_agreement_is_no_fault():
    assert faults({"S9-1": PROVED}, ["S9-1"]) == faults({"S9-1": DEFERRED}, []) == []


def test_marks_are_found_on_functions_classes_and_modules(tmp_path: Path):
    (tmp_path / "test_a.py").write_text(
        "import pytest\n"
        "pytestmark = [pytest.mark.requirement('S9-1')]\n"
        "@pytest.mark.requirement('S9-2', 'S9-3')\n"
        "def test_f(): ...\n"
        "class TestC:\n"
        "    @pytest.mark.requirement('S9-3')\n"
        "    def test_m(self): ...\n"
    )
    assert claims(tmp_path) == {
        "S9-1": ["test_a.py"],
        "S9-2": ["test_a.py::test_f"],
        "S9-3": ["test_a.py::test_f", "test_a.py::test_m"],
    }


@pytest.mark.parametrize("definition", ["def helper(): ...", "def test_x():\n    def test_inner(): ..."])
def test_a_mark_that_pytest_would_not_run_is_refused(tmp_path: Path, definition: str):
    mark = "@pytest.mark.requirement('S9-1')\n"
    source = definition.replace("    def", f"    {mark}    def") if "inner" in definition else mark + definition
    (tmp_path / "test_a.py").write_text("import pytest\n" + source + "\n")
    with pytest.raises(ValueError, match="no test"):
        claims(tmp_path)


def test_a_mark_whose_ids_cannot_be_read_from_the_source_is_refused(tmp_path: Path):
    (tmp_path / "test_a.py").write_text("@pytest.mark.requirement(*IDS)\ndef test_f(): ...\n")
    with pytest.raises(ValueError, match="literals"):
        claims(tmp_path)


def test_a_line_with_two_states_is_refused(tmp_path: Path):
    path = tmp_path / "requirements.toml"
    section = "[[section]]\nname = 'S9'\nS9-1 = 'A sentence.'\n"
    path.write_text(section + "[partial]\nS9-1 = 'half'\n[[deferred]]\nreason = 'later'\nids = ['S9-1']\n")
    with pytest.raises(ValueError, match="two states"):
        load(path)
    path.write_text(section + "[partial]\nS9-2 = 'half'\n")
    with pytest.raises(ValueError, match="do not exist"):
        load(path)


def test_the_manifest_has_exactly_the_lines_of_the_catalogue():
    if not CATALOGUE.exists():
        pytest.skip("the requirement catalogue is not beside this repository")
    with CATALOGUE.open(encoding="utf-8", newline="") as file:
        assert load().keys() == {row["id"] for row in csv.DictReader(file)}
