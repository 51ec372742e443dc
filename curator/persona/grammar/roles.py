"""Tell who does what in a clause: the subject of its verb, whoever a passive names, and who owns what.

Only what can be told from the order of words is told; where it cannot, the answer is None and proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from curator.persona import words
from curator.persona.grammar import lexicon
from curator.persona.grammar.tokens import NOUNY, Sort, Token
from curator.persona.grammar.vocabulary import BE, REPORTED

_PERSONS: Final = frozenset({"he", "she", "him", "her", "his", "hers"})
_OWNING: Final = frozenset({"his", "her", "their", "its"})
_NAMING: Final = NOUNY | {Sort.DETERMINER, Sort.CONJUNCTION}
_SOMEBODY: Final = frozenset({"someone", "somebody", "everyone", "everybody", "anyone", "anybody", "people"})
_GETTING: Final = frozenset({"get", "gets", "got"})
_SENSING: Final = frozenset({"see", "hear", "watch", "let", "make", "help", "notice"})
_HAVING: Final = frozenset({"have", "get"})
_OBJECTS: Final = frozenset({"him", "her", "them", "it", "us", "you", "me"})
_JUDGING: Final = frozenset({"thank", "blame", "praise", "forgive", "criticize", "reward", "pay", "admire", "tease"})
_SKIPPED: Final = frozenset({Sort.ADVERB, Sort.NEGATION, Sort.AUXILIARY})


@dataclass(frozen=True, slots=True)
class Party:
    """Hold somebody or something that acts: its words, whether they are a name, and to whom it belongs."""

    words: frozenset[str]
    name: bool
    of: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cast:
    """Hold the subject of a clause, and for each of its tokens who does it, to whom, and who owns it."""

    subject: tuple[Party, ...] | None
    agents: list[tuple[Party, ...] | None]
    patients: list[tuple[Party, ...] | None]
    owners: list[Party | None]


def party(name: str) -> Party:
    """Make a party of a name."""
    return Party(frozenset(part for word in words.folded(name) for part in word.split("-")), True)


def cast(
    told: Sequence[Token],
    start: int,
    end: int,
    inherited: tuple[Party, ...] | None,
    last: Party | None,
    self: Party,
) -> Cast:
    """Answer who plays what part in the clause `told[start:end]`; `last` is whom a pronoun means, `self` the entity."""
    part = told[start:end]
    verb = next((at for at, one in enumerate(part) if one.sort in {Sort.VERB, Sort.AUXILIARY}), None)
    subject = inherited
    if verb is not None:
        before = part[:verb]
        if before and before[0].sort is Sort.RELATIVE and not _has_subject(before[1:]):
            found = _antecedent(told, start, last)
            subject = inherited if found is None else found or None
        elif (own := _subject(before, last)) is not None:
            listed = len(own) > 1 and start > 0 and told[start - 1].plain == ","  # "Ann, Bob and Eve"
            subject = (*(inherited or ()), *own) if listed else own
        elif any(one.sort is Sort.PRONOUN for one in before):
            subject = None
    elif part:  # no verb yet: "Maj, the neighbour, …"
        subject = _joined(inherited, _subject([one for one in part if one.sort is not Sort.MARK], last))
    owners = _owners(part, verb or 0, subject, last, self)
    agents: list[tuple[Party, ...] | None] = []
    patients: list[tuple[Party, ...] | None] = []
    acting, suffering = subject, None
    outer, resumed = _outer(part, verb, last)
    inner: tuple[Party, ...] | None = None
    for at, token in enumerate(part):
        if outer is not None and at == resumed:
            subject = acting = (outer,)
            inner = None
        if token.sort in {Sort.VERB, Sort.AUXILIARY} and (nearest := _nearest(part, at, verb, last)):
            acting = inner = (nearest,)  # "… is something Ann learnt"
        if token.sort is Sort.VERB:
            passive, by = _passive(part, at, last)
            doing = inner or subject
            acting, suffering = (by, doing) if passive else (None if _caused(part, at) else doing, None)
            controlled, other = _controlled(part, at, last)
            if controlled:
                acting = other
        agents.append(acting if verb is not None and at >= verb else inherited if verb is None else None)
        patients.append(suffering)
    return Cast(subject, agents, patients, owners)


def _joined(first: tuple[Party, ...] | None, second: tuple[Party, ...] | None) -> tuple[Party, ...] | None:
    """Take two phrases between commas for one party: "Maj, the neighbour"."""
    if first is None or second is None or len(first) != 1 or len(second) != 1:
        return first if first is not None else second
    one, other = first[0], second[0]
    return (Party(one.words | other.words, one.name or other.name, one.of | other.of),)


def _outer(part: Sequence[Token], verb: int | None, last: Party | None) -> tuple[Party | None, int]:
    """Find the subject around a relative clause without a pronoun, and its verb: "The quilt Ann made … took"."""
    if verb is None or verb < 2 or not (part[0].sort is Sort.DETERMINER or part[0].plain in _SOMEBODY):
        return None, 0
    inner = verb - 1
    while inner > 0 and part[inner].sort in _SKIPPED:
        inner -= 1
    noun = inner > 0 and (part[inner - 1].plain in _SOMEBODY or (part[inner - 1].sort is Sort.OTHER and inner > 1))
    if part[inner].sort not in {Sort.NAME, Sort.PRONOUN} or not noun:
        return None, 0
    for at in range(verb + 1, len(part)):
        finite = part[at].sort in {Sort.VERB, Sort.AUXILIARY} and not part[at].plain.endswith("ing")
        told = part[at].plain.endswith(("ed", "s")) or lexicon.irregular(part[at].plain)
        apart = part[at - 1].sort is Sort.VERB and told and _GETTING.isdisjoint({part[at - 1].plain})
        if (
            finite
            and (apart or part[at - 1].sort not in {Sort.AUXILIARY, Sort.VERB, Sort.NEGATION})
            and part[at - 1].plain != "to"
        ):
            somebody = Party(frozenset({part[inner - 1].plain}), False)
            return _noun_phrase(part, inner - 1, last)[0] or somebody, at
    return None, 0


def _nearest(part: Sequence[Token], at: int, verb: int | None, last: Party | None) -> Party | None:
    """Answer the subject of a second verb that stands right before it, behind a noun: "something Ann learnt"."""
    end = at - 1
    while end > 0 and part[end].sort in _SKIPPED:
        end -= 1
    if verb is None or end <= verb or part[end].sort is not Sort.NAME or part[end].owner:
        return None
    start = _start(part, end)
    if start < 1:
        return None
    behind = part[start - 1]
    if behind.sort not in {Sort.OTHER, Sort.PRONOUN} and (REPORTED | _SENSING).isdisjoint(lexicon.bases(behind.plain)):
        return None
    return _made(part[start : end + 1], last)


def _controlled(part: Sequence[Token], at: int, last: Party | None) -> tuple[bool, tuple[Party, ...] | None]:
    """Tell whether another than the subject may do it, and who: "asked Jan to stay", "thanked her for staying"."""
    if at > 1 and not _SENSING.isdisjoint(lexicon.bases(part[at - 2].plain)):  # "lets them stay"
        if part[at - 1].plain in _OBJECTS:
            return True, None
        if part[at - 1].sort is Sort.NAME:
            return True, _subject(part[at - 1 : at], last)
    gerund = part[at].plain.endswith("ing") and at > 1 and part[at - 1].plain in {"for", "from"}
    if at < 2 or not (part[at - 1].plain == "to" or gerund):
        return False, None
    before = part[at - 2]
    if gerund and any(not _JUDGING.isdisjoint(lexicon.bases(one.plain)) for one in part[: at - 2]):
        return True, None
    if before.sort not in NOUNY | {Sort.PRONOUN, Sort.DETERMINER}:
        return False, None
    if not any(one.sort is Sort.VERB for one in part[: at - 2]):
        return False, None
    if before.sort is not Sort.NAME:
        return not gerund, None
    start = _start(part, at - 2)
    if part[start - 1].plain == "by":  # "was asked by Jan to stay"
        return True, None
    one = _made(part[start : at - 1], last)
    return True, (one,) if one is not None else None


def _has_subject(before: Sequence[Token]) -> bool:
    return any(one.sort in NOUNY | {Sort.PRONOUN} for one in before)


def _subject(before: Sequence[Token], last: Party | None) -> tuple[Party, ...] | None:
    """Read the subject backwards from the verb: "Ann and her sister Eve", "one of his projects"."""
    at = len(before) - 1
    while at >= 0 and before[at].sort in _SKIPPED:
        at -= 1
    found: list[Party] = []
    while at >= 0:
        one, at = _noun_phrase(before, at, last)
        if one is None:
            break
        found.append(one)
        if at < 0 or before[at].sort is not Sort.CONJUNCTION or before[at].plain != "and":
            break
        at -= 1
    return tuple(reversed(found)) or None


def _noun_phrase(before: Sequence[Token], at: int, last: Party | None) -> tuple[Party | None, int]:
    """Read one noun phrase that ends at `at`, and answer where what is before it ends."""
    head = before[at]
    if head.sort is Sort.PRONOUN:
        return (last if head.plain in _PERSONS else None), at - 1
    if head.sort not in {Sort.NAME, Sort.OTHER}:
        return None, at
    start = _start(before, at)
    inside = before[start : at + 1]
    if start > 1 and before[start - 1].sort is Sort.PREPOSITION and head.sort is not Sort.NAME:
        outer = before[start - 2]
        if outer.sort in NOUNY:  # "the father of Solange": the head is in front
            return _noun_phrase(before, start - 2, last)
        return None, start - 2
    if start > 0 and before[start - 1].sort is Sort.PREPOSITION and head.sort is not Sort.NAME:
        return None, start - 2
    return _made(inside, last), start - 1


def _start(before: Sequence[Token], at: int) -> int:
    """Answer where the noun phrase that ends at `at` starts.

    A noun before a name belongs to it where it says who that is ("her sister Pilar"), and not where it ends a phrase
    of its own ("In court Sabrina …").
    """
    start = at
    if before[at].sort is Sort.NAME:
        while start > 0 and before[start - 1].sort is Sort.NAME and not before[start - 1].owner:
            start -= 1
        noun = start
        while noun > 0 and before[noun - 1].sort is Sort.OTHER and not before[noun - 1].owner:
            noun -= 1
        if noun == 0 or not (before[noun - 1].owner or before[noun - 1].sort is Sort.DETERMINER):
            return start
        if noun > 1 and before[noun - 2].sort is Sort.PREPOSITION:
            return start
        start = noun
    while start > 0 and before[start - 1].sort in NOUNY | {Sort.DETERMINER}:
        start -= 1
    return start


def _made(inside: Sequence[Token], last: Party | None) -> Party | None:
    head = inside[-1]
    of = frozenset(one.plain for one in inside[:-1] if one.owner and one.sort is Sort.NAME)
    if last is not None and any(one.plain in _OWNING for one in inside[:-1]):
        of |= last.words
    if head.sort is Sort.NAME:
        names = []
        for one in reversed(inside):
            if one.sort is not Sort.NAME or (one.owner and one is not head):
                break
            names.append(one.plain)
        return Party(frozenset(names), True, of)
    return Party(frozenset({head.plain}), False, of)


def _antecedent(told: Sequence[Token], start: int, last: Party | None) -> tuple[Party, ...] | None:
    """Answer what "who" or "which" stands for: what is named before it, or None behind "one of those"."""
    at = start - 1
    while at >= 0 and told[at].sort in {Sort.MARK, Sort.PREPOSITION}:
        at -= 1
    if at < 0:
        return None
    if told[at].plain in _SOMEBODY:
        return (Party(frozenset({told[at].plain}), False),)
    if told[at].sort in {Sort.DETERMINER, Sort.NUMBER, Sort.PRONOUN}:
        return None  # "one of those who": whoever the clause before is about
    if told[at].sort not in {Sort.NAME, Sort.OTHER}:
        return ()
    one = _made(told[_start(told, at) : at + 1], last)
    return (one,) if one is not None else ()


def _passive(part: Sequence[Token], at: int, last: Party | None) -> tuple[bool, tuple[Party, ...] | None]:
    """Tell whether the verb is passive, and by whom it is done."""
    word = part[at].plain
    if word.endswith("ing"):
        return False, None
    start = at
    while start > 0 and (part[start - 1].sort in _SKIPPED or part[start - 1].plain in _GETTING):
        start -= 1
    helpers = [one for one in part[start:at] if one.sort not in {Sort.ADVERB, Sort.NEGATION}]
    by = next((number for number in range(at + 1, len(part)) if part[number].plain == "by"), None)
    noun_before = at > 0 and part[at - 1].sort in NOUNY
    participle = word.endswith("ed") or lexicon.irregular(word) or lexicon.unchanging(word)
    passive = participle and (
        any(one.plain in BE | _GETTING for one in helpers)
        or (by is not None and (noun_before or at == 0 or part[at - 1].sort is Sort.CONJUNCTION) and not helpers)
    )
    if not passive:
        return False, None
    if by is None or by + 1 >= len(part):
        return True, None
    end = by + 1
    while (
        end + 1 < len(part)
        and part[end + 1].sort in _NAMING
        and not (
            part[end].sort is Sort.NAME
            and not part[end].owner
            and part[end + 1].sort not in {Sort.NAME, Sort.CONJUNCTION}
        )
    ):
        end += 1
    return True, _subject(part[by + 1 : end + 1], last)


def _caused(part: Sequence[Token], at: int) -> bool:
    """Tell whether somebody unknown does it for the subject: "had her tonsils removed"."""
    noun = at - 1
    while noun > 0 and part[noun].sort in NOUNY | {Sort.DETERMINER}:
        noun -= 1
    participle = part[at].plain.endswith("ed") or lexicon.irregular(part[at].plain)
    return participle and noun < at - 2 and not _HAVING.isdisjoint(lexicon.bases(part[noun].plain))


def _owners(
    part: Sequence[Token], verb: int, subject: tuple[Party, ...] | None, last: Party | None, self: Party
) -> list[Party | None]:
    """Tell of each noun to whom it belongs: "Ann's band", "the band of Ann", "her band"."""
    found: list[Party | None] = [None] * len(part)
    meant = self if subject and len(subject) == 1 and subject[0].words & self.words else None
    owner: Party | None = None
    for at, token in enumerate(part):
        if token.owner and token.sort is Sort.NAME:
            start = _start(part, at)
            owner = Party(frozenset(one.plain for one in part[start : at + 1] if one.sort is Sort.NAME), True)
        elif token.sort is Sort.DETERMINER:
            owner = (meant if at > verb else last) if token.plain in _OWNING else None
        elif token.sort is Sort.OTHER:
            found[at] = owner
        else:
            owner = None
        if (
            token.plain == "of"
            and 0 < at < len(part) - 1
            and part[at + 1].sort is Sort.NAME
            and part[at - 1].sort is Sort.OTHER
        ):
            behind = [one.plain for one in part[at + 1 : at + 4] if one.sort is Sort.NAME]
            found[at - 1] = Party(frozenset(behind), True)
    return found
