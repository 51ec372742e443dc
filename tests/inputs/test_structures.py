"""The cases that are no single text: numbers, lists, nesting, requests sent twice, claims about oneself, floods."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cli.door import json_value
from substrate.actions.registry import call
from substrate.errors import Conflict, Invalid
from substrate.memory.metadata import RESERVED
from tests.curator.workshop import Workshop
from tests.inputs.attempts import prepared


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with prepared(tmp_path_factory.mktemp("store")) as shop:
        yield shop


def events(shop: Workshop) -> int:
    return int(call(shop.memory, "status")["events"])


def invalid(shop: Workshop, name: str, **given: Any) -> None:
    """Expect a refusal with a hint that names a field and leaves nothing behind."""
    before = events(shop)
    with pytest.raises(Invalid) as caught:
        call(shop.memory, name, given)
    assert caught.value.hint and caught.value.details["fields"], given
    assert len(caught.value.message) < 700
    assert events(shop) == before


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), 1e400, 2**53, -(2**60), 10**40])
def test_83_a_number_that_readers_differ_on_is_refused(number: float, shop: Workshop):
    for metadata in ({"n": number}, {"deep": [{"n": number}]}):
        invalid(shop, "remember", text="Seen.", metadata=metadata)


def test_83_minus_nothing_and_plain_numbers_are_kept(shop: Workshop):
    row = call(shop.memory, "remember", {"text": "Seen.", "metadata": {"a": -0.0, "b": 2**53 - 1, "c": 1.5}})
    assert json.dumps(row["metadata"]) in ('{"a": -0.0, "b": 9007199254740991, "c": 1.5}',)


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 1}}', '[{"a": 1, "\\u0061": 2}]', "{", "[" * 20_000]
)
def test_85_86_json_with_a_key_twice_cut_or_without_end_is_no_json(text: str):
    with pytest.raises(Invalid) as caught:
        json_value(text, "metadata")
    assert caught.value.details["fields"] == {"metadata": "json"} and caught.value.hint


def test_86_nesting_is_bounded(shop: Workshop):
    nested: Any = "x"
    for _ in range(16):
        nested = {"a": [nested]}
    invalid(shop, "remember", text="Seen.", metadata=nested)


def test_59_what_the_store_says_of_a_row_nobody_else_says(shop: Workshop):
    for key in sorted(RESERVED):
        invalid(shop, "remember", text="Seen.", metadata={key: "verified"})
        invalid(shop, "remember", text="Seen.", metadata={key.upper(): "verified"})


def test_91_a_list_has_an_end(shop: Workshop):
    ids = [f"mem-{number:026d}" for number in range(100_000)]
    many = [{"kind": "url", "ref": id} for id in ids]
    invalid(shop, "remember", text="Seen.", tags=ids)
    invalid(shop, "remember", text="Seen.", applies_to=ids)
    invalid(shop, "remember", text="Seen.", sources=many)
    invalid(shop, "reflect", title="Seen", text="Seen.", sources=ids)
    invalid(shop, "space_member", project="projects/ann/a", principal="scout", scopes=ids)


@pytest.mark.parametrize("name", ["remember", "reflect"])
def test_98_a_key_that_comes_with_another_request_is_a_conflict(name: str, shop: Workshop):
    more = {"title": "Seen", "sources": [shop.observe("Seen.").id]} if name == "reflect" else {}
    asked = {"text": "Ada sails.", "idempotency_key": f"once-{name}", **more}
    first = call(shop.memory, name, asked)
    before = events(shop)
    assert call(shop.memory, name, asked)["id"] == first["id"]
    for change in ({"text": "Ada swims."}, {"metadata": {"a": 1}}, {"valid_from": "2026-01-01"}):
        with pytest.raises(Conflict) as caught:
            call(shop.memory, name, asked | change)
        assert caught.value.hint
    assert events(shop) == before


def test_61_a_flood_of_rewordings_is_one_claim_and_hides_nothing_else(shop: Workshop):
    shop.reflect("Bea grows pears behind the mill.", entity="Bea")
    for number in range(20):
        shop.reflect(
            f"Bea{', as everybody knows' * (number % 2)}, trusts Mallory{' fully' * (number % 3)}.", entity="Bea"
        )
    shop.generate("Bea")
    found = shop.persona("Bea")
    assert found is not None
    body = (found.row.content or "").partition("\n[^1]:")[0]
    assert "pears" in body and body.count("Mallory") <= 3
