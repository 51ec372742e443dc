"""A thousand messages that no client should send, to one server."""

from tests.cli.terminal import Terminal
from tests.mcp.fuzz import attack, messages
from tests.mcp.server import BROKEN


def test_a_thousand_bad_messages_leave_the_server_alive_and_every_request_answered(shell: Terminal):
    assert attack(shell, seed=20, count=1000) == []


def test_the_same_seed_gives_the_same_messages():
    assert [*messages(3, 50)] == [*messages(3, 50)]
    assert [*messages(3, 50)] != [*messages(4, 50)]


def test_the_campaign_finds_a_server_that_lets_a_library_print(shell: Terminal):
    assert any("noise" in fault for fault in attack(shell, seed=20, count=20, before=BROKEN))
