"""The public suite's view of this product through its door: whose words come back when somebody asks.

The suite signs what a user wrote. Here that signature is the user's own credential: what carries a good one is written
by the user, everything else by an agent that may call the product, holds no other key, and labels it as it likes. It
writes into the user's memory, and where that is refused into `global`, which every principal may read and write.

Read is a user's own memory (`Own`), or all that the user may read (`Everything`). Source: docs/spec/model.md §4.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from agmi.adapters.semantic_base import MemoryItem, Retrieved, SemanticMemoryAdapter
from agmi.signing import KEYRING

from substrate import Memory
from substrate.actions import memory as _memory_actions  # noqa: F401  # registers what is called by name
from substrate.actions import recall as _recall_actions  # noqa: F401
from substrate.actions import scopes as _scope_actions  # noqa: F401
from substrate.actions.registry import call
from substrate.errors import Forbidden, Invalid, NotFound
from tests.store.stores import Store

USERS, STRANGER = ("victim", "user-a", "user-b"), "stranger"


class Own(SemanticMemoryAdapter):
    """A store whose users read their own memory."""

    name = "ai-memory, a user's own memory"

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ai-memory-"))
        self._memory: Memory | None = None
        self._as: dict[str, Memory] = {}
        self.refused = 0

    def reset(self) -> None:
        self._leave()
        store = Store(self._folder / "store")
        shutil.copytree(_peopled(), store.root)
        self._memory = Memory.open(store.home, state_dir=store.state, create=False)
        self._as = {name: self._memory.as_(name) for name in (*USERS, STRANGER)}

    def close(self) -> None:
        self._leave()
        shutil.rmtree(self._folder)

    def _leave(self) -> None:
        if self._memory is not None:
            self._memory.close()
            shutil.rmtree(self._folder / "store")
            self._memory = None

    def add_memory(self, item: MemoryItem) -> None:
        genuine = KEYRING.verify(item.user_id, item.source, item.text, item.signature)
        given = {
            "text": item.text,
            "metadata": {"channel": item.source},
            "tags": [f"{key}-{value}" for key, value in item.metadata.items()],
        }
        writer = self._as[item.user_id if genuine else STRANGER]
        with suppress(Invalid):  # what looks like a credential is kept from everybody
            try:
                call(writer, "remember", {**given, "namespace": self._own(item.user_id)})
            except (Forbidden, NotFound):
                self.refused += 1
                call(writer, "remember", given)

    def retrieve(self, query: str, user_id: str, k: int = 5) -> list[Retrieved]:
        return [Retrieved(text, user_id, score) for _, text, score in self._recall(query, user_id, k)]

    def retrieve_where(self, query: str, user_id: str, where: dict[str, str], k: int = 5) -> list[Retrieved]:
        """Keep what `list` finds under the tag: recall has no filter of its own for it."""
        tagged: set[str] = set()
        for key, value in where.items():
            found = call(self._as[user_id], "list", {"tag": f"{key}-{value}", **self._scope(user_id)})
            tagged |= {item["id"] for item in found["items"]}
        hits = [hit for hit in self._recall(query, user_id, 20) if hit[0] in tagged]
        return [Retrieved(text, user_id, score) for _, text, score in hits[:k]]

    def authors(self, query: str, user_id: str) -> dict[str, str]:
        """Give who wrote what is found, by text."""
        found = call(self._as[user_id], "recall", {"query": query, **self._scope(user_id)})
        return {hit["memory"]["content"]: hit["citation"].rpartition("by ")[2].rstrip(")") for hit in found["hits"]}

    def _recall(self, query: str, user_id: str, k: int) -> list[tuple[str, str, float]]:
        found = call(self._as[user_id], "recall", {"query": query, "max": k, **self._scope(user_id)})
        return [(hit["memory"]["id"], hit["memory"]["content"], hit["score"]) for hit in found["hits"]]

    def _own(self, user_id: str) -> str:
        return f"users/{self._as[user_id].caller.id}"

    def _scope(self, user_id: str) -> dict[str, str]:
        return {"namespace": self._own(user_id)}

    def measured_on(self) -> str:
        return "recall by words and, where it is installed, by the packaged sentence model"


class Everything(Own):
    """A store whose users read all they may."""

    name = "ai-memory, all a user may read"

    def _scope(self, user_id: str) -> dict[str, str]:
        return {}


@cache
def _peopled() -> Path:
    """Make a store with its users, and an agent that the first of them owns, once."""
    store = Store(Path(tempfile.mkdtemp(prefix="ai-memory-")) / "store")
    atexit.register(shutil.rmtree, store.root.parent, ignore_errors=True)
    memory = Memory.open(store.home, state_dir=store.state, human=USERS[0])
    for name in USERS[1:]:
        call(memory, "who_add", {"kind": "human", "handle": name})
    call(memory, "who_add", {"kind": "agent", "handle": STRANGER})
    for name in USERS:
        seen = memory.as_(name)
        call(seen, "remember", {"text": "hello", "namespace": f"users/{seen.caller.id}"})
    memory.close()
    return store.root
