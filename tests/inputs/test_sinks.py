"""What was stored comes out as data: on the terminal, as JSON, in files, drawings, prompts, the log of the process."""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from audit import independent
from cli import door, picture, show
from curator import export
from curator.persona import prompt
from substrate.actions.registry import call
from substrate.errors import AiMemoryError
from substrate.escape import one_line
from substrate.memory import memories
from substrate.memory.reflections import reflect
from substrate.store.model import MemoryRow
from tests.curator.views import PERSONAS, REFLECTIONS
from tests.curator.workshop import Workshop, opened
from tests.inputs.cases import CASES, Case
from tests.text.renderers import RENDERERS

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e0fff]"
)
PARAGRAPHS = {"p", "br", "h1", "h2", "h3", "ul", "li"}
NOTES = PARAGRAPHS | {"sup", "section", "ol", "hr", "a"}


@dataclass
class Held:
    """A store in which every text that it takes stands in every field that takes it, and what was logged meanwhile."""

    shop: Workshop
    rows: dict[str, tuple[Case, MemoryRow]]
    records: list[logging.LogRecord]

    def answers(self, name: str, **given: Any) -> dict[str, Any]:
        return call(self.shop.memory, name, given)


class Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    records = Records()
    logging.getLogger().addHandler(records)
    try:
        with opened(tmp_path_factory.mktemp("store")) as shop:
            rows = {row.id: (case, row) for case in CASES for row in _written(shop, case)}
            yield Held(shop, rows, records.kept)
    finally:
        logging.getLogger().removeHandler(records)


def _written(shop: Workshop, case: Case) -> Iterator[MemoryRow]:
    """Write a text wherever it is taken: first into every field, else into those that take it."""
    line = {"title": case.text, "description": case.text, "metadata": {"note": case.text, "notes": [case.text]}}
    for options in (line, {"metadata": {"note": case.text}}, {}):
        try:
            with shop.memory.write() as tx:
                seen = memories.remember(tx, shop.memory.caller, case.text, **options)
                title = {"title": options.get("title", "Noted")}
                kept = {"metadata": options.get("metadata")}
                yield seen
                yield reflect(tx, shop.memory.caller, *title.values(), case.text, sources=[seen.id], **kept).row
            return
        except AiMemoryError:
            continue


def test_most_of_the_texts_are_stored_as_they_were_given(held: Held):
    assert len({case for case, _ in held.rows.values()}) > 0.8 * len(CASES)
    for id, (case, _) in held.rows.items():
        found = held.answers("get", id=id)
        assert found["content"] == case.text
        assert (found["metadata"] or {}).get("note", case.text) == case.text


