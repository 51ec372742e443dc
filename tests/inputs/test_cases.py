"""Every named case is tried somewhere, or it is written down why there is nothing to try it on."""

import re

import pytest

from tests.inputs.cases import CASES, ELSEWHERE, NO_SURFACE, NUMBERS
from tests.requirements import TESTS

CATALOGUE = TESTS.parent.parent / "shared" / "security" / "bad-inputs.md"


def test_each_case_is_a_text_or_tried_elsewhere_or_has_no_surface_yet():
    texts = {case.number for case in CASES}
    assert texts | ELSEWHERE.keys() | NO_SURFACE.keys() == NUMBERS
    assert not texts & ELSEWHERE.keys() and not NO_SURFACE.keys() & (texts | ELSEWHERE.keys())
    assert all(len(reason) > 20 for reason in NO_SURFACE.values())
    assert len({case.id for case in CASES}) == len(CASES)


@pytest.mark.parametrize(("number", "place"), ELSEWHERE.items(), ids=ELSEWHERE.keys())
def test_a_case_that_is_no_text_has_a_test_of_its_own(number: str, place: str):
    path, _, name = place.partition("::")
    assert re.search(rf"^def {name}\(", (TESTS.parent / path).read_text(encoding="utf-8"), re.MULTILINE), number


def test_the_numbers_are_those_of_the_list():
    if not CATALOGUE.exists():
        pytest.skip("the list of bad inputs is not beside the project")
    assert {*re.findall(r"^\| (\d+) \|", CATALOGUE.read_text(encoding="utf-8"), re.MULTILINE)} == NUMBERS
