"""Find where a newer sentence takes back an older one.

Contradiction is looked for, not waited for: two close sentences that speak of the same thing and differ in a value
that holds one at a time, in a denial, or in a word of turning ("now", "no longer"). What happened once is no value:
two visits to two towns do not contradict each other.

Source: docs/spec/persona.md §3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from curator.persona import values, words
from curator.persona.candidates import Candidate
from curator.persona.ends import turned_by
from curator.persona.sentences import Rank
from curator.persona.source import MONTHS, Source
from curator.persona.support import clauses
from curator.persona.vocabulary import AUXILIARIES, ENDINGS, NUMBERS, PAST, SEVERAL, SINGLE, STATES, TURNS

if TYPE_CHECKING:
    from curator.persona.similarity import Matrix

NEAR: Final = 0.55  # cosine below which two sentences are not about the same thing
NEAR_WORDS: Final = 0.15  # the same for overlap of words
SHARED_WORDS: Final = 0.02  # the same where the words are compared anyway: what is said often weighs little in overlap
FRAME: Final = 0.75  # Jaccard of what is left when the values are taken out
PLAIN_WORDS: Final = 25  # words of a sentence; a longer one says several things, and a difference proves nothing

_RESIDENCE = re.compile(
    r"\b(?:lives?|living|resides?|residing|(?:is|was) based|moved|moves|relocated|relocates|settled)\b"
    r"(?:\s+(?!to\b|in\b|at\b)\w+){0,3}?(?:\s+from\s+[\w' -]+?)?\s+(?:to|in|at)\s+((?:the\s+)?[^\W\da-z_][\w'-]*)"
)
_WORKPLACE = re.compile(
    r"\b(?:works?|working|employed)\b(?!\s+on\b)(?:\s+[\w-]+){0,5}?\s+(?:at|for)\s+((?:the\s+)?[^\W\da-z_][\w'-]*)"
)
_BELONGING = re.compile(r"(?:['’]s|\b(?:his|her|their|its|my|our))\s+([\w-]+)", re.IGNORECASE)
_COPULA = re.compile(r"^(.{3,60}?)\s+(?:is|are|was|were|will be|has been)\s+(?:now\s+|no longer\s+)?(.+)$")


def takes_back(newer: str, older: str, name: str) -> bool:
    """Tell whether `newer` contradicts `older`; both are about `name`, whose words do not count."""
    if newer == older or max(words.count(newer), words.count(older)) > PLAIN_WORDS:
        return False
    known = words.stems(name) | {"user"}
    return _denies(newer, older, known) or _slots_differ(newer, older, known) or _values_differ(newer, older, known)


def _denies(newer: str, older: str, known: frozenset[str]) -> bool:
    """Tell whether a clause of one denies what a clause of the other affirms: all the words of the shorter."""
    for one, denies in _main_clauses(newer, known):
        for other, denied in _main_clauses(older, known):
            shorter, longer = sorted((one, other), key=len)
            if denies != denied and shorter <= longer and (shorter == longer or 2 <= len(shorter) >= len(longer) / 2):
                return True
    return False


def _main_clauses(text: str, known: frozenset[str]) -> list[tuple[frozenset[str], bool]]:
    """List the clauses that hold half of what the sentence says, and whether they deny it."""
    idle = known | _IDLE
    half = len(words.stems(text) - idle) / 2
    return [(stems - idle, denies) for stems, denies in clauses(text) if len(stems - idle) >= max(1.0, half)]


def _slots_differ(newer: str, older: str, known: frozenset[str]) -> bool:
    for slot in (_RESIDENCE, _WORKPLACE):
        one, other = slot.search(newer), slot.search(older)
        if one and other:
            same = _whose(newer[: one.start()]) == _whose(older[: other.start()])
            return same and words.plain(one[1]) != words.plain(other[1])
    one, other = _COPULA.match(newer.rstrip(".")), _COPULA.match(older.rstrip("."))
    if not one or not other:
        return False
    subject = words.stems(one[1]) - known
    said, before = words.stems(one[2]), words.stems(other[2])
    return bool(subject) and subject == words.stems(other[1]) - known and bool(said and before) and not said & before


def _whose(subject: str) -> frozenset[str]:
    """Name what is somebody's in a subject: where a sister lives takes nothing back of where one lives oneself."""
    return frozenset(words.stem(words.plain(word)) for word in _BELONGING.findall(subject))


