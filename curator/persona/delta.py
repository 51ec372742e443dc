"""Keep what still holds of the last version, and say what no longer does.

Source: docs/spec/persona.md §3 ("Regeneration is a delta").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from curator.persona import words
from curator.persona.candidates import Candidate
from curator.persona.checks import check
from curator.persona.claims import Claim, Draft, Section
from curator.persona.source import Source

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

CHANGES: Final = 4  # changes shown at most, the newest
CHANGE_WORDS: Final = 50  # words of one change at most


def keep(
    draft: Draft, by_id: Mapping[str, Source], *, name: str, other_names: Sequence[str], embed: Embed | None
) -> Draft:
    """Answer the claims of a draft that still stand, word for word and in their places.

    A claim stands when all its sources are still there and it still passes the checks.
    """

    def standing(claims: Sequence[Claim]) -> tuple[Claim, ...]:
        return tuple(
            claim for claim in claims if check(claim, by_id, name=name, other_names=other_names, embed=embed) is None
        )

    sections = (Section(section.heading, standing(section.claims)) for section in draft.sections)
    return Draft(
        standing(draft.summary),
        tuple(section for section in sections if section.claims),
        standing(draft.changed),
    )


def changed(
    kept: Sequence[Claim], pairs: Iterable[tuple[Candidate, Candidate]], by_id: Mapping[str, Source]
) -> list[tuple[str, tuple[str, ...]]]:
    """Answer text and sources of each change: those shown before, then the new (older, newer) pairs.

    Of several that one newer sentence takes back the latest is shown. Oldest change first; above CHANGES the oldest
    go. A pair too long to be read is not shown.
    """
    found = {claim.sources[-1]: (claim.text, claim.sources) for claim in kept}
    for older, newer in pairs:
        before, after = by_id[older.sources[0]], by_id[newer.sources[0]]
        text = f"On {before.spoken_date()}: {older.text} On {after.spoken_date()}: {newer.text}"
        if words.count(text) <= CHANGE_WORDS:
            found[after.id] = (text, (before.id, after.id))
    newest = sorted(found, key=lambda id: by_id[id].order)[-CHANGES:]
    return [found[id] for id in newest]
