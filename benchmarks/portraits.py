"""Make the personas that are measured: through a store as it is used, or with the curator alone.

Both learn a sample session by session, as `load_real` writes it, and draw a person from what is known by then.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from benchmarks.corpora import Fact, Sample, Turn
from benchmarks.judge import Embed, Remembered, Told
from benchmarks.load_real import Loaded, Replay, sessions
from curator.persona import markdown, reading, tracing
from curator.persona.claims import Previous
from curator.persona.extractive import compose
from curator.persona.markdown import ParsedClaim
from curator.persona.persona import generate
from curator.persona.source import Source
from substrate.home import Memory
from substrate.memory import memories

STEPS = {"locomo": 1, "realmem": 10}  # sessions between two regenerations of a growing persona
# What nobody in the data ever said; the first is what is said, the second what is learnt from it.
NEWS = (
    ("I keep two beehives behind the old library now.", "{} keeps two beehives behind the old library."),
    ("I started to learn the bagpipes last week.", "{} started to learn the bagpipes."),
    ("I was elected treasurer of the harbour museum.", "{} was elected treasurer of the harbour museum."),
    ("I restore broken barometers in the evenings.", "{} restores broken barometers in the evenings."),
)


@dataclass(frozen=True)
class Version:
    """One document as a reader gets it: what each footnote leads to, what the store finds wrong with it, the seconds.

    `seconds` is the processor's time of making it, without encoding.
    """

    body: str
    claims: tuple[ParsedClaim, ...]
    told: Mapping[str, Told]
    faults: tuple[str, ...]
    seconds: float

    @classmethod
    def read(cls, body: str, told: Mapping[str, Told], faults: Sequence[str], seconds: float) -> Version:
        """Read the claims back from the document."""
        return cls(body, markdown.parse(body).claims, told, tuple(faults), seconds)

    @property
    def texts(self) -> list[str]:
        """Give the claims' words."""
        return [claim.text for claim in self.claims]

    @property
    def words(self) -> int:
        """Count the words of the body without footnotes."""
        return markdown.word_count(self.body)

    def cited(self, claim: ParsedClaim) -> list[Told]:
        """Follow the footnotes of a claim."""
        return [self.told[id] for id in claim.sources]

    def shuffled(self, seed: int) -> Version:
        """Give every claim the citations of another."""
        cites = [claim.sources for claim in self.claims]
        random.Random(seed).shuffle(cites)
        pairs = zip(self.claims, cites, strict=True)
        return replace(self, claims=tuple(replace(claim, sources=sources) for claim, sources in pairs))


@dataclass(frozen=True)
class Portraits:
    """The personas of one person: made at once, grown by cadence (None if not asked for), and one reflection later."""

    fresh: Version
    grown: Version | None
    later: Version
    news: str


class Way(Protocol):
    """A way to make personas of one sample."""

    def learn(self, date: str, turns: Sequence[Turn], facts: Sequence[Fact]) -> None:
        """Take in what a session brought."""

    def draw(self, person: str, *, full: bool = False) -> Version:
        """Make the next version; with `full` from scratch."""


def portray(way: Way, sample: Sample, *, grow: bool, seed: int) -> dict[str, Portraits]:
    """Learn a sample, drawing each person as it grows, then at once, then after one more reflection."""
    grown: dict[str, Version] = {}
    waiting: set[str] = set()
    steps = list(sessions(sample))
    for number, (date, turns, facts) in enumerate(steps, 1):
        way.learn(date, turns, facts)
        waiting |= {fact.about for fact in facts}
        if grow and (number % STEPS[sample.data] == 0 or number == len(steps)):
            grown |= {person: way.draw(person) for person in sorted(waiting)}
            waiting.clear()
    chance, found = random.Random(seed), {}
    for person in sample.people:
        fresh = way.draw(person, full=True)
        said, learnt = chance.choice(NEWS)
        last = max(fact.session for fact in sample.facts)
        turn = Turn(f"news/{person}", last + 1, steps[-1][0], person, said)
        fact = Fact(f"news/{person}", person, last + 1, turn.date, learnt.format(person), (turn.id,))
        way.learn(turn.date, [turn], [fact])
        found[person] = Portraits(fresh, grown.get(person), way.draw(person), fact.text)
    return found


