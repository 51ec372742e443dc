"""Find what a sentence ends that says of itself that it turns something, or that sets a measure or a day anew.

Such a sentence may be long and its older end may be nobody's claim, so words of turning stand in for likeness: what it
says is turned is looked for in what was said before, by the weight of the stems that are found again.

Source: docs/spec/persona.md §3.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curator.persona import measures, turns, values, words
from curator.persona.candidates import Candidate
from curator.persona.source import Source
from curator.persona.turns import Turn, Turning

if TYPE_CHECKING:
    from curator.persona.similarity import Matrix

OLDER: Final = 3  # older ends of one sentence at most
FOUND: Final = 0.4  # weight of what is turned that an older sentence must hold, of the sentence as a whole
FOUND_PART: Final = 0.6  # the same of what is named, of what stands before the word of turning, of an item of a list
FOUND_VALUED: Final = 0.2  # the same where it states the very number that gives way
PART_WORTH: Final = 0.95  # of what is found by a part
ALONE: Final = 0.05  # how much closer an end must be that is found by one stem alone
RECENT: Final = 0.15  # how much more the newest older sentence is worth than the oldest
UNSURE: Final = 0.3  # how much less one that proposes or supposes is worth
AGAIN: Final = 0.4  # how much less a second end for the same item of a list is worth
PURPOSE: Final = 0.5  # stems one of two choices must share with the other for both to be made for the same purpose
AGAIN_SAID: Final = 0.95  # likeness at which two sentences of one day say the same
SAID: Final = 0.9  # likeness at which two older ends say the same
SAME_MATTER: Final = 0.7  # stems one of two sentences must share with the other to be about the same matter
BEHIND: Final = 0.5  # how much less than the best a further end may be worth


@dataclass(frozen=True, slots=True)
class Bounds:
    """Hold the least likenesses, by meaning or by words.

    Of an end whose words are all found, of one that is named, of one that is not, of a further one; of two sentences
    that say the same turn, of two that set one measure, and of two that choose.
    """

    any: float
    named: float
    partly: float
    further: float
    same: float
    measured: float
    chosen: float


MEANING: Final = Bounds(any=0.28, named=0.35, partly=0.45, further=0.4, same=0.7, measured=0.7, chosen=0.5)
WORDS: Final = Bounds(any=0.1, named=0.1, partly=0.12, further=0.12, same=0.6, measured=0.4, chosen=0.3)

_SET_FOR = re.compile(
    r"\b(?:(?:re)?scheduled|planned|booked|set for|due|takes? place|held|every|deadline|meets?|preferred|starts?"
    r"|appointment)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _End:
    worth: float
    at: int
    close: float
    goal: int
    wholly: bool


class Past:
    """Hold the sentences there are, and find among them what a newer one ends."""

    def __init__(
        self, candidates: Sequence[Candidate], close: Matrix, embedded: bool, name: str, by_id: Mapping[str, Source]
    ) -> None:
        self.candidates, self.close, self.name, self.by_id = candidates, close, name, by_id
        self.bounds = MEANING if embedded else WORDS
        self.known = words.stems(name)
        self.topics = [turns.topic(one.text, self.known) for one in candidates]
        self.turns = [turns.turn(one.text, name) for one in candidates]
        seen = Counter(stem for topic in self.topics for stem in topic)
        self.weights = {stem: math.log(1 + len(candidates) / count) for stem, count in seen.items()}
        self.last = [max(by_id[id].order for id in one.sources) for one in candidates]

    def stems(self, at: int) -> frozenset[str]:
        """Answer the stems of a sentence."""
        return words.stems(self.candidates[at].text)

    def turned(self, newer: int) -> list[int]:
        """List what the newer sentence turns, by its words, the surest first."""
        turning = turns.turning(self.candidates[newer].text, self.name)
        if turning is None:
            return []
        since = self._said_before(newer, turning.turn)
        ends: list[_End] = []
        for older in (self.close[newer] >= self.bounds.any).nonzero()[0].tolist():
            if self.last[older][0][:10] >= since and self._held(older, newer, turning):
                ends += self._end(older, newer, turning)
        return self._surest(ends, turning)

    def reset(self, newer: int) -> list[int]:
        """List what the newer sentence sets anew: a measure or a day."""
        text, found = self.candidates[newer].text, list[int]()
        for older in (self.close[newer] >= self.bounds.chosen).nonzero()[0][::-1].tolist():
            before = self.candidates[older].text
            since = self._since(older, newer)
            if any(self.close[older, end] > SAID for end in found):
                continue
            if since is None or since.day <= self.last[older][0][:10]:
                continue
            if turns.tentative(text) or turns.tentative(before):
                continue
            if self._chosen(older, newer):
                found.append(older)
            elif self.close[newer, older] >= self.bounds.measured:
                measure = measures.reset(text, before)
                if self._moved(older, newer) or (measure and not self._known_by_then(*measure, older, newer)):
                    found.append(older)
        return found[:OLDER]

    def _since(self, older: int, newer: int) -> Source | None:
        """Answer the source that first says the newer sentence after the last one that said the older, or None."""
        sources = (self.by_id[id] for id in self.candidates[newer].sources)
        later = min((one for one in sources if one.order > self.last[older]), key=lambda one: one.order, default=None)
        ends = [self.by_id[id] for id in self.candidates[older].sources]
        if later is None or any(one.ancestors & later.ancestors or one.id == later.id for one in ends):
            return None
        again = later.day == self.last[older][0][:10] and self.close[newer, older] > AGAIN_SAID
        return None if again else later

    def _said_before(self, newer: int, turn: Turn) -> str:
        """Answer the day on which the same turn was last told before: what was older then is no news now."""
        first = min((self.by_id[id] for id in self.candidates[newer].sources), key=lambda one: one.order)
        found = ""
        for at in (self.close[newer] >= self.bounds.same).nonzero()[0].tolist():
            if at != newer and self.turns[at] is turn:
                sources = (self.by_id[id] for id in self.candidates[at].sources)
                found = max([found, *(one.day for one in sources if one.day < first.day)])
        return found

    def _held(self, older: int, newer: int, turning: Turning) -> bool:
        """Tell whether the older sentence can have held until the newer one."""
        text = self.candidates[older].text
        if turning.turn is Turn.HALTS and (turns.halted(text) or words.negated(text)):
            return False
        if turning.turn is Turn.RESUMES and not turns.halted(text):
            return False
        near = self.close[newer, older] >= self.bounds.same
        again = near if turning.turn is Turn.REPLACES is self.turns[older] else turning.beside and turns.beside(text)
        if again or (turning.numbers and not turning.numbers & values.numbers(text)):
            return False
        return self._since(older, newer) is not None

    def _end(self, older: int, newer: int, turning: Turning) -> Iterator[_End]:
        """Yield how much the older sentence is worth as an end, for the goal by which it is worth most."""
        close, ends = float(self.close[newer, older]), []
        for place, goal in enumerate(turning.goals):
            whole = self._weight(goal)
            share = self._weight(goal & self.topics[older]) / whole if whole else 0.0
            part = turning.named or place > 0
            valued = bool(turning.numbers)
            if share < (FOUND_VALUED if valued else FOUND_PART if part else FOUND):
                continue
            whole_part = part and share == 1.0 and len(goal) > 1
            floor = self.bounds.named if turning.named or valued else self.bounds.partly
            if close < (self.bounds.any if whole_part else floor + (ALONE if len(goal) == 1 else 0.0)):
                continue
            ends.append(_End(share * (PART_WORTH if place else 1.0) + close, older, close, place, whole_part))
        if ends:
            best = max(ends, key=lambda end: (end.worth, -end.goal))
            unsure = UNSURE if turns.tentative(self.candidates[older].text) else 0.0
            worth = best.worth - unsure + RECENT * older / len(self.candidates)
            yield _End(round(worth, 6), older, close, best.goal, best.wholly)

    def _weight(self, stems: frozenset[str]) -> float:
        return sum(self.weights.get(stem, 0.0) for stem in sorted(stems))

    def _surest(self, ends: Sequence[_End], turning: Turning) -> list[int]:
        """Choose ends that say different things, one an item of a list before two of the same."""
        left, chosen, goals = list(ends), list[_End](), Counter[int]()
        while left and len(chosen) < OLDER:
            best = max(left, key=lambda end: (end.worth - (AGAIN * goals[end.goal] if end.goal else 0.0), end.at))
            left.remove(best)
            if chosen and (
                best.worth < chosen[0].worth - BEHIND or (best.close < self.bounds.further and not best.wholly)
            ):
                continue
            if any(self.close[best.at, end.at] > SAID for end in chosen):
                continue
            chosen.append(best)
            goals[best.goal] += 1
        return [end.at for end in chosen]

    def _known_by_then(self, unit: str, numbers: frozenset[str], older: int, newer: int) -> bool:
        """Tell whether the new numbers were said already when the older sentence was: then it set nothing anew."""
        day = self.last[older][0][:10]
        for at in (self.close[newer] >= self.bounds.same).nonzero()[0].tolist():
            one = self.candidates[at]
            if at == newer or min(self.by_id[id].day for id in one.sources) > day:
                continue
            if (told := measures.measures(one.text).get(unit)) is not None and told.numbers & numbers:
                return True
        return False

    def _moved(self, older: int, newer: int) -> bool:
        """Tell whether both set a day, each another, for the same matter."""
        text, before = self.candidates[newer].text, self.candidates[older].text
        if not (_SET_FOR.search(text) and _SET_FOR.search(before)):
            return False
        one, other = self.topics[newer], self.topics[older]
        if max(words.overlap(one, other), words.overlap(other, one)) < SAME_MATTER or not one or not other:
            return False
        days, days_before = values.days(text), values.days(before)
        if days and days_before:
            return not any(day.covers(past) or past.covers(day) for day in days for past in days_before)
        week, week_before = _weekdays(text), _weekdays(before)
        return bool(week and week_before) and not week & week_before

    def _chosen(self, older: int, newer: int) -> bool:
        """Tell whether both choose, each something else, for the same purpose."""
        one, other = choice(self.candidates[newer].text), choice(self.candidates[older].text)
        if one is None or other is None or one <= self.stems(older) or other <= self.stems(newer):
            return False
        taken = (one ^ other) | _CHOOSING
        rest, before = self.topics[newer] - taken, self.topics[older] - taken
        return bool(rest and before) and max(words.overlap(rest, before), words.overlap(before, rest)) >= PURPOSE


_NAME = r"(?:the\s+)?[\"'‘“]?([A-Z][\w*&'-]*(?:\s+[\w*&'-]+){0,5}?)[\"'’”]?"
_CHOICE = re.compile(
    rf"\b(?:chosen|chose|chooses|selected|selects|picked|picks|decided on)\s+{_NAME}\s+(?:as|for)\b"
    rf"|\b{_NAME}\s+(?:is|was|has been)\s+(?:chosen|selected|picked)\s+(?:as|for)\b"
)
_CHOOSING = words.stems("choose chose chosen select selected pick picked decide prefer preferred")


@words.remembered
def choice(text: str) -> frozenset[str] | None:
    """Answer the stems of what a sentence says was chosen as or for something, or None."""
    found = _CHOICE.search(text)
    return words.stems(found[1] or found[2]) or None if found else None


def _weekdays(text: str) -> frozenset[str]:
    found = (word.removesuffix("s") for word in words.folded(text))
    return frozenset(word for word in found if word in values.WEEKDAYS)


def turned_by(
    candidates: Sequence[Candidate], close: Matrix, embedded: bool, name: str, by_id: Mapping[str, Source]
) -> Iterator[tuple[int, list[int]]]:
    """Yield the place of each newer sentence with those of the older ones it ends."""
    past = Past(candidates, close, embedded, name, by_id)
    for newer in range(len(candidates)):
        if ends := past.turned(newer) or past.reset(newer):
            yield newer, ends
