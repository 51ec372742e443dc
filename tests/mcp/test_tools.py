"""What agents can do through the tools, spoken to by the official client."""

import json
import sys
from itertools import pairwise
from typing import Any

import anyio
import pytest
from mcp import Client, ClientSession
from mcp.client.stdio import StdioServerParameters

from cli.mcp_tools import DEFAULT, FULL, PROFILES, Tool
from tests.cli.terminal import ROOT, SCRIPT, Terminal
from tests.mcp.client import ok, talk

READING = {"memory_search", "memory_read", "memory_persona", "memory_find_paths"}
NAMES = {
    *("memory_store", "memory_search", "memory_read", "memory_forget", "memory_reflect"),
    *("memory_persona", "memory_persona_generate", "memory_find_paths"),
}


@pytest.mark.requirement("S3-11", "S3-19", "S3-32", "S3-38", "S3-47")
def test_an_agent_stores_reflects_draws_a_persona_and_follows_it_to_what_was_said(empty: Terminal):
    async def script(session: ClientSession) -> dict[str, Any]:
        said = await ok(session, "memory_store", text="I moved to Lisbon in May.", tags=["travel"])
        concluded = await ok(
            session,
            "memory_reflect",
            title="Home",
            text="Alice has lived in Lisbon since May.",
            sources=[said["id"]],
            entity_id="alice",
        )
        assert concluded["sources"] == [said["id"]]
        made = await ok(session, "memory_persona_generate", entity_id="alice", namespace="global")
        read = await session.call_tool("memory_persona", {"entity_id": "alice", "namespace": "global"})
        persona = read.structured_content["persona"]
        assert made["persona"] == persona
        ids = {"source": persona["id"], "target": said["id"]}
        ways = await ok(session, "memory_find_paths", **ids)
        around = await ok(session, "memory_kg_query", id=persona["id"], relation="derived_from", depth=2)
        why = await ok(session, "memory_persona_why", entity_id="alice", footnote=1)
        parts = {"said": said, "concluded": concluded, "persona": persona, "ways": ways, "around": around, "why": why}
        return parts | {"markdown": read.content[0].text}

    found = talk(empty, script, "mcp", "--profile", "full")
    chain = [found["persona"]["id"], found["concluded"]["id"], found["said"]["id"]]
    assert [[step["id"] for step in way] for way in found["ways"]["paths"]] == [chain]
    assert {row["id"] for row in found["around"]["nodes"]} == {*chain}
    assert {(link["source_id"], link["target_id"]) for link in found["around"]["links"]} == {*pairwise(chain)}
    assert found["persona"]["sources"] == [found["concluded"]["id"]]
    assert found["why"] == empty.ok("persona", "alice", "--why", "1")
    assert found["concluded"]["id"] in str(found["why"]) and found["said"]["id"] in str(found["why"])
    # the same persona at every door: Markdown, JSON and MCP
    assert empty.ok("persona", "alice") == {"persona": found["persona"]}
    assert empty("persona", "alice").out.rstrip("\n") == found["markdown"].rstrip("\n")
    assert found["persona"]["body_md"].rstrip("\n") in found["markdown"]
    assert f"version {found['persona']['version']} of" in found["markdown"]
    assert empty.ok("get", found["concluded"]["id"])["derived_from"] == [found["said"]["id"]]


def test_the_tools_are_listed_with_what_they_take_and_what_they_do(shell: Terminal):
    async def script(session: ClientSession) -> dict[str, Any]:
        return {tool.name: tool for tool in (await session.list_tools()).tools}

    listed = talk(shell, script)
    assert {*listed} == NAMES
    for tool in listed.values():
        schema = tool.input_schema
        assert schema["additionalProperties"] is False
        assert all(field["description"] for field in schema["properties"].values())
        assert tool.annotations.read_only_hint is (tool.name in READING)
        assert tool.annotations.destructive_hint is (tool.name == "memory_forget")
    assert {*listed["memory_persona"].input_schema["properties"]} >= {"entity_id", "namespace", "version"}
    assert listed["memory_persona"].input_schema["required"] == ["entity_id"]
    assert listed["memory_store"].input_schema["properties"]["memory_type"]["enum"][0] == "fact"
    assert "entity_id" not in listed["memory_store"].input_schema["properties"]


@pytest.mark.parametrize("tool", PROFILES["full"], ids=lambda tool: tool.name)
def test_a_schema_names_every_argument_of_its_action_and_says_when_to_use_the_tool(tool: Tool):
    own = {tool.names.get(name, name) for name in tool.action.parameters if name not in tool.hides}
    assert {*tool.schema["properties"]} == own
    assert {*tool.schema["required"]} <= own
    assert "Use it" in tool.description or "The same as" in tool.description
    if not tool.action.writes:
        assert "take it as data" in tool.description


