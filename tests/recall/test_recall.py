"""What an answer holds: the right memories, in order, cited, within their budget, and nothing hidden."""

from typing import Any

import pytest

from substrate.errors import Integrity, Invalid, NotFound
from substrate.recall import embedding, index
from substrate.recall.answer import Recall
from substrate.recall.recall import recall
from substrate.scopes.caller import Caller
from tests.memory.house import House
from tests.recall.encoder import WordVectors

WORDS = ("lexical", "graph", "entity")


def asked(house: House, query: str, caller: Caller | None = None, **options: Any) -> Recall:
    options.setdefault("arms", WORDS)
    return recall(house.db, caller or house.ann, query, **options)


def ids(answer: Recall) -> list[str]:
    return [hit.memory.id for hit in answer.hits]


def test_the_memory_that_holds_the_words_comes_first(house: House) -> None:
    house.remember("The deploy pipeline runs on Tuesdays.")
    wanted = house.remember("Alice prefers tea without sugar.")
    house.remember("Invoices are due within thirty days.")
    answer = asked(house, "Which tea does Alice prefer?")
    assert ids(answer) == [wanted.id]
    assert answer.hits[0].arms["lexical"] > 0
    assert answer.hits[0].text == wanted.content
    assert answer.left_out == 0


def test_a_write_is_found_by_the_very_next_recall(house: House) -> None:
    assert ids(asked(house, "zebra")) == []
    row = house.remember("A zebra crossed the road.")
    assert ids(asked(house, "zebras")) == [row.id]


def test_each_arm_says_whether_it_ran_and_why_not(house: House) -> None:
    house.remember("The kettle is in the kitchen.")
    answer = asked(house, "kettle")
    assert {name: arm.ran for name, arm in answer.arms.items()} == {
        "lexical": True, "vector": False, "graph": True, "entity": True, "time": False
    }  # fmt: skip
    assert answer.arms["vector"].why_not == "not asked for"
    nothing = asked(house, "of the and", arms=("lexical", "graph"))
    assert nothing.arms["lexical"].why_not == "the query holds no word to look for"
    assert nothing.arms["graph"].why_not == "no memory was found to start from"
    assert nothing.arms["entity"].why_not == "not asked for"
    assert nothing.hits == ()


def test_the_vector_arm_finds_what_shares_meaning(house: House, encoder: WordVectors) -> None:
    row = house.remember("the and of which")
    house.remember("Something else entirely was said.")
    index.of(house.db).encode(house.db, encoder)
    answer = asked(house, "which of the and", arms=("vector",), embedder=encoder, min_score=0.3)
    assert ids(answer)[0] == row.id
    assert answer.arms["vector"] == type(answer.arms["vector"])(True)
    assert set(answer.hits[0].arms) == {"vector"}


def test_the_packaged_model_is_used_where_it_is_installed(house: House) -> None:
    row = house.remember("The cat sat on the mat.")
    possible, why_not = embedding.available()
    if possible:
        index.of(house.db).encode(house.db, embedding.load())
    answer = asked(house, "feline on a rug", arms=("lexical", "vector"))
    assert answer.arms["vector"].ran == possible
    assert answer.arms["vector"].why_not == why_not
    assert ids(answer) == ([row.id] if possible else [])


def test_a_row_deleted_behind_the_log_is_noticed(house: House) -> None:
    row = house.remember("The kettle is in the kitchen.")
    asked(house, "kettle")
    with house.db.connection() as connection:
        connection.run("DELETE FROM memories WHERE id = ?", [row.id])
    with pytest.raises(Integrity):
        asked(house, "kettle")


def test_a_row_edited_behind_the_log_is_not_shown(house: House) -> None:
    row = house.remember("The kettle is in the kitchen.")
    asked(house, "kettle")
    with house.db.connection() as connection:
        connection.run("UPDATE memories SET content = 'The kettle is gone.' WHERE id = ?", [row.id])
    with pytest.raises(Integrity):
        asked(house, "kettle")


