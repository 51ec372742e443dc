"""Find where a text hands the floor to somebody: a label, or what could be one, at the start of a sentence.

What is said behind a label is not said by who spoke before. So whatever could be a label is read as one: a sentence
that is lost costs little, and one in the wrong mouth breaks what a memory is for. Every expression is linear in the
text.

Source: docs/spec/reflections.md §2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from curator.persona import words
from curator.persona.vocabulary import AUXILIARIES, PASSING, REPORTING, SPEAKER, STOP
from curator.reflections.quotation import outside
from curator.reflections.talk import OPENING

SHORT: Final = 4  # words of a head at most that is a label before a mark other than a colon

_SELF: Final = frozenset(["i", "i'm", "i've", "i'll", "i'd", "we", "we're", "we've", "we'll", "we'd"])
_SAYS: Final = REPORTING | {"wrote", "writes", "replied", "replies", "answered", "answers", "added", "adds", "asked"}
_COMMON: Final = STOP | AUXILIARIES | PASSING | OPENING

_CUT = re.compile("(?<=[.!?…。！？؟;；])[”\"’'»)\\]]*(?:\\s+(?=\\S)|(?=[^\\W\\d_]))")
_SHORTENED = re.compile(r"(?:^|\W)(?:[^\W\d_]{1,2}|\w+\.\w|[A-Z]\w*|etc|vs|approx|\d{1,3})\.$")
_CLOSED: Final = {
    "[": "]",
    "(": ")",
    "<": ">",
    "{": "}",
    "【": "】",
    "［": "］",
    "（": "）",
    "＜": "＞",
    "〈": "〉",
    "“": "”",
    '"': '"',
    "«": "»",
    "‘": "’",
    "„": "“",
    "「": "」",
    "**": "**",
    "__": "__",
    "*": "*",
    "`": "`",
}
_QUOTES: Final = '“"«‘„「'
_NAMING: Final = "[<{【［＜〈"  # in round ones stands an aside as well

_CLOCK = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:[.,]\d{1,6})?\s?(?:[ap]\.?m\b\.?|Z\b)?"
_DATE = r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}"
_TIME = re.compile(rf"(?:{_DATE}(?:[T,]?\s?{_CLOCK})?|{_CLOCK})(?!\w)", re.IGNORECASE)
_STAMPED = re.compile(rf"[\[(<]?(?:{_TIME.pattern})[\])>]?[\s,|-]*", re.IGNORECASE)
_BULLET = re.compile(r"[-*•‣+#]+\s+|\d{1,3}[.)]\s+|\s+")
_NUMBER = re.compile(r"\s*\d{1,3}[.)]\s+")
_CITED = re.compile(r"\s*[>＞|]")
_COLON = re.compile("[:：∶﹕꞉ː︰׃։]")
_DASH = re.compile(r"[—–―−‒⸺⸻]|--|\s-|-\s")
_MARK = re.compile(rf"{_DASH.pattern}|\t|,(?=[^\W\d_])|[^\w\s,.!?…'’‘“”„\"«»%&/$€£#@*+-]|\s[*/+#&]+\s")
_LAST_DASH = re.compile(r"(?:[—–―]|\s--?\s)\s?([^—–―]{1,60})$")
_LETTER = re.compile(r"[^\W\d_]")
_SIGNED = re.compile(r"\s*(?:[—–―~]+|-+\s)\s*")
_EMPHASIS = re.compile(r"\*\*|__|[*`]")
_BLANK: Final = "\0"  # stands for what is written of a time, the colon of which is no label


@dataclass(frozen=True, slots=True)
class Heard:
    """Say what a sentence does to the floor: ``label`` of whom it is handed to, None for nobody.

    ``body`` is where what is said begins, behind a label that leads to somebody. ``once`` where only this sentence is
    in doubt, and who spoke before goes on.
    """

    label: str | None = None
    body: int = 0
    once: bool = False


NOBODY: Final = Heard()
DOUBT: Final = Heard(once=True)


def cuts(line: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where each sentence of a line begins and ends, and whether one surely begins there."""
    start, sure = 0, True
    for match in _CUT.finditer(line, _opening(line)):
        if match.end() > start:
            yield start, match.end(), sure
            before = line[max(0, match.start() - 16) : match.start()]
            start, sure = match.end(), match[0][-1:].isspace() and not _loose(before)
    if start < len(line):
        yield start, len(line), sure


def _opening(line: str) -> int:
    """Answer where the number of a list before a line ends: its full stop ends no sentence."""
    match = _NUMBER.match(line)
    return match.end() if match else 0


def _loose(before: str) -> bool:
    return before.endswith((";", "；")) or _SHORTENED.search(before) is not None


def heard(sentence: str, known: Callable[[str], str | None]) -> Heard | None:
    """Answer to whom a sentence hands the floor, None where who spoke before goes on.

    ``known`` answers whom a name leads to. Where another label follows on a label, nobody can be meant.
    """
    found = _heard(sentence, known)
    if found is not None and found.label is not None and _heard(sentence[found.body :], lambda _: None) is not None:
        return NOBODY
    return found


