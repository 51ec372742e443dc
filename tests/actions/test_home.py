"""The Python door: a store opened as somebody, made on first use, with its first human."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from audit import anchor
from substrate import Memory
from substrate.actions import memory as actions
from substrate.config import Config
from substrate.config import read as read_config
from substrate.errors import Conflict, Forbidden, Integrity, Invalid, NotFound, Unavailable
from substrate.home import key_path
from tests.clock import Clock, Ids


def test_the_package_offers_the_door_and_nothing_by_accident():
    import substrate

    assert substrate.Memory is Memory
    with pytest.raises(AttributeError):
        _ = substrate.Other


def test_the_first_open_makes_a_store_its_human_and_their_key(memory: Memory):
    assert (memory.caller.kind, memory.caller.handle) == ("human", "ann")
    assert key_path(memory.db.home, memory.caller.id).exists()
    assert read_config(memory.db.home) == Config(principal=memory.caller.id)


def test_a_store_that_is_not_there_is_made_only_when_wanted(tmp_path: Path):
    with pytest.raises(NotFound):
        Memory.open(tmp_path / "home", state_dir=tmp_path / "state", create=False)
    assert not (tmp_path / "home").exists()


def test_a_handle_that_is_none_leaves_a_store_without_a_human_that_can_be_opened_again(tmp_path: Path):
    with pytest.raises(Invalid):
        Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="not a handle")
    again = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="ann")
    assert again.caller.handle == "ann"
    again.close()


def failing_anchor(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let the medium fail at one writing of the anchor, which comes after the commit."""
    calls = count(1)
    write = anchor.write

    def fail(*given: Any) -> None:
        if next(calls) == number:
            raise Unavailable("no space", hint="free some")
        write(*given)

    monkeypatch.setattr(anchor, "write", fail)


def test_a_key_stays_when_only_what_follows_the_commit_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    failing_anchor(monkeypatch, 2)  # the first is that of the new store
    options: dict[str, Any] = {"state_dir": tmp_path / "state", "human": "ann"}
    with pytest.raises(Unavailable):
        Memory.open(tmp_path / "home", **options)
    memory = Memory.open(tmp_path / "home", **options)
    assert memory.caller.handle == "ann"
    failing_anchor(monkeypatch, 1)
    with pytest.raises(Unavailable):
        actions_who_add(memory, "scout")
    assert memory.as_("scout").caller.handle == "scout"
    memory.close()


def test_a_key_does_not_outlive_a_registration_that_failed(memory: Memory):
    before = sorted((memory.db.home / "keys").iterdir())
    with pytest.raises(Conflict):
        actions_who_add(memory, "ann")
    assert sorted((memory.db.home / "keys").iterdir()) == before


def test_the_same_store_is_seen_as_another_principal(memory: Memory):
    agent = actions_who_add(memory, "scout")
    scout = memory.as_("scout#night", project="ann/apollo", session="ses-1")
    assert (scout.caller.id, scout.caller.instance) == (agent, "night")
    assert (scout.caller.project, scout.caller.session) == ("projects/ann/apollo", "ses-1")
    assert scout.db is memory.db
    assert actions.remember(scout, text="Seen at night.")["by"]["instance"] == "night"


def test_nobody_acts_without_their_key(memory: Memory):
    agent = actions_who_add(memory, "scout")
    path = key_path(memory.db.home, agent)
    kept = path.read_bytes()
    path.unlink()
    with pytest.raises(Forbidden) as caught:
        memory.as_("scout")
    assert caught.value.details["reason"] == "key"
    path.symlink_to(key_path(memory.db.home, memory.caller.id))
    with pytest.raises(Integrity):
        memory.as_("scout")
    path.unlink()
    path.write_bytes(kept)
    with pytest.raises(Integrity):
        memory.as_("scout")  # others may read it
    path.chmod(0o600)
    assert memory.as_("scout").caller.id == agent
    with pytest.raises(NotFound):
        memory.as_("nobody")


def test_a_store_opens_as_whom_one_asks_for(memory: Memory, tmp_path: Path, clock: Clock, new_id: Ids):
    agent = actions_who_add(memory, "scout")
    memory.close()
    opened = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", as_="scout", project="ann/apollo")
    assert (opened.caller.id, opened.caller.project) == (agent, "projects/ann/apollo")
    opened.close()
    with pytest.raises(NotFound):
        Memory.open(tmp_path / "home", state_dir=tmp_path / "state", as_="nobody")
    again = Memory.open(tmp_path / "home", state_dir=tmp_path / "state")
    assert again.caller.handle == "ann"
    again.close()


def test_a_home_that_lost_its_settings_finds_its_human_again(memory: Memory, tmp_path: Path):
    memory.close()
    (tmp_path / "home" / "config.toml").unlink()
    again = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="somebody")
    assert again.caller.id == memory.caller.id
    again.close()


def test_two_first_opens_register_one_human(tmp_path: Path):
    def opened() -> str:
        made = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="ann")
        made.close()
        return made.caller.id

    with ThreadPoolExecutor(4) as pool:
        found = {future.result() for future in [pool.submit(opened) for _ in range(4)]}
    assert len(found) == 1
    assert sorted(path.stem for path in (tmp_path / "home" / "keys").iterdir()) == sorted([*found, "store"])


def test_a_failed_registration_leaves_no_key(tmp_path: Path):
    ids = iter(["store-1", "nonsense"])
    with pytest.raises(Invalid):
        Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="ann", new_id=lambda prefix: next(ids))
    assert [path.stem for path in (tmp_path / "home" / "keys").iterdir()] == ["store"]


def test_engine_settings_are_kept_for_the_next_open(tmp_path: Path):
    engine = {"force_compression": "uncompressed"}
    made = Memory.open(tmp_path / "home", state_dir=tmp_path / "state", human="ann", engine=engine)
    assert read_config(tmp_path / "home").engine == engine
    with made.db.connection() as connection:
        assert connection.rows("SELECT current_setting('force_compression')")[0][0].lower() == "uncompressed"
    made.close()


def actions_who_add(memory: Memory, handle: str) -> str:
    from substrate.actions import scopes

    return str(scopes.who_add(memory, kind="agent", handle=handle)["id"])


def test_an_engine_setting_that_a_home_may_not_choose_is_refused_before_anything_is_made(tmp_path: Path):
    with pytest.raises(Invalid, match="default_order"):
        Memory.open(tmp_path / "home", state_dir=tmp_path / "state", engine={"default_order": "desc"})
    assert not (tmp_path / "home").exists()
