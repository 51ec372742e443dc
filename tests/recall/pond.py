"""Fill a store with small memories, and ask its index."""

from substrate.recall import folder
from substrate.recall.recall import recall
from substrate.store.model import MemoryRow, NamespaceRow
from tests.memory.house import House

WORDS = ("lexical",)


def ids(house: House, query: str, **options: object) -> list[str]:
    options = {"arms": WORDS, "chars": 100_000, **options}
    return [hit.memory.id for hit in recall(house.db, house.ann, query, **options).hits]  # type: ignore[arg-type]


def scores(house: House, query: str) -> list[tuple[str, float]]:
    return [
        (hit.memory.id, hit.score)
        for hit in recall(house.db, house.ann, query, arms=WORDS, max_hits=100, chars=100_000).hits
    ]


def many(house: House, count: int, text: str = "The heron number {n} stood still.") -> None:
    """Write memories in one event, as an import does."""
    with house.db.write(actor=house.ann.id) as tx:
        tx.put(
            *(
                MemoryRow(
                    id=tx.new_id("mem"),
                    namespace=f"pond/{n % 7}",
                    memory_kind="observation",
                    memory_type="fact",
                    content=text.format(n=n),
                    origin="human",
                    by_kind="human",
                    by_id=house.ann.id,
                    created_at=tx.now,
                    updated_at=tx.now,
                    sequence=tx.sequence,
                )
                for n in range(count)
            ),
            *(NamespaceRow(path=f"pond/{n}", kind="plain", created_at=tx.now) for n in range(7)),
        )
        tx.event("memory_added", subject=None, namespace=None, payload={})


def stored(house: House) -> dict[str, bytes]:
    place = house.db.home / folder.NAME
    return {path.name: path.read_bytes() for path in sorted(place.iterdir())} if place.exists() else {}
