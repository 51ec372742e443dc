"""Write a draft as Markdown, and read it back to exactly the claims and ids that were written.

Every piece of stored text is escaped on one line, so that none can add, move, hide or redefine a footnote, and the
only headings, bullets and footnotes of the document are those this module writes.

Source: docs/spec/persona.md §5.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from curator.persona import words
from curator.persona.claims import Claim, Draft
from curator.persona.source import Source
from substrate import secrets
from substrate.errors import Invalid
from substrate.escape import markdown, one_line, unescape_markdown

CHANGED: Final = "What changed"
HINT_WORDS: Final = 8  # words of a title or text shown behind a footnote
HINT_CHARS: Final = 72  # characters of the same
NO_HINT: Final = "reflection"  # where neither can be shown

_NUMBER = "[1-9][0-9]{0,5}"
_NOTE = re.compile(rf"\[\^({_NUMBER})\]: (\S+) — (.*) \((\S*)\)")
_MARKERS = rf"(?:\[\^{_NUMBER}\])+"
_CLAIM = re.compile(rf"((?:\\.|[^\\\[])+)({_MARKERS})(?: |$)")
_MARKER = re.compile(rf"\[\^({_NUMBER})\]")


@dataclass(frozen=True, slots=True)
class ParsedClaim:
    """Hold a claim as the document states it; `section` is None for the claims on top."""

    section: str | None
    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedPersona:
    """Hold what a document says, and its footnotes: the id behind number N stands at N - 1."""

    display: str
    claims: tuple[ParsedClaim, ...]
    footnotes: tuple[str, ...]


def render(name: str, draft: Draft, sources_by_id: Mapping[str, Source]) -> str:
    """Write the document; footnotes are numbered in order of first use, one a reflection.

    White space in stored text becomes single spaces. Raises KeyError for a claim that cites no source of the mapping.
    """
    numbers: dict[str, int] = {}
    blocks = [f"# {markdown(name)}".rstrip()]
    if draft.summary:
        blocks.append(" ".join(_claim(claim, numbers) for claim in draft.summary))
    sections = [(section.heading, section.claims) for section in draft.sections] + [(CHANGED, draft.changed)]
    for heading, claims in sections:
        if claims:
            listed = "\n".join(f"- {_claim(claim, numbers)}" for claim in claims)
            blocks.append(f"## {markdown(heading)}\n\n{listed}")
    notes = [f"[^{number}]: {id} — {_hint(sources_by_id[id])}" for id, number in numbers.items()]
    return "\n\n".join([*blocks, "\n".join(notes)]).rstrip("\n") + "\n"


def _claim(claim: Claim, numbers: dict[str, int]) -> str:
    markers = "".join(f"[^{numbers.setdefault(id, len(numbers) + 1)}]" for id in claim.sources)
    return f"{markdown(claim.text)}{markers}"


def _hint(source: Source) -> str:
    """Answer the title or the first words, where they are fit to be read, and the date."""
    from curator.persona.checks import unfit  # who only reads a document does not check it
    from curator.persona.sentences import clean

    texts = (secrets.redact(clean(one_line(text))) for text in (source.title, source.text) if text)
    hints = (" ".join(text.split(" ")[:HINT_WORDS])[:HINT_CHARS] for text in texts)
    hint = next((hint for hint in hints if unfit(hint) is None), NO_HINT)
    return f"{markdown(hint)} ({source.day})"


def parse(body_md: str) -> ParsedPersona:
    """Read a document back.

    Raises Invalid for anything `render` does not write: an uncited line, a marker without its note, a note nobody
    uses, a number out of order.
    """
    lines = [line for line in body_md.split("\n") if line]
    if not lines or not (lines[0] == "#" or lines[0].startswith("# ")):
        raise _malformed("it does not begin with a title", body_md[:80])
    first_note = next((at for at, line in enumerate(lines) if line.startswith("[^")), len(lines))
    footnotes = _notes(lines[first_note:])
    claims: list[ParsedClaim] = []
    section: str | None = None
    for line in lines[1:first_note]:
        if line.startswith("## "):
            section = unescape_markdown(line[3:])
        else:
            claims += _claims(line if section is None else line.removeprefix("- "), section, footnotes)
    used = dict.fromkeys(id for claim in claims for id in claim.sources)
    if tuple(used) != footnotes:
        raise _malformed("its footnotes are not those its claims use, in order", " ".join(footnotes))
    return ParsedPersona(unescape_markdown(lines[0][2:]), tuple(claims), footnotes)


def _notes(lines: Iterable[str]) -> tuple[str, ...]:
    found: list[str] = []
    for line in lines:
        match = _NOTE.fullmatch(line)
        if match is None or int(match[1]) != len(found) + 1 or match[2] in found:
            raise _malformed("a footnote is malformed, twice there or out of order", line)
        found.append(match[2])
    return tuple(found)


def _claims(line: str, section: str | None, footnotes: tuple[str, ...]) -> Iterable[ParsedClaim]:
    at = 0
    while at < len(line):
        match = _CLAIM.match(line, at)
        numbers = [int(number) for number in _MARKER.findall(match[2])] if match else []
        if match is None or any(not 0 < number <= len(footnotes) for number in numbers):
            raise _malformed("a claim has no footnote", line)
        yield ParsedClaim(section, unescape_markdown(match[1]), tuple(footnotes[number - 1] for number in numbers))
        at = match.end()


def _malformed(why: str, text: str) -> Invalid:
    return Invalid(f"This is no persona as it was written: {why}: {text[:80]!r}", hint="read it again from the store")


def word_count(body_md: str) -> int:
    """Count the words a reader sees, headings included, without footnotes, markers and bullets."""
    lines = (line for line in body_md.split("\n") if not line.startswith("[^"))
    plain = (_MARKER.sub(" ", line.removeprefix("- ").lstrip("# ")) for line in lines)
    return sum(words.count(unescape_markdown(line)) for line in plain)
