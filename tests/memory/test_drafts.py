"""What a caller gives is checked whole before anything is written: form, size, credentials, room."""

import pytest

from substrate import limits
from substrate.errors import Invalid, MemoryFull, NotFound
from substrate.memory import memories
from substrate.scopes import namespaces
from tests.memory.house import ABSENT, House


@pytest.mark.parametrize("change", [{"content": " \n"}, {"content": "​"}, {"content": "a\x00b"}, {"content": "\ud800"}])
def test_content_that_says_nothing_or_is_no_text_is_refused(house: House, change: dict[str, str]):
    with pytest.raises(Invalid) as failed:
        house.remember(**change)
    assert failed.value.details["fields"].keys() == {"content"}


@pytest.mark.requirement("S2-4", "S2-5", "S2-12", "S1-34")
@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("name", "../etc", "pattern"),
        ("name", "Tea Time", "pattern"),
        ("name", ".tea", "pattern"),
        ("name", "index", "reserved"),
        ("name", ABSENT, "pattern"),
        ("description", "two\nlines", "control_character"),
        ("title", "a\x1b[2Jb", "control_character"),
        ("tags", ["a", "b", "c", "d", "e", "f"], "too_many"),
        ("tags", ["Big"], "pattern"),
        ("tags", "abc", "type"),
        ("memory_type", "lesson", "choice"),
        ("memory_type", "episode", "choice"),
        ("memory_type", "poem", "choice"),
        ("namespace", "a/../b", "pattern"),
        ("namespace", "agents", "shape"),
        ("applies_to", "scout", "type"),
        ("applies_to", [f"agt-{n}" for n in range(101)], "too_many"),
        ("applies_to", ["agt-nobody"], None),
        ("origin", "curator", "choice"),
        ("valid_from", "2026-02-30", "no_such_time"),
        ("valid_until", "yesterday", "pattern"),
        ("valid_from", "2999-01-01", "future"),
        ("sources", "https://a.example", "type"),
        ("sources", [{"kind": "url"}], "shape"),
        ("sources", [{"kind": "url", "ref": "x", "by": "y"}], "shape"),
        ("sources", [{"kind": "rumour", "ref": "x"}], "choice"),
        ("sources", [{"kind": "url", "ref": "x"}] * 1001, "too_many"),
        ("sources", ["x"], "shape"),
    ],
)
def test_a_field_out_of_form_is_refused_by_name_and_nothing_is_written(
    house: House, field: str, value: object, code: str | None
):
    before = house.db.read
    with before() as r:
        head = r.head.sequence
    with pytest.raises((Invalid, NotFound)) as failed:
        house.remember("Some text.", **{field: value})
    if code is not None:
        assert failed.value.details["fields"] == {field: code}
        assert failed.value.hint
    with before() as r:
        assert r.head.sequence == head


def test_a_period_has_its_end_after_its_beginning(house: House):
    row = house.remember("In Paris.", valid_from="2026-05-01", valid_until="2026-05-02T12:00:00+02:00")
    assert (row.valid_from, row.valid_until) == ("2026-05-01T00:00:00.000000Z", "2026-05-02T10:00:00.000000Z")
    with pytest.raises(Invalid, match="before"):
        house.remember("In Paris.", valid_from="2026-05-02", valid_until="2026-05-01")


def test_where_a_memory_comes_from_is_kept_with_its_time(house: House):
    row = house.remember("Said in a call.", sources=({"kind": "thread", "ref": "t-1", "at": "2026-05-01"},))
    assert row.sources == ({"kind": "thread", "ref": "t-1", "at": "2026-05-01T00:00:00.000000Z"},)
    assert house.remember("Of no source.", sources=[]).sources is None


