"""The official client, run from a test that does not wait."""

import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.cli.terminal import ROOT, SCRIPT, Terminal

T = TypeVar("T")


def talk(shell: Terminal, script: Callable[[ClientSession], Awaitable[T]], *arguments: str, **env: str) -> T:
    """Run a script against a server of its own, after the handshake, and give what the script gives."""

    async def run() -> T:
        shared = {"PYTHONPATH": str(ROOT), "AI_MEMORY_HOME": str(shell.home), "AI_MEMORY_STATE": str(shell.state)}
        server = StdioServerParameters(
            command=sys.executable, args=["-c", SCRIPT, *(arguments or ("mcp",))], env={**shared, **env}
        )
        async with stdio_client(server, errlog=sys.__stderr__) as (incoming, outgoing):
            async with ClientSession(incoming, outgoing) as session:
                await session.initialize()
                return await script(session)

    return anyio.run(run)


async def ok(session: ClientSession, tool: str, **arguments: Any) -> Any:
    """Call a tool that must not fail; give its data."""
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content
