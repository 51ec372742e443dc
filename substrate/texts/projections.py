"""Keep files that show rows: which there should be, which there are, and the way from one to the other.

A view's path and hash stand in the table before its file appears and until it is gone, so that whatever interrupts
us, the next look finds what is left. While a file is replaced the table holds both hashes, `before>after`. Paths are
relative to the home; the table is not signed, so a path is held against its form before anything is touched.

Source: docs/spec/model.md §3 C13 and §4 (Files); docs/spec/requirements.md S3-33 to S3-36, S3-46; docs/adr/0023.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Final

from substrate.errors import AiMemoryError, Conflict, Integrity, NotFound
from substrate.escape import filename
from substrate.memory.references import AMONG
from substrate.scopes import access, policies
from substrate.scopes.caller import CURATOR
from substrate.store.database import Database
from substrate.store.model import MemoryRow, NamespaceRow
from substrate.store.transaction import Reader
from substrate.texts import folders

FIELDS: Final = {
    "persona": "governance.auto_export_personas_to_filesystem",
    "reflection": "governance.auto_export_reflections_to_filesystem",
}
FOLDERS: Final = {"persona": "personas", "reflection": "reflections"}
_NAME: Final = r"[A-Za-z0-9%_~][A-Za-z0-9%._~-]*"
_PATH: Final = re.compile(rf"(personas|reflections)(/{_NAME})+\.md")
_LOG = logging.getLogger("substrate.texts")


@dataclass(frozen=True, slots=True)
class View:
    """What a file should hold: its path below the home, the kind and id of the row it shows, its bytes."""

    path: str
    kind: str
    subject: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Projection:
    """A file that was written or is about to be."""

    path: str
    kind: str
    subject: str
    sha256: str

    @property
    def pending(self) -> bool:
        """Whether the file's last change may not have been finished."""
        return ">" in self.sha256

    def owns(self, digest: str | None) -> bool:
        """Tell whether a file with this hash is as we left it, none at all included."""
        return digest is None or digest in self.sha256.split(">")

    def wrote(self) -> bool:
        """Tell whether a file of ours was certainly there: otherwise one that we do not know is somebody's own."""
        return not self.sha256.startswith(">")


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did: how many files went, which edited ones were kept, and what could not be removed."""

    removed: int = 0
    kept: tuple[AiMemoryError, ...] = ()
    left: tuple[AiMemoryError, ...] = ()

    def __add__(self, other: Swept) -> Swept:
        """Take two together."""
        return Swept(self.removed + other.removed, self.kept + other.kept, self.left + other.left)


def path_of(kind: str, namespace: str, name: str) -> str:
    """Give the path of a view below the home; different rows get different paths, whatever the file system folds.

    A segment of a namespace that ends like a view has its last dot encoded, so that no folder meets a file. Pure.
    """
    return f"{FOLDERS[kind]}/{_folder_of(namespace)}/{filename(name)}.md"


@lru_cache(maxsize=256)
def _folder_of(namespace: str) -> str:
    return "/".join(re.sub(r"\.md$", "%2Emd", filename(segment)) for segment in namespace.split("/"))


def asked(r: Reader, kind: str, namespace: str) -> bool:
    """Tell whether policy asks for files of this kind here. A namespace that is closed to reading has none."""
    around = {path: row for path in policies.asked(namespace, FIELDS[kind]) if (row := r.get(NamespaceRow, path))}
    return _asked(around, kind, namespace)


def _asked(rows: dict[str, NamespaceRow], kind: str, namespace: str) -> bool:
    value, _ = policies.resolve({path: row.policy for path, row in rows.items()}, namespace, FIELDS[kind])
    return bool(value) and access.target(namespace, rows, None, ()).access != "off"


def idle(db: Database) -> bool:
    """Tell, at the cost of a glance, that no file is wanted and none is there."""
    with db.connection() as connection:
        found = connection.rows(
            "SELECT 1 FROM projections UNION ALL SELECT 1 FROM namespaces"
            " WHERE contains(policy, 'governance.auto_export_') LIMIT 1"
        )
    return not found


def wanted(r: Reader) -> dict[str, tuple[str, str]]:
    """Map the path of every file that policy asks for to the kind and id of the row it shows.

    Served personas, and active reflections that are not for certain agents only.
    """
    rows = {row.path: row for row in r.select(NamespaceRow)}
    used = {path for (path,) in r.query("SELECT DISTINCT namespace FROM memories")}
    places = {kind: sorted(path for path in used if _asked(rows, kind, path)) for kind in FIELDS}
    found = r.query(
        "SELECT 'persona', namespace, entity_id, persona_id FROM persona_heads"
        f" WHERE persona_id IS NOT NULL AND namespace {AMONG}"
        " UNION ALL SELECT 'reflection', namespace, id, id FROM memories WHERE memory_kind = 'reflection'"
        f" AND status = 'active' AND coalesce(applies_to, '[]') = '[]' AND namespace {AMONG} ORDER BY ALL",
        (places["persona"], places["reflection"]),
    )
    return {path_of(kind, namespace, name): (kind, id) for kind, namespace, name, id in found}


def recorded(db: Database, paths: Sequence[str] | None = None) -> list[Projection]:
    """Read which views there are, by path; those among ``paths`` only, if given."""
    among, given = (f" AND path {AMONG}", [list(paths)]) if paths is not None else ("", [])
    with db.connection() as connection:
        rows = connection.rows(
            "SELECT path, kind, subject, sha256 FROM projections WHERE direction = 'out'"
            f" AND kind IN ('persona', 'reflection'){among} ORDER BY path",
            given,
        )
    return [Projection(*row) for row in rows if _PATH.fullmatch(row[0])]


def due(db: Database) -> list[str]:
    """List the id of each row whose file is missing, unfinished or of another version."""
    with db.connection():
        with db.read() as r:
            asked_for = wanted(r)
        known = {view.path: view for view in recorded(db)}
        there = _present(db.home, known)
    return [
        found[1]
        for path, found in asked_for.items()
        if path not in there or known[path].pending or (known[path].kind, known[path].subject) != found
    ]


def _present(home: Path, paths: Iterable[str]) -> set[str]:
    """List those of the paths at which something lies; nothing does where the folder cannot be reached."""
    found: set[str] = set()
    for below, group in groupby(sorted(map(PurePosixPath, paths)), key=lambda path: path.parent):
        try:
            with folders.opened(home, below) as folder:
                here = folders.names(folder, home / below)
        except AiMemoryError:
            continue
        found |= {str(path) for path in group if path.name in here}
    return found


def write(db: Database, views: Sequence[View]) -> tuple[int, list[AiMemoryError]]:
    """Write files, each whole or not at all; return how many, and what stood in the way of the others.

    The caller holds the store since it read the rows, so that no older version follows a newer one. A file there that
    we did not write is kept, and is Conflict; one that somebody edited is replaced, with a warning.
    """
    problems: list[AiMemoryError] = []
    written = 0
    with db.connection():
        known = {view.path: view for view in recorded(db, [view.path for view in views])}
        ordered = sorted(views, key=lambda view: PurePosixPath(view.path).parts)
        for below, group in groupby(ordered, key=lambda view: PurePosixPath(view.path).parent):
            try:
                with folders.opened(db.home, below, make=True) as folder:
                    done = _write_folder(db, folder, below, list(group), known, problems)
                written += done
            except AiMemoryError as error:
                problems.append(error)
    return written, problems


def _write_folder(
    db: Database,
    folder: int,
    below: PurePosixPath,
    views: Sequence[View],
    known: dict[str, Projection],
    problems: list[AiMemoryError],
) -> int:
    planned = []
    for view in views:
        try:
            planned.append((view, _plan(folder, db.home / view.path, view, known.get(view.path))))
        except AiMemoryError as error:
            problems.append(error)
    _record(db, [(view, sha256) for view, sha256 in planned])
    written: list[View] = []
    for view, sha256 in planned:
        place = db.home / view.path
        try:
            if ">" in sha256:
                folders.put(folder, place, view.data, new=sha256.startswith(">"))
            written.append(view)
        except Conflict as error:
            _drop(db, [view.path])
            problems.append(error)
        except AiMemoryError as error:
            problems.append(error)
    try:
        folders.check_place(db.home, below, folder)
    except AiMemoryError:
        for view in written:
            folders.remove(folder, db.home / view.path)
        raise
    _record(db, [(view, _sha256(view.data)) for view in written])
    return len(written)


def _plan(folder: int, place: Path, view: View, known: Projection | None) -> str:
    """Say what the table is to hold while this view is written: the settled hash when the file is right already."""
    there, after = folders.digest(folder, place), _sha256(view.data)
    if known is not None:
        folders.discard(folder, place)
    if there == after:
        return after
    if there is None:
        return f">{after}"
    if known is None or not (known.owns(there) or known.wrote()):
        raise Conflict(
            f"{place} was not written by this store and is kept",
            hint="move it away; the view is written at the next occasion",
        )
    if known.owns(there):
        return f"{there}>{after}"
    _LOG.warning("%s was edited; it is a view of the store and is written over", place)
    return f"{known.sha256.rpartition('>')[2]}>{after}"


def sweep(db: Database) -> Swept:
    """Remove every file whose row is gone or that policy no longer asks for.

    A row is gone when it was forgotten, retired or superseded, or its persona is served no more: its file goes even if
    somebody edited it. So does one whose last change was not finished: it may show a row that is gone. Where only the
    policy changed, an edited file stays.
    """
    with db.connection():
        known = recorded(db)
        if not known:
            return Swept()
        with db.read() as r:
            unwanted = _unwanted(r, known)
        done = Swept()
        for below, group in groupby(unwanted, key=lambda found: PurePosixPath(found[0].path).parent):
            done += _clear(db, below, list(group))
    return done


def tidy(db: Database) -> Swept:
    """Sweep after a change that stands whatever happens here: what would have been raised counts as left."""
    try:
        return sweep(db)
    except AiMemoryError as error:
        return Swept(left=(error,))


def _unwanted(r: Reader, known: Sequence[Projection]) -> list[tuple[Projection, bool]]:
    """List the views that should not be there, by folder, and of each whether its row is gone."""
    asked_for = wanted(r)
    off = [view for view in known if view.pending or asked_for.get(view.path) != (view.kind, view.subject)]
    rows = r.get_many(MemoryRow, [view.subject for view in off])
    found = []
    for view in off:
        row = rows.get(view.subject)
        if not view.pending and row is not None and row.status == "superseded" and view.path in asked_for:
            continue  # it is replaced by its successor, without a moment between
        found.append((view, view.pending or row is None or row.status != "active"))
    return sorted(found, key=lambda pair: PurePosixPath(pair[0].path).parts)


def _clear(db: Database, below: PurePosixPath, views: Sequence[tuple[Projection, bool]]) -> Swept:
    """Remove files of one folder, and the folder with them if nothing is left in it."""
    try:
        with folders.opened(db.home, below) as folder:
            gone, done = _clear_folder(folder, db.home, views)
            folders.sync(folder, db.home / below)
            folders.check_place(db.home, below, folder)
        folders.prune(db.home, below)
    except NotFound:  # somebody removed the folder, or a view in it was never written
        gone, done = [view.path for view, _ in views], Swept()
    except AiMemoryError as error:
        return Swept(left=(error,))
    try:
        _drop(db, gone)
    except AiMemoryError as error:
        done += Swept(left=(error,))
    return done


def _clear_folder(folder: int, home: Path, views: Sequence[tuple[Projection, bool]]) -> tuple[list[str], Swept]:
    gone: list[str] = []
    done = Swept()
    for view, lost in views:
        try:
            done += _take_away(folder, home / view.path, view, lost)
            gone.append(view.path)
        except Conflict as error:
            done += Swept(kept=(error,))
        except AiMemoryError as error:
            done += Swept(left=(error,))
    return gone, done


def _take_away(folder: int, place: Path, view: Projection, lost: bool) -> Swept:
    """Remove one file; raises Conflict for an edited one whose row is still there."""
    folders.discard(folder, place)
    there = None if lost and view.wrote() else folders.digest(folder, place)
    if not view.owns(there):
        if not view.wrote():
            return Swept()  # somebody's own file
        raise Conflict(f"{place} was edited and is kept", hint="move it out of the folder, or delete it")
    others = folders.remove(folder, place)
    if others:
        names = f"{others} more names" if others > 1 else "another name"
        told = Integrity(f"the text of {place} is still there under {names}", hint="find and delete it")
        return Swept(1, left=(told,))
    return Swept(1)


def _record(db: Database, found: Sequence[tuple[View, str]]) -> None:
    if not found:
        return
    columns = [
        [view.path for view, _ in found],
        [view.kind for view, _ in found],
        [view.subject for view, _ in found],
        [sha256 for _, sha256 in found],
    ]
    with db.write(CURATOR.id) as tx:
        tx.derived(
            "INSERT INTO projections (path, kind, subject, direction, sha256, synced_at)"
            " SELECT unnest(?::TEXT[]), unnest(?::TEXT[]), unnest(?::TEXT[]), 'out', unnest(?::TEXT[]), ?"
            " ON CONFLICT (path) DO UPDATE SET kind = excluded.kind, subject = excluded.subject,"
            " sha256 = excluded.sha256, synced_at = excluded.synced_at",
            [*columns, tx.now],
        )


def _drop(db: Database, paths: Sequence[str]) -> None:
    if paths:
        with db.write(CURATOR.id) as tx:
            tx.derived(f"DELETE FROM projections WHERE path {AMONG}", [list(paths)])


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
