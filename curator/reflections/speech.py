"""Tell who speaks in an observation, line by line, and whom it is about.

"I moved to Lisbon" is about whoever says it, and a text alone does not tell who that is. The observation has to: by
`metadata.speaker`, by a label before a sentence, or by the handle of who wrote it.

Source: docs/spec/reflections.md §1, §2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from curator.persona import words
from curator.persona.vocabulary import SPEAKER
from curator.reflections import labels
from curator.reflections.names import Names
from curator.reflections.quotation import scan
from substrate.store.model import Json, MemoryRow

KEY = "speaker"  # of the metadata of an observation: who speaks in it
_OWN = ("human", "agent")


@dataclass(frozen=True, slots=True)
class Note:
    """Hold what of an observation tells whom it is about."""

    id: str
    sequence: int
    title: str | None
    content: str
    metadata: Json | None
    by_handle: str | None
    origin: str

    @classmethod
    def of(cls, row: MemoryRow) -> Note:
        """Take it from a row."""
        return cls(row.id, row.sequence, row.title, row.content or "", row.metadata, row.by_handle, row.origin)


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one line of a text without its label, and the entity that speaks in it, None for nobody known.

    ``reported`` where the observation says of it that somebody speaks, known or not: what is told in it is hearsay.
    """

    text: str
    speaker: str | None
    reported: bool = False


def lines(note: Note, names: Names) -> Iterator[Line]:
    """Yield the lines of an observation with who speaks in each.

    Whoever the observation names speaks until a label hands the floor to somebody; where that is nobody known, and
    wherever it is in doubt, nobody speaks. What stands between quotation marks over a sentence's end is said by nobody.
    """
    told = list(_turns(note, names))
    last = max((at for at, turn in enumerate(told) if turn.signed), default=-1)
    for at, turn in enumerate(told):
        yield Line(turn.text, None if at < last else turn.speaker, turn.reported)


@dataclass(frozen=True, slots=True)
class _Turn:
    """Hold what one speaks on one line; ``signed`` where it could be the name of who said what stands before."""

    text: str
    speaker: str | None
    reported: bool
    signed: bool = False


def _turns(note: Note, names: Names) -> Iterator[_Turn]:
    """Cut an observation where the floor passes, and where a line ends."""
    floor = speaker_of(note, names)
    reported, opened = KEY in (note.metadata or {}), ""
    whole = [line for line in note.content.splitlines() if line.strip()]
    for line in whole:
        if len(whole) > 1 and labels.heads(line):
            yield _Turn(line, None, reported, signed=line is whole[-1] and labels.signed(line))
            floor = None
            continue
        text, speaker = "", floor
        for start, end, sure in labels.cuts(line):
            sentence = line[start:end]
            heard = labels.heard(sentence, names.lead)
            if heard is not None and not heard.once:
                floor = names.lead(heard.label) if heard.label and sure else None
                opened, reported = ("" if floor else opened), True
            now = floor if not opened and (heard is None or not heard.once) else None
            opened = scan(sentence, opened)[1]
            if text and (heard is not None or now != speaker):
                yield _Turn(text, speaker, reported)
                text = ""
            text, speaker = text + (sentence[heard.body :] if heard and floor else sentence), now
        if text.strip():
            yield _Turn(text, speaker, reported, labels.signed(text))


def speaker_of(note: Note, names: Names) -> str | None:
    """Answer the entity that speaks in an observation by what stands beside its text, None for nobody known.

    What was carried here from elsewhere is not spoken by who carried it.
    """
    stated = (note.metadata or {}).get(KEY)
    if stated is not None:
        return names.lead(stated) if isinstance(stated, str) else None
    return names.lead(note.by_handle) if note.origin in _OWN and note.by_handle else None


def subjects(note: Note, names: Names) -> frozenset[str]:
    """Collect the entities an observation is about: those its title or text names, and who speaks of itself in it."""
    found = names.among(note.title or "")
    for line in lines(note, names):
        found |= names.among(line.text)
        if line.speaker is not None and not SPEAKER.isdisjoint(words.folded(line.text)):
            found |= {line.speaker}
    return found
