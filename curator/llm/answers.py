"""Read what a model answered as JSON of one form; anything else is an answer that cannot be used.

Source: DESIGN §7; docs/concepts/models.md.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from curator.llm.model import Completion, Schema
from substrate import limits
from substrate.errors import NoModel
from substrate.escape import quote

_THOUGHT = ("<think>", "</think>")
_FENCE = "```"
_COUNTS = 2**31


def completed(
    text: str,
    schema: Schema | None,
    *,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    cut: bool = False,
) -> Completion:
    """Make the completion of an answer, its JSON read where a schema was asked for; ``cut`` says that it has no end.

    Raises NoModel with ``reason`` not_json or wrong_schema, and with the tokens that were spent on it.
    """
    input_tokens, output_tokens = believed(input_tokens), believed(output_tokens)
    spent = {"output_chars": len(text), "input_tokens": input_tokens, "output_tokens": output_tokens}
    if cut and schema is not None:
        raise NoModel(
            f"the model's answer was cut off after {len(text)} characters: {quote(text)}",
            hint="raise context_tokens in [models] of config.toml, or choose a larger model: small ones find no end",
            reason="not_json",
            **spent,
        )
    return Completion(text, read(text, schema, **spent) if schema is not None else None, input_tokens, output_tokens)


def believed(count: object) -> int | None:
    """Give a count that a server told where it can be one, else None."""
    return count if type(count) is int and 0 <= count < _COUNTS else None


def read(text: str, schema: Schema, **details: object) -> Any:
    """Return the one JSON value of an answer that fits the schema.

    The value is the whole answer, or what its only fence holds, or what begins at its first brace and ends with it;
    what a model thought aloud before (``<think>``) is passed over. Nothing is mended: a key given twice, a number that
    is none, half a character and depth beyond `limits.ANSWER_DEPTH` are refused.
    """
    try:
        value = _value(text)
        _check(value)
    except (ValueError, RecursionError) as error:
        told = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise NoModel(
            f"the model's answer is not JSON ({told[:200]}): {quote(text)}",
            hint="choose a model that follows a JSON schema",
            reason="not_json",
            **details,
        ) from error
    fault = _misfit(value, schema)
    if fault:
        raise NoModel(
            f"the model's answer has another form than asked for: {fault}",
            hint="choose a model that follows a JSON schema",
            reason="wrong_schema",
            **details,
        )
    return value


def _value(text: str) -> Any:
    said = text.removeprefix("\ufeff").strip()
    if said.startswith(_THOUGHT[0]):
        said = (said.partition(_THOUGHT[1])[2] or said).strip()
    fences = list(_fenced(said))
    begin = re.search(r"[{\[]", said)
    if begin is None:
        raise ValueError("there is none in it")
    if begin.start() == 0 or not fences:
        return _DECODER.decode(said[begin.start() :])
    if len(fences) > 1:
        raise ValueError("there are several fences in it")
    return _DECODER.decode(fences[0].strip())


def _fenced(text: str) -> Iterator[str]:
    """Yield what stands between lines of three backticks, the first of which may say ``json``."""
    inside: list[str] | None = None
    for line in text.split("\n"):
        mark = line.rstrip(" \t\r").lower()
        if inside is None:
            inside = [] if mark in (_FENCE, f"{_FENCE}json") else None
        elif mark == _FENCE:
            yield "\n".join(inside)
            inside = None
        else:
            inside.append(line)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text[:40])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)


def _check(value: Any) -> None:
    """Refuse depth and half characters, level by level."""
    level = [value]
    for _ in range(limits.ANSWER_DEPTH + 1):
        texts = [item for item in level if isinstance(item, str)]
        texts += [key for item in level if isinstance(item, dict) for key in item]
        if re.search("[\ud800-\udfff]", "".join(texts)):
            raise ValueError("a text holds half a character")
        nested = [item for item in level if isinstance(item, dict | list)]
        if not nested:
            return
        level = [inner for item in nested for inner in (item.values() if isinstance(item, dict) else item)]
    raise ValueError("nested too deep")


def _misfit(value: Any, schema: Schema) -> str:
    """Say where a value leaves the schema, in one line; empty when it does not."""
    from jsonschema import Draft202012Validator  # a tenth of a second, for those who ask a model alone
    from jsonschema.exceptions import best_match

    fault = best_match(Draft202012Validator(dict(schema)).iter_errors(value))
    return f"{quote(fault.json_path)}: {quote(fault.message, 200)}" if fault else ""
