"""Say what a language model is to the curator: messages in, one completion out.

Source: DESIGN §7; docs/spec/persona.md §3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of what a model is given."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered: the text, the JSON in it where a schema was asked for, and the tokens it reports."""

    text: str
    data: Any = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class Model(ABC):
    """A language model.

    ``name`` is ``<provider>/<model>``; ``context_tokens`` is how much it may be given, prompt and answer together.
    """

    name: str
    context_tokens: int = 8_192

    @abstractmethod
    def complete(
        self, messages: Sequence[Message], *, schema: Schema | None = None, timeout_s: float = 120.0
    ) -> Completion:
        """Answer once, within ``timeout_s`` seconds in all; with ``schema`` the answer is JSON of that form.

        Raises NoModel with ``reason``: unreachable, missing, timeout, reset, status, too_large, not_json,
        wrong_schema, form (the same will be asked in another form).
        Nothing is retried and nothing is recorded here; ``calls.ask`` does both.
        """


def tokens(text: str) -> int:
    """Estimate the tokens of a text: a quarter of its bytes of UTF-8, rounded up.

    Every budget and every bound counts so; what a model reports is written down beside it where it reports anything.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)
