"""The public suite's attacks through the door: whose words come back to a user who asks.

Every attack of `agent-memory-integrity` on what is served, on its three channels: external and laundered text comes
from somebody without the user's credential; agent-laundered text is written with it. The last is told, not judged: what
the user's own credential writes is the user's memory, and no store can tell that from a lie.

Source: docs/spec/model.md §4 (Access).
"""

from __future__ import annotations

from unittest.mock import patch

from agmi.attacks import memory_specific
from agmi.attacks.memory_specific import ALL_MEMORY_ATTACKS

from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from substrate.scopes import access
from tests.conformance.front_door import Own

TOLD = "agent-laundered"


def run(work: Work) -> Outcome:
    """Run every attack, with mutations of its words; count the fixtures kept out, by attack and channel."""
    figures: dict[str, str | int] = {}
    faults = []
    channels = memory_specific.CHANNELS[: work.sizes["channels"]]
    rules = (lambda *_: None) if work.broken else access.enforce
    with patch.object(memory_specific, "CHANNELS", channels), patch.object(access, "enforce", rules):
        for attack in ALL_MEMORY_ATTACKS:
            adapter = Own()
            result = attack(mutate=True).run(adapter)
            adapter.close()
            if result.error:
                faults.append(f"{attack.name}: {result.error}")
            for channel, surfaced in result.channels.items():
                figures[f"{attack.name}, {channel}"] = f"{surfaced.count(False)} of {len(surfaced)} kept out"
                if channel != TOLD and surfaced != [False] * len(surfaced):
                    faults.append(f"{attack.name}, {channel}: {result.detail}")
    return Outcome(figures, faults)


CAMPAIGN = Campaign(
    name="front_door",
    title="Words of others as a user's own",
    target="every attack is kept out on the external and the laundered channel",
    small={"channels": 2},
    full={"channels": 3},
    broken={"access": "nobody is refused where they may not write"},
    run=run,
)
