"""Hold a draft: what the persona says, as data, before any Markdown.

Source: docs/spec/persona.md §3.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """State one thing about the entity and the ids of the reflections it rests on, the leading one first.

    A ``pinned`` claim stays word for word until it is unpinned or one of its sources goes.
    """

    id: str
    text: str
    sources: tuple[str, ...]
    pinned: bool = False


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
    """Hold the last version: what it said, and the ids of all reflections that were read for it, cited or not."""

    draft: Draft
    sources: frozenset[str]


@dataclass(frozen=True, slots=True)
class Composition:
    """Hold a new draft and how it came about.

    `clusters` counts the communities among the sources; `sources_used` the sources with at least one sentence that
    passed the checks and so competed for a place; `dropped` the sentences that did not, each with the reason;
    `words` is the body without footnotes, and `short` says it stays under 300 because the sources hold no more.
    Where a model writes, `sources_used` are those it or an earlier version was shown, `unseen` the ids of the others,
    and `dropped` are claims of the `offered` that did not pass.
    """

    draft: Draft
    clusters: int
    sources_total: int
    sources_used: int
    dropped: tuple[tuple[str, str], ...]
    short: bool
    words: int
    offered: int = 0
    unseen: tuple[str, ...] = ()
