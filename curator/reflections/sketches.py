"""Put statements together as reflections: what belongs together, without repeats, under a title.

Source: docs/spec/reflections.md §3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from curator.persona import changes, headings, similarity, words
from curator.persona.candidates import Candidate, states, twins
from curator.persona.cluster import communities
from curator.persona.sentences import Rank
from curator.persona.source import Source
from curator.reflections.statements import About, Dropped, Observed, Statement, statements
from substrate import limits, secrets

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

SENTENCES: Final = 4  # sentences of one reflection at most
TITLE_WORDS: Final = 8  # words of the first sentence that are its title where nothing names what is in it


_SHORT = re.compile(r"\b\w+['’](?:ll|ve|re|d|m|t)\b", re.IGNORECASE)
_OPENING = re.compile(r"(?:^|(?<=[.!?…]\s))\w(?=[^\W\d_]*[a-z])")


@dataclass(frozen=True, slots=True)
class Sketch:
    """Hold a reflection before it is written; ``valid_from`` where all its sources are of one day."""

    title: str
    text: str
    sources: tuple[str, ...]
    valid_from: str | None


@dataclass(frozen=True, slots=True)
class Drafted:
    """What came of a set of observations: reflections, and what was dropped."""

    sketches: tuple[Sketch, ...]
    dropped: tuple[Dropped, ...]


def draft(observed: Sequence[Observed], about: About, embed: Embed | None) -> Drafted:
    """Draft reflections from the observations' own sentences, given oldest first; the same rows give the same draft."""
    try:
        by_id = {one.source.id: one.source for one in observed}
        found: list[Statement] = []
        dropped: list[Dropped] = []
        for one in observed:
            taken, left = statements(one, about)
            found += taken
            dropped += left
        alone = _changing(found, about, by_id, embed)
        merged = _merge([one for one in found if one not in alone], about, by_id, embed)
        groups = [[one] for one in alone]
        groups += [part for group in _groups(merged, about, by_id, embed) for part in _parts(group, by_id)]
        groups.sort(key=lambda group: [by_id[id].order for one in group for id in one.sources])
        titles = name(groups, about)
        made = [sketch(title, group, by_id) for title, group in zip(titles, groups, strict=True)]
        unfit = [one for one in made if secrets.find(f"{one.title}\n{one.text}")]
        dropped += [Dropped(one.sources[0], secrets.redact(one.text), "carries a credential") for one in unfit]
        return Drafted(tuple(one for one in made if one not in unfit), tuple(dropped))
    finally:
        words.forget()


def sketch(title: str, group: Sequence[Statement], by_id: Mapping[str, Source]) -> Sketch:
    """Make one reflection of statements; its sources oldest first."""
    ids = sorted({id for one in group for id in one.sources}, key=lambda id: by_id[id].order)
    return Sketch(title, " ".join(one.text for one in group), tuple(ids), agreed(by_id[id] for id in ids))


def agreed(sources: Iterable[Source]) -> str | None:
    """Answer the latest date of sources that are all of one day, else None."""
    dates = [source.date for source in sources]
    return max(dates) if len({date[:10] for date in dates}) == 1 else None


def name(groups: Sequence[Sequence[Statement]], about: About) -> list[str]:
    """Name each group after what its statements speak of and the others do not, else by how it begins."""
    texts = [[_bare(one, about) for one in group] for group in groups]
    grammar = headings.learn([text for held in texts for text in held], about.display)
    titles = []
    for at, held in enumerate(texts):
        others = [text for place, other in enumerate(texts) if place != at for text in other]
        title = headings.name_section(held, others, grammar)
        if title == headings.FALLBACK:
            title = " ".join(held[0].split()[:TITLE_WORDS]).rstrip(".,;:!")
            title = title[:1].upper() + title[1:]
        titles.append(title[: limits.TITLE_CHARS])
    return titles


def _bare(one: Statement, about: About) -> str:
    """Answer what is said in a quotation, so that a title names that; a capital at its beginning is no name."""
    if not one.quoted:
        return one.text
    said = one.text.removeprefix(f"{about.display} said, “").removesuffix("”")
    return _OPENING.sub(lambda match: match[0].lower(), _SHORT.sub(" ", said))


def _changing(
    found: Sequence[Statement], about: About, by_id: Mapping[str, Source], embed: Embed | None
) -> list[Statement]:
    """Pick what takes something back, and what is taken back.

    Each is a reflection by itself: it needs the date of its own source, which one on several days has not.
    """
    close = similarity.matrix([one.text for one in found], embed, words.stems(about.display))
    pool = [Candidate(one.text, one.sources, Rank.NAMED) for one in found]
    pairs = changes.find(pool, close, embed is not None, about.display, by_id)
    return [found[at] for at in sorted({at for pair in pairs for at in pair})]


def _merge(
    found: Sequence[Statement], about: About, by_id: Mapping[str, Source], embed: Embed | None
) -> list[Statement]:
    """Make one of statements that say the same: the one that says all, else the newest; all their sources."""
    close = similarity.matrix([one.text for one in found], embed, words.stems(about.display))
    kept: dict[int, Statement] = {}
    for at, one in enumerate(found):
        twin = next((k for k in kept if twins(found[k].text, one.text, float(close[k, at]), embed is not None)), None)
        if twin is None:
            kept[at] = one
            continue
        before = kept.pop(twin)
        sources = sorted({*before.sources, *one.sources}, key=lambda id: by_id[id].order)
        if len(sources) > limits.REFLECT_SOURCES:
            kept[twin] = before
            continue
        wins = before if states(before.text, one.text) and len(before.text) > len(one.text) else one
        kept[twin if wins is before else at] = replace(wins, sources=tuple(sources))
    return [kept[at] for at in sorted(kept)]


def _groups(
    found: Sequence[Statement], about: About, by_id: Mapping[str, Source], embed: Embed | None
) -> list[list[Statement]]:
    """Group statements that speak of the same; those of one observation are drawn together."""
    close = similarity.matrix([one.text for one in found], embed, words.stems(about.display))
    nodes = [
        replace(by_id[one.sources[0]], id=str(at), ancestors=frozenset(one.sources)) for at, one in enumerate(found)
    ]
    clusters = communities(nodes, close, embed is not None)
    return [[found[int(id)] for id in sorted(cluster.members, key=int)] for cluster in clusters]


def _parts(group: Sequence[Statement], by_id: Mapping[str, Source]) -> list[list[Statement]]:
    """Cut a group by day, and a day into parts of at most SENTENCES, oldest first, as even as can be.

    So a reflection says since when it holds; what was said on several days alone has no day.
    """
    days: dict[str, list[Statement]] = {}
    for one in sorted(group, key=lambda one: by_id[one.sources[0]].order):
        days.setdefault(" ".join(sorted({by_id[id].day for id in one.sources})), []).append(one)
    parts = []
    for held in days.values():
        count = -(-len(held) // SENTENCES)
        parts += [held[len(held) * part // count : len(held) * (part + 1) // count] for part in range(count)]
    return parts
