"""Tool, command and cadence write a persona in one way."""

from typing import Any

import pytest
import yaml

from tests.cli.terminal import Terminal
from tests.mcp.server import Server


@pytest.mark.requirement("S3-22")
def test_a_generation_is_the_same_by_command_by_tool_and_by_cadence(shell: Terminal):
    shell.ok("space", "policy", "global", "governance.auto_export_personas_to_filesystem", "true")
    by_command = _written(shell, shell.ok("persona", "mara", "--regenerate", "--full")["persona"])
    with Server(shell) as server:
        server.shake_hands()
        made = server.call("memory_persona_generate", entity_id="mara", full=True)["structuredContent"]["persona"]
        assert server.end() == 0
    by_tool = _written(shell, made)
    shell.ok("space", "policy", "global", "governance.auto_persona_trigger_every_n_memories", "1")
    shell.ok("reflect", "Choir", "Mara sings in a choir.", "--from", "moved", "--entity", "mara")
    assert shell.ok("tick")["ran"]
    by_cadence = _written(shell, shell.ok("persona", "mara")["persona"])
    assert by_command == by_tool == by_cadence


def _written(shell: Terminal, persona: dict[str, Any]) -> dict[str, Any]:
    """Describe what a generation left: row, links, event and file, each by its form."""
    row = shell.ok("get", persona["id"])
    events = [
        e for e in shell.ok("audit", "log", "--subject", persona["id"])["events"] if e["type"] == "persona_generated"
    ]
    links = shell.ok("graph", persona["id"], "--depth", "1")["links"]
    exported = (shell.home / "personas" / "global" / "mara.md").read_text()
    assert row["derived_from"] == persona["sources"]
    assert f"version: {persona['version']}\n" in exported
    return {
        "row": {
            name: row[name] for name in ("namespace", "memory_kind", "memory_type", "entity_id", "status", "origin")
        },
        "fields": {*row},
        "envelope": {*persona["envelope"]},
        "links": {(link["relation"], *sorted(link)) for link in links if link["source_id"] == persona["id"]},
        "events": [(event["type"], event["namespace"], *sorted(event["payload"])) for event in events],
        "file": [*yaml.safe_load(exported.split("---\n")[1])],
    }
