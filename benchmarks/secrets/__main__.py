"""Measure the credential check: recall by kind of secret, false alarms by kind of harmless line.

    python -m benchmarks.secrets [--seed N] [--broken] [--misses]

Exit 1 below 95 % recall or above 1 % false alarms. `--broken` switches the rules off and must fail: a measurement
that a check without rules passes would measure nothing.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable

from benchmarks.secrets import corpus
from substrate.secrets import find, redact

RECALL = 0.95
FALSE_ALARMS = 0.01
Check = Callable[[str], bool]


def caught(text: str) -> bool:
    """Tell whether the check refuses this text."""
    return any(finding.kind == "credential" for finding in find(text))


def rates(cases: Iterable[corpus.Case], check: Check) -> dict[str, tuple[int, int]]:
    """Return (refused, seen) by kind, in the order of the corpus."""
    seen: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for case in cases:
        seen[case.kind] += 1
        refused[case.kind] += check(case.text)
    return {kind: (refused[kind], seen[kind]) for kind in seen}


def share(counts: dict[str, tuple[int, int]]) -> float:
    """Return refused over seen, all kinds together."""
    return sum(refused for refused, _ in counts.values()) / sum(seen for _, seen in counts.values())


def left_behind(cases: Iterable[corpus.Case]) -> int:
    """Count refused cases whose secret still stands in the redacted text."""
    return sum(case.secret in redact(case.text) for case in cases if case.secret and caught(case.text))


def main(argv: list[str] | None = None) -> int:
    """Print both tables and answer the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.secrets", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=20260514)
    parser.add_argument("--broken", action="store_true", help="switch the rules off; must fail")
    parser.add_argument("--misses", action="store_true", help="also print the texts judged wrongly")
    options = parser.parse_args(argv)
    check: Check = (lambda text: False) if options.broken else caught
    secrets, benign = list(corpus.secrets(options.seed)), list(corpus.benign(options.seed))
    found, alarms = rates(secrets, check), rates(benign, check)
    for title, counts in (("refused, of secrets", found), ("refused, of harmless lines", alarms)):
        print(f"{title}: {share(counts):.2%} of {sum(seen for _, seen in counts.values())}, {len(counts)} kinds")
        for kind, (refused, seen) in counts.items():
            print(f"  {kind:32} {refused:5} / {seen}")
    print(f"secrets left in the redacted text: {0 if options.broken else left_behind(secrets)}")
    if options.misses:
        print(*(f"missed  {case.kind}: {case.text!r}" for case in secrets if not check(case.text)), sep="\n")
        print(*(f"alarmed {case.kind}: {case.text!r}" for case in benign if check(case.text)), sep="\n")
    passed = share(found) >= RECALL and share(alarms) <= FALSE_ALARMS
    print("passed" if passed else f"failed: wanted at least {RECALL:.0%} and at most {FALSE_ALARMS:.0%}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
