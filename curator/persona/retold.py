"""Tell that something changed: its ends in order, each with its day and in its sources' own words.

Source: docs/spec/persona.md §3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from curator.persona import turns, words
from curator.persona.candidates import Candidate
from curator.persona.claims import Claim
from curator.persona.directives import content, reported
from curator.persona.excerpts import CUT, excerpt
from curator.persona.sentences import sentences
from curator.persona.source import MONTHS, Source

CHANGE_WORDS: Final = 80  # words of one change at most
THEN: Final = "Then: "  # before the newer end where both are of one day
END_WORDS: Final = 24  # words of one end of it at most; a longer sentence is cut to the clauses that matter

Judge = Callable[[Claim], str | None]
"""Answers why a claim may not stand, or None."""

_DATED = re.compile(rf"(?:^|(?<=\s))On (\d{{1,2}} (?:{'|'.join(MONTHS)}) \d{{4}}): ")


def tell(olders: Sequence[Candidate], newer: Candidate, by_id: Mapping[str, Source]) -> Claim | None:
    """Say that a candidate took the place of others, without an id; None where that cannot be said shortly.

    The oldest ends are left out where all would be too many words.
    """
    ends = sorted(olders, key=lambda end: _latest(end, by_id).order)
    made = (_told(ends[at:], newer, by_id) for at in range(len(ends)))
    return next((claim for claim in made if claim and words.count(claim.text) <= CHANGE_WORDS), None)


def fault(claim: Claim, by_id: Mapping[str, Source], judge: Judge) -> str | None:
    """Answer why a change may not stand, or None.

    It stands when each of its ends is told word for word by a cited source of that day, in a sentence that might be a
    claim itself; one that is in other words is judged as any claim.
    """
    held = [_told_by(date, piece, claim, by_id) for date, piece in _pieces(claim.text)]
    if not held or None in held or not by_id.keys() >= set(claim.sources):
        return judge(claim)
    return next((reason for told in held if told and (reason := judge(told))), None)


def _told(olders: Sequence[Candidate], newer: Candidate, by_id: Mapping[str, Source]) -> Claim | None:
    """Put the ends in order of time, each cut to what it says of the other side."""
    matter = frozenset(stem for end in olders for stem in words.stems(end.text))
    new = _end(newer.text, matter, lambda text: turns.turn(text, "") is not None)
    said = [(end, _end(end.text, words.stems(newer.text), lambda text: True)) for end in olders]
    old = [(end, text) for end, text in said if text is not None]
    if new is None or not old:
        return None
    ends = [end for end, _ in old]
    dated = [*((_latest(end, by_id), text) for end, text in old), (_since(ends[-1], newer, by_id), new)]
    parts = []
    for at, (source, text) in enumerate(dated):
        same = at > 0 and dated[at - 1][0].day == source.day
        day = f"On {source.spoken_date()}: " if not same else THEN if at == len(old) else ""
        parts.append(day + text)
    return Claim("", " ".join(parts), _cited(ends, newer, by_id))


def _end(text: str, about: frozenset[str], must: Callable[[str], bool]) -> str | None:
    """Cut an end; what reports an order stays whole."""
    limit = CHANGE_WORDS if content(text) != text else END_WORDS
    return excerpt(text, limit, about, must)


def _cited(olders: Sequence[Candidate], newer: Candidate, by_id: Mapping[str, Source]) -> tuple[str, ...]:
    """List the sources of a change: what each older end rests on, then the newer, the source it is dated by last."""
    old = [id for end in olders for id in (*end.leading, _latest(end, by_id).id)]
    after = _since(olders[-1], newer, by_id).id
    new = newer.leading if newer.joint else ()
    return (*dict.fromkeys(id for id in (*old, *new) if id != after), after)


def _latest(end: Candidate, by_id: Mapping[str, Source]) -> Source:
    """Answer the source that says it last."""
    return max((by_id[id] for id in end.sources), key=lambda source: source.order)


def _since(older: Candidate, newer: Candidate, by_id: Mapping[str, Source]) -> Source:
    """Answer the first source of the newer end that is later than the older one; of a joint end the latest."""
    last = _latest(older, by_id).order
    sources = sorted((by_id[id] for id in newer.sources), key=lambda source: source.order)
    return next((one for one in sources if one.order > last and not newer.joint), sources[-1])


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the date and the words of each piece that stands between cuts."""
    parts = _DATED.split(text)
    for date, body in zip(parts[1::2], parts[2::2], strict=True) if not parts[0] else ():
        for sentence in sentences(body.replace(CUT, "\n").replace(THEN, "\n")):
            if len(piece := sentence.strip(" .,;:")) > 1:
                yield date, piece


def _told_by(date: str, piece: str, claim: Claim, by_id: Mapping[str, Source]) -> Claim | None:
    """Answer the sentence of a cited source of that day that holds a piece, as the claim it might be, or None."""
    inner = content(f"{piece}.").strip(" .") if content(piece) == piece else content(piece).strip(" .")
    for id in claim.sources:
        if id not in by_id or by_id[id].spoken_date() != date:
            continue
        for sentence in sentences(by_id[id].text):
            if inner in sentence:
                return Claim("", reported(sentence) or sentence if inner != piece else sentence, (id,))
    return None