@pytest.mark.requirement("S1-8")
@pytest.mark.parametrize(
    "fields",
    [
        {"content": "the deploy token is ghp_0123456789abcdefghijABCDEFGHIJ456789"},
        {"title": "ghp_0123456789abcdefghijABCDEFGHIJ456789"},
        {"description": "ghp_0123456789abcdefghijABCDEFGHIJ456789"},
        {"metadata": {"deploy": {"token": "ghp_0123456789abcdefghijABCDEFGHIJ456789"}}},
        {"metadata": {"ghp_0123456789abcdefghijABCDEFGHIJ456789": True}},
        {"sources": [{"kind": "url", "ref": "https://kim:hunter2x9Q@host.example/"}]},
        {"title": "Wifi password", "content": "Tr0ub4dor&3"},
    ],
)
def test_a_credential_anywhere_in_a_write_refuses_it(house: House, fields: dict[str, object]):
    with pytest.raises(Invalid) as failed:
        house.remember(**({"content": "Some text."} | fields))
    assert "credential" in failed.value.details["fields"].values()
    assert "ghp_" not in failed.value.message
    assert house.read(memories.list_, house.ann) == ([], 0)


@pytest.mark.requirement("S1-8")
def test_edits_reasons_and_reflections_are_checked_for_credentials_too(house: House):
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
    row = house.remember("Some text.")
    for refused in (
        lambda: house.write(memories.edit, house.ann, row.id, secret),
        lambda: house.write(memories.retire, house.ann, row.id, secret),
        lambda: house.forget(row, why=secret),
        lambda: house.reflect(secret, row),
        lambda: house.reflect("Some text.", row, entity_id=secret),
    ):
        with pytest.raises(Invalid, match="credential"):
            refused()
    assert house.get(row.id) == row


@pytest.mark.requirement("S1-35")
def test_an_entry_holds_two_kibibytes_in_an_agents_memory_and_sixty_four_elsewhere(house: House):
    place = f"agents/{house.scout.id}"
    house.remember("x" * limits.ENTRY_BYTES, house.scout, namespace=place)
    with pytest.raises(Invalid, match="2,049 bytes"):
        house.remember("x" * (limits.ENTRY_BYTES + 1), house.scout, namespace=place)
    house.remember("x" * limits.MEMORY_BYTES, house.scout)
    with pytest.raises(Invalid, match="65,537 bytes"):
        house.remember("x" * (limits.MEMORY_BYTES + 1), house.scout)
    document = house.remember("x" * (limits.ENTRY_BYTES + 1), house.scout, namespace=place, memory_type="document")
    assert document.size_bytes == limits.ENTRY_BYTES + 1


@pytest.mark.requirement("S1-56", "S1-57", "S1-58")
def test_a_full_store_refuses_and_evicts_nothing_and_a_tombstone_frees_its_bytes(house: House):
    place = f"agents/{house.scout.id}"
    rows = [house.remember("x" * 2048, house.scout, namespace=place, name=f"n{n}") for n in range(32)]
    with pytest.raises(MemoryFull) as failed:
        house.remember("y", house.scout, namespace=place)
    assert failed.value.details == {"store": "agent", "cap": limits.STORE_BYTES, "used": limits.STORE_BYTES}
    assert house.read(memories.list_, house.scout, namespace=place)[1] == 32
    replaced = house.remember("z" * 2048, house.scout, namespace=place, name="n0")
    assert house.get(rows[0].id).superseded_by == replaced.id
    house.forget(rows[1], house.scout)
    assert house.remember("y", house.scout, namespace=place).size_bytes == 1
    house.remember("d" * 4096, house.scout, namespace=place, memory_type="document")
    house.remember("i" * 2048, house.scout, namespace=place, origin="import")


def test_a_policy_sets_caps_of_its_own(house: House):
    house.remember("First.", namespace="team/alpha")
    house.write(namespaces.set_policy, house.ann, "team/alpha", "caps.entry_bytes", 10)
    with pytest.raises(Invalid, match="at most 10 in team/alpha"):
        house.remember("Eleven char", namespace="team/alpha")
    house.write(namespaces.set_policy, house.ann, "team/alpha", "caps.total_bytes", 12)
    house.remember("Six.py", namespace="team/alpha")
    with pytest.raises(MemoryFull):
        house.remember("x", namespace="team/alpha")
