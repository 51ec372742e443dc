"""Name why a claim was dropped in a fixed code that may be kept.

A reason for people and for the model quotes the claim and what it cites. A version keeps codes alone, so that nothing
of a source that is forgotten later stays in the envelope, in a file written from it or in the log.

Source: docs/spec/persona.md §6.
"""

from typing import Final

OTHER: Final = "unsupported"
_CODES: Final = (
    ("cites nothing", "uncited"),
    ("cites ", "unknown_source"),
    ("says nothing", "empty"),
    ("carries a control", "control_character"),
    ("carries a link", "link"),
    ("carries HTML", "html"),
    ("carries markup", "markup"),
    ("carries a credential", "credential"),
    ("addresses its reader", "order"),
    ("infers a trait", "trait"),
    ("is about ", "about_another"),
    ("passes on ", "about_another"),
    ("does not say by itself", "not_standing"),
    ("runs over ", "too_long"),
    ("breaks off", "broken_off"),
    ("quotes ", "quotation"),
    ("denies ", "denial"),
    ("affirms ", "denial"),
    ("tells as ", "mode"),
    ("gives a date", "date"),
    ("turns round when", "date"),
    ("joins ", "joined"),
    ("ties ", "joined"),
    ("names ", "name"),
)
"""How a reason begins, the longer beginning first, and its code; any other reason is OTHER."""


def code(reason: str) -> str:
    """Answer the code of a reason: one of a fixed few, whatever the reason quotes."""
    return next((known for start, known in _CODES if reason.startswith(start)), OTHER)
