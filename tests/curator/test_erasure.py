"""What is forgotten is gone: from every column, every file and every persona that rested on it."""

from pathlib import Path

import pytest

from curator import actions
from substrate.actions import audit
from substrate.recall.recall import recall
from substrate.store import recovery
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