def _values_differ(newer: str, older: str, known: frozenset[str]) -> bool:
    if _happened(newer) or _happened(older):
        return False
    (frame, numbers, names), (frame_before, numbers_before, names_before) = _parts(newer, known), _parts(older, known)
    if not frame or words.likeness(frame, frame_before) < FRAME:
        return False
    verbs = {*words.folded(newer), *words.folded(older)}
    if verbs & SEVERAL or not verbs & STATES:
        return False
    if numbers and numbers_before and not numbers & numbers_before:
        return True
    return bool(verbs & SINGLE and names and names_before and not names & names_before)


def _parts(text: str, known: frozenset[str]) -> tuple[frozenset[str], frozenset[object], frozenset[str]]:
    """Split a sentence into what it speaks of, its numbers and dates, and the names behind its verb."""
    found = words.folded(text)
    verb = next((at for at, word in enumerate(found) if word in STATES), len(found))
    behind = {words.stem(word) for word in found[verb:]}
    numbers = frozenset(values.numbers(text)) | values.days(text) | (behind & _DATES)
    names = frozenset(words.stem(name) for name in words.names(text)) - known - _DATES
    frame = words.stems(text) - known - _IDLE - _DATES - (names & behind)
    return frozenset(stem for stem in frame if not stem.isdigit()), numbers, names & behind


_IDLE = frozenset(map(words.stem, ENDINGS | TURNS | frozenset(NUMBERS) | {"former"}))
_DATES = frozenset(words.stem(word) for word in (*values.WEEKDAYS, *map(str.casefold, MONTHS)))


def _happened(text: str) -> bool:
    """Tell whether the sentence tells an event of the past, by its first verb."""
    for word in words.folded(text):
        if word in AUXILIARIES or word in SINGLE:
            return False
        if word in PAST or (word.endswith("ed") and len(word) > 4):
            return True
    return False


def find(
    candidates: Sequence[Candidate], close: Matrix, embedded: bool, name: str, by_id: Mapping[str, Source]
) -> list[tuple[int, int]]:
    """List (older, newer) pairs of candidates by their places.

    Of sentences that contradict an older one the newest counts. One that says in words that it turns something, or sets
    a measure anew, is paired with up to OLDER of those that held until then. A link `supersedes` or `contradicts`
    between their sources counts as found, for the closest pair of sentences.
    """
    floor = NEAR if embedded else SHARED_WORDS
    pairs = dict(_linked(candidates, close, by_id))
    plain = [candidate.rank < Rank.DEFINITE and words.count(candidate.text) <= PLAIN_WORDS for candidate in candidates]
    for older in (at for at, fit in enumerate(plain) if fit and at not in pairs):
        for newer in (close[older] >= floor).nonzero()[0][::-1].tolist():
            if not plain[newer] or not _later(candidates[newer], candidates[older], by_id):
                continue
            if takes_back(candidates[newer].text, candidates[older].text, name):
                pairs[older] = newer
                break
    turned = turned_by(candidates, close, embedded, name, by_id)
    return sorted({*pairs.items(), *((older, newer) for newer, ends in turned for older in ends)})


def _later(one: Candidate, other: Candidate, by_id: Mapping[str, Source]) -> bool:
    return by_id[one.sources[-1]].order > by_id[other.sources[-1]].order and not set(one.sources) & set(other.sources)


def _linked(candidates: Sequence[Candidate], close: Matrix, by_id: Mapping[str, Source]) -> list[tuple[int, int]]:
    of_source: dict[str, list[int]] = {}
    for at, candidate in enumerate(candidates):
        for id in candidate.sources:
            of_source.setdefault(id, []).append(at)
    pairs = []
    for source in by_id.values():
        for target in sorted(source.supersedes | source.contradicts):
            if target not in by_id or source.id not in of_source or target not in of_source:
                continue
            newer, older = source.id, target
            if target not in source.supersedes and by_id[target].order > source.order:
                newer, older = target, source.id
            _, a, b = max((float(close[a, b]), -a, -b) for a in of_source[older] for b in of_source[newer])
            pairs.append((-a, -b))
    return pairs
