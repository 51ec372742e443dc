"""Read a namespace path: its kind and the parts access looks at follow from the path alone.

Pure. Source: docs/spec/model.md §4, Scopes.
"""

from __future__ import annotations

from typing import Final

from substrate.errors import Invalid
from substrate.escape import quote
from substrate.identifiers import check_namespace

GLOBAL: Final = "global"
KINDS: Final = ("global", "agent", "user", "project", "role", "plain")
SHAPES: Final = {
    "global": "global",
    "agents": "agents/<agent id>",
    "users": "users/<human id>",
    "projects": "projects/<owner>/<name> or projects/<owner>/<name>/roles/<role>",
}


def parse(path: str) -> str:
    """Return a well-formed path unchanged; raise `Invalid` for any other."""
    kind_of(check_namespace(path))
    return path


def kind_of(path: str) -> str:
    """Tell the kind of scope a path names, one of `KINDS`.

    A path that starts with a reserved word but has not its shape (`agents`, `projects/a`, `global/x`) is `Invalid`: it
    would look like a scope and have none of its rules.
    """
    match path.split("/"):
        case ["global"]:
            return "global"
        case ["agents", _]:
            return "agent"
        case ["users", _]:
            return "user"
        case ["projects", _, _]:
            return "project"
        case ["projects", _, _, "roles", _]:
            return "role"
        case [first, *_] if first in SHAPES:
            raise Invalid(
                f"namespace {quote(path)} has not the shape of its kind",
                hint=f"write {SHAPES[first]}, or start a free path with another word",
                fields={"namespace": "shape"},
            )
    return "plain"


def chain(path: str) -> tuple[str, ...]:
    """List the path and the namespaces it lies in, leaf first: a role's project, a free path's parents."""
    parts = path.split("/")
    match kind_of(path):
        case "role":
            return path, "/".join(parts[:3])
        case "plain":
            return tuple("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    return (path,)


def subject_of(path: str) -> str | None:
    """Name the agent or human whose scope a path is; None for the other kinds."""
    return path.split("/")[1] if kind_of(path) in ("agent", "user") else None


def project_of(path: str) -> str | None:
    """Name the project a project or role path belongs to, as a path; None for the other kinds."""
    return "/".join(path.split("/")[:3]) if kind_of(path) in ("project", "role") else None


def role_of(path: str) -> str | None:
    """Name the role of a role path; None for the other kinds."""
    return path.rsplit("/", 1)[1] if kind_of(path) == "role" else None


def project_path(ref: str) -> str:
    """Return the path of a project given as `owner/name` or as its path; raise `Invalid` for anything else."""
    path = check_namespace(ref if ref.startswith("projects/") else f"projects/{ref}", field="project")
    if kind_of(path) != "project":
        raise Invalid(f"{quote(ref)} names no project", hint="write owner/name", fields={"project": "shape"})
    return path


def scope_of(kind: str, principal_id: str) -> str:
    """Give the path of a principal's own scope: `agents/<id>` or `users/<id>`."""
    return f"{'agents' if kind == 'agent' else 'users'}/{principal_id}"
