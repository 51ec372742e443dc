import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.errors import Invalid
from substrate.scopes import paths

KINDS = {
    "global": "global",
    "agents/agt-1": "agent",
    "users/hum-1": "user",
    "projects/acme/one": "project",
    "projects/acme/one/roles/builder": "role",
    "team": "plain",
    "team/alpha": "plain",
    "team/agents/x": "plain",
}


@pytest.mark.parametrize(("path", "kind"), KINDS.items())
def test_the_kind_of_a_scope_follows_from_its_path(path: str, kind: str):
    assert paths.kind_of(path) == kind
    assert paths.parse(path) == path


LONG = ("projects/a/b/roles/r/x", "projects/a/b/role/r", "global/x")


@pytest.mark.parametrize(
    "path",
    [
        "agents",
        "agents/a/b",
        "users",
        "projects",
        "projects/a",
        "projects/a/b/c",
        "projects/a/b/roles",
        "global/x",
        *LONG,
    ],
)
def test_a_reserved_word_without_the_shape_of_its_kind_is_no_namespace(path: str):
    with pytest.raises(Invalid) as refused:
        paths.parse(path)
    assert refused.value.hint


@pytest.mark.parametrize("path", ["", "/", "a/", "/a", "a//b", "A", "a b", "a/../b", "*", "a/*", "é", "a\n", "a#x"])
def test_what_is_no_path_is_refused(path: str):
    with pytest.raises(Invalid):
        paths.parse(path)


def test_a_path_lies_in_its_parents_and_a_role_in_its_project():
    assert paths.chain("team/alpha/notes") == ("team/alpha/notes", "team/alpha", "team")
    assert paths.chain("projects/a/b/roles/r") == ("projects/a/b/roles/r", "projects/a/b")
    for path in ("global", "agents/agt-1", "users/hum-1", "projects/a/b"):
        assert paths.chain(path) == (path,)


def test_the_parts_of_a_path_are_named():
    assert paths.subject_of("agents/agt-1") == "agt-1" and paths.subject_of("users/hum-1") == "hum-1"
    assert paths.subject_of("team/alpha") is None
    assert paths.project_of("projects/a/b/roles/r") == paths.project_of("projects/a/b") == "projects/a/b"
    assert paths.project_of("global") is None
    assert paths.role_of("projects/a/b/roles/r") == "r"
    assert paths.role_of("projects/a/b") is None
    assert paths.scope_of("agent", "agt-1") == "agents/agt-1"
    assert paths.scope_of("human", "hum-1") == paths.scope_of("user", "hum-1") == "users/hum-1"


def test_a_project_is_named_by_its_owner_and_name_or_by_its_path():
    assert paths.project_path("acme/one") == paths.project_path("projects/acme/one") == "projects/acme/one"


@pytest.mark.parametrize("ref", ["acme", "acme/one/two", "projects/acme/one/roles/r", "", "Acme/one", "acme/one/"])
def test_what_names_no_project_is_refused(ref: str):
    with pytest.raises(Invalid):
        paths.project_path(ref)


@given(st.text(max_size=40))
def test_every_text_is_a_path_or_a_typed_error(text: str):
    try:
        assert paths.kind_of(paths.parse(text)) in paths.KINDS
    except Invalid as refused:
        assert refused.hint
