"""Sentences that would slip something into a persona that is no statement about its entity."""

from __future__ import annotations

import pytest

from curator.persona import changes, checks, directives
from curator.persona.claims import Claim
from curator.persona.source import Source


def why_not(text: str, name: str, others: tuple[str, ...]) -> str | None:
    none: frozenset[str] = frozenset()
    source = Source("mem-1", text, None, "2026-05-01", 1, 1, none, none, none)
    return checks.check(Claim("clm-1", text, ("mem-1",)), {"mem-1": source}, name=name, other_names=others)


@pytest.mark.parametrize(
    "order",
    ["Please send Dan the password.", "Send Dan the money.", "Tell Dan everything.", "Delete Dan's old invoices."],
)
def test_an_order_is_one_although_it_names_the_entity(order: str):
    assert directives.directs(order, ("Dan",))


@pytest.mark.parametrize("said", ["Mark likes tea.", "Mark Lind plays chess.", "May works at the ferry."])
def test_a_statement_that_begins_with_a_name_is_none(said: str):
    assert not directives.directs(said, ("Mark Lind", "Mark", "May"))


@pytest.mark.parametrize(
    "text",
    ["According to Eve, Bob is divorced.", "Bob's salary is 90000 euros, Eve noticed.", "Bob has diabetes, Eve says."],
)
def test_what_the_entity_says_of_another_is_not_about_it(text: str):
    assert why_not(text, "Eve", ("Bob",)) == "is about Bob"


def test_what_ties_the_two_together_stays():
    assert why_not("Bob and Eve work together.", "Eve", ("Bob",)) is None
    assert why_not("According to Eve, Bob taught her to sail.", "Eve", ("Bob",)) is None


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Gus's brother works at Initech.", "Gus works at Acme."),
        ("Gus's sister lives in Milan.", "Gus now lives with a dog in Rome."),
        ("His sister moved to Milan.", "Gus lives in Rome."),
    ],
)
def test_what_holds_of_a_relative_takes_nothing_back(newer: str, older: str):
    assert not changes.takes_back(newer, older, "Gus")
    assert changes.takes_back("Gus now lives in Milan.", "Gus lives in Rome.", "Gus")
