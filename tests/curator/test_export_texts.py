"""Whatever a row holds, its file has the row's fields and nothing in the text is more than text."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curator import export
from substrate.store.model import MemoryRow
from tests.curator.views import ask, files, taken_apart
from tests.curator.workshop import FACTS, Workshop
from tests.text.renderers import RENDERERS, seen
from tests.text.strategies import nasty
from tests.text.test_bad_inputs import RAW_CONTROL, STORED

STAMP = "2026-05-14T09:30:00.000000Z"
text = nasty.map(lambda found: re.sub("[\ud800-\udfff]", "", found))
"""What a store can hold: any text that has bytes."""
value = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(-1e9, 1e9), text),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=6,
)


def row(**columns: Any) -> MemoryRow:
    return MemoryRow(
        **{
            "id": "mem-1",
            "namespace": "global",
            "memory_kind": "reflection",
            "memory_type": "fact",
            "origin": "human",
            "by_kind": "human",
            "by_id": "hum-1",
            "created_at": STAMP,
            "updated_at": STAMP,
            "sequence": 1,
            **columns,
        }
    )


@example({"a": "x\n---\nversion: 99\n---", "<<": "="}, 'x"\nadmin: true\n#', ["!!python/object/apply:os.system [id]"])
@given(st.dictionaries(text, value, max_size=3), text, st.lists(text, max_size=3))
def test_the_front_matter_of_a_reflection_reads_back_as_its_fields(
    metadata: dict[str, Any], title: str, tags: list[str]
):
    made = export.reflection(row(metadata=metadata, title=title, tags=tuple(tags), content="x"), ["mem-0"])
    fields, _ = taken_apart(made.data)
    assert (fields["metadata"], fields["title"], fields["tags"]) == (metadata, title, tags)
    assert fields["derived_from"] == ["mem-0"] and fields["created_at"] == STAMP
    assert not RAW_CONTROL.search(made.data.decode())


@given(text, st.dictionaries(text, value, max_size=3), text)
def test_the_front_matter_of_a_persona_reads_back_as_its_envelope(entity: str, envelope: dict[str, Any], body: str):
    kept = {name: found for name, found in envelope.items() if name not in ("id", "namespace", "memory_kind")}
    made = export.persona(
        row(memory_kind="persona", entity_id=entity, persona_version=3, content=body, metadata={"persona": kept})
    )
    fields, found = taken_apart(made.data)
    known = {"id": "mem-1", "memory_kind": "persona", "entity_id": entity, "namespace": "global", "version": 3}
    assert fields == kept | known
    assert found == body


def inert(title: str, content: str) -> None:
    """Hold the body against one of plain words with as many paragraphs and lines."""
    _, body = taken_apart(export.reflection(row(title=title, content=content), []).data)
    assert not RAW_CONTROL.search(body)
    assert not re.search(r"\$|%%", re.sub(r"\\.", "", body)), "nor mathematics, nor a comment of a notes program"
    plain = "\n".join(
        "# word" if line.startswith("# ") and number == 0 else ("word\\" if line.endswith("\\") else line and "word")
        for number, line in enumerate(body.split("\n"))
    )
    for render in RENDERERS.values():
        tags = [tag for tag in seen(render(body))[0] if tag not in ("br", "/br")]
        assert tags == [tag for tag in seen(render(plain))[0] if tag not in ("br", "/br")]
        assert set(tags) <= {"h1", "/h1", "p", "/p"}


@given(text, text)
def test_no_text_opens_hides_or_ends_anything_in_the_body(title: str, content: str):
    inert(title, content)


@pytest.mark.parametrize("payload", STORED.values(), ids=STORED.keys())
def test_a_known_attack_is_text_in_the_body(payload: str):
    inert("A title", f"before\n{payload}\nafter\n\n{payload}")
    inert(payload, payload)


@pytest.mark.parametrize("case", ["26", "29", "31", "46"])
def test_a_known_attack_in_a_stored_row_is_text_in_both_files(ada: Workshop, case: str):
    ask(ada)
    ada.reflect(f"Ada wrote {STORED[case]} on a slip of paper.", title="Noted")
    ada.generate()
    export.catch_up(ada.memory)
    found = files(ada.memory.db.home)
    assert len(found) == len(FACTS) + 2
    for path, data in found.items():
        fields, body = taken_apart(data)
        assert (fields["memory_kind"], "admin" in fields) == (path.split("/")[0][:-1], False)
        assert fields.get("version") in (None, 1)
        assert not RAW_CONTROL.search(data.decode())
        assert body.startswith("# Ada\n" if path.startswith("personas") else "# Noted\n")
        if path.startswith("reflections"):
            assert not re.search(r"(?<!\\)(\[\^|<|^---)", body, re.MULTILINE)
