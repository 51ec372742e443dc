"""Put a hostile text into a field of an action on an open store, and list what is wrong with what happens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from substrate.actions.registry import call
from substrate.errors import AiMemoryError, Refused
from substrate.home import Memory
from substrate.secrets import find
from tests.curator.workshop import Workshop, opened
from tests.inputs.cases import Case
from tests.inputs.fields import BASES, Field, Takes, refused


@dataclass(frozen=True)
class Attempt:
    """What became of one text in one field."""

    field: Field
    case: Case
    accepted: bool
    wrong: tuple[str, ...]


@contextmanager
def prepared(folder: Path) -> Iterator[Workshop]:
    """Open a store that holds what the calls of BASES speak of."""
    with opened(folder) as shop:
        call(shop.memory, "who_add", {"kind": "agent", "handle": "scout"})
        call(shop.memory, "space_add", {"path": "team/a"})
        call(shop.memory, "space_add", {"path": "projects/ann/a"})
        call(shop.memory, "entity_add", {"entity": "Bea"})
        call(shop.memory, "entity_add", {"entity": "Ada"})
        shop.reflect("Ada repairs church organs in three valleys.")
        shop.reflect("Ada teaches two apprentices on Fridays.")
        shop.generate()
        yield shop


def base_of(field: Field, shop: Workshop) -> dict[str, Any]:
    """Give the arguments that the field's action is called with, every id in them that of a row of this store."""
    base = BASES[field.action]
    known = {name: shop.observe(f"Noted: {name}.").id for name in _names(base)}
    filled: dict[str, Any] = json.loads(json.dumps(base))
    for name, value in filled.items():
        if isinstance(value, str):
            filled[name] = value.format_map(known)
        elif name == "sources" and isinstance(value[0], str):
            filled[name] = [item.format_map(known) for item in value]
    return filled


def _names(base: Mapping[str, Any]) -> set[str]:
    return {name for name in ("observation", "other", "spare") if f"{{{name}}}" in json.dumps(base)}


def attempt(shop: Workshop, field: Field, base: Mapping[str, Any], case: Case) -> Attempt:
    """Make one call with the text in the field."""
    memory = shop.memory
    before = _events(memory)
    error: Exception | None = None
    answer: Any = None
    try:
        answer = call(memory, field.action, field.call(base, case.text))
    except Exception as raised:
        error = raised
    wrong: list[str] = []
    expected = refused(field, case.text, bool(_credential(case.text)))
    if error is not None:
        wrong += _refusal(error, case)
        if _events(memory) != before and not recorded(error):
            wrong.append("refused, but an event was written")
        if expected is False and getattr(error, "code", "") not in ("conflict", "refused", "not_found"):
            wrong.append(f"refused: {error}")
    else:
        wrong += _answer(answer)
        if expected:
            wrong.append("accepted")
        if field.takes is Takes.REPORT and answer.get("ok") is not False:
            wrong.append("not reported")
    return Attempt(field, case, error is None, tuple(wrong))


def recorded(error: Exception) -> bool:
    """Tell whether it is one of the refusals that the log itself keeps: a persona that there is nothing to say in."""
    return isinstance(error, Refused) and error.details.get("reason") == "no_reflections"


def _events(memory: Memory) -> int:
    with memory.read() as r:
        return r.head.sequence


def _credential(text: str) -> list[Any]:
    return [finding for finding in find(text) if finding.kind != "pii"]


def _refusal(error: Exception, case: Case) -> Iterator[str]:
    """List what is wrong: an error is typed, has a hint, and shows the text harmless, briefly, without secrets."""
    if not isinstance(error, AiMemoryError) or error.code == "error":
        yield f"unforeseen {type(error).__name__}: {error}"
        return
    if not error.hint:
        yield f"no hint: {error.message}"
    for text in (error.message, error.hint):
        if len(text) > 700:
            yield f"{len(text)} characters of message"
        if any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 for char in text):
            yield f"a control character in {text!a:.200}"
        if any(char in text for char in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff\u2028"):
            yield f"an invisible character in {text!a:.200}"
        if case.number in ("67", "68", "71") and case.text in text:
            yield "the credential itself in the message"
    try:
        json.dumps(error.as_json(), allow_nan=False).encode()
    except (TypeError, ValueError) as fault:
        yield f"no JSON: {fault}"


def _answer(answer: Any) -> Iterator[str]:
    try:
        text = json.dumps(answer, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError) as fault:
        yield f"no JSON: {fault}"
