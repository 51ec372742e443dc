import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.errors import Invalid
from substrate.scopes import paths, policies
from substrate.store.model import from_json, to_json

CADENCE = "governance.auto_persona_trigger_every_n_memories"
EXPORT = "governance.auto_export_personas_to_filesystem"
REFLECT = "governance.auto_reflect_every_n_observations"
ONE = {
    "agent": "agents/agt-1",
    "user": "users/hum-1",
    "project": "projects/a/b",
    "role": "projects/a/b/roles/r",
    "global": "global",
    "plain": "team/alpha",
}
GOOD: dict[str, list[Any]] = {
    CADENCE: [0, 1, 10_000],
    REFLECT: [0, 1, 500],
    EXPORT: [True, False],
    "governance.auto_export_reflections_to_filesystem": [True],
    "agent_write": ["propose", "direct"],
    "write": ["all", ["hum-1"], ("hum-1", "agt-1")],
    "caps.entry_bytes": [1, 2048],
    "caps.total_bytes": [65536],
    "language": ["en", "pt-BR", "zh-Hant-TW"],
    "public": [True, False],
}
BAD: dict[str, list[Any]] = {
    CADENCE: [-1, 1.0, True, "3", 2**60, [1]],
    REFLECT: [-1, 0.5, False, "5"],
    EXPORT: [1, 0, "true", []],
    "agent_write": ["Direct", "", True, ["direct"]],
    "write": ["everybody", [], [""], [1], "hum-1", {}, ["x" * 600]],
    "caps.entry_bytes": [0, -5, 1.5, True],
    "language": ["", "english language", "EN", 5],
    "public": ["yes", 1],
}


def scope_with(field: str) -> str:
    return next(path for kind, path in ONE.items() if (kind, field) in policies._OF_KIND)


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in GOOD.items() for value in values])
def test_a_fitting_value_is_kept_and_survives_the_store(field: str, value: Any):
    kept = policies.check(scope_with(field), field, value)
    assert json.loads(to_json({field: kept}) or "") == from_json(to_json({field: kept})) == {field: kept}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in BAD.items() for value in values])
def test_a_value_of_the_wrong_type_or_size_is_invalid_and_the_hint_says_what_the_field_is_for(field: str, value: Any):
    with pytest.raises(Invalid) as refused:
        policies.check(scope_with(field), field, value)
    assert field in refused.value.message and refused.value.hint.startswith(field)


def test_readers_are_owner_or_roster_of_an_agent_and_everybody_or_a_list_elsewhere():
    assert policies.check(ONE["agent"], "readers", "roster") == "roster"
    assert policies.check("global", "readers", ["b", "a", "b"]) == ["a", "b"]
    for path, value in ((ONE["agent"], "all"), (ONE["agent"], ["hum-1"]), ("global", "roster")):
        with pytest.raises(Invalid):
            policies.check(path, "readers", value)


def test_none_means_not_set_and_always_fits():
    assert policies.check("global", CADENCE, None) is None


@pytest.mark.parametrize(
    ("path", "field", "hint"),
    [
        ("global", "governance.auto_persona_trigger", f"did you mean {CADENCE}?"),
        ("global", "reader", "did you mean readers?"),
        ("projects/a/b", "agent-write", "did you mean agent_write?"),
        ("projects/a/b", "readers", "readers belongs to namespaces of kind agent, global, plain"),
        ("team/alpha", "agent_write", "agent_write belongs to namespaces of kind project"),
        ("global", "zzz", "known here: "),
    ],
)
def test_an_unknown_field_is_invalid_and_the_hint_names_the_nearest(path: str, field: str, hint: str):
    for use in (policies.field_of, lambda path, field: policies.check(path, field, 1)):
        with pytest.raises(Invalid) as refused:
            use(path, field)
        assert hint in refused.value.hint


def test_each_field_is_resolved_by_itself_from_the_leaf_upwards():
    own = {
        "team/alpha": {"write": ["hum-1"]},
        "team": {"write": "all", "language": "de", CADENCE: 5},
        "global": {"language": "en", CADENCE: 9, EXPORT: True},
    }
    path = "team/alpha/notes"
    assert policies.resolve(own, path, "write") == (["hum-1"], "team/alpha")
    assert policies.resolve(own, path, "language") == ("de", "team")
    assert policies.resolve(own, path, CADENCE) == (5, "team")
    assert policies.resolve(own, path, EXPORT) == (True, "global")
    assert policies.resolve(own, path, "readers") == ("all", None)


def test_only_governance_falls_back_to_global():
    own = {"global": {"language": "en", "readers": ["hum-1"], CADENCE: 9}}
    for path in ONE.values():
        assert policies.resolve(own, path, CADENCE) == (9, "global")
        assert path == "global" or policies.resolve(own, path, "language") == (None, None)
    assert policies.resolve(own, "team", "readers") == ("all", None)


def test_false_and_zero_are_values_and_win_over_what_stands_around():
    own = {"team": {CADENCE: 0, EXPORT: False}, "global": {CADENCE: 9, EXPORT: True}}
    assert policies.resolve(own, "team/alpha", CADENCE) == (0, "team")
    assert policies.resolve(own, "team/alpha", EXPORT) == (False, "team")


VALUES = st.none() | st.integers(0, 3)


@given(st.lists(st.tuples(st.sampled_from(["global", "a", "a/b", "a/b/c", "z"]), VALUES)))
def test_the_nearest_namespace_that_sets_a_field_wins(settings: list[tuple[str, int | None]]):
    own = {path: {CADENCE: value} for path, value in settings}
    expected, place = 0, None
    for path in ("global", "a", "a/b", "a/b/c"):
        if own.get(path, {}).get(CADENCE) is not None:
            expected, place = own[path][CADENCE], path  # type: ignore[assignment]
    assert policies.resolve(own, "a/b/c", CADENCE) == (expected, place)


def test_every_kind_of_namespace_knows_the_governance_fields():
    for kind in paths.KINDS:
        assert set(policies.names_of(ONE[kind])) >= {CADENCE, EXPORT}
