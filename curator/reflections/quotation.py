"""Tell what of a text stands between quotation marks, over sentences and lines; linear in the text.

Source: docs/spec/reflections.md §2.
"""

from __future__ import annotations

import re
from typing import Final

from curator.persona import words
from curator.persona.vocabulary import SPEAKER

_PAIRS: Final = {
    "“": "”",
    "„": "“”",
    "‟": "”",
    '"': '"',
    "＂": "＂",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "‘": "’",
    "‚": "‘’",
    "'": "'",
    "’": "’",
    "「": "」",
    "『": "』",
    "”": "”",
    "❝": "❞",
    "〝": "〞",
}
_MARK = re.compile(f"[{''.join(_PAIRS)}」』❞〞]")
_SAID = "(?:said|says|wrote|writes|told us|added|adds|answered|answers|replied|replies)"
_BEFORE = re.compile(rf"([^\W\d_][\w '’-]{{0,62}}?) {_SAID}[,:]? [“«„\"][^“”«»„\"]*[”»“\"]\W*$")
_BEHIND = re.compile(rf"^[“«„\"][^“”«»„\"]*[”»“\"] (?:{_SAID} )?([^\W\d_][\w '’-]{{0,62}}?)(?: {_SAID})?\W*$")
WORDS: Final = 8  # words beside the quotation at most
_SINGLE: Final = "'’‘‚"


def scan(text: str, opened: str = "") -> tuple[str, str]:
    """Answer the text with all that is quoted blanked, each letter by a space, and what marks are open at its end.

    ``opened`` are those open at its beginning. A mark without its fellow leaves all behind it quoted.
    """
    stack = list(opened)
    kept: list[str] = []
    at = 0
    for match in _MARK.finditer(text):
        mark, place = match[0], match.start()
        piece = text[at:place]
        kept.append(" " * len(piece) if stack else piece)
        at = place
        if stack and mark in _PAIRS[stack[-1]] and not _inside_word(text, place, mark):
            stack.pop()
            kept.append(" ")
            at += 1
        elif mark in _PAIRS and not _apostrophe(text, place, mark):
            stack.append(mark)
    kept.append(" " * (len(text) - at) if stack else text[at:])
    return "".join(kept), "".join(stack)


def outside(text: str) -> str:
    """Answer the text with all that is quoted blanked."""
    return scan(text)[0]


def first_person(text: str) -> bool:
    """Tell whether somebody speaks of himself between quotation marks."""
    kept = scan(text)[0]
    quoted = "".join(" " if letter == kept[at] else letter for at, letter in enumerate(text))
    return not SPEAKER.isdisjoint(words.folded(quoted))


def teller(text: str) -> str | None:
    """Answer the name to which a sentence gives the one quotation in it, None where that is not plain."""
    match = _BEFORE.match(text) or _BEHIND.search(text)
    return match[1] if match and len(scan(text)[0].split()) <= WORDS else None


def _inside_word(text: str, at: int, mark: str) -> bool:
    return mark in _SINGLE and at > 0 and text[at - 1].isalnum() and text[at + 1 : at + 2].isalnum()


def _apostrophe(text: str, at: int, mark: str) -> bool:
    return mark in "'’" and at > 0 and (text[at - 1].isalnum() or text[at - 1] in ".!?")
