"""A model the caller passes puts the best hits in order; it sees no memory that the caller may not read."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from substrate.errors import Invalid
from substrate.recall.rerank import CrossEncoder
from tests.memory.house import House
from tests.recall.test_recall import asked, ids


class Shortest:
    """Prefer short texts, and keep what was shown."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.seen += texts
        return [-float(len(text)) for text in texts]


def test_the_model_puts_hits_in_order_before_the_cut(house: House) -> None:
    house.remember("Tea tea tea, said Alice, who likes tea.")
    short = house.remember("Some tea.")
    house.remember("Tea is what Alice drinks in the morning.")
    model = Shortest()
    answer = asked(house, "Alice tea", max_hits=1, reranker=model)
    assert ids(answer) == [short.id] != ids(asked(house, "Alice tea", max_hits=1))
    assert answer.hits[0].arms["rerank"] == -len("Some tea.")
    assert len(model.seen) == 3


def test_the_model_sees_nothing_hidden(house: House) -> None:
    house.remember("Tea for rook alone.", caller=house.rook, namespace=f"agents/{house.rook.id}")
    seen = house.remember("Tea for all.")
    model = Shortest()
    assert ids(asked(house, "tea", caller=house.scout, reranker=model)) == [seen.id]
    assert model.seen == ["Tea for all."]


def test_the_persona_of_the_one_asked_for_stays_first(house: House) -> None:
    source = house.remember("He fixed it.")
    drawn = house.reflect("Handy.", source, entity_id="robert").row
    persona = house.persona("robert", [drawn], text="Handy with machines of every kind and size.")
    model = Shortest()
    assert ids(asked(house, "robert", max_hits=1, reranker=model)) == [persona.id]
    assert model.seen == []


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as refusal:
        CrossEncoder(tmp_path)
    assert refusal.value.hint
