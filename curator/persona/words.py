"""Take a text apart into words, stems, names, quotations and negations, in a form that two wordings share.

Every function is pure and total, in any language: where a list of English words does not apply, the rule that needs
it stays silent.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, Final, ParamSpec, TypeVar

from curator.persona.vocabulary import NEGATIONS, NEGATIONS_IN_RUN, STOP

CACHED: Final = 1 << 14  # texts whose parts are remembered; a persona of 400 sources asks for about 3,000

SHARED: Final = 3  # names that may share a part for the part to mean each of them

P = ParamSpec("P")
R = TypeVar("R")
_memory: list[Callable[[], None]] = []


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """Let a pure function remember its answers until `forget`."""
    kept = lru_cache(maxsize=CACHED)(function)
    _memory.append(kept.cache_clear)
    return kept  # type: ignore[return-value]  # the same signature, which lru_cache does not tell


def forget() -> None:
    """Drop every text remembered here: what was forgotten in the store may not live on in a process."""
    for clear in _memory:
        clear()


RUN = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Letters of scripts that set no spaces between words: each is counted as a word."""
_RUN = re.compile(f"[{RUN}]+")
_WORD = re.compile(f"[{RUN}]+|[^\\W_{RUN}](?:[^\\W_{RUN}]|\\p)*".replace(r"\p", r"['’.\-](?=[^\W_])|[\u0300-\u036f]"))
_QUOTED = re.compile(
    r"[“\"]([^”“\"]{2,200})[”\"]|«\s?([^»]{2,200}?)\s?»|「([^」]{2,200})」|『([^』]{2,200})』"
    r"|(?<![\w'’])['‘]([^'‘’\n]{2,120}(?:['’]\w[^'‘’\n]{0,120}){0,4})['’](?!\w)"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…]\s+|[“\"‘(\[]|(?<!\w)['’])\s*$")


@remembered
def words(text: str) -> tuple[str, ...]:
    """List the words as they stand, apostrophes and inner hyphens kept, a run without spaces as one."""
    return tuple(_WORD.findall(text))


@remembered
def folded(text: str) -> tuple[str, ...]:
    """List the words without case and possessive endings."""
    return tuple(map(plain, words(text)))


@remembered
def count(text: str) -> int:
    """Count words as a reader does: by spaces, and letter by letter in scripts that set none."""
    total = 0
    for piece in text.split():
        run = sum(len(part) for part in _RUN.findall(piece))
        rest = _RUN.sub("", piece)
        total += run + any(char.isalnum() for char in rest)
    return total


@remembered
def plain(word: str) -> str:
    """Fold case, straighten the apostrophe, and take a possessive ending off."""
    return word.casefold().replace("’", "'").removesuffix("'s").removesuffix("'")


def bare(word: str) -> str:
    """Take a possessive ending off, and leave the case."""
    return re.sub("['’]s?$", "", word)


@remembered
def stem(word: str) -> str:
    """Bring an English word to its stem; leave a word of another script as it is."""
    base = plain(word)
    return str(_stemmer().stemWord(base)) if base.isascii() else base


@cache
def _stemmer() -> Any:
    import snowballstemmer  # reading a persona stems nothing

    return snowballstemmer.stemmer("english")


@remembered
def stems(text: str) -> frozenset[str]:
    """Collect the stems of the content words: stop words left out, compounds taken apart, runs as letter pairs."""
    found: set[str] = set()
    for word in words(text):
        if _RUN.match(word):
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
            continue
        if plain(word) in STOP:
            continue
        for part in re.split(r"[-.'’]", plain(word)):
            if part and part not in STOP and (len(part) > 1 or not part.isascii() or part.isdigit()):
                found.add(stem(part))
    return frozenset(found)


def overlap(part: frozenset[str], whole: frozenset[str]) -> float:
    """Answer the share of `part` found in `whole`; 1.0 for an empty part."""
    return len(part & whole) / len(part) if part else 1.0


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Answer the Jaccard similarity; 0.0 where both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def negated(text: str) -> bool:
    """Tell whether the text denies something."""
    return any(map(_negates, folded(text)))


@remembered
def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't") or any(mark in word for mark in NEGATIONS_IN_RUN)


def english(text: str) -> bool:
    """Tell whether rules about English grammar may be asked: only ASCII letters weigh, and most words are of it."""
    letters = [char for char in text if char.isalpha()]
    return bool(letters) and sum(char.isascii() for char in letters) / len(letters) > 0.9


def quotations(text: str) -> list[str]:
    """List what stands between quotation marks, without the marks and the punctuation at its ends."""
    found = (next(part for part in match.groups() if part) for match in _QUOTED.finditer(text))
    return [inner for inner in (part.strip(" .,;:!?…") for part in found) if inner]


def unquoted(text: str) -> str:
    """Answer the text with every quotation taken out."""
    return _QUOTED.sub(" ", text)


def names(text: str) -> Iterator[str]:
    """Yield the words written with a capital inside a sentence, folded; the pronoun I is none.

    The first word of a sentence, a quotation or a bracket proves nothing and is left out.
    """
    for match in _WORD.finditer(text):
        word = match[0]
        if not word[0].isupper() or plain(word) in _FIRST_PERSON:
            continue
        if any(char.isupper() for char in word[1:]) or not _SENTENCE_START.search(
            text[max(0, match.start() - 8) : match.start()]
        ):
            yield plain(word)


_FIRST_PERSON: Final = frozenset({"i", "i'm", "i've", "i'll", "i'd"})


def mentions(text: str, name: str) -> bool:
    """Tell whether the text names `name`: in full whatever the case, or one capitalised part of it."""
    found, wanted = folded(text), folded(name)
    if not wanted:
        return False
    if any(found[at : at + len(wanted)] == wanted for at, word in enumerate(found) if word == wanted[0]):
        return True
    if len(wanted) == 1:
        return False
    parts = {part for part in wanted if len(part) > 2 and part not in STOP}
    return any(word[0].isupper() and plain(word) in parts for word in words(text))


def among(text: str, names: Sequence[str]) -> list[str]:
    """List those of the names that the text mentions, in the order given; quick however many there are.

    A part of a name counts as in `mentions`, unless more than SHARED names have it.
    """
    whole, lengths, parts = _index(tuple(names))
    found = folded(text)
    near = {at for size in lengths for place in range(len(found)) for at in whole.get(found[place : place + size], ())}
    near |= {at for word in words(text) if word[0].isupper() for at in parts.get(plain(word), ())}
    return [names[at] for at in sorted(near)]


@remembered
def _index(
    names: tuple[str, ...],
) -> tuple[dict[tuple[str, ...], list[int]], tuple[int, ...], dict[str, list[int]]]:
    """Map whole names, and the parts that few names have, to the places of the names."""
    whole: dict[tuple[str, ...], list[int]] = {}
    parts: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        if wanted := folded(name):
            whole.setdefault(wanted, []).append(at)
        for part in dict.fromkeys(wanted) if len(wanted) > 1 else ():
            if len(part) > 2 and part not in STOP:
                parts.setdefault(part, []).append(at)
    few = {part: places for part, places in parts.items() if len(places) <= SHARED}
    return whole, tuple(sorted({len(wanted) for wanted in whole})), few
