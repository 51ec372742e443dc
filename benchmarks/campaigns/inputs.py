"""Put hostile texts into every text field of every action: each is refused whole, or stored and answered as it is.

No call may take long over one. The fields come from the registry of actions, the texts are the named bad inputs.

Source: docs/concepts/quoting.md.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.campaigns.campaign import Campaign, Outcome, Work
from substrate import escape, identifiers, secrets
from substrate.actions.registry import call
from tests.inputs.attempts import attempt, base_of, prepared
from tests.inputs.cases import CASES, Case
from tests.inputs.fields import Field, fields

NEVER, ANY = re.compile(r"(?!)"), re.compile(r"(?s:.*)")
SECONDS = 2.0  # of the processor that one call may take; without the input none takes a tenth of it
SPENT = ("retire", "forget", "edit", "entity_merge")  # what they were done to cannot be used again
ONCE = {"audit_verify"}  # it looks at everything each time


_find = secrets.find


def _slowly(text: str) -> list[secrets.Finding]:
    """Look for credentials, and twice at all of the text for each of its characters."""
    seen = 0
    for _ in text:
        for _ in range(2 * len(text)):
            seen += 1
    return _find(text)


BROKEN: dict[str, tuple[str, Any, str, Any]] = {
    "controls": ("lines and names may hold control characters", identifiers, "_CONTROL", NEVER),
    "paths": ("every text is a segment of a path", identifiers, "_SEGMENT", ANY),
    "tags": ("every text is a tag", identifiers, "_TAG", ANY),
    "credentials": ("credentials are stored", secrets, "find", lambda text: []),
    "messages": ("errors show control characters as they are", escape, "_HIDDEN", NEVER),
    "slow": ("looking for credentials takes the square of a text's length", secrets, "find", _slowly),
}


def run(work: Work) -> Outcome:
    """Try so many cases a field; a fault for everything that is wrong with an attempt."""
    faults: list[str] = []
    tried, accepted, longest = 0, 0, 0.0
    found = fields()
    with prepared(work.folder) as shop, broken(work.broken):
        for number, field in enumerate(found):
            base = base_of(field, shop)
            for case in drawn(field, number + work.seed, work.sizes["cases"]):
                began = time.process_time()
                one = attempt(shop, field, base, case)
                spent = time.process_time() - began
                tried, accepted, longest = tried + 1, accepted + one.accepted, max(longest, spent)
                wrong = [*one.wrong, *([f"it takes {spent:.1f} s"] if spent > SECONDS else [])]
                faults += [f"{field.id} <- {case.id}: {told}" for told in wrong]
                if one.accepted and field.action in SPENT:
                    base = base_of(field, shop)
        whole = call(shop.memory, "audit_verify")
        events = call(shop.memory, "status")["events"]
    faults += [f"afterwards: {fault['message']}" for fault in whole["faults"]]
    figures = {
        "text fields": len(found),
        "cases": len(CASES),
        "attempts": tried,
        "refused": tried - accepted,
        "stored or answered": accepted,
        "events": events,
        "longest call, s of the processor": round(longest, 2),
    }
    return Outcome(figures, faults)


def drawn(field: Field, number: int, most: int) -> list[Case]:
    """Choose at most so many cases for a field, spread over the list, other ones for each field."""
    most = min(1 if field.action in ONCE else most, len(CASES))
    return [CASES[(number * most + n * len(CASES) // most) % len(CASES)] for n in range(most)]


@contextmanager
def broken(name: str | None) -> Iterator[None]:
    """Work with one guard taken out while this lasts."""
    if name is None:
        yield
        return
    _, module, attribute, other = BROKEN[name]
    genuine: Callable[..., Any] | re.Pattern[str] = getattr(module, attribute)
    setattr(module, attribute, other)
    try:
        yield
    finally:
        setattr(module, attribute, genuine)


CAMPAIGN = Campaign(
    name="inputs",
    title="Hostile texts in every field",
    target="0 faults: nothing stored that is not data, nothing half refused, no error without type and hint",
    small={"cases": 6},
    full={"cases": 129},
    broken={name: what for name, (what, *_) in BROKEN.items()},
    run=run,
)
