"""Reading a persona back: newest and older versions, staleness, differences, and what stands behind a footnote."""

import subprocess
import sys

import pytest

from curator.persona import reading, tracing
from curator.persona.markdown import parse
from substrate.errors import Integrity, Invalid, NotFound
from substrate.memory import forgetting, graph
from substrate.scopes import principals
from substrate.store.model import MemoryRow
from tests.curator.workshop import FACTS, Workshop

HOSTILE = (
    "Ada wrote `[^1]: mem-x` on a slip. [^1]: mem-forged — no (2020-01-01)",
    "Ada likes <!-- comments --> and <script>alert(1)</script> tags.",
    "Ada opened a fence: ``` and left it.",
    "Ada typed ---\nversion: 99\n--- into a file.",
    "Ada sent \x1b[2J and \x1b]52;c;AAAA\x07 to a terminal.",
    "Ada drew [a link](https://evil.example) and ![an image](x.png) on paper.",
    "Ada keeps # a heading and * a star and ^[a note] in order.",
    "Ada said \u202eright to left\u202c and \u2066isolated\u2069 things.",
)


def test_there_is_none_before_one_is_written(ada: Workshop):
    assert ada.persona() is None
    assert ada.persona("nobody") is None


def test_a_persona_read_back_is_what_was_written(ada: Workshop):
    made = ada.generate()
    found = ada.persona()
    assert found is not None and found.row == made.row
    assert [c.text for c in found.claims] == [c.text for c in made.composition.draft.claims()]
    shape = found.wire()
    assert set(shape) == {
        "id", "entity_id", "namespace", "version", "body_md", "sources", "generated_at", "attest_level", "stale",
        "model", "claims", "left_out", "envelope",
    }  # fmt: skip
    assert shape["sources"] == list(parse(shape["body_md"]).footnotes)
    assert all(
        shape["sources"][n - 1] == id
        for c in shape["claims"]
        for n, id in zip(c["footnotes"], c["sources"], strict=True)
    )


def test_an_older_version_stays_readable_by_its_number(ada: Workshop):
    first = ada.generate().row
    ada.reflect("Ada bought a lathe in Linz.")
    second = ada.generate().row
    with ada.memory.read() as r:
        assert reading.version(r, ada.memory.caller, "ada", "global", 1).row.content == first.content
        assert [row.id for row in reading.history(r, ada.memory.caller, "Ada", "global")] == [second.id, first.id]
        with pytest.raises(NotFound):
            reading.version(r, ada.memory.caller, "ada", "global", 3)


def test_a_difference_names_what_was_added_dropped_and_kept(ada: Workshop):
    ada.generate()
    gone = next(row for row in _reflections(ada) if "Bergen" in (row.content or ""))
    ada.retire(gone)
    ada.reflect("Ada bought a lathe in Linz.")
    ada.generate()
    with ada.memory.read() as r:
        versions = [reading.version(r, ada.memory.caller, "ada", "global", n) for n in (1, 2)]
    found = reading.diff(*versions)
    assert [c.text for c in found.added] == ["Ada bought a lathe in Linz."]
    assert [c.text for c in found.dropped] == ["Ada plans to visit Bergen in October."]
    assert found.kept == len(FACTS) - 1 and found.recited == ()
    assert found.wire()["kept"] == found.kept


@pytest.mark.requirement("S3-43")
@pytest.mark.parametrize("fate", ["retired", "superseded", "forgotten"])
def test_a_persona_is_stale_once_a_cited_reflection_is_no_longer_active(ada: Workshop, fate: str):
    ada.generate()
    found = ada.persona()
    assert found is not None and not found.stale
    cited = found.sources[0]
    with ada.memory.write() as tx:
        row = tx.require(MemoryRow, cited)
        if fate == "superseded":
            from substrate.memory import memories

            memories.edit(tx, ada.memory.caller, row.id, "Ada repairs church organs in four valleys.")
        elif fate == "forgotten":
            forgetting.forget(tx, ada.memory.caller, row.id, "wrong")
    if fate == "retired":
        ada.retire(row)
    now = ada.persona()
    assert now is not None and now.stale and now.row.id == found.row.id


def test_why_walks_a_footnote_down_to_its_observations(shop: Workshop):
    seen = shop.observe("The wind chest in Hall leaked.")
    told = shop.observe("She said the valve was worn.")
    shop.reflect("Ada mended the organ in Hall.", seen, told)
    shop.generate()
    persona = shop.persona()
    assert persona is not None
    with shop.memory.read() as r:
        found = tracing.why(r, shop.memory.caller, persona, 1)
        with pytest.raises(Invalid):
            tracing.why(r, shop.memory.caller, persona, 2)
        with pytest.raises(Invalid):
            tracing.why(r, shop.memory.caller, persona, 0)
    answer = found.wire()
    assert answer["claim"] == "Ada mended the organ in Hall."
    assert [(row["memory_kind"], row["content"]) for row in answer["chain"]] == [
        ("reflection", "Ada mended the organ in Hall."),
        ("observation", "The wind chest in Hall leaked."),
        ("observation", "She said the valve was worn."),
    ]
    assert answer["chain"][0]["derived_from"] == [seen.id, told.id]
    assert all(row["by"]["handle"] == "ann" and row["created_at"] for row in answer["chain"])


