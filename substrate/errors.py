"""Re-export the error tree, so that code above `substrate` imports it from one floor down.

The tree itself stands in `audit.errors`, because verification raises from it without a database.
"""

from audit.errors import (
    ERRORS,
    AiMemoryError,
    Busy,
    Conflict,
    Forbidden,
    Integrity,
    Invalid,
    MemoryFull,
    NoModel,
    NotFound,
    RateLimited,
    Refused,
    Unavailable,
)

__all__ = [
    "ERRORS",
    "AiMemoryError",
    "Busy",
    "Conflict",
    "Forbidden",
    "Integrity",
    "Invalid",
    "MemoryFull",
    "NoModel",
    "NotFound",
    "RateLimited",
    "Refused",
    "Unavailable",
]
