"""Judge claims without the product's own checks: are they held by what they cite, are they sentences, are they named?

Shares no code with `curator`: words are cut and reduced here, in a cruder way, on purpose.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

HELD = 0.9  # share of a claim's content words that what it cites must hold
NEAR = 0.5  # cosine a claim must have with one of the facts it cites
_SMALL = """a an the and or but of to in on at for with from by as is are was were be been being has have had do does did he
    she it they his her its their him them this that these those who which what when where how so not no asks reflection
    user january february march april may june july august september october november december"""
SMALL = frozenset(_SMALL.split())
DENIALS = frozenset({"not", "no", "never", "none", "nobody", "nothing", "without", "cannot", "neither", "nor"})
BACK = frozenset(
    {"he", "she", "it", "they", "his", "her", "its", "their", "this", "that", "these", "those", "and", "but"}
)


def doubt(
    claim: str, name: str, facts: Sequence[str], turns: Sequence[str], days: Sequence[str], embed: Embed
) -> str | None:
    """Answer what is doubtful about a claim on `name`, or None.

    `facts` are the texts it cites, `turns` what was said behind them, `days` their dates (2026-05-14).
    """
    told = [*facts, *turns]
    held = {reduced(word) for part in (*told, name) for word in split(part)}
    held |= {piece.lstrip("0") for day in days for piece in day.split("-")}
    wanted = [word for word in split(claim) if word.lower() not in SMALL]
    missing = [word for word in wanted if reduced(word) not in held]
    if any(word[0].isdigit() for word in missing):
        return "number"
    if any(word[0].isupper() for word in missing if not claim.startswith(word)):
        return "name"
    if len(missing) > (1 - HELD) * len(wanted):
        return "words"
    if denies(claim) != any(map(denies, facts)) and (denies(claim) or all(map(denies, facts))):
        return "denial"
    if not facts or float((embed(facts) @ embed([claim])[0]).max()) < NEAR:
        return "meaning"
    return None


def split(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace("’", "'").replace("'s", ""))


def reduced(word: str) -> str:
    return re.sub(r"(?:ing|ed|es|s|ly)$", "", word.lower())


def denies(text: str) -> bool:
    return bool(DENIALS & set(text.lower().split())) or "n't" in text


def fragment(claim: str) -> bool:
    """Tell whether a claim is no sentence, or begins with a word that points back."""
    first = claim.split()[0].lower().strip("“\"'")
    ended = claim.rstrip("”\"')]").endswith((".", "!", "?", "…"))
    paired = all(claim.count(a) == claim.count(b) for a, b in ("()", "“”", "[]"))
    return first in BACK or not ended or not paired or len(claim.split()) < 3


def named(heading: str, claims: Sequence[str]) -> bool:
    """Tell whether a third of the claims holds a word of the heading."""
    words = {reduced(word) for word in split(heading)} - {"and"}
    return 3 * sum(bool(words & {reduced(word) for word in split(claim)}) for claim in claims) >= len(claims)
