"""Make the lexicon of the support check from the files of WordNet 3.0 (Debian: `wordnet-base`).

    python -m benchmarks.lexicon /usr/share/wordnet > curator/persona/grammar/english.tsv

A line holds a word, its parts of speech, and its relatives: synonyms (the first senses of both), what is broader,
what is derived from it or it from, and its opposites. Kept are words that WordNet's own glosses use often enough, and
verbs of two words. Irregular forms stand at the end, with their base form.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

COMMON = 2  # times the glosses use a word for it to be kept
SENSES = {"n": 6, "v": 10, "a": 5, "r": 4}  # of a word, the most frequent first, that make synonyms
LEVELS = {"n": 2, "v": 1}  # steps up to what is broader
BROADER_SENSES = 2
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


@dataclass
class Synset:
    """Hold the words of one meaning, and its pointers: symbol, target, and the words at both ends."""

    words: list[str]
    pointers: list[tuple[str, tuple[str, str], int, int]]
    gloss: str


@dataclass
class Entry:
    """Hold what the lexicon says of one word."""

    parts: dict[str, int] = field(default_factory=dict)
    synonyms: set[str] = field(default_factory=set)
    broader: set[str] = field(default_factory=set)
    derived: set[str] = field(default_factory=set)
    opposites: set[str] = field(default_factory=set)


def read(folder: Path) -> tuple[dict[tuple[str, str], Synset], dict[tuple[str, str], list[str]]]:
    """Read the meanings, and of each word its meanings, the most frequent first."""
    synsets: dict[tuple[str, str], Synset] = {}
    senses: dict[tuple[str, str], list[str]] = {}
    for part, name in PARTS.items():
        for line in (folder / f"data.{name}").read_text("ascii").splitlines():
            if not line.startswith(" "):
                data, _, gloss = line.partition("|")
                synsets[part, data[:8]] = _synset(data.split(), gloss)
        for line in (folder / f"index.{name}").read_text("ascii").splitlines():
            if not line.startswith(" "):
                fields = line.split()
                senses[fields[0], part] = fields[-int(fields[2]) :]
    return synsets, senses


def _synset(fields: list[str], gloss: str) -> Synset:
    count = int(fields[3], 16)
    names = [re.sub(r"\(\w+\)$", "", word) for word in fields[4 : 4 + 2 * count : 2]]
    rest = fields[4 + 2 * count :]
    pointers = [
        (symbol, (part.replace("s", "a"), target), int(ends[:2], 16), int(ends[2:], 16))
        for symbol, target, part, ends in (rest[1 + 4 * at : 5 + 4 * at] for at in range(int(rest[0])))
    ]
    return Synset(names, pointers, gloss)


def frequent(synsets: dict[tuple[str, str], Synset]) -> Counter[str]:
    """Count how often the glosses use each word."""
    return Counter(word for synset in synsets.values() for word in re.findall(r"[a-z]+", synset.gloss.casefold()))


def irregular(folder: Path, common: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield irregular forms that are used, with their base."""
    for name in ("verb", "noun", "adj"):
        for line in (folder / f"{name}.exc").read_text("ascii").splitlines():
            form, base, *_ = line.split()
            if form.isalpha() and common[base] >= COMMON and not form.endswith(("ed", "ing", "s")):
                yield form, base


def entries(
    synsets: dict[tuple[str, str], Synset], senses: dict[tuple[str, str], list[str]], common: Counter[str]
) -> dict[str, Entry]:
    """Collect the relatives of every word that is kept."""
    found: dict[str, Entry] = defaultdict(Entry)

    def kept(word: str, part: str) -> bool:
        if part == "v" and word.count("_") == 1:
            return all(common[piece] >= COMMON for piece in word.split("_"))
        return word.isalpha() and word.islower() and common[word] >= COMMON

    def ranked(word: str, part: str, synset: str) -> int:
        return senses[word.casefold(), part].index(synset)

    for (word, part), offsets in senses.items():
        if not kept(word, part):
            continue
        entry = found[word]
        entry.parts[part] = len(offsets)
        for rank, offset in enumerate(offsets):
            synset = synsets[part, offset]
            if rank < SENSES[part]:
                entry.synonyms |= {
                    other
                    for other in synset.words
                    if other != word and kept(other, part) and ranked(other, part, offset) < SENSES[part]
                }
            if rank < BROADER_SENSES and part in LEVELS:
                entry.broader |= set(_above(synsets, synset, LEVELS[part], kept))
            for symbol, (kind, target), source_at, target_at in synset.pointers:
                there = synsets[kind, target]
                if symbol in {"&", "$"} and rank < 2:
                    entry.synonyms |= {other for other in there.words if kept(other, kind)}
                if symbol == "=":
                    entry.derived |= {other for other in there.words if kept(other, kind)}
                if source_at and synset.words[source_at - 1] == word and symbol in {"+", "!", "\\", "<"}:
                    other = there.words[target_at - 1]
                    if kept(other, kind):
                        (entry.opposites if symbol == "!" else entry.derived).add(other)
    return found


def _above(synsets: dict[tuple[str, str], Synset], synset: Synset, levels: int, kept) -> Iterator[str]:  # type: ignore[no-untyped-def]
    for symbol, target, _, _ in synset.pointers if levels else ():
        if symbol in {"@", "@i"}:
            there = synsets[target]
            yield from (word for word in there.words if kept(word, target[0]))
            yield from _above(synsets, there, levels - 1, kept)


def main(folder: str) -> None:
    """Print the lexicon."""
    synsets, senses = read(Path(folder))
    common = frequent(synsets)
    print("# Drawn from WordNet 3.0, Copyright 2006 by Princeton University; see LICENSE-WordNet.txt beside this file.")
    for word, entry in sorted(entries(synsets, senses, common).items()):
        entry.broader -= entry.synonyms | {word}
        entry.derived -= entry.synonyms | {word}
        parts = " ".join(f"{part}{count}" for part, count in entry.parts.items())
        sets = (entry.synonyms, entry.broader, entry.derived, entry.opposites)
        print(word, parts, *(" ".join(sorted(one)) for one in sets), sep="\t")
    for form, base in sorted(set(irregular(Path(folder), common))):
        print(form, "=" + base, sep="\t")


if __name__ == "__main__":
    main(sys.argv[1])
