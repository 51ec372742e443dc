"""A reflection that makes a persona due has it written by a process of its own, with nobody waiting."""

import fcntl

import pytest

from curator import shift
from tests.cli.terminal import Terminal
from tests.mcp.server import Server


@pytest.mark.requirement("S3-24")
def test_a_due_persona_is_written_after_the_answer(shell: Terminal):
    shell.ok("space", "policy", "global", "governance.auto_persona_trigger_every_n_memories", "1")
    with Server(shell, env={"AI_MEMORY_WORKER": "on"}) as server:
        server.shake_hands()
        given = {"title": "Choir", "text": "Mara sings in a choir.", "sources": ["moved"], "entity_id": "mara"}
        assert server.call("memory_reflect", **given)["structuredContent"]["persona_due"] is True
        assert server.end() == 0  # which starts the process, if the answer has not yet
    with open(shell.home / shift.FILE, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # it has ended
    assert shell.ok("persona", "mara")["persona"]["version"] == 2
