"""Build small stories: reflections as sources, and personas composed from them."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from curator.persona import markdown
from curator.persona.claims import Composition, Draft, Previous
from curator.persona.extractive import compose
from curator.persona.source import Source

TOPICS = {
    "garden": (
        "grows tomatoes",
        "planted three apple trees",
        "waters the roses at dawn",
        "built a greenhouse from old windows",
    ),
    "bakery": (
        "opened a small bakery in Lyon",
        "bakes rye bread every morning",
        "hired two apprentices",
        "sells croissants to the hotel",
    ),
    "chess": (
        "plays chess at the town club",
        "won the regional chess cup",
        "studies endgames with a coach",
        "teaches chess to children",
    ),
    "sailing": (
        "sails a wooden boat",
        "crossed the bay of Biscay",
        "repaired the mast with a friend",
        "keeps a logbook of every sail",
    ),
    "music": (
        "plays the cello in a quartet",
        "practises Bach suites daily",
        "performed at a wedding in June",
        "collects old recordings",
    ),
}


NUMBERS = count(1)


def source(text: str, day: int = 1, number: int | None = None, **fields: Any) -> Source:
    """Make a reflection of the given day of May 2026, `number` telling its id and its place in the sequence."""
    number = day if number is None else number
    given: dict[str, Any] = {
        "id": f"mem-{number:04}",
        "text": text,
        "title": None,
        "date": f"2026-05-{day:02}T09:30:00.000000Z",
        "sequence": number,
        "times_seen": 1,
        "ancestors": frozenset(),
        "supersedes": frozenset(),
        "contradicts": frozenset(),
    }
    return Source(**(given | fields))


def told(*texts: str) -> list[Source]:
    """Make one reflection a day, in order."""
    return [source(text, day) for day, text in enumerate(texts, 1)]


def life(name: str = "Alice", rounds: int = 4) -> list[Source]:
    """Make a life of several matters: with each round every topic gets one more fact."""
    told = [(topic, facts[number]) for number in range(rounds) for topic, facts in TOPICS.items()]
    return [source(f"{name} {fact}.", 1 + number % 28, number + 1) for number, (_, fact) in enumerate(told)]


def long_life(name: str = "Alice", facts: int = 80) -> list[Source]:
    """Make so many different facts that a body cannot hold them all."""
    places = ["Oslo", "Rome", "Lima", "Cairo", "Quito", "Delhi", "Perth", "Osaka", "Dakar", "Sofia", "Minsk", "Porto"]
    deeds = (
        "studied the old {} market with a notebook",
        "wrote an essay on the harbour of {}",
        "met a potter from {} and learnt to glaze bowls",
        "photographed every bridge in {} before winter",
        "cooked a festive soup from {} for twelve guests",
        "translated a poem from {} about rivers",
        "repaired a radio bought in {} at a flea market",
    )
    return [
        source(
            f"{name} {deeds[number % len(deeds)].format(places[number % len(places)])}.",
            1 + number % 28,
            number + 1,
            date=f"2026-{1 + number // 28:02}-{1 + number % 28:02}T09:30:00.000000Z",
        )
        for number in range(facts)
    ]


def composed(
    sources: Sequence[Source], previous: Previous | None = None, name: str = "Alice", **given: Any
) -> Composition:
    """Compose by overlap of words, with ids that count up."""
    usual = {"embed": None, "new_id": lambda prefix: f"{prefix}-{next(NUMBERS)}"}
    return compose(name, sources, previous, **(usual | given))


def body(sources: Sequence[Source], draft: Draft, name: str = "Alice") -> str:
    return markdown.render(name, draft, {source.id: source for source in sources})


def said(draft: Draft) -> list[str]:
    return [claim.text for claim in draft.claims()]


def previous(made: Composition, sources: Iterable[Source]) -> Previous:
    return Previous(made.draft, frozenset(source.id for source in sources))
