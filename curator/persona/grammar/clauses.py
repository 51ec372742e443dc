"""Take a text apart into clauses, and tell of each word who does it, and whether it is denied or only wished.

Source: docs/spec/persona.md §4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from curator.persona import words
from curator.persona.grammar import lexicon, roles
from curator.persona.grammar.roles import Party
from curator.persona.grammar.tokens import NOUNY, Sort, Token, tokens
from curator.persona.grammar.vocabulary import DENYING_VERBS, LIGHT, PARTICLES, SHUNNING, WISHES
from curator.persona.sentences import sentences


@dataclass(frozen=True, slots=True)
class Word:
    """Hold a token with what its clause says about it.

    `agents` are those who do it or of whom it is said, None where nobody can tell; `former` stands behind "used to",
    `ceased` in a clause with "no longer"; `phrase` is the verb of two words it begins; `place` is its position in the
    text, `sentence` and `clause` count from 0 in the text.
    """

    token: Token
    sentence: int
    clause: int
    place: int
    denied: bool
    wished: bool
    former: bool
    ceased: bool
    future: bool
    stops: bool
    agents: tuple[Party, ...] | None
    patients: tuple[Party, ...] | None
    owner: Party | None
    led_by: str
    phrase: str | None

    @property
    def plain(self) -> str:
        """Answer the folded word."""
        return self.token.plain

    @property
    def sort(self) -> Sort:
        """Answer what the word is."""
        return self.token.sort


@words.remembered
def read(text: str, name: str, names: frozenset[str]) -> tuple[Word, ...]:
    """Read a text about `name`; `names` are the folded words that are names in it or in what it is compared with."""
    found: list[Word] = []
    self = roles.party(name)
    last: Party | None = self
    clause = 0
    for number, sentence in enumerate(sentences(text)):
        told = tokens(sentence, names)
        inherited: tuple[Party, ...] | None = None
        wishes: list[bool] = []
        for start, end in spans(told):
            part = told[start:end]
            cast = roles.cast(told, start, end, inherited, last, self)
            inherited = cast.subject if cast.subject is not None else inherited
            last = _meant(cast.subject, last, self)
            denials, former = denied(part), past(part)
            ceased = any(one.plain in {"longer", "anymore"} for one in part)
            wishes = [True] * len(part) if _goes_on(part) and wishes and wishes[-1] else wished(part)
            for offset, token in enumerate(part):
                found.append(
                    Word(
                        token,
                        number,
                        clause,
                        len(found),
                        denials[offset],
                        wishes[offset],
                        former[offset],
                        ceased,
                        any(one.plain in {"will", "shall", "going"} for one in part[:offset]),
                        _stops(part, offset) or _wishes(part, offset),
                        cast.agents[offset],
                        cast.patients[offset],
                        cast.owners[offset],
                        _led_by(part, offset),
                        _phrase(part, offset),
                    )
                )
            clause += 1
    return tuple(found)


def _meant(subject: tuple[Party, ...] | None, last: Party | None, self: Party) -> Party | None:
    """Answer whom "he" or "she" means next: the one subject, nobody for certain behind somebody without a name."""
    if not subject:
        return last
    if len(subject) > 1:
        return last if any(last is not None and one.words & last.words for one in subject) else self
    only = subject[0]
    if only.name:
        return only
    return None if any(map(lexicon.animate, only.words)) else last


def _goes_on(part: Sequence[Token]) -> bool:
    """Tell whether the clause goes on with another verb behind the same helper: "wants to retire and move"."""
    if len(part) < 2 or part[0].sort is not Sort.CONJUNCTION or part[1].sort is not Sort.VERB:
        return False
    return lexicon.bases(part[1].plain)[:1] == (part[1].plain,)


def spans(told: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where each clause begins and ends."""
    start = 0
    for at, token in enumerate(told):
        if at > start and _opens(told, start, at):
            yield start, at
            start = at
        if token.sort is Sort.MARK and token.plain not in {'"', "“", "”"}:
            yield start, at + 1
            start = at + 1
    if start < len(told):
        yield start, len(told)


