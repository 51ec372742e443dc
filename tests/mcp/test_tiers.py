"""A capability tier is a ceiling somebody sets; what is above it is refused, at every door."""

from typing import Any

import pytest
from mcp import ClientSession

from substrate.actions.registry import ACTIONS, check_tier
from substrate.config import TIERS
from substrate.errors import Refused
from tests.cli.terminal import Terminal
from tests.mcp.client import talk

PERSONA = ("memory_persona", {"entity_id": "mara"})
GENERATE = ("memory_persona_generate", {"entity_id": "mara", "full": True})
READ = ("memory_read", {"id": "moved"})


async def _codes(session: ClientSession) -> list[str]:
    found = []
    for name, arguments in (READ, PERSONA, GENERATE):
        result: Any = await session.call_tool(name, arguments)
        found.append(result.structured_content["error"]["code"] if result.is_error else "ok")
    return found


@pytest.mark.requirement("S3-20", "S3-38")
@pytest.mark.parametrize(
    ("tier", "codes"),
    [
        ("keyword", ["ok", "refused", "refused"]),
        ("semantic", ["ok", "ok", "refused"]),
        ("smart", ["ok", "ok", "ok"]),
    ],
)
def test_a_tool_above_the_ceiling_is_refused(shell: Terminal, tier: str, codes: list[str]):
    assert talk(shell, _codes, "--tier", tier, "mcp") == codes


@pytest.mark.requirement("S3-20")
def test_the_refusal_names_both_tiers_and_is_the_same_at_both_doors(shell: Terminal):
    async def script(session: ClientSession) -> Any:
        return await session.call_tool(*GENERATE)

    result = talk(shell, script, AI_MEMORY_TIER="semantic")
    error = shell.fails("--tier", "semantic", "persona", "mara", "--regenerate", code=3)
    assert result.structured_content == {"error": error}
    assert error["code"] == "refused"
    assert (error["details"]["reason"], error["details"]["needed"], error["details"]["ceiling"]) == (
        *("tier", "smart", "semantic"),
    )
    assert "smart" in error["message"] and "semantic" in error["message"]


def test_the_ceiling_is_what_the_command_says_before_what_the_environment_says(
    shell: Terminal, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AI_MEMORY_TIER", "keyword")
    assert shell("persona", "mara").code == 3
    assert shell("--tier", "smart", "persona", "mara").code == 0


def test_without_a_word_about_it_the_ceiling_is_smart(shell: Terminal):
    assert shell("persona", "mara", "--regenerate", "--full").code == 0


def test_a_tier_that_there_is_not_is_invalid(shell: Terminal):
    error = shell.fails("--tier", "genius", "persona", "mara", code=2)
    assert (error["code"], error["details"]["hint"]) == ("invalid", f"there are {', '.join(TIERS)}")


@pytest.mark.parametrize("needed", TIERS)
@pytest.mark.parametrize("ceiling", TIERS)
def test_a_tier_is_reached_from_itself_on(needed: str, ceiling: str):
    if TIERS.index(needed) <= TIERS.index(ceiling):
        assert check_tier("x", needed, ceiling) is None
    else:
        with pytest.raises(Refused):
            check_tier("x", needed, ceiling)


def test_a_persona_is_read_from_semantic_on_and_written_from_smart_on():
    assert (ACTIONS["persona"].tier, ACTIONS["persona_generate"].tier) == ("semantic", "smart")


def test_forgetting_draws_no_persona_below_the_tier_for_it(shell: Terminal):
    source = shell.ok("list", "--kind", "observation")["items"][0]
    gone = shell.ok("--tier", "semantic", "forget", source["id"], "--cascade")
    assert [again["persona_id"] for again in gone["regenerated"]] == [None]
    assert "smart" in gone["regenerated"][0]["why_not"]
