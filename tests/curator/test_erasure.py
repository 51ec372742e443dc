"""What is forgotten is gone: from every column, every file and every persona that rested on it."""

from pathlib import Path

import pytest

from curator import actions
from curator.llm.scripted import Scripted
from substrate.actions import audit
from substrate.recall.recall import recall
from substrate.store import recovery
from substrate.store.model import LinkRow
from tests.curator.scribe import answer
from tests.curator.workshop import FACTS, Workshop, opened

SECRET = "Ada hides her savings behind the swell box"


def holding(folder: Path, text: str) -> list[str]:
    """Name the files under a folder that hold the text."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    )


@pytest.fixture
def plain(tmp_path: Path):
    """A workshop whose file is written uncompressed, so that a search for bytes can find anything at all."""
    with opened(tmp_path, engine={"force_compression": "uncompressed"}) as shop:
        yield shop


def test_a_forgotten_observation_takes_everything_that_rested_on_it(plain: Workshop):
    home = plain.memory.db.home
    for fact in FACTS:
        plain.reflect(fact)
    seen = plain.observe(f"{SECRET}, she said.")
    thought = plain.reflect(f"{SECRET}.", seen)
    first = plain.generate().row
    assert SECRET in (first.content or "")
    recall(plain.memory.db, plain.memory.caller, "where are the savings", arms=["lexical"])
    plain.memory.db.close()
    assert "memory.duckdb" in holding(home, SECRET), "the control: a search of the bytes finds the text"

    done = actions.forget(plain.memory, id=seen.id, why="private", cascade=True)
    assert set(done["ids"]) == {seen.id, thought.id} and done["personas"] == [first.id]
    assert done["regenerated"][0]["persona_id"] is not None
    audit.rewrite(plain.memory)

    assert SECRET not in plain.columns() and "swell box" not in plain.columns()
    plain.memory.db.close()
    assert holding(home, SECRET) == [] and holding(home, "swell") == [] and holding(home, "saving") == []
    served = plain.persona()
    assert served is not None and served.row.persona_version == 2 and not served.stale
    assert "savings" not in (served.row.content or "")
    plain.memory.db.close()
    assert recovery.verify(home, state_dir=plain.memory.db.ledger.state_dir).ok


def test_without_cascade_what_rested_on_it_is_named_and_stale(plain: Workshop):
    seen = plain.observe(f"{SECRET}, she said.")
    thought = plain.reflect(f"{SECRET}.", seen)
    row = plain.generate().row
    done = actions.forget(plain.memory, id=seen.id)
    assert done["ids"] == [seen.id] and set(done["stale"]) >= {thought.id}
    assert done["regenerated"] == []
    served = plain.persona()
    assert served is not None and served.row.id == row.id
    again = actions.forget(plain.memory, id=thought.id, cascade=True)
    assert row.id in again["personas"]
    assert plain.persona() is None, "nothing is left to say"
    assert again["regenerated"][0]["persona_id"] is None and "no reflection" in again["regenerated"][0]["why_not"]


@pytest.mark.parametrize("claim", ["Ada has lupus.", "Ada swims on Mondays and has lupus."])
def test_a_claim_rests_on_what_it_cites_so_that_it_falls_with_it(plain: Workshop, claim: str):
    secret, other = plain.observe("Ada has lupus and takes steroids."), plain.observe("Ada swims on Mondays.")
    plain.reflect("Ada looks after health matters with care.", secret, other)
    plain.reflect("Ada swims on Mondays.", other)
    said = answer("Ada looks after health matters with care.", ("Ada swims on Mondays.", (2,)), (claim, (1, 2)))
    plain.generate(model=Scripted([said]))
    actions.forget(plain.memory, id=secret.id, cascade=True, keep_supported=True)
    audit.rewrite(plain.memory)
    assert "lupus" not in plain.columns() and "health matters" in plain.columns()


def test_no_word_of_what_is_forgotten_outlives_it_as_a_reason(plain: Workshop):
    secret = plain.reflect("Ada has lupus.")
    plain.reflect(FACTS[0])
    plain.reflect(FACTS[1])
    said = answer(("Ada has lupus.", (2,)), (FACTS[0], (2,)), (FACTS[1], (3,)))
    row = plain.generate(model=Scripted([said, answer()])).row
    assert row.metadata is not None and row.metadata["persona"]["dropped_claims"] == {"unsupported": 1}
    assert secret.id in row.metadata["persona"]["inputs"]
    for id in secret.id, *sources_of(plain, secret.id):
        actions.forget(plain.memory, id=id, cascade=True)
    audit.rewrite(plain.memory)
    assert "lupus" not in plain.columns()


def sources_of(shop: Workshop, id: str) -> list[str]:
    """Name what a reflection was derived from."""
    with shop.memory.read() as r:
        return [link.target_id for link in r.select(LinkRow, "source_id = ? AND relation = 'derived_from'", (id,))]
