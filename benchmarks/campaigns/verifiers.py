"""Ask the two verifiers of a log about spoiled logs: whatever was done to one, they have to say the same of it.

They share no code, so a check that one of them lacks shows as a disagreement. Source: docs/spec/audit.md §2.5, §6.
"""

from __future__ import annotations

from collections import Counter

from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from tests.audit.broken_verifiers import BROKEN, broken
from tests.audit.spoiled import judged, spoiled


def run(work: Work) -> Outcome:
    """Spoil logs and judge each twice; a fault for every disagreement and every verifier that fell over."""
    faults: list[str] = []
    changes: Counter[str] = Counter()
    accepted = rejected = 0
    with broken(work.broken):
        for number, (what, lines) in enumerate(spoiled(work.seed, work.sizes["logs"])):
            changes.update(what.split(" + "))
            try:
                verdict = judged(lines)
            except Exception as error:
                faults.append(f"log {number} ({what}): {type(error).__name__}: {error}")
                continue
            accepted += verdict.ok
            rejected += not verdict.ok
            if not verdict.agree:
                said = verdict.faults[0] if verdict.faults else "it holds"
                faults.append(f"log {number} ({what}): one says {said}; the other {verdict.reason or 'it holds'}")
    figures = {
        "logs": work.sizes["logs"],
        "both accept": accepted,
        "at least one rejects": rejected,
        "kinds of change": len(changes),
        "disagreements": len(faults),
    }
    return Outcome(figures, faults)


CAMPAIGN = Campaign(
    name="verifiers",
    title="Two verifiers on spoiled logs",
    target="0 disagreements on 1,000 logs",
    small={"logs": 600},
    full={"logs": 1_000},
    broken={name: what for name, (what, _) in BROKEN.items()},
    run=run,
)
