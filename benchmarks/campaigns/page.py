"""Write docs/reliability.md: what the campaigns measured, and what they have found since they exist.

Source: docs/spec/audit.md §6.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.campaigns.campaign import Campaign, Result, campaigns, results, together

PATH = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
FOUND = Path(__file__).resolve().parent / "found.toml"

HEAD = """\
# Reliability

What was tried to make ai-memory lose something, answer something false or accept something altered, and what came out.
This page is generated: `python -m benchmarks.campaigns --page` writes it from the results kept in
`benchmarks/campaigns/results/`, and a test fails when the two differ. Each campaign names its command; the same seed
does the same work. A campaign that finds nothing shows little unless it would have found something, so each has
builds that are wrong on purpose; `caught` says what became of them.
"""


def text() -> str:
    """Give the whole page."""
    kept = results()
    lines = [HEAD]
    for campaign in campaigns().values():
        lines += _section(campaign, [result for result in kept if result.campaign == campaign.name])
    return "\n".join([*lines, *_found()]) + "\n"


def _section(campaign: Campaign, kept: Sequence[Result]) -> Iterator[str]:
    yield f"## {campaign.title}\n"
    yield f"Target: {campaign.target}.\n"
    sound = {result.size: result for result in kept if result.broken is None and result.part is None}
    parts = [result for result in kept if result.part is not None]
    result = sound.get("full") or (together(parts) if parts else sound.get("small"))
    if result is None:
        yield f"Not recorded yet. `python -m benchmarks.campaigns {campaign.name} --size full`\n"
    else:
        yield f"`{result.command}`, {result.date}, version {result.version}, {result.seconds:g} s,"
        yield f"{result.machine}.\n"
        yield "| what | figure |\n|---|---|"
        for name, figure in {**result.figures, "faults": len(result.faults)}.items():
            yield f"| {name} | {figure if isinstance(figure, str) else format(figure, ',')} |"
        yield ""
        yield from (f"- {fault}" for fault in result.faults)
        if parts and campaign.parts and "full" not in sound:
            yield f"{len(parts)} of {campaign.parts[1]} parts of the full size were recorded.\n"
        elif "full" not in sound:
            yield "This is the small size; the full one was not recorded yet.\n"
    if campaign.broken:
        yield "| broken build | caught |\n|---|---|"
        wrong = {result.broken: result for result in kept if result.broken is not None}
        for name, what in campaign.broken.items():
            yield f"| `--broken {name}`: {what} | {_caught(wrong.get(name))} |"
        yield ""


def _caught(result: Result | None) -> str:
    if result is None:
        return "not recorded yet"
    return f"yes, {len(result.faults)} faults ({result.size}, {result.date})" if result.faults else "**no**"


def _found() -> Iterator[str]:
    yield "## What was found\n"
    yield "| found | by | cause | mended by | reproduce |\n|---|---|---|---|---|"
    for one in tomllib.loads(FOUND.read_text(encoding="utf-8")).get("found", []):
        yield f"| {one['date']} {one['what']} | {one['by']} | {one['cause']} | {one['mended']} | `{one['reproduce']}` |"