def test_answers_are_the_same_with_and_without_rows_of_others(house: House, encoder: WordVectors) -> None:
    for number in range(12):
        house.remember(f"Scout saw heron {number} at the lake.", caller=house.scout)
    index.of(house.db).encode(house.db, encoder)
    arms = ("lexical", "vector", "graph", "entity")
    before = asked(house, "heron at the lake", caller=house.scout, embedder=encoder, arms=arms, max_hits=100)
    for number in range(80):
        house.remember(f"Heron heron lake {number}.", caller=house.rook, namespace=f"agents/{house.rook.id}")
        house.remember("Scout: the lake heron.", caller=house.rook, applies_to=[house.rook.id])
    index.of(house.db).encode(house.db, encoder)
    after = asked(house, "heron at the lake", caller=house.scout, embedder=encoder, arms=arms, max_hits=100)
    assert len(before.hits) == 12
    assert after == before


def test_names_of_hidden_memories_are_not_known(house: House) -> None:
    source = house.remember("He fixed the boiler.")
    drawn = house.reflect("Handy with boilers.", source, entity_id="robert").row
    persona = house.persona("robert", [drawn], text="Handy with machines.")
    before = [asked(house, query, caller=house.scout) for query in ("robert zorro", "zorro", "robert boiler")]
    place = f"agents/{house.rook.id}"
    hidden = house.remember("Zorro: nobody knows me.", caller=house.rook, namespace=place)
    house.reflect("A mask.", hidden, caller=house.rook, namespace=place, entity_id="boiler")
    after = [asked(house, query, caller=house.scout) for query in ("robert zorro", "zorro", "robert boiler")]
    assert after == before
    assert before[1].arms["entity"].why_not == "the query names no entity that is known"
    assert ids(asked(house, "robert", caller=house.scout, max_hits=1)) == [persona.id]


def test_a_vector_hit_below_the_least_score_is_noise(house: House, encoder: WordVectors) -> None:
    house.remember("the and of which")
    index.of(house.db).encode(house.db, encoder)
    assert asked(house, "which of the and", arms=("vector",), embedder=encoder, min_score=1.0).hits == ()


def test_the_vector_arm_says_how_many_memories_have_no_vector_yet(house: House, encoder: WordVectors) -> None:
    for number in range(9):
        house.remember(f"note number {number}")
    index.of(house.db).encode(house.db, encoder, limit=5)
    answer = asked(house, "note", arms=("vector",), embedder=encoder)
    assert answer.arms["vector"].ran
    assert answer.arms["vector"].why_not == "4 of 9 memories have no vector yet"
    index.of(house.db).encode(house.db, encoder)
    assert asked(house, "note", arms=("vector",), embedder=encoder).arms["vector"].why_not is None


def test_a_question_encodes_itself_and_nothing_else(house: House, encoder: WordVectors) -> None:
    row = house.remember("the heron stood still")
    found = asked(house, "heron", arms=("lexical", "vector"), embedder=encoder)
    assert encoder.encoded == ["heron"]
    assert ids(found) == [row.id] and set(found.hits[0].arms) == {"lexical"}
    assert found.arms["vector"].why_not == "1 of 1 memories have no vector yet"


@pytest.mark.requirement("S3-12")
def test_asked_for_an_entity_the_persona_comes_before_its_reflections(house: House) -> None:
    told = [house.remember(f"Alice said yes to plan {n}.") for n in range(4)]
    drawn = [house.reflect(f"Alice agrees, {n}.", told[n], entity_id="Alice").row for n in range(4)]
    persona = house.persona("alice", drawn, text="Alice agrees easily to plans.")
    assert ids(asked(house, "Who is Alice?", max_hits=1)) == [persona.id]
    assert ids(asked(house, "alice", max_hits=1)) == [persona.id]
    answer = asked(house, "Does Alice agree to plans?", max_hits=20)
    place = ids(answer).index(persona.id)
    assert all(ids(answer).index(row.id) > place for row in drawn)


