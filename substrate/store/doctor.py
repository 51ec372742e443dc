"""Say in words what is wrong with a home and how to mend it; changes nothing.

Source: docs/spec/audit.md §2.4-2.5.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit import keys
from audit.errors import AiMemoryError
from substrate import config
from substrate.store.database import KEY_FILE
from substrate.store.inspection import inspect

Finding = dict[str, Any]


def examine(home: Path, *, state_dir: Path | None = None) -> dict[str, Any]:
    """Look at the folder, the settings, the key, the file and the log; ``ok`` when nothing is wrong."""
    findings = [*_folder(home), *_settings(home), *_key(home), *_store(home, state_dir)]
    return {"ok": all(item["ok"] for item in findings), "findings": findings}


def _finding(ok: bool, what: str, found: str, mend: str = "") -> Finding:
    return {"ok": ok, "what": what, "found": found, "mend": "" if ok else mend}


def _folder(home: Path) -> Iterator[Finding]:
    mode = stat.S_IMODE(home.stat().st_mode)
    private = not mode & 0o077
    yield _finding(private, "folder", f"{home} has mode {mode:04o}", f"chmod 700 {home}")


def _settings(home: Path) -> Iterator[Finding]:
    try:
        found = config.read(home)
    except AiMemoryError as error:
        yield _finding(False, "settings", error.message, error.hint)
    else:
        yield _finding(True, "settings", f"acts as {found.principal or 'nobody yet'}")


def _key(home: Path) -> Iterator[Finding]:
    path = home / KEY_FILE
    try:
        key = keys.load(path)
    except AiMemoryError as error:
        yield _finding(False, "key", error.message, error.hint or "put the store's own key file back from a copy")
    else:
        yield _finding(True, "key", f"signs as {key.key_id}")


def _store(home: Path, state_dir: Path | None) -> Iterator[Finding]:
    try:
        report = inspect(home, state_dir=state_dir)
    except AiMemoryError as error:
        yield _finding(False, "file", error.message, error.hint)
        return
    yield _finding(True, "file", "opens")
    first = report.faults[0].message if report.faults else ""
    yield _finding(
        report.ok,
        "log and rows",
        f"{report.events} events and every row hold"
        if report.ok
        else f"faults: {len(report.faults)}, the first: {first}",
        _mend(report.faults[0].kind) if report.faults else "",
    )
    yield _finding(
        report.anchored or not report.ok,
        "anchor",
        "agrees" if report.anchored else "this machine has none that agrees",
        "`ai-memory audit adopt` anchors a store that is new here; `ai-memory audit recover` tells what is missing",
    )


def _mend(kind: str) -> str:
    if kind in ("anchor", "checkpoint"):
        return "`ai-memory audit recover` lists what is missing; put back the newest copy, or accept the loss"
    return "`ai-memory audit verify` names every fault; put back the newest copy of the folder"
