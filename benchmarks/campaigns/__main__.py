"""Run a campaign, list them, or write the page of what they found.

Exit status 0 when nothing was found, 1 for a fault, 3 when this machine cannot run the campaign. With ``--broken`` it
is the other way round for a reader: 1 says that the broken build was caught.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.campaigns import page
from benchmarks.campaigns.campaign import SIZES, Campaign, Result, Work, campaigns, machine, version

UNABLE = 3
SHOWN = 20


def main() -> int:
    """Do what the command line says."""
    known = campaigns()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns", description="Try to break a promise.")
    parser.add_argument("campaign", nargs="?", choices=known, metavar="NAME")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=NUMBER", help="one size of its own")
    parser.add_argument("--part", type=int, metavar="K", help="only one part of the full size, from 1 up")
    parser.add_argument("--broken", metavar="BUILD", help="run a build that is wrong in this way; it has to be caught")
    parser.add_argument("--record", action="store_true", help="keep the result beside the campaigns")
    parser.add_argument("--page", action="store_true", help="write docs/reliability.md")
    options = parser.parse_args()
    if options.page:
        page.PATH.write_text(page.text(), encoding="utf-8")
        return 0
    if options.campaign is None:
        for campaign in known.values():
            print(f"{campaign.name:14} {campaign.title}\n{'':14} broken: {', '.join(campaign.broken) or 'none'}")
        return 0
    campaign = known[options.campaign]
    if options.broken and options.broken not in campaign.broken:
        parser.error(f"--broken is one of {', '.join(campaign.broken)}")
    if options.part is not None and (campaign.parts is None or not 1 <= options.part <= campaign.parts[1]):
        parser.error(
            f"--part is one of 1 to {campaign.parts[1]}" if campaign.parts else f"{campaign.name} has no parts"
        )
    if options.part is not None and (options.size != "full" or options.broken):
        parser.error("--part is one of the full size, of the build as it is")
    sizes = dict(campaign.sizes(options.size) if options.part is None else campaign.share())
    for text in options.set:
        key, _, number = text.partition("=")
        if key not in sizes or not number.isdigit():
            parser.error(f"--set takes KEY=NUMBER, the keys are {', '.join(sizes)}")
        sizes[key] = int(number)
    if options.record and options.set:
        parser.error("only the sizes small and full are recorded")
    return _run(campaign, options, sizes)


def _run(campaign: Campaign, options: argparse.Namespace, sizes: dict[str, int]) -> int:
    if reason := campaign.unable():
        print(f"{campaign.name} cannot run here: {reason}", file=sys.stderr)
        return UNABLE
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ai-memory-") as folder:
        seed = options.seed if options.part is None else 1_000 * options.seed + options.part
        outcome = campaign.run(Work(sizes, seed, options.broken, Path(folder).resolve()))
    end = f" --broken {options.broken}" if options.broken else f" --part {options.part}" if options.part else ""
    result = Result(
        campaign=campaign.name,
        command=f"python -m benchmarks.campaigns {campaign.name} --size {options.size} --seed {options.seed}{end}",
        size=options.size,
        sizes=sizes,
        seed=options.seed,
        broken=options.broken,
        date=datetime.now(UTC).date().isoformat(),
        seconds=round(time.monotonic() - started, 1),
        version=version(),
        machine=machine(),
        figures=dict(outcome.figures),
        faults=list(outcome.faults[:100]),
        part=options.part,
    )
    print(f"{campaign.title}: seed {options.seed}, {sizes}, {result.seconds} s\n  {result.machine}")
    for name, figure in result.figures.items():
        print(f"  {name}: {figure}")
    for fault in outcome.faults[:SHOWN]:
        print(f"  FAULT {fault}")
    print(f"  {len(outcome.faults)} faults; target: {campaign.target}")
    if options.record:
        print(f"  kept as {result.write().name}")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
