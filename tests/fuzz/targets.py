"""Every parser with what has to hold for any bytes, and bytes to start from.

A target is given bytes and returns whether they were taken; it raises nothing but AssertionError, and that is a find.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from audit import anchor, canonical, checkpoint, event, independent, proof
from audit.errors import AiMemoryError
from audit.export import verify_export
from cli import mcp_wire
from cli.door import json_value
from curator.llm import answers
from curator.persona import markdown, prompt
from substrate import config, escape, identifiers
from substrate.recall import container
from substrate.scopes import paths
from substrate.secrets import find, redact
from tests.audit.logs import Log, key
from tests.audit.test_export import EXPORTS
from tests.audit.test_proof import PROOF

Run = Callable[[bytes], bool]
NOW = "2026-05-14T09:30:00.000000Z"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Target:
    """A parser, and inputs it takes."""

    run: Run
    seeds: tuple[bytes, ...]


def text_of(data: bytes) -> str:
    """Give any bytes as text, lone surrogates included."""
    return data.decode("utf-8", "surrogateescape")


def canonical_json(data: bytes) -> bool:
    try:
        value = canonical.decode(data)
    except AiMemoryError:
        return False
    assert canonical.encode(value) == data
    return True


def event_body(data: bytes) -> bool:
    try:
        found = event.parse(data)
    except AiMemoryError:
        assert _other(independent.read_event, data) is False
        return False
    assert event.body(found) == data and _other(independent.read_event, data)
    return True


def _other(read: Callable[[bytes], object], data: bytes) -> bool:
    try:
        read(data)
    except (independent.Rejected, ValueError, TypeError, RecursionError):  # what its verify takes for a reason
        return False
    return True


def note(data: bytes) -> bool:
    try:
        found = checkpoint.parse(text_of(data), None)
    except AiMemoryError:
        return False
    assert found.size >= 0 and len(found.root) == 32
    assert found.text() == "".join(f"{line}\n" for line in text_of(data).split("\n")[:3])
    return True


def proof_text(data: bytes) -> bool:
    verdict = proof.check(data)
    assert verdict.ok == (not verdict.reasons)
    return verdict.ok


def export_lines(data: bytes) -> bool:
    lines = data.splitlines(keepends=True)
    faults, _ = verify_export(lines)
    assert (faults == []) == (independent.verify(lines) == "")
    return not faults


def anchor_text(data: bytes) -> bool:
    try:
        anchor.from_document(canonical.decode(data))
    except AiMemoryError:
        return False
    return True


def persona_markdown(data: bytes) -> bool:
    try:
        found = markdown.parse(text_of(data))
    except AiMemoryError:
        return False
    assert all(1 <= number <= len(found.footnotes) for claim in found.claims for number in _numbers(claim, found))
    return True


def _numbers(claim: markdown.ParsedClaim, found: markdown.ParsedPersona) -> list[int]:
    return [found.footnotes.index(source) + 1 for source in claim.sources]


def settings(data: bytes) -> bool:
    with TemporaryDirectory() as folder:
        path = Path(folder) / config.FILE
        path.write_bytes(data)
        path.chmod(0o600)
        try:
            found = config.read(Path(folder))
        except AiMemoryError as error:
            assert error.hint
            return False
        config.write(Path(folder), found)
        assert config.read(Path(folder)) == found
    return True


def wire(data: bytes) -> bool:
    lines = mcp_wire.Lines()
    taken = False
    for line in [*lines.cut(data), lines.rest()]:
        if line is None:
            continue
        try:
            message = mcp_wire.parse(line)
        except mcp_wire.Fault as fault:
            json.dumps(fault.id, allow_nan=False).encode()
            continue
        taken |= message is not None
    return taken


def answer(data: bytes) -> bool:
    try:
        found = answers.read(text_of(data), prompt.schema())
    except AiMemoryError:
        return False
    assert found.keys() == {"claims"}
    return True


def json_argument(data: bytes) -> bool:
    try:
        json_value(text_of(data), "metadata")
    except AiMemoryError:
        return False
    return True


def index_file(data: bytes) -> bool:
    try:
        container.decode(data, b"k" * 32, "segment", "a file")
    except container.Damaged:
        return False
    return True


def names(data: bytes) -> bool:
    """Times, ids, paths, names, tags: taken once, they are taken as they are."""
    text, taken = text_of(data), False
    for check in (
        lambda t: identifiers.check_time("at", t, NOW),
        identifiers.check_entity_id,
        identifiers.check_namespace,
        identifiers.check_name,
        identifiers.check_tag,
        lambda t: identifiers.check_line("title", t),
        paths.parse,
    ):
        try:
            found = check(text)
        except AiMemoryError as error:
            assert error.hint and not CONTROL.search(error.message + error.hint) and len(error.message) < 400
            continue
        taken = True
        assert check(found) == found
    assert identifiers.fold(identifiers.fold(text)) == identifiers.fold(text)
    return taken


def shown(data: bytes) -> bool:
    """Every renderer takes every text, and what it writes is harmless; what can be read back is the text."""
    text = text_of(data)
    for show in (escape.terminal, escape.line, escape.log_line, escape.html, escape.markdown, escape.csv_cell):
        assert not CONTROL.search(show(text).replace("\t", ""))
        show(text).encode()
    assert "\n" not in escape.log_line(text) + escape.line(text) + escape.markdown(text)
    assert escape.unescape_markdown(escape.markdown(text)) == escape.one_line(text)
    escape.unescape_markdown(text)
    assert re.fullmatch(r"[A-Za-z0-9%_~][A-Za-z0-9%._~-]{0,199}", escape.filename(text))
    (item,) = json.loads(escape.json_data([{"text": text}])[0])
    assert item.keys() == {"text"}
    if not re.search("[\ud800-\udfff]", text):
        front = escape.yaml_front_matter({"title": text, "all": [text], "end": True})
        assert yaml.safe_load(front.removeprefix("---\n").removesuffix("---\n")) == {
            "title": text,
            "all": [text],
            "end": True,
        }
    assert escape.terminal(escape.terminal(text)) == escape.terminal(text)
    return True


def secret(data: bytes) -> bool:
    text = text_of(data)
    found = find(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert not found or redact(text, {one.kind for one in found}) != text
    return not found


_LOG = Log(key(1)).fill(3)
_WORDS = (
    "2026-05-14",
    "2026-05-14T09:30:00.5+02:00",
    "Ada",
    "projects/ann/site",
    "team/a.b",
    "a-name",
    "é\u0301ⅷ",
    "x\u202ey",
)
_TEXTS = (
    "a",
    "[^1]: x",
    "a\n---\nb: c",
    "<b>",
    "😀\u200d\u2640",
    "\x1b[0m",
    "k: !x",
    "ghp_" + "a1B2c3" * 6,
    "4111111111111111",
)
_NOTES = "[^1]: mem-1 — a (2026-05-14)\n[^2]: mem-2 — b (2026-05-15)\n"
_PERSONA = f"# Ada\n\n## Work\nAda sails.[^1] Ada\\* rows.[^1][^2]\n\n{_NOTES}"
_WIRE = (
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","method":"x","params":{"a":[1.5,null]}}',
    b"[]\n{}\n",
)

TARGETS: Mapping[str, Target] = {
    "canonical": Target(canonical_json, (b'{"a":[1,true,null,"\\n"],"b":{}}', b"[]", b"-7", '"é"'.encode())),
    "event": Target(event_body, tuple(body for _, body, _, _ in _LOG.rows)),
    "note": Target(note, (_LOG.note().encode(), Log(None).note().encode())),
    "proof": Target(proof_text, (PROOF.encode(),)),
    "export": Target(export_lines, tuple(b"".join(EXPORTS[name]) for name in ("one event", "unsigned"))),
    "anchor": Target(anchor_text, (canonical.encode(json.loads(EXPORTS["anchored"][0])["anchor"]),)),
    "persona": Target(persona_markdown, (_PERSONA.encode(),)),
    "settings": Target(
        settings, (b'principal = "hum-1"\ntier = "smart"\n[models]\npersona = "cheap"\ncalls_per_day = 3\n', b"")
    ),
    "wire": Target(wire, _WIRE),
    "answer": Target(
        answer, (b'{"claims": [{"text": "a", "sources": [1], "replaces": null}]}', b'```json\n{"claims": []}\n```')
    ),
    "argument": Target(json_argument, (b'{"a": [1, 1e3, "x"], "b": null}',)),
    "index": Target(index_file, (container.encode(b"k" * 32, "segment", {"a": 1}, {}),)),
    "names": Target(names, tuple(word.encode() for word in _WORDS)),
    "shown": Target(shown, tuple(text.encode() for text in _TEXTS)),
    "secret": Target(secret, tuple(text.encode() for text in _TEXTS)),
}
