"""Personas and reflections as files: where policy asks for them, as the rows are, and gone with the rows."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from cli import report, show
from curator import actions, export, worker
from curator.export import Exported
from substrate.actions import audit, scopes
from substrate.memory import entities, forgetting, memories
from substrate.scopes import namespaces, principals
from substrate.store import doctor
from substrate.store.model import MemoryRow
from tests.curator.views import PERSONAS, REFLECTIONS, ask, files, recorded, taken_apart
from tests.curator.workshop import FACTS, Workshop

SECRET = "Ada hides her savings behind the swell box"


def home(shop: Workshop) -> Path:
    return shop.memory.db.home


def catch_up(shop: Workshop) -> Exported:
    return export.catch_up(shop.memory)


def regenerate(shop: Workshop) -> dict[str, Any]:
    found: dict[str, Any] = actions.persona_generate(shop.memory, entity="Ada")["persona"]
    return found


@pytest.mark.requirement("S3-33")
def test_a_command_a_cascade_and_the_cadence_each_leave_a_file(ada: Workshop):
    ask(ada, PERSONAS)
    first = regenerate(ada)
    (path,) = files(home(ada))
    assert path == "personas/global/ada.md"
    assert taken_apart(files(home(ada))[path])[0]["id"] == first["id"]

    gone = actions.forget(ada.memory, id=first["sources"][0], cascade=True)
    assert taken_apart(files(home(ada))[path])[0]["id"] == gone["regenerated"][0]["persona_id"]

    with ada.memory.write() as tx:
        cadence = "governance.auto_persona_trigger_every_n_memories"
        namespaces.set_policy(tx, ada.memory.caller, "global", cadence, 1)
    ada.reflect("Ada bakes bread with rye from the valley.")
    worker.tick(ada.memory)
    served = ada.persona()
    assert served is not None and served.row.persona_version == 3
    assert taken_apart(files(home(ada))[path])[0]["version"] == 3


@pytest.mark.requirement("S3-34")
def test_the_file_is_the_rows_fields_and_then_its_body_to_the_byte(ada: Workshop):
    ask(ada, PERSONAS)
    row = ada.generate().row
    fields, body = taken_apart(files(home(ada))["personas/global/ada.md"])
    assert body == row.content
    envelope = row.metadata["persona"]  # type: ignore[index]
    assert fields == {
        **envelope,
        "id": row.id,
        "memory_kind": "persona",
        "namespace": "global",
        "entity_id": "ada",
        "version": 1,
    }


@pytest.mark.requirement("S3-35")
def test_reading_needs_no_file_and_a_lost_folder_is_written_again_as_it_was(ada: Workshop):
    ask(ada)
    ada.generate()
    catch_up(ada)
    before, read = files(home(ada)), ada.persona()
    (home(ada) / "personas/global/ada.md").write_text("# Somebody else\n")
    assert ada.persona() == read
    for folder in ("personas", "reflections"):
        shutil.rmtree(home(ada) / folder)
    assert ada.persona() == read
    assert catch_up(ada) == Exported(written=len(FACTS) + 1)
    assert files(home(ada)) == before
    assert catch_up(ada) == Exported()


@pytest.mark.requirement("S3-36")
def test_without_the_policy_nothing_is_written(ada: Workshop):
    ask(ada, PERSONAS, REFLECTIONS, namespace="team/other")
    ada.generate()
    actions.reflect(ada.memory, title="Bread", text="Ada bakes.", sources=[ada.observe("Seen: bread").id])
    assert catch_up(ada) == Exported()
    assert files(home(ada)) == {} and not (home(ada) / "personas").exists()


@pytest.mark.requirement("S3-46")
def test_a_reflection_is_a_file_once_it_is_written(ada: Workshop):
    ask(ada, REFLECTIONS)
    below = ada.observe("Seen: bread").id
    text = "Ada bakes bread.\n\n# On Sundays\nwith *rye*"
    made = actions.reflect(ada.memory, title="Bread: a note", text=text, sources=[below], entity_id="Ada", tags=["rye"])
    (path,) = files(home(ada))
    assert path == f"reflections/global/{made['id']}.md"
    fields, body = taken_apart(files(home(ada))[path])
    assert body == "# Bread: a note\n\nAda bakes bread.\n\n\\# On Sundays\\\nwith \\*rye\\*\n"
    with ada.memory.read() as r:
        row = r.require(MemoryRow, made["id"])
    assert fields["derived_from"] == [below] and fields["entity_id"] == "ada" and fields["tags"] == ["rye"]
    for name in ("id", "title", "namespace", "memory_type", "reflection_depth", "created_at", "metadata"):
        assert fields[name] == getattr(row, name)


def test_the_nearest_namespace_that_sets_the_policy_decides(shop: Workshop):
    ask(shop, REFLECTIONS)
    ask(shop, REFLECTIONS, namespace="team/quiet", value=False)
    for place in ("team/loud", "team/quiet", "global"):
        shop.reflect("Ada bakes.", namespace=place)
    catch_up(shop)
    assert {path.rpartition("/")[0] for path in files(home(shop))} == {"reflections/global", "reflections/team/loud"}


def test_what_is_for_certain_agents_only_is_in_no_file(shop: Workshop):
    ask(shop)
    with shop.memory.write() as tx:
        agent = principals.register(tx, shop.memory.caller, "agent", "probe").id
    shop.reflect("Ada bakes for one.", applies_to=[agent])
    kept = shop.reflect("Ada bakes for all.")
    catch_up(shop)
    assert list(files(home(shop))) == [f"reflections/global/{kept.id}.md"]


def test_what_is_forgotten_is_in_no_file(ada: Workshop):
    ask(ada)
    seen = ada.observe(f"{SECRET}, she said.")
    thought = actions.reflect(ada.memory, title="Savings", text=f"{SECRET}.", sources=[seen.id], entity_id="Ada")
    regenerate(ada)
    assert sum(SECRET.encode() in data for data in files(home(ada)).values()) == 2, "the control"
    edited = home(ada) / "reflections/global" / f"{thought['id']}.md"
    edited.write_bytes(edited.read_bytes() + b"my own note\n")

    done = actions.forget(ada.memory, id=seen.id, cascade=True)
    assert done["files_left"] == []
    assert not any(SECRET.encode() in data for data in files(home(ada)).values())
    assert taken_apart(files(home(ada))["personas/global/ada.md"])[0]["version"] == 2
    assert not edited.exists()


@pytest.mark.parametrize("way", ["a round", "a rewrite", "the next forgetting"])
def test_a_process_that_died_between_forgetting_and_its_files_is_made_up_for(ada: Workshop, way: str):
    ask(ada)
    thought = ada.reflect(f"{SECRET}.")
    other = ada.reflect("Ada sings.")
    ada.generate()
    catch_up(ada)
    with ada.memory.write() as tx:
        forgetting.forget(tx, ada.memory.caller, thought.id, cascade=True)
    found = doctor.examine(home(ada), state_dir=ada.memory.db.ledger.state_dir)
    (finding,) = [one for one in found["findings"] if one["what"] == "files"]
    assert not finding["ok"] and finding["found"].startswith("2 show what was forgotten")

    if way == "a round":
        assert catch_up(ada).removed == 2
    elif way == "a rewrite":
        assert audit.rewrite(ada.memory)["files_left"] == []
    else:
        assert actions.forget(ada.memory, id=other.id)["files_left"] == []
    assert not any(SECRET.encode() in data for data in files(home(ada)).values())
    assert not any(thought.id in row for row in recorded(ada)), "nor is its hash kept"


def test_closed_rows_lose_their_files_and_a_merged_entity_loses_its_own(ada: Workshop):
    ask(ada)
    old, over = ada.reflect("Ada lives in Graz."), ada.reflect("Ada sings on Tuesdays.")
    ada.reflect("Bo builds bells.", entity="Bo")
    ada.generate()
    ada.generate("Bo")
    catch_up(ada)
    with ada.memory.write() as tx:
        new = memories.edit(tx, ada.memory.caller, old.id, "Ada lives in Bergen.")
        memories.retire(tx, ada.memory.caller, over.id, "over")
        entities.merge(tx, ada.memory.caller, "bo", "ada")
    before = files(home(ada))
    catch_up(ada)
    after = files(home(ada))
    assert before.keys() - after.keys() == {
        f"reflections/global/{old.id}.md",
        f"reflections/global/{over.id}.md",
        "personas/global/bo.md",
    }
    assert after.keys() - before.keys() == {f"reflections/global/{new.id}.md"}


@pytest.mark.parametrize("way", ["policy", "access"])
def test_switching_off_takes_our_files_away_and_keeps_an_edited_one(
    ada: Workshop, caplog: pytest.LogCaptureFixture, way: str
):
    ask(ada)
    ada.generate()
    catch_up(ada)
    edited = home(ada) / "personas/global/ada.md"
    edited.write_text("mine now\n")
    if way == "access":
        scopes.space_access(ada.memory, path="global", access="off")
    else:
        scopes.space_policy(ada.memory, path="global", field=REFLECTIONS, value=False)
        assert list(files(home(ada))) == ["personas/global/ada.md"]
        scopes.space_policy(ada.memory, path="global", field=PERSONAS, value=None)
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{edited} was edited and is kept; hint: ")
    assert [error.code for error in catch_up(ada).problems] == ["conflict"]
    assert files(home(ada)) == {"personas/global/ada.md": b"mine now\n"}
    assert not (home(ada) / "reflections").exists()
    edited.unlink()
    assert catch_up(ada) == Exported(removed=1) and recorded(ada) == []
    assert not (home(ada) / "personas").exists()


def test_an_edited_file_is_written_over_with_a_warning(ada: Workshop, caplog: pytest.LogCaptureFixture):
    ask(ada, PERSONAS)
    ada.generate()
    path = home(ada) / "personas/global/ada.md"
    path.write_text("mine now\n")
    row = ada.generate().row
    assert taken_apart(path.read_bytes())[1] == row.content
    assert [record.getMessage() for record in caplog.records] == [
        f"{path} was edited; it is a view of the store and is written over"
    ]


def test_a_file_we_did_not_write_is_kept_until_it_is_moved_away(ada: Workshop, caplog: pytest.LogCaptureFixture):
    ask(ada, PERSONAS)
    path = home(ada) / "personas/global/ada.md"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text("my essay on Ada\n")
    ada.generate()
    assert path.read_text() == "my essay on Ada\n" and recorded(ada) == []
    (record,) = caplog.records
    assert "was not written by this store" in record.getMessage() and "hint: move it away" in record.getMessage()
    assert [error.code for error in catch_up(ada).problems] == ["conflict"]
    path.rename(home(ada) / "essay.md")
    assert catch_up(ada) == Exported(written=1)


def test_a_file_of_ours_in_a_store_that_forgot_about_it_is_taken_up_again(ada: Workshop):
    ask(ada, PERSONAS)
    ada.generate()
    with ada.memory.write() as tx:
        tx.derived("DELETE FROM projections")
    before = files(home(ada))
    assert catch_up(ada).problems == ()
    assert files(home(ada)) == before and len(recorded(ada)) == 1


def test_a_generation_stands_when_its_file_cannot_be_written(ada: Workshop, caplog: pytest.LogCaptureFixture):
    ask(ada, PERSONAS)
    (home(ada) / "personas").write_text("in the way\n")
    row = ada.generate().row
    served = ada.persona()
    assert served is not None and served.row == row
    assert len(caplog.records) == 1 and "hint: " in caplog.records[0].getMessage()
    (home(ada) / "personas").unlink()
    assert catch_up(ada) == Exported(written=1)


def test_a_forged_path_leads_nowhere(ada: Workshop):
    ask(ada)
    catch_up(ada)
    with ada.memory.write() as tx:
        for path in ("../state/x.md", "config.toml", "personas/../config.toml", "/etc/passwd", "personas/.x.md"):
            tx.derived(
                "INSERT INTO projections VALUES (?, 'persona', 'mem-none', 'out', '0', '')",
                (path,),
            )
    before = {path: path.read_bytes() for path in home(ada).parent.rglob("*.toml")}
    assert catch_up(ada).problems == ()
    assert {path: path.read_bytes() for path in home(ada).parent.rglob("*.toml")} == before


def test_what_cannot_be_taken_away_is_named_and_the_memory_is_forgotten_all_the_same(ada: Workshop, tmp_path: Path):
    ask(ada)
    gone = ada.reflect(f"{SECRET}.")
    catch_up(ada)
    place = home(ada) / "reflections" / "global"
    place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "moved", target_is_directory=True)
    done = actions.forget(ada.memory, id=gone.id)
    assert done["ids"] == [gone.id] and len(done["files_left"]) == 1
    assert f"file left: {place} is a symbolic link" in show.forgotten(done)
    assert report.rewritten(audit.rewrite(ada.memory)).splitlines()[1].startswith(f"file left: {place}")
    place.unlink()
    (tmp_path / "moved").rename(place)
    assert audit.rewrite(ada.memory)["files_left"] == [] and not (place / f"{gone.id}.md").exists()


def test_another_name_of_a_forgotten_file_is_told_of(ada: Workshop, tmp_path: Path):
    ask(ada)
    gone = ada.reflect(f"{SECRET}.")
    catch_up(ada)
    path = home(ada) / "reflections" / "global" / f"{gone.id}.md"
    (tmp_path / "twin").hardlink_to(path)
    (left,) = actions.forget(ada.memory, id=gone.id)["files_left"]
    assert left == f"the text of {path} is still there under another name" and not path.exists()


def test_the_doctor_tells_views_from_strangers_and_from_what_was_not_finished(ada: Workshop, tmp_path: Path):
    def findings() -> list[tuple[bool, str]]:
        found = doctor.examine(home(ada), state_dir=ada.memory.db.ledger.state_dir)["findings"]
        return [(one["ok"], one["found"]) for one in found if one["what"] == "files"]

    assert findings() == []
    ask(ada)
    catch_up(ada)
    assert findings() == [(True, f"{len(FACTS)} show memories")]
    place = home(ada) / "reflections" / "global"
    (place / "note.md").write_text("mine")
    (place / ".x.md.new").write_text("half")
    (home(ada) / "personas").symlink_to(tmp_path, target_is_directory=True)
    assert findings() == [
        (False, "1 were not finished, the first: reflections/global/.x.md.new"),
        (False, "2 were not written by this store, the first: personas"),
    ]
