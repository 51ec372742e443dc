"""Notice a sentence that speaks of "the shelter" as if its reader knew which one.

Where another sentence of the same entity introduces it ("a homeless shelter"), the reader of the first alone misses it.

Source: docs/spec/persona.md §3, §9 (readability).
"""

import re
from collections.abc import Iterable
from typing import Final

from curator.persona import words
from curator.persona.vocabulary import FAMILIAR

_PHRASE: Final = (
    r"\s+((?:[\w'’-]+\s+){0,3}?[\w'’-]+)(?=\s+(?:and|but|or|is|was|are|were|as|because|with|by|to|from|on|at|for|after"
    r"|before|when|while|that|which|where|who|of|in|called|named|last|next)\b|[.,;:!?]|$)"
)
_NEW = re.compile(r"\b(?:a|an|another|some|his|her|their|its)" + _PHRASE, re.IGNORECASE)
_KNOWN = re.compile(r"\bthe" + _PHRASE, re.IGNORECASE)
_TOLD = re.compile(r"\s+(?:of|that|which|where|who|called|named|in|at|for)\b")  # what follows says which one


def introduced(texts: Iterable[str]) -> frozenset[str]:
    """Collect the nouns that the texts introduce, "a shelter" or "her shelter", as stems."""
    return frozenset(words.stem(match[1].split()[-1]) for text in texts for match in _NEW.finditer(text))


def leans(text: str, known: frozenset[str]) -> bool:
    """Tell whether the text speaks of "the" something among `known` that it does not introduce or tell itself."""
    for match in _KNOWN.finditer(text):
        noun = words.stem(match[1].split()[-1])
        before = {words.stem(word) for word in words.words(text[: match.start()])}
        if noun in known and noun not in before and noun not in FAMILIAR and not _TOLD.match(text, match.end()):
            return True
    return False
