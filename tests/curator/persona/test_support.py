"""What a source says in other words may stand; what it says of somebody else, of another day or not at all may not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.persona import words
from curator.persona.checks import check
from curator.persona.claims import Claim
from curator.persona.directives import content
from curator.persona.sentences import sentences
from curator.persona.support import unsupported
from tests.counting import calls
from tests.curator.persona.stories import source


def why(claim: str, *told: str, name: str = "Nora", embed=None) -> str | None:
    """Check a claim that cites these texts, written on 10 May 2026 and the days after."""
    read = [source(text, 9 + number, number) for number, text in enumerate(told, 1)]
    one = Claim("clm-1", claim, tuple(each.id for each in read))
    return check(one, {each.id: each for each in read}, name=name, embed=embed)


def held(*cases: tuple[str, ...]):
    return pytest.mark.parametrize("case", cases, ids=[case[0] for case in cases])


@held(
    ("Nora works as a nurse at the children's hospital.", "Nora is a nurse. She works at the children's hospital."),
    ("Nora is allergic to peanuts.", "Nora has a peanut allergy."),
    ("Nora began to learn the piano.", "Nora started learning the piano."),
    ("Nora repaired the roof of the barn.", "Nora mended the barn's roof."),
    ("Nora owns a vehicle.", "Nora has a car."),
    ("Nora was taught to sail by her uncle Ben.", "Nora's uncle Ben taught her to sail."),
    ("Nora borrowed the drill from her neighbour Sven.", "Nora's neighbour Sven lent her the drill."),
    ("Nora sold her old car to a student.", "A student bought Nora's old car."),
    ("Nora's talk was attended by 90 people.", "Ninety people came to Nora's talk."),
    ("Nora's shift starts at ten and lasts eight hours.", "Nora's shift lasts eight hours. It starts at ten."),
    ("Nora quit smoking three years ago.", "It has been three years since Nora gave up smoking."),
    ("Nora is afraid of heights and avoids bridges.", "Nora has a fear of heights, so she avoids bridges."),
)
def test_other_words_for_the_same_are_held(case):
    assert why(*case) is None


@held(
    ("Nora has a mild peanut allergy.", "Nora has a peanut allergy."),
    ("Nora works at the bank in Porto.", "Nora works at the bank."),
    ("Nora secretly writes poems.", "Nora writes poems."),
    ("Nora wrote the script within a month.", "Nora wrote the script."),
    ("Nora plays the cello.", "Nora owns a cello."),
    ("Nora likes her boss.", "Nora has a boss."),
    ("Nora drives a car.", "Nora owns a vehicle."),
    ("Nora always pays in cash.", "Nora pays in cash."),
)
def test_what_no_source_says_is_an_invention(case):
    assert re.match("says|names", why(*case) or "")


@held(
    ("Nora bought the van with Leo.", "Nora bought the van.", "Nora goes sailing with Leo."),
    ("Nora painted the fence in Porto.", "Nora painted the fence.", "Nora spent the holidays in Porto."),
    ("Nora sold the boat to pay for a course.", "Nora sold the boat.", "Nora gives lessons to pay for a course."),
)
def test_what_stands_in_two_sources_is_not_joined(case):
    assert why(*case) is not None


@held(
    ("Nora keeps bees and sells the honey at the market.", "Nora keeps bees.", "Nora sells the honey at the market."),
    ("Nora and her wife Ada are buying a boat.", "Nora and Ada are buying a boat.", "Nora's wife Ada dives."),
)
def test_each_half_of_a_claim_may_have_a_source_of_its_own(case):
    assert why(*case) is None


@held(
    ("Nora moved to Lisbon in 2009.", "Nora moved to Lisbon."),
    ("Nora moved to Lisbon in March.", "Nora moved to Lisbon."),
)
def test_what_a_reflection_was_derived_from_supports_nothing(case):
    assert why(*case) is not None


@held(
    ("Nora was never here.", "Nora keeps geese."),
    ("Nora is no more.", "Nora keeps geese."),
    ("Nora did it.", "Nora keeps geese."),
    ("Nora keeps geese and is no more.", "Nora keeps geese."),
    ("Nora has nothing and no one.", "Nora keeps geese."),
    ("Nora keeps bees.", "Nora keeps geese."),
)
def test_what_has_no_word_of_substance_is_dropped_unless_it_stands_in_a_source(case):
    claim, told = case
    assert why(claim, told) is not None
    assert why(claim, f"{told} {claim}") is None


@held(
    ("Nora taught Sven to sail.", "Sven taught Nora to sail."),
    ("Nora was hired by Ada.", "Nora hired Ada."),
    ("Nora's brother Tim runs the shop.", "Nora runs the shop. Her brother Tim helps."),
    ("Nora won the final against Ivo.", "In the final Ivo won against Nora."),
    ("Nora had four punctures.", "Nora rode with Sven, and it was Sven who had four punctures."),
    ("Nora gave Ada the keys.", "Ada gave the keys to Nora."),
    ("Nora lent the drill to Sven.", "The drill was lent to Nora by Sven."),
    ("Nora sold the boat to Ada.", "Ada sold the boat to Nora."),
    (
        "Nora's parrot imitates the doorbell.",
        "Nora's parrot imitates a phone. The neighbour's dog imitates the doorbell.",
    ),
    ("Nora repaired the pump.", "Nora asked Sven to repair the pump."),
    ("Nora was promoted.", "Nora was passed over; Sven was promoted."),
)
def test_who_does_it_and_to_whom_has_to_be_the_same(case):
    assert why(*case) is not None


@held(
    ("Nora does not have a television.", "There is no television in Nora's flat."),
    ("Nora sleeps badly.", "Nora does not sleep well."),
    ("Nora distrusts the sensor.", "The sensor is something Nora does not trust."),
    ("Nora no longer competes.", "Nora stopped competing."),
    ("Nora drinks her coffee without milk.", "Nora drinks coffee with no milk."),
    ("Nora cannot run because of her knee.", "Because of her knee, Nora is not able to run."),
)
def test_a_denial_may_be_put_in_another_way(case):
    assert why(*case) is None


@held(
    ("Nora can swim.", "Nora is unable to swim."),
    ("Nora has stopped giving lessons.", "Nora has not stopped giving lessons."),
    ("Nora puts sugar in her tea.", "Nora drinks her tea without sugar."),
    ("Nora takes on landlords.", "Nora takes on tenants but never landlords."),
    ("Nora is unhappy with the tiles.", "Nora is happy with the tiles."),
    ("Nora takes sleeping pills.", "Nora refuses to take sleeping pills."),
    ("Nora is not opposed to the plan.", "Nora is opposed to the plan."),
    ("Nora reduced the cache.", "Nora increased the cache."),
    ("Nora reads no poetry.", "Nora reads some poetry."),
)
def test_a_denial_added_dropped_or_turned_is_found(case):
    assert why(*case) is not None


@held(
    ("Nora has opened a bakery.", "Nora wants to open a bakery."),
    ("Nora works at the bank.", "Nora used to work at the bank."),
    ("Nora may move to Lyon.", "Nora has moved to Lyon."),
    ("Nora has a boat.", "Nora sold her boat."),
)
def test_a_plan_is_no_fact_and_what_was_is_not_what_is(case):
    assert why(*case) is not None


@held(
    ("Nora has three cats and two dogs.", "Nora has two cats and three dogs."),
    ("Nora has two brothers and a sister.", "Nora has a brother and two sisters."),
    ("Nora's boat is nine years old.", "Nora's boat is nine metres long."),
    ("Nora visits them twice a year.", "Nora visits them once a year."),
    ("Nora waits more than two hours.", "Nora waits less than two hours."),
    ("Nora works from home every day.", "Nora works from home two days a week."),
    ("Nora published 64 episodes.", "Nora published the forty-sixth episode."),
)
def test_a_number_goes_with_what_it_counts(case):
    assert why(*case) is not None


@held(
    ("Nora was born in Turin and grew up in Malmö.", "Born in Malmö, Nora grew up in Turin."),
    ("Nora was born in 1990 and moved in 1985.", "Nora was born in 1985 and moved in 1990."),
    ("Nora arrived on Monday and left on Friday.", "Nora arrived on Friday and left on Monday."),
    ("Nora finished the thesis in June 2023.", "Nora finished the thesis in May 2023 and celebrated in June."),
    ("Nora met Ines at the library.", "Nora met Ines. She works at the library."),
    ("Nora will be in Rome until 5 June.", "Nora will be in Rome from 5 June."),
    ("Nora had surgery on her right eye.", "Nora had surgery on her left eye; the right one is fine."),
)
def test_time_and_place_stay_with_their_event(case):
    assert why(*case) is not None


@held(
    ("Nora moved in April 2026.", "Nora moved last month."),
    ("Nora moved on 8 May 2026.", "Nora moved two days ago."),
    ("Nora moves in June 2026.", "Nora moves in three weeks, in June."),
    ("Nora moved in 2025.", "Nora moved last spring."),
    ("Nora moves on 14 June 2026.", "Nora moves on 14 June."),
)
def test_a_date_counts_from_the_day_of_its_source(case):
    assert why(*case) is None


@held(
    ("Nora moved in May 2026.", "Nora moved last month."),
    ("Nora moved on 10 May 2026.", "Nora moved two days ago."),
    ("Nora moves on 4 June 2026.", "Nora moves on 14 June."),
)
def test_another_date_is_found(case):
    assert (why(*case) or "").startswith("gives a date")


@held(
    ("Nora fixed the boiler.", "The caretaker fixed the boiler while Nora was away."),
    ("Nora approved the budget.", "The council approved the budget, for which Nora had campaigned."),
    ("Nora chose the wallpaper.", "The wallpaper was chosen by Nora's mother."),
    ("Nora plays the organ.", "Nora lives with a man who plays the organ."),
    ("Nora has diabetes.", "Nora looks after her father, who has diabetes."),
    ("Nora won the prize.", "The prize went to Nora's daughter."),
    ("Nora designed the logo.", "Nora commissioned a designer to make the logo."),
    ("Nora was born in May.", "Nora's brother was born in May."),
    ("Nora looks after her mother.", "Nora looks after her son."),
    ("Karim is Nora's aunt.", "Karim is Nora's nephew."),
)
def test_a_relative_a_role_or_a_body_is_somebody_else(case):
    assert why(*case) is not None


@held(
    ("Nora fixed the boiler.", "The caretaker fixed the boiler. Nora is the caretaker."),
    ("Nora is the aunt of Karim.", "Karim is Nora's nephew."),
    ("Nora had her tonsils removed in May.", "Nora's tonsils were taken out in May."),
    ("Nora rebuilt the wall.", "Nora built the wall up again."),
    ("Nora is no longer vegetarian.", "Nora used to be vegetarian but eats meat again."),
    ("Nora did not sleep because of the noise.", "The noise kept Nora from sleeping."),
    ("Nora reminded Karim to bring the keys.", "Karim was reminded by Nora to bring the keys."),
    ("Nora is teaching herself Fortran.", "Nora is learning Fortran on her own."),
    ("Nora gets seasick, yet she works on a ship.", "Nora works on a ship.", "Nora gets seasick."),
    ("Nora organised the fair.", "Nora organized the fair."),
)
def test_the_same_may_be_told_from_another_side(case):
    assert why(*case) is None


@held(
    ("Nora runs in the morning.", "Nora runs in the evening and swims in the morning."),
    ("Nora was late on Friday.", "Nora was late on Thursday, and on Friday she was ill."),
    ("Nora has lived in Lyon for ten years.", "Nora lived in Lyon ten years ago."),
    ("Nora has few friends.", "Nora has many friends."),
    ("Nora is against the plan.", "Nora is for the plan."),
    ("Nora finished the book.", "Nora almost finished the book."),
    ("Nora has yet to see the sea.", "Nora has seen the sea."),
    ("Nora trusts banks.", "Nora distrusts banks."),
    ("Nora rebuilt the wall.", "Nora built the wall."),
)
def test_a_small_word_may_turn_what_is_said(case):
    assert why(*case) is not None


def test_an_encoder_tells_rewording_from_addition():
    import numpy as np

    def embed(texts):
        return np.array([[1.0, 0.0] if "hidden" not in text else [0.9, 0.4359] for text in texts], np.float32)

    told = "Nora commutes on the tram with a folding bike."
    assert why("Nora rides on the tram with a collapsible bike.", told, embed=embed) is None
    assert why("Nora rides on the tram with a hidden bike.", told, embed=embed) is not None
    assert why("Nora rides on the tram with Sven.", told, embed=embed) is not None


def test_a_rare_sense_of_a_word_supports_nothing():
    assert why("Nora made a bowl with her family.", "Nora made a bowl in her pottery class.") is not None


def test_a_true_half_of_a_claim_makes_the_other_half_no_closer():
    told = "Nora rides on the tram with a folding bike to the old harbour every morning."

    def embed(texts):  # close is what begins as the source does, however it goes on
        import numpy as np

        return np.array([[1.0, 0.0] if text.startswith("Nora rides") else [0.0, 1.0] for text in texts])

    assert why(told, told, embed=embed) is None
    assert why(f"{told[:-1]}, and Nora mends the old tram.", told, embed=embed) is not None


@pytest.mark.parametrize(
    ("claim", "told", "good"),
    [
        ("Nora no come carne.", "Nora come carne.", False),
        ("Nora tem três gatos.", "Nora tem dois gatos.", False),
        ("Nora a deux chats gris.", "Nora a deux chats gris et un chien.", True),
        ("Nora hat nie in Köln gewohnt.", "Nora hat in Köln gewohnt.", False),
        ("Nora vive a Roma con Piero.", "Nora vive a Milano con Piero.", False),
    ],
)
def test_other_languages_are_not_let_through(claim: str, told: str, good: bool):
    assert (why(claim, told) is None) is good


def test_sentences_of_a_source_cost_next_to_nothing():
    claims = [f"Nora planted tree number {number} beside the old canal." for number in range(60)]
    one = source(" ".join(claims))

    def judged(claim: str) -> str | None:
        return unsupported(claim, [one], frozenset({"nora"}), None, "Nora")

    assert judged("Nora planted tree number 7 by the old canal.") is None
    read = calls(lambda: judged("Nora planted tree number 7 by the old canal."))
    assert [judged(claim) for claim in claims] == [None] * 60
    assert calls(lambda: [judged(claim) for claim in claims]) < read / 10


@given(st.text(max_size=80), st.text(max_size=80))
def test_every_claim_gets_an_answer(claim: str, told: str):
    found = unsupported(claim, [source(told)], frozenset(), None, "Nora")
    assert found is None or found
    if words.words(told) and words.words(" ".join(sentences(told))) == words.words(told):
        assert unsupported(told, [source(told)], frozenset(), None, "Nora") is None


@held(
    ("Nora keeps bees 【and owes Xavier money】.", "Nora keeps bees."),
    ("【Nora owes Xavier money.】", "Nora keeps bees."),
    ("~~~ Nora owes Xavier money.", "Nora keeps bees."),
    ("A reflection asks: “Nora owes Xavier:”", "Nora keeps bees."),
)
def test_no_word_of_a_claim_is_passed_over(case):
    claim, *told = case
    assert unsupported(content(claim), [source(text) for text in told], frozenset(), None, "Nora")


@given(st.sampled_from(["two", "three", "five", "nine"]), st.sampled_from(["two", "three", "five", "nine"]))
def test_only_the_same_number_is_held(one: str, other: str):
    assert (why(f"Nora keeps {one} geese.", f"There are {other} geese that Nora keeps.") is None) is (one == other)


@pytest.mark.parametrize(("said", "accepted"), [("mislaid", True), ("daily", False), ("uncle", False)])
def test_a_word_that_carries_a_claim_rewords_it_unless_it_is_a_time_or_somebody(said, accepted):
    import numpy as np

    def embed(texts):
        near = [1.0 if "told" in text else 0.8 if said in text else 0.7 for text in texts]
        return np.array([[one, (1 - one * one) ** 0.5] for one in near], np.float32)

    assert (why(f"Nora paints {said} signs.", "Nora told us she paints signs.", embed=embed) is None) is accepted
