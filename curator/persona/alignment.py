"""Hold a clause of a claim against one source, word by word.

Every word of substance has to be one that the source says: the same, another form of it, a synonym, or something wider.
The words it is found by have to be denied alike, meant alike as fact or plan, and done by the same.

Source: docs/spec/persona.md §4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from curator.persona.grammar import lexicon
from curator.persona.grammar.clauses import Word, light
from curator.persona.grammar.lexicon import Relation
from curator.persona.grammar.roles import Party
from curator.persona.grammar.tokens import CALENDAR, Sort
from curator.persona.grammar.vocabulary import GENERAL, KIN, LOSSES

_SUBSTANCE: Final = frozenset({Sort.VERB, Sort.OTHER, Sort.NAME})
_FUNCTION: Final = frozenset({Sort.MARK, Sort.DETERMINER, Sort.PRONOUN})
_SELVES: Final = frozenset({"himself", "herself", "itself", "themselves"})
_TOWARDS: Final = frozenset({"to", "for"})
_AWAY: Final = frozenset({"from", "by"})
_ENDS: Final = frozenset({"", "to", "for", "from"})  # leads whom or what something is done to
Near = Callable[[str, Sequence[str]], bool]
"""Tells whether a word is close in meaning to one of others."""


@dataclass(frozen=True, slots=True)
class Match:
    """Hold a word of a claim, and where the source says it; `opposite` says that it is by an opposite."""

    word: Word
    found: tuple[tuple[Word, bool], ...]
    contrary: bool = False  # the source has only its opposite


def substance(clause: Sequence[Word], free: frozenset[str]) -> Iterator[Word]:
    """Yield the words that need support; `free` are words that need none."""
    for at, word in enumerate(clause):
        if (
            word.sort in _SUBSTANCE
            and not word.stops
            and word.plain not in free
            and not light(word)
            and not _age(clause, at)
        ):
            yield word


def _age(clause: Sequence[Word], at: int) -> bool:
    """Tell whether the word belongs to "years old" behind a number, which a bare number says too."""
    pair = [word.plain for word in clause[max(0, at - 1) : at + 2]]
    return (
        "old" in pair and any(one in {"year", "years"} for one in pair) and clause[at].plain in {"old", "year", "years"}
    )


def match(word: Word, told: Sequence[Word]) -> Match:
    """Find a word in a source."""
    found = []
    again = {other.clause for other in told if other.plain in {"again", "anew"}}
    for other in told:
        if _anew(word, other, again) or _from_other_end(word, other):
            found.append((other, False))
            continue
        alike = (other.sort is Sort.NAME) == (word.sort is Sort.NAME) and other.sort not in _FUNCTION
        if not alike and other.plain != word.plain and other.plain not in _SELVES:
            continue
        relation = _relation(word, other)
        helper = relation is Relation.OPPOSITE and other.sort is Sort.AUXILIARY
        if relation is not None and not helper:
            found.append((other, relation is Relation.OPPOSITE))
    exact = [(other, opposite) for other, opposite in found if lexicon.same(word.plain, other.plain)]
    turned = [(other, opposite) for other, opposite in found if not opposite or word.denied != other.denied]
    reverse = any(opposite and other.sort is word.sort and word.denied == other.denied for other, opposite in found)
    if not exact and reverse and not any(other.sort is word.sort for other, _ in turned):
        turned = []
    return Match(word, tuple(exact or turned), bool(found) and not (exact or turned))


def _anew(word: Word, other: Word, again: set[int]) -> bool:
    """Tell whether the source takes a verb apart: "rebuilt", "built again"."""
    return other.clause in again and word.plain.startswith("re") and lexicon.same(word.plain[2:], other.plain)


def _from_other_end(word: Word, other: Word) -> bool:
    """Tell whether the source says from the other end what two are to each other: "Ann's aunt", "her niece Ann"."""
    if not any(
        (word.plain in one and other.plain in two) or (word.plain in two and other.plain in one) for one, two in KIN
    ):
        return False
    if word.owner and (_shared(word.agents, word.owner) or not _shared(other.agents, word.owner)):
        return False
    return other.owner is not None and _shared(word.agents, other.owner) and not _shared(other.agents, other.owner)


def _shared(parties: Sequence[Party] | None, one: Party) -> bool:
    return any(each.words & one.words for each in parties or ())


def _relation(word: Word, other: Word) -> Relation | None:
    if word.sort is Sort.NAME or other.sort is Sort.NAME:
        return Relation.SAME if word.plain == other.plain else None
    ours = [word.plain, *([word.phrase] if word.phrase else [])]
    theirs = [other.plain, *([other.phrase] if other.phrase else [])]
    for one in ours:
        for another in theirs:
            if (found := lexicon.relation(one, another)) is not None:
                return found
    return None


def general(word: Word, matched: Sequence[Match], told: Sequence[Word]) -> bool:
    """Tell whether a word that the source lacks only fills in what it says in other words: "pays a rent of".

    The rest of the clause has to be there, and no other act in its place.
    """
    if GENERAL.isdisjoint(lexicon.bases(word.plain)):
        return False
    beside = [one for one in matched if one.word.clause == word.clause and one.found]
    places = {other.place for one in matched for other, _ in one.found}
    clauses = {other.clause for one in beside for other, _ in one.found}
    acts = [
        other
        for other in told
        if other.clause in clauses and other.sort is Sort.VERB and other.place not in places and not light(other)
    ]
    return bool(beside) and all(not GENERAL.isdisjoint(lexicon.bases(other.plain)) for other in acts)


def opposed(matched: Sequence[Match]) -> str | None:
    """Answer what is denied on one side and not on the other, or only planned on one side."""
    turned = {  # "does not sleep well" says of each word what "sleeps badly" does
        (one.word.clause, other.clause)
        for one in matched
        for other, opposite in one.found
        if opposite and one.word.denied != other.denied
    }
    held = {
        (one.word.clause, other.clause, other.place)
        for one in matched
        if one.word.sort is Sort.VERB
        for other, opposite in one.found
        if one.word.denied == (other.denied != opposite)
    }
    for one in matched:
        alike = [
            other
            for other, opposite in one.found
            if one.word.denied == (other.denied != opposite)
            or (one.word.clause, other.clause) in turned
            or _over(one.word, other)
            or _over(other, one.word)
        ]
        if not one.found or (not alike and one.word.plain.removesuffix("s") in CALENDAR):
            continue
        if not alike and one.word.denied and one.word.sort is not Sort.VERB and _adjoined(one, held):
            continue  # "cannot run because of her knee", "because of her knee, she cannot run"
        if not alike:
            return "denies what its sources do not deny" if one.word.denied else "affirms what its sources deny"
        if one.word.sort is Sort.VERB and all(other.sort is Sort.VERB for other in alike):
            if (
                not (one.word.wished or one.word.future)
                and one.word.led_by != "to"
                and all(other.wished for other in alike)
            ):
                return "tells as a fact what its sources call a plan"
            if _present(one.word) and all(other.former for other in alike):
                return "tells as present what its sources call past"
            if one.word.former and all(_present(other) for other in alike):
                return "tells as past what its sources call present"
            if one.word.wished and not any(other.wished or other.future for other in alike):
                return "tells as a plan what its sources call a fact"
    return None


def _over(one: Word, other: Word) -> bool:
    """Tell whether the one "no longer" is what the other "used to" be."""
    return one.denied and one.ceased and other.former and not other.denied


def lost(matched: Sequence[Match], told: Sequence[Word]) -> str | None:
    """Answer what the claim only has or is, where the source says it is sold, lost, wanted or sought."""
    heavy = {one.word.clause for one in matched if one.word.sort is Sort.VERB}
    gone = {
        word.clause
        for word in told
        if word.sort is Sort.VERB and not LOSSES.isdisjoint((*lexicon.bases(word.plain), word.phrase))
    }
    for one in matched:
        if one.word.clause in heavy or one.word.sort is not Sort.OTHER or one.word.denied or one.word.wished:
            continue
        if one.found and all(other.wished or (other.clause in gone and other.agents) for other, _ in one.found):
            return f"says that there is “{one.word.token.text}”, which its sources do not"
    return None


def _adjoined(one: Match, held: set[tuple[int, int, int]]) -> bool:
    """Tell whether the source has the verb behind the word, or in a clause beside the one that holds it."""
    verbs = [(there, place) for here, there, place in held if here == one.word.clause]
    return bool(verbs) and all(
        other.clause != there or other.place < place for other, _ in one.found for there, place in verbs
    )


def _present(word: Word) -> bool:
    return word.plain.endswith("s") and not word.former


def misattributed(claim: Sequence[Word], matched: Sequence[Match], told: Sequence[Word]) -> str | None:
    """Answer who does or owns in the claim what others do or own in the source."""
    verbs = {
        (one.word.clause, other.clause)
        for one in matched
        if one.word.sort is Sort.VERB
        for other, _ in one.found
        if other.sort is Sort.VERB and not _converse(one.word, other)
    }
    heavy = {one.word.clause for one in matched if one.word.sort is Sort.VERB}
    passive = {word.clause for word in claim if word.patients}
    for one in matched:
        word = one.word
        loose = word.sort is not Sort.VERB and word.clause in heavy
        if word.sort is not Sort.VERB and word.clause in passive and word.patients is None:
            continue  # "had her kitchen painted by": whoever has it done does not do it
        found = [other for other, _ in one.found]
        if not found:
            continue
        if (
            word.sort is Sort.VERB
            and word.agents
            and all(_kin_only(word.agents, other, told) or _doer(word.agents, other, told) for other in found)
        ):
            return f"says {_called(word.agents)} does what its sources say of somebody else"
        bound = [other for other in found if not loose or (word.clause, other.clause) in verbs]
        bound = [other for other in bound if word.sort is not Sort.VERB or other.sort is Sort.VERB]
        if (
            word.agents
            and bound
            and all(_other_agent(word, other, told, verbs, claim, word.clause not in heavy) for other in bound)
        ):
            return f"says {_called(word.agents)} does what its sources say of somebody else"
        if word.patients and all(_other_patient(word.patients, other.patients, told) for other in found):
            return f"says of {_called(word.patients)} what its sources say of somebody else"
        if (
            word.owner
            and word.sort is Sort.OTHER
            and all(_other_owner(word.owner, other.owner) and not _from_other_end(word, other) for other in found)
        ):
            return f"gives {_called((word.owner,))} what its sources give to somebody else"
        if word.sort is Sort.NAME and all(_other_way(word.led_by, other.led_by) for other in found):
            return f"turns round what its sources say of {word.token.text}"
    return None


def _kin_only(ours: Sequence[Party], other: Word, told: Sequence[Word]) -> bool:
    """Tell whether the clause names one of ours only as whose somebody is: "went to Ann's daughter"."""
    clause = [one for one in told if one.clause == other.clause]
    if any(one.sort is Sort.PRONOUN or one.token.plain in {"her", "him"} for one in clause):
        return False
    for one in ours:
        named = [at for at, each in enumerate(clause) if one.name and each.plain in one.words]
        if named and all(
            clause[at].token.owner and any(lexicon.animate(each.plain) for each in clause[at + 1 : at + 2])
            for at in named
        ):
            return True
    return False


def _doer(ours: Sequence[Party], other: Word, told: Sequence[Word]) -> bool:
    """Tell whether a verb is found only in who does it, "a designer", and that is nobody of ours."""
    if other.sort is not Sort.OTHER or not other.plain.removesuffix("s").endswith(("er", "or", "ist")):
        return False
    return any(one.name for one in ours) and not any(_is(one, other, told) for one in ours)


def _called(parties: Sequence[Party]) -> str:
    return " and ".join(" ".join(sorted(part.title() for part in one.words)) for one in parties)


def _other_agent(
    word: Word, other: Word, told: Sequence[Word], verbs: set[tuple[int, int]], claim: Sequence[Word], bare: bool
) -> bool:
    """Tell whether somebody else does it there for certain.

    `verbs` are the clauses that share their verb; `bare` says that the claim's has none beside "be" and "have".
    """
    if _from_other_end(word, other):
        return False
    ours, theirs = word.agents or (), other.agents
    converse = _converse(word, other)
    if not theirs:
        return converse
    clause = [one for one in told if one.clause == other.clause]
    for one in ours:
        same = any(one.words & each.words or _same_thing(one, each) for each in theirs)
        if converse:
            if same and not any(each.plain in _SELVES for each in (*clause, *claim)):
                return True
            continue
        if same:
            continue
        if word.sort is Sort.VERB and _swapped(
            one, theirs, clause, [each for each in claim if each.clause == word.clause]
        ):
            return True
        elsewhere = any(each.plain in one.words for each in clause) and word.sort is Sort.VERB
        certain = all(
            _certain(one, each, word, (word.clause, other.clause) in verbs, elsewhere)
            or (
                (word.sort is Sort.VERB or (bare and not word.led_by and other.clause not in _busy(told)))
                and _somebody_else(one, each, told, bare or word.patients is not None)
            )
            for each in theirs
        )
        mentioned = word.sort is not Sort.VERB and any(
            each.plain in one.words and not each.token.owner for each in clause
        )
        if certain and not mentioned:
            return True
    return False


def _swapped(ours: Party, theirs: Sequence[Party], there: Sequence[Word], here: Sequence[Word]) -> bool:
    """Tell whether both stand in both clauses, and who does it in the one is who it is done to in the other."""
    done_to = any(each.plain in ours.words and each.led_by in _ENDS and not each.token.owner for each in there)
    return done_to and all(
        any(each.plain in one.words and each.led_by in _ENDS and not each.token.owner for each in here)
        for one in theirs
    )


def _certain(ours: Party, theirs: Party, word: Word, same_verb: bool, elsewhere: bool) -> bool:
    """Tell whether two parties cannot be one: two names, somebody and a relative of theirs, two things of one verb.

    `elsewhere` says that the clause names ours in another part: then it is not ours that acts.
    """
    if ours.name and (theirs.name or (elsewhere and any(map(lexicon.animate, theirs.words)))):
        return True
    if word.sort is not Sort.VERB and not same_verb:
        return False
    if ours.name or theirs.name:
        named, thing = (ours, theirs) if ours.name else (theirs, ours)
        return bool(thing.of & named.words) and lexicon.animate(*thing.words)
    return any(map(lexicon.animate, ours.words)) and any(map(lexicon.animate, theirs.words))


def _somebody_else(ours: Party, theirs: Party, told: Sequence[Word], turned: bool) -> bool:
    """Tell whether one is a name and the other "the caretaker" or "the council", and nothing says they are one."""
    if ours.name == theirs.name or (theirs.name and not turned):
        return False
    named, thing = (ours, theirs) if ours.name else (theirs, ours)
    nouns = [each for each in told if each.plain in thing.words]
    return any(map(lexicon.acting, thing.words)) and not any(_is(named, each, told) for each in nouns)


def _is(named: Party, noun: Word, told: Sequence[Word]) -> bool:
    """Tell whether the source says of somebody named that this is what they are: "Ann is a nurse", "as a nurse"."""
    if not any(one.words & named.words for one in noun.agents or ()):
        return False
    return noun.led_by == "as" or (not noun.led_by and noun.clause not in _busy(told))


def _busy(told: Sequence[Word]) -> frozenset[int]:
    """List the clauses that have a verb of their own, beside "be" and "have"."""
    return frozenset(each.clause for each in told if each.sort is Sort.VERB)


def _same_thing(one: Party, other: Party) -> bool:
    if one.name or other.name:
        return False
    return any(lexicon.relation(ours, theirs) is Relation.SAME for ours in one.words for theirs in other.words)


def _converse(one: Word, other: Word) -> bool:
    if one.phrase and other.phrase:
        return lexicon.converse(one.phrase, other.phrase)
    ours, theirs = set(lexicon.bases(one.plain)), set(lexicon.bases(other.plain))
    return ours.isdisjoint(theirs) and any(lexicon.converse(a, b) for a in ours for b in theirs)


def _other_patient(ours: Sequence[Party], theirs: Sequence[Party] | None, told: Sequence[Word]) -> bool:
    if not theirs or any(one.words & other.words for one in ours for other in theirs):
        return False
    return all((one.name and other.name) or _somebody_else(one, other, told, False) for one in ours for other in theirs)


def _other_owner(ours: Party, theirs: Party | None) -> bool:
    return theirs is not None and not ours.words & theirs.words


def _other_way(ours: str, theirs: str) -> bool:
    return (ours in _TOWARDS and theirs in _AWAY) or (ours in _AWAY and theirs in _TOWARDS)
