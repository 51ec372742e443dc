"""A text names an entity by a whole name in any case, the longest where names overlap, never by a shared one."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator.reflections import names
from curator.reflections.names import Names
from substrate.memory import entities
from tests.curator.workshop import Workshop

KNOWN = Names.of(
    [
        ("ada", "ada"),
        ("Ada Park", "park"),
        ("Alex", "alex-1"),
        ("alex", "alex-2"),
        ("Will", "will"),
        ("O'Brien", "obrien"),
        ("田中", "tanaka"),
        ("Zoë", "zoe"),
        ("राम", "ram"),
        ("C++", "cpp"),
        ("Lee", "lee"),
        ("Ann", "ann"),
        ("Ann Lee", "ann-lee"),
    ],
    {},
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ada repairs organs.", {"ada"}),
        ("ADA repairs organs.", {"ada"}),
        ("Ａｄａ repairs organs.", {"ada"}),
        ("It is Ada's organ, and Ada’s bench.", {"ada"}),
        ("Ada'll come.", {"ada"}),
        ("We met in Ada Park.", {"park"}),
        ("Ada met us in Ada\nPark.", {"ada", "park"}),
        ("Adamant Canada has an armada.", set()),
        ("Ada-Marie, x.Ada@mail and ada.org are others.", set()),
        ("Alex repairs organs.", set()),
        ("He will come, and Will stays.", {"will"}),
        ("He will come.", set()),
        ("O’Brien and O'BRIEN's house", {"obrien"}),
        ("昨日、田中さんはポルトへ行った。", {"tanaka"}),
        ("Zoe\u0308 writes C++ all day.", {"zoe", "cpp"}),
        ("रामायण is a poem.", set()),
        ("राम is a name.", {"ram"}),
        ("Ann Lee sings.", {"ann-lee"}),
        ("Lee Ann sings.", set()),
        ("Lee Ann Lee sings.", set()),
        ("Mary Ann sings with Lee Okoro.", set()),
        ("Can Ann come with Dr. Lee on Monday?", {"ann", "lee"}),
        ("Yesterday Ann and Lee sang.", {"ann", "lee"}),
        ("Ann's Lee, Ann.", {"ann", "lee"}),
        ("", set()),
    ],
)
def test_a_text_names_whoever_it_names(text: str, found: set[str]):
    assert KNOWN.among(text) == found


def test_a_whole_name_leads_to_its_entity_and_a_shared_or_unknown_one_nowhere():
    assert KNOWN.lead("ADA") == "ada" and KNOWN.lead("ada  park") == "park"
    assert KNOWN.lead("Alex") is None and KNOWN.lead("Ada P") is None and KNOWN.lead(" ") is None


LETTERS = st.characters(categories=("Ll", "Lu", "Lo", "Nd"))
NAME = st.lists(st.text(LETTERS, min_size=1, max_size=6), min_size=1, max_size=3).map(" ".join)
TEXT = st.text(st.one_of(LETTERS, st.sampled_from(" .,'’-—\n\u0301\u200bßİ")), max_size=60)


@settings(deadline=None)
@given(TEXT, st.lists(NAME, max_size=5))
def test_whatever_is_found_stands_in_the_text_and_any_text_can_be_searched(text: str, known: list[str]):
    found = Names.of([(name, name) for name in known], {}).among(text)
    held = [token.text for token in names.tokens(text)]
    for name in found:
        wanted = [token.text for token in names.tokens(name)]
        assert any(held[at : at + len(wanted)] == wanted for at in range(len(held)))


@settings(deadline=None)
@given(NAME.filter(lambda name: all(token.text not in names._COMMON for token in names.tokens(name))))
def test_a_name_between_spaces_is_found_in_any_case_and_form(name: str):
    known = Names.of([(name, "it")], {})
    if not known.leads:
        return
    for text in (name, name.upper(), unicodedata.normalize("NFD", name)):
        if [token.text for token in names.tokens(text)] == [token.text for token in names.tokens(name)]:
            assert known.among(f"Yesterday {text} came.") == {"it"}


@settings(deadline=None)
@given(NAME, NAME)
def test_the_longer_of_two_names_hides_the_shorter_inside_it(first: str, second: str):
    known = Names.of([(first, "short"), (f"{first} {second}", "long")], {})
    assert "short" not in known.among(f"{first} {second}")


def test_names_are_read_where_the_namespace_looks_them_up_and_the_nearest_decides(town: Workshop):
    caller = town.memory.caller
    with town.memory.write() as tx:
        entities.add(tx, caller, "rob", name="Rob", namespace="team/alpha")
        entities.alias(tx, caller, "bob", "rob", namespace="team/alpha")
    with town.memory.read() as r:
        near, far = names.read(r, "team/alpha"), names.read(r, "global")
    assert far.among("Bob and the Organ Builder") == {"bob", "ines"}
    assert near.among("Rob and Ines Duarte") == {"rob", "ines"}
    assert near.lead("bob") == "rob", "what is called so further out is not meant here"


def test_a_merged_entity_is_found_as_its_survivor(town: Workshop):
    with town.memory.write() as tx:
        entities.merge(tx, town.memory.caller, "bob", "ines")
    with town.memory.read() as r:
        known = names.read(r, "global")
    assert known.among("Bob came.") == {"ines"} and "bob" not in known.shown
