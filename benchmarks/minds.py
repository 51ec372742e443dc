"""Know the listed changes of mind, and tell which of them a persona shows.

`changes.json` names pairs of memories of the RealMem people, listed by reading them before anything was measured. Ids
only: the texts are in the data. Two memories of one session can carry the same index, being one statement extracted
twice; either counts as the listed end.

A change shows a pair when its sources hold both ends. A memory that says a listed one again nearly word for word is
another row with the same statement: `shows` tells apart whether the very rows are cited (strict) or, for an end, one
that restates it (lenient).

Source: docs/spec/persona.md §9.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.corpora import REALMEM, ROOT
from benchmarks.judge import Embed

LISTED: Final = ROOT / "benchmarks" / "changes.json"
RESTATED: Final = 0.85  # cosine of a sentence of one memory with a sentence of another at which it restates it


@dataclass(frozen=True)
class Pair:
    """One listed change: its kind, whether a reader sees it at once, and the facts either end stands in."""

    id: str
    person: str
    kind: str
    clear: bool
    older: frozenset[str]
    newer: frozenset[str]


def listed(folder: Path, path: Path = LISTED) -> list[Pair]:
    """Read the list, and resolve its ends to the ids of facts that `corpora` gives them."""
    facts: dict[tuple[str, str, str], set[str]] = {}
    for file in sorted((folder / "realmem").glob(REALMEM)):
        content = json.loads(file.read_text(encoding="utf-8"))
        person = content["_metadata"]["person_name"]
        for session in content["dialogues"]:
            uuid = session["session_uuid"]
            for place, memory in enumerate(session["extracted_memory"], 1):
                facts.setdefault((person, uuid, memory["index"]), set()).add(f"{uuid}/memory/{place}")
    return [_pair(entry, facts) for entry in json.loads(path.read_text(encoding="utf-8"))["pairs"]]


def _pair(entry: Mapping[str, Any], facts: Mapping[tuple[str, str, str], set[str]]) -> Pair:
    ends = [frozenset(facts.get(_key(entry, side), ())) for side in ("older", "newer")]
    return Pair(entry["id"], entry["person"].replace("_", " "), entry["kind"], entry["clear"], *ends)


def _key(entry: Mapping[str, Any], side: str) -> tuple[str, str, str]:
    return entry["person"], entry[side]["session_uuid"], entry[side]["index"]


def shows(pair: Pair, cited: Collection[str], texts: Mapping[str, str], embed: Embed) -> tuple[bool, bool]:
    """Tell whether facts that a change cites hold both ends of a pair: strictly, and with restatements.

    `texts` maps the facts of the person to what they say.
    """
    ends = (pair.older, pair.newer)
    strict = all(end & set(cited) for end in ends)
    return strict, strict or all(any(_restates(one, end, texts, embed) for one in cited) for end in ends)


def _restates(one: str, end: Collection[str], texts: Mapping[str, str], embed: Embed) -> bool:
    if one in end:
        return True
    pieces = _sentences(texts[one])
    return any(float((embed(pieces) @ embed(_sentences(texts[id])).T).max()) >= RESTATED for id in end if id in texts)


def _sentences(text: str) -> Sequence[str]:
    return [piece for piece in re.split(r"(?<=[.!?])\s+|\n+", text) if len(piece.split()) > 2] or [text]
