"""The table of rules against the prose: a golden matrix, and an oracle of straight ifs over random worlds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate.errors import Forbidden
from substrate.scopes import access
from substrate.scopes.relations import RELATIONS, relations
from substrate.scopes.rules import ACTIONS, CONDITIONS, RULES, Grant, Ruling, Verdict, rule
from tests.scopes.cast import GOLDEN, PAGE, SCOPES, callers, facts, golden, matrix, page, states
from tests.scopes.oracle import World, answer
from tests.scopes.worlds import AGENTS, HUMANS, PATHS, worlds
from tests.scopes.worlds import callers as drawn_callers

AUTHORS = st.sampled_from([None, *HUMANS, *AGENTS])
GRANTS = [
    pytest.param(kind, action, place, id=f"{kind}-{action}-{place}")
    for kind, rules in RULES.items()
    if kind != "global"  # the table it shares with plain
    for action, rule_ in rules.items()
    for place in range(len(rule_))
]


@settings(max_examples=60, deadline=None)
@given(worlds(), st.lists(drawn_callers(), min_size=1, max_size=3, unique=True), AUTHORS)
def test_every_answer_is_the_one_the_prose_gives(world: World, asking: list[access.Caller], author: str | None):
    for caller in asking:
        for path in PATHS:
            standing, target = facts(world, caller, path, author)
            found = {action: rule(standing, action, target).verdict.name for action in ACTIONS}
            assert found == {action: answer(world, caller, action, path, author) for action in ACTIONS}, (caller, path)


def test_the_matrix_is_the_golden_one():
    assert golden() == GOLDEN.read_text("utf-8"), "check every changed cell against the prose, then write it anew"


def test_the_prose_agrees_with_every_cell_of_the_golden_matrix():
    for path, state, world in states():
        for name, caller in callers().items():
            author = caller.id if state == "of a row the caller wrote" else None
            standing, target = facts(world, caller, path, author)
            for action in ACTIONS:
                found = rule(standing, action, target).verdict.name
                assert found == answer(world, caller, action, path, author), (path, state, name, action)


def test_the_page_of_the_matrix_is_current():
    assert page() == PAGE.read_text("utf-8"), "run: python -m tests.scopes.cast"


@pytest.mark.parametrize(("kind", "action", "place"), GRANTS)
def test_no_grant_can_lose_a_relation_or_its_condition_unnoticed(
    kind: str, action: str, place: int, monkeypatch: pytest.MonkeyPatch
):
    grants = RULES[kind][action]
    grant = grants[place]
    weaker = [grant._replace(relations=grant.relations - {name}) for name in grant.relations]
    if grant.when:
        weaker.append(grant._replace(when=""))
    before = list(matrix(kind, action))
    for mutant in weaker:
        changed: tuple[Grant, ...] = (*grants[:place], mutant, *grants[place + 1 :])
        monkeypatch.setitem(RULES[kind], action, changed)  # type: ignore[arg-type]
        assert list(matrix(kind, action)) != before, mutant


def test_every_relation_and_condition_is_used_and_described():
    grants = [grant for rules in RULES.values() for rule_ in rules.values() for grant in rule_]
    assert set().union(*(grant.relations for grant in grants)) == RELATIONS.keys()
    assert {grant.when for grant in grants} - {""} == CONDITIONS.keys()
    assert set().union(*(rules.keys() for rules in RULES.values())) == ACTIONS.keys()


def test_relations_are_only_those_described():
    for path in SCOPES:
        for _, _, world in states():
            for caller in callers().values():
                assert relations(*facts(world, caller, path)) <= RELATIONS.keys()


def test_every_refusal_has_a_hint_of_its_own():
    reasons = {grant.reason for rules in RULES.values() for rule_ in rules.values() for grant in rule_} - {""}
    for reason in reasons | {"read_only"}:
        with pytest.raises(Forbidden) as refused:
            access.enforce(Ruling(Verdict.FORBIDDEN, reason), "write", "namespace", "team/alpha")
        assert refused.value.details == {"reason": reason}
        assert refused.value.hint not in ("", "ask somebody who may")
