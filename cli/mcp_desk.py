"""The store behind the MCP door, as the principal sees it whose key lies in this home.

Source: docs/spec/model.md §5.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from cli import background, show
from cli.app import foreseen
from cli.door import Answer, as_json, opened
from cli.mcp_tools import Progress, Tool
from substrate.errors import AiMemoryError, Integrity, Unavailable
from substrate.escape import quote, terminal
from substrate.home import Memory


@dataclass(frozen=True)
class Reply:
    """What a tool answers: the data, the same as text for clients that read nothing else, and whether it failed."""

    data: Answer
    text: str
    failed: bool = False


class Desk:
    """Answer one tool at a time from the store, which is opened when first asked for and shared with other processes.

    Who calls is who the process was started as. The key and the principal behind it are looked at again for each call,
    so one that was revoked meanwhile is let in no more.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._open = ExitStack()
        self._memory: Memory | None = None
        self._starting: threading.Thread | None = None

    def reply(self, tool: Tool, given: Mapping[str, Any], progress: Progress) -> Reply:
        """Call a tool; whatever goes wrong is the reply."""
        with self._turn:
            try:
                memory = foreseen(lambda: self._seen(tool))
                found = foreseen(lambda: tool.call(memory, given, progress))
            except AiMemoryError as error:
                if isinstance(error, Integrity | Unavailable):
                    self._leave()  # what is mended meanwhile is found when the store is opened again
                return _refusal(error)
            written = tool.action.writes or background.lagging(found)
            if found.get("persona_due") or (
                written and background.vectors(memory)
            ):  # in a thread, so that the answer does not wait for a process to start
                self._starting = threading.Thread(target=background.start, args=(memory,), daemon=True)
                self._starting.start()
            return Reply(found, _text(tool, found, given))

    def close(self) -> None:
        """Close the store, after the call that is running."""
        with self._turn:
            self._leave()
            if self._starting is not None:
                self._starting.join()

    def _leave(self) -> None:
        self._memory = None
        self._open.close()

    def _seen(self, tool: Tool) -> Memory:
        if self._memory is None:
            self._memory = self._open.enter_context(opened(create=tool.action.writes))
        me = self._memory.caller
        ref = f"{me.id}#{me.instance}" if me.instance else me.id
        return self._memory.as_(ref, project=me.project)


def _refusal(error: AiMemoryError) -> Reply:
    hint = f"\nhint: {terminal(error.hint)}" if error.hint else ""
    return Reply(error.as_json(), f"error: {terminal(error.message)}{hint}", failed=True)


def _text(tool: Tool, found: Answer, given: Mapping[str, Any]) -> str:
    if "persona" not in found:
        return as_json(found, indent=None)
    if found["persona"] is not None:
        return show.persona(found)
    whom, place = quote(given["entity_id"]), quote(given.get("namespace", "global"))
    return f"no persona of {whom} in {place} yet\nhint: memory_persona_generate makes one"
