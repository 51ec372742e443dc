"""Render stored text harmless, one function a sink.

Stored text is data. It is kept as given and escaped here, at the edge, so that no text can move a cursor, hide a
footnote, open a tag or become a formula. Every function is pure and total: any `str` goes in, lone surrogates and
control characters included, and encodable text comes out.

Source: DESIGN.md §8; docs/concepts/quoting.md shows each sink with an example.
"""

import re
import unicodedata

from substrate.limits import COMBINING_MARKS, QUOTE_CHARS

# What a reader cannot see: format characters (zero-width, bidi, tags), variation selectors, fillers that draw
# nothing, and the two Unicode line separators, which break a line in some viewers and not in others.
INVISIBLE = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
_SURROGATE = "\ud800-\udfff"

# Joiners that spell: inside an emoji sequence, and between letters of Arabic and Indic scripts. They stay.
_EMOJI = "[#*0-9\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff][\ufe0e\ufe0f]?[\u20e3\U0001f3fb-\U0001f3ff]?"
_JOINED = "[\u0620-\u06dc\u06de-\u06ff\u0750-\u077f\u0900-\u0dff]"
_SPELLED = f"{_EMOJI}(?:\u200d{_EMOJI}){{0,8}}|(?<={_JOINED})[\u200c\u200d](?={_JOINED})"

_HIDDEN = re.compile(f"({_SPELLED})|([{_CONTROL}{_SURROGATE}{INVISIBLE}])")


def terminal(text: str) -> str:
    r"""Show text on a terminal: newline and tab stay, every other control and invisible character is spelled out.

    ESC becomes the six characters `\u{1b}`, so no escape sequence, cursor move, clipboard write or bidi override
    reaches the terminal. A base character keeps `limits.COMBINING_MARKS` marks; what exceeds them is counted.
    """
    return _HIDDEN.sub(_spell, _bounded(text.replace("\r\n", "\n")))


def line(text: str) -> str:
    """Show text on one terminal line: every run of white space is one space."""
    return terminal(one_line(text))


def one_line(text: str) -> str:
    """Return text with every run of white space, line breaks included, as one space, and none at the ends."""
    return " ".join(text.split())


def quote(value: object, most: int = QUOTE_CHARS) -> str:
    """Show an offending value in a message: quoted, on one line, cut to `most` characters."""
    text = value if isinstance(value, str) else repr(value)
    shown = line(text[: most + 1])
    return f"'{shown}'" if len(shown) <= most and len(text) <= most else f"'{shown[:most]}…'"


def _spell(match: re.Match[str]) -> str:
    return match[1] or f"\\u{{{ord(match[2]):x}}}"


def _bounded(text: str) -> str:
    """Cut each run of combining marks to `limits.COMBINING_MARKS` and say how many were left out."""
    if text.isascii():
        return text
    kept: list[str] = []
    run = 0
    for char in text:
        if unicodedata.category(char) in ("Mn", "Me"):
            run += 1
            if run > COMBINING_MARKS:
                continue
        else:
            if run > COMBINING_MARKS:
                kept.append(f"[+{run - COMBINING_MARKS} marks]")
            run = 0
        kept.append(char)
    if run > COMBINING_MARKS:
        kept.append(f"[+{run - COMBINING_MARKS} marks]")
    return "".join(kept)
