"""Distil: read the fresh observations about an entity, draft reflections, check, write; nothing is held meanwhile.

Source: docs/spec/reflections.md §5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from curator.llm.model import Completion, Message, Model, Schema
from curator.persona import cadence
from curator.reflections import asking, positions, sketches
from curator.reflections.gathering import Gathered, Survey, covered, gather, survey
from curator.reflections.sketches import Drafted, Sketch
from curator.reflections.statements import Dropped
from substrate.config import Models
from substrate.errors import Conflict, NoModel, Refused
from substrate.escape import quote
from substrate.memory import entities, reflections
from substrate.scopes import access, namespaces
from substrate.scopes.caller import CURATOR, Caller
from substrate.scopes.rules import Verdict
from substrate.store.database import Database
from substrate.store.model import MemoryRow
from substrate.store.transaction import Reader, Transaction

if TYPE_CHECKING:
    from curator.persona.similarity import Embed

EXTRACTIVE: Final = "extractive"
_MODELS: Final = Models()
_TRIES: Final = 3
_AWAY: Final = ("unreachable", "reset")


@dataclass(frozen=True)
class Distilled:
    """What came of the observations about one entity.

    ``ids`` are the reflections as written, one for each sketch, none for a dry run. ``considered`` counts the
    observations looked at, ``left`` those that wait for the next time.
    """

    entity_id: str
    display: str
    namespace: str
    model: str
    considered: int
    left: int
    sketches: tuple[Sketch, ...] = ()
    ids: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    persona_due: bool = False

    def wire(self) -> dict[str, Any]:
        """Return it as JSON; the id of a reflection that was not written is null."""
        ids: Sequence[str | None] = self.ids or [None] * len(self.sketches)
        made = [
            {"id": id, "title": one.title, "text": one.text, "sources": list(one.sources), "valid_from": one.valid_from}
            for id, one in zip(ids, self.sketches, strict=True)
        ]
        names = ("entity_id", "display", "namespace", "model", "considered", "left", "persona_due")
        lost = [{"id": one.source, "text": one.text, "reason": one.reason} for one in self.dropped]
        return {name: getattr(self, name) for name in names} | {"reflections": made, "dropped": lost}


def surveyed(r: Reader, caller: Caller, namespace: str) -> Survey:
    """Find out what the observations of a namespace are about, for whoever may write there.

    Raises NotFound and Forbidden as `access.check` does, Refused where the curator does not write.
    """
    path = namespaces.resolve(r, namespace)
    _check_access(r, caller, path)
    return survey(r, path)


def _check_access(r: Reader, caller: Caller, path: str) -> None:
    """Raise unless the caller may write in the namespace and the curator may write reflections there."""
    access.check(r, caller, "write_curated" if caller.kind == "curator" else "write", path)
    if access.ruling(r, CURATOR, "write_curated", path).verdict != Verdict.YES:
        raise Refused(
            f"the curator writes no reflections in {quote(path)}", hint="write them yourself: ai-memory reflect"
        )


def by_choice(
    db: Database, caller: Caller, entity: str, *, models: Models, wanted: str | None = None, **options: Any
) -> Distilled:
    """Distil with the model that is wanted, else the one in the settings; ``options`` are those of `distil`.

    Where that is `cheap`, a model that cannot be reached any more gives way to the observations' own sentences.
    """
    from curator.llm.choice import choose

    chosen = choose(models, wanted, purpose="reflect")
    try:
        return distil(db, caller, entity, model=chosen.model, models=models, **options)
    except NoModel as error:
        if (wanted or models.reflect) != "cheap" or error.details.get("reason") not in _AWAY:
            raise
    return distil(db, caller, entity, **options)


def distil(
    db: Database,
    caller: Caller,
    entity: str,
    *,
    namespace: str = "global",
    again: bool = False,
    dry_run: bool = False,
    least: int = 1,
    embed: Embed | None = None,
    model: Model | None = None,
    models: Models = _MODELS,
) -> Distilled:
    """Write reflections on the fresh observations about an entity, as the curator, and say what was dropped.

    Fewer than ``least`` are left alone. With ``again`` those looked at before are fresh too, where no active reflection
    rests on them. ``dry_run`` writes nothing; a model is asked all the same, and the call is counted. All reflections
    are one transaction with the position up to which was looked; when an observation changes meanwhile everything is
    drafted again, then Conflict. Two at once write each reflection once.

    Raises NoModel, and Refused with ``reason`` not_registered or unsupported_draft; then nothing is written.
    """
    for attempt in range(_TRIES):
        with db.read() as r:
            found = surveyed(r, caller, namespace)
            gathered = gather(r, found, _registered(r, found, entity), again=again)
        if model is not None:
            gathered = _within(gathered, model)
        about, name = gathered.about, model.name if model is not None else EXTRACTIVE
        done = Distilled(
            about.entity_id, about.display, gathered.namespace, name, len(gathered.observed), gathered.left
        )
        if len(gathered.observed) < max(least, 1):
            return replace(done, considered=0, left=len(gathered.observed) + gathered.left)
        drafted = _draft(db, gathered, embed, model, models)
        done = replace(done, sketches=drafted.sketches, dropped=drafted.dropped)
        if dry_run:
            return done
        try:
            with db.write(caller.id) as tx:
                _check_access(tx, caller, gathered.namespace)
                _check_unchanged(tx, gathered, drafted)
                rows = [_write(tx, gathered, one, name) for one in drafted.sketches]
                positions.move(tx, gathered.namespace, about.entity_id, gathered.own_names, gathered.up_to)
                due = bool(rows) and cadence.note(tx, about.entity_id, gathered.namespace)
            return replace(done, ids=tuple(row.id for row in rows), persona_due=due)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("the last try returns or raises")


def _registered(r: Reader, found: Survey, entity: str) -> str:
    """Answer the id of a registered entity, or of one that observations are linked to."""
    id = entities.resolve(r, entity, found.namespace).entity_id
    if id in found.names.shown or id in found.about:
        return id
    near = entities.nearest(r, entity, found.namespace)
    close = f"; near it: {', '.join(quote(name) for name in near)}" if near else ""
    raise Refused(
        f"no entity {quote(entity)} is registered for {found.namespace}{close}",
        hint="register it, so that it is found by its names: ai-memory entity add ID --name NAME",
        reason="not_registered",
        nearest=near,
    )


def _within(gathered: Gathered, model: Model) -> Gathered:
    """Leave what does not fit into the calls of one distillation to the next."""
    fits = asking.fitting(gathered.observed, gathered.about, model.context_tokens)
    if len(fits) == len(gathered.observed) or not fits:
        return gathered
    taken = {one.source.id for one in fits}
    return replace(
        gathered,
        observed=tuple(one for one in gathered.observed if one.source.id in taken),
        left=gathered.left + len(gathered.observed) - len(fits),
        up_to=fits[-1].source.sequence,
    )


def _draft(db: Database, gathered: Gathered, embed: Embed | None, model: Model | None, models: Models) -> Drafted:
    if model is None:
        return sketches.draft(gathered.observed, gathered.about, embed)
    from curator.llm import calls

    def ask(messages: Sequence[Message], schema: Schema) -> Completion:
        return calls.ask(db, model, messages, models=models, purpose="reflect", schema=schema)

    return asking.draft(gathered.observed, gathered.about, embed, ask, context_tokens=model.context_tokens)


def _check_unchanged(tx: Transaction, gathered: Gathered, drafted: Drafted) -> None:
    """Raise Conflict when an observation that is to be cited changed, or was reflected on, since it was read."""
    cited = sorted({id for one in drafted.sketches for id in one.sources})
    now = tx.commitments(MemoryRow, cited)
    rested = covered(tx, gathered.namespace, sorted(gathered.ids))
    renamed = entities.ids_of(tx, gathered.about.entity_id, gathered.namespace) != gathered.ids
    if renamed or any(now.get(id) != gathered.commitments[id] or id in rested for id in cited):
        raise Conflict(
            f"observations about {quote(gathered.about.display)} changed while they were reflected on",
            hint="try again",
        )


def _write(tx: Transaction, gathered: Gathered, one: Sketch, model: str) -> MemoryRow:
    version = {} if model == EXTRACTIVE else {"prompt_version": asking.PROMPT_VERSION}
    return reflections.reflect(
        tx,
        CURATOR,
        one.title,
        one.text,
        sources=one.sources,
        entity_id=gathered.about.entity_id,
        namespace=gathered.namespace,
        metadata={"distilled": {"model": model, **version}},
        valid_from=one.valid_from,
    ).row
