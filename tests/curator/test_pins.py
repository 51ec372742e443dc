"""A pinned claim stays word for word until it is let go or a source goes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from curator import actions
from curator.llm.model import Message
from curator.llm.scripted import Scripted
from curator.persona import delta, markdown, pinning, reading, tracing
from substrate.errors import Forbidden, Invalid, NotFound
from substrate.memory import entities, forgetting, pins
from substrate.scopes import namespaces, principals
from substrate.scopes.caller import Caller
from substrate.store.model import ClaimRow, MemoryRow
from tests.curator.persona.stories import long_life
from tests.curator.scribe import answer, copied, shown
from tests.curator.workshop import Workshop, opened

BERGEN = "Ada plans to visit Bergen in October."


def pin(shop: Workshop, claim: str, pinned: bool = True, caller: Caller | None = None) -> ClaimRow:
    with shop.memory.write() as tx:
        found = reading.newest(tx, caller or shop.memory.caller, "ada", "global")
        assert found is not None
        return pinning.pin(tx, caller or shop.memory.caller, found, claim, pinned=pinned)


def claims(shop: Workshop) -> list[ClaimRow]:
    found = shop.persona()
    assert found is not None
    return list(found.claims)


def id_of(shop: Workshop, text: str) -> str:
    return next(claim.claim_id for claim in claims(shop) if claim.text == text)


def body(shop: Workshop) -> list[str]:
    return [claim.text or "" for claim in claims(shop) if not (claim.text or "").startswith("On ")]


def crowd(shop: Workshop, count: int) -> None:
    """Write many facts of some length."""
    towns = ("Oslo", "Rome", "Lima", "Cairo", "Quito", "Delhi", "Perth", "Osaka", "Dakar", "Sofia", "Minsk", "Porto")
    for number in range(count):
        town = towns[number % len(towns)]
        shop.reflect(f"Ada studied the old organ number {number} of {town} with great care and wrote an essay on it.")


@pytest.fixture
def drawn(ada: Workshop) -> Workshop:
    """A workshop with a persona of Ada in which the journey to Bergen is pinned."""
    ada.generate()
    pin(ada, id_of(ada, BERGEN))
    return ada


def test_a_pin_is_one_change_of_one_claim_and_one_event_of_ids(ada: Workshop):
    ada.generate()
    before = claims(ada)
    row = pin(ada, "2")
    assert row.pinned and row.text == before[1].text
    (event,) = ada.events("claim_pinned")
    assert event.payload == {
        "persona_id": row.persona_id,
        "claim_id": row.claim_id,
        "pinned": True,
        "by": {"id": ada.memory.caller.id, "kind": "human", "handle": "ann"} | event.payload["by"],
    }
    assert {table for table, _, _ in event.commits} == {"claims"}
    found = ada.persona()
    assert found is not None and [claim.pinned for claim in found.claims].count(True) == 1
    assert [claim["pinned"] for claim in found.wire()["claims"]] == [claim.pinned for claim in found.claims]
    with ada.memory.read() as r:
        assert tracing.check(r, ada.memory.caller, found) == []


def test_to_pin_what_is_pinned_writes_nothing(drawn: Workshop):
    before = len(drawn.events())
    assert pin(drawn, id_of(drawn, BERGEN)).pinned
    assert len(drawn.events()) == before


def test_a_claim_is_named_by_its_id_or_its_number_in_reading_order(ada: Workshop):
    ada.generate()
    assert pin(ada, "3").claim_id == claims(ada)[2].claim_id
    assert not pin(ada, claims(ada)[2].claim_id, pinned=False).pinned
    for wrong in ("0", "7", "-1", "9" * 400):
        with pytest.raises((Invalid, NotFound)) as error:
            pin(ada, wrong)
        assert "--claims" in error.value.hint
    for wrong in ("", "clm-nobody", "٣", "two"):
        with pytest.raises(NotFound):
            pin(ada, wrong)
    assert not any(claim.pinned for claim in claims(ada))


def test_who_may_not_write_there_may_not_pin(ada: Workshop):
    ada.generate()
    with ada.memory.write() as tx:
        principals.register(tx, ada.memory.caller, "agent", "scout")
        scout = principals.caller_for(tx, "scout")
        namespaces.set_access(tx, ada.memory.caller, "global", "ro")
    with pytest.raises(Forbidden):
        pin(ada, "1", caller=scout)
    assert not any(claim.pinned for claim in claims(ada)) and ada.events("claim_pinned") == []


def test_a_full_body_pushes_a_claim_out_unless_it_is_pinned(tmp_path: Path):
    told = [source.text for source in long_life("Ada", facts=60)]

    def grown(folder: Path, pinned: str | None) -> list[str]:
        """Draw a persona, pin a claim or none, and draw it again when twice as much is known."""
        with opened(folder) as shop:
            for text in told[:30]:
                shop.reflect(text)
            shop.generate()
            before = body(shop)
            if pinned is not None:
                pin(shop, id_of(shop, pinned))
            for text in told[30:]:
                shop.reflect(text)
            shop.generate()
            assert markdown.word_count(_document(shop)) <= 500
            return [text for text in before if text not in body(shop)]

    gone = grown(tmp_path / "free", None)
    assert gone
    assert gone[0] not in grown(tmp_path / "held", gone[0])


def test_a_contradiction_leaves_it_and_shows_what_changed(drawn: Workshop):
    drawn.reflect("Ada no longer plans to visit Bergen in October.")
    drawn.generate()
    assert BERGEN in body(drawn)
    (change,) = [claim for claim in claims(drawn) if (claim.text or "").startswith("On ")]
    assert "no longer" in (change.text or "") and BERGEN in (change.text or "")
    drawn.generate()
    assert BERGEN in body(drawn)
    pin(drawn, id_of(drawn, BERGEN), pinned=False)
    drawn.generate()
    assert BERGEN not in body(drawn)


def test_a_full_rebuild_keeps_what_is_pinned_and_nothing_else(drawn: Workshop):
    pinned = id_of(drawn, BERGEN)
    before = {claim.claim_id for claim in claims(drawn)}
    drawn.generate(full=True)
    assert {claim.claim_id for claim in claims(drawn)} & before == {pinned}
    assert [claim.claim_id for claim in claims(drawn) if claim.pinned] == [pinned]


def test_it_goes_with_a_source(drawn: Workshop):
    with drawn.memory.read() as r:
        rows = r.select(MemoryRow, "memory_kind = 'reflection'")
    drawn.retire(next(row for row in rows if row.content == BERGEN))
    drawn.generate()
    assert BERGEN not in body(drawn) and not any(claim.pinned for claim in claims(drawn))


def test_it_stays_even_where_the_checks_have_become_stricter(drawn: Workshop):
    with drawn.memory.write() as tx:
        entities.add(tx, drawn.memory.caller, "bergen", name="Ada plans")
    drawn.generate()
    assert BERGEN in body(drawn)


def test_forgetting_takes_pinned_claims_in_every_version(drawn: Workshop):
    drawn.reflect("Ada bought a lathe in Linz.")
    drawn.generate()
    with drawn.memory.read() as r:
        rows = r.select(MemoryRow, "memory_kind = 'reflection'")
    victim = next(row for row in rows if row.content == BERGEN)
    actions.forget(drawn.memory, id=victim.id, cascade=True)
    assert BERGEN not in body(drawn)
    with drawn.memory.read() as r:
        assert not any("Bergen" in (claim.text or "") for claim in r.select(ClaimRow))


@pytest.mark.parametrize("by_model", [False, True])
def test_a_pin_set_while_a_draft_is_made_is_not_lost(ada: Workshop, by_model: bool):
    import numpy as np

    ada.generate()
    ada.reflect("Ada bought a lathe in Linz.")
    target = id_of(ada, BERGEN)

    def meddle() -> None:
        if ada.persona().row.persona_version == 1:  # type: ignore[union-attr]
            pin(ada, target)

    def embed(texts: Sequence[str]) -> Any:
        meddle()
        return np.eye(len(texts), dtype=np.float32)

    def say(messages: Sequence[Message]) -> Any:
        meddle()
        return copied(messages)

    model = Scripted(say)
    options: dict[str, Any] = {"model": model} if by_model else {"embed": embed}
    ada.generate(**options)
    assert [claim.claim_id for claim in claims(ada) if claim.pinned] == [target]
    assert len(model.asked) == by_model, "what was cited did not change, so the model is not asked again"


def test_a_model_cannot_replace_it(drawn: Workshop):
    drawn.reflect("Ada plans to visit Oslo in October instead.")
    model = Scripted([answer(("Ada plans to visit Oslo in October.", (1,), id_of(drawn, BERGEN)))])
    drawn.generate(model=model)
    assert {element["id"] for element in shown(model.asked[0].messages) if "id" in element} == {
        claim.claim_id for claim in claims(drawn)
    } - {id_of(drawn, "Ada plans to visit Oslo in October.")}
    assert {BERGEN, "Ada plans to visit Oslo in October."} < set(body(drawn))


def test_what_changed_can_be_pinned_too(ada: Workshop):
    ada.reflect("Ada lives in Graz.")
    ada.reflect("Ada lives in Hall.")
    ada.generate()
    (change,) = [claim for claim in claims(ada) if (claim.text or "").startswith("On ")]
    pin(ada, change.claim_id)
    for town in ("Linz", "Wels", "Steyr", "Enns", "Traun"):
        ada.reflect(f"Ada lives in {town}.")
        ada.generate()
    kept = [claim for claim in claims(ada) if claim.pinned]
    assert [(claim.claim_id, claim.text) for claim in kept] == [(change.claim_id, change.text)]
    assert sum((claim.text or "").startswith("On ") for claim in claims(ada)) <= 1 + delta.CHANGES
    assert [text for text in body(ada) if text.startswith("Ada lives in")] == ["Ada lives in Traun."]


def test_a_body_all_pinned_takes_nothing_new_and_stays_within_its_words(shop: Workshop):
    crowd(shop, 60)
    shop.generate()
    for claim in claims(shop):
        pin(shop, claim.claim_id)
    pinned = {claim.text for claim in claims(shop)}
    shop.reflect("Ada no longer studied the old organ number 0 of Oslo.")
    crowd(shop, 6)
    shop.generate()
    assert {claim.text for claim in claims(shop)} >= pinned and markdown.word_count(_document(shop)) <= 500


def _document(shop: Workshop) -> str:
    found = shop.persona()
    assert found is not None
    return found.row.content or ""


def held(shop: Workshop, entity: str = "ada") -> list[str]:
    """List the pinned claims of the persona that is served."""
    found = shop.persona(entity)
    return [] if found is None else [claim.text or "" for claim in found.claims if claim.pinned]


def cited_by(shop: Workshop, text: str) -> str:
    return next(claim.sources[0] for claim in claims(shop) if claim.text == text)


def test_a_pin_outlives_a_cascade_that_takes_another_source(drawn: Workshop):
    before = id_of(drawn, BERGEN)
    other = cited_by(drawn, "Ada teaches two apprentices on Fridays.")
    done = actions.forget(drawn.memory, id=other, cascade=True)
    assert done["personas"] and held(drawn) == [BERGEN] and id_of(drawn, BERGEN) == before
    with drawn.memory.read() as r:
        assert pins.left(r) == [], "the version after took them over"


def test_a_pin_falls_with_its_own_source(drawn: Workshop):
    actions.forget(drawn.memory, id=cited_by(drawn, BERGEN), cascade=True)
    assert held(drawn) == [] and "Bergen" not in "".join(body(drawn))


def forgotten(shop: Workshop, id: str) -> None:
    """Forget with cascade, and draw nothing anew."""
    with shop.memory.write() as tx:
        forgetting.forget(tx, shop.memory.caller, id, cascade=True)


def test_a_pin_that_waits_for_a_version_falls_with_its_source_too(drawn: Workshop):
    source = cited_by(drawn, BERGEN)
    forgotten(drawn, cited_by(drawn, "Ada teaches two apprentices on Fridays."))
    assert drawn.persona() is None
    with drawn.memory.read() as r:
        assert [claim.text for claim in pins.left(r)] == [BERGEN]
    forgotten(drawn, source)
    with drawn.memory.read() as r:
        assert pins.left(r) == [] and r.count(ClaimRow) == 0


def test_a_persona_that_is_itself_forgotten_leaves_no_pin(drawn: Workshop):
    found = drawn.persona()
    assert found is not None
    forgotten(drawn, found.row.id)
    with drawn.memory.read() as r:
        assert pins.left(r) == [] and r.count(ClaimRow) == 0


def test_the_survivor_of_a_merge_takes_over_what_was_pinned_once(drawn: Workshop):
    for text in ("Lovelace sails a wooden boat.", "Lovelace plays chess in Turin."):
        drawn.reflect(text, entity="lovelace")
    drawn.generate("lovelace")
    with drawn.memory.write() as tx:
        entities.merge(tx, drawn.memory.caller, "ada", "lovelace")
    drawn.generate("lovelace")
    assert held(drawn, "lovelace") == [BERGEN]
    with drawn.memory.write() as tx:
        found = reading.newest(tx, drawn.memory.caller, "lovelace", "global")
        assert found is not None
        claim = next(claim for claim in found.claims if claim.text == BERGEN)
        pinning.pin(tx, drawn.memory.caller, found, claim.claim_id, pinned=False)
    drawn.reflect("Lovelace repairs clocks in Bath.", entity="lovelace")
    drawn.generate("lovelace")
    assert held(drawn, "lovelace") == []
