"""What a claim says of one event is held where its source speaks of that event, by whoever did it, in its order."""

import pytest

from tests.curator.persona.test_support import held, why

PILOT = "Nora moved to Lisbon in May. She has been a pilot at the port since 2009."
BOTH = "Nora moved to Lisbon in May and has been a pilot at the port since 2009."
BANK = "Nora pays 500 euros a month to the bank."
READS = "Nora reads before she sleeps."
REFUSED = "Nora invited Omar and refused Eve."
HONEST = "Omar says Nora is honest."
FIXED = "Someone Nora knows fixed the roof."
WEEK = "Nora visits the clinic every other week."
VALLEYS = "Nora repairs church organs in three valleys."


@held(
    ("Nora moved to Lisbon in 2009.", PILOT),
    ("Nora moved to Lisbon in May 2009.", PILOT),
    ("Nora has been a pilot since May.", PILOT),
    ("Nora has been at the port since May.", PILOT),
    ("Nora has been a pilot in Lisbon since 2009.", PILOT),
    ("Nora moved to the port in May.", PILOT),
    ("Nora moved to Lisbon in 2009.", BOTH),
    ("Nora has been a pilot since May.", BOTH),
)
def test_a_time_and_a_place_belong_to_the_event_that_the_source_gives_them(case):
    assert (why(*case) or "").startswith(("ties", "gives a date"))


@held(
    ("Nora has been a pilot since 2009.", PILOT),
    ("Nora is a pilot at the port.", PILOT),
    ("Nora moved to Lisbon in May.", PILOT),
    ("Nora moved in May.", BOTH),
    ("Nora sold her boat in May.", "Nora sold her boat. She did it in May."),
    ("Nora moves in June 2026.", "Nora moves in three weeks, in June."),
)
def test_what_the_source_says_of_that_event_is_held(case):
    assert why(*case) is None


@held(
    ("The bank pays Nora 500 euros a month.", BANK),
    ("The choir thanked Nora for the soup.", "Nora thanked the choir for the soup."),
    ("Nora invited Omar and Eve.", REFUSED),
    ("Nora invited Eve.", REFUSED),
    ("Nora fixed the roof.", FIXED),
    ("Nora won the race.", "A friend Nora met won the race."),
    ("Nora won the race.", "Somebody Nora met won the race."),
    ("Nora sang in Rome.", "Nora's choir sang in Rome."),
    ("Nora ran into the road.", "Nora's dogs ran into the road."),
)
def test_whoever_did_it_or_had_it_done_to_them_stays_so(case):
    assert why(*case) is not None


@held(
    ("Nora pays the bank 500 euros a month.", BANK),
    ("Nora invited Omar.", REFUSED),
    ("Nora refused Eve.", REFUSED),
    ("Nora invited Omar and Eve.", "Nora invited Omar and also Eve."),
    ("Nora knows someone who fixed the roof.", FIXED),
)
def test_who_did_it_may_be_told_in_another_order(case):
    assert why(*case) is None


@held(
    ("Nora sleeps before she reads.", READS),
    ("Nora reads after she sleeps.", READS),
    ("Nora eats before work.", "Nora works before she eats."),
    ("Before she reads, Nora sleeps.", READS),
    ("Nora moved before she married.", "Nora married, after which she moved."),
)
def test_the_order_of_two_events_is_not_turned_round(case):
    assert why(*case) == "turns round what its sources say came first"


@held(
    ("Nora sleeps after she reads.", READS),
    ("After she reads, Nora sleeps.", READS),
    ("Nora reads before sleeping.", READS),
    ("Nora moved after she married.", "Nora married, after which she moved."),
)
def test_the_same_order_may_be_told_from_either_end(case):
    assert why(*case) is None


@held(
    ("Nora is honest.", HONEST),
    ("Nora is honest.", "Omar thinks that Nora is honest."),
    ("Nora stole a boat.", "The baker claims Nora stole a boat."),
)
def test_what_somebody_else_says_is_no_fact(case):
    assert why(*case) == "tells as a fact what its sources say that somebody says"


@held(
    ("Omar says that Nora is honest.", HONEST),
    ("Nora plays chess.", "Nora says she plays chess."),
    ("Nora plays chess.", "Omar says Nora is honest. Nora plays chess."),
)
def test_whose_word_it_is_may_be_told_and_ones_own_word_is_taken(case):
    assert why(*case) is None


@pytest.mark.parametrize("often", ["every week", "each week", "weekly"])
def test_every_other_one_is_not_every_one(often: str):
    assert "every other" in (why(f"Nora visits the clinic {often}.", WEEK) or "")
    assert why("Nora goes to the clinic every other week.", WEEK) is None


def test_a_number_stays_with_what_it_counts():
    assert "count otherwise" in (why("Nora repairs three church organs in valleys.", VALLEYS) or "")
    assert why("In three valleys Nora repairs organs.", VALLEYS) is None
