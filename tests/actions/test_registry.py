"""Every action is declared once and called by name, with the arguments it takes and no others."""

import dataclasses
import inspect
import typing

import pytest

import curator.actions  # registers the actions the curator composes
from substrate.actions import registry
from substrate.actions.registry import ACTIONS, Action
from substrate.errors import AiMemoryError, Invalid, Refused
from substrate.home import Memory

registry.load()
NAMES = {
    *("remember", "recall", "get", "list", "edit", "retire", "forget", "reflect", "link", "graph", "paths", "timeline"),
    *("impact", "entity_add", "entity_alias", "entity_merge", "entity_show", "persona", "persona_generate"),
    *("persona_history", "persona_diff", "persona_why", "persona_verify", "space_add", "space_list", "space_show"),
    *("space_policy", "space_access", "space_member", "space_accept", "who_add", "who_list", "who_show", "who_token"),
    *("who_key", "who_revoke", "who_retire", "audit_log", "audit_verify", "audit_checkpoint", "audit_prove"),
    *("persona_pin", "distil", "audit_keys", "audit_export", "audit_rotate", "status", "rewrite", "tick", "jobs"),
    "reindex",
}


def test_the_actions_are_those_a_door_offers():
    assert {*ACTIONS} == NAMES
    assert curator.actions.reflect is ACTIONS["reflect"].run


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS.keys())
def test_an_action_is_documented_and_annotated(action: Action):
    assert action.summary.endswith(".")
    hints = typing.get_type_hints(action.run, vars(inspect.getmodule(action.run)) | {"Embed": object})
    first, *others = inspect.signature(action.run).parameters.values()
    assert hints[first.name] is Memory
    assert hints["return"] == registry.Json
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in others)
    assert all(parameter.name in hints for parameter in others)
    assert action.parameters.keys() == {parameter.name for parameter in others} - {"progress"}


def test_an_action_is_called_by_name(memory: Memory):
    seen = registry.call(memory, "remember", {"text": "The ferry is in the dock."})
    assert registry.call(memory, "get", {"id": seen["id"]})["content"] == "The ferry is in the dock."
    assert registry.call(memory, "list")["total"] == 1


@pytest.mark.parametrize(
    ("name", "arguments", "fields"),
    [
        ("get", {}, {"id": "missing"}),
        ("get", {"id": "a", "as": "b"}, {"as": "unknown"}),
        ("get", {"ids": "a"}, {"ids": "unknown", "id": "missing"}),
        ("remember", {"text": "a", "on_behalf_of": "admin"}, {"on_behalf_of": "unknown"}),
        ("remember", {"text": "a", "author": "owner", "by": "owner"}, {"author": "unknown", "by": "unknown"}),
        ("remember", {"text": "a", "__class__": "b"}, {"__class__": "unknown"}),
        ("recall", {"query": "a", "progress": "b"}, {"progress": "unknown"}),
        ("get", {"memory": "a", "id": "b"}, {"memory": "unknown"}),
        ("status", {"x": None}, {"x": "unknown"}),
        ("get", {"id": 5}, {"id": "type"}),
        ("get", {"id": None}, {"id": "type"}),
        ("list", {"limit": True, "offset": "3", "all": 1}, {"limit": "type", "offset": "type", "all": "type"}),
        ("remember", {"text": "a", "tags": "red"}, {"tags": "type"}),
        ("remember", {"text": "a", "tags": ["red", 5]}, {"tags": "type"}),
        ("remember", {"text": "a", "metadata": {5: "a"}}, {"metadata": "type"}),
        ("remember", {"text": "a", "sources": [["kind"]]}, {"sources": "type"}),
        ("reflect", {"title": "a", "text": "b", "sources": "mem-x"}, {"sources": "type"}),
        ("audit_log", {"after": None, "subject": b"x"}, {"after": "type", "subject": "type"}),
    ],
)
def test_unknown_and_missing_arguments_are_named(
    name: str, arguments: dict[str, object], fields: dict[str, str], memory: Memory
):
    with pytest.raises(Invalid) as caught:
        registry.call(memory, name, arguments)
    assert caught.value.details["fields"] == fields
    assert caught.value.hint.startswith("it takes ")
    assert registry.call(memory, "list")["total"] == 0


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("remember", {"text": 5}, "'text' has to be a string"),
        ("remember", {"text": "a", "tags": "red"}, "'tags' has to be a list of strings"),
        ("remember", {"text": "a", "sources": "b"}, "'sources' has to be a list"),
        ("remember", {"text": "a", "metadata": []}, "'metadata' has to be an object"),
        ("list", {"limit": "3", "all": 1}, "'all' has to be true or false, 'limit' has to be a whole number"),
    ],
)
def test_a_value_of_another_type_is_told_which_is_wanted(
    name: str, arguments: dict[str, object], said: str, memory: Memory
):
    with pytest.raises(Invalid) as caught:
        registry.call(memory, name, arguments)
    assert caught.value.message == f"{name}: {said}"


