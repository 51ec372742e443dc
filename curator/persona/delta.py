"""Keep what still holds of the last version, and say what no longer does.

Source: docs/spec/persona.md §3 ("Regeneration is a delta").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from curator.persona import retold, words
from curator.persona.candidates import Candidate
from curator.persona.checks import check
from curator.persona.claims import Claim, Draft, Section
from curator.persona.source import Source

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

CHANGES: Final = 6  # changes shown at most, the newest
CHANGES_WORDS: Final = 200  # words of all of them at most


def keep(
    draft: Draft, by_id: Mapping[str, Source], *, name: str, other_names: Sequence[str], embed: Embed | None
) -> Draft:
    """Answer the claims of a draft that still stand, word for word and in their places.

    A claim stands when all its sources are still there and it still passes the checks; a pinned one on its sources.
    """

    def judge(claim: Claim) -> str | None:
        return check(claim, by_id, name=name, other_names=other_names, embed=embed)

    def standing(claims: Sequence[Claim], fault: retold.Judge = judge) -> tuple[Claim, ...]:
        return tuple(
            claim for claim in claims if (by_id.keys() >= set(claim.sources) if claim.pinned else fault(claim) is None)
        )

    sections = (Section(section.heading, standing(section.claims)) for section in draft.sections)
    return Draft(
        standing(draft.summary),
        tuple(section for section in sections if section.claims),
        standing(draft.changed, lambda claim: retold.fault(claim, by_id, judge)),
    )


def pinned(draft: Draft) -> Draft:
    """Answer the pinned claims of a draft, in their places."""

    def held(claims: Sequence[Claim]) -> tuple[Claim, ...]:
        return tuple(claim for claim in claims if claim.pinned)

    sections = (Section(section.heading, held(section.claims)) for section in draft.sections)
    return Draft(held(draft.summary), tuple(section for section in sections if section.claims), held(draft.changed))


def changed(
    kept: Sequence[Claim], pairs: Iterable[tuple[Candidate, Candidate]], by_id: Mapping[str, Source]
) -> list[Claim]:
    """Answer the changes to show: those shown before, then the new (older, newer) pairs, which have no id yet.

    What one newer sentence takes back is one change. Oldest change first; above CHANGES, or above their words, the
    oldest go, pinned ones never. A change too long to be read is told of its latest older ends, or not at all.
    """
    held = [claim for claim in kept if claim.pinned]
    found = {claim.sources[-1]: claim for claim in kept if not claim.pinned}
    taken: dict[str, tuple[Candidate, list[Candidate]]] = {}
    for older, newer in pairs:
        taken.setdefault(newer.text, (newer, []))[1].append(older)
    for newer, ends in taken.values():
        made = retold.tell(ends, newer, by_id)
        if made is not None and all(made.text != claim.text for claim in held):
            found[made.sources[-1]] = made
    newest = sorted(found.values(), key=lambda claim: by_id[claim.sources[-1]].order)[-CHANGES:]
    while sum(words.count(claim.text) for claim in newest) > CHANGES_WORDS:
        newest.pop(0)
    return sorted([*held, *newest], key=lambda claim: by_id[claim.sources[-1]].order)


def change(older: Candidate, newer: Candidate, by_id: Mapping[str, Source]) -> Claim | None:
    """Say that one candidate took the other's place; both ends are dated and cited. It has no id yet."""
    return retold.tell([older], newer, by_id)
