"""Define every error a user can meet, in one tree.

AiMemoryError
├── Invalid       the input is malformed or out of bounds
├── NotFound      absent, or not readable by the caller (the same answer)
├── Forbidden     readable, but the caller may not do this
├── Conflict      somebody else changed it first
├── MemoryFull    a quota is used up
├── RateLimited   too many calls in a short time
├── Refused       well-formed, and declined by a rule
├── NoModel       no language model answers
├── Busy          another process holds the store
├── Integrity     the store, its log or its keys do not verify
└── Unavailable   the medium is full, read-only or gone
"""

from __future__ import annotations

from typing import ClassVar


class AiMemoryError(Exception):
    """Carry what happened, with the value, and a hint what to do about it.

    `str(error)` is the message alone. `details` are JSON values a program can act on.
    """

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details

    def as_json(self) -> dict[str, object]:
        """Return the wire shape, the same on every door; a hint stands in `details` under "hint"."""
        details = {**self.details, "hint": self.hint} if self.hint else dict(self.details)
        return {"error": {"code": self.code, "message": self.message, "details": details}}


class Invalid(AiMemoryError):
    """Refuse input that is malformed or out of bounds."""

    code, http_status, exit_code = "invalid", 422, 2


class NotFound(AiMemoryError):
    """Answer for what is absent and for what the caller may not read, without a difference."""

    code, http_status, exit_code = "not_found", 404, 4


class Forbidden(AiMemoryError):
    """Refuse an action on something the caller may read but not change."""

    code, http_status, exit_code = "forbidden", 403, 3


class Conflict(AiMemoryError):
    """Report that the base the caller worked from is no longer the newest."""

    code, http_status, exit_code = "conflict", 409, 5


class MemoryFull(AiMemoryError):
    """Refuse a write that would exceed a quota."""

    code, http_status, exit_code = "memory_full", 409, 3


class RateLimited(AiMemoryError):
    """Refuse a call that comes too soon after others."""

    code, http_status, exit_code = "rate_limited", 429, 3


class Refused(AiMemoryError):
    """Decline a well-formed request because a rule says so."""

    code, http_status, exit_code = "refused", 422, 3


class NoModel(AiMemoryError):
    """Report that no language model is configured or reachable."""

    code, http_status, exit_code = "no_model", 503, 2


class Busy(AiMemoryError):
    """Report that another process kept the store longer than the caller would wait."""

    code, http_status, exit_code = "busy", 503, 6


class Integrity(AiMemoryError):
    """Report data that does not verify: nothing of it is served."""

    code, http_status, exit_code = "integrity", 500, 7


class Unavailable(AiMemoryError):
    """Report a medium that is full, read-only or gone."""

    code, http_status, exit_code = "unavailable", 503, 6


ERRORS: tuple[type[AiMemoryError], ...] = (
    Invalid,
    NotFound,
    Forbidden,
    Conflict,
    MemoryFull,
    RateLimited,
    Refused,
    NoModel,
    Busy,
    Integrity,
    Unavailable,
)
