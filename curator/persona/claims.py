"""Hold a draft: what the persona says, as data, before any Markdown.

Source: docs/spec/persona.md §3.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """State one thing about the entity and the ids of the reflections it rests on, the leading one first."""

    id: str
    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Group claims under a heading, oldest first."""

    heading: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """Hold a whole portrait: the claims on top, the sections, and what changed."""

    summary: tuple[Claim, ...] = ()
    sections: tuple[Section, ...] = ()
    changed: tuple[Claim, ...] = ()

    def claims(self) -> Iterator[Claim]:
        """Yield every claim in reading order."""
        yield from self.summary
        for section in self.sections:
            yield from section.claims
        yield from self.changed


@dataclass(frozen=True, slots=True)
class Previous:
    """Hold the last version: what it said, and the ids of all reflections it was made from, cited or not."""

    draft: Draft
    sources: frozenset[str]


@dataclass(frozen=True, slots=True)
class Composition:
    """Hold a new draft and how it came about.

    `clusters` counts the communities among the sources; `sources_used` the sources with at least one sentence that
    passed the checks and so competed for a place; `dropped` the sentences that did not, each with the reason;
    `words` is the body without footnotes, and `short` says it stays under 300 because the sources hold no more.
    """

    draft: Draft
    clusters: int
    sources_total: int
    sources_used: int
    dropped: tuple[tuple[str, str], ...]
    short: bool
    words: int
