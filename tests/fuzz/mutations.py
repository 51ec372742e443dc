"""Change bytes without a plan: what a parser is tried on where nothing guides the changes by what they reach."""

import random
from collections.abc import Iterator, Sequence

WORDS = (
    *(
        b"\x00",
        b"\n",
        b"\r\n",
        b"\t",
        b"\x1b[2J",
        b"\xff",
        b"\xc0\xaf",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xe2\x80\xae",
    ),
    *(
        b'"',
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"null",
        b"true",
        b"-0",
        b"1e400",
        b"NaN",
    ),
    *(
        b"9" * 5_000,
        b"[" * 200,
        b"---\n",
        b"[^1]",
        b"[^1]: ",
        b"# ",
        b"- ",
        b"\n\n",
        "— ".encode(),
        b"==",
        b"A" * 300,
        b"<",
    ),
)


def mutated(seeds: Sequence[bytes], seed: int, count: int) -> Iterator[bytes]:
    """Yield the seeds, then so many changed and crossed ones; the same seed gives the same bytes."""
    yield from seeds
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(chance.choice(seeds))
        if chance.random() < 0.2:
            other = chance.choice(seeds)
            data = bytearray(data[: chance.randint(0, len(data))] + other[chance.randint(0, len(other)) :])
        for _ in range(chance.choice((1, 1, 2, 3, 8))):
            _change(data, chance)
        yield bytes(data)


def _change(data: bytearray, chance: random.Random) -> None:
    at, kind = chance.randint(0, len(data)), chance.randrange(5)
    if kind == 0 and at < len(data):
        data[at] ^= 1 << chance.randrange(8)
    elif kind == 1:
        data[at:at] = chance.choice(WORDS)
    elif kind == 2:
        del data[at : at + chance.randint(1, 8)]
    elif kind == 3:
        data[at : at + chance.randint(0, 4)] = bytes(chance.randrange(256) for _ in range(chance.randint(0, 4)))
    else:
        start = chance.randint(0, len(data))
        data[at:at] = data[start : start + chance.randint(1, 40)]
