"""Name what is wrong with a store's file, its log, its rows and its anchor, and the command that mends it.

Source: docs/spec/audit.md §2.4 and §5.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit import anchor as anchors
from audit.anchor import Situation
from audit.errors import AiMemoryError, Integrity
from audit.verify import Fault
from substrate.store.db import COMPANIONS, FILE
from substrate.store.file import copy_file
from substrate.store.inspection import Report, inspect
from substrate.store.salvage import openable
from substrate.store.state_dir import keeps_anchors
from substrate.store.workshop import workshop

Finding = dict[str, Any]
RESTORE = "`ai-memory restore FILE` with the newest backup"
KEEP = "`ai-memory restore` without a file keeps what still holds"
_NAMED = 20  # ids one finding tells


def finding(ok: bool, name: str, found: str, mend: str = "") -> Finding:
    """Make a finding; what it is about is the first part of its name."""
    return {"ok": ok, "name": name, "what": name.partition(".")[0], "found": found, "mend": "" if ok else mend}


def store_findings(home: Path, state_dir: Path) -> tuple[list[Finding], str | None]:
    """Look at the file, the log, the rows and the anchor; give the public key in force as well, if it can be told."""
    try:
        report = inspect(home, state_dir=state_dir)
    except AiMemoryError as error:
        return [_unreadable(home, error)], None
    found = [finding(True, "file", "opens"), *_log(report), *_rows(report), _anchor(report, state_dir)]
    if not keeps_anchors(state_dir):
        mend = "set AI_MEMORY_STATE to a folder that lasts and can be written"
        found.append(finding(False, "state.unwritable", f"{state_dir} cannot be written: the store is read-only", mend))
    return found, report.public_key


def _unreadable(home: Path, error: AiMemoryError) -> Finding:
    """Tell a file that cannot be opened from one whose write-ahead log is at fault."""
    if not isinstance(error, Integrity):
        return finding(False, "file.held" if "held" in error.message else "file.unreadable", error.message, error.hint)
    if (home / f"{FILE}{COMPANIONS[0]}").exists():
        with workshop(None, "doctor") as shop:
            copy_file(home / FILE, shop)
            cut = openable(shop)
        if cut is not None:
            return finding(
                False,
                "wal.damaged",
                f"the write-ahead log is damaged: {cut.log_bytes} of its {cut.log_size} bytes can be replayed",
                f"{RESTORE}; {KEEP}: what is before the damage",
            )
    return finding(False, "file.damaged", error.message, f"{RESTORE}; nothing can be read from this file")


def _log(report: Report) -> list[Finding]:
    broken = [fault for fault in report.faults if fault.kind not in _ELSEWHERE]
    tables = [fault for fault in report.faults if fault.kind == "tables"]
    derived = [fault for fault in report.faults if fault.kind in _DERIVED and fault.sequence is None]
    found = []
    if tables:
        found.append(finding(False, "tables.altered", _told(tables), RESTORE))
    if broken:
        found.append(
            finding(False, "log.broken", _told(broken), f"{RESTORE}; `ai-memory audit verify` names every fault")
        )
    if derived and not broken:
        found.append(
            finding(
                False, "log.derived", _told(derived), "`ai-memory restore` makes it anew from the log; nothing is lost"
            )
        )
    return found or [finding(True, "log", f"{report.events} events hold")]


def _rows(report: Report) -> list[Finding]:
    wrong = [fault for fault in report.faults if fault.kind.startswith("row_")]
    if not wrong:
        return [finding(True, "rows", "every row is what the log committed to")]
    return [finding(False, "rows.differ", _told(wrong), f"{RESTORE}; {KEEP}; `--tolerate` reads the others meanwhile")]


def _anchor(report: Report, state_dir: Path) -> Finding:
    try:
        anchor = anchors.read(anchors.path(state_dir, report.store_id)) if report.store_id else None
    except AiMemoryError as error:
        if error.hint.startswith("chmod"):
            return finding(False, "anchor.loose", error.message, error.hint)
        return finding(False, "anchor.damaged", error.message, _ADOPT)
    if anchor is None:
        return finding(
            False, "anchor.missing", f"{state_dir} has none for this store: older copies go unnoticed", _ADOPT
        )
    if anchor.genesis_key != report.genesis_key:
        return finding(
            False, "anchor.other", "the store began with another key than the one this machine knows", RESTORE
        )
    if report.situation is Situation.BEHIND:
        return finding(
            False,
            "anchor.behind",
            f"the log ends at event {report.events}, this machine has seen event {anchor.sequence}: this is an older"
            " copy, or the end of the write-ahead log is lost",
            f"use the newer folder if there is one; else {RESTORE}; `ai-memory audit recover` lists what is missing,"
            " and with --accept-rollback goes on without it",
        )
    if report.situation is Situation.DIVERGED:
        return finding(
            False,
            "anchor.diverged",
            "the log is not an extension of the one this machine has seen: a copy went on by itself",
            "`ai-memory audit fork` gives this copy an identity of its own; use the original otherwise",
        )
    wrong = [fault for fault in report.faults if fault.kind in ("anchor", "checkpoint")]
    if wrong:
        return finding(False, "anchor.damaged", _told(wrong), _ADOPT)
    return finding(True, "anchor", f"agrees up to event {anchor.sequence}")


_ADOPT = "`ai-memory audit adopt --checkpoint FILE` with a checkpoint kept elsewhere; without one it believes the store"
_DERIVED = ("state", "tree")
_ELSEWHERE = (*_DERIVED, "tables", "anchor", "checkpoint", "row_edited", "row_deleted", "row_forged")


def _told(faults: list[Fault]) -> str:
    """Tell faults in one line, as many as a reader takes in."""
    more = f"; and {len(faults) - _NAMED} more" if len(faults) > _NAMED else ""
    return "; ".join(fault.message for fault in faults[:_NAMED]) + more
