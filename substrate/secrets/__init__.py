"""Find credentials in text, so that no store ever keeps one.

A memory is read back by agents, exported and backed up; a password in it has leaked. So every write, proposals
included, passes `refuse` or `refuse_all` first, and a hit refuses the whole write. No message repeats the secret.

Card numbers, bank accounts and social security numbers are findings of kind `pii`: reported, and refused only where
a caller asks for that kind.

Source: docs/spec/requirements.md S1-8; docs/reference/credentials.md is printed from `RULES`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from substrate.errors import Invalid
from substrate.escape import INVISIBLE, line

if TYPE_CHECKING:
    from substrate.secrets.rules import RULES, Rule

__all__ = ["CREDENTIAL", "PII", "RULES", "Finding", "Rule", "find", "redact", "refuse", "refuse_all"]

CREDENTIAL, PII = "credential", "pii"


def __getattr__(name: str) -> Any:
    """Load the rules when a text is searched: compiling them takes as long as reading a persona."""
    if name in ("RULES", "Rule"):
        from substrate.secrets import rules

        return getattr(rules, name)
    raise AttributeError(name)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Name a rule and the half-open span of the text it matched."""

    start: int
    end: int
    rule: str
    kind: str = CREDENTIAL


def find(text: str) -> list[Finding]:
    """Return the findings in order of position, overlapping ones of a kind joined under the rule that starts first.

    Zero-width and other invisible characters inside a secret do not hide it; positions are those of `text`. The cost
    is linear in the length of the text.
    """
    from substrate.secrets.rules import RULES

    seen, positions = _visible(text)
    lowered = seen.lower()
    found = sorted(
        Finding(start, end, rule.name, rule.kind)
        for rule in RULES
        if not rule.near or any(literal in lowered for literal in rule.near)
        for start, end in rule.spans(seen)
    )
    joined: list[Finding] = []
    for finding in found:
        if joined and finding.start < joined[-1].end and finding.kind == joined[-1].kind:
            before = joined.pop()
            finding = Finding(before.start, max(before.end, finding.end), before.rule, before.kind)
        joined.append(finding)
    if positions is None:
        return joined
    return [Finding(positions[f.start], positions[f.end - 1] + 1, f.rule, f.kind) for f in joined]


def redact(text: str, kinds: Iterable[str] = (CREDENTIAL,)) -> str:
    """Return text with every finding of these kinds replaced by `[credential]` or `[pii]`."""
    wanted = frozenset(kinds)
    for finding in reversed(find(text)):
        if finding.kind in wanted:
            text = f"{text[: finding.start]}[{finding.kind}]{text[finding.end :]}"
    return text


def refuse(field: str, text: str, *, kinds: Iterable[str] = (CREDENTIAL,)) -> None:
    """Raise `Invalid` when the text holds a credential; the error names the field and the rule, never the secret."""
    refuse_all({field: text}, kinds=kinds)


def refuse_all(fields: Mapping[str, object], *, kinds: Iterable[str] = (CREDENTIAL,)) -> None:
    """Check every field of a write at once: texts, ids, lists, and metadata with its keys.

    Neighbouring texts are also read as one, so a title "Wifi password" does not excuse the content that follows.
    Raises `Invalid` with `details["fields"]` mapping each offending field to the kind of finding.
    """
    wanted = frozenset(kinds)
    hits: dict[str, Finding] = {}
    for field, value in fields.items():
        for finding in (finding for text in _texts(value) for finding in find(text)):
            if finding.kind in wanted:
                hits.setdefault(field, finding)
    texts = [(field, value) for field, value in fields.items() if isinstance(value, str) and value]
    for (_, before), (field, after) in pairwise(texts):
        head = f"{before[-80:]}: "
        for finding in find(head + after[:200]):
            if finding.kind in wanted and finding.end > len(head):
                hits.setdefault(field, finding)
    if hits:
        from substrate.secrets.rules import RULES

        described = {rule.name: rule.description for rule in RULES}
        # A field name may come from the caller, so it is shown the way a text is.
        named = ", ".join(f"{line(redact(field))[:40]} ({described[finding.rule]})" for field, finding in hits.items())
        raise Invalid(
            f"this looks like a credential: {named}; nothing was written",
            hint="take the secret out and say where it is kept instead, for example 'in the team's password manager'",
            fields={redact(field): finding.kind for field, finding in hits.items()},
        )


def _texts(value: object) -> Iterator[str]:
    """Yield the texts inside a value of any depth; a leaf under a key is read as `key: leaf`, the form of a setting."""
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        key, inner = waiting.pop()
        if isinstance(inner, Mapping):
            yield from map(str, inner)
            waiting += [(str(name), item) for name, item in inner.items()]
        elif isinstance(inner, (list, tuple, set, frozenset)):
            waiting += [(key, item) for item in inner]
        elif inner is not None:
            yield f"{key}: {inner}" if key else str(inner)


_UNSEEN = re.compile(f"[{INVISIBLE}]")


def _visible(text: str) -> tuple[str, list[int] | None]:
    """Return text without invisible characters, and the position in `text` of each character kept (None: the same)."""
    if text.isascii() or not _UNSEEN.search(text):
        return text, None
    positions = [index for index, char in enumerate(text) if not _UNSEEN.match(char)]
    return "".join(text[index] for index in positions), positions
