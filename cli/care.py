"""Word what a backup and a restore did."""

from typing import TYPE_CHECKING

from cli.door import Answer
from substrate.escape import line

if TYPE_CHECKING:
    from substrate.store.restore import Restored


def backed_up(found: Answer) -> str:
    """Where the backup is, what is in it, and what follows from that."""
    kept = (
        f"with {len(found['keys'])} keys: whoever has the file can sign for this store, so keep it like a password"
        if found["keys"]
        else "without keys: restored on another machine it can be read, and written only with the files of keys/"
    )
    return "\n".join(
        [
            f"backup: {line(found['path'])}, {found['bytes']:,} bytes, verified, up to event {found['sequence']}",
            kept,
            "what was forgotten is not in it; older backups still hold what was forgotten after they were made",
        ]
    )


def answer(found: "Restored") -> Answer:
    """Give what a restore did as JSON."""
    return {
        "store_id": found.store_id,
        "sequence": found.sequence,
        "backup_sequence": found.backup_sequence,
        "events_kept": found.kept,
        "missing_events": list(found.missing_events) if found.missing_events else None,
        "lost": [
            {
                "seq": event.seq,
                "type": event.type,
                "subject": event.subject,
                "rows": [row for _, row, _ in event.commits],
            }
            for event in found.lost
        ],
        "rows_missing": list(found.missing),
        "rows_older": list(found.older),
        "erased_again": list(found.erased),
        "set_aside": str(found.set_aside) if found.set_aside else None,
        "older_key": found.older_key,
        "anchor_unread": found.anchor_unread,
    }


def restored(found: Answer) -> str:
    """What is back, what is not, by id, and where that lies which was there before."""
    base = f"event {found['backup_sequence']} of the backup" if found["backup_sequence"] else "where its own log holds"
    rows = [f"restored {found['store_id']} up to {base}"]
    if found["events_kept"]:
        rows.append(f"kept from the damaged log: {found['events_kept']} events after it")
    if found["missing_events"]:
        first, last = found["missing_events"]
        rows.append(f"missing: events {first} to {last}, which this machine has seen")
        rows += [f"  {event['seq']} {event['type']} {line(event['subject'] or '-')}" for event in found["lost"]]
        if not any(event["seq"] == first for event in found["lost"]):
            rows.append("  what they forgot is back unless it is named below: forget it again")
    rows += [f"missing: {line(row)}" for row in found["rows_missing"]]
    rows += [f"as in the backup, a later change is lost: {line(row)}" for row in found["rows_older"]]
    rows += [f"forgotten after the backup, erased again: {line(row)}" for row in found["erased_again"]]
    if found["older_key"]:
        rows.append("the log ends before the newest key: the backup's key signs again; replace it anew")
    if found["anchor_unread"]:
        rows.append("this machine's anchor could not be read, so nothing says what else is missing")
    if found["sequence"] is None:
        rows.append("not signed, for want of the store's key: it can be read; put keys/ back to write")
    else:
        rows.append(f"signed as event {found['sequence']} and anchored")
    if found["set_aside"]:
        rows.append(
            f"what was there lies in {line(found['set_aside'])}; it may hold forgotten text, so delete it in time"
        )
    return "\n".join(rows)
