"""Vectors of one model serve until those of the next are whole, and spaces are never mixed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from substrate import config
from substrate.config import Config, Search
from substrate.recall import embedding, index
from substrate.recall.recall import recall
from substrate.recall.state import State
from tests.memory.house import House
from tests.recall.encoder import WordVectors
from tests.recall.pond import many
from tests.recall.small_model import present, small_model


def state(house: House) -> State:
    return index.of(house.db).catch_up(house.db)


def models(house: House) -> set[str]:
    return {part.vectors.model_id for part in state(house).vectors}


def wanted(house: House, source: str) -> None:
    config.write(house.db.home, replace(config.read(house.db.home), search=Search(model=source)))


def found(house: House, query: str, model: str) -> tuple[list[str], str | None]:
    answer = recall(house.db, house.ann, query, arms=("vector",), model=model, min_score=-1)
    return [hit.memory.id for hit in answer.hits], answer.arms["vector"].why_not


@pytest.fixture
def second() -> WordVectors:
    return WordVectors("words/2", dimension=16, source="/second")


def test_the_old_vectors_stay_until_the_new_are_whole(house: House, encoder: WordVectors, second: WordVectors) -> None:
    many(house, 9)
    follower = index.of(house.db)
    assert follower.encode(house.db, encoder) == 0
    assert (state(house).model, models(house)) == (encoder.source, {"words/1"})
    wanted(house, "/second")
    assert follower.encode(house.db, second, limit=4) == 5
    assert (state(house).model, models(house)) == (encoder.source, {"words/1", "words/2"})
    assert follower.seen(state(house), index.EVERYTHING, "words/1").space.encoded.sum() == 9
    assert follower.seen(state(house), index.EVERYTHING, "words/2").space.encoded.sum() == 4
    assert follower.encode(house.db, second) == 0
    assert (state(house).model, models(house)) == ("/second", {"words/2"})
    assert len(second.encoded) == 9


def test_which_model_serves_is_kept_with_the_vectors(house: House, again: House, encoder: WordVectors) -> None:
    many(again, 3)
    index.of(again.db).encode(again.db, encoder)
    index._open.pop(again.db)
    assert state(again).model == encoder.source
    assert not index.of(again.db).lags(again.db, encoder)


def test_a_worker_with_the_model_of_yesterday_takes_nothing_away(
    house: House, encoder: WordVectors, second: WordVectors
) -> None:
    many(house, 5)
    wanted(house, "/second")
    index.of(house.db).encode(house.db, second, limit=2)
    assert index.of(house.db).encode(house.db, encoder) == 0
    assert models(house) == {"words/1", "words/2"} and state(house).model == ""


def test_a_text_forgotten_on_the_way_leaves_the_vectors_of_both(
    house: House, encoder: WordVectors, second: WordVectors
) -> None:
    many(house, 5)
    row = house.remember("A stork.")
    index.of(house.db).encode(house.db, encoder)
    wanted(house, "/second")
    index.of(house.db).encode(house.db, second, limit=3)
    assert sum(row.id.encode() in part.vectors.ids for part in state(house).vectors) == 2
    house.forget(row)
    assert not any(row.id.encode() in part.vectors.ids for part in state(house).vectors)


def test_two_that_encode_the_same_at_once_leave_one_vector_each(house: House, again: House) -> None:
    many(again, 6)

    class Beaten(WordVectors):
        def encode(self, texts, progress=None):  # type: ignore[no-untyped-def]
            other = index.Index(again.db)
            other.encode(again.db, WordVectors())
            return super().encode(texts, progress)

    assert index.of(again.db).encode(again.db, Beaten()) == 0
    assert sum(len(part.vectors) for part in state(again).vectors) == 6


def test_vector_files_of_two_models_are_merged_apart(house: House, encoder: WordVectors, second: WordVectors) -> None:
    wanted(house, "/second")
    for _ in range(12):
        many(house, 2)
        index.of(house.db).encode(house.db, encoder)
        index.of(house.db).encode(house.db, second, limit=1)
    sizes = {part.vectors.matrix.shape[1] for part in state(house).vectors if part.vectors.model_id == "words/2"}
    assert sizes == {16} and models(house) == {"words/1", "words/2"}
    assert sum(len(part.vectors) for part in state(house).vectors) == 24 + 12


@present
def test_recall_asks_the_model_that_serves_and_then_the_new_one(house: House, tmp_path: Path) -> None:
    rows = [house.remember(text) for text in ("The cat sat on the mat.", "Invoices are due in May.", "A heron stood.")]
    new = small_model(tmp_path / "small")
    old, small = embedding.load(), embedding.load(new)
    assert isinstance(small, embedding.NumpyEmbedder) and small.model_id != old.model_id
    index.of(house.db).encode(house.db, old)
    before = found(house, "a feline on a rug", embedding.DEFAULT_MODEL)
    assert before[0][0] == rows[0].id and before[1] is None
    wanted(house, new)
    index.of(house.db).encode(house.db, small, limit=1)
    assert found(house, "a feline on a rug", new) == before
    index.of(house.db).encode(house.db, small)
    after = recall(house.db, house.ann, "a feline on a rug", arms=("vector",), model=new, min_score=-1)
    query, matrix = small.encode(["a feline on a rug"])[0], small.encode(_passages(house))
    assert sorted(hit.arms["vector"] for hit in after.hits) == pytest.approx(sorted(matrix @ query), abs=1e-5)


@present
def test_where_the_model_that_served_is_gone_the_new_one_is_asked(house: House, tmp_path: Path) -> None:
    house.remember("The cat sat on the mat.")
    gone = small_model(tmp_path / "gone", layers=2)
    wanted(house, gone)
    index.of(house.db).encode(house.db, embedding.load(gone))
    assert state(house).model == gone
    (tmp_path / "gone" / "modules.json").unlink()
    wanted(house, embedding.DEFAULT_MODEL)
    assert found(house, "cat", embedding.DEFAULT_MODEL)[1] == "1 of 1 memories have no vector yet"
    index.of(house.db).encode(house.db, embedding.load())
    assert found(house, "cat", embedding.DEFAULT_MODEL)[1] is None


@present
@pytest.mark.parametrize("layers", [1, 3])
def test_another_model_of_the_kind_runs_in_numpy_as_in_torch(tmp_path: Path, layers: int) -> None:
    folder = small_model(tmp_path / "small", layers)
    ours, theirs = embedding.load(folder), embedding.TorchEmbedder(folder)
    texts = ["When did Caroline go?", "x " * 600, ""]
    assert np.abs(ours.encode(texts) - theirs.encode(texts)).max() < 1e-6


@present
def test_a_model_is_told_by_its_weights_and_its_settings(tmp_path: Path) -> None:
    one, two = small_model(tmp_path / "a" / "m"), small_model(tmp_path / "b" / "m")
    assert embedding.Deferred(one).model_id == embedding.load(one).model_id == embedding.Deferred(two).model_id
    weights = tmp_path / "b" / "m" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    weights.unlink()
    data[-1] ^= 1
    weights.write_bytes(data)
    assert embedding.Deferred(two).model_id != embedding.Deferred(one).model_id


def test_a_home_may_ask_for_another_model(tmp_path: Path) -> None:
    written = Config(search=Search(model=str(tmp_path), tokenizer="/models/tokenizer.json"))
    config.write(tmp_path, written)
    assert config.read(tmp_path) == written


def _passages(house: House) -> list[str]:
    from substrate.recall.documents import document
    from substrate.store.model import MemoryRow

    with house.db.read() as r:
        return [document(row, b"").passage for row in r.select(MemoryRow)]
