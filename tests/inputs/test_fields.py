"""A hostile text in any field of any action is refused and leaves nothing, or is stored and answered as it is."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from substrate.actions.registry import ACTIONS, call
from tests.curator.workshop import Workshop
from tests.inputs.attempts import Attempt, attempt, base_of, prepared
from tests.inputs.cases import CASES, Case
from tests.inputs.fields import BASES, KEY, TAKES, Field, Takes, fields, refused

FIELDS = fields()
EACH = 4  # cases a field; over all fields every case is tried many times
SLOW = {"recall", "audit_verify"}  # one case each: the first looks at what was written since, the second at everything


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        with prepared(tmp_path_factory.mktemp("store")) as shop:
            yield shop


def drawn(number: int, field: Field) -> list[Case]:
    """Choose the cases of a field: other ones for each, all of them over the fields."""
    each = 1 if field.action in SLOW else EACH
    return [CASES[(number * EACH + n * len(CASES) // each) % len(CASES)] for n in range(each)]


def test_every_action_has_a_call_to_start_from_and_every_description_a_field():
    assert {field.action for field in FIELDS} == BASES.keys()
    named = {(field.action, ".".join(map(str, field.path))) for field in FIELDS}
    assert {
        key for key in TAKES if not any(n[0] == key[0] and f"{n[1]}.".startswith(f"{key[1]}.") for n in named)
    } == set()


def test_every_text_an_action_takes_is_a_field():
    """Told from the schemas, so that it does not rest on how fields are found."""
    for name, action in ACTIONS.items():
        for argument, schema in action.schema["properties"].items():
            takes_text = schema.get("type") in (None, "string", "object", "array")
            assert takes_text == any(f.action == name and f.path[0] == argument for f in FIELDS), (name, argument)


def test_the_cases_drawn_are_all_of_them():
    tried = [case for number, field in enumerate(FIELDS) for case in drawn(number, field)]
    assert {*tried} == {*CASES}


@pytest.mark.requirement("S1-8")
@pytest.mark.parametrize(("number", "field"), [*enumerate(FIELDS)], ids=[field.id for field in FIELDS])
def test_a_hostile_text_is_refused_whole_or_kept_as_data(number: int, field: Field, shop: Workshop):
    base = base_of(field, shop)
    tried: list[Attempt] = []
    for case in drawn(number, field):
        tried.append(attempt(shop, field, base, case))
        if tried[-1].accepted and field.action in ("retire", "forget", "edit"):
            base = base_of(field, shop)
    assert [(one.case.id, one.wrong) for one in tried if one.wrong] == []


def test_the_store_is_whole_after_all_of_it(shop: Workshop):
    report = call(shop.memory, "audit_verify")
    assert (report["ok"], report["faults"]) == (True, [])


PLAIN = Field("remember", ("text",), Takes.TEXT)


@pytest.mark.parametrize(
    ("takes", "text", "expected"),
    [
        (Takes.TEXT, "a\nb", False),
        (Takes.TEXT, "a\x00b", True),
        (Takes.LINE, "a\nb", True),
        (Takes.LINE, "a\u202eb", False),
        (Takes.ENTITY, "a\u202eb", True),
        (Takes.ENTITY, "-rf", False),
        (Takes.NOTHING, "a b", True),
        (Takes.NOTHING, "plain", None),
    ],
)
def test_what_a_field_has_to_refuse_is_told_apart(takes: Takes, text: str, expected: bool | None):
    assert refused(replace(PLAIN, takes=takes), text, secret=False) is expected
    assert refused(PLAIN, "anything", secret=True) is True


def test_a_field_that_nobody_described_has_to_refuse_everything_hostile():
    field = Field("a_new_action", ("words",), TAKES.get(("a_new_action", "words"), Takes.NOTHING))
    assert [case.id for case in CASES if refused(field, case.text, secret=False) is False] == []
    assert Field("remember", ("metadata", KEY), Takes.LINE).call({"text": "a"}, "b")["metadata"] == {"b": "value"}