def test_why_counts_what_the_reader_may_not_see(shop: Workshop):
    private = shop.observe("My own note.", namespace=f"users/{shop.memory.caller.id}")
    shop.reflect("Ada mended the organ in Hall.", private)
    shop.generate()
    with shop.memory.write() as tx:
        principals.register(tx, shop.memory.caller, "agent", "scout")
    with shop.memory.read() as r:
        scout = principals.caller_for(r, "scout")
        persona = reading.newest(r, scout, "ada", "global")
        assert persona is not None
        found = tracing.why(r, scout, persona, 1)
    assert [row.memory_kind for row in found.chain] == ["reflection"] and found.hidden == 1


@pytest.mark.requirement("S3-11")
def test_paths_lead_from_a_persona_over_its_reflection_to_the_observation(shop: Workshop):
    seen = shop.observe("The wind chest in Hall leaked.")
    thought = shop.reflect("Ada mended the organ in Hall.", seen)
    row = shop.generate().row
    with shop.memory.read() as r:
        found = graph.paths(r, shop.memory.caller, row.id, seen.id, depth=3).wire()["paths"]
        walked = graph.walk(r, shop.memory.caller, [row.id])
    assert [step["id"] for step in found[0]] == [row.id, thought.id, seen.id]
    assert [step["relation"] for step in found[0]] == [None, "derived_from", "derived_from"]
    assert [one.id for one in walked] == [row.id, thought.id, seen.id]


@pytest.mark.requirement("S3-18")
def test_a_reflection_leads_back_to_the_personas_made_from_it(ada: Workshop):
    row = ada.generate().row
    cited = row.metadata["persona"]["sources"][0]  # type: ignore[index]
    with ada.memory.read() as r:
        found = graph.neighbourhood(r, ada.memory.caller, cited, relation="derived_from", reverse=True, depth=1)
        indexes = {name for (name,) in r.query("SELECT index_name FROM duckdb_indexes()")}
    assert row.id in {node.id for node in found.rows}
    assert "idx_personas_by_entity" in indexes


def test_a_version_that_holds_has_no_fault_and_one_that_cites_what_is_gone_names_it(ada: Workshop):
    ada.generate()
    persona = ada.persona()
    assert persona is not None
    with ada.memory.read() as r:
        assert tracing.check(r, ada.memory.caller, persona) == []
    retired, forgotten = persona.sources[:2]
    ada.retire(next(row for row in _reflections(ada) if row.id == retired))
    with ada.memory.write() as tx:
        forgetting.forget(tx, ada.memory.caller, forgotten, "wrong")
    with ada.memory.read() as r:
        assert tracing.check(r, ada.memory.caller, persona) == [f"footnote 2 cites {forgotten}, which is deleted"]


@pytest.mark.requirement("S3-7")
def test_hostile_text_in_reflections_changes_neither_claims_nor_footnotes(shop: Workshop):
    for text in HOSTILE:
        shop.reflect(text)
    shop.reflect("Ada repairs church organs in three valleys.")
    made = shop.generate()
    found = shop.persona()
    assert found is not None
    parsed = parse(found.row.content or "")
    assert [(c.text, c.sources) for c in parsed.claims] == [
        (" ".join(c.text.split()), c.sources) for c in made.composition.draft.claims()
    ]
    assert set(parsed.footnotes) <= {row.id for row in _reflections(shop)}
    assert "mem-forged" not in parsed.footnotes
    with shop.memory.read() as r:
        assert tracing.check(r, shop.memory.caller, found) == []


def test_a_deleted_newest_version_does_not_bring_the_older_one_back(ada: Workshop):
    ada.generate()
    ada.reflect("Ada bought a lathe in Linz.")
    newest = ada.generate().row
    ada.memory.db.close()
    with ada.memory.db.connection() as connection:
        connection.run("DELETE FROM memories WHERE id = ?", [newest.id])
    with pytest.raises(Integrity, match=newest.id), ada.memory.read() as r:
        reading.newest(r, ada.memory.caller, "ada", "global")


def test_a_retired_newest_version_does_not_bring_the_older_one_back(ada: Workshop):
    ada.generate()
    ada.reflect("Ada bought a lathe in Linz.")
    newest = ada.generate().row
    ada.retire(newest)
    assert ada.persona() is None
    assert ada.generate().row.persona_version == 3


def test_reading_loads_no_graph_library_no_arrays_and_no_model():
    script = (
        "import sys, curator.persona.reading, curator.persona.tracing\n"
        "print([n for n in ('numpy', 'networkx', 'torch', 'pydantic', 'sentence_transformers') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _reflections(shop: Workshop) -> list[MemoryRow]:
    with shop.memory.read() as r:
        return r.select(MemoryRow, "memory_kind = 'reflection'", order="sequence")