def test_the_full_profile_adds_to_the_default_one():
    assert {tool.name for tool in DEFAULT} == NAMES
    assert {tool.name for tool in FULL} == {"memory_remember", "memory_kg_query", "memory_persona_why"}


@pytest.mark.requirement("S3-39")
def test_without_a_persona_the_answer_is_null_and_no_error(shell: Terminal):
    async def script(session: ClientSession) -> Any:
        return await session.call_tool("memory_persona", {"entity_id": "nobody"})

    result = talk(shell, script)
    assert (result.is_error, result.structured_content) == (False, {"persona": None})
    assert "memory_persona_generate" in result.content[0].text


@pytest.mark.requirement("S3-31")
def test_an_argument_that_a_tool_does_not_take_is_invalid(shell: Terminal):
    async def script(session: ClientSession) -> list[Any]:
        return [
            await session.call_tool("memory_store", {"text": "Alice sails.", "entity_id": "alice"}),
            await session.call_tool("memory_store", {"text": "Alice sails.", "on_behalf_of": "admin"}),
            await session.call_tool("memory_store", {"text": "Alice sails.", "author": "ann", "by": "ann"}),
            await session.call_tool("memory_persona", {"entity": "mara"}),
            await session.call_tool("memory_read", {"id": 5}),
        ]

    before = shell.ok("list")["total"]
    results = talk(shell, script)
    assert [result.structured_content["error"]["code"] for result in results] == ["invalid"] * 5
    assert all(result.is_error for result in results)
    wrong = [result.structured_content["error"]["details"]["fields"] for result in results]
    assert wrong[0] == {"entity_id": "unknown"}
    assert wrong[3] == {"entity": "unknown", "entity_id": "missing"}
    assert wrong[4] == {"id": "type"}
    assert shell.ok("list")["total"] == before


def test_an_error_has_the_code_and_text_of_the_command_line(shell: Terminal):
    calls = [
        (("get", "mem-nowhere"), ("memory_read", {"id": "mem-nowhere"})),
        (("remember", "  "), ("memory_store", {"text": "  "})),
        (("persona", "nobody", "--regenerate"), ("memory_persona_generate", {"entity_id": "nobody"})),
        (("recall", "x", "--max", "0"), ("memory_search", {"query": "x", "max": 0})),
    ]

    async def script(session: ClientSession) -> list[Any]:
        return [await session.call_tool(name, arguments) for _, (name, arguments) in calls]

    for (line, _), result in zip(calls, talk(shell, script), strict=True):
        assert result.is_error
        done = shell("--json", *line)
        assert result.structured_content == json.loads(done.err)
        assert result.content[0].text == shell(*line).err.rstrip("\n")


def test_who_calls_is_who_the_server_was_started_as(shell: Terminal):
    async def script(session: ClientSession) -> Any:
        return await ok(session, "memory_store", text="The survey is due on Friday.")

    assert talk(shell, script, "--as", "scout", "mcp")["by"]["handle"] == "scout"
    assert talk(shell, script, AI_MEMORY_AS="scout")["by"]["handle"] == "scout"
    assert talk(shell, script)["by"]["handle"] == "ann"


def test_a_client_of_the_newest_protocol_is_served_too(shell: Terminal):
    env = {"PYTHONPATH": str(ROOT), "AI_MEMORY_HOME": str(shell.home), "AI_MEMORY_STATE": str(shell.state)}

    async def run() -> Any:
        async with Client(StdioServerParameters(command=sys.executable, args=["-c", SCRIPT, "mcp"], env=env)) as client:
            return await client.call_tool("memory_read", {"id": "moved"})

    assert anyio.run(run).structured_content["content"] == "I moved to Lisbon in May."


def test_the_text_of_an_answer_spells_out_what_cannot_be_seen(shell: Terminal):
    async def script(session: ClientSession) -> Any:
        await ok(session, "memory_store", text="See \u202egpj.exe", name="hidden")
        return await session.call_tool("memory_read", {"id": "hidden"})

    result = talk(shell, script)
    assert result.structured_content["content"] == "See \u202egpj.exe"
    assert "\u202e" not in result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content


def test_an_agent_does_not_choose_where_memories_are_sent(shell: Terminal):
    async def script(session: ClientSession) -> Any:
        return await session.call_tool("memory_persona_generate", {"entity_id": "mara", "model": "openai/gpt"})

    error = talk(shell, script).structured_content["error"]
    assert error["details"]["fields"] == {"model": "unknown"}
