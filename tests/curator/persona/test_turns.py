"""A sentence says of itself that something no longer holds, or only wishes, supposes or repeats it."""

import pytest

from curator.persona import measures, turns
from curator.persona.turns import Turn


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("The pottery course is paused until autumn.", Turn.HALTS),
        ("Alice has cancelled the pottery course.", Turn.HALTS),
        ("Fire the kiln every Friday (Postponed).", Turn.HALTS),
        ("Stoneware is no longer the main clay.", Turn.HALTS),
        ("The shortlist keeps two kilns, eliminating the gas kiln.", Turn.HALTS),
        ("The glaze recipe was replaced by a lead-free one.", Turn.REPLACES),
        ("Alice switched to porcelain.", Turn.REPLACES),
        ("Alice throws bowls instead of plates.", Turn.REPLACES),
        ("The fair stall budget is raised from 300 to 450 euros.", Turn.REPLACES),
        ("The pottery course has been resumed.", Turn.RESUMES),
    ],
)
def test_what_is_told_as_done_turns(text: str, way: Turn):
    assert turns.turn(text, "Alice") is way


@pytest.mark.parametrize(
    "text",
    [
        "The pottery course remains paused.",
        "If the kiln breaks, the course is cancelled.",
        "Alice may pause the pottery course.",
        "Alice prefers porcelain rather than stoneware.",
        "It was proposed that the course is moved to Monday.",
        "The kiln log has been updated to reflect the firing.",
        "Der Kurs ist verschoben.",
        "Alice teaches a pottery course.",
    ],
)
def test_what_is_wished_supposed_or_goes_on_does_not(text: str):
    assert turns.turn(text, "Alice") is None


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("Alice throws bowls instead of dinner plates.", {"dinner", "plate"}),
        ("The gas kiln is chosen, replacing the old electric kiln.", {"old", "electr", "kiln"}),
        ("Electric firing is in, a substitute for wood firing.", {"wood", "fire"}),
    ],
)
def test_what_gives_way_is_read_where_it_is_named(text: str, goal: set[str]):
    turning = turns.turning(text, "Alice")
    assert turning is not None and turning.named
    assert turning.goals == (frozenset(goal),)


def test_a_number_that_gives_way_must_be_found_again():
    turning = turns.turning("The stall budget is raised from 300 to 450 euros.", "Alice")
    assert turning is not None
    assert (turning.numbers, turning.named) == ({"300"}, False)


def test_each_item_of_a_list_is_looked_for():
    turning = turns.turning("Wheel throwing, glaze mixing and kiln repair are put on hold.", "Alice")
    assert turning is not None
    assert {frozenset({"glaze", "mix"}), frozenset({"kiln", "repair"})} <= set(turning.goals)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("The stall budget is 450 euros.", "The stall budget is 300 euros."),
        ("Alice's current weight is 71kg.", "Alice's weight is 74 kg, with a target of 70 kg."),
        ("The weekly target is 12 bowls.", "The weekly target is ten bowls."),
    ],
)
def test_a_measure_that_has_one_value_at_a_time_is_set_anew(newer: str, older: str):
    assert measures.reset(newer, older) is not None


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("The stall budget is 300 euros.", "The stall budget is 300 euros in all."),
        ("The weekly budget is 40 euros.", "The monthly budget is 300 euros."),
        ("Alice spent 40 euros of the stall budget.", "The stall budget is 300 euros."),
        ("Step 3 of the glaze plan is mixing.", "Step 2 of the glaze plan is sieving."),
        ("Alice sold 4 bowls.", "Alice sold 9 bowls."),
    ],
)
def test_another_size_of_something_else_is_not(newer: str, older: str):
    assert measures.reset(newer, older) is None