def test_an_alias_and_a_merged_name_lead_to_the_persona(house: House) -> None:
    from substrate.memory import entities

    source = house.remember("He fixed the boiler.")
    reflection = house.reflect("Handy with boilers.", source, entity_id="robert").row
    persona = house.persona("robert", [reflection], text="Handy with machines.")
    assert ids(asked(house, "bobby")) == []
    house.write(entities.alias, house.ann, "bobby", "robert")
    answer = asked(house, "Bobby?", max_hits=1)
    assert ids(answer) == [persona.id]
    assert answer.hits[0].arms == {"entity": 1.0}
    house.write(entities.add, house.ann, "rs", name="Roberta Stone")
    other = house.persona("rs", [reflection], text="Quiet.")
    assert ids(asked(house, "roberta stone", max_hits=1)) == [other.id]


def test_the_superseded_persona_is_not_recalled(house: House) -> None:
    source = house.remember("He fixed the boiler.")
    reflection = house.reflect("Handy with boilers.", source, entity_id="robert").row
    old = house.persona("robert", [reflection], text="Robert, first version.")
    new = house.persona("robert", [reflection], text="Robert, second version.")
    found = ids(asked(house, "Robert version"))
    assert new.id in found
    assert old.id not in found


def test_a_link_brings_what_the_words_do_not(house: House) -> None:
    source = house.remember("It was raining all day long.")
    reflection = house.reflect("The picnic failed.", source).row
    house.remember("Unrelated line about taxes.")
    house.clock.advance(days=2)
    answer = asked(house, "picnic")
    assert ids(answer) == [reflection.id, source.id]
    assert set(answer.hits[1].arms) == {"graph"}
    assert ids(asked(house, "picnic", arms=("lexical",))) == [reflection.id]


def test_a_hidden_memory_joins_nothing(house: House) -> None:
    hidden = house.remember("Seen by rook alone.", caller=house.rook, namespace=f"agents/{house.rook.id}")
    goal = house.remember("It was raining all day long.", caller=house.rook)
    house.link(hidden, goal, caller=house.rook)
    start = house.reflect(
        "The picnic failed.", goal, hidden, caller=house.rook, namespace=f"agents/{house.rook.id}"
    ).row
    assert ids(asked(house, "picnic", caller=house.rook)) == [start.id, goal.id, hidden.id]
    assert ids(asked(house, "picnic", caller=house.scout)) == []


def test_filters_apply_before_the_cut(house: House) -> None:
    for number in range(8):
        house.remember(f"The lighthouse keeper, story {number}.")
    source = house.remember("Old lighthouse story.", namespace="team/alpha", memory_type="decision")
    reflection = house.reflect("The lighthouse was dark.", source, namespace="team/alpha").row
    assert ids(asked(house, "lighthouse", kinds=("reflection",), max_hits=1)) == [reflection.id]
    assert ids(asked(house, "lighthouse", types=("decision",), max_hits=1)) == [source.id]
    assert set(ids(asked(house, "lighthouse", namespace="team/alpha"))) == {source.id, reflection.id}


def test_only_active_memories_are_recalled_unless_others_are_asked_for(house: House) -> None:
    from substrate.memory import memories

    old = house.remember("The office is in Lisbon.", name="office")
    new = house.remember("The office is in Porto.", name="office")
    gone = house.remember("The office cat is grey.")
    house.write(memories.retire, house.ann, gone.id, "it moved away")
    assert ids(asked(house, "office")) == [new.id]
    assert set(ids(asked(house, "office", statuses=()))) == {old.id, new.id, gone.id}
    assert ids(asked(house, "office", statuses=("superseded",))) == [old.id]
    assert set(ids(asked(house, "office", known_at=gone.created_at))) == {new.id, gone.id}
    assert ids(asked(house, "office", known_at=old.created_at)) == [old.id]


def test_as_of_keeps_what_held_then(house: House) -> None:
    first = house.remember("Works at the bakery.", valid_from="2020-01-01", valid_until="2022-01-01")
    second = house.remember("Works at the bakery school.", valid_from="2022-01-01")
    assert ids(asked(house, "bakery", as_of="2021-06-01")) == [first.id]
    assert ids(asked(house, "bakery", as_of="2022-01-01")) == [second.id]
    assert set(ids(asked(house, "bakery"))) == {first.id, second.id}


def test_the_day_can_be_asked_for_in_words(house: House) -> None:
    house.remember("Lunch with the team.", valid_from="2023-05-09T12:00:00Z")
    wanted = house.remember("Lunch with the team.", valid_from="2023-06-08T12:00:00Z")
    assert ids(asked(house, "lunch in June 2023"))[0] == wanted.id


