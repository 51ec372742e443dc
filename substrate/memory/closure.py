"""Work out what rests on a memory: its wordings, what was derived from them, and the personas that cite any of it.

Source: docs/spec/persona.md §1a; docs/spec/model.md §3 C6, C23.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from substrate import limits
from substrate.errors import Refused
from substrate.escape import quote
from substrate.identifiers import fold
from substrate.memory.references import AMONG
from substrate.store.model import MemoryRow
from substrate.store.transaction import Reader

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W{_UNSPACED}]+")  # in scripts without spaces each letter
_STOPS = frozenset(".!?:;…\n")  # what stands before the first word of a sentence
_RUN = 5  # words in a row that make one text a repeat of another
_SHORTEST = 8  # characters below which a whole text found in another says nothing
_VALUE = 4  # characters from which a word with a digit is a value that must not survive
_TOLD = 3  # words in a row by which a reason tells what was forgotten
_NUMBER = 2  # characters from which a word with a digit tells it
_LONG = 8  # letters from which a word tells it, unless reasons are usually given with it
_USUAL = """
    accident accidentally colleague confidence confidential correction customer deletion disclosed duplicate
    duplicated employee erroneous forgotten inaccurate incorrect information invented irrelevant mistaken
    misunderstanding misunderstood obsolete offensive outdated permission personal personally preference privately
    published replaced requested sensitive something speculation superseded unverified withdrawn withdrew
"""


@dataclass(frozen=True, slots=True)
class Closure:
    """What falls with a memory: its wordings, itself first; other memories; persona versions; and what is kept."""

    wordings: tuple[MemoryRow, ...]
    memories: tuple[MemoryRow, ...]
    personas: tuple[MemoryRow, ...]
    kept: tuple[MemoryRow, ...] = ()


def closure(
    r: Reader, seed: MemoryRow, *, keep_supported: bool = False, spared: Callable[[MemoryRow], bool] = lambda row: False
) -> Closure:
    """Follow `derived_from` backwards from a memory and its earlier wordings, through tombstones too.

    A persona falls when it cites what falls. Any other memory falls unless it is `spared` or, with `keep_supported`,
    has another source that stays and shows nothing of what falls. Earlier wordings of what falls fall with it, unless
    `spared`; those of a persona are versions of their own and do not. In the order of writing, tombstones left out.
    Raises Refused over `limits.LINEAGE_NODES` memories.
    """
    wordings = _wordings(r, [seed], spared)
    fallen = {row.id: row for row in wordings}
    while True:
        resting = [row for row in _resting_on(r, fallen) if row.id not in fallen and not spared(row)]
        kept = [row for row in resting if keep_supported and _stands(r, row, fallen)]
        standing = {row.id for row in kept}
        falling = [row for row in resting if row.id not in standing]
        if not falling:
            break
        fallen |= {row.id: row for row in _wordings(r, falling, spared)}
        if len(fallen) > limits.LINEAGE_NODES:
            raise Refused(
                f"over {limits.LINEAGE_NODES:,} memories rest on {quote(seed.id)}",
                hint="forget it without --cascade, then its dependants one by one",
            )
    first = {row.id for row in wordings}
    live = sorted((row for row in fallen.values() if row.status != "deleted"), key=lambda row: (row.sequence, row.id))
    return Closure(
        wordings=tuple(row for row in wordings if row.status != "deleted"),
        memories=tuple(row for row in live if row.id not in first and row.memory_kind != "persona"),
        personas=tuple(row for row in live if row.id not in first and row.memory_kind == "persona"),
        kept=tuple(row for row in kept if row.status != "deleted"),
    )


def repeats(text: str, erased: str) -> bool:
    """Tell whether a text says again what another said: the whole of it, or five words in a row."""
    words, gone = _WORD.findall(fold(text)), _WORD.findall(fold(erased))
    if len(" ".join(gone)) >= _SHORTEST and f" {' '.join(gone)} " in f" {' '.join(words)} ":
        return True
    return bool(_runs(words) & _runs(gone))


def tells(reason: str, erased: str) -> bool:
    """Tell whether a reason would keep something of an erased text: three words in a row, or one that gives it away.

    That is a number or code, a name (with a capital inside a sentence), or a long word that is not usual in reasons.
    Other words of the text may stand in a reason.
    """
    said, gone = _WORD.findall(fold(reason)), _WORD.findall(fold(erased))
    run = min(_TOLD, max(1, len(gone)))
    return bool(_runs(said, run) & _runs(gone, run)) or not _telling(erased).isdisjoint(said)


def _telling(text: str) -> set[str]:
    """Collect the words of a text, folded, each of which gives it away."""
    found, end = set(), 0
    for match in _WORD.finditer(text):
        word, folded = match[0], fold(match[0])
        inside = word if end and _STOPS.isdisjoint(text[end : match.start()]) else word[1:]
        end = match.end()
        numbered = len(word) >= _NUMBER and any(char.isdigit() for char in word)
        named = len(word) > 1 and any(char.isupper() for char in inside)
        if numbered or named or (len(folded) >= _LONG and folded not in _USUAL.split()):
            found.add(folded)
    return found


def _runs(words: list[str], size: int = _RUN) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}


def _values(text: str) -> set[str]:
    return {word for word in _WORD.findall(fold(text)) if len(word) >= _VALUE and any(char.isdigit() for char in word)}


def _wordings(r: Reader, rows: Iterable[MemoryRow], spared: Callable[[MemoryRow], bool]) -> list[MemoryRow]:
    """Read the wordings that these replaced, the rows themselves first."""
    found = {row.id: row for row in rows}
    fresh = [id for id, row in found.items() if row.memory_kind != "persona"]
    while fresh:
        earlier = r.select(MemoryRow, f"superseded_by {AMONG}", (fresh,), order="sequence DESC, id DESC")
        fresh = [row.id for row in earlier if row.id not in found and not spared(row)]
        found |= {row.id: row for row in earlier if row.id in fresh}
    return list(found.values())


def _resting_on(r: Reader, ids: Iterable[str]) -> list[MemoryRow]:
    where = f"id IN (SELECT source_id FROM memory_links WHERE relation = 'derived_from' AND target_id {AMONG})"
    return r.select(MemoryRow, where, (list(ids),), order="sequence, id")


def _stands(r: Reader, row: MemoryRow, fallen: dict[str, MemoryRow]) -> bool:
    """Tell whether a memory rests on something that stays and shows nothing of what falls.

    A fallen text that was erased before cannot be compared, so what rests on it does not stand.
    """
    if row.memory_kind == "persona" or row.content is None:
        return False
    sources = dict(
        r.query(
            "SELECT l.target_id, m.status FROM memory_links l JOIN memories m ON m.id = l.target_id"
            " WHERE l.relation = 'derived_from' AND l.source_id = ?",
            (row.id,),
        )
    )
    if all(status == "deleted" or id in fallen for id, status in sources.items()):
        return False
    text = f"{row.title or ''}\n{row.content}"
    gone = [other for other in fallen.values() if other.memory_kind != "persona"]
    if any(other.content is None for other in gone if other.id in sources):
        return False
    texts = [f"{other.title or ''}\n{other.content}" for other in gone if other.content is not None]
    return not any(repeats(text, other.content or "") for other in gone) and not any(
        _values(text) & _values(other) for other in texts
    )
