"""Records of every type, written to every target through the write path."""

import pytest

from substrate.errors import Invalid, NotFound
from substrate.memory import memories
from substrate.scopes import namespaces, principals
from substrate.scopes.caller import CURATOR, Caller
from tests.scopes.conftest import Store

RECORD_TYPES = ("fact", "preference", "decision", "episode", "procedure", "document")


@pytest.fixture
def writers(store: Store) -> list[tuple[Caller, str]]:
    """List who writes to each of the three targets."""
    with store.db.write(actor=store.ann.id) as tx:
        namespaces.create(tx, store.ann, "projects/acme/one")
        ann = principals.caller_for(tx, "ann", project="acme/one")
    return [(ann, "user"), (ann, "current_workspace"), (store.scout, "agent")]


@pytest.mark.requirement("S4-41", "S4-45")
@pytest.mark.parametrize("type", RECORD_TYPES)
def test_a_record_of_each_type_goes_to_each_target(store: Store, writers: list[tuple[Caller, str]], type: str):
    for writer, target in writers:
        path = namespaces.target_namespace(writer, target)
        caller = CURATOR if type == "episode" else writer  # episodes are recorded by the system
        with store.db.write(actor=caller.id) as tx:
            row = memories.remember(tx, caller, f"a {type}", namespace=path, memory_type=type)
        assert (row.namespace, row.memory_kind, row.memory_type) == (path, "observation", type)


@pytest.mark.requirement("S4-45")
@pytest.mark.parametrize("type", ["lesson", "anti_pattern", "friction", "persona", "Fact", "", "rumour"])
def test_there_is_no_other_type_of_record(store: Store, writers: list[tuple[Caller, str]], type: str):
    for writer, target in writers:
        for caller in (writer, CURATOR):
            with pytest.raises(Invalid), store.db.write(actor=caller.id) as tx:
                path = namespaces.target_namespace(writer, target)
                memories.remember(tx, caller, "something", namespace=path, memory_type=type)


def test_an_agent_writes_no_other_target_than_its_own(store: Store, writers: list[tuple[Caller, str]]):
    other = store.agent("other")
    for _, target in writers[:2]:
        path = namespaces.target_namespace(writers[0][0], target)
        with pytest.raises(NotFound), store.db.write(actor=other.id) as tx:
            memories.remember(tx, other, "something", namespace=path)
