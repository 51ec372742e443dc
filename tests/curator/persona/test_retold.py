"""A change is told in its sources' own words, cut between clauses, each end with its day."""

import pytest

from curator.persona import retold
from curator.persona.candidates import Candidate
from curator.persona.claims import Claim
from curator.persona.excerpts import excerpt
from curator.persona.sentences import Rank
from curator.persona.source import Source
from tests.curator.persona.stories import source


def candidate(*sources: Source, text: str | None = None) -> Candidate:
    return Candidate(text or sources[0].text, tuple(one.id for one in sources), Rank.NAMED)


def tell(newer: Source, *olders: Source) -> Claim | None:
    by_id = {one.id: one for one in (newer, *olders)}
    return retold.tell([candidate(one) for one in olders], candidate(newer), by_id)


def no(claim: Claim) -> str | None:
    return "no"


def yes(claim: Claim) -> str | None:
    return None


def test_several_older_ends_are_told_in_the_order_of_time_and_cited():
    first, second = source("Alice throws bowls.", 1), source("Alice throws plates.", 3)
    made = tell(source("Wheel throwing is paused.", 5), second, first)
    assert made is not None
    assert made.text == (
        "On 1 May 2026: Alice throws bowls. On 3 May 2026: Alice throws plates."
        " On 5 May 2026: Wheel throwing is paused."
    )
    assert made.sources == ("mem-0001", "mem-0003", "mem-0005")


def test_ends_of_one_day_are_told_in_order_and_each_is_held_by_its_source():
    older, newer = source("Alice lives in Porto.", 1, 1), source("Alice moved to Braga.", 1, 2)
    made = tell(newer, older)
    assert made is not None
    assert made.text == "On 1 May 2026: Alice lives in Porto. Then: Alice moved to Braga."
    assert retold.fault(made, {one.id: one for one in (older, newer)}, yes) is None
    asked = [text for text in ("Alice lives in Porto.", "Alice moved to Braga.") if text in made.text]
    assert retold.fault(made, {one.id: one for one in (older, newer)}, lambda claim: claim.text) in asked


def test_an_end_is_dated_by_the_last_time_it_was_said_and_the_newer_by_the_first_since():
    said = [source("Alice throws bowls.", day) for day in (1, 4)]
    turned = [source("Wheel throwing is paused.", day) for day in (2, 6, 9)]
    by_id = {one.id: one for one in (*said, *turned)}
    made = retold.tell([candidate(*said)], candidate(*turned), by_id)
    assert made is not None
    assert made.text.startswith("On 4 May 2026: Alice throws bowls. On 6 May 2026:")
    assert made.sources[-1] == "mem-0006"


def test_a_long_end_is_cut_between_clauses_and_says_so():
    long = (
        "Alice plans the spring fair with a stall near the gate, a raffle for the roof, a reading by the choir,"
        " a tombola, a second-hand book table, and a demonstration of wheel throwing for children."
    )
    cut = excerpt(long, 12, frozenset({"wheel", "throw", "demonstr"}), lambda text: True)
    assert cut is not None
    assert cut.startswith("… ") and "demonstration of wheel throwing for children" in cut


@pytest.mark.parametrize("text", ["one " * 30 + "end.", "Alice said “" + "very " * 30 + "good”."])
def test_what_has_no_place_to_be_cut_is_not_told(text: str):
    assert excerpt(text, 12, frozenset(), lambda part: True) is None


def test_a_cut_never_loses_what_must_be_kept():
    text = "The wheel course, which Alice has taught for years with kiln and glazes, is paused until the next autumn."
    cut = excerpt(text, 12, frozenset({"kiln", "glaze", "autumn", "paus"}), lambda part: "paused" in part)
    assert cut is not None and "paused" in cut


def test_own_words_of_the_days_they_are_dated_to_stand():
    older, newer = source("Alice throws bowls.", 1), source("Wheel throwing is paused.", 5)
    made = tell(newer, older)
    assert made is not None
    assert retold.fault(made, {one.id: one for one in (older, newer)}, yes) is None


@pytest.mark.parametrize(
    "text",
    [
        "On 1 May 2026: Alice throws vases. On 5 May 2026: Wheel throwing is paused.",
        "On 2 May 2026: Alice throws bowls. On 5 May 2026: Wheel throwing is paused.",
        "Alice threw bowls and then wheel throwing was paused.",
    ],
)
def test_other_words_and_other_days_are_judged_like_any_claim(text: str):
    older, newer = source("Alice throws bowls.", 1), source("Wheel throwing is paused.", 5)
    claim = Claim("", text, (older.id, newer.id))
    assert retold.fault(claim, {one.id: one for one in (older, newer)}, no) == "no"


def test_each_end_must_be_fit_to_be_a_claim():
    older, newer = source("Alice throws bowls.", 1), source("Wheel throwing is paused.", 5)
    made = tell(newer, older)
    assert made is not None
    by_id = {one.id: one for one in (older, newer)}
    assert retold.fault(made, by_id, lambda claim: "unfit" if "bowls" in claim.text else None) == "unfit"