def _opens(told: Sequence[Token], start: int, at: int) -> bool:
    """Tell whether a clause opens here: before a relative, a subordinator with a verb, or a conjunction with one."""
    token = told[at]
    if token.sort is Sort.RELATIVE:
        return token.plain not in {"that"} or told[at - 1].sort in NOUNY | {Sort.VERB, Sort.PRONOUN, Sort.MARK}
    if token.sort is Sort.SUBORDINATOR:
        return token.plain == "than" or _verb_follows(told, at + 1)
    if token.plain == "rather" and at + 1 < len(told) and told[at + 1].plain == "than":
        return True
    if token.plain == "instead" and at + 1 < len(told) and told[at + 1].plain == "of":
        return True
    if token.sort is not Sort.CONJUNCTION:
        return False
    begun = any(one.sort in {Sort.VERB, Sort.AUXILIARY} for one in told[start:at])
    return token.plain == "but" or (begun and _verb_follows(told, at + 1))


def _verb_follows(told: Sequence[Token], at: int) -> bool:
    """Tell whether what follows is a verb, or a subject and a verb."""
    for token in told[at:]:
        if token.sort in {Sort.VERB, Sort.AUXILIARY}:
            return True
        if token.sort is Sort.NEGATION and token.plain in {"never", "not", "cannot"}:
            return True
        if token.sort not in NOUNY | {Sort.DETERMINER, Sort.PRONOUN, Sort.ADVERB}:
            return False
    return False


_WHOLE: Final = frozenset(
    [
        "not",
        "never",
        "nobody",
        "nothing",
        "none",
        "no-one",
        "nowhere",
        "cannot",
        "neither",
        "nor",
        "hardly",
        "barely",
        "scarcely",
    ]
)
_ONWARDS: Final = frozenset({"without", "unable", "free"})
_INSTEAD: Final = frozenset({("rather", "than"), ("instead", "of")})
_EMPTY: Final = frozenset({("no", "matter"), ("no", "doubt"), ("not", "only"), ("not", "just"), ("no", "less")})


def light(word: Word) -> bool:
    """Tell whether a word states nothing by itself."""
    bases = {word.plain, *(base for base in lexicon.bases(word.plain) if base != "be")}  # bees are no form of it
    return word.sort is not Sort.NAME and not LIGHT.isdisjoint(bases)


def denied(part: Sequence[Token]) -> list[bool]:
    """Tell of each token of a clause whether the clause denies it: an even number of denials cancels out."""
    found = [False] * len(part)

    def flip(start: int, end: int = len(part)) -> None:
        for at in range(start, end):
            found[at] = not found[at]

    for at, token in enumerate(part):
        after = part[at + 1].plain if at + 1 < len(part) else ""
        if (token.plain, after) in _EMPTY:
            continue
        yet = token.plain == "yet" and after == "to"  # "has yet to see"
        if yet or (token.sort is Sort.NEGATION and token.plain not in _ONWARDS) or token.plain == "no":
            if found[at] and token.plain in {"nor", "neither", "nothing"}:
                continue
            onwards = token.plain == "no" and at and part[at - 1].sort in {Sort.CONJUNCTION, Sort.PREPOSITION}
            flip(at if onwards else 0)
        elif token.sort is Sort.NEGATION or (token.plain, after) in _INSTEAD:
            flip(at, _phrase_end(part, at))
        elif _stops(part, at):
            flip(at + 1, next((far for far in range(at + 1, len(part)) if _limits(part, far)), len(part)))
    return found


def _phrase_end(part: Sequence[Token], at: int) -> int:
    """Answer where the phrase behind "without", "free of" or "instead of" ends."""
    for end in range(at + 2, len(part)):
        if part[end].sort in {Sort.PREPOSITION, Sort.MARK} or part[end].plain in {"once", "twice", "every", "each"}:
            return end
    return len(part)


