"""Check what is asked, and say which documents it is asked of."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, replace
from typing import Any

from substrate import limits
from substrate.errors import Invalid
from substrate.escape import quote
from substrate.identifiers import check_limit, check_text, check_time
from substrate.memory.draft import MEMORY_TYPES
from substrate.memory.memories import KINDS
from substrate.recall.corpus import Corpus
from substrate.recall.documents import member, microseconds
from substrate.recall.segment import Bools
from substrate.scopes import access, namespaces
from substrate.scopes.caller import Caller
from substrate.store.transaction import Reader

ARMS = ("lexical", "vector", "graph", "entity", "time")
STATUSES = ("active", "superseded", "retired")


@dataclass(frozen=True, kw_only=True)
class Question:
    """Hold a query and what limits its answer, as `recall` takes them.

    Checked when it is made: raises Invalid naming the field. A choice that is empty stands for all there is.
    """

    query: str
    namespace: str | None = None
    kinds: Collection[str] = ()
    types: Collection[str] = ()
    statuses: Collection[str] = ("active",)
    as_of: str | None = None
    known_at: str | None = None
    max_hits: int | None = None
    min_score: float = limits.RECALL_MIN_SCORE
    chars: int | None = None
    tokens: int | None = None
    arms: Collection[str] = ARMS

    def __post_init__(self) -> None:
        check_text("query", self.query, 4 * limits.QUERY_CHARS)
        if len(self.query) > limits.QUERY_CHARS:
            raise Invalid(
                f"the query has {len(self.query):,} characters, at most {limits.QUERY_CHARS:,}",
                hint="ask in a sentence or two",
                fields={"query": "too_long"},
            )
        for field, choices in (("kinds", KINDS), ("types", MEMORY_TYPES), ("statuses", STATUSES), ("arms", ARMS)):
            _check_choices(field, getattr(self, field), choices)
        for field in ("as_of", "known_at"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, check_time(field, getattr(self, field)))
        score = self.min_score
        if isinstance(score, bool) or not isinstance(score, int | float) or not -1 <= score <= 1:
            raise Invalid(f"{quote(score)} is no cosine", hint="a number from -1 to 1", fields={"min_score": "range"})
        object.__setattr__(self, "statuses", frozenset(self.statuses or STATUSES))
        self._check_budget()

    def _check_budget(self) -> None:
        """Check what bounds the answer; a budget in tokens is looked for among all hits there may be."""
        usual, chars = limits.RECALL_DEFAULT, limits.RECALL_CHARS
        if self.tokens is not None:
            if self.chars is not None:
                raise Invalid(
                    "a budget is in tokens or in characters", hint="give one of them", fields={"chars": "both"}
                )
            tokens = check_limit(self.tokens, field="tokens", most=limits.RECALL_TOKENS_MAX)
            object.__setattr__(self, "tokens", tokens)
            usual = limits.RECALL_MAX
        hits = check_limit(self.max_hits, field="max_hits", default=usual, most=limits.RECALL_MAX)
        object.__setattr__(self, "max_hits", hits)
        room = check_limit(self.chars, field="chars", default=chars, most=limits.RECALL_CHARS_MAX)
        object.__setattr__(self, "chars", room)


@dataclass(frozen=True)
class Readership:
    """Hold who asks, the namespaces it may read, and the question: together they pick the documents looked at."""

    caller: Caller
    paths: frozenset[str]
    question: Question

    @property
    def key(self) -> Hashable:
        """Name the documents it is asked of: equal keys pick equal documents of any corpus."""
        asked = self.question
        return self.caller, self.paths, asked.namespace, asked.statuses, asked.known_at, asked.as_of

    def known(self, corpus: Corpus, places: Any = slice(None)) -> Bools:
        """Tell which documents, of all or of those at some places, the caller may read and the question is about.

        It is about those of its namespace, statuses and times. All statistics are taken over these, whatever kinds and
        types are wanted as hits.
        """
        asked = self.question
        known = corpus.where("partition", self._readable, places)
        if asked.known_at is None:
            known &= corpus.where("status", lambda status: status in asked.statuses, places)
        else:
            moment = microseconds(asked.known_at)
            known &= (corpus.column("created")[places] <= moment) & (moment < corpus.column("ended")[places])
        if asked.as_of is not None:
            moment = microseconds(asked.as_of)
            known &= (corpus.column("valid_from")[places] <= moment) & (moment < corpus.column("valid_until")[places])
        return known

    def wanted(self, corpus: Corpus, places: Any) -> Bools:
        """Tell which documents at some places may be hits."""
        asked = self.question
        return corpus.where("kind", lambda kind: not asked.kinds or kind in asked.kinds, places) & corpus.where(
            "type", lambda type_: not asked.types or type_ in asked.types, places
        )

    def _readable(self, partition: str) -> bool:
        row = member(partition)
        return self.question.namespace in (None, row.namespace) and access.visible(row, self.caller, self.paths)


def readership(r: Reader, caller: Caller, question: Question) -> Readership:
    """Return who reads what for a question. Raises NotFound for a namespace the caller may not read."""
    if question.namespace is not None:
        path = namespaces.resolve(r, question.namespace)
        access.check(r, caller, "read_curated", path)
        question = replace(question, namespace=path)
    return Readership(caller, access.readable(r, caller), question)


def _check_choices(field: str, given: Collection[str], choices: Collection[str]) -> None:
    if isinstance(given, str) or not isinstance(given, Collection):
        raise Invalid(f"{quote(given)} is no list", hint=f"a list of {', '.join(choices)}", fields={field: "type"})
    for value in given:
        if value not in choices:
            raise Invalid(
                f"{quote(value)} is none of {field}", hint=f"one of: {', '.join(choices)}", fields={field: "choice"}
            )