def test_a_value_of_no_type_it_takes_is_never_more_than_an_error_of_ours(memory: Memory):
    odd = (5, None, 1.5, ["x"], {"a": 1}, "x", "", [None], "\ud800", 10**30)
    unforeseen = []
    for name, action in ACTIONS.items():
        required = {n: "x" for n, p in action.parameters.items() if p.default is p.empty}
        for argument in action.parameters if name != "rewrite" else ():
            for value in odd:
                try:
                    registry.call(memory, name, required | {argument: value})
                except AiMemoryError:
                    continue
                except (TypeError, ValueError, AttributeError, KeyError) as error:
                    unforeseen.append((name, argument, value, error))
    assert unforeseen == []


@pytest.mark.parametrize("name", ["forget_all", "", "__init__", "Remember", "get\n"])
def test_an_unknown_action_is_invalid_and_told_the_known_ones(name: str, memory: Memory):
    with pytest.raises(Invalid) as caught:
        registry.call(memory, name)
    assert "remember" in caught.value.hint


def test_two_actions_of_one_name_are_a_mistake():
    with pytest.raises(RuntimeError, match="two actions are called get"):
        registry.action("get", writes=False)(lambda memory: {})


def test_an_action_says_whether_it_writes(memory: Memory):
    assert {name for name, action in ACTIONS.items() if action.writes} == {
        *("remember", "edit", "retire", "forget", "reflect", "link", "entity_add", "entity_alias", "entity_merge"),
        *("persona_generate", "space_add", "space_policy", "space_access", "space_member", "space_accept", "who_add"),
        *("who_token", "who_key", "who_revoke", "who_retire", "rewrite", "tick", "persona_pin", "distil"),
        *("audit_rotate", "reindex"),
    }
    head = registry.call(memory, "status")["events"]
    for name in ("list", "status", "space_list", "who_list", "audit_log", "audit_keys", "audit_verify", "audit_export"):
        registry.call(memory, name)
    assert registry.call(memory, "status")["events"] == head


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS.keys())
def test_a_schema_names_each_argument_its_type_and_no_others(action: Action):
    schema = action.schema
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert schema["properties"].keys() == action.parameters.keys()
    assert {*schema["required"]} == {name for name, p in action.parameters.items() if p.default is p.empty}


def test_a_schema_leaves_out_what_may_be_left_out():
    assert ACTIONS["get"].schema["properties"] == {"id": {"type": "string"}, "namespace": {"type": "string"}}
    properties = ACTIONS["remember"].schema["properties"]
    assert properties["namespace"] == {"type": "string", "default": "global"}
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}}
    assert properties["metadata"] == {"type": "object"}
    assert ACTIONS["graph"].schema["properties"]["depth"] == {"type": "integer"}


def test_a_door_may_name_arguments_otherwise_and_hears_of_its_own_names():
    names = {"entity": "entity_id"}
    fit = registry.fitting(ACTIONS["persona"], {"entity_id": "mara"}, door="memory_persona", names=names)
    assert fit == {"entity": "mara"}
    with pytest.raises(Invalid, match="memory_persona") as raised:
        registry.fitting(ACTIONS["persona"], {"entity": "mara"}, door="memory_persona", names=names)
    assert raised.value.details["fields"] == {"entity": "unknown", "entity_id": "missing"}


def test_an_action_above_the_ceiling_refuses_however_it_is_called(memory: Memory):
    memory.config = dataclasses.replace(memory.config, tier="keyword")
    for ask in (
        lambda: registry.call(memory, "persona", {"entity": "mara"}),
        lambda: curator.actions.persona(memory, entity="mara"),
    ):
        with pytest.raises(Refused) as raised:
            ask()
        assert (raised.value.details["needed"], raised.value.details["ceiling"]) == ("semantic", "keyword")