def test_the_answer_beside_the_question_is_found(house: House) -> None:
    house.remember("Mel: Where did you go on holiday?")
    answer = house.remember("Cara: To the Lisbon coast.")
    house.remember("Mel: Nice weather today.")
    found = asked(house, "Where did Cara go on holiday to?")
    assert answer.id in ids(found)
    assert next(hit for hit in found.hits if hit.memory.id == answer.id).arms["entity"] == 1.0


def test_equal_hits_come_newest_first(house: House) -> None:
    rows = [house.remember("The same words.", namespace=f"place/{n}") for n in range(4)]
    found = ids(asked(house, "same words", max_hits=10))
    assert found == [row.id for row in reversed(rows)]


def test_content_is_cut_to_the_budget(house: House) -> None:
    rows = [house.remember(f"{'lorem ' * 150}apple {n}", namespace=f"place/{n}") for n in range(4)]
    size = len(rows[0].content or "")
    whole = asked(house, "apple", chars=4 * size)
    assert [hit.text for hit in whole.hits] == [row.content for row in reversed(rows)]
    cut = asked(house, "apple", chars=size + 300)
    assert [len(hit.text) for hit in cut.hits] == [size, 300]
    assert cut.hits[1].text.endswith("…")
    assert cut.left_out == 2
    assert [hit["cut"] for hit in cut.wire()["hits"]] == [False, True]
    tight = asked(house, "apple", chars=size + 199)
    assert [len(hit.text) for hit in tight.hits] == [size]
    assert tight.left_out == 3
    assert [len(hit.text) for hit in asked(house, "apple", chars=1).hits] == [1]


def test_a_hit_carries_its_citation_and_its_json(house: House) -> None:
    row = house.remember("The kettle is in the kitchen.", valid_from="2026-01-02")
    answer = asked(house, "kettle")
    assert answer.hits[0].citation == f"{row.id} (global, observation, 2026-01-02, by ann)"
    document = answer.wire()
    assert document["hits"][0]["memory"]["content"] == row.content
    assert document["hits"][0]["memory"]["by"]["handle"] == "ann"
    assert set(document["hits"][0]["arms"]) == {"lexical"}
    assert document["arms"]["vector"] == {"ran": False, "why_not": "not asked for"}
    assert document["left_out"] == 0


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("query", {"query": "  "}),
        ("query", {"query": "\u200b"}),
        ("query", {"query": "a\x00b"}),
        ("query", {"query": "\ud800"}),
        ("query", {"query": "x" * 4_001}),
        ("query", {"query": 7}),
        ("max_hits", {"max_hits": 0}),
        ("max_hits", {"max_hits": 101}),
        ("chars", {"chars": -1}),
        ("chars", {"chars": "1e9"}),
        ("min_score", {"min_score": float("nan")}),
        ("min_score", {"min_score": True}),
        ("min_score", {"min_score": "0.5"}),
        ("kinds", {"kinds": ("dream",)}),
        ("kinds", {"kinds": "observation"}),
        ("types", {"types": ("poem",)}),
        ("statuses", {"statuses": ("deleted",)}),
        ("arms", {"arms": ("magic",)}),
        ("as_of", {"as_of": "2026-02-30"}),
        ("known_at", {"known_at": "yesterday"}),
    ],
)
def test_bad_input_is_refused_naming_the_field(house: House, field: str, options: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refusal:
        asked(house, options.pop("query", "kettle"), **options)
    assert field in refusal.value.details["fields"]
    assert refusal.value.hint


def test_an_unreadable_namespace_answers_like_an_absent_one(house: House) -> None:
    with pytest.raises(NotFound) as hidden:
        asked(house, "kettle", caller=house.scout, namespace=f"agents/{house.rook.id}")
    with pytest.raises(NotFound) as absent:
        asked(house, "kettle", caller=house.scout, namespace="agents/agt-00000000000000000000000000")
    assert hidden.value.message.split("'")[0] == absent.value.message.split("'")[0]
    with pytest.raises(Invalid):
        asked(house, "kettle", namespace="../x")
