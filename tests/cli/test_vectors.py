"""Vectors follow a write by themselves, nobody waits for a model, and another model takes over in one command."""

import signal
from pathlib import Path

import pytest

from substrate import config
from substrate.recall import embedding
from tests.cli.terminal import Terminal
from tests.cli.test_tick import worker_ended
from tests.recall.small_model import present, small_model

ON = {"AI_MEMORY_WORKER": "on", "AI_MEMORY_MODEL": "extractive"}
MEANT = "a feline on a rug"


def by_meaning(shell: Terminal, query: str = MEANT) -> tuple[list[str], str | None]:
    """Give the ids of what the vector arm found, and what it says of itself."""
    found = shell.ok("recall", query)
    hits = [hit["memory"]["id"] for hit in found["hits"] if "vector" in hit["arms"]]
    return hits, found["arms"]["vector"]["why_not"]


@present
def test_a_vector_follows_a_write_without_anybody_waiting(shell: Terminal):
    done = shell.process("--json", "remember", "The cat sat on the mat.", env=ON)
    assert done.err == ""
    worker_ended(shell)
    assert by_meaning(shell) == ([done.json["id"]], None)
    assert shell.ok("status")["jobs"] == []


@present
def test_without_a_worker_recall_says_what_lags_and_tick_makes_up_for_it(shell: Terminal):
    row = shell.ok("remember", "The cat sat on the mat.")
    hits, why_not = by_meaning(shell)
    assert hits == [] and why_not is not None and why_not.endswith("memories have no vector yet")
    assert [hit["memory"]["id"] for hit in shell.ok("recall", "cat")["hits"]] == [row["id"]]
    assert "encoded for recall: 7 memories" in shell("tick").out
    assert by_meaning(shell) == ([row["id"]], None)


@present
def test_a_recall_that_lags_starts_the_worker(shell: Terminal):
    row = shell.ok("remember", "The cat sat on the mat.")
    assert shell.process("recall", MEANT, env=ON).code == 0
    worker_ended(shell)
    assert by_meaning(shell) == ([row["id"]], None)


@present
def test_another_model_takes_over_in_one_command(shell: Terminal, tmp_path: Path):
    shell.ok("remember", "The cat sat on the mat.")
    assert shell.ok("reindex")["encoded"] == 7
    folder = small_model(tmp_path / "small")
    found = shell.ok("reindex", "--model", folder)
    assert (found["model"], found["dimension"], found["encoded"], found["why_not"]) == (folder, 384, 7, None)
    assert config.read(shell.home).search.model == folder
    assert "vectors of small/" in shell("reindex").out
    back = shell("reindex", "--model", embedding.DEFAULT_MODEL)
    assert f"vectors of {embedding.load().model_id} (384 dimensions), 7 made now" in back.out
    assert by_meaning(shell)[1] is None


@present
def test_a_change_of_model_that_is_interrupted_is_finished_by_the_worker(shell: Terminal, tmp_path: Path):
    shell.ok("remember", "The cat sat on the mat.")
    shell.ok("reindex")
    before = by_meaning(shell)
    folder = small_model(tmp_path / "small")
    started = shell.start("reindex", "--model", folder)
    while config.read(shell.home).search.model != folder and started.poll() is None:
        pass
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert by_meaning(shell)[1] is None and before[1] is None
    shell.ok("tick")
    assert shell.ok("reindex") == shell.ok("reindex") | {"model": folder, "encoded": 0}


def test_a_model_that_is_none_changes_nothing(shell: Terminal, tmp_path: Path):
    assert shell.fails("reindex", "--model", str(tmp_path), code=2)["code"] == "no_model"
    assert config.read(shell.home).search.model == embedding.DEFAULT_MODEL
    assert shell.fails("--as", "scout", "reindex", code=3)["details"]["reason"] == "humans_only"


def test_a_deleted_index_is_built_again_whole(shell: Terminal):
    whole = shell.ok("reindex")
    before = [hit["memory"]["id"] for hit in shell.ok("recall", "Lisbon")["hits"]]
    assert shell.ok("reindex", "--anew") == whole
    assert [hit["memory"]["id"] for hit in shell.ok("recall", "Lisbon")["hits"]] == before
    assert shell.ok("reindex")["encoded"] == 0


@pytest.mark.parametrize("tier", ["keyword", "semantic"])
def test_no_worker_is_started_below_the_tier_it_needs(shell: Terminal, tier: str):
    assert shell.process("--tier", tier, "remember", "The cat sat on the mat.", env=ON).code == 0
    assert not (shell.home / "worker.lock").exists()
