"""Give tests a clock and an id generator that they control."""

from datetime import UTC, datetime, timedelta

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
START = datetime(2026, 5, 14, 9, 30, tzinfo=UTC)


class Clock:
    """Answer the same time until a test moves it: fixed-width RFC 3339 UTC, as `db.clock()` does."""

    def __init__(self, start: datetime = START) -> None:
        self.time = start

    def __call__(self) -> str:
        return self.time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def advance(self, **amount: float) -> str:
        """Move by `timedelta(**amount)`, for example `days=3`, and answer the new time."""
        self.time += timedelta(**amount)
        return self()


class Ids:
    """Count: `mem-00000000000000000000000001`, then `…2`. One sequence for all prefixes, so ids sort by creation."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, prefix: str) -> str:
        self.count += 1
        digits, rest = "", self.count
        while rest:
            rest, digit = divmod(rest, 32)
            digits = CROCKFORD[digit] + digits
        return f"{prefix}-{digits:0>26}"
