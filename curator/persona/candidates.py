"""Gather what a persona could say: sentences of the sources that stand alone and pass the checks.

Source: docs/spec/persona.md §3, §4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curator.persona import values, words
from curator.persona.antecedents import introduced, leans
from curator.persona.checks import check
from curator.persona.claims import Claim
from curator.persona.directives import directs, reported
from curator.persona.sentences import Rank, standing
from curator.persona.source import Source
from substrate import secrets

if TYPE_CHECKING:
    from curator.persona.similarity import Embed, Matrix

CLAIM_WORDS: Final = 60  # words of one claim at most
QUOTED_CHARS: Final = 500  # characters kept of a sentence that is dropped for its length
CITED: Final = 6  # sources one claim cites at most: the leading one and the newest that say the same
SAME_WORDS: Final = 0.8  # share of a sentence's content words another must hold to say the same
SAME: Final = 0.8  # cosine it must reach as well
PART: Final = 0.6  # likeness at which a sentence that another states in full is one too many
PART_SHARED: Final = 0.4  # the same as overlap of words
PART_WORDS: Final = 2  # content words it must have more than, the entity's name among them
TWINS: Final = 0.92  # cosine at which two sentences are one too many, unless a value tells them apart
TWINS_WORDS: Final = 0.75  # the same as Jaccard of their stems, without an embedder


@dataclass(frozen=True, slots=True)
class Candidate:
    """Hold a sentence fit to be a claim, and the sources that say it, the one it is taken from first.

    A `joint` one rests on all of its sources together, any other on each by itself.
    """

    text: str
    sources: tuple[str, ...]
    rank: Rank
    joint: bool = False

    @property
    def leading(self) -> tuple[str, ...]:
        """Answer the sources it cannot do without."""
        return self.sources if self.joint else self.sources[:1]


def gather(
    sources: Sequence[Source], name: str, other_names: Sequence[str], embed: Embed | None
) -> tuple[list[Candidate], list[tuple[str, str]]]:
    """Answer the candidates, oldest first, and the sentences dropped, each with its reason.

    A sentence that several sources share word for word is one candidate. Credentials are blotted out of the reasons.
    """
    by_id = {source.id: source for source in sources}
    known = introduced(source.text for source in sources)
    found: dict[str, Candidate] = {}
    dropped: dict[tuple[str, str], None] = {}
    for source in sources:
        for sentence in standing(source.text, name):
            text, rank = sentence.text, sentence.rank
            if words.count(text) > CLAIM_WORDS:
                dropped[(secrets.redact(text)[:QUOTED_CHARS], f"runs over {CLAIM_WORDS} words")] = None
                continue
            if directs(text, (name, *other_names)) and (report := reported(text)):
                text, rank = report, Rank.DEFINITE
            if leans(text, known):
                rank = Rank.DEFINITE
            if (twin := found.get(text)) is not None:
                found[text] = Candidate(text, tuple(dict.fromkeys((*twin.sources, source.id))), twin.rank)
                continue
            claim = Claim("", text, (source.id,))
            reason = check(claim, by_id, name=name, other_names=other_names, embed=embed)
            if reason is None:
                found[text] = Candidate(text, (source.id,), rank)
            else:
                dropped[(secrets.redact(text), reason)] = None
    return list(found.values()), list(dropped)


def states(other: str, text: str) -> bool:
    """Tell whether `other` says all that `text` says: its words, its values, its names, its denial."""
    return (
        words.overlap(words.stems(text), words.stems(other)) >= SAME_WORDS
        and values.numbers(text) <= values.numbers(other)
        and values.days(text) <= values.days(other)
        and set(words.names(text)) <= set(words.folded(other))
        and words.negated(text) == words.negated(other)
    )


def twins(one: str, other: str, close: float, embedded: bool) -> bool:
    """Tell whether two sentences say so nearly the same that a portrait wants only one of them."""
    if close < (PART if embedded else PART_SHARED):
        return False
    shorter, longer = sorted((one, other), key=len)
    if len(words.stems(shorter)) > PART_WORDS and states(longer, shorter):
        return True
    near = close >= TWINS if embedded else words.likeness(words.stems(one), words.stems(other)) >= TWINS_WORDS
    return near and _values(one) == _values(other)


def _values(text: str) -> tuple[object, ...]:
    return (values.numbers(text), values.days(text), frozenset(words.names(text)), words.negated(text))


def supported(
    candidates: Sequence[Candidate], chosen: Sequence[int], close: Matrix, embedded: bool
) -> list[tuple[str, ...]]:
    """List for each chosen candidate the sources that say the same, its own among them."""
    floor = SAME if embedded else 0.0
    answer = []
    for at in chosen:
        near = (other for other in (close[at] >= floor).nonzero()[0].tolist() if other != at)
        alone = (candidates[other] for other in near if not candidates[other].joint)
        saying = [one.sources for one in alone if states(one.text, candidates[at].text)]
        answer.append(tuple(dict.fromkeys(id for ids in (candidates[at].sources, *saying) for id in ids)))
    return answer


def cited(leading: Sequence[str], others: Sequence[str], by_id: Mapping[str, Source]) -> tuple[str, ...]:
    """Choose which sources a claim cites: `leading` in any case, then the newest of the others up to CITED."""
    kept = list(dict.fromkeys(leading))
    rest = sorted((id for id in set(others) - set(kept)), key=lambda id: by_id[id].order, reverse=True)
    chosen = rest[: max(0, CITED - len(kept))]
    return (*kept, *sorted(chosen, key=lambda id: by_id[id].order))
