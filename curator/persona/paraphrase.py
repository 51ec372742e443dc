"""Tell by an encoder whether a word of a claim rewords its source or adds to it.

A claim without a word that was added is closer to its source than with it; without a word that puts the source
otherwise it is no closer, where the claim as a whole is close, or it is much farther away. That does not hold for
names, times and people, which an encoder confuses with their like.

Source: docs/spec/persona.md §4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from curator.persona.grammar import lexicon
from curator.persona.grammar.clauses import Word
from curator.persona.grammar.tokens import CALENDAR, Sort
from curator.persona.similarity import Embed

CLOSE: Final = 0.9  # cosine of a claim and its source below which no word of it is taken for a paraphrase
CLOSER: Final = 0.015  # by how much the claim may be closer to its source without the word
FARTHER: Final = 0.06  # by how much a claim has to be farther from its source without a word, however close it is
WORDS: Final = 2  # words of a claim that may be put otherwise


def reworded(claim: str, unfound: Sequence[Word], told: str, embed: Embed) -> bool:
    """Tell whether each of the words only puts otherwise what `told` says."""
    if len(unfound) > WORDS or any(_fixed(word) for word in unfound):
        return False
    without = [_without(claim, word) for word in unfound]
    rows = embed([told, claim, *without])
    close = rows[1:] @ rows[0]
    bound = close[0] + CLOSER if close[0] >= CLOSE else close[0] - FARTHER
    return bool((close[1:] <= bound).all())


def _fixed(word: Word) -> bool:
    """Tell whether a word is a name, a number, a time or somebody: what an encoder takes for its like."""
    if word.sort in {Sort.NAME, Sort.NUMBER} or word.plain.removesuffix("s") in CALENDAR:
        return True
    return lexicon.timely(word.plain) or (
        word.sort is Sort.OTHER and lexicon.known(word.plain) and lexicon.animate(word.plain)
    )


def _without(claim: str, word: Word) -> str:
    before, _, after = claim.partition(word.token.text)
    return f"{before.rstrip()} {after.lstrip()}".strip()
