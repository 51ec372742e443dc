"""Have a model write the claims of a portrait: what it is shown, what of its answer stands, and its one repair.

A model offers claims and nothing else; keeping, contradicting, choosing and laying out are `composition`'s.

Source: docs/spec/persona.md §1.4, §3, §4.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from curator.llm.model import Completion, Message, Schema, tokens
from curator.persona import composition, prompt, words
from curator.persona.antecedents import introduced, leans
from curator.persona.candidates import CLAIM_WORDS, QUOTED_CHARS, Candidate
from curator.persona.checks import check
from curator.persona.claims import Claim, Composition, Draft
from curator.persona.composition import Ground
from curator.persona.directives import content, reported
from curator.persona.sentences import Rank, ended, rank_of, sentences
from curator.persona.source import Source
from substrate import secrets
from substrate.errors import NoModel
from substrate.escape import json_data, one_line
from substrate.limits import PERSONA_REPAIRS, PERSONA_SURVIVAL, PERSONA_WORDS_MIN

ITEM_CHARS: Final = 4_000  # characters of one source that a model is shown
ANSWER_TOKENS: Final = 2_400  # tokens kept free for the answer; never more than a third of the context
LEAST_CLAIMS: Final = 4  # claims that are asked for of any sources
CLAIM_TOKENS: Final = 15  # tokens of the sources for which one claim more is
CLAIM_ROOM: Final = 80  # tokens a claim takes in an answer; small models go on for as long as the form lets them
REFUSED_TOKENS: Final = 600  # tokens kept free to show claims that were refused
BROKEN_OFF: Final = re.compile(
    r"\b(?:a|an|and|at|because|by|for|from|her|his|in|into|my|of|on|or|our|than|that|the|their|to|with)$", re.IGNORECASE
)
INVALID: Final = frozenset({"not_json", "wrong_schema", "too_large"})  # reasons that blame the answer alone

Ask = Callable[[Sequence[Message], Schema], Completion]


@dataclass(frozen=True, slots=True)
class Offer:
    """Hold a claim of a model that stands, and the id of the kept one it says it replaces."""

    candidate: Candidate
    replaces: str | None


@dataclass
class Writer:
    """Hold a model at work on one persona: how it is asked, what it was shown and offered, and what it cost.

    ``offers`` stand, ``dropped`` do not; ``offered`` counts both. ``shown`` are ids of sources, ``cut`` those of which
    only the beginning was shown. Tokens are as reported, 0 where they are not.
    """

    ask: Ask
    context_tokens: int
    language: str | None = None
    offers: list[Offer] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    offered: int = 0
    shown: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    calls: int = 0
    repairs: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def may_repair(self) -> bool:
        """Take the repair, where it was not taken before."""
        self.repairs += 1
        return self.repairs <= PERSONA_REPAIRS


def compose(ground: Ground, writer: Writer, new_id: Callable[[str], str]) -> Composition:
    """Have the claims written that the kept ones lack, and compose a draft of both.

    A draft without a claim means that nothing may be written: fewer than half of the model's claims stand, or it adds
    nothing to a version that stands whole. Called again with the same writer after the store changed, it asks only for
    what changed, and only where that touched what was offered. Raises NoModel.
    """
    held = [offer for offer in writer.offers if _rests(ground, offer)]
    untouched = bool(writer.shown) and len(held) == len(writer.offers)
    writer.offers = held
    seen = ground.base.sources | writer.shown
    new = [] if untouched else [source for source in ground.sources if source.id not in seen]
    if new and not _drafted(ground, writer, new) and not held:
        return _told(ground, writer, Composition(Draft(), 0, len(ground.sources), 0, (), True, 0))
    made = _composed(ground, writer, new_id)
    unused = _unused(ground, writer, made)
    if made.words < PERSONA_WORDS_MIN and unused and writer.may_repair() and _added(ground, writer, unused):
        made = _composed(ground, writer, new_id)
    if said(made.draft) == said(ground.base.draft):
        made = replace(made, draft=Draft())
    return _told(ground, writer, made)


def _rests(ground: Ground, offer: Offer) -> bool:
    return _fault(ground, offer.candidate.text, offer.candidate.sources) is None


def said(draft: Draft) -> set[tuple[str, tuple[str, ...]]]:
    """Collect what a draft claims, on which sources."""
    return {(claim.text, claim.sources) for claim in draft.claims()}


def _composed(ground: Ground, writer: Writer, new_id: Callable[[str], str]) -> Composition:
    replaced = {offer.candidate.text: offer.replaces for offer in writer.offers if offer.replaces is not None}
    return composition.compose(ground, new_id, [offer.candidate for offer in writer.offers], replaced)


def _told(ground: Ground, writer: Writer, made: Composition) -> Composition:
    """Say of a composition what the model was shown and offered."""
    seen = ground.base.sources | writer.shown
    unseen = tuple(source.id for source in ground.sources if source.id not in seen)
    used = len(ground.sources) - len(unseen)
    return replace(made, dropped=tuple(writer.dropped), offered=writer.offered, unseen=unseen, sources_used=used)


def _unused(ground: Ground, writer: Writer, made: Composition) -> list[Source]:
    """List the sources that could still add something: uncited ones, and of earlier versions those that lost a claim.

    A claim that fell for one of its sources leaves what the others say untold.
    """
    cited = {id for claim in made.draft.claims() for id in claim.sources}
    cited |= {id for offer in writer.offers for id in offer.candidate.sources}
    passed_over = ground.base.sources - writer.shown if ground.kept == ground.base.draft else frozenset()
    body = [*made.draft.summary, *(claim for section in made.draft.sections for claim in section.claims)]
    stands = {claim.id for claim in body}
    fallen = [claim for claim in ground.standing if claim.id not in stands and len(claim.sources) > 1]
    fell = {id for claim in fallen for id in claim.sources} - {id for claim in body for id in claim.sources}
    return [source for source in ground.sources if source.id in fell or source.id not in cited | passed_over]


def _drafted(ground: Ground, writer: Writer, sources: Sequence[Source]) -> bool:
    """Have claims written from sources, once more where the answer is invalid or too little of it stands.

    False where fewer than half of the claims stand in the end. Raises NoModel.
    """
    try:
        offers, dropped = _asked(ground, writer, sources)
    except NoModel as error:
        if error.details.get("reason") not in INVALID or not writer.may_repair():
            raise
        offers, dropped = _asked(ground, writer, sources, note=prompt.AGAIN)
    if not _enough(offers, dropped) and writer.may_repair():
        try:
            again = _asked(ground, writer, sources, refused=dropped)
        except NoModel as error:
            if error.details.get("reason") not in INVALID:
                raise
        else:
            offers, dropped = again if any(again) else (offers, dropped)
    writer.offered += len(offers) + len(dropped)
    writer.dropped += dropped
    if not _enough(offers, dropped):
        return False
    writer.offers += offers
    return True


def _added(ground: Ground, writer: Writer, sources: Sequence[Source]) -> bool:
    """Have a short body added to; say whether anything was. What fails here leaves the draft as it is."""
    try:
        offers, dropped = _asked(ground, writer, sources, note=prompt.UNUSED)
    except NoModel:
        return False
    writer.offered += len(offers) + len(dropped)
    writer.dropped += dropped
    if not offers or not _enough(offers, dropped):
        return False
    writer.offers += offers
    return True


def _enough(offers: Sequence[Offer], dropped: Sequence[object]) -> bool:
    return len(offers) >= PERSONA_SURVIVAL * (len(offers) + len(dropped))


def _asked(
    ground: Ground, writer: Writer, sources: Sequence[Source], note: str = "", refused: Sequence[tuple[str, str]] = ()
) -> tuple[list[Offer], list[tuple[str, str]]]:
    """Show a model sources and what stands, and judge what it offers. Raises NoModel."""
    around = _around(ground, writer, refused)
    fixed = sum(tokens(message.content) for message in prompt.messages(around, writer.language, note))
    spare = REFUSED_TOKENS + min(ANSWER_TOKENS, writer.context_tokens // 3)
    shown = _shown(ground, sources, writer.context_tokens - fixed - spare)
    items = [_item(number, source) for number, source in enumerate(shown, start=1)]
    given = sum(map(_size, items))
    room = max(1, (writer.context_tokens - fixed - given) // CLAIM_ROOM)
    most = min(prompt.CLAIMS, LEAST_CLAIMS + given // CLAIM_TOKENS, room)
    form = prompt.schema(most, min(prompt.CITES, len(items)))
    writer.calls += 1
    try:
        answer = writer.ask(prompt.messages([*around, *items], writer.language, note, most), form)
    except NoModel as error:
        _count(writer, error.details.get("input_tokens"), error.details.get("output_tokens"))
        raise
    _count(writer, answer.input_tokens, answer.output_tokens)
    writer.shown.update(source.id for source in shown)
    writer.cut.update(source.id for source in shown if len(source.text) > ITEM_CHARS)
    return _judged(ground, prompt.lines(answer.data), shown)


def _count(writer: Writer, given: object, answered: object) -> None:
    writer.input_tokens += given if isinstance(given, int) else 0
    writer.output_tokens += answered if isinstance(answered, int) else 0


def _around(ground: Ground, writer: Writer, refused: Sequence[tuple[str, str]]) -> list[Mapping[str, Any]]:
    """Name the entity, the claims that stand, and as many of the refused ones as there is room for."""
    standing = [{"claim": claim.text, "id": claim.id} for claim in ground.standing]
    offered = [{"claim": offer.candidate.text} for offer in writer.offers]
    shown: list[Mapping[str, Any]] = []
    room = REFUSED_TOKENS
    for text, why in refused:
        element = {"refused": secrets.redact(text)[:QUOTED_CHARS], "why": why}
        room -= _size(element)
        if room >= 0:
            shown.append(element)
    return [{"entity": ground.name}, *standing, *offered, *shown]


def _item(number: int, source: Source) -> Mapping[str, Any]:
    item: dict[str, Any] = {"item": number, "date": source.day}
    if source.title and not source.text.startswith(source.title):
        item["title"] = source.title
    item["text"] = source.text[:ITEM_CHARS]
    return item | ({"cut": True} if len(source.text) > ITEM_CHARS else {})


def _size(element: Mapping[str, Any]) -> int:
    return tokens(json_data([element])[0])


def _shown(ground: Ground, sources: Sequence[Source], room: int) -> list[Source]:
    """Choose what fits into `room` tokens, oldest first: all, or of each cluster in turn its newest.

    Of sources that do not fit the newest is shown in any case.
    """
    size = {source.id: _size(_item(len(sources), source)) for source in sources}
    if sum(size.values()) <= room:
        return list(sources)
    waiting = {source.id: source for source in sources}
    groups = [[id for id in reversed(cluster.members) if id in waiting] for cluster in ground.clusters()]
    grouped = {id for group in groups for id in group}
    groups.append([source.id for source in reversed(sources) if source.id not in grouped])
    chosen: set[str] = set()
    for turn in range(max(map(len, groups))):
        for id in (group[turn] for group in groups if turn < len(group)):
            if size[id] <= room:
                room -= size[id]
                chosen.add(id)
    return [source for source in sources if source.id in chosen] or list(sources[-1:])


def _judged(
    ground: Ground, lines: Sequence[prompt.Line], shown: Sequence[Source]
) -> tuple[list[Offer], list[tuple[str, str]]]:
    """Part the claims that stand from those that do not, each with the reason.

    One said twice counts once, and stands where it cites in either what says it.
    """
    known = introduced(source.text for source in ground.sources)
    offers: dict[str, Offer] = {}
    dropped: dict[str, str] = {}
    for one in lines:
        text = ended(one_line(one.text))
        if text in offers:
            continue
        ids = tuple(dict.fromkeys(shown[number - 1].id for number in one.numbers if 0 < number <= len(shown)))
        rank = rank_of(text, ground.name)
        if any(not 0 < number <= len(shown) for number in one.numbers):
            dropped.setdefault(text, "cites an item that there is not")
        elif words.count(text) > CLAIM_WORDS:
            dropped[text] = f"runs over {CLAIM_WORDS} words"
        elif BROKEN_OFF.search(one_line(one.text)):
            dropped[text] = "breaks off"
        elif (reason := _fault(ground, text, ids)) is not None:
            dropped.setdefault(text, reason)
        elif rank is None or not _names(text, rank, ground.name):
            dropped[text] = "does not say by itself whom it is about"
        else:
            rank = Rank.DEFINITE if leans(text, known) else rank
            sources, joint = _needed(ground, text, ids)
            offers[text] = Offer(Candidate(text, sources, rank, joint), one.replaces)
            dropped.pop(text, None)
    return list(offers.values()), [(secrets.redact(text)[:QUOTED_CHARS], reason) for text, reason in dropped.items()]


def _fault(ground: Ground, text: str, ids: tuple[str, ...]) -> str | None:
    """Answer why a claim that a model worded may not stand, or None.

    An order in a source supports no statement, and only `reported` words a report of one.
    """
    order = content(text)
    if order != text and reported(order) != text:
        return "addresses its reader"
    stated = ground.by_id if order != text else ground.stated
    return check(Claim("", text, ids), stated, name=ground.name, other_names=ground.other_names, embed=ground.embed)


def _names(text: str, rank: Rank, name: str) -> bool:
    return rank == Rank.NAMED or name.casefold() in text.casefold()


def _needed(ground: Ground, text: str, ids: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Answer the cited sources that each say the claim, or else those that say it only together, and True.

    What a model cites beside them supports nothing, and a footnote leads to what supports its claim; one that stands in
    it word for word is never beside it.
    """
    alone = {id for id in ids if _fault(ground, text, (id,)) is None}
    if alone:
        said = tuple(id for id in ids if id in alone or _quoted(ground.by_id[id], text))
        return said, not alone.issuperset(said)
    left = ids
    for id in reversed(ids):
        fewer = tuple(other for other in left if other != id)
        if _fault(ground, text, fewer) is None:
            left = fewer
    return left, True


def _quoted(source: Source, text: str) -> bool:
    return any(one.rstrip(".!?") in text for one in sentences(source.text))
