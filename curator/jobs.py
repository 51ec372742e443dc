"""Keep what is to be done later as rows: one open job for each kind and key, tried again after growing pauses.

Jobs are derived: what they are for is found again from rows and events, so a lost table loses nothing but pauses.

Source: docs/spec/persona.md §8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from substrate.config import Models
from substrate.store.database import Database
from substrate.store.model import Json, from_json, row_id, to_json
from substrate.store.transaction import Reader, Transaction

if TYPE_CHECKING:
    from curator.llm.model import Model
    from curator.persona.similarity import Embed
    from substrate.recall.embedding import Embedder
    from substrate.recall.index import Progress

SAID = {
    "unreachable": "no model answered",
    "reset": "the model's server broke off",
    "timeout": "the model took too long",
    "missing": "the model is not there",
    "status": "the model's server declined",
    "form": "the model's server declined",
    "too_large": "the model's answer was too long",
    "not_json": "the model's answer was no JSON",
    "wrong_schema": "the model's answer had another form",
    "context": "the sources are more than the model can read",
    "limit": "the day's model calls were used up",
    "key": "there is no key for the model's server",
    "off": "models are off",
    "unsupported_draft": "nothing of the draft could stand",
    "no_reflections": "there is nothing to write from",
    "conflict": "the store changed meanwhile",
    "interrupted": "the worker ended before the job did",
    "no_embedder": "the model that makes vectors does not load",
}
"""What a job's reason means. Only the reason is kept: what a model or its server said may hold somebody's text."""
PAUSES = (60, 300, 1_800, 7_200, 43_200)
"""Seconds before each further attempt; the attempt after the last pause is the last."""
OPEN = ("pending", "running")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job: in ``plan`` the ``namespace`` it works in and what it is about, in ``last_error`` a code.

    A pending one is ready from ``next_attempt_at`` on; ``attempts`` counts those begun.
    """

    id: str
    kind: str
    key: str
    state: str
    plan: Json
    attempts: int
    next_attempt_at: str | None
    last_error: Json | None
    created_at: str
    updated_at: str

    @property
    def namespace(self) -> str:
        """The namespace it works in."""
        return str(self.plan["namespace"])


@dataclass(frozen=True)
class Means:
    """What a job may use: the store, the models it may choose from or the one it is given, and two embedders.

    ``embed`` tells how close texts are, ``encoder`` makes the vectors of recall, telling ``progress``.
    """

    db: Database
    models: Models
    model: Model | None = None
    embed: Embed | None = None
    encoder: Embedder | None = None
    progress: Progress | None = None


Run = Callable[[Means, Job], Json | None]
"""Does a job and says in ids what came of it, None when it was no longer needed. Raises what made it fail."""

_COLUMNS = ", ".join(field.name for field in fields(Job))


def open_(tx: Transaction, kind: str, namespace: str, subject: str, **plan: Any) -> bool:
    """Have one open job of this kind on a subject in a namespace; say whether it was not open before."""
    key = row_id(namespace, subject)
    known = tx.query("SELECT id, state FROM jobs WHERE kind = ? AND key = ?", (kind, key))
    if known and known[0][1] in OPEN:
        return False
    told = to_json({"namespace": namespace, **plan})
    if known:
        tx.derived(
            "UPDATE jobs SET state = 'pending', plan = ?, cursor_from = ?, attempts = 0, next_attempt_at = ?,"
            " last_error = NULL, updated_at = ? WHERE id = ?",
            (told, tx.head.sequence, tx.now, tx.now, known[0][0]),
        )
    else:
        tx.derived(
            "INSERT INTO jobs (id, kind, key, state, plan, cursor_from, attempts, next_attempt_at, created_at,"
            " updated_at) VALUES (?, ?, ?, 'pending', ?, ?, 0, ?, ?, ?)",
            (tx.new_id("job"), kind, key, told, tx.head.sequence, tx.now, tx.now, tx.now),
        )
    return True


def is_open(r: Reader, kind: str, namespace: str, subject: str) -> bool:
    """Say whether a job of this kind on the subject waits or runs."""
    where = "kind = ? AND key = ? AND state IN ('pending', 'running')"
    return bool(r.query(f"SELECT 1 FROM jobs WHERE {where}", (kind, row_id(namespace, subject))))


def untried_since(r: Reader, kind: str, namespace: str, subject: str) -> int | None:
    """Give the number of the event after which a job was opened of which no attempt has ended; None for none."""
    where = "kind = ? AND key = ? AND attempts = CASE state WHEN 'pending' THEN 0 WHEN 'running' THEN 1 END"
    found = r.query(f"SELECT cursor_from FROM jobs WHERE {where}", (kind, row_id(namespace, subject)))
    return found[0][0] if found else None


