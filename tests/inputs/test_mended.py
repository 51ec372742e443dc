"""What hostile inputs once found in the product, by the kind it was."""

from collections.abc import Iterator
from typing import Any

import pytest

from substrate.actions.registry import call
from substrate.errors import AiMemoryError, Invalid
from substrate.escape import quote
from tests.curator.workshop import Workshop
from tests.inputs.attempts import prepared
from tests.inputs.cases import AWS, KEY, TOKEN


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with prepared(tmp_path_factory.mktemp("store")) as shop:
        yield shop


@pytest.mark.parametrize("name", ["get", "edit", "retire", "forget", "timeline", "impact"])
@pytest.mark.parametrize("path", ["a/../b", "a//b", "A", "a/", "*", "", "a\nb"])
def test_a_namespace_is_checked_even_where_an_id_makes_it_needless(name: str, path: str, shop: Workshop):
    more = {"edit": {"text": "x"}, "retire": {"why": "x"}}.get(name, {})
    with pytest.raises(Invalid) as caught:
        call(shop.memory, name, {"id": shop.observe("Seen.").id, "namespace": path, **more})
    assert caught.value.details["fields"].keys() == {"namespace"}


@pytest.mark.parametrize(
    "instance", ["", " ", "a b", "a\nb", "\x1b[2J", "\u202eb", "a#b", "-a", "x" * 65, TOKEN + "\n"]
)
def test_the_name_of_a_copy_of_an_agent_is_plain(instance: str, shop: Workshop):
    for name, more in (("who_token", {}), ("who_key", {"public_key": "ab" * 32})):
        with pytest.raises(Invalid) as caught:
            call(shop.memory, name, {"principal": "scout", "instance": instance, **more})
        assert caught.value.details["fields"] == {"instance": "pattern"}


@pytest.mark.parametrize("secret", [TOKEN, AWS])
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("get", {"id": "{}"}),
        ("graph", {"id": "{}"}),
        ("audit_prove", {"id": "{}"}),
        ("persona_history", {"entity": "a", "namespace": "{}"}),
        ("persona_verify", {"entity": "{}"}),
        ("persona_generate", {"entity": "Ada", "model": "{}"}),
        ("remember", {"text": "x", "name": "{}"}),
        ("remember", {"text": "x", "memory_type": "{}"}),
        ("who_add", {"kind": "agent", "handle": "{}"}),
        ("who_add", {"kind": "{}", "handle": "b"}),
        ("who_show", {"principal": "{}"}),
        ("list", {"tag": "{}"}),
        ("recall", {"query": "x", "as_of": "{}"}),
    ],
)
def test_no_error_repeats_a_credential(name: str, given: dict[str, str], secret: str, shop: Workshop):
    asked: dict[str, Any] = {key: value.format(secret) for key, value in given.items()}
    with pytest.raises(AiMemoryError) as caught:
        call(shop.memory, name, asked)
    told = f"{caught.value.message} {caught.value.hint}".casefold().replace("-", "").replace("_", "")
    assert secret.casefold().replace("_", "")[4:] not in told


def test_a_quoted_value_is_shown_without_a_credential():
    assert TOKEN not in quote(TOKEN) and TOKEN[:20] not in quote("x " * 30 + TOKEN)
    assert KEY[40:60] not in quote(KEY)
    assert quote("plain") == "'plain'" and quote(None) == "'None'" and quote("x" * 90) == f"'{'x' * 80}…'"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("recall", {"query": "x", "kind": ""}),
        ("recall", {"query": "x", "memory_type": ""}),
        ("who_add", {"kind": "agent", "handle": "b", "owner": ""}),
        ("who_add", {"kind": "agent", "handle": "b", "lead": ""}),
    ],
)
def test_an_empty_choice_is_not_taken_for_none(name: str, given: dict[str, str], shop: Workshop):
    with pytest.raises(AiMemoryError) as caught:
        call(shop.memory, name, given)
    assert caught.value.code in ("invalid", "not_found") and caught.value.hint


@pytest.mark.parametrize("principal", ["", " "])
def test_an_empty_principal_is_not_the_caller(principal: str, shop: Workshop):
    with pytest.raises(AiMemoryError):
        call(shop.memory, "space_accept", {"project": "projects/ann/a", "principal": principal})