def _stops(part: Sequence[Token], at: int) -> bool:
    """Tell whether the verb here takes back what follows: "refuses to take", "gave up fencing", "lacks"."""
    if part[at].sort not in {Sort.VERB, Sort.OTHER}:
        return False
    bases = set(lexicon.bases(part[at].plain))
    if "lack" in bases and part[at].sort is Sort.VERB:
        return True
    following = part[at + 1 : at + 4]
    if bases & {"give"} and following and following[0].plain == "up":
        return len(following) > 1 and following[1].sort not in {Sort.PREPOSITION, Sort.MARK}
    if bases & {"keep", "prevent"} and (ends := [n for n, one in enumerate(part[at:-1], at) if one.plain == "from"]):
        return any(part[end + 1].plain.endswith("ing") for end in ends)  # "kept her from sleeping"
    if bases & {"keep"} and any(one.plain == "out" for one in following):
        return any(one.plain == "of" for one in part[at:])
    if not bases & DENYING_VERBS:
        return False
    if bases & SHUNNING and following and following[0].sort in NOUNY | {Sort.DETERMINER}:
        return True
    return bool(following) and (following[0].plain in {"to", "from"} or following[0].plain.endswith("ing"))


def _limits(part: Sequence[Token], at: int) -> bool:
    """Tell whether a condition begins here: "wants to stay once it is done"."""
    if part[at].plain == "once":
        return at + 1 < len(part) and part[at + 1].plain not in {"a", "an", "every", "each", "in"}
    return part[at].sort is Sort.SUBORDINATOR and part[at].plain not in {"as", "than"}


def _wishes(part: Sequence[Token], at: int) -> bool:
    """Tell whether the word here makes a wish or a plan of what follows: "wants to", "thinks of"."""
    after = part[at + 1].plain if at + 1 < len(part) else ""
    return not WISHES.isdisjoint(lexicon.bases(part[at].plain)) and after in {"to", "of", "on", "about"}


_PERHAPS: Final = frozenset({"may", "might", "maybe", "perhaps", "could"})


def wished(part: Sequence[Token]) -> list[bool]:
    """Tell of each token of a clause whether it stands behind a wish, a plan or a possibility."""
    found = [False] * len(part)
    if part and part[0].plain in {"if", "when", "whenever"}:
        return found
    hedges = frozenset() if any(denied(part)) else _PERHAPS
    for at, token in enumerate(part):
        after = part[at + 1].plain if at + 1 < len(part) else ""
        plans = _wishes(part, at)
        likes = token.plain == "would" and after in {"like", "love"}
        if plans or likes or (token.plain in hedges and token.sort is not Sort.OTHER):
            end = next((far for far in range(at + 1, len(part)) if _limits(part, far)), len(part))
            found[at + 1 : end] = [True] * (end - at - 1)
            break
    return found


def past(part: Sequence[Token]) -> list[bool]:
    """Tell of each token of a clause whether it stands behind "used to": it is so no more."""
    start = next((at for at, one in enumerate(part[:-1]) if one.plain == "used" and part[at + 1].plain == "to"), None)
    return [start is not None and at > start for at in range(len(part))]


def _led_by(part: Sequence[Token], at: int) -> str:
    """Answer the preposition whose phrase the token is in, or nothing."""
    for token in reversed(part[:at]):
        if token.sort in {Sort.PREPOSITION, Sort.SUBORDINATOR}:
            return token.plain
        if token.sort not in NOUNY | {Sort.DETERMINER}:
            return ""
    return ""


def _phrase(part: Sequence[Token], at: int) -> str | None:
    if part[at].sort is not Sort.VERB:
        return None
    for token in part[at + 1 : at + 4]:
        if token.plain in PARTICLES and (found := lexicon.phrase(part[at].plain, token.plain)):
            return found
    return None
