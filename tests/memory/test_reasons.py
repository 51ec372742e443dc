"""A reason stays when the text is gone, so it may tell nothing of it."""

import pytest

from substrate.errors import Invalid
from tests.memory.house import House

SECRET = "the spare key is under the third stone"


def test_a_reason_may_not_repeat_what_is_to_be_forgotten(house: House):
    seen = house.remember(SECRET)
    with pytest.raises(Invalid, match="repeats"):
        house.forget(seen, why=f"because {SECRET.upper()}!")
    assert house.get(seen.id) == seen


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("zanzibarquux is the code word.", "zanzibarquux is the code"),
        ("zanzibarquux is the code word.", "that was Zanzibarquux"),
        ("The alarm takes 7741 at the door.", "code 7741 leaked"),
        ("The alarm takes b7-41x.", "it was 41x"),
        ("She met Ola in June.", "because of ola"),
        ("monkey", "MONKEY"),
        ("Her door opens at noon sharp.", "it said opens at noon"),
        ("我的密码是猴子。", "密码是错的"),
    ],
)
def test_a_reason_may_not_keep_a_part_that_gives_the_text_away(house: House, text: str, why: str):
    seen = house.remember(text)
    with pytest.raises(Invalid, match="stays for good") as refused:
        house.forget(seen, why=why)
    assert "said in confidence" in refused.value.hint and refused.value.details["fields"] == {"reason": "repeats"}
    assert house.get(seen.id) == seen


def test_a_reason_may_not_tell_a_title_nor_what_falls_in_a_cascade(house: House):
    seen = house.remember("A note.", title="The stone of Olaf")
    house.reflect("The key is under the third stone.", seen)
    for why, cascade in (("olaf asked", False), ("the third stone moved", True)):
        with pytest.raises(Invalid, match="stays for good"):
            house.forget(seen, why=why, cascade=cascade)
    assert house.forget(seen, why="the third stone moved").stale


@pytest.mark.parametrize("why", ["private", "said in confidence", "She asked for it.", "the user requested deletion"])
def test_a_reason_in_other_words_is_kept(house: House, why: str):
    seen = house.remember("The user said she keeps the spare key under a private stone; requested in confidence.")
    house.forget(seen, why=why)
    assert house.get(seen.id).status_reason == why
