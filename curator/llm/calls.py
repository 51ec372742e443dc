"""Ask a model and keep account of it: one row in ``model_calls`` for every attempt, whatever comes of it.

A row is written before the attempt and completed after it, each in a short transaction, so that processes together
keep the daily bound and a run that is killed leaves a trace. It holds no word of what was asked, answered or complained
of: what is forgotten must not live on in it.

Source: docs/spec/requirements.md S0-55; docs/concepts/models.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from curator.llm.answers import believed
from curator.llm.model import Completion, Message, Model, Schema, tokens
from substrate import limits
from substrate.config import Models
from substrate.errors import NoModel
from substrate.scopes.caller import CURATOR
from substrate.store.database import Database
from substrate.store.transaction import Reader

_STATUS = {"timeout": "timeout", "not_json": "invalid", "wrong_schema": "invalid", "too_large": "invalid"}


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked of models: calls, how many of them failed, tokens, cost in micro-dollars; how many still run."""

    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_microusd: int
    running: int = 0


def ask(
    db: Database,
    model: Model,
    messages: Sequence[Message],
    *,
    models: Models,
    purpose: str,
    schema: Schema | None = None,
    agent_id: str | None = None,
    session_id: str | None = None,
    pause: Callable[[float], object] = time.sleep,
) -> Completion:
    """Ask a model within ``models.timeout_s`` in all, and once more where it was not reached, twice at most.

    ``pause`` waits between attempts. Raises NoModel as ``Model.complete`` does; with ``reason`` context before anything
    is sent where the messages alone fill the model, and with ``reason`` limit when the day's calls are used up. Nothing
    of the store may be held by this thread: a model takes longer than others wait.
    """
    if db.held:
        raise RuntimeError("a model is asked while the store is held")
    given = sum(tokens(message.content) for message in messages)
    if given >= model.context_tokens:
        raise NoModel(
            f"the text for {model.name} has about {given} tokens, and {model.context_tokens} is all it is given",
            hint="raise context_tokens in [models] of config.toml if the model can read more",
            reason="context",
        )
    end = time.monotonic() + models.timeout_s
    for attempt in range(limits.LLM_RETRIES + 1):
        try:
            return _attempt(db, model, messages, schema, models, (purpose, agent_id, session_id), end)
        except NoModel as error:
            wait = limits.LLM_BACKOFF_SECONDS * 2**attempt
            if attempt == limits.LLM_RETRIES or not _passing(error) or time.monotonic() + wait >= end:
                raise
        pause(wait)
    raise AssertionError("the last attempt returns or raises")


def usage(r: Reader, day: str, purpose: str | None = None, *, since: str | None = None) -> Usage:
    """Sum up a day (``2026-05-14``), or one purpose of it.

    A call without an end runs when it began after ``since``, the time before which every call has had its end; else its
    process was killed, and it failed.
    """
    runs = "error = 'unfinished' AND created_at > ?"
    late = since or "9999"
    rows = r.query(
        f"SELECT count(*), count(*) FILTER (status <> 'ok' AND NOT ({runs})), coalesce(sum(input_tokens), 0), "
        f"coalesce(sum(output_tokens), 0), coalesce(sum(cost_microusd), 0), count(*) FILTER ({runs}) FROM model_calls "
        "WHERE day = ? AND (? IS NULL OR purpose = ?)",
        (late, late, day, purpose, purpose),
    )
    return Usage(*(int(value) for value in rows[0]))


def _attempt(
    db: Database,
    model: Model,
    messages: Sequence[Message],
    schema: Schema | None,
    models: Models,
    about: tuple[str, str | None, str | None],
    end: float,
) -> Completion:
    """Ask once, between the two halves of its row."""
    call = _begin(db, model, about, models.calls_per_day, sum(len(message.content) for message in messages))
    begun = time.monotonic()
    try:
        answer = model.complete(messages, schema=schema, timeout_s=max(end - begun, 0.0))
    except NoModel as error:
        told = error.details
        counts = [believed(told.get(name)) for name in ("output_chars", "input_tokens", "output_tokens")]
        reason = str(told.get("reason", "unknown"))
        _end(db, call, _STATUS.get(reason, "error"), reason, counts, models, begun)
        raise
    counts = [believed(number) for number in (len(answer.text), answer.input_tokens, answer.output_tokens)]
    _end(db, call, "ok", None, counts, models, begun)
    return answer


def _begin(db: Database, model: Model, about: tuple[str, str | None, str | None], most: int, input_chars: int) -> str:
    with db.write(CURATOR.id) as tx:
        day = tx.now[:10]
        used = int(tx.query("SELECT count(*) FROM model_calls WHERE day = ?", (day,))[0][0])
        if used >= most:
            raise NoModel(
                f"{used} model calls were made on {day}, and {most} a day are allowed",
                hint="wait for the next day (UTC), or raise calls_per_day in [models] of config.toml",
                reason="limit",
            )
        call = tx.new_id("call")
        tx.derived(
            "INSERT INTO model_calls (id, purpose, model, agent_id, session_id, day, status, error, input_chars, "
            "created_at) VALUES (?, ?, ?, ?, ?, ?, 'error', 'unfinished', ?, ?)",
            (call, about[0], model.name, about[1], about[2], day, input_chars, tx.now),
        )
    return call


def _end(
    db: Database,
    call: str,
    status: str,
    error: str | None,
    counts: Sequence[int | None],
    models: Models,
    begun: float,
) -> None:
    latency = round((time.monotonic() - begun) * 1000)
    _, given, answered = counts
    cost = -(-((given or 0) * models.input_price + (answered or 0) * models.output_price) // 1000)
    with db.write(CURATOR.id) as tx:
        tx.derived(
            "UPDATE model_calls SET status = ?, error = ?, output_chars = ?, input_tokens = ?, output_tokens = ?, "
            "cost_microusd = ?, latency_ms = ? WHERE id = ?",
            (status, error, *counts, cost, latency, call),
        )


def _passing(error: NoModel) -> bool:
    """Say whether the same call may well succeed in a moment."""
    status = error.details.get("status")
    return error.details.get("reason") in ("unreachable", "reset", "form") or (
        isinstance(status, int) and status >= 500
    )
