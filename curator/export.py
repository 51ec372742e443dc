"""Write personas and reflections to files where policy asks for it: front matter with the row's fields, then the text.

The row is the original and no read ever looks at a file. Source: docs/spec/requirements.md S3-33 to S3-36, S3-46;
docs/spec/persona.md §8; docs/adr/0023.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from substrate.errors import AiMemoryError
from substrate.escape import markdown, yaml_front_matter
from substrate.memory import memories
from substrate.memory.wire import author
from substrate.store.database import Database
from substrate.store.model import MemoryRow, PersonaHeadRow
from substrate.store.transaction import Reader
from substrate.texts import projections
from substrate.texts.projections import View

if TYPE_CHECKING:
    from substrate.home import Memory

_LOG = logging.getLogger("curator.export")
_BATCH: Final = 20  # files written before other processes may have the store
_VIEWER: Final = re.compile(r"(\\.)|(\$|%(?=%)|(?<=%)%)")  # what notes programs read as mathematics or a comment
_NOTE: Final = "# A view written by ai-memory. Edits here are written over: edit the memories it rests on.\n"


@dataclass(frozen=True, slots=True)
class Exported:
    """What a round did: how many files it wrote and took away, and what stood in the way of the rest."""

    written: int = 0
    removed: int = 0
    problems: tuple[AiMemoryError, ...] = ()


def catch_up(memory: Memory) -> Exported:
    """Bring the files in line with rows and policy: take away what is gone, write what is missing or older.

    Costs a glance where no policy asks for files and none is there. What stands in the way is warned of and left for
    the next round; the rows are untouched whatever happens.
    """
    db = memory.db
    if db.read_only or projections.idle(db):
        return Exported()
    swept = projections.sweep(db)
    problems, written = [*swept.left, *swept.kept], 0
    due = projections.due(db)
    for start in range(0, len(due), _BATCH):
        done, errors = _write(db, due[start : start + _BATCH])
        written += done
        problems += errors
    _warn(problems)
    return Exported(written, swept.removed, tuple(problems))


def follow(db: Database, row: MemoryRow) -> None:
    """Write the file of a persona or reflection that was just written, where policy asks for it.

    The row stands whatever happens here: what stands in the way is one warning, and left for `catch_up`.
    """
    try:
        with db.connection():
            with db.read() as r:
                if not projections.asked(r, row.memory_kind, row.namespace):
                    return
            _, problems = _write(db, [row.id])
    except AiMemoryError as error:
        problems = [error]
    _warn(problems)


def persona(row: MemoryRow) -> View:
    """Give the file of a persona: the fields of its row and envelope, then its body as the row has it. Pure.

    Whether it is stale is no field of the row and changes without it; a reader of the row is told.
    """
    envelope = dict((row.metadata or {}).get("persona", {}))
    fields: dict[str, Any] = {
        "id": row.id,
        "memory_kind": row.memory_kind,
        "entity_id": row.entity_id,
        "namespace": row.namespace,
        "version": row.persona_version,
        **{name: value for name, value in envelope.items() if name not in ("entity_id", "version")},
    }
    return _view(row, str(row.entity_id), fields, row.content or "")


def reflection(row: MemoryRow, sources: Sequence[str]) -> View:
    """Give the file of a reflection: what was written with it, then its title and text, escaped. Pure.

    A reader sees the characters of the text, line by line, and none of them opens, hides or ends anything: white space
    at the ends of lines and runs of it are single, as Markdown shows them anyway.
    """
    fields: dict[str, Any] = {
        "id": row.id,
        "memory_kind": row.memory_kind,
        "memory_type": row.memory_type,
        "namespace": row.namespace,
        "entity_id": row.mentioned_entity_id,
        "title": row.title,
        "derived_from": list(sources),
        "reflection_depth": row.reflection_depth,
        "tags": list(row.tags or ()),
        "metadata": row.metadata,
        "valid_from": row.valid_from,
        "valid_until": row.valid_until,
        "created_at": row.created_at,
        "by": author(row),
    }
    body = "\n\n".join(filter(None, (f"# {_line(row.title)}" if row.title else "", _escaped(row.content or ""))))
    return _view(row, row.id, fields, f"{body}\n")


def _escaped(text: str) -> str:
    """Write text of several lines: a blank line parts paragraphs, another line break is a hard one."""
    lines = [_line(line) for line in text.splitlines()]
    paragraphs = "\n".join(lines).split("\n\n")
    return "\n\n".join("\\\n".join(filter(None, part.split("\n"))) for part in paragraphs if part.strip("\n"))


def _line(text: str) -> str:
    return _VIEWER.sub(lambda found: found[1] or f"\\{found[2]}", markdown(text))


def _view(row: MemoryRow, name: str, fields: dict[str, Any], body: str) -> View:
    fence, _, rest = yaml_front_matter(fields).partition("\n")
    text = f"{fence}\n{_NOTE}{rest}{body}"
    path = projections.path_of(row.memory_kind, row.namespace, name)
    return View(path=path, kind=row.memory_kind, subject=row.id, data=text.encode())


def _write(db: Database, ids: Sequence[str]) -> tuple[int, list[AiMemoryError]]:
    """Write the files of rows, read while nobody else can change them; what is no longer to be shown is left out."""
    with db.connection():
        with db.read() as r:
            views = list(_shown(r, ids))
        return projections.write(db, views)


def _shown(r: Reader, ids: Sequence[str]) -> Iterator[View]:
    rows = r.get_many(MemoryRow, ids).values()
    active = [row for row in rows if row.status == "active" and not row.applies_to]
    reflections = [row for row in active if row.memory_kind == "reflection"]
    sources = memories.sources_of(r, [row.id for row in reflections])
    yield from (reflection(row, sources[row.id]) for row in reflections)
    for row in active:
        if row.memory_kind == "persona":
            head = r.get(PersonaHeadRow, row.namespace, row.entity_id)
            if head is not None and head.persona_id == row.id:
                yield persona(row)


def _warn(problems: Sequence[AiMemoryError]) -> None:
    if problems:
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        _LOG.warning("files of memories: %s%s; hint: %s", first.message, more, first.hint or "try again")
