"""Judge what a persona says, sharing no code with the product's own checks but the encoder.

A claim is held against what it cites twice: against the reflections and their turns, word for word (`doubt`), and
against the turns alone, which somebody else wrote (`grounded`). Gold events are stated when a claim is close enough
(`coverage`). Rules are simple on purpose, so that a doubtful claim can be looked up and argued about.

Source: docs/spec/persona.md §9.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from substrate.recall import embedding

if TYPE_CHECKING:
    from curator.persona.markdown import ParsedClaim

CHANGED = "What changed"  # the heading of the section that tells it
STATED = 0.65  # cosine at which a claim states a gold event (persona.md §9)
GROUNDED = 0.85  # cosine plus share of words; facts pass on their own turns in 94 % of cases, on another's in 5 %
MEANING = 0.5  # cosine below which a claim says something else than the fact it cites
FOREIGN = 0.1  # share of a claim's words that its sources need not hold

Rows = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Rows]

_WORDS = {
    "small": """a an the and or but of to in on at for with from by as is are was were be been being has have had do
        does did he she it they his her its their him them this that these those who which what when where how so not
        no on then asks reflection user january february march april may june july august september october november
        december""",
    "denying": "not no never none nobody nothing without cannot neither nor",
    "pointing back": "he she it they his her its their this that these those and but",
}
_SMALL, _DENIALS, _BACK = (frozenset(text.split()) for text in _WORDS.values())


@dataclass(frozen=True, slots=True)
class Told:
    """What a footnote leads to: the text of a reflection, its day, and the turns it is derived from."""

    text: str
    day: str
    turns: tuple[str, ...]


class Remembered:
    """Encode each text once; `seconds` is the processor's time that took."""

    def __init__(self) -> None:
        self.rows: dict[str, Rows] = {}
        self.seconds = 0.0
        self.model = embedding.load()

    def __call__(self, texts: Sequence[str]) -> Rows:
        """Give a row a text, in order."""
        started = time.process_time()
        new = [text for text in dict.fromkeys(texts) if text not in self.rows]
        if new:
            self.rows.update(zip(new, self.model.encode(new), strict=True))
        found = np.stack([self.rows[text] for text in texts]) if texts else np.zeros((0, 384), np.float32)
        self.seconds += time.process_time() - started
        return found


def coverage(texts: Sequence[str], gold: Sequence[str], embed: Embed) -> float:
    """Give the share of gold events that one of the texts states."""
    if not texts:
        return 0.0
    return float(((embed(list(gold)) @ embed(list(texts)).T).max(axis=1) >= STATED).mean())


def cut(texts: Iterable[str], length: int) -> list[str]:
    """Take texts from the front while they fit into so many words."""
    taken: list[str] = []
    room = length
    for text in texts:
        if (size := len(text.split())) <= room:
            taken.append(text)
            room -= size
    return taken


def doubt(text: str, cited: Sequence[Told], name: str, embed: Embed) -> str | None:
    """Hold a claim about `name` against what it cites; answer what is doubtful in a word, or None.

    Meaning and denial are those of the sentence cited that is nearest: a reflection may say several things.
    """
    if not cited:
        return "nothing cited"
    told = [part for source in cited for part in (source.text, *source.turns)]
    held = _words(told) | _words([name])
    dates = {piece for source in cited for piece in (*source.day.split("-"), str(int(source.day[8:])))}
    wanted = [word for word in _split(text) if word.lower() not in _SMALL]
    missing = [word for word in wanted if _reduced(word) not in held and word not in dates]
    if any(word[0].isdigit() for word in missing):
        return "number"
    if any(word[0].isupper() for word in missing if not text.startswith(word)):
        return "name"
    if missing and len(missing) > FOREIGN * len(wanted):
        return "words"
    told_by = [source.text for source in cited]
    pieces = [piece for told in told_by for piece in re.split(r"(?<=[.!?])\s+|\n+", told) if piece.strip()]
    nearest = max(pieces, key=lambda piece: (_shared(text, piece), -len(piece)), default="")
    if not any(map(denies, told)) if denies(text) else denies(nearest):
        return "denial"
    if float((embed([*told_by, *pieces]) @ embed([text])[0]).max()) < MEANING:
        return "meaning"
    return None


def _shared(text: str, other: str) -> int:
    """Count the words, small ones aside, that two texts have in common."""
    return len(_words([text]) & _words([other]) - _SMALL)


def grounded(text: str, turns: Sequence[str], name: str, embed: Embed) -> bool:
    """Tell whether turns say what a claim about `name` says: its words and its meaning together."""
    if not turns:
        return False
    wanted = [word for word in _split(text) if word.lower() not in _SMALL]
    held = _words(turns) | _words([name])
    share = sum(_reduced(word) in held for word in wanted) / max(1, len(wanted))
    return float((embed(list(turns)) @ embed([text])[0]).max()) + share >= GROUNDED


def denies(text: str) -> bool:
    """Tell whether a text denies something."""
    return bool(_DENIALS & set(text.lower().split())) or "n't" in text


def fragment(text: str) -> bool:
    """Tell whether a claim is no sentence, or begins with a word that points back."""
    ended = text.rstrip("”\"')]").endswith((".", "!", "?", "…"))
    paired = all(text.count(a) == text.count(b) for a, b in ("()", "“”", "[]"))
    return text.split()[0].lower().strip("“\"'") in _BACK or not ended or not paired or len(text.split()) < 3


def sections(claims: Iterable[ParsedClaim]) -> Mapping[str, list[str]]:
    """Group the claims of the body by heading, without the summary and the changes."""
    found: dict[str, list[str]] = {}
    for claim in claims:
        if claim.section not in (None, CHANGED):
            found.setdefault(str(claim.section), []).append(claim.text)
    return found


def naming(claims: Iterable[ParsedClaim]) -> float:
    """Give the share of sections of which a third of the claims holds a word of the heading."""
    shares = []
    for heading, texts in sections(claims).items():
        named = _words([heading]) - {"and"}
        shares.append(3 * sum(bool(named & _words([text])) for text in texts) >= len(texts))
    return sum(shares) / len(shares) if shares else 1.0


def _split(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace("’", "'").replace("'s", ""))


def _words(texts: Iterable[str]) -> set[str]:
    return {_reduced(word) for text in texts for word in _split(text)}


def _reduced(word: str) -> str:
    return re.sub(r"(?:ing|ed|es|s|ly|e)$", "", word.lower())
