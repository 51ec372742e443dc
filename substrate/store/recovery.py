"""What a person may decide when a store and this machine's anchor do not agree.

Source: docs/spec/audit.md §2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from audit import anchor as anchors
from audit import checkpoint as checkpoints
from audit.anchor import Anchor, Situation
from audit.attestation import Witness, locked
from audit.errors import Conflict, Integrity, Invalid, Unavailable
from substrate.store.database import writable
from substrate.store.ids import system_clock
from substrate.store.inspection import Report, inspect, unverified
from substrate.store.keyring import Keyring
from substrate.store.ledger import Ledger, state_folder
from substrate.store.log import newest, parsed, store_after
from substrate.store.state_dir import keeps_anchors, no_state

Vouch = Callable[[], Witness | None]  # asked outside the store, only where the log wants it


def nobody() -> None:
    """Vouch for nothing."""


@dataclass(frozen=True)
class Loss:
    """What is missing, as far as it can be told: event numbers lost from the end, rows lost or changed by id."""

    situation: str
    sequence: int
    anchored: int | None
    events: tuple[int, int] | None
    rows: tuple[str, ...]
    report: Report


def verify(home: Path, *, state_dir: Path | None = None, notes: Sequence[str] = ()) -> Report:
    """Verify everything (see ``inspection.inspect``) and note the time in the anchor when all of it holds."""
    folder = state_dir or state_folder(home)
    report = inspect(home, state_dir=folder, notes=notes)
    known = _known(folder, report.store_id)
    if report.ok and known is not None:
        anchors.write(anchors.path(folder, report.store_id), replace(known, verified_at=system_clock()))
    return report


def adopt(
    home: Path,
    actor: str,
    clock: Callable[[], str],
    *,
    note: str | None = None,
    state_dir: Path | None = None,
    witness: Vouch = nobody,
) -> int:
    """Make this store's head this machine's anchor; with a checkpoint kept elsewhere only if the log extends it.

    Records ``checkpoint_adopted``. Raises Integrity when the store does not verify whole, the checkpoint disagrees,
    or an anchor is here that the store does not extend.
    """
    folder = state_dir or state_folder(home)
    report = inspect(home, state_dir=folder, notes=[note] if note else [])
    damage = [fault for fault in report.faults if fault.kind != "anchor"]
    if damage:
        raise Integrity(damage[0].message, hint="nothing was adopted; `ai-memory audit verify` names every fault")
    if report.situation in (Situation.BEHIND, Situation.DIVERGED):
        raise Integrity("this machine has seen another state of this store", hint="see `ai-memory audit recover`")
    size = checkpoints.parse(note, None).size if note else None
    return _append(
        home, folder, "checkpoint_adopted", actor, clock, {"size": size, "by": actor}, _vouching(report, actor, witness)
    )


def loss(home: Path, *, state_dir: Path | None = None) -> Loss:
    """Tell what is missing from a store whose reads are refused."""
    folder = state_dir or state_folder(home)
    report = inspect(home, state_dir=folder)
    sequence, anchor = report.events, _known(folder, report.store_id)
    gone = (sequence + 1, anchor.sequence) if anchor and anchor.sequence > sequence else None
    rows = tuple(f.subject for f in report.faults if f.kind.startswith("row_") and f.subject is not None)
    return Loss(report.situation.value, sequence, anchor.sequence if anchor else None, gone, rows, report)


def accept_rollback(
    home: Path, actor: str, clock: Callable[[], str], *, state_dir: Path | None = None, witness: Vouch = nobody
) -> int:
    """Go on from a store that is behind or beside what this machine saw; record ``rollback_accepted`` and re-anchor.

    Raises Conflict when there is nothing to accept, Integrity when the log itself does not hold.
    """
    folder = state_dir or state_folder(home)
    found = loss(home, state_dir=folder)
    if found.situation not in (Situation.BEHIND.value, Situation.DIVERGED.value):
        raise Conflict(f"nothing was rolled back: the store is {found.situation}", hint="see `ai-memory audit verify`")
    damage = [fault for fault in found.report.faults if fault.kind not in ("anchor", "checkpoint")]
    if damage:
        raise Integrity(damage[0].message, hint="the store is damaged, not only older: restore a backup")
    payload = {"from_sequence": found.anchored, "to_sequence": found.sequence, "by": actor}
    return _append(home, folder, "rollback_accepted", actor, clock, payload, _vouching(found.report, actor, witness))


def fork(
    home: Path,
    actor: str,
    clock: Callable[[], str],
    new_id: str,
    *,
    state_dir: Path | None = None,
    witness: Vouch = nobody,
) -> int:
    """Give a copied store an identity of its own, so that it and the original can both go on.

    Records ``store_forked``, the last event that carries the old identity. Raises Integrity when the log does not hold.
    """
    folder = state_dir or state_folder(home)
    report = inspect(home, state_dir=folder)
    damage = [fault for fault in report.faults if fault.kind not in ("anchor", "checkpoint")]
    if damage:
        raise Integrity(damage[0].message, hint="nothing was changed; restore a backup")
    payload = {"store_id": new_id, "from_store_id": report.store_id, "by": actor}
    return _append(home, folder, "store_forked", actor, clock, payload, _vouching(report, actor, witness))


def _vouching(report: Report, actor: str, witness: Vouch) -> Witness | None:
    """Give who vouches for a decision: nobody unless the actor's key is sealed. Raises Forbidden without it."""
    if actor not in report.registry.sealed:
        return None
    found = witness()
    if found is None or found.principal_id != actor or not report.registry.holds(found):
        raise locked(actor)
    return found


def _append(
    home: Path,
    state_dir: Path,
    type: str,
    actor: str,
    clock: Callable[[], str],
    payload: Mapping[str, object],
    witness: Witness | None,
) -> int:
    """Append one event to a store that was verified but for its anchor, then anchor it."""
    if not writable(home):
        raise Unavailable(f"{home} is read-only", hint="copy the folder to a writable place")
    if not keeps_anchors(state_dir):
        raise no_state(state_dir)
    with unverified(home, written=True) as connection:
        ledger = Ledger(state_dir, Keyring(home))
        ledger.refresh(connection, anchored=False)
        connection.begin()
        try:
            sequence = ledger.append(
                connection,
                time=clock(),
                actor=actor,
                type=type,
                namespace=None,
                subject=ledger.store_id,
                payload=payload,
                audience=(),
                changes=(),
                witness=witness,
            )
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
        ledger.store_id = store_after(parsed(newest(connection)))
        ledger.adopt(connection, verified_at=clock())
    return sequence


def _known(state_dir: Path, store_id: str) -> Anchor | None:
    """Read this machine's anchor; one that cannot be read counts as none."""
    try:
        return anchors.read(anchors.path(state_dir, store_id))
    except (Integrity, Invalid):
        return None
