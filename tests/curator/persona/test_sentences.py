"""Sentences stand alone, or do not stand."""

import pytest

from curator.persona.antecedents import introduced, leans
from curator.persona.sentences import Rank, Sentence, clean, standing


def texts(text: str, name: str = "Alice") -> list[str]:
    return [sentence.text for sentence in standing(text, name)]


def test_each_sentence_is_one_claim():
    assert texts("Alice lives in Oslo. Alice has two cats!") == ["Alice lives in Oslo.", "Alice has two cats!"]


def test_a_sentence_that_points_back_is_joined_to_the_one_it_points_to():
    assert texts("Alice moved to Oslo. She works at a bakery.") == ["Alice moved to Oslo. She works at a bakery."]


def test_a_sentence_that_points_back_to_nothing_is_left_out():
    assert texts("He likes tea. Alice likes coffee.") == ["Alice likes coffee."]


@pytest.mark.parametrize(
    "opening", ["It is broken.", "They met in Rome.", "This helps a lot.", "Then came winter.", "他喜欢喝茶。"]
)
def test_nothing_stands_on_a_missing_antecedent(opening: str):
    assert texts(opening) == []


def test_a_pronoun_inside_a_sentence_needs_somebody_before_it():
    assert texts("Told him about Rome.") == []
    assert texts("Prefers tea because it calms her.") == ["Prefers tea because it calms her."]


def test_a_dependent_sentence_is_not_joined_beyond_what_can_be_read():
    long = "She " + " ".join(["wrote letters"] * 20) + "."
    assert texts(f"Alice lives in Oslo. {long}") == ["Alice lives in Oslo."]


def test_what_somebody_says_of_himself_is_nobodys_fact():
    assert texts("I prefer tea. Alice said 'I love tea' twice.") == ["Alice said 'I love tea' twice."]


def test_ranks_tell_how_well_a_sentence_stands():
    ranks = {
        sentence.text: sentence.rank
        for sentence in standing(
            "Alice likes tea.\nPrefers window seats.\nRain is common in Bergen.\nThe meeting was long.\nBudget: 20.",
            "Alice",
        )
    }
    assert ranks == {
        "Alice likes tea.": Rank.NAMED,
        "Prefers window seats.": Rank.NAMED,
        "Rain is common in Bergen.": Rank.ALONE,
        "The meeting was long.": Rank.DEFINITE,
        "Budget: 20.": Rank.DEFINITE,
    }


def test_user_stands_for_the_person():
    assert [sentence.rank for sentence in standing("The user has a dog. User prefers mail.", "Ada")] == [Rank.NAMED] * 2


def test_abbreviations_initials_and_quotations_do_not_end_a_sentence():
    assert texts("Alice reads J. K. Rowling, e.g. the first book. Alice met Dr. Ito.") == [
        "Alice reads J. K. Rowling, e.g. the first book.",
        "Alice met Dr. Ito.",
    ]
    assert texts('Alice said "It rains. It pours." and left.') == ['Alice said "It rains. It pours." and left.']


def test_lists_labels_emphasis_and_fences_are_taken_off():
    text = "【Travel Plan】 **Alice** likes *trains*.\n\n* Alice has a map.\n1. Alice packs.\n"
    text += "```\nAlice runs code.\n```\n---"
    assert texts(text) == ["Alice likes trains.", "Alice has a map.", "Alice packs."]


def test_an_open_fence_swallows_only_itself_and_what_follows():
    assert texts("Alice sails.\n```\nAlice hides here.") == ["Alice sails."]


def test_a_line_that_only_opens_a_list_says_nothing():
    assert texts("Alice plans to bring:\n- Alice brings bread.") == ["Alice brings bread."]


def test_sentences_of_other_scripts_are_cut_at_their_own_marks():
    assert texts("爱丽丝住在柏林。爱丽丝喜欢茶。", "爱丽丝") == ["爱丽丝住在柏林。", "爱丽丝喜欢茶。"]
    assert texts("تعيش أليس في برلين. هل تحب أليس الشاي؟ أليس تعمل.", "أليس") == [
        "تعيش أليس في برلين.",
        "هل تحب أليس الشاي؟",
        "أليس تعمل.",
    ]


def test_cleaning_folds_white_space_and_zero_width_characters():
    assert clean("  -  A\u200bli\u00adce \t likes\n tea ") == "Alice likes tea"


def test_a_claim_ends_like_a_sentence():
    assert list(standing("Jon visited Paris", "Jon")) == [Sentence("Jon visited Paris.", Rank.NAMED)]


def test_the_shelter_leans_on_a_shelter_told_elsewhere():
    known = introduced(["Maria volunteers at a homeless shelter.", "Maria sees her community."])
    assert leans("Maria met some kids at the shelter.", known)
    assert not leans("Maria runs a shelter and cleans the shelter.", known)
    assert not leans("Maria helps the community.", known)
    assert not leans("Maria knows the shelter that burnt down.", known)
