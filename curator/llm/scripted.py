"""A model that says what a test wrote down for it, and keeps what it was asked.

Source: DESIGN §7.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curator.llm import answers
from curator.llm.model import Completion, Message, Model, Schema, tokens

Answer = str | Mapping[str, Any] | BaseException
"""What it says, as text or as a value to be written as JSON; an exception is raised."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One call: what stood in it."""

    messages: tuple[Message, ...]
    schema: Schema | None
    timeout_s: float


class Scripted(Model):
    """A model for tests: it answers from a list, one answer a call, or from a function of the messages.

    ``asked`` holds every call, oldest first. A list that is used up raises RuntimeError.
    """

    def __init__(
        self,
        script: Iterable[Answer] | Callable[[Sequence[Message]], Answer],
        *,
        name: str = "scripted/model",
        context_tokens: int = Model.context_tokens,
    ) -> None:
        self.name, self.context_tokens = name, context_tokens
        self.asked: list[Asked] = []
        self._script = script if callable(script) else iter(script)

    def complete(
        self, messages: Sequence[Message], *, schema: Schema | None = None, timeout_s: float = 120.0
    ) -> Completion:
        """Give the next answer, read and checked as that of any other model."""
        self.asked.append(Asked(tuple(messages), schema, timeout_s))
        said = self._script(messages) if callable(self._script) else next(self._script, None)
        if said is None:
            raise RuntimeError(f"{self.name} was asked {len(self.asked)} times, and has no answer left")
        if isinstance(said, BaseException):
            raise said
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        given = sum(tokens(message.content) for message in messages)
        return answers.completed(text, schema, input_tokens=given, output_tokens=tokens(text))
