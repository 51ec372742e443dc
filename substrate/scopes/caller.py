"""Name who calls. A caller comes from a credential, never from a payload.

Source: docs/spec/model.md §1.10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["human", "agent", "hub", "curator"]


@dataclass(frozen=True, slots=True)
class Caller:
    """One principal at work: which running copy of it, in which project, in which session.

    `instance` names the running copy of an agent. For the curator it names the agent whose session it works on; without
    it the curator works on whole namespaces and sees only what every reader of them may see.
    """

    id: str
    kind: Kind
    handle: str
    instance: str | None = None
    project: str | None = None
    session: str | None = None


CURATOR = Caller(id="ai:curator", kind="curator", handle="curator")
HUB = Caller(id="hub", kind="hub", handle="hub")