def ready(r: Reader, now: str, kinds: Iterable[str]) -> list[Job]:
    """List the jobs that may begin, each namespace's longest waiting first, one of each namespace in turn."""
    found = _read(
        r,
        "state = 'pending' AND next_attempt_at <= ? AND kind IN (SELECT unnest(?::TEXT[]))",
        (now, list(kinds)),
    )
    grouped = groupby(sorted(found, key=lambda job: job.namespace), key=lambda job: job.namespace)
    placed = [(turn, job) for _, group in grouped for turn, job in enumerate(group)]
    return [job for _, job in sorted(placed, key=lambda pair: (pair[0], pair[1].next_attempt_at or "", pair[1].id))]


def unfinished(r: Reader) -> list[Job]:
    """List the jobs that wait, run or have failed for good, by namespace and age."""
    return sorted(_read(r, "state <> 'done'", ()), key=lambda job: (job.namespace, job.created_at, job.id))


def hasten(tx: Transaction) -> None:
    """Let every job that waits for a later attempt be ready now."""
    tx.derived("UPDATE jobs SET next_attempt_at = ? WHERE state = 'pending' AND next_attempt_at > ?", (tx.now, tx.now))


def begin(tx: Transaction, job: Job) -> Job | None:
    """Mark a ready job as running and count the attempt; None when it is not pending any more."""
    now = _read(tx, "id = ? AND state = 'pending'", (job.id,))
    if not now:
        return None
    tx.derived(
        "UPDATE jobs SET state = 'running', attempts = attempts + 1, updated_at = ? WHERE id = ?", (tx.now, job.id)
    )
    return _read(tx, "id = ?", (job.id,))[0]


def finish(tx: Transaction, job: Job) -> None:
    """Mark a job as done."""
    _settle(tx, job, "done", None, None)


def fail(tx: Transaction, job: Job, code: str, *, again: bool) -> str:
    """Put a job that failed back for a further attempt, or end it; answer its state, pending or failed."""
    error = to_json({"code": code})
    if not again or job.attempts > len(PAUSES):
        _settle(tx, job, "failed", None, error)
        return "failed"
    _settle(tx, job, "pending", later(tx.now, PAUSES[job.attempts - 1]), error)
    return "pending"


def put_back(tx: Transaction) -> list[Job]:
    """Make the running jobs of a worker that is gone ready again; end those that had their last attempt, and list them.

    Only for whoever has the shift: then no running job is anybody's.
    """
    error = to_json({"code": "interrupted"})
    left = _read(tx, "state = 'running'", ())
    spent = [job for job in left if job.attempts > len(PAUSES)]
    for job in left:
        over = job in spent
        _settle(tx, job, "failed" if over else "pending", None if over else tx.now, error)
    return spent


def later(now: str, seconds: float) -> str:
    """Give the time so many seconds after another, in the form of all times."""
    moved = datetime.fromisoformat(now) + timedelta(seconds=seconds)
    return moved.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def sweep(tx: Transaction) -> None:
    """Throw away rows that are no jobs; what they stood for is found again."""
    rows = tx.query(f"SELECT {_COLUMNS} FROM jobs")
    for row in rows:
        if _job(row) is None:
            tx.derived("DELETE FROM jobs WHERE id = ?", (row[0],))


def _settle(tx: Transaction, job: Job, state: str, next_attempt_at: str | None, error: str | None) -> None:
    tx.derived(
        "UPDATE jobs SET state = ?, next_attempt_at = ?, last_error = ?, updated_at = ? WHERE id = ?",
        (state, next_attempt_at, error, tx.now, job.id),
    )


def _read(r: Reader, where: str, params: Iterable[Any]) -> list[Job]:
    rows = r.query(f"SELECT {_COLUMNS} FROM jobs WHERE {where} ORDER BY next_attempt_at, id", list(params))
    return [job for job in map(_job, rows) if job is not None]


def _job(row: Sequence[Any]) -> Job | None:
    """Read a row; None for one that is no job, as anybody can write who can write the file."""
    held = dict(zip((field.name for field in fields(Job)), row, strict=True))
    try:
        held["plan"], held["last_error"] = from_json(held["plan"]), from_json(held["last_error"])
        plan, error = held["plan"] or {}, held["last_error"]
        sound = isinstance(plan["namespace"], str) and (error is None or isinstance(error["code"], str))
    except (ValueError, LookupError, TypeError):
        return None
    return Job(**held) if sound else None