def _heard(sentence: str, known: Callable[[str], str | None]) -> Heard | None:
    at = 0
    while match := _BULLET.match(sentence, at) or _CITED.match(sentence, at) or _STAMPED.match(sentence, at):
        at = match.end()
    text = _TIME.sub(lambda match: _BLANK * len(match[0]), sentence[at:])
    found = _bracketed(text, at, known) or _coloned(text, at, known) or _marked(text) or _bare(text) or _told_by(text)
    return found or (NOBODY if _CITED.match(sentence) else None)


def heads(line: str) -> bool:
    """Tell whether a line could say who speaks in what follows: a few words that are no sentence."""
    said = words.folded(line)
    ended = line.rstrip("”\"’')]* ").endswith((".", "!", "?", "…", ",", ";"))
    return (
        0 < len(said) <= 2 * SHORT and not ended and SPEAKER.isdisjoint(said) and not _COLON.search(_TIME.sub("", line))
    )


def alone(line: str) -> bool:
    """Tell whether a line could be a name by itself, as one signs."""
    said = [word.strip(",()[]<>*_") for word in line.split()] if _LETTER.search(line) else []
    plain = [words.plain(word) for word in said]
    if (
        not 0 < len(said) <= SHORT
        or _COLON.search(_TIME.sub("", line))
        or line.rstrip().endswith((".", "!", "?", "…"))
        or not _COMMON.isdisjoint(plain)
    ):
        return False
    if len(said) == 1:
        return len(said[0]) > 1 or said[0].isupper()
    return all(word[:1].isupper() or not word.isalpha() for word in said)


def signed(sentence: str) -> bool:
    """Tell whether a sentence is a name, behind a dash or without an end: who said what stands before it."""
    return alone(sentence.strip(" ()/")) or (
        _SIGNED.match(sentence) is not None and alone(_SIGNED.sub("", sentence).rstrip(".! "))
    )


def _first(text: str) -> bool:
    return not _SELF.isdisjoint(words.folded(outside(text)))


def _named(head: str) -> str:
    """Take what a chat or markup puts around a name off a head."""
    bare = _EMPHASIS.sub("", head).strip().removeprefix("@")
    return bare[1:-1].strip() if bare[:1] in _CLOSED and bare[-1:] == _CLOSED[bare[0]] else bare


def _bracketed(text: str, at: int, known: Callable[[str], str | None]) -> Heard | None:
    """Read a head between brackets, quotation marks or emphasis: "<bob> I …", "**Bob** I …"."""
    opening = "**" if text.startswith("**") else "__" if text.startswith("__") else text[:1]
    closing = _CLOSED.get(opening)
    if closing is None:
        return None
    end = text.find(closing, len(opening))
    if end < 0:
        return NOBODY
    head, rest = text[len(opening) : end], text[end + len(closing) :]
    if head.rstrip()[-1:] == ":" or _COLON.match(rest.lstrip()) or (not rest.strip(" .") and opening not in _NAMING):
        return None  # the colon tells more
    if not _SELF.isdisjoint(words.folded(head)) or (opening in _QUOTES and len(words.words(head)) > SHORT):
        return None
    named = opening in _NAMING and known(_named(head)) is not None
    return Heard(_named(head), at + len(text) - len(rest)) if named else NOBODY


def _coloned(text: str, at: int, known: Callable[[str], str | None]) -> Heard | None:
    """Read a head before a colon, however long."""
    match = _COLON.search(text)
    if match is None:
        return None
    who, body = _named(text[: match.start()]), text[match.end() :]
    return NOBODY if known(who) is None else Heard(who, at + len(text) - len(body.lstrip("*_` ")))


def _marked(text: str) -> Heard | None:
    """Read a head before a time, a dash, a bracket, a bar, an arrow or any other mark that prose has not."""
    match = _MARK.search(text)
    head = text[: match.start()] if match else ""
    if match is None or _first(head):
        return None
    said = words.folded(head)
    if match[0] == _BLANK and said and said[-1] in STOP:
        return None
    if len(said) <= SHORT or all(word[0].isupper() for word in words.words(head)):
        return NOBODY
    return DOUBT if _DASH.match(match[0]) else None


def _bare(text: str) -> Heard | None:
    """Read a name that is a sentence, as a play has it: "BOB. I moved"."""
    return NOBODY if alone(text.rstrip(".。 ")) else None


def _told_by(text: str) -> Heard | None:
    """Read who is named beside what is said: "I moved, said Tom", "I moved — Tom", "Tom said, I moved"."""
    head, _, after = text.partition(",")
    before, _, tail = text.rpartition(",")
    if (_tells(tail, 0) or _tells(tail, -1)) and _first(before):
        return NOBODY
    if _tells(head, -1) and _first(after):
        return NOBODY
    last = _LAST_DASH.search(text)
    return NOBODY if last and last[1][:1].isupper() and alone(last[1].rstrip(".! ")) else None


def _tells(part: str, at: int) -> bool:
    """Tell whether a few words are somebody and a verb of saying, at this place of them."""
    said = words.folded(part)
    return 2 <= len(said) <= SHORT + 1 and said[at] in _SAYS and _SELF.isdisjoint(said)
