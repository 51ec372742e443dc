"""Enter the server into the settings of a client, and take it out again.

The settings are somebody else's file: every other key stays as it is, the file is replaced whole or not at all, and
what stood there before is kept beside it, so that the way back restores it to the byte.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from cli import settings
from cli.door import INVOCATION, opened
from substrate.errors import Conflict, Invalid, NotFound, Refused, Unavailable
from substrate.store.db import FILE

NAME, SERVERS = "ai-memory", "mcpServers"
PLACES = {
    ("claude-code", "user"): "~/.claude.json",
    ("claude-code", "project"): ".mcp.json",
    ("cursor", "user"): "~/.cursor/mcp.json",
    ("cursor", "project"): ".cursor/mcp.json",
}
_BYTES = 64 * 1024 * 1024  # some clients keep their history in this file
Document = dict[str, Any]


def place(client: str, scope: str) -> Path:
    """Give the file in which a client keeps its servers, links followed. Raises Invalid for one we do not know."""
    found = PLACES.get((client, scope))
    if found is None:
        known = sorted({name for name, _ in PLACES})
        raise Invalid(
            f"no client {client!r:.80} with scope {scope!r:.80}", hint=f"there are {', '.join(known)}; user, project"
        )
    path = os.path.realpath(Path(found).expanduser())
    if scope == "project" and path == os.path.realpath(Path(PLACES[client, "user"]).expanduser()):
        raise Invalid(
            f"in your home folder {path} is what {client} reads for all you do",
            hint="go to the project's folder, or leave out --scope",
        )
    return Path(path)


def entry(profile: str) -> Document:
    """Say how a client starts the server: this program, as the principal and with the store that commands use now.

    Raises NotFound and Forbidden where there is a store and nobody can act in it as that principal.
    """
    principal, tier = INVOCATION.principal or settings.read().principal, INVOCATION.tier
    if principal and (settings.read().home / FILE).exists():
        _can_act(principal)
    who = ["--as", principal] if principal else []
    how = ["--tier", tier] if tier else []
    more = ["--profile", profile] if profile != "default" else []
    return {
        "type": "stdio",
        "command": _program(),
        "args": [*who, *how, "mcp", *more],
        "env": settings.to_pass_on(),
    }


def install(path: Path, server: Document, *, force: bool, dry_run: bool) -> bool:
    """Enter the server; say whether that changed anything. Raises Refused for another server of the same name."""
    before = _read(path)
    document = _parse(path, before)
    there = _servers(path, document).get(NAME)
    if there == server:
        return False
    if there is not None and not _ours(there) and not force:
        raise Refused(f"{path} has another server called {NAME}", hint="look at it; --force replaces it", reason="name")
    after = _with(path, before, server)
    if not dry_run:
        if there is None or not _ours(there):
            _keep(path, before)
        _replace(path, before, after)
    return True


def undo(path: Path, *, dry_run: bool) -> bool:
    """Take the server out; say whether that changed anything.

    A file that nobody touched since becomes what it was, to the byte; of one that was, only the entry goes, and what
    it replaced comes back.
    """
    now = _read(path)
    document = _parse(path, now)
    servers = _servers(path, document)
    server = servers.get(NAME)
    if now is None or server is None or not _ours(server):
        return False
    before = _read(_backup(path))
    if _with(path, before, server) != now:
        old = _servers(path, _parse(path, before)).get(NAME)
        if old is not None and not _ours(old):
            servers[NAME] = old
        else:
            del servers[NAME]
        before = _render(document, now)
    if not dry_run:
        _replace(path, now, before)
        _backup(path).unlink(missing_ok=True)
    return True


def _can_act(principal: str) -> None:
    try:
        with opened():
            return
    except NotFound as error:
        hint = f"add it first: ai-memory who add agent {shlex.quote(principal)}"
        raise NotFound(error.message, hint=hint, reason="principal") from error


def _program() -> str:
    """Give the absolute path of the installed command. Raises NotFound when it is not installed."""
    beside = Path(sys.executable).with_name(NAME)
    for found in (shutil.which(sys.argv[0]), shutil.which(NAME), str(beside) if beside.exists() else None):
        if found is not None and Path(found).name == NAME:
            return os.path.abspath(found)
    raise NotFound(f"the command {NAME} is nowhere to be found", hint="install it: pip install ai-memory")


def _ours(server: Any) -> bool:
    """Tell our entry from another of that name: it starts a program of our name with the command ``mcp``."""
    if not isinstance(server, dict) or not isinstance(server.get("args"), list):
        return False
    return Path(str(server.get("command"))).name == NAME and "mcp" in server["args"]


def _with(path: Path, before: bytes | None, server: Document) -> bytes:
    document = _parse(path, before)
    servers = _servers(path, document)
    document[SERVERS] = servers | {NAME: server}
    return _render(document, before)


def _read(path: Path) -> bytes | None:
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Invalid(f"{path} is not a regular file", hint="move it away")
            data = file.read(_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
    if len(data) > _BYTES:
        raise Invalid(f"{path} is over {_BYTES:,} bytes", hint="enter the server by hand; --dry-run shows it")
    return data


def _parse(path: Path, data: bytes | None) -> Document:
    """Read the settings; none are empty ones. Raises Invalid for what would not survive being written again."""
    hint = "mend it, or enter the server by hand; --dry-run shows it"
    try:
        text = data.decode() if data else ""
        if _MARK in text:
            raise ValueError("a text holds a character with the number 0")
        found = _DECODER.decode(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{path} is not JSON: {error}", hint=hint) from error
    if not isinstance(found, dict):
        raise Invalid(f"{path} holds no JSON object", hint=hint)
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


# A number is kept as it was spelled: as a text that begins and ends with a character no other text has.
_MARK = "\\u0000"
_NUMBER = re.compile(rf'"\{_MARK}([^"\\]*)\{_MARK}"')


def _spelled(text: str) -> str:
    return f"\0{text}\0"


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_spelled, parse_int=_spelled, parse_constant=_refuse)


def _servers(path: Path, document: Document) -> Document:
    found = document.get(SERVERS, {})
    if not isinstance(found, dict):
        raise Invalid(f"{SERVERS} in {path} is no object", hint="mend it")
    return found


def _render(document: Document, before: bytes | None) -> bytes:
    """Write settings as the file was written: its indent, its escapes, its last line break."""
    text = (before or b"{\n}\n").decode()
    indent = re.search(r'\n([ \t]+)"', text)
    escaped = text.isascii() or "\\ud" in text.lower()  # half a character can only be written as an escape
    found = json.dumps(document, indent=indent[1] if indent else 2, ensure_ascii=escaped)
    found = _NUMBER.sub(r"\1", found)
    return (found + ("\n" if text.endswith("\n") else "")).encode()


def _backup(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-{NAME}")


def _keep(path: Path, before: bytes | None) -> None:
    """Keep what stands there beside it. Raises Conflict where another file has that name: it is somebody's own."""
    if _read(_backup(path)) not in (None, before):
        raise Conflict(f"{_backup(path)} is there already", hint="move it away: the settings are kept there")
    if before is not None:
        _replace(_backup(path), _read(_backup(path)), before)


def _replace(path: Path, before: bytes | None, after: bytes | None) -> None:
    """Put ``after`` in place of ``before``, at once and durably; None is no file. Raises Conflict when it changed."""
    draft = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if after is not None:
            descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            with open(descriptor, "wb") as file:
                if before is not None:
                    os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))
                file.write(after)
                file.flush()
                os.fsync(descriptor)
        if _read(path) != before:
            raise Conflict(f"{path} changed meanwhile", hint="run it again")
        if draft is not None:
            os.replace(draft, path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"{path} could not be written: {error.strerror}", hint="check its permissions") from error
    finally:
        if draft is not None:
            with suppress(FileNotFoundError):
                os.unlink(draft)
