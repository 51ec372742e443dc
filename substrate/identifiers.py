"""Check and fold what callers name things with: ids, paths, names, tags, lines, texts, times, page bounds.

Pure. Each `check_…` returns the value to store or raises `Invalid` with the field in `details["fields"]`, the value
quoted for a terminal and a hint; nothing else happens. Text is stored as given: only ids and lines lose the white
space around them.

Source: docs/spec/requirements.md S1-34, S2-4, S2-5, S3-44; docs/spec/persona.md §1.1.
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice

from substrate import limits
from substrate.errors import Invalid
from substrate.escape import INVISIBLE, quote

_SEGMENT = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_TAG = re.compile(r"[a-z0-9-]{1,32}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_EMPTY = re.compile(rf"[\s\x00-\x1f\x7f-\x9f{INVISIBLE}]*")
_WORD = re.compile(r"[^\W\d_]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK = re.compile(r"[Tt ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(?:\.([0-9]{1,9}))?([Zz]|[+-][0-9]{2}:[0-9]{2})?")
_DIGITS = re.compile(r"[0-9]{1,10}")

# Cyrillic and Greek letters drawn like Latin ones. Greek symbols that stand alone (TNF-α, μ-opioid) are no disguise.
_CYRILLIC = "авекмнорстухьіјѕһӏԁԛԝ" + "АВЕКМНОРСТУХІЈЅҺӀԌԚԜ"
_GREEK = "αγικνορστυχϲϳ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϷ"
_LOOKALIKE = frozenset(_CYRILLIC + _GREEK)
_SYMBOL = frozenset("αγικρστυχ")


def fold(raw: str) -> str:
    """Return the form under which two spellings of an id are one: NFKC, case folded, trimmed.

    Idempotent, and independent of the locale. `Alice`, ` alice ` and full-width `ＡＬＩＣＥ` fold to `alice`.
    """
    folded = raw
    while True:  # case folding can undo a normal form and the other way round; two rounds settle every known case
        following = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold()).strip()
        if following == folded:
            return folded
        folded = following


def check_entity_id(raw: str, *, field: str = "entity_id") -> str:
    """Return the id trimmed, in the caller's spelling.

    Refused: blank, over `limits.ENTITY_ID_BYTES`, control or invisible characters, lone surrogates, and Latin
    letters beside Cyrillic or Greek letters that look like them.
    """
    text = _string(field, raw)
    trimmed = text.strip(" \t\r\n")
    _refuse_characters(field, trimmed)
    trimmed = trimmed.strip()
    if not fold(trimmed):
        raise _invalid(field, "blank", "is blank", "name the entity, for example 'alice' or 'billing-service'")
    size = len(trimmed.encode())
    if size > limits.ENTITY_ID_BYTES:
        raise _invalid(
            field,
            "too_long",
            f"{quote(trimmed)} has {size} bytes, at most {limits.ENTITY_ID_BYTES}",
            "use a short id and put the full name into the title",
        )
    if disguised := _disguised(unicodedata.normalize("NFKC", trimmed)):
        raise _invalid(
            field,
            "mixed_scripts",
            f"{quote(trimmed)} mixes Latin letters with look-alikes of another script in {quote(disguised)}",
            "write each word of the id in one alphabet",
        )
    return trimmed


def check_namespace(path: str, *, field: str = "namespace") -> str:
    """Return the path unchanged: segments of lower-case ASCII joined by single slashes, no `..`, no `*`."""
    text = _string(field, path)
    segments = text.split("/")
    if len(text) > limits.NAMESPACE_BYTES:
        raise _invalid(
            field,
            "too_long",
            f"{quote(text)} has {len(text)} characters, at most {limits.NAMESPACE_BYTES}",
            "use fewer or shorter segments",
        )
    if ".." in text or not all(_SEGMENT.fullmatch(segment) for segment in segments):
        raise _invalid(
            field,
            "pattern",
            f"{quote(text)} is not a namespace path",
            "lower-case letters, digits, '.', '_' and '-' in segments joined by single '/', each starting with a "
            "letter or digit, for example 'team/alpha'",
        )
    return text


def check_name(name: str, *, field: str = "name") -> str:
    """Return the name unchanged when it is plain; the hint of a refusal proposes one that is.

    Source: S2-4, S2-5.
    """
    text = _string(field, name)
    rule = "a name is lower-case letters, digits and '-', starting with a letter or digit, at most 64 characters"
    if not _NAME.fullmatch(text):
        from substrate.secrets import redact  # only a refusal needs it

        slug = re.sub(r"[^a-z0-9]+", "-", fold(redact(text[:200]))).strip("-")[: limits.NAME_CHARS].strip("-")
        hint = f"{rule}; try '{slug}'" if slug and slug not in limits.RESERVED_NAMES else rule
        raise _invalid(field, "pattern", f"{quote(text)} is not a plain name", hint)
    if text in limits.RESERVED_NAMES:
        raise _invalid(field, "reserved", f"{quote(text)} is reserved for the memory index", "choose another name")
    return text


def check_tag(tag: str, *, field: str = "tags") -> str:
    """Return one tag unchanged. Source: S1-34."""
    text = _string(field, tag)
    if not _TAG.fullmatch(text):
        hint = f"a tag is 1 to {limits.TAG_CHARS} lower-case letters, digits and '-'"
        raise _invalid(field, "pattern", f"{quote(text)} is not a tag", hint)
    return text


def check_tags(tags: Iterable[str], *, field: str = "tags") -> tuple[str, ...]:
    """Return the tags in order, each once, at most `limits.TAGS` of them."""
    if isinstance(tags, (str, bytes)) or not isinstance(tags, Iterable):
        raise _invalid(field, "type", f"{quote(tags)} is not a list of tags", 'pass a list, for example ["billing"]')
    given = list(islice(tags, limits.BATCH_MAX))
    checked = tuple(dict.fromkeys(check_tag(tag, field=field) for tag in given))
    if len(checked) > limits.TAGS:
        raise _invalid(
            field, "too_many", f"holds {len(checked)} tags, at most {limits.TAGS}", "keep the tags you would search for"
        )
    return checked


def check_text(field: str, text: str, limit_bytes: int = limits.MEMORY_BYTES) -> str:
    """Return text exactly as given: non-blank, no NUL, no lone surrogate, at most `limit_bytes` of UTF-8.

    Other control characters are data and are escaped where they are shown.
    """
    given = _string(field, text)
    if "\x00" in given:
        raise _invalid(field, "nul", "holds a NUL character", "send text, not binary data")
    if _SURROGATE.search(given):
        raise _invalid(field, "surrogate", "is not valid Unicode (a lone surrogate)", "send valid UTF-8")
    if _EMPTY.fullmatch(given):
        raise _invalid(
            field, "blank", "is blank", _FILL.get(field, f"give the {field.replace('_', ' ')}, or leave it out")
        )
    size = len(given.encode())
    if size > limit_bytes:
        raise _invalid(
            field, "too_long", f"has {size:,} bytes, at most {limit_bytes:,}", "shorten it, or split it into several"
        )
    return given


_FILL = {
    "content": "write what should be remembered",
    "id": "give the id or the name of a memory",
    "query": "say in words what to look for",
    "reason": "say why",
    "title": "give a title, one line",
}
"""What to do about a field that is blank."""


def check_line(field: str, text: str, limit_chars: int = limits.TITLE_CHARS) -> str:
    """Return one line trimmed: as `check_text`, and without line breaks or other control characters."""
    given = check_text(field, text).strip()
    if _CONTROL.search(given) or "\u2028" in given or "\u2029" in given:
        raise _invalid(
            field,
            "control_character",
            f"{quote(given)} holds a line break or control character",
            "write it on one line",
        )
    if len(given) > limit_chars:
        raise _invalid(
            field,
            "too_long",
            f"{quote(given)} has {len(given)} characters, at most {limit_chars}",
            "shorten it and keep the rest in the content",
        )
    return given


def check_time(field: str, text: str, now: str | None = None) -> str:
    """Return a time as fixed-width UTC text, `2026-05-14T09:30:00.000000Z`.

    Takes a date (its first moment in UTC) or an RFC 3339 date-time with its offset; digits past the microsecond are
    cut. Refused: a date-time without an offset, days and hours that do not exist (leap seconds and the year 0
    included), and, where `now` is given, times more than `limits.FUTURE_YEARS` years after it.
    """
    given = _string(field, text).strip()
    shown = quote(given)
    example = "write 2026-05-14 or 2026-05-14T09:30:00Z"
    clock = _CLOCK.fullmatch(given[10:]) if given[10:] else None
    if not _DATE.fullmatch(given[:10]) or (given[10:] and not clock):
        raise _invalid(field, "pattern", f"{shown} is not a date or time", example)
    if clock and not clock[4]:
        raise _invalid(field, "no_offset", f"{shown} does not say its time zone", "end it in Z for UTC, or +02:00")
    try:
        if clock:
            fraction = (clock[3] or "").ljust(6, "0")[:6]
            offset = clock[4].upper().replace("Z", "+00:00")
            moment = datetime.fromisoformat(f"{given[:10]}T{clock[1]}{clock[2] or ':00'}.{fraction}{offset}")
        else:
            moment = datetime.fromisoformat(f"{given}T00:00+00:00")
        normal = moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    except (ValueError, OverflowError):
        raise _invalid(field, "no_such_time", f"{shown} does not exist in the calendar", example) from None
    if now is not None and normal > f"{int(now[:4]) + limits.FUTURE_YEARS:04d}{now[4:]}":
        raise _invalid(field, "future", f"{shown} is over {limits.FUTURE_YEARS} years ahead", "check the year")
    return normal


def check_limit(
    value: object, *, field: str = "limit", default: int = limits.LIST_DEFAULT, most: int = limits.LIST_MAX
) -> int:
    """Return how many results are wanted, from 1 to `most`; None is `default`. Takes an int or its digits."""
    return default if value is None else _whole_number(field, value, 1, most)


def check_offset(value: object, *, field: str = "offset") -> int:
    """Return how many results to skip, from 0 to `limits.OFFSET_MAX`; None is 0. Takes an int or its digits."""
    return 0 if value is None else _whole_number(field, value, 0, limits.OFFSET_MAX)


def _whole_number(field: str, value: object, least: int, most: int) -> int:
    number = int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise _invalid(
            field, "range", f"{quote(value)} is not a whole number from {least} to {most}", f"for example {most}"
        )
    return number


def _string(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise _invalid(field, "type", f"{quote(value)} is not text", "pass a string")
    return value


def _refuse_characters(field: str, text: str) -> None:
    for code, pattern, what in (
        ("control_character", _CONTROL, "a control character"),
        ("surrogate", _SURROGATE, "a lone surrogate"),
        ("invisible_character", _INVISIBLE, "an invisible character"),
    ):
        if found := pattern.search(text):
            raise _invalid(
                field, code, f"{quote(text)} holds {what} (U+{ord(found[0]):04X})", "use visible characters only"
            )


def _disguised(text: str) -> str | None:
    """Return the first word of `text` that passes off letters of another alphabet as Latin ones, or None."""
    words = _WORD.findall(text)
    latin_near = any(_is_latin(char) for word in words for char in word)
    for word in words:
        if not any(char in _LOOKALIKE for char in word):
            continue
        mixed = any(_is_latin(char) for char in word)
        mimics = latin_near and all(char in _LOOKALIKE for char in word) and not (len(word) == 1 and word in _SYMBOL)
        if mixed or mimics:
            return str(word)
    return None


def _is_latin(char: str) -> bool:
    return unicodedata.name(char, "").startswith("LATIN ")


def _invalid(field: str, code: str, what: str, hint: str) -> Invalid:
    return Invalid(f"{field.replace('_', ' ')} {what}", hint=hint, fields={field: code})
