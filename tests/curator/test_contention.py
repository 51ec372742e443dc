"""The store changes while a model writes: nothing old is written, and no more is paid for than what changed."""

from collections.abc import Sequence
from typing import Any

import pytest

from curator.llm.model import Message
from curator.llm.scripted import Scripted
from curator.persona.persona import generate
from substrate.actions import registry
from substrate.errors import Conflict, NotFound
from substrate.memory import memories
from substrate.store.model import MemoryRow, PersonaHeadRow
from tests.curator.scribe import answer, copied, items
from tests.curator.test_written import WRITTEN, texts
from tests.curator.workshop import FACTS, Workshop


def test_a_model_is_never_asked_while_the_store_is_held(ada: Workshop):
    def free(messages: Sequence[Message]) -> dict[str, Any]:
        assert not ada.memory.db.held
        ada.reflect("Ada bought a lathe in Linz.")  # somebody else writes meanwhile
        return answer(*WRITTEN)

    row = ada.generate(model=Scripted(free)).row
    assert row.persona_version == 1 and not any("lathe" in text for text in texts(ada))


def test_a_conflict_that_did_not_touch_what_was_cited_is_not_paid_for_again(ada: Workshop):
    rival = Scripted([answer(*WRITTEN[:4]), answer()])

    def slow(messages: Sequence[Message]) -> dict[str, Any]:
        ada.generate(model=rival)  # another version appears meanwhile
        return answer(*WRITTEN)

    model = Scripted(slow)
    row = ada.generate(model=model).row
    assert len(model.asked) == 1 and row.persona_version == 2
    assert set(texts(ada)) == {text for text, _ in WRITTEN}


def test_after_a_conflict_the_model_is_asked_only_for_what_changed(ada: Workshop):
    victim = _reflection(ada, "Bergen")

    def slow(messages: Sequence[Message]) -> dict[str, Any]:
        if len(items(messages)) > 1:
            with ada.memory.write() as tx:
                memories.edit(tx, ada.memory.caller, victim.id, "Ada plans to visit Oslo in October.")
            return answer(*WRITTEN)
        return copied(messages)

    model = Scripted(slow)
    row = ada.generate(model=model).row
    assert [items(asked.messages) for asked in model.asked] == [list(FACTS), ["Ada plans to visit Oslo in October."]]
    assert "Bergen" not in (row.content or "") and "Oslo" in (row.content or "")


def test_what_was_offered_before_a_conflict_is_kept_when_nothing_good_comes_after_it(ada: Workshop):
    victim = _reflection(ada, "Bergen")

    def slow(messages: Sequence[Message]) -> dict[str, Any]:
        if len(items(messages)) > 1:
            with ada.memory.write() as tx:
                memories.edit(tx, ada.memory.caller, victim.id, "Ada plans to visit Oslo in October.")
            return answer(*WRITTEN)
        return answer("Ada was born in Paris.", "Ada hates tea.")

    ada.generate(model=Scripted(slow))
    assert set(texts(ada)) == {text for text, _ in WRITTEN if "Bergen" not in text}


def test_a_store_that_never_holds_still_ends_in_conflict_after_few_calls(ada: Workshop):
    number = iter(range(100))

    def restless(messages: Sequence[Message]) -> dict[str, Any]:
        said = copied(messages)
        for text in items(messages):
            ada.retire(_reflection(ada, text))
        ada.reflect(f"Ada tuned organ {next(number)} in the valley.")
        return said

    model = Scripted(restless)
    with pytest.raises(Conflict):
        ada.generate(model=model)
    assert len(model.asked) <= 4 and ada.persona() is None


def test_who_loses_the_right_to_write_while_a_model_drafts_writes_nothing(ada: Workshop):
    def slow(messages: Sequence[Message]) -> dict[str, Any]:
        registry.call(ada.memory, "space_access", {"path": "global", "access": "off"})
        return answer(*WRITTEN)

    with pytest.raises(NotFound):
        ada.generate(model=Scripted(slow))
    assert ada.events("persona_generated") == []


def test_a_persona_goes_to_who_its_entity_was_merged_into_while_it_was_drafted(ada: Workshop):
    registry.call(ada.memory, "entity_add", {"entity": "lovelace", "name": "Ada Lovelace"})
    merged: list[object] = []

    def slow(messages: Sequence[Message]) -> dict[str, Any]:
        if not merged:
            merged.append(registry.call(ada.memory, "entity_merge", {"gone": "ada", "survivor": "lovelace"}))
        return answer(*WRITTEN)

    row = ada.generate(model=Scripted(slow)).row
    assert row.entity_id == "lovelace"
    with ada.memory.read() as r:
        assert [head.entity_id for head in r.select(PersonaHeadRow)] == ["lovelace"]


def test_only_where_the_condition_holds_is_anything_written(ada: Workshop):
    model = Scripted([])
    assert generate(ada.memory.db, ada.memory.caller, "ada", model=model, only_if=lambda r: False) is None
    assert ada.persona() is None and ada.events("persona_generated", "persona_failed", "persona_refused") == []


def _reflection(shop: Workshop, text: str) -> MemoryRow:
    with shop.memory.read() as r:
        rows = r.select(MemoryRow, "memory_kind = 'reflection' AND status = 'active'", order="sequence")
    return next(row for row in rows if text in (row.content or ""))