class Stored:
    """Write to a store and generate there; every document is read back as a reader gets it."""

    def __init__(self, memory: Memory, replay: Replay, sample: Sample, judge: Remembered, embed: Embed | None) -> None:
        self.memory, self.replay, self.sample, self.judge, self.embed = memory, replay, sample, judge, embed
        self.loaded = Loaded(sample)
        self.date = ""

    def learn(self, date: str, turns: Sequence[Turn], facts: Sequence[Fact]) -> None:
        """See `Way`."""
        self.date = date
        self.loaded.write(self.memory, self.replay, date, turns, facts)

    def draw(self, person: str, *, full: bool = False) -> Version:
        """See `Way`. Its ids are drawn apart, so that those of the memories do not depend on it."""
        place = self.sample.namespace
        self.replay.go(f"{place} personas", self.date)
        encoding, started = self.judge.seconds, time.process_time()
        generate(self.memory.db, self.memory.caller, person, namespace=place, full=full, embed=self.embed)
        return self.read(person, time.process_time() - started - (self.judge.seconds - encoding))

    def read(self, person: str, seconds: float) -> Version:
        """Read the newest version as a reader gets it."""
        place = self.sample.namespace
        with self.memory.read() as r:
            found = reading.newest(r, self.memory.caller, person, place)
            if found is None:
                raise LookupError(f"no persona of {person} in {place}")
            faults = tracing.check(r, self.memory.caller, found)
            faults += [f"claim {claim.position} cites nothing" for claim in found.claims if not claim.sources]
            rows = memories.by_ids(r, self.memory.caller, found.sources)
            below = memories.sources_of(r, rows)
            turns = memories.by_ids(r, self.memory.caller, [id for ids in below.values() for id in ids])
        told = {
            id: Told(
                row.content or "",
                (row.valid_from or row.created_at)[:10],
                tuple(turns[turn].content or "" for turn in below[id]),
            )
            for id, row in rows.items()
        }
        return Version.read(found.row.content or "", told, faults, seconds)


class Pure:
    """Compose without a store, for quick looks; the order in which sources come must not matter, so it is shuffled."""

    def __init__(self, sample: Sample, judge: Remembered, embed: Embed | None, seed: int) -> None:
        self.sample, self.judge, self.embed, self.chance = sample, judge, embed, random.Random(seed)
        self.turns: dict[str, Turn] = {}
        self.known: dict[str, list[Source]] = {person: [] for person in sample.people}
        self.previous: dict[str, Previous] = {}
        self.count = 0

    def learn(self, date: str, turns: Sequence[Turn], facts: Sequence[Fact]) -> None:
        """See `Way`."""
        self.turns |= {turn.id: turn for turn in turns}
        for fact in facts:
            number = sum(map(len, self.known.values()))
            self.known[fact.about].append(
                Source(
                    id=f"mem-{number:05}",
                    text=fact.text,
                    title=fact.title,
                    date=fact.date,
                    sequence=number,
                    times_seen=1,
                    ancestors=frozenset(fact.turns),
                    supersedes=frozenset(),
                    contradicts=frozenset(),
                )
            )

    def draw(self, person: str, *, full: bool = False) -> Version:
        """See `Way`."""
        rows = self.chance.sample(self.known[person], len(self.known[person]))
        others = tuple(other for other in self.sample.people if other != person)
        encoding, started = self.judge.seconds, time.process_time()
        made = compose(
            person,
            rows,
            self.previous.get(person),
            embed=self.embed,
            new_id=self._new_id,
            other_names=others,
            full=full,
        )
        seconds = time.process_time() - started - (self.judge.seconds - encoding)
        self.previous[person] = Previous(made.draft, frozenset(row.id for row in rows))
        by_id = {row.id: row for row in rows}
        told = {
            row.id: Told(row.text, row.day, tuple(self.sample.content(self.turns[id]) for id in row.ancestors))
            for row in rows
        }
        return Version.read(markdown.render(person, made.draft, by_id), told, (), seconds)

    def _new_id(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}-{self.count:06}"
