"""Judge a claim, the same way whoever wrote it.

A claim that fails is dropped with the reason; it is never repaired by guessing.

Source: docs/spec/persona.md §4.1-4.4.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from curator.persona import words
from curator.persona.claims import Claim
from curator.persona.directives import content, directs
from curator.persona.sentences import clean
from curator.persona.source import Source
from curator.persona.support import unsupported
from curator.persona.vocabulary import PRONOUNS, REPORTING, THIRD, TRAITS
from substrate import secrets
from substrate.escape import line

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

_HTML = re.compile(r"<\s*[/!?a-zA-Z][^<>]*>?|&(?:#\d+|#x[0-9a-f]+|[a-z]{2,8});", re.IGNORECASE)
_LINK = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,15}://\S|\bwww\.\w|\]\s*[(\[:]|\b(?:javascript|data|vbscript|mailto):\S|!\[|\[\^|\^\[",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[`【】]|~~|\*\*|__|^\s*(?:#|>)")
_PREFERENCE = re.compile(r"\b(?:likes?|loves?|wants?|favou?rites?|enjoys?|hates?|rather|better|normally)\b", re.I)
_TRAIT = re.compile(rf"\b(?:{TRAITS})\b", re.IGNORECASE)


def check(
    claim: Claim,
    sources_by_id: Mapping[str, Source],
    *,
    name: str,
    other_names: Sequence[str] = (),
    embed: Embed | None = None,
) -> str | None:
    """Answer why the claim is dropped, or None where it may stand."""
    if not claim.sources:
        return "cites nothing"
    for id in claim.sources:
        if id not in sources_by_id:
            return f"cites {id}, which is no source"
    cited = [sources_by_id[id] for id in claim.sources]
    said = content(claim.text)
    return (
        unfit(claim.text, (name, *other_names))
        or _about_another(said, name, other_names)
        or _unknown(said, cited, name, other_names)
        or _trait(said, cited)
        or unsupported(said, cited, _known(name) | _inferred(said, cited), embed, name)
    )


def unfit(text: str, names: Sequence[str] = ()) -> str | None:
    """Answer what a claim may not carry whatever its sources say, or None."""
    if not words.words(text):
        return "says nothing"
    if line(text) != text:
        return "carries a control, invisible or stacked character"
    if _LINK.search(text):
        return "carries a link, an image or a footnote"
    if _HTML.search(text):
        return "carries HTML"
    if _MARKUP.search(text) or clean(text) != unicodedata.normalize("NFC", text):
        return "carries markup"
    if secrets.find(text):
        return "carries a credential"
    if directs(text, names):
        return "addresses its reader"
    return None


def _known(name: str) -> frozenset[str]:
    return frozenset(words.plain(word) for word in words.words(name)) | {"user"}


def _inferred(text: str, cited: Sequence[Source]) -> frozenset[str]:
    """List the words of traits that several days together may show though none of them says so."""
    if len({source.day for source in cited}) < 2:
        return frozenset()
    return frozenset(word for found in _TRAIT.finditer(text) for word in words.folded(found[0]))


def _trait(text: str, cited: Sequence[Source]) -> str | None:
    """Ask two days for a trait that no source states itself."""
    found = _TRAIT.search(words.unquoted(text))
    if found is None or len({source.day for source in cited}) > 1:
        return None
    if any(_TRAIT.search(source.text) or _PREFERENCE.search(source.text) for source in cited):
        return None
    return f"infers a trait (“{found[0]}”) from one day"


def _others(text: str, name: str, other_names: Sequence[str]) -> list[str]:
    """List the registered names the text mentions, without those that are this entity's own."""
    return [other for other in words.among(text, other_names) if not words.mentions(name, other)]


def _unknown(text: str, cited: Sequence[Source], name: str, other_names: Sequence[str]) -> str | None:
    """Drop what names somebody registered whom no cited source names."""
    told = [part for source in cited for part in (source.text, source.title or "")]
    for other in _others(text, name, other_names):
        if not any(words.mentions(part, other) for part in told):
            return f"names {other}, whom or which its sources do not"
    return None


def _about_another(text: str, name: str, other_names: Sequence[str]) -> str | None:
    """Drop what is about somebody else: another name as the subject, and nothing that ties it to this one."""
    text = _unattributed(text, name)
    implied = not THIRD.isdisjoint(words.folded(text)[:1])  # "Works with Bob" leaves the entity out
    for other in _others(text, name, other_names):
        if words.mentions(" ".join(words.words(text)[:3]), other) and not (implied or _tied(text, name)):
            return f"is about {other}"
        told = _passed_on(text, other)
        if told is not None and not _tied(told, name):
            return f"passes on something about {other}"
    return None


def _unattributed(text: str, name: str) -> str:
    """Take away that the entity is who says it: being told of somebody is no relation to them."""
    who = "|".join(re.escape(part) for part in (name, *words.words(name)[:1]) if part.strip())
    return re.sub(rf"^\s*according to (?:{who}),\s*|,\s*(?:{who})\s+\w+\W*$", "", text, flags=re.I) if who else text


def _passed_on(text: str, other: str) -> str | None:
    """Answer what follows the other's name where the text only reports it: "says that Bob …"."""
    first = re.escape(words.words(other)[0])
    said = "|".join(sorted(REPORTING))
    match = re.search(
        rf"\b(?:{said}|knows|knew)\b\s+(?:\w+\s+)?that\s+{first}\b(.*)"
        rf"|\b(?:{said})\s+{first}(?:['’]s|\s+(?:is|was|has|had))\b(.*)",
        text,
        re.IGNORECASE,
    )
    return None if match is None else next(part for part in match.groups() if part is not None)


def _tied(text: str, name: str) -> bool:
    """Tell whether a text ties what it says to the entity, by name or by a pronoun."""
    found = words.folded(text)
    return "user" in found or not PRONOUNS.isdisjoint(found) or words.mentions(text, name)
