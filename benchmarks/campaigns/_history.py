"""One history of a store, told to it and to a dictionary, step by step.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from audit.anchor import Situation
from benchmarks.campaigns._killed import killed
from curator.persona import persona as personas
from substrate.actions import audit as actions
from substrate.errors import AiMemoryError, Integrity, Refused
from substrate.home import Memory
from substrate.memory import forgetting, memories, reflections
from substrate.store import recovery
from substrate.store import restore as restoring
from substrate.store.db import FILE
from substrate.store.ids import system_clock
from substrate.store.model import MemoryRow

ENTITIES = ("ada", "ben", "cleo")
WORDS = ["tends", "paints", "mends", "sells", "counts", "plants", "records", "studies", "bakes", "repairs"]
THINGS = ["roses", "boats", "clocks", "maps", "bread", "songs", "lenses", "bees", "kites", "bells"]
STATEMENTS = 6  # that the engine runs for one write
# What somebody does who can write the file and not the key; each changes something that a read returns or rests on.
TAMPERING = (
    "UPDATE memories SET content = content || ' indeed' WHERE id = ?",
    "UPDATE memories SET by_handle = 'somebody' WHERE id = ?",
    "UPDATE memories SET status = 'retired', sequence = 1 WHERE id = ?",
    "DELETE FROM memories WHERE id = ?",
    "UPDATE state_entries SET commitment = repeat('0', 64) WHERE id = ?",
)


@dataclass
class Told:
    """What the model knows of one memory."""

    kind: str
    text: str | None
    status: str = "active"
    sources: frozenset[str] = frozenset()
    replaced_by: str | None = None


class History(RuleBasedStateMachine):
    """One history. `template` is a home to start from, `book` counts, `folder` is where it happens."""

    template: Path
    folder: Path
    book: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.root = self.folder / "history"
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.template, self.root)
        self.told: dict[str, Told] = {}
        self.marks: list[str] = []  # a word of its own in each text, to look for once it was erased
        self.older: tuple[Path, int] | None = None
        self.backed_up: tuple[int, dict[str, Told]] | None = None
        self.steps = 0
        self.memory = self._open()
        self._note("histories")

    # operations

    @rule(chance=st.randoms(use_true_random=False))
    def remember(self, chance: random.Random) -> None:
        text = self._sentence(chance)
        row = self._write(memories.remember, text)
        self.told[row.id] = Told("observation", text)
        self._note("remember")

    @precondition(lambda self: self._among("active"))
    @rule(data=st.data(), entity=st.sampled_from(ENTITIES), chance=st.randoms(use_true_random=False))
    def reflect(self, data: Any, entity: str, chance: random.Random) -> None:
        sources = data.draw(st.lists(st.sampled_from(self._among("active")), min_size=1, max_size=3, unique=True))
        text = self._sentence(chance, entity.capitalize())
        with self.memory.write() as tx:
            made = reflections.reflect(
                tx, self.memory.caller, f"About {entity}", text, sources=sources, entity_id=entity
            )
        self.told[made.row.id] = Told("reflection", text, sources=frozenset(sources))
        self._note("reflect")

    @precondition(lambda self: self._among("active"))
    @rule(data=st.data(), chance=st.randoms(use_true_random=False))
    def edit(self, data: Any, chance: random.Random) -> None:
        old = data.draw(st.sampled_from(self._among("active")))
        text = self._sentence(chance)
        row = self._write(memories.edit, old, text)
        self.told[row.id] = Told(self.told[old].kind, text, sources=self.told[old].sources)
        self.told[old].status, self.told[old].replaced_by = "superseded", row.id
        self._note("edit")

    @precondition(lambda self: self._among("active"))
    @rule(data=st.data())
    def retire(self, data: Any) -> None:
        id = data.draw(st.sampled_from(self._among("active")))
        self._write(memories.retire, id, "no longer so")
        self.told[id].status = "retired"
        self._note("retire")

    @precondition(lambda self: self._among("active", "superseded", "retired"))
    @rule(data=st.data(), cascade=st.booleans())
    def forget(self, data: Any, cascade: bool) -> None:
        id = data.draw(st.sampled_from(self._among("active", "superseded", "retired")))
        self._write(forgetting.forget, id, cascade=cascade)
        fallen = self._wordings([id])
        if cascade:
            while more := {one for one, told in self.told.items() if told.sources & fallen} - fallen:
                fallen |= self._wordings(more)
        for one in fallen:
            self.told[one].status, self.told[one].text = "deleted", None
        self._note("forget")

    @precondition(lambda self: any(told.kind == "reflection" for told in self.told.values()))
    @rule(entity=st.sampled_from(ENTITIES))
    def portray(self, entity: str) -> None:
        try:
            made = personas.generate(self.memory.db, self.memory.caller, entity)
        except Refused:
            self._note("no persona")
            return
        with self.memory.read() as r:
            sources = frozenset(memories.sources_of(r, [made.row.id])[made.row.id])
            before = [row.id for row in r.select(MemoryRow, "memory_kind = 'persona' AND entity_id = ?", (entity,))]
        assert sources, "a persona cites nothing"
        for id in sources:
            assert self.told[id].kind == "reflection", f"a persona cites {id}, which is no reflection"
            assert self.told[id].status == "active", f"a persona cites {id}, which is {self.told[id].status}"
        for id in before:
            if id != made.row.id and self.told[id].status == "active":
                self.told[id].status = "superseded"
        self.told[made.row.id] = Told("persona", made.row.content, sources=sources)
        self._note("persona")

    @precondition(lambda self: self._calm() and self._among("deleted", persona=True))
    @rule()
    def erase(self) -> None:
        left = " ".join(one.text for one in self.told.values() if one.text is not None)
        gone = [mark for mark in self.marks if mark not in left]
        self.memory.db.rewrite()
        self.memory.close()
        for path in sorted(path for path in self.root.rglob("*") if path.is_file()):
            data = path.read_bytes()
            assert [mark for mark in gone if mark.encode() in data] == [], f"{path.name} holds what was erased"
        self.memory = self._open()
        self._note("rewrite")

    # what happens to a store, now and then

    @precondition(lambda self: self._calm())
    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.memory = self._open()
        self._note("reopen")

    @precondition(lambda self: self._calm())
    @rule(
        written=st.integers(0, 4),
        left=st.integers(0, STATEMENTS - 1),
        chance=st.randoms(use_true_random=False),
    )
    def kill(self, written: int, left: int, chance: random.Random) -> None:
        """Let another process write and be killed; what it acknowledged is there, and at most one write more.

        It dies in the write after the first `written`, with `left` statements to come after the one it would run: none
        when it is about to commit, which is what Hypothesis tries most.
        """
        self.memory.close()
        texts = [self._sentence(chance) for _ in range(written + 1)]
        acknowledged = killed(self.root, texts, STATEMENTS * (written + 1) - 1 - left)
        self.memory = self._open()
        rows = {row.content: row.id for row in self._rows() if row.id not in self.told}
        found = [text in rows for text in texts]
        assert all(found[:acknowledged]), "a write that was acknowledged before a kill is gone"
        assert not any(found[acknowledged + 1 :]), "a write is there that was never begun"
        for text in texts:
            if text in rows:
                self.told[rows[text]] = Told("observation", text)
        self._note("kill")

    @precondition(lambda self: self._calm() and self._among("active"))
    @rule(data=st.data())
    def tamper(self, data: Any) -> None:
        """Change a row behind the store's back: no read of everything answers; put back, everything is as it was."""
        id = data.draw(st.sampled_from(self._among("active")))
        statement = data.draw(st.sampled_from(TAMPERING))
        self.memory.close()
        with _kept(self.root, self.folder / "kept"):
            raw = duckdb.connect(str(self.root / "home" / FILE))
            raw.execute(statement, [id])
            raw.close()
            self._refused("tampered with", Integrity)
        self.memory = self._open()
        self._note("tamper")

    @precondition(lambda self: self._calm())
    @rule()
    def rotate(self) -> None:
        """Have a new key sign from now on; an older copy, with the older key, is refused all the same."""
        actions.rotate(self.memory)
        self._note("rotate")

    @precondition(lambda self: self._calm() and self._head() > (self.older or (None, 0))[1])
    @rule()
    def copy(self) -> None:
        self.memory.close()
        place = self.folder / "older"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.root / "home", place)
        self.memory = self._open()
        self.older = place, self._head()
        self._note("copy")

    @precondition(lambda self: self._calm() and self.older is not None and self._head() > self.older[1])
    @rule()
    def roll_back(self) -> None:
        """Put an older copy of the home in place: it is refused, and the newest one put back is not."""
        assert self.older is not None
        self.memory.close()
        with _kept(self.root, self.folder / "kept"):
            shutil.rmtree(self.root / "home")
            shutil.copytree(self.older[0], self.root / "home")
            self._refused("rolled back", Integrity)
        self.memory = self._open()
        self._note("rollback")

    @precondition(lambda self: self._calm() and (self.backed_up is None or self._head() > self.backed_up[0] + 8))
    @rule()
    def back_up(self) -> None:
        place = self.folder / "one.backup"
        place.unlink(missing_ok=True)
        made = actions.backup(self.memory, place, with_keys=True)
        self.backed_up = made["sequence"], deepcopy(self.told)
        self._note("backup")

    @precondition(lambda self: self.steps % 4 == 1 and self.backed_up is not None and self._head() > self.backed_up[0])
    @rule(lost=st.booleans())
    def restore(self, lost: bool) -> None:
        """Restore the backup of a store that is damaged or lost: all is back, or as it was at the backup.

        The home of before the restore is refused afterwards, genuine as it is.
        """
        assert self.backed_up is not None
        (sequence, told), head = self.backed_up, self._head()
        self.memory.close()
        home, before = self.root / "home", self.folder / "before"
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(home, before)
        if lost:
            shutil.rmtree(home)
            self.told, self.older = deepcopy(told), None
        else:
            raw = duckdb.connect(str(home / FILE))
            raw.execute("UPDATE state_buckets SET digest = repeat('0', 64)")
            raw.close()
        found = restoring.restore(
            home,
            self.folder / "one.backup",
            state_dir=self.root / "state",
            decider=lambda _folders: self.memory.caller.id,
            erase=forgetting.erase_again,
            clock=system_clock,
        )
        assert found.kept == (0 if lost else head - sequence), f"{found.kept} events after the backup were kept"
        assert found.missing_events == ((sequence + 1, head) if lost else None), found.missing_events
        assert not (found.missing or found.older or found.erased), "rows are missing that the log or the backup has"
        if found.set_aside:
            shutil.rmtree(found.set_aside)  # it may hold what was forgotten
        with _kept(self.root, self.folder / "kept"):
            shutil.rmtree(home)
            shutil.copytree(before, home)
            self._refused("of before a restore", Integrity)
        self.memory = self._open()
        assert self.memory.db.situation is Situation.OK, "what was restored is not anchored"
        self._note("restored, home lost" if lost else "restored")

    # what has to hold

    @invariant()
    def both_say_the_same(self) -> None:
        seen = {row.id: (row.memory_kind, row.status, row.content) for row in self._rows()}
        told = {id: (one.kind, one.status, one.text) for id, one in self.told.items()}
        assert seen == told, f"store and model differ in {sorted(seen.items() ^ told.items())[:2]}"

    def teardown(self) -> None:
        self.memory.close()
        report = recovery.verify(self.root / "home", state_dir=self.root / "state", notes=[])
        assert report.ok and report.anchored, [fault.message for fault in report.faults]

    # helpers

    def _note(self, what: str) -> None:
        self.book[what] += 1
        self.steps += 1

    def _calm(self) -> bool:
        """Whether enough was written since the store was last disturbed; what disturbs it takes long."""
        return self.steps % 4 == 3

    def _open(self) -> Memory:
        return Memory.open(self.root / "home", state_dir=self.root / "state", create=False)

    def _write(self, do: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        with self.memory.write() as tx:
            return do(tx, self.memory.caller, *arguments, **options)

    def _rows(self) -> list[MemoryRow]:
        with self.memory.read() as r:
            rows: list[MemoryRow] = []
            while True:
                page, count = memories.list_(r, self.memory.caller, include_closed=True, limit=100, offset=len(rows))
                rows += page
                if len(rows) >= count:
                    return rows

    def _head(self) -> int:
        with self.memory.read() as r:
            return r.head.sequence

    def _among(self, *statuses: str, persona: bool = False) -> list[str]:
        kinds = ("observation", "reflection", "persona") if persona else ("observation", "reflection")
        return sorted(id for id, one in self.told.items() if one.status in statuses and one.kind in kinds)

    def _wordings(self, ids: Iterable[str]) -> set[str]:
        found = set(ids)
        while (
            more := {id for id, one in self.told.items() if one.replaced_by in found and one.kind != "persona"} - found
        ):
            found |= more
        return found

    def _sentence(self, chance: random.Random, who: str = "Somebody") -> str:
        mark = f"Zq{len(self.marks)}x{chance.randrange(10**6):06d}"
        self.marks.append(mark)
        return f"{who} {chance.choice(WORDS)} {chance.choice(THINGS)} in {mark}."

    def _refused(self, what: str, kind: type[AiMemoryError]) -> None:
        """Open and read everything; raises AssertionError when that answers."""
        try:
            memory = self._open()
        except kind:
            return
        try:
            with memory.read() as r:
                memories.list_(r, memory.caller, include_closed=True, limit=100)
        except kind:
            return
        finally:
            memory.close()
        raise AssertionError(f"a store that was {what} answered")


@contextmanager
def _kept(root: Path, place: Path) -> Iterator[None]:
    """Put home and state back afterwards as they are now."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(root, place)
    try:
        yield
    finally:
        shutil.rmtree(root)
        shutil.copytree(place, root)