def test_as_json_every_answer_reads_back_and_shows_nothing_hidden(held: Held):
    for answer in [held.answers("get", id=id) for id in held.rows] + [held.answers("list", limit=1000)]:
        text = door.as_json(answer)
        assert json.loads(text, parse_constant=pytest.fail, object_pairs_hook=_once) == json.loads(json.dumps(answer))
        assert not HIDDEN.search(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


def test_on_a_terminal_a_text_stays_behind_its_marks_and_controls_nothing(held: Held):
    for id, (case, _) in held.rows.items():
        found = held.answers("get", id=id)
        for words in (show.memory(found), show.written(found), show.summary(found), show.heading(found)):
            assert not HIDDEN.search(words)
            words.encode()
        lines = show.memory(found).split("\n")
        quoted = [line for line in lines if line.startswith("> ")]
        assert len(quoted) == len(case.text.replace("\r\n", "\n").split("\n"))
        assert all(
            re.match("> |[A-Z][a-z]+ mem-|(title|name|about|tags|entity|derived from): ", line) for line in lines
        )


def test_a_list_a_timeline_and_a_graph_are_one_line_a_memory(held: Held):
    found = held.answers("list", limit=1000)
    assert len(show.listed(found).split("\n")) == len(found["items"]) + 1
    for id in list(held.rows)[1::2]:
        graph = held.answers("graph", id=id)
        assert len(show.graph(graph).split("\n")) == len(graph["nodes"]) + len(graph["links"])
        moments = held.answers("timeline", id=id)
        assert len(show.timeline(moments).split("\n")) == len(moments["moments"])
        assert not HIDDEN.search(
            show.graph(graph) + show.timeline(moments) + show.impact(held.answers("impact", id=id))
        )


def test_a_drawing_has_its_own_elements_only(held: Held):
    for id in list(held.rows)[1::2]:
        found = held.answers("graph", id=id)
        tags = {element.tag.partition("}")[2] for element in ElementTree.fromstring(picture.svg(found)).iter()}
        assert tags <= {"svg", "defs", "marker", "path", "rect", "g", "text", "line", "title"}
        for line in picture.mermaid(found).split("\n"):
            assert re.fullmatch(r'graph TD|  n\d+\["[^"<>|`\[\]{}]*"\]|  n\d+ -->\|[a-z_]+\| n\d+', line), line


class Page(HTMLParser):
    """The elements of a page, and where its links lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_comment(self, data: str) -> None:
        self.tags.add("comment")

    def handle_decl(self, decl: str) -> None:
        self.tags.add("declaration")


def taken_apart(data: bytes) -> tuple[dict[str, Any], str]:
    front, _, body = data.decode().removeprefix("---\n").partition("\n---\n")
    return yaml.safe_load(front), body


def test_a_file_has_the_fields_that_were_written_and_a_body_of_paragraphs(held: Held):
    for case, row in held.rows.values():
        if row.memory_kind != "reflection":
            continue
        view = export.reflection(row, ["mem-0"])
        fields, body = taken_apart(view.data)
        assert fields["title"] == row.title and fields["metadata"] == row.metadata and fields["id"] == row.id
        assert not HIDDEN.search(view.data.decode())
        for name, render in RENDERERS.items():
            page = Page(render(body))
            assert page.tags <= PARAGRAPHS, (name, case.id, page.tags)
            assert page.links == []


@pytest.mark.requirement("S3-33")
def test_the_files_lie_in_their_folder_one_a_reflection(held: Held):
    memory = held.shop.memory
    call(memory, "space_policy", {"path": "global", "field": REFLECTIONS, "value": True})
    call(memory, "space_policy", {"path": "global", "field": PERSONAS, "value": True})
    assert export.catch_up(memory).problems == ()
    home: Path = memory.db.home
    there = {path.relative_to(home).as_posix() for path in (home / "reflections").rglob("*.md")}
    assert there == {
        f"reflections/global/{row.id}.md" for _, row in held.rows.values() if row.memory_kind == "reflection"
    }


def _reflect(shop: Workshop, told: list[tuple[str, dict[str, Any]]]) -> None:
    """Write reflections on Ada at once; those that are refused are left out."""
    with shop.memory.write() as tx:
        seen = memories.remember(tx, shop.memory.caller, "Seen.")
        for text, metadata in told:
            with suppress(AiMemoryError):
                given = {"sources": [seen.id], "entity_id": "Ada", "metadata": metadata}
                reflect(tx, shop.memory.caller, "Noted", text, **given)


def test_a_persona_of_hostile_reflections_has_its_own_notes_only(held: Held):
    shop = held.shop
    notes = [f"Ada keeps the note {case.text} in her workshop." for case in CASES if len(case.text) < 200]
    _reflect(shop, [(note, {}) for note in notes])
    made = shop.generate("Ada")
    found = shop.persona("Ada")
    assert found is not None and made.row.content == found.row.content
    body = found.row.content or ""
    assert not HIDDEN.search(body)
    defined = re.findall(r"^\[\^(\d+)\]: (mem-\S+)", body, re.MULTILINE)
    assert len(defined) == len(found.sources) > 3
    for name, render in RENDERERS.items():
        page = Page(render(body))
        assert page.tags <= NOTES, (name, page.tags - NOTES)
        assert all(link.startswith("#fn") for link in page.links), (name, page.links)


def test_a_prompt_keeps_its_envelope(held: Held):
    for case in CASES:
        elements = [{"entity": case.text}, {"item": 1, "date": "2026-05-14", "text": case.text}]
        system, user = prompt.messages(elements, None)
        assert system.content == prompt.instruction(None)
        assert user.content.startswith("<data>\n") and user.content.endswith("\n</data>")
        inside = user.content.removeprefix("<data>\n").removesuffix("\n</data>")
        assert "<" not in inside and ">" not in inside and not HIDDEN.search(inside)
        entity, item = json.loads(inside, object_pairs_hook=_once)
        assert entity.keys() - {"hidden"} == {"entity"} and item.keys() - {"hidden"} == {"item", "date", "text"}
        assert ("hidden" in item) == (item["text"] != case.text)


def test_no_event_holds_a_text_and_the_log_verifies_elsewhere(held: Held):
    lines = [line.encode() for line in held.answers("audit_export")["lines"]]
    assert independent.verify(lines) == ""
    texts = [case for case in CASES if len(case.text) > 8 and case.number != "95"]  # times stand in every event
    for event in held.answers("audit_log", limit=1000)["events"]:
        told = json.dumps(event, ensure_ascii=False)
        assert not [case.id for case in texts if case.text in told]


def test_a_record_of_the_process_log_is_one_line(held: Held, caplog: pytest.LogCaptureFixture):
    _reflect(held.shop, [("Ada tunes.", {"entity_id": case.text}) for case in CASES])
    said = [record.getMessage() for record in [*held.records, *caplog.records]]
    assert any("metadata wins" in line for line in said)
    for line in said:
        assert len(line.splitlines()) == 1 and not HIDDEN.search(line) and "\n" not in line
        assert one_line(line)
