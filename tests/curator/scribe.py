"""Say what a model answers when it writes the claims of a persona, and read what it was shown."""

import json
from collections.abc import Sequence
from typing import Any

from curator.llm.model import Message

Said = str | tuple[str, Sequence[int]] | tuple[str, Sequence[int], str | None]


def answer(*claims: Said) -> dict[str, Any]:
    """Make the answer of a model: a text alone cites item 1; then may follow its items, and the claim it replaces."""
    return {"claims": [_claim(*((said,) if isinstance(said, str) else said)) for said in claims]}


def _claim(text: str, numbers: Sequence[int] = (1,), replaces: str | None = None) -> dict[str, Any]:
    return {"text": text, "sources": list(numbers), "replaces": replaces}


def shown(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Read the elements of the data that a model was shown."""
    data = messages[-1].content
    assert data.startswith("<data>\n") and data.endswith("\n</data>")
    found: list[dict[str, Any]] = json.loads(data.removeprefix("<data>\n").removesuffix("\n</data>"))
    return found


def items(messages: Sequence[Message]) -> list[str]:
    """Give the texts of the items shown, in order."""
    return [element["text"] for element in shown(messages) if "item" in element]


def copied(messages: Sequence[Message]) -> dict[str, Any]:
    """Answer with every item as a claim in its own words: a model that does nothing wrong, and nothing well."""
    return answer(*((element["text"], [element["item"]]) for element in shown(messages) if "item" in element))
