"""Generate a persona: read, draft, check, write; nothing is held open while it is drafted.

Source: docs/spec/persona.md §1, §4.6 and §6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from curator import export
from curator.llm import calls
from curator.llm.model import Completion, Message, Model, Schema
from curator.persona import composition as portrait
from curator.persona import prompt, similarity, versions, words, written
from curator.persona.claims import Composition, Draft
from curator.persona.gathering import Gathered, claims_of, gather
from curator.persona.versions import Author
from curator.persona.written import Writer
from substrate.config import Models
from substrate.errors import Conflict, NoModel, Refused
from substrate.escape import quote
from substrate.memory import entities, feed
from substrate.memory.wire import principal
from substrate.scopes import access, namespaces
from substrate.scopes.caller import CURATOR, Caller
from substrate.store.database import Database
from substrate.store.model import MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader, Transaction

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

_TRIES = 3
_MODELS = Models()


@dataclass(frozen=True)
class Generated:
    """One new version: its row, and how its draft came about."""

    row: MemoryRow
    composition: Composition


@overload
def generate(
    db: Database,
    caller: Caller,
    entity: str,
    *,
    namespace: str = "global",
    full: bool = False,
    only_new: bool = False,
    embed: Embed | None = None,
    model: Model | None = None,
    models: Models = _MODELS,
    only_if: None = None,
) -> Generated: ...
@overload
def generate(
    db: Database,
    caller: Caller,
    entity: str,
    *,
    namespace: str = "global",
    full: bool = False,
    only_new: bool = False,
    embed: Embed | None = None,
    model: Model | None = None,
    models: Models = _MODELS,
    only_if: Callable[[Reader], bool],
) -> Generated | None: ...
def generate(
    db: Database,
    caller: Caller,
    entity: str,
    *,
    namespace: str = "global",
    full: bool = False,
    only_new: bool = False,
    embed: Embed | None = None,
    model: Model | None = None,
    models: Models = _MODELS,
    only_if: Callable[[Reader], bool] | None = None,
) -> Generated | None:
    """Write the next version of an entity's persona in a namespace, from its active reflections there.

    The claims are the ``model``'s, or without one the sources' own sentences. Those of the last version stay word for
    word while their sources stand; ``full`` starts afresh with what is pinned. Whoever asks needs to be able to write
    there, when it is read and again when it is written; the author is the curator. When a source, the last version or
    what leads to the entity changes meanwhile it is composed again, the model being asked only for what changed, then
    Conflict. ``only_if`` is asked in the read of each attempt; where it says no nothing is written and the answer is
    None. ``only_new`` refuses a version that would say what the last one says, as one by a model is in any case.

    Raises Refused with ``reason`` no_reflections or unsupported_draft, and NoModel with the reason of the call that
    failed: nothing is written then but one event, and the last good version keeps being served.
    """
    writer = _writer(db, model, models) if model is not None else None
    try:
        for attempt in range(_TRIES):
            with db.read() as r:
                path = namespaces.resolve(r, namespace)
                access.check(r, caller, "write", path)
                if only_if is not None and not only_if(r):
                    return None
                gathered = gather(r, entity, path)
            if not gathered.sources:
                raise _refuse(db, caller, gathered, entity)
            composition, author = _drafted(db, caller, gathered, model, writer, embed, full, only_new)
            try:
                with db.write(caller.id) as tx:
                    access.check(tx, caller, "write", path)
                    _check_unchanged(tx, gathered, composition.draft)
                    row = versions.write(tx, caller, gathered, composition, author)
            except Conflict:
                if attempt == _TRIES - 1:
                    raise
            else:
                export.follow(db, row)
                return Generated(row, composition)
    finally:
        words.forget()
    raise AssertionError("the last try returns or raises")


def _writer(db: Database, model: Model, models: Models) -> Writer:
    def ask(messages: Sequence[Message], schema: Schema) -> Completion:
        return calls.ask(db, model, messages, models=models, purpose="persona", schema=schema, agent_id=CURATOR.id)

    return Writer(ask, model.context_tokens)


def _drafted(
    db: Database,
    caller: Caller,
    gathered: Gathered,
    model: Model | None,
    writer: Writer | None,
    embed: Embed | None,
    full: bool,
    only_new: bool,
) -> tuple[Composition, Author]:
    """Draft from what was read. Raises NoModel and Refused, recorded, where nothing may be written."""
    ground = portrait.survey(
        gathered.display,
        gathered.sources,
        gathered.previous,
        embed=embed if writer is None else similarity.remembering(embed),
        other_names=gathered.other_names,
        full=full,
    )
    name = "extractive" if model is None else model.name
    try:
        if writer is None:
            composition, author = portrait.compose(ground, db.new_id), Author()
            known = ground.base.sources.issuperset(ground.by_id)
            if only_new and known and written.said(composition.draft) == written.said(ground.base.draft):
                raise _nothing_new(db, caller, gathered, name)
        else:
            writer.language = gathered.language
            composition = written.compose(ground, writer, db.new_id)
            author = Author(
                name, prompt.VERSION, writer.calls, writer.input_tokens, writer.output_tokens, len(writer.cut)
            )
    except NoModel as error:
        _record(db, caller, gathered, "persona_failed", str(error.details.get("reason", error.code)), name)
        raise
    if writer is not None and not writer.calls and not any(composition.draft.claims()):
        raise _nothing_new(db, caller, gathered, name)
    if not any(True for _ in composition.draft.claims()):
        _record(db, caller, gathered, "persona_failed", "unsupported_draft", name)
        raise _unsupported(gathered, composition, model)
    return composition, author


def _check_unchanged(tx: Transaction, gathered: Gathered, draft: Draft) -> None:
    """Raise Conflict when what the draft rests on is no longer what was read."""
    head = tx.get(PersonaHeadRow, gathered.namespace, gathered.entity_id)
    cited = sorted({id for claim in draft.claims() for id in claim.sources})
    now = tx.commitments(MemoryRow, cited)
    rests = all(now.get(id) == gathered.commitments[id] for id in cited)
    rests = rests and entities.ids_of(tx, gathered.entity_id, gathered.namespace) == gathered.ids
    if head != gathered.head or not rests or claims_of(tx, head) != gathered.claims:
        raise Conflict(
            f"the sources of {quote(gathered.display)} changed while its persona was drafted", hint="try again"
        )


def _refuse(db: Database, caller: Caller, gathered: Gathered, asked: str) -> Refused:
    """Record that there is nothing to make a persona from, and make the error that says so."""
    with db.read() as r:
        near = entities.nearest(r, asked, gathered.namespace)
    _record(db, caller, gathered, "persona_refused", "no_reflections", None)
    close = f"; near it: {', '.join(quote(name) for name in near)}" if near else ""
    return Refused(
        f"no reflection in {gathered.namespace} is about {quote(asked)}{close}",
        hint=f"bind one: ai-memory reflect TITLE TEXT --from ID --entity {quote(asked)}"
        + ("" if gathered.namespace == "global" else f" --namespace {gathered.namespace}"),
        reason="no_reflections",
        nearest=near,
    )


def _nothing_new(db: Database, caller: Caller, gathered: Gathered, model: str) -> Refused:
    """Record that the sources say nothing that the newest version does not, and make the error that says so."""
    _record(db, caller, gathered, "persona_failed", "unsupported_draft", model)
    version = gathered.head.version if gathered.head else 0
    asked = "" if model == "extractive" else f", so {model} was not asked"
    return Refused(
        f"nothing is new about {quote(gathered.display)} since version {version}{asked}",
        hint="--full draws the persona anew",
        reason="unsupported_draft",
        offered=0,
        dropped={},
    )


def _unsupported(gathered: Gathered, composition: Composition, model: Model | None) -> Refused:
    """Make the error for a draft that may not be written; it says why."""
    about = quote(gathered.display)
    why = Counter(reason for _, reason in composition.dropped)
    reasons = [f"{reason} ({_claims(count)})" for reason, count in why.most_common(3)]
    rest = sum(why.values()) - sum(count for _, count in why.most_common(3))
    hint = "; ".join([*reasons, *([f"other reasons ({_claims(rest)})"] if rest else [])])
    stood = composition.offered - len(composition.dropped)
    if model is None:
        told = f"none of the {composition.sources_total} reflections about {about} gave a claim to state"
        hint = hint or "write reflections as full sentences"
    elif composition.dropped and stood <= len(composition.dropped):
        told = f"of {_claims(composition.offered)} that {model.name} wrote about {about}, {stood} can stand"
    else:
        told = f"{model.name} had nothing to add about {about}"
        hint = hint or "--full draws the persona anew"
    return Refused(told, hint=hint, reason="unsupported_draft", offered=composition.offered, dropped=dict(why))


def _claims(count: int) -> str:
    return f"{count} claim{'s' * (count != 1)}"


def _record(db: Database, caller: Caller, gathered: Gathered, type: str, reason: str, model: str | None) -> None:
    """Record that nothing was written, why, and the newest event that was read for it."""
    with db.write(caller.id) as tx:
        tx.event(
            type,
            subject=gathered.entity_id,
            namespace=gathered.namespace,
            payload={
                "entity_id": gathered.entity_id,
                "reason": reason,
                "model": model,
                "outcome": "failed",
                "up_to": gathered.up_to,
                "by": principal(caller),
            },
            audience=feed.audience(tx, gathered.namespace),
            actor=CURATOR.id,
        )
